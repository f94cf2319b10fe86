//! Refinement where a concrete run leaves the adversary's abstract path: by the guard, by the
//! policy's choice, or by the abstract state that an outcome leads to.

use policert_engine_api::{Budget, EngineError};

use super::abstract_mdp::AbstractMdp;
use super::concrete_runs::Divergence;
use super::distribution::Target;
use crate::abstraction::Abstraction;
use crate::cegar::config::CegarConfig;
use crate::cegar::path::{AbstractPath, PathState, PathStep};
use crate::cegar::policy_choice::PolicyChoice;
use crate::cegar::refinement::{Refinement, Refiner};
use crate::cegar::state_tree::{StateTree, TreeNodeId};
use crate::queries::Queries;

/// An abstract state of a path.
pub(crate) fn path_state(tree: &StateTree, node: TreeNodeId) -> PathState {
    let literals = tree.path_literals(node).into_iter().map(|(_, literal)| literal).collect();
    PathState { node, cell: tree.cell(node), literals }
}

pub(crate) fn path_step(abstraction: &Abstraction<'_>, operator: u32, d: usize) -> PathStep {
    let operator = operator as usize;
    PathStep { operator, destination: d, output: abstraction.operators.output_of(operator) }
}

/// Returns what separates the state of a divergence from those that have the abstract transition;
/// with the path along which the predicates were found. `None` if nothing is to be separated. Only
/// if `thoroughly`, thresholds around the state do where the reason of the divergence does not:
/// what was split since may have settled it.
///
/// # Errors
/// A stop of the budget, or a query that is not decided.
pub(crate) fn refine(
    abstraction: &Abstraction<'_>,
    mdp: &mut AbstractMdp,
    divergence: &Divergence,
    (config, thoroughly): (CegarConfig, bool),
    queries: &mut Queries<'_>,
    budget: &mut Budget,
) -> Result<Option<(AbstractPath, Refinement)>, EngineError> {
    let Target::Node(target) = divergence.transition.targets[divergence.outcome] else {
        return Ok(None);
    };
    let mut path = AbstractPath { states: Vec::new(), steps: Vec::new() };
    for (state, step) in &divergence.run {
        let leaf = mdp.tree.leaf_of(state);
        path.states.push(path_state(&mdp.tree, leaf));
        let (operator, d) = step.unwrap_or((divergence.transition.operator, divergence.outcome));
        path.steps.push(path_step(abstraction, operator, d));
    }
    path.states.push(path_state(&mdp.tree, target));
    let at = divergence.run.len() - 1;
    let last = &divergence.run[at].0;
    let mut refiner = Refiner { abstraction, path: &path, queries, budget };
    let requirements = path.requirements(abstraction, at);
    let has_choices = !path.outcome(abstraction, at).choices.is_empty();
    // With free choices a requirement fails for all of them, which a condition on the state
    // does not say.
    let broken = requirements
        .iter()
        .filter(|r| !has_choices || r.condition.variables().iter().all(|v| v.index() < last.len()))
        .find(|r| r.condition.holds(last) != Ok(true));
    let refinement = match (broken, path.steps[at].output, abstraction.policy) {
        (Some(requirement), ..) => refiner.by_requirement(requirement, &[], true)?,
        (None, Some(output), Some(policy)) if !has_choices => {
            let mut policy = PolicyChoice::new(policy);
            let entailed = vec![false; last.len()];
            refiner.by_choice(config.split, &mut policy, &entailed, last, at, output)?
        }
        _ => None,
    };
    let refinement = match refinement {
        Some(refinement) => refinement,
        None if thoroughly => refiner.by_separation(last, at)?,
        None => return Ok(None),
    };
    Ok(Some((path, refinement)))
}
