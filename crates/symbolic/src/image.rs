//! Images of boxes under the outcomes of operators, exactly: each state of an image has a state
//! before it in its source.

use policert_engine_api::{Budget, EngineError};
use policert_model::{
    Condition, Destination, Expr, LinearExpr, Model, ModelSemantics, Operator, Probability, Truth,
    UpdateValue, VarId,
};
use policert_numeric::{IntBox, IntInterval, Rational};

use crate::partition::{halves, narrowest, partition};

/// Holds what the images under an operator's outcomes need.
#[derive(Debug)]
pub struct Images {
    /// By outcome: where it leads to a state.
    exists: Vec<Condition>,
    /// True if single states are needed, because probabilities depend on the state.
    by_state: bool,
}

/// A box of states and free choices with its image.
#[derive(Debug)]
pub struct Image {
    /// The states before, with the free choices of the outcome.
    pub source: IntBox,
    /// The index of the outcome.
    pub destination: usize,
    /// The states after it.
    pub image: IntBox,
}

/// The result of a box.
enum Attempt<T> {
    Done(T),
    /// A dimension has to be cut first.
    Cut(usize),
}

impl Images {
    /// Prepares the outcomes of an operator of a model.
    #[must_use]
    pub fn new(model: &Model, operator: &Operator) -> Self {
        let exists = operator.destinations.iter().map(|d| d.exists(&model.variables)).collect();
        let constant = |d: &Destination| matches!(d.probability, Probability::Constant(_));
        Self { exists, by_state: !operator.destinations.iter().all(constant) }
    }

