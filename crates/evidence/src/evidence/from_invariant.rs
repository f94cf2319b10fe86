//! From an inductive invariant to its evidence, and back.

use policert_engine_api::{ClaimedInvariant, Invariant};
use policert_model::{Condition, LinearConstraint, Model, Region, Variable};
use policert_numeric::{DiagramEdge, IntBox, IntInterval, IntervalDiagram};
use policert_problem::{Problem, read_value, value_record};
use serde_json::{Map, Value};

use crate::{ConditionRecord, DiagramRecord, Evidence, Proof};

/// The deepest nesting of conditions in a file.
const DEPTH: usize = 16;

impl Evidence {
    /// The evidence that an invariant is, or pieces with ranks. They must have been checked.
    ///
    /// # Errors
    /// Says which condition cannot be written: one that is no linear constraint, nor made of such.
    pub fn of_invariant(
        problem: &Problem,
        engine: &str,
        claimed: &ClaimedInvariant,
    ) -> Result<Self, String> {
        let pieces = claimed.invariant.pieces().iter();
        let records = pieces.map(|piece| piece_record(&problem.model, piece));
        let (boxes, mut conditions): (Vec<_>, Vec<_>) =
            records.collect::<Result<Vec<_>, String>>()?.into_iter().unzip();
        if conditions.iter().all(Vec::is_empty) {
            conditions.clear();
        }
        let diagram = claimed.invariant.diagram();
        Ok(Self::new(
            problem,
            "safe",
            engine,
            Proof::Invariant {
                invariant: boxes,
                conditions,
                ranks: claimed.ranks.clone(),
                diagram: diagram.map(|diagram| DiagramRecord::new(&problem.model, diagram)),
            },
        ))
    }
}

impl DiagramRecord {
    /// The record of a diagram whose dimensions are the variables of a model.
    #[must_use]
    pub fn new(model: &Model, diagram: &IntervalDiagram) -> Self {
        let number = |position: usize| i64::try_from(position).unwrap_or(i64::MAX);
        let nodes = diagram.nodes().map(|(level, edges)| {
            let edge =
                |edge: &DiagramEdge| [edge.values.lo, edge.values.hi, number(edge.to.position())];
            std::iter::once(number(level)).chain(edges.iter().flat_map(edge)).collect()
        });
        let name = |&d: &usize| model.variables[d].name.clone();
        Self { variables: diagram.order().iter().map(name).collect(), nodes: nodes.collect() }
    }
}

/// Reads a diagram; `None` if it is not what it should be.
pub(crate) fn read_diagram(model: &Model, record: &DiagramRecord) -> Option<IntervalDiagram> {
    let place = |name: &String| model.variables.iter().position(|variable| variable.name == *name);
    let order = record.variables.iter().map(place).collect::<Option<Vec<usize>>>()?;
    let node = |numbers: &Vec<i64>| {
        let (level, edges) = numbers.split_first()?;
        let (edges, rest) = edges.as_chunks::<3>();
        let edge =
            |&[lo, hi, to]: &[i64; 3]| Some((IntInterval { lo, hi }, usize::try_from(to).ok()?));
        let edges = edges.iter().map(edge).collect::<Option<Vec<_>>>()?;
        rest.is_empty().then_some((usize::try_from(*level).ok()?, edges))
    };
    let nodes = record.nodes.iter().map(node).collect::<Option<Vec<_>>>()?;
    IntervalDiagram::new(model.domains(), order, nodes).ok()
}

/// A piece: its box, and the conditions that its states satisfy besides.
///
/// # Errors
/// Says which condition cannot be written.
pub(super) fn piece_record(
    model: &Model,
    piece: &Region<Condition>,
) -> Result<(Map<String, Value>, Vec<ConditionRecord>), String> {
    let conditions = piece.conditions.iter().map(|condition| condition_record(model, condition));
    Ok((box_record(model, &piece.sides), conditions.collect::<Result<_, _>>()?))
}

