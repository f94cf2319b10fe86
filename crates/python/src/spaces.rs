//! What an agent sees and does in a model, by an interface: observations and actions.

use std::sync::Arc;

use policert_engine_api::{Budget, EngineError, Question};
use policert_explore::{Episode, StartSampler, StateNumber};
use policert_jani::Loaded;
use policert_model::{LabelId, VarId};
use policert_numeric::IntBox;
use policert_outcome::{Failure, Remarks};
use policert_policy::interface::{Binding, InputSource, Interface};
use policert_problem::load::{ModelExpressions, model};
use policert_problem::{PolicySource, Problem, ProblemOptions};
use pyo3::prelude::*;
use self_cell::self_cell;

use crate::failure::failed;
use crate::options::Task;

/// The greatest number of start states that are listed; if there are more, they are drawn.
const LISTED_STARTS: usize = 1 << 17;

self_cell!(
    /// An episode through a model, with its problem.
    pub struct Run {
        owner: Arc<Problem>,
        #[not_covariant]
        dependent: Episode,
    }
);

/// One number of an observation.
pub enum Feature {
    /// The value of a variable.
    Variable(usize),
    /// The value of an expression, and how it is normalised.
    Number(StateNumber, Option<Scale>),
}

/// (value − mean) / divisor, cut off at ±clip.
pub struct Scale {
    mean: f64,
    divisor: f64,
    clip: Option<f64>,
}

/// A model with a property, and what an agent sees and does in it.
pub struct Spaces {
    /// The model and the property.
    pub problem: Arc<Problem>,
    /// The start states.
    pub starts: StartSampler,
    /// What an observation is made of.
    pub features: Vec<Feature>,
    /// For each of them the least and the greatest value.
    pub bounds: Vec<(f64, f64)>,
    /// The labels of the actions.
    pub outputs: Vec<LabelId>,
    /// The number that is added to the reward of each step: its value in the state after it.
    pub reward: Option<StateNumber>,
}

impl Spaces {
    /// Loads a model, and finds what an interface names.
    ///
    /// # Errors
    /// Files that are wrong, names that the model does not have, and a model without start state.
    pub fn load(
        options: &ProblemOptions,
        interface: &str,
        reward: Option<&str>,
    ) -> Result<Self, Failure> {
        let options = ProblemOptions { policy: PolicySource::None, ..options.clone() };
        let mut budget = Budget::unlimited();
        let mut remarks = Remarks::default();
        let source = model(&options, &budget, &mut remarks)?;
        let Binding { inputs, outputs, never } = binding(&source, interface)?;
        let mut problem = Problem::load(&options, &budget, &mut remarks)?;
        problem.model = problem.model.without_labels(&never);
        let domains = problem.model.domains();
        let reward = reward.map(|text| {
            let diagnosed = source.expression(text).map_err(|diagnostics| Failure::Expression {
                option: "reward",
                findings: diagnostics.iter().map(Into::into).collect(),
            });
            diagnosed.map(|expr| StateNumber::new(&expr, &domains))
        });
        let reward = reward.transpose()?;
        let features = inputs.iter().map(|input| feature(input, &domains)).collect();
        let bounds = inputs.iter().map(|input| bounds(input, &domains)).collect();
        let starts = StartSampler::new(&problem.question(), LISTED_STARTS, &mut budget)?;
        Ok(Self { problem: Arc::new(problem), starts, features, bounds, outputs, reward })
    }

    /// An episode that stands nowhere yet.
    pub fn run(&self) -> Run {
        Run::new(Arc::clone(&self.problem), |problem| {
            let question: Question<'_> = problem.question();
            Episode::new(&question, &self.outputs)
        })
    }

    /// Writes the observation of a state.
    ///
    /// # Errors
    /// An input that has no value there.
    pub fn observe(&self, state: &[i64], row: &mut [f32]) -> Result<(), EngineError> {
        for (place, feature) in row.iter_mut().zip(&self.features) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_precision_loss,
                reason = "observations are in single precision"
            )]
            let number = match feature {
                Feature::Variable(variable) => state[*variable] as f32,
                Feature::Number(number, scale) => {
                    let value = number.value(state).ok_or_else(|| {
                        EngineError::Unsupported("an input without value in a state".to_owned())
                    })?;
                    scale.as_ref().map_or(value, |scale| scale.of(value)) as f32
                }
            };
            *place = number;
        }
        Ok(())
    }
}

/// What an interface names in a model.
fn binding(source: &Loaded, interface: &str) -> Result<Binding, Failure> {
    let model = source.model().ok_or_else(|| Failure::Internal("no model".to_owned()))?;
    let interface = Interface::parse("interface", interface.as_bytes())?;
    Ok(interface.bind_names(model, &ModelExpressions::new(source))?)
}

/// How many numbers the observations of some interfaces have.
#[pyfunction]
pub fn widths(task: Task, interfaces: Vec<String>) -> PyResult<Vec<usize>> {
    let source = model(&task.options()?, &Budget::unlimited(), &mut Remarks::default());
    let source = source.map_err(|failure| failed(&failure))?;
    let width = |interface: &String| binding(&source, interface).map(|bound| bound.inputs.len());
    let widths: Result<Vec<usize>, Failure> = interfaces.iter().map(width).collect();
    widths.map_err(|failure| failed(&failure))
}

impl Scale {
    fn of(&self, value: f64) -> f64 {
        let scaled = (value - self.mean) / self.divisor;
        self.clip.map_or(scaled, |clip| scaled.clamp(-clip, clip))
    }
}

fn feature(input: &InputSource, domains: &IntBox) -> Feature {
    match input {
        InputSource::Variable(variable) => Feature::Variable(VarId::index(*variable)),
        InputSource::Computed(expr) => Feature::Number(StateNumber::new(expr, domains), None),
        InputSource::Normalised(normalised) => {
            let (mean, divisor, clip) = (normalised.mean, normalised.divisor, normalised.clip);
            let number = StateNumber::new(&normalised.value, domains);
            Feature::Number(number, Some(Scale { mean, divisor, clip }))
        }
    }
}

fn bounds(input: &InputSource, domains: &IntBox) -> (f64, f64) {
    let range = input.expr().range(domains);
    let low = range.lo.map_or(f64::NEG_INFINITY, |bound| bound.to_f64_interval().0);
    let high = range.hi.map_or(f64::INFINITY, |bound| bound.to_f64_interval().1);
    match input {
        InputSource::Variable(_) | InputSource::Computed(_) => (low, high),
        InputSource::Normalised(normalised) => {
            let (mean, divisor, clip) = (normalised.mean, normalised.divisor, normalised.clip);
            let scale = Scale { mean, divisor, clip };
            (scale.of(low), scale.of(high))
        }
    }
}

/// Checks that these are values of a model's variables.
///
/// # Errors
/// If they are not.
pub fn check_state(domains: &IntBox, state: &[i64]) -> Result<(), Failure> {
    let sides = domains.sides();
    let is_state = sides.len() == state.len()
        && sides.iter().zip(state).all(|(side, &value)| side.contains(value));
    let wrong = || Failure::Usage(format!("{state:?} is no state of the model"));
    if is_state { Ok(()) } else { Err(wrong()) }
}