    /// Adds the images of a box of states in which the guard holds.
    ///
    /// # Errors
    /// A stop of the budget, or a modelling error in a state of the box.
    pub fn add_images(
        &self,
        semantics: &ModelSemantics<'_>,
        operator: &Operator,
        sides: &IntBox,
        images: &mut Vec<Image>,
        budget: &mut Budget,
    ) -> Result<(), EngineError> {
        if self.by_state {
            let mut stack = vec![sides.clone()];
            while let Some(sides) = stack.pop() {
                budget.poll()?;
                match (0..sides.dimensions()).find(|&d| !sides[d].is_point()) {
                    Some(d) => stack.extend(halves(sides, d)?),
                    None => add_exact(semantics, operator, &sides, None, images)?,
                }
            }
            return Ok(());
        }
        for d in 0..operator.destinations.len() {
            let mut stack = vec![sides.clone()];
            while let Some(sides) = stack.pop() {
                budget.poll()?;
                if sides.is_point() {
                    add_exact(semantics, operator, &sides, Some(d), images)?;
                    continue;
                }
                match extended(&operator.destinations[d], &sides) {
                    Attempt::Cut(dimension) => {
                        stack.extend(halves(sides, dimension)?);
                    }
                    Attempt::Done(None) => {}
                    Attempt::Done(Some(extended)) => {
                        let variables = sides.dimensions();
                        let outcome = (d, &operator.destinations[d]);
                        self.add_outcome(outcome, extended, variables, images, budget)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Adds the images of a box of states and choices under an outcome.
    fn add_outcome(
        &self,
        (d, destination): (usize, &Destination),
        extended: IntBox,
        variables: usize,
        images: &mut Vec<Image>,
        budget: &mut Budget,
    ) -> Result<(), EngineError> {
        let mut stack = partition(extended, &self.exists[d], budget)?.inside;
        while let Some(source) = stack.pop() {
            budget.poll()?;
            match image(destination, &source, variables) {
                Attempt::Done(image) => images.push(Image { source, destination: d, image }),
                Attempt::Cut(dimension) => {
                    stack.extend(halves(source, dimension)?);
                }
            }
        }
        Ok(())
    }
}

/// The successors of a single state, by the plain semantics.
fn add_exact(
    semantics: &ModelSemantics<'_>,
    operator: &Operator,
    point: &IntBox,
    destination: Option<usize>,
    images: &mut Vec<Image>,
) -> Result<(), EngineError> {
    let state = point.lower_corner();
    for successor in semantics.successors(operator, &state)?.list {
        if destination.is_none_or(|d| d == successor.destination) {
            let source: Vec<i64> = state.iter().chain(&successor.choices).copied().collect();
            images.push(Image {
                source: IntBox::point(&source),
                destination: successor.destination,
                image: IntBox::point(&successor.state),
            });
        }
    }
    Ok(())
}

/// A box with the free choices of an outcome, which has no modelling error there; `None` if
/// there is nothing to choose from.
fn extended(destination: &Destination, sides: &IntBox) -> Attempt<Option<IntBox>> {
    let variables = sides.dimensions();
    let any = |variables: Vec<VarId>| {
        let all = (0..sides.dimensions()).map(VarId::new);
        let d = narrowest(sides, variables).or_else(|| narrowest(sides, all));
        Attempt::Cut(d.unwrap_or(0))
    };
    let mut extended = sides.clone();
    for choice in &destination.choices {
        let bounds = [&choice.lower, &choice.upper].map(|bound| fixed(bound, &extended));
        let [Some(lower), Some(upper)] = bounds else {
            let mut reads = variables_of(&choice.lower);
            reads.append(&mut variables_of(&choice.upper));
            reads.retain(|v| v.index() < variables);
            return any(reads);
        };
        let (Some(lower), Some(upper)) = (lower.ceil().to_i64(), upper.floor().to_i64()) else {
            return any(Vec::new());
        };
        if lower > upper {
            return Attempt::Done(None);
        }
        extended.push(IntInterval::new(lower, upper));
    }
    let conflict = &destination.conflict.condition;
    if *conflict != Condition::False && conflict.truth(&extended) != Truth::False {
        return any(conflict.variables());
    }
    for update in &destination.updates {
        if let UpdateValue::General(value) = &update.value
            && !value.is_integral()
        {
            return any(variables_of(value));
        }
    }
    Attempt::Done(Some(extended))
}

/// The image of a box in which the outcome exists everywhere, if that is a box: then every
/// dimension counts for one variable at most, with a factor of 1 or −1.
fn image(destination: &Destination, source: &IntBox, variables: usize) -> Attempt<IntBox> {
    let mut image = source.clone();
    image.truncate(variables);
    let mut uses = vec![0u32; source.dimensions()];
    for (d, count) in uses.iter_mut().enumerate().take(variables) {
        *count = u32::from(destination.update(VarId::new(d)).is_none());
    }
    for update in &destination.updates {
        let side = &mut image[update.variable.index()];
        let general;
        let value = match &update.value {
            UpdateValue::Linear(linear) => linear,
            UpdateValue::General(expr) => {
                if let Some(value) = fixed(expr, source).and_then(|value| value.to_i64()) {
                    *side = IntInterval::point(value);
                    continue;
                }
                let resolved = resolved(expr, source);
                match LinearExpr::from_expr(&resolved) {
                    Some(linear) => {
                        general = linear;
                        &general
                    }
                    // It is not fixed, so some variable of it is not.
                    None => match narrowest(source, variables_of(expr)) {
                        Some(d) => return Attempt::Cut(d),
                        None => continue,
                    },
                }
            }
        };
        for &(variable, factor) in &value.terms {
            let d = variable.index();
            if source[d].is_point() {
                continue;
            }
            uses[d] += if factor.unsigned_abs() == 1 { 1 } else { 2 };
        }
        let machine = |bound: Option<i128>| bound.and_then(|bound| i64::try_from(bound).ok());
        let (lo, hi) = value.range(source);
        match (machine(lo), machine(hi)) {
            (Some(lo), Some(hi)) => *side = IntInterval::new(lo, hi),
            _ => {
                let reads = value.terms.iter().map(|&(variable, _)| variable);
                return Attempt::Cut(narrowest(source, reads).unwrap_or(0));
            }
        }
    }
    let twice = (0..uses.len()).filter(|&d| uses[d] > 1 && !source[d].is_point());
    match narrowest(source, twice.map(VarId::new)) {
        Some(d) => Attempt::Cut(d),
        None => Attempt::Done(image),
    }
}

/// The value of an expression that has the same value everywhere in a box.
fn fixed(expr: &Expr, sides: &IntBox) -> Option<Rational> {
    let range = expr.range(sides);
    if !range.partial && range.lo.is_some() && range.lo == range.hi {
        return range.lo;
    }
    let mut open = false;
    expr.for_each_var(&mut |v| open |= !sides[v.index()].is_point());
    if open { None } else { expr.eval(&sides.lower_corner()).ok() }
}

/// The expression with the cases left out that do not occur in a box.
fn resolved(expr: &Expr, sides: &IntBox) -> Expr {
    match expr {
        Expr::Ite(condition, then, otherwise) => match condition.range(sides).truth() {
            Truth::True => resolved(then, sides),
            Truth::False => resolved(otherwise, sides),
            Truth::Maybe => expr.clone(),
        },
        Expr::Cell { cells, index } => {
            let index = fixed(index, sides).and_then(|index| index.to_i64());
            let cell = index.and_then(|index| cells.get(usize::try_from(index).ok()?));
            cell.map_or_else(|| expr.clone(), |cell| resolved(cell, sides))
        }
        Expr::Unary(op, a) => Expr::unary(*op, resolved(a, sides)),
        Expr::Binary(op, a, b) => Expr::binary(*op, resolved(a, sides), resolved(b, sides)),
        _ => expr.clone(),
    }
}

fn variables_of(expr: &Expr) -> Vec<VarId> {
    let mut variables = Vec::new();
    expr.for_each_var(&mut |v| variables.push(v));
    variables
}
