//! The policy of a problem: which files it is in, and whether it fits the model.

use std::path::Path;

use policert_engine_api::Budget;
use policert_model::Model;
use policert_outcome::{Failure, Finding, InputRole, metered};
use policert_pddl::Task;
use policert_policy::interface::NamedExpressions;
use policert_policy::{ChoiceRule, LoadedPolicy, PolicyOptions, is_policy_file, load_computing};

use crate::asnet;
use crate::files::Files;
use crate::{PolicySource, ProblemOptions};

/// Loads the policy that the options name; what they do not name, the property does
/// (`of_property`). `None` if there is none, or none is wanted. With the model comes the task that it is, if
/// it was written in PDDL.
///
/// # Errors
/// Files that are wrong, or do not fit together.
pub fn load(
    options: &ProblemOptions,
    (model, task): (&Model, Option<&Task>),
    expressions: &dyn NamedExpressions,
    of_property: Option<&Path>,
    budget: &Budget,
    files: &mut Files,
) -> Result<Option<LoadedPolicy>, Failure> {
    let PolicySource::Given { interface, network } = &options.policy else { return Ok(None) };
    let (mut interface, mut network) = (interface.as_deref(), network.as_deref());
    if let Some(path) = of_property {
        // Some properties name the policy itself.
        match metered(budget, |meter| is_policy_file(path, meter))? {
            true => network = network.or(Some(path)),
            false if interface.is_none() && matches!(path.try_exists(), Ok(false)) => {
                return Err(missing_interface(path));
            }
            false => interface = interface.or(Some(path)),
        }
    }
    if interface.is_none() && network.is_none() {
        return Ok(None);
    }
    files.extend(interface.map(|path| (InputRole::Interface, path.to_owned())));
    files.extend(network.map(|path| (InputRole::Policy, path.to_owned())));
    let rules = rules(options);
    if let Some(loaded) =
        asnet::load((model, task), expressions, (network, interface), &rules, budget)?
    {
        files.push((InputRole::Policy, loaded.network_file.clone()));
        files.extend(loaded.data_files.iter().map(|path| (InputRole::Interface, path.clone())));
        return Ok(Some(loaded));
    }
    let loaded = metered(budget, |meter| {
        load_computing(model, expressions, network, interface, &rules, meter)
    })?;
    files.push((InputRole::Policy, loaded.network_file.clone()));
    files.extend(loaded.data_files.iter().map(|path| (InputRole::Policy, path.clone())));
    Ok(Some(loaded))
}

/// The settings about the meaning of the policy.
pub(crate) fn rules(options: &ProblemOptions) -> PolicyOptions {
    PolicyOptions {
        scores: options.scores.clone(),
        ties: options.ties,
        filter: options.filter,
        numbers: options.numbers.unwrap_or_default(),
        choice: options.choice.unwrap_or_default(),
        // Without effect otherwise, which is said later.
        at_least: options.at_least.filter(|_| options.choice == Some(ChoiceRule::Sample)),
    }
}

/// The property names an interface that is not there.
fn missing_interface(path: &Path) -> Failure {
    let message = format!(
        "{}: no such file; the property names it as the policy's interface: --interface FILE names another one, and \
         `policert interface MODEL POLICY` writes a first one",
        path.display()
    );
    Failure::Findings(vec![Finding { file: Some(path.to_owned()), ..Finding::invalid(message) }])
}
