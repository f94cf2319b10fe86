//! The scores of a tree ensemble.

use policert_numeric::{Interval, Rational};
use policert_policy::Scoring;
use policert_policy::trees::{IntegerNode, IntegerTree, IntegerTrees};

use super::nn::{ScoreTerms, scores, scores_within};
use crate::error::SmtError;
use crate::solver::Solver;
use crate::terms::{Formula, Term};

/// Encodes the scores of a policy for `inputs`: [`scores`] for networks, in the same order for tree
/// ensembles.
///
/// # Errors
/// As [`scores`].
pub fn policy_scores(
    solver: &mut dyn Solver,
    scoring: Scoring<'_>,
    inputs: &[Term],
) -> Result<ScoreTerms, SmtError> {
    match scoring {
        Scoring::Network(network) => scores(solver, network, inputs),
        Scoring::Trees(trees) => tree_scores(trees, inputs),
    }
}

/// As [`policy_scores`], for inputs that are known to lie within `bounds`: wherever they do not, the
/// encoding may have no solution.
///
/// # Errors
/// As [`scores`].
pub fn policy_scores_within(
    solver: &mut dyn Solver,
    scoring: Scoring<'_>,
    inputs: &[Term],
    bounds: &[Interval],
) -> Result<ScoreTerms, SmtError> {
    match scoring {
        Scoring::Network(network) => scores_within(solver, network, inputs, bounds),
        Scoring::Trees(trees) => tree_scores(trees, inputs),
    }
}

fn tree_scores(trees: &IntegerTrees, inputs: &[Term]) -> Result<ScoreTerms, SmtError> {
    if inputs.len() != trees.inputs() {
        let message =
            format!("{} inputs for a tree ensemble with {}", inputs.len(), trees.inputs());
        return Err(SmtError::Unsupported(message));
    }
    let outputs = trees.base().iter().enumerate().map(|(output, &base)| {
        let values = trees.trees().iter().map(|tree| value(tree, 0, output, inputs));
        Term::sum(std::iter::once(units(base)).chain(values))
    });
    Ok(ScoreTerms { outputs: outputs.collect(), constraint: Formula::Constant(true) })
}

/// Returns what the subtree of a node adds to an output, in units.
fn value(tree: &IntegerTree, node: usize, output: usize, inputs: &[Term]) -> Term {
    match &tree.nodes[node] {
        IntegerNode::Leaf(values) => {
            let own = values.iter().find(|value| value.output == output);
            units(own.map_or(0, |value| value.value))
        }
        &IntegerNode::Split { input, at, left, right } => {
            let (left, right) =
                (value(tree, left, output, inputs), value(tree, right, output, inputs));
            // One value on both sides needs no question.
            if left.as_constant().is_some() && left.as_constant() == right.as_constant() {
                return left;
            }
            Term::ite(inputs[input].clone().le(Term::int(at)), left, right)
        }
    }
}

fn units(count: i128) -> Term {
    Term::Constant(Rational::from(policert_numeric::IBig::from(count)))
}
