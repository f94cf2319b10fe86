//! Policies that are action schema networks.

use std::io::Read as _;
use std::path::Path;

use policert_asnet::{FileKind, Translation, load_for_task, load_translated};
use policert_engine_api::Budget;
use policert_model::Model;
use policert_outcome::{Failure, metered};
use policert_pddl::Task;
use policert_policy::interface::NamedExpressions;
use policert_policy::{LoadedPolicy, PolicyOptions};

use crate::pddl::planning_task;

/// The number of bytes of a file that are looked at to tell what it is.
const BEGINNING: u64 = 4096;

/// Returns whether a file is an action schema network.
#[must_use]
pub fn is_asnet(policy: &Path) -> bool {
    kind(policy) == Some(FileKind::Weights)
}

fn kind(path: &Path) -> Option<FileKind> {
    let mut beginning = Vec::new();
    policert_files::open(path).ok()?.take(BEGINNING).read_to_end(&mut beginning).ok()?;
    FileKind::of(&beginning)
}

/// Loads the policy if the files are an action schema network, or its translation to the model.
pub(crate) fn load(
    (model, task): (&Model, Option<&Task>),
    expressions: &dyn NamedExpressions,
    (network, interface): (Option<&Path>, Option<&Path>),
    rules: &PolicyOptions,
    budget: &Budget,
) -> Result<Option<LoadedPolicy>, Failure> {
    let is_network = network.is_some_and(is_asnet);
    if let Some(interface) = interface
        && kind(interface) == Some(FileKind::Translation)
    {
        let translation = metered(budget, |_| Translation::read(interface))?;
        let domain = translation.resolved(&translation.domain);
        let task = planning_task(&domain, &translation.resolved(&translation.problem), budget)?;
        let loaded = metered(budget, |_| {
            load_translated(model, expressions, &translation, &task, network, rules)
        })?;
        return Ok(Some(loaded));
    }
    let Some(path) = network.filter(|_| is_network) else { return Ok(None) };
    match (task, interface) {
        (Some(task), None) => {
            metered(budget, |_| load_for_task(model, task, path, rules)).map(Some)
        }
        (_, Some(interface)) => Err(Failure::Usage(format!(
            "--interface {}: {} is an action schema network, which needs a translation to the model \
             (docs/asnets.md), not an interface",
            interface.display(),
            path.display()
        ))),
        (None, None) => Err(Failure::Usage(format!(
            "{} is an action schema network: give it the domain and the problem in PDDL in place of \
             the model, or a translation to the model with --interface (docs/asnets.md)",
            path.display()
        ))),
    }
}
