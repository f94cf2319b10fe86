//! Configuration: which tests run, and who answers them (PPA 2022, Table 1).

use policert_engine_api::{Configuration, ConfigurationError, Preset, Setting};
use serde::{Deserialize, Serialize};

/// Says who answers the tests about the environment alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EnvironmentSolver {
    /// Interval reasoning: propagation and bisection. Where a query takes long and Z3 is built
    /// in, Z3 finishes it.
    #[default]
    Native,
    /// Z3 for every test.
    Z3,
}

/// Says who answers the exact tests about the policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PolicySolver {
    /// The decision oracle.
    #[default]
    Native,
    /// Branch and bound over the integers around the relaxed test. [paper: Section 6.4]
    BranchAndBound,
    /// Z3 with the whole network encoded.
    Z3,
    /// Z3 with the network encoded for each test anew, and the phases of its activations fixed
    /// where bounds of the network over the region decide them. [paper: Section 6.3]
    Z3FixedPhases,
}

/// Says who answers the relaxed tests about the policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RelaxedSolver {
    /// The decision oracle, over the reals. It stands where the paper has Marabou.
    #[default]
    Native,
    /// Z3 with the whole network encoded, over the reals.
    Z3,
}

/// Says whether an optional test runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Test {
    /// It runs.
    On,
    /// It is passed over.
    Off,
}

impl Test {
    /// Returns whether it runs.
    #[must_use]
    pub fn is_on(self) -> bool {
        self == Self::On
    }
}

/// Configuration of the engine. All tests but the last transition test are optional: they may
/// save work and never change the result. Without that one, the abstraction has more transitions:
/// *safe* is proved all the same, and is found less often.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct PpaConfig {
    /// Name of the preset. [paper: Table 1]
    pub name: String,
    /// Who answers IsApp and TSat. [default: native]
    pub environment: EnvironmentSolver,
    /// Who answers IsSelect^π, IsApp^π and TSat^π. [default: native]
    pub policy: PolicySolver,
    /// Who answers IsSelect^π_ℝ, IsApp^π_ℝ and TSat^π_ℝ. [default: native]
    pub relaxed: RelaxedSolver,
    /// IsSelect^π_ℝ. [paper: Algorithm 1, line 2]
    pub is_select_pi_relaxed: Test,
    /// IsSelect^π. [paper: Algorithm 1, line 3]
    pub is_select_pi: Test,
    /// IsApp. [paper: Algorithm 1, line 5]
    pub is_app: Test,
    /// IsApp^π_ℝ. [paper: Algorithm 1, line 6]
    pub is_app_pi_relaxed: Test,
    /// IsApp^π. [paper: Algorithm 1, line 7]
    pub is_app_pi: Test,
    /// TSat. [paper: Algorithm 1, line 12]
    pub t_sat: Test,
    /// TSat^π_ℝ. [paper: Algorithm 1, line 13]
    pub t_sat_pi_relaxed: Test,
    /// TSat^π. [paper: Algorithm 1, line 14] [default: on]
    pub t_sat_pi: Test,
}

/// The presets that come with the engine: name and text.
const PRESETS: [Preset; 11] = [
    ("native", include_str!("../../../configs/ppa/native.toml")),
    ("base", include_str!("../../../configs/ppa/base.toml")),
    ("mar-z3", include_str!("../../../configs/ppa/mar-z3.toml")),
    ("mar-z3-mar", include_str!("../../../configs/ppa/mar-z3-mar.toml")),
    ("bnb-mar", include_str!("../../../configs/ppa/bnb-mar.toml")),
    ("mar", include_str!("../../../configs/ppa/mar.toml")),
    ("no-sel-no-app", include_str!("../../../configs/ppa/no-sel-no-app.toml")),
    ("no-sel-rel-app", include_str!("../../../configs/ppa/no-sel-rel-app.toml")),
    ("rel-sel-no-app", include_str!("../../../configs/ppa/rel-sel-no-app.toml")),
    ("rel-sel-rel-app", include_str!("../../../configs/ppa/rel-sel-rel-app.toml")),
    ("ex-sel-ex-app", include_str!("../../../configs/ppa/ex-sel-ex-app.toml")),
];

impl Configuration for PpaConfig {
    fn presets() -> Vec<Preset> {
        PRESETS.to_vec()
    }

    fn check(&self, _: &[Setting]) -> Result<(), ConfigurationError> {
        match self.needs_z3() && !cfg!(feature = "z3") {
            true => Err(ConfigurationError::NeedsZ3(self.name.clone())),
            false => Ok(()),
        }
    }
}

impl PpaConfig {
    /// Returns whether some test is answered by Z3 alone.
    #[must_use]
    pub fn needs_z3(&self) -> bool {
        self.environment == EnvironmentSolver::Z3
            || matches!(self.policy, PolicySolver::Z3 | PolicySolver::Z3FixedPhases)
            || self.relaxed == RelaxedSolver::Z3
    }
}

impl Default for PpaConfig {
    fn default() -> Self {
        Self {
            name: "native".to_owned(),
            environment: EnvironmentSolver::Native,
            policy: PolicySolver::Native,
            relaxed: RelaxedSolver::Native,
            is_select_pi_relaxed: Test::Off,
            is_select_pi: Test::On,
            is_app: Test::On,
            is_app_pi_relaxed: Test::Off,
            is_app_pi: Test::Off,
            t_sat: Test::On,
            t_sat_pi_relaxed: Test::Off,
            t_sat_pi: Test::On,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_the_native_preset() {
        assert_eq!(PpaConfig::preset("native"), Ok(PpaConfig::default()));
    }

    #[test]
    fn presets_parse_or_say_that_they_need_z3() {
        for (name, text) in PRESETS {
            match PpaConfig::parse(text, &[]) {
                Ok(chosen) => assert_eq!(chosen.config.name, name),
                Err(error) => assert_eq!(error, ConfigurationError::NeedsZ3(name.to_owned())),
            }
        }
        assert!(PpaConfig::preset("none").is_err());
    }
}