/// The variables that do not have all values of their domain in a box.
fn box_record(model: &Model, sides: &IntBox) -> Map<String, Value> {
    let sides = model.variables.iter().zip(sides.sides());
    let bounded = sides.filter(|(variable, side)| variable.domain != **side);
    bounded
        .map(|(variable, side)| {
            let ends = [side.lo, side.hi].map(|value| value_record(variable, value));
            (variable.name.clone(), Value::from(ends.to_vec()))
        })
        .collect()
}

fn condition_record(model: &Model, condition: &Condition) -> Result<ConditionRecord, String> {
    let of_all = |conditions: &[Condition]| {
        let records = conditions.iter().map(|condition| condition_record(model, condition));
        records.collect::<Result<Vec<_>, String>>()
    };
    Ok(match condition {
        Condition::True => ConditionRecord::All { all: Vec::new() },
        Condition::False => ConditionRecord::Any { any: Vec::new() },
        Condition::Linear(linear) => {
            let term = |&(v, coefficient): &(policert_model::VarId, i64)| {
                (model.variables[v.index()].name.clone(), coefficient)
            };
            let terms = linear.terms.iter().map(term).collect();
            ConditionRecord::Linear { terms, at_most: linear.upper }
        }
        Condition::And(all) => ConditionRecord::All { all: of_all(all)? },
        Condition::Or(any) => ConditionRecord::Any { any: of_all(any)? },
        Condition::General { .. } => {
            return Err(format!(
                "the condition `{}` of an abstract state is no linear constraint, which evidence \
                 is made of",
                model.display_condition(condition)
            ));
        }
    })
}

/// Reads the pieces of an invariant; `None` if it is not what it should be.
pub(crate) fn read_invariant(
    model: &Model,
    boxes: &[Map<String, Value>],
    conditions: &[Vec<ConditionRecord>],
) -> Option<Invariant> {
    if !conditions.is_empty() && conditions.len() != boxes.len() {
        return None;
    }
    let piece = |(i, record): (usize, &Map<String, Value>)| {
        read_piece(model, record, conditions.get(i).map_or(&[][..], Vec::as_slice))
    };
    boxes.iter().enumerate().map(piece).collect::<Option<_>>().map(Invariant::new)
}

/// Reads a piece; `None` if it is not what it should be.
pub(super) fn read_piece(
    model: &Model,
    sides: &Map<String, Value>,
    conditions: &[ConditionRecord],
) -> Option<Region<Condition>> {
    let conditions = conditions.iter().map(|record| read_condition(model, record, DEPTH));
    Some(Region { sides: read_box(model, sides)?, conditions: conditions.collect::<Option<_>>()? })
}

fn read_box(model: &Model, record: &Map<String, Value>) -> Option<IntBox> {
    let known = |name: &String| model.variables.iter().any(|variable| variable.name == *name);
    if !record.keys().all(known) {
        return None;
    }
    let side = |variable: &Variable| match record.get(&variable.name) {
        None => Some(variable.domain),
        Some(ends) => {
            let [lo, hi] = &ends.as_array()?[..] else { return None };
            let (lo, hi) = (read_value(variable, lo)?, read_value(variable, hi)?);
            (lo <= hi).then_some(IntInterval { lo, hi })
        }
    };
    Some(IntBox::new(model.variables.iter().map(side).collect::<Option<Vec<_>>>()?))
}

fn read_condition(model: &Model, record: &ConditionRecord, depth: usize) -> Option<Condition> {
    let depth = depth.checked_sub(1)?;
    let of_all = |records: &[ConditionRecord]| {
        let read = records.iter().map(|record| read_condition(model, record, depth));
        read.collect::<Option<Vec<Condition>>>()
    };
    Some(match record {
        ConditionRecord::Linear { terms, at_most } => {
            if terms.is_empty() {
                return None;
            }
            let mut read = Vec::with_capacity(terms.len());
            for (name, &coefficient) in terms {
                let v = model.variables.iter().position(|variable| variable.name == *name)?;
                if coefficient == 0 {
                    return None;
                }
                read.push((policert_model::VarId::new(v), coefficient));
            }
            read.sort_unstable();
            Condition::Linear(LinearConstraint { terms: read, upper: *at_most })
        }
        ConditionRecord::Any { any } => Condition::or(of_all(any)?),
        ConditionRecord::All { all } => Condition::and(of_all(all)?),
    })
}
