//! The model as one automaton: an edge for each operator of the composed model.

use policert_engine_api::{EngineError, Question, StartStates};
use policert_model::{
    BinaryOp, Condition, Destination as Outcome, DomainRule, Expr, LabelId, Model, OPERATOR_LIMIT,
    Operator, Truth, VarId,
};
use policert_numeric::{IntBox, IntInterval};

use crate::automata::{Action, Automaton, Destination, Edge, Variable, VariableKind};
use crate::error::{ConvertError, unsupported};
use crate::expression::{balanced, check_expression};
use crate::identifiers::Identifiers;

/// The most start states that are listed.
const MOST_STARTS: usize = 10_000;

/// The model's part of what is written; it is automaton 0.
pub(crate) struct Environment {
    pub variables: Vec<Variable>,
    pub automaton: Automaton,
    pub actions: Vec<Action>,
    /// By action: the label that it stands for.
    pub labels: Vec<LabelId>,
    pub initial: Option<Expr>,
}

impl Environment {
    pub(crate) fn new(
        question: &Question<'_>,
        names: &mut Identifiers,
    ) -> Result<Self, ConvertError> {
        let model = question.model;
        let (initial, values) = start_states(question)?;
        let mut variables = Vec::with_capacity(model.variables.len());
        for (variable, initial) in model.variables.iter().zip(values) {
            let IntInterval { lo, hi } = variable.domain;
            if lo == IntInterval::UNBOUNDED_BELOW || hi == IntInterval::UNBOUNDED_ABOVE {
                return unsupported(format!("the variable `{}` without bounds", variable.name));
            }
            let name = names.take(&variable.name);
            let kind = VariableKind::Integer { lo, hi };
            variables.push(Variable { name, kind, initial, owner: 0 });
        }
        let operators = model.operators(OPERATOR_LIMIT).map_err(EngineError::from)?;
        let lost = VarId::new(variables.len());
        let mut builder = Builder { question, lost, loses: false, labels: Vec::new() };
        let mut edges = Vec::with_capacity(operators.len());
        for operator in &operators {
            edges.extend(builder.edge(operator)?);
        }
        if builder.loses {
            let kind = VariableKind::Integer { lo: 0, hi: 1 };
            let name = names.take("lost");
            variables.push(Variable { name, kind, initial: Some(0), owner: 0 });
            let going = Expr::var_equals(lost, 0);
            for edge in &mut edges {
                edge.guard = Expr::and(going.clone(), edge.guard.clone());
            }
        }
        let labels = builder.labels;
        let action = |&label: &LabelId| {
            let name = names.take(model.label_name(Some(label)));
            Action { name, silent: false }
        };
        let actions = labels.iter().map(action).collect();
        let automaton = Automaton { name: "environment".to_owned(), edges };
        Ok(Self { variables, automaton, actions, labels, initial })
    }
}

struct Builder<'a> {
    question: &'a Question<'a>,
    /// The variable that is 1 after an outcome that left a domain.
    lost: VarId,
    loses: bool,
    labels: Vec<LabelId>,
}

