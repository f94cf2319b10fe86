//! The solvers of the tests, as the configuration wants them.

use policert_bounds::Recorder;
use policert_engine_api::EngineError;
use policert_policy::Policy;
use policert_symbolic::PolicyRegion;

use crate::abstraction::Abstraction;
use crate::branch_and_bound::BranchAndBound;
use crate::config::{EnvironmentSolver, PolicySolver, PpaConfig, RelaxedSolver};
use crate::native::NativeSelection;
use crate::queries::{EnvironmentTests, Queries, Selection, TwoSolvers};
use crate::recording::RecordingSelection;

impl<'a> Abstraction<'a> {
    /// The tests as `config` wants them answered.
    ///
    /// # Errors
    /// A solver that is not built in, or a policy that it cannot take.
    pub fn queries<'s>(&self, config: &'s PpaConfig) -> Result<Queries<'s>, EngineError>
    where
        'a: 's,
    {
        self.queries_for(config, None)
    }

    /// The tests, of which `recorder` is told those about the policy.
    pub(crate) fn queries_for<'s>(
        &self,
        config: &'s PpaConfig,
        recorder: Option<&'s mut dyn Recorder>,
    ) -> Result<Queries<'s>, EngineError>
    where
        'a: 's,
    {
        let environment: Box<dyn EnvironmentTests + 's> = match config.environment {
            EnvironmentSolver::Native => self.native_environment(),
            EnvironmentSolver::Z3 => self.z3_environment()?,
        };
        let selection: Option<Box<dyn Selection + 's>> = match self.policy {
            None => None,
            Some(policy) => Some(self.selection(policy, config)?),
        };
        let selection = match (selection, recorder) {
            (Some(selection), Some(recorder)) => {
                recorder.begin(&self.operators.applicability());
                let recording: Box<dyn Selection + 's> =
                    Box::new(RecordingSelection::new(selection, recorder));
                Some(recording)
            }
            (selection, _) => selection,
        };
        Ok(Queries::new(config, environment, selection))
    }

    /// The tests about the policy.
    fn selection<'s>(
        &self,
        policy: &'a Policy,
        config: &PpaConfig,
    ) -> Result<Box<dyn Selection + 's>, EngineError>
    where
        'a: 's,
    {
        let region = || PolicyRegion::new(policy, &self.operators);
        let exact: Box<dyn Selection + 's> = match config.policy {
            PolicySolver::Native => Box::new(NativeSelection::new(region())),
            PolicySolver::BranchAndBound => Box::new(BranchAndBound::new(region())),
            PolicySolver::Z3 => self.z3_selection(policy, Phases::Open)?,
            PolicySolver::Z3FixedPhases => self.z3_selection(policy, Phases::Fixed)?,
        };
        let relaxed: Box<dyn Selection + 's> = match (config.relaxed, config.policy) {
            (RelaxedSolver::Native, PolicySolver::Native)
            | (RelaxedSolver::Z3, PolicySolver::Z3) => return Ok(exact),
            (RelaxedSolver::Native, _) => Box::new(NativeSelection::new(region())),
            (RelaxedSolver::Z3, _) => self.z3_selection(policy, Phases::Open)?,
        };
        Ok(Box::new(TwoSolvers { exact, relaxed }))
    }

    #[cfg(feature = "z3")]
    fn native_environment(&self) -> Box<dyn EnvironmentTests + 'a> {
        Box::new(crate::z3::NativeThenZ3::new(self.question.model))
    }

    #[cfg(not(feature = "z3"))]
    #[expect(clippy::unused_self, reason = "the model is needed where Z3 is built in")]
    fn native_environment(&self) -> Box<dyn EnvironmentTests + 'a> {
        Box::new(crate::native::NativeEnvironment)
    }

    #[cfg(feature = "z3")]
    #[expect(clippy::unnecessary_wraps, reason = "an error without Z3")]
    fn z3_environment(&self) -> Result<Box<dyn EnvironmentTests + 'a>, EngineError> {
        Ok(Box::new(crate::z3::Z3Environment::new(self.question.model)))
    }

    #[cfg(feature = "z3")]
    fn z3_selection(
        &self,
        policy: &'a Policy,
        phases: Phases,
    ) -> Result<Box<dyn Selection + 'a>, EngineError> {
        let applicable = self.operators.applicability();
        let model = self.question.model;
        Ok(match phases {
            Phases::Open => Box::new(crate::z3::Z3Selection::new(model, policy, applicable)?),
            Phases::Fixed => Box::new(crate::z3::Z3FixedPhases::new(model, policy, &applicable)?),
        })
    }

    #[cfg(not(feature = "z3"))]
    #[expect(clippy::unused_self, reason = "the model is needed where Z3 is built in")]
    fn z3_environment(&self) -> Result<Box<dyn EnvironmentTests + 'a>, EngineError> {
        Err(without_z3())
    }

    #[cfg(not(feature = "z3"))]
    #[expect(clippy::unused_self, reason = "the model is needed where Z3 is built in")]
    fn z3_selection(
        &self,
        _: &'a Policy,
        _: Phases,
    ) -> Result<Box<dyn Selection + 'a>, EngineError> {
        Err(without_z3())
    }
}

/// Says how Z3 gets the activations of the network.
#[derive(Clone, Copy, Debug)]
enum Phases {
    /// As case distinctions.
    Open,
    /// Fixed where bounds over the region decide them.
    Fixed,
}

#[cfg(not(feature = "z3"))]
fn without_z3() -> EngineError {
    EngineError::Unsupported("Z3 is not built in: build with `./x build`".to_owned())
}
