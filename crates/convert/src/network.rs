//! What is written: one automaton for the model, one for the policy, and the question.

use policert_engine_api::Question;
use policert_mdp::Direction;
use policert_model::{Condition, Expr};
use policert_policy::Policy;

use crate::environment::Environment;
use crate::error::{ConvertError, unsupported};
use crate::identifiers::Identifiers;
use crate::policy_automaton::add_policy;

/// A question about the probability of reaching a target.
#[derive(Clone, Debug)]
pub struct Reach<'m> {
    /// Model, start states and target: its unsafe states.
    pub question: Question<'m>,
    /// What has to hold until the target is reached.
    pub stay: Condition,
    /// The best probability.
    pub direction: Direction,
}

/// How the policy is written.
///
/// The automaton of the policy computes one layer a step and then takes part in every step of the
/// model. Deviations from the paper:
///
/// - D1: a label is chosen if its score beats those of the others, not the other way round, and the
///   flags of applicability are those of the others; ties are as the policy's semantics says.
/// - D2: silent steps, and labels that the policy lacks, wait until the scores are computed: they do not
///   interleave with that, and least probabilities are right, too.
/// - D3: scores are forgotten after each step, so that they do not multiply the states.
/// - D4: with integers there is one rounding a neuron, not one a weight; and none in the first layer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PolicyEncoding {
    /// With real-valued variables: exact, for checkers that have them.
    Real,
    /// With integers: numerators for the denominator 10ⁿ, rounded down.
    Discrete(u32),
}

/// What is converted.
#[derive(Clone, Debug)]
pub struct Conversion<'a> {
    /// The question.
    pub reach: Reach<'a>,
    /// The policy, and how it is written; all actions are allowed without.
    pub policy: Option<(&'a Policy, PolicyEncoding)>,
}

/// A network of automata that are ready to be written. Every action is taken by all automata
/// together.
#[derive(Clone, Debug)]
pub struct WrittenNetwork {
    pub(crate) name: String,
    pub(crate) variables: Vec<Variable>,
    pub(crate) automata: Vec<Automaton>,
    pub(crate) actions: Vec<Action>,
    /// What start states satisfy; `None` if the initial values are all.
    pub(crate) initial: Option<Expr>,
    pub(crate) stay: Expr,
    pub(crate) target: Expr,
    pub(crate) direction: Direction,
}

#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub name: String,
    pub kind: VariableKind,
    /// `None`: any value that the start states have.
    pub initial: Option<i64>,
    /// The automaton that writes it.
    pub owner: usize,
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum VariableKind {
    Integer { lo: i64, hi: i64 },
    Real { lo: f64, hi: f64 },
}

#[derive(Clone, Debug)]
pub(crate) struct Automaton {
    pub name: String,
    pub edges: Vec<Edge>,
}

#[derive(Clone, Debug)]
pub(crate) struct Action {
    pub name: String,
    /// Whether what is done together has no label.
    pub silent: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct Edge {
    pub action: Option<usize>,
    pub guard: Expr,
    pub destinations: Vec<Destination>,
}

#[derive(Clone, Debug)]
pub(crate) struct Destination {
    pub probability: Expr,
    /// By variable, as in [`Expr::Var`].
    pub updates: Vec<(usize, Expr)>,
}

impl WrittenNetwork {
    /// Converts a question.
    ///
    /// # Errors
    /// What cannot be written, by name.
    pub fn new(conversion: &Conversion<'_>) -> Result<Self, ConvertError> {
        let Reach { question, stay, direction } = &conversion.reach;
        let mut names = Identifiers::default();
        let environment = Environment::new(question, &mut names)?;
        let sides = question.model.domains();
        let mut network = Self {
            name: question.model.name.clone(),
            stay: stay.holds_with_cells(&sides),
            target: question.property.unsafe_condition.holds_with_cells(&sides),
            direction: *direction,
            variables: environment.variables,
            automata: vec![environment.automaton],
            actions: environment.actions,
            initial: environment.initial,
        };
        if let Some((policy, encoding)) = conversion.policy {
            add_policy(&mut network, policy, encoding, &environment.labels, &mut names)?;
        }
        for expr in [&network.stay, &network.target] {
            check_expression(expr)?;
        }
        Ok(network)
    }

    /// Number of variables.
    #[must_use]
    pub fn variable_count(&self) -> usize {
        self.variables.len()
    }

    /// Number of edges of all automata.
    #[must_use]
    pub fn edge_count(&self) -> usize {
        self.automata.iter().map(|automaton| automaton.edges.len()).sum()
    }
}

/// Whether an expression has a value everywhere, but for array cells that do not exist, so that it does
/// not matter how others evaluate it.
pub(crate) fn check_expression(expr: &Expr) -> Result<(), ConvertError> {
    use policert_model::BinaryOp::{Div, Mod, Pow};
    match expr {
        Expr::Constant(_) | Expr::Var(_) => Ok(()),
        Expr::Transient(_) => unsupported("transient variables in a composed operator"),
        Expr::Unary(_, operand) => check_expression(operand),
        Expr::Binary(op, left, right) => {
            let constant = right.as_constant();
            match op {
                Div if constant.is_none_or(policert_numeric::Rational::is_zero) => {
                    return unsupported("a division by something that is not constant");
                }
                Mod if constant.is_none_or(|c| c.signum() <= 0) => {
                    return unsupported("a remainder by something that is no positive constant");
                }
                Pow => return unsupported("powers"),
                _ => {}
            }
            check_expression(left)?;
            check_expression(right)
        }
        Expr::Ite(condition, then, otherwise) => {
            [condition, then, otherwise].into_iter().try_for_each(|e| check_expression(e))
        }
        Expr::Cell { cells, index } => {
            check_expression(index)?;
            cells.iter().try_for_each(check_expression)
        }
    }
}