impl Builder<'_> {
    /// The edge of an operator; none if it is never enabled.
    fn edge(&mut self, operator: &Operator) -> Result<Option<Edge>, ConvertError> {
        let model = self.question.model;
        let mut sides = model.domains();
        // A state is terminal where the condition holds; where it has no value it does not.
        let terminal = self
            .question
            .terminal
            .iter()
            .map(|terminal| Condition::from_literal(&terminal.holds_with_cells(&sides), false));
        let guard = Condition::and([operator.guard.clone()].into_iter().chain(terminal));
        guard.tighten(&mut sides);
        if sides.is_empty() || guard.truth(&sides) == Truth::False {
            return Ok(None);
        }
        let refuse = |what: String| {
            let operator = model.display_operator(&operator.key);
            unsupported(format!("{what}, in {operator}"))
        };
        let mut destinations = Vec::with_capacity(operator.destinations.len());
        for outcome in &operator.destinations {
            if !outcome.choices.is_empty() {
                return refuse("values that are chosen freely".to_owned());
            }
            if outcome.conflict.condition.truth(&sides) != Truth::False {
                let variables = outcome.conflict.variables.join(", ");
                return refuse(format!("two values that may be written to {variables}"));
            }
            match self.destination(outcome, &guard, &sides) {
                Err(ConvertError::Unsupported(what)) => return refuse(what),
                other => destinations.push(other?),
            }
        }
        let everywhere = model.domains();
        if self.question.domain_rule == DomainRule::Error
            && !cells_exist(&operator.guard.to_expr(), &Condition::True, &everywhere)
        {
            return refuse(
                "--domain error where a guard may read an array cell that does not exist"
                    .to_owned(),
            );
        }
        let guard = guard.holds_with_cells(&everywhere);
        check_expression(&guard)?;
        let action = operator.label.map(|label| {
            self.labels.iter().position(|&known| known == label).unwrap_or_else(|| {
                self.labels.push(label);
                self.labels.len() - 1
            })
        });
        Ok(Some(Edge { action, guard, destinations }))
    }

    fn destination(
        &mut self,
        outcome: &Outcome,
        guard: &Condition,
        sides: &IntBox,
    ) -> Result<Destination, ConvertError> {
        let probability = outcome.probability.to_expr();
        check_expression(&probability)?;
        if !cells_exist(&probability, guard, sides) {
            return unsupported("a probability that may read an array cell that does not exist");
        }
        // The other model checker finds variables that leave their domains, but knows neither arrays
        // nor transient variables.
        let hidden = !outcome.cell_writes.is_empty() || !outcome.transient_values.is_empty();
        if self.question.domain_rule == DomainRule::Error
            && hidden
            && outcome.defined.truth(sides) != Truth::True
        {
            return unsupported(
                "--domain error where an array cell may not exist, or a transient variable leave its \
                 bounds",
            );
        }
        let exists = outcome.exists(&self.question.model.variables);
        let may_be_lost =
            self.question.domain_rule == DomainRule::Drop && exists.truth(sides) != Truth::True;
        let exists = exists.holds_with_cells(sides);
        let mut updates = Vec::with_capacity(outcome.updates.len() + 1);
        for update in &outcome.updates {
            let mut value = update.value.to_expr();
            check_expression(&value)?;
            if self.question.domain_rule == DomainRule::Error && !cells_exist(&value, guard, sides)
            {
                return unsupported(
                    "--domain error where a new value may read an array cell that does not exist",
                );
            }
            if !value.is_integral() {
                return unsupported("a new value that may be no integer");
            }
            if may_be_lost {
                value = Expr::ite(exists.clone(), value, Expr::Var(update.variable));
            }
            updates.push((update.variable.index(), value));
        }
        if may_be_lost {
            check_expression(&exists)?;
            self.loses = true;
            updates.push((self.lost.index(), Expr::ite(exists, Expr::int(0), Expr::int(1))));
        }
        Ok(Destination { probability, updates })
    }
}

/// Returns whether the cells that an expression reads are known to exist where `guard` holds within
/// `sides`.
fn cells_exist(expr: &Expr, guard: &Condition, sides: &IntBox) -> bool {
    let exist = Condition::from_expr(&expr.cells_exist(sides));
    let missing = Condition::and([guard.clone(), exist.negate()]);
    let mut sides = sides.clone();
    missing.tighten(&mut sides);
    sides.is_empty() || missing.truth(&sides) == Truth::False
}

/// Returns what start states satisfy, and initial values by variable: one of them.
fn start_states(question: &Question<'_>) -> Result<(Option<Expr>, Vec<Option<i64>>), ConvertError> {
    let model = question.model;
    let mut sources = question.start_states();
    // A property whose start is what the model's is anyway.
    sources.dedup_by(|a, b| matches!((a, b), (StartStates::Region(c, s), StartStates::Region(d, t)) if c == d && s == t));
    if let [StartStates::Region(condition, sides)] = &sources[..]
        && sides.is_point()
        && condition.truth(sides) == Truth::True
    {
        return Ok((None, sides.lower_corner().into_iter().map(Some).collect()));
    }
    let mut parts = Vec::new();
    for source in sources {
        match source {
            StartStates::Region(condition, sides) => {
                let part = Expr::and(within(model, &sides), condition.holds_with_cells(&sides));
                check_expression(&part)?;
                parts.push(part);
            }
            StartStates::List(states) if states.len() > MOST_STARTS => {
                return unsupported(format!("a list of {} start states", states.len()));
            }
            StartStates::List(states) => {
                for state in states {
                    let sides = state.iter().map(|&value| IntInterval::point(value)).collect();
                    parts.push(within(model, &IntBox::new(sides)));
                }
            }
        }
    }
    let initial = balanced(BinaryOp::Or, parts).unwrap_or_else(|| Expr::bool(false));
    Ok((Some(initial), vec![None; model.variables.len()]))
}

/// That a state lies in a box.
fn within(model: &Model, sides: &IntBox) -> Expr {
    let mut parts = Vec::new();
    for (i, (side, variable)) in sides.sides().iter().zip(&model.variables).enumerate() {
        let (value, IntInterval { lo, hi }) = (Expr::Var(VarId::new(i)), *side);
        if side.is_point() {
            parts.push(Expr::binary(BinaryOp::Eq, value, Expr::int(lo)));
            continue;
        }
        if lo > variable.domain.lo {
            parts.push(Expr::binary(BinaryOp::Le, Expr::int(lo), value.clone()));
        }
        if hi < variable.domain.hi {
            parts.push(Expr::binary(BinaryOp::Le, value, Expr::int(hi)));
        }
    }
    balanced(BinaryOp::And, parts).unwrap_or_else(|| Expr::bool(true))
}
