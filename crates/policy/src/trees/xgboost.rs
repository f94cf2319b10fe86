//! Reader of XGBoost models (JSON, and UBJSON that was brought into that form).
//!
//! A round adds the trees from one entry of `iteration_indptr` to the next; older files do not list
//! these, and each round adds `num_parallel_tree` trees for each output, or for all at once where
//! leaves have several values. Trees belong to outputs as `tree_info` says. Of a classifier of two
//! classes the margin is the score: positive chooses the second class. Whatever a file says about
//! itself is compared with what it contains.

mod data_frame;
mod objective;
mod tree;

use policert_numeric::round::{add_up, mul_up};
use serde_json::Value;

use super::column::Column;
use super::ensemble::{Ensemble, Tree, TreeNode};
use super::place::{At, single};
use super::rule::Precision;
use super::summation::Summation;
use super::{Features, Rounds, TreesFile};
use crate::error::PolicyError;
use objective::Objective;

/// Major versions of the library whose files are known.
const VERSIONS: std::ops::RangeInclusive<i64> = 1..=3;

/// More than what a few operations lose below the normal numbers of single precision.
const FLUSHED: f64 = 8.0 * f32::MIN_POSITIVE as f64;

/// More outputs are taken for a mistake.
const MOST_OUTPUTS: usize = 1_000_000;

/// Reads an ensemble.
pub(super) fn parse(value: &Value, rounds: Rounds) -> Result<TreesFile, PolicyError> {
    let root = At::root(value);
    if let Some(version) = root.optional("version") {
        match version.integers()?.first() {
            Some(major) if VERSIONS.contains(major) => {}
            Some(major) => {
                let message = format!(
                    "files of version {major} of the library are not supported; versions {} to {} \
                     are",
                    VERSIONS.start(),
                    VERSIONS.end()
                );
                return Err(version.unsupported(message));
            }
            None => return Err(version.invalid("the version is empty")),
        }
    }
    let learner = root.member("learner")?;
    let shape = Shape::read(&learner)?;
    let names = feature_names(&learner, shape.features)?;
    let features = Features { count: Some(shape.features), names, groups: Vec::new() };
    let objective = Objective::read(&learner, shape.classes)?;
    let base = base_scores(&learner, objective, shape.outputs)?;
    let booster = Booster::read(&learner.member("gradient_booster")?, &shape)?;
    let used = booster.used_rounds(&learner, rounds)?;
    let mut notes = Vec::new();
    let count = booster.starts.len() - 1;
    if let Some(best) = used.best {
        notes.push(match rounds {
            Rounds::Best => format!(
                "training stopped early (`best_iteration` {best}): the first {} of {count} rounds \
                 count, as in the library's scikit-learn interface; `\"rounds\": \"all\"` in the \
                 interface takes all",
                used.count
            ),
            Rounds::All => format!(
                "training stopped early (`best_iteration` {best}), but the interface asks for all \
                 {count} rounds"
            ),
            Rounds::First(first) => format!(
                "training stopped early (`best_iteration` {best}), but the interface asks for the \
                 first {first} of {count} rounds"
            ),
        });
    }
    let columns = booster.columns.clone();
    let summation = objective.link(shape.outputs).map(|link| {
        let slips = base.iter().map(|&margin| objective.slip(margin));
        let plain = Summation { link, ..Summation::plain(Precision::Single, shape.outputs) };
        booster.weighted(used.count, &base, Summation { offsets: slips.collect(), ..plain })
    });
    let trees = booster.trees(used.count);
    let mut ensemble = Ensemble::new(shape.features, base, trees)?;
    if !columns.is_empty() {
        ensemble = ensemble.with_columns(shape.features, columns);
    }
    let law = objective.law();
    Ok(TreesFile { ensemble, features, classes: None, law, summation, notes })
}

/// The numbers in `learner_model_param`.
struct Shape {
    features: usize,
    /// `num_class`, 0 unless there are several classes.
    classes: usize,
    outputs: usize,
}

impl Shape {
    fn read(learner: &At<'_>) -> Result<Self, PolicyError> {
        let parameters = learner.member("learner_model_param")?;
        let features = parameters.member("num_feature")?.written_count()?;
        let count = |name, default| {
            let given = parameters.optional(name).map(|at| at.written_count());
            Ok::<usize, PolicyError>(given.transpose()?.unwrap_or(default))
        };
        let classes = count("num_class", 0)?;
        let targets = count("num_target", 1)?;
        if classes > 1 && targets > 1 {
            let message = format!("both {classes} classes and {targets} targets");
            return Err(parameters.invalid(message));
        }
        let outputs = classes.max(targets).max(1);
        if outputs > MOST_OUTPUTS {
            return Err(parameters.invalid(format!("{outputs} classes or targets")));
        }
        Ok(Self { features, classes, outputs })
    }
}

/// The names of the features, if the file has some.
fn feature_names(learner: &At<'_>, features: usize) -> Result<Vec<String>, PolicyError> {
    let mut names = Vec::new();
    for list in ["feature_names", "feature_types"] {
        let Some(at) = learner.optional(list) else { continue };
        let texts = at.texts()?;
        if !texts.is_empty() && texts.len() != features {
            return Err(at.invalid(format!(
                "the list has {} entries, `num_feature` says {features}",
                texts.len()
            )));
        }
        if list == "feature_names" {
            names = texts.into_iter().map(str::to_owned).collect();
        }
    }
    Ok(names)
}

/// The initial margins: `0.2`, `"0.2"`, `"2E-1"`, `"[2E-1]"`, `"[1E-1,2E-1]"` or a list.
fn base_scores(
    learner: &At<'_>,
    objective: Objective,
    outputs: usize,
) -> Result<Vec<f64>, PolicyError> {
    let at = learner.member("learner_model_param")?.member("base_score")?;
    let no_number = || at.invalid("a number, or a list of numbers, is expected");
    let parse = |text: &str| text.trim().parse::<f32>().map_err(|_| no_number());
    let scores: Vec<f32> = match at.value {
        Value::Number(_) => vec![single(at.value).ok_or_else(no_number)?],
        Value::String(text) => {
            let text = text.trim();
            match text.strip_prefix('[').map(|rest| rest.strip_suffix(']')) {
                Some(Some(list)) => list.split(',').map(parse).collect::<Result<_, _>>()?,
                Some(None) => return Err(no_number()),
                None => vec![parse(text)?],
            }
        }
        Value::Array(_) => at.singles()?,
        Value::Null | Value::Bool(_) | Value::Object(_) => return Err(no_number()),
    };
    let margin = |score: f32| {
        let margin = objective.margin(score);
        margin.ok_or_else(|| {
            let message = format!(
                "objective {} cannot start at {score}; {}",
                objective.name,
                objective.range()
            );
            at.invalid(message)
        })
    };
    let margins: Vec<f64> = scores.into_iter().map(margin).collect::<Result<_, _>>()?;
    match margins.as_slice() {
        &[margin] => Ok(vec![margin; outputs]),
        several if several.len() == outputs => Ok(margins),
        several => Err(at.invalid(format!("{} base scores for {outputs} outputs", several.len()))),
    }
}

/// The trees and how they belong to rounds.
struct Booster {
    /// The columns that the trees read instead of the features, if the file names categories.
    columns: Vec<Column>,
    trees: Vec<Tree>,
    /// By tree, of booster `dart`.
    weights: Option<Vec<f32>>,
    /// The first tree of each round, and the number of trees.
    starts: Vec<usize>,
    parallel: usize,
}

/// The rounds that count.
struct Used {
    count: usize,
    /// The best round, where later ones follow.
    best: Option<usize>,
}

impl Booster {
    fn read(booster: &At<'_>, shape: &Shape) -> Result<Self, PolicyError> {
        let name = booster.member("name")?;
        let (model, weights) = match name.text()? {
            "gbtree" => (booster.member("model")?, None),
            "dart" => {
                let inner = booster.member("gbtree")?;
                (inner.member("model")?, Some(booster.member("weight_drop")?))
            }
            other => {
                let message = format!("booster {other} is not supported; gbtree and dart are");
                return Err(name.unsupported(message));
            }
        };
        let columns = data_frame::columns(&model, shape.features)?;
        let parameters = model.member("gbtree_model_param")?;
        let list = model.member("trees")?;
        let elements = list.elements()?;
        let stated = parameters.member("num_trees")?;
        if stated.written_count()? != elements.len() {
            let message = format!(
                "it says {}, the list `trees` has {}",
                stated.written_count()?,
                elements.len()
            );
            return Err(stated.invalid(message));
        }
        let parallel = match parameters.optional("num_parallel_tree") {
            None => 1,
            Some(at) => match at.written_count()? {
                0 => return Err(at.invalid("it is zero")),
                parallel => parallel,
            },
        };
        let info = model.member("tree_info")?;
        info.of_length(elements.len(), "trees")?;
        let mut trees = Vec::with_capacity(elements.len());
        let mut outputs_of = Vec::with_capacity(elements.len());
        for (t, (tree, output)) in elements.iter().zip(info.integers()?).enumerate() {
            let output = usize::try_from(output).ok().filter(|&output| output < shape.outputs);
            let Some(output) = output else {
                let place = format!("{}/{t}", info.pointer);
                let message = format!("tree {t} is for none of the {} outputs", shape.outputs);
                return Err(PolicyError::invalid(place, message));
            };
            let read = tree::read(tree, t, output, shape.features, shape.outputs)?;
            outputs_of.push(if read.for_all_outputs { None } else { Some(output) });
            trees.push(read.tree);
        }
        let starts = starts(&model, &outputs_of, shape.outputs, parallel)?;
        let weights = weights.map(|at| {
            at.of_length(trees.len(), "trees")?;
            at.singles()
        });
        Ok(Self { columns, trees, weights: weights.transpose()?, starts, parallel })
    }

    /// The rounds that count: all, or those up to the best one.
    fn used_rounds(&self, learner: &At<'_>, rounds: Rounds) -> Result<Used, PolicyError> {
        let all = self.starts.len() - 1;
        let attributes = learner.optional("attributes");
        let attribute = |name: &str| attributes.as_ref().and_then(|at| at.optional(name));
        let limit = attribute("best_ntree_limit");
        let Some(at) = attribute("best_iteration") else {
            return match limit {
                None => Ok(Used { count: rounds.of(all)?, best: None }),
                Some(at) => Err(at.invalid("`best_iteration` is missing beside it")),
            };
        };
        let best = at.written_count()?;
        if best >= all {
            let message = format!("round {best} is the best one, counted from 0, of {all} rounds");
            return Err(at.invalid(message));
        }
        if let Some(at) = limit
            && at.written_count()? != (best + 1) * self.parallel
        {
            let message = format!(
                "{} does not fit `best_iteration` {best} and {} trees at once",
                at.written_count()?,
                self.parallel
            );
            return Err(at.invalid(message));
        }
        let count = match rounds {
            Rounds::Best => best + 1,
            Rounds::All | Rounds::First(_) => rounds.of(all)?,
        };
        Ok(Used { count, best: (best + 1 < all).then_some(best) })
    }

    /// How the library adds up the trees of the first rounds. Where trees have weights, it may add a leaf
    /// to the base score, subtract that again, and round the product of the rest with the weight.
    fn weighted(&self, rounds: usize, base: &[f64], plain: Summation) -> Summation {
        let Some(weights) = &self.weights else { return plain };
        let weights = weights[..self.starts[rounds]].iter().map(|&weight| f64::from(weight).abs());
        let total = weights.fold(0.0, add_up);
        let lost = |(&base, &offset): (&f64, &f64)| {
            let each = add_up(mul_up(base.abs(), f64::from(f32::EPSILON)), FLUSHED);
            add_up(offset, mul_up(total, each))
        };
        let offsets = base.iter().zip(&plain.offsets).map(lost).collect();
        Summation { roundings: 4, offsets, ..plain }
    }

    /// The trees of the first rounds, with their weights.
    fn trees(self, rounds: usize) -> Vec<Tree> {
        let count = self.starts[rounds];
        let mut trees = self.trees;
        trees.truncate(count);
        if let Some(weights) = &self.weights {
            for (tree, &weight) in trees.iter_mut().zip(weights) {
                for node in &mut tree.nodes {
                    if let TreeNode::Leaf(values) = node {
                        for (_, value) in values {
                            // Of two numbers in single precision: exact.
                            *value *= f64::from(weight);
                        }
                    }
                }
            }
        }
        trees
    }
}

/// The first tree of each round, and the number of trees. `outputs_of` names each tree's output;
/// `None` stands for all.
fn starts(
    model: &At<'_>,
    outputs_of: &[Option<usize>],
    outputs: usize,
    parallel: usize,
) -> Result<Vec<usize>, PolicyError> {
    let count = outputs_of.len();
    let (starts, at) = if let Some(at) = model.optional("iteration_indptr") {
        let starts: Vec<usize> = at
            .integers()?
            .iter()
            .map(|&start| usize::try_from(start).map_err(|_| at.invalid("an entry is negative")))
            .collect::<Result<_, _>>()?;
        let ascends = starts.windows(2).all(|pair| pair[0] <= pair[1]);
        if starts.first() != Some(&0) || starts.last() != Some(&count) || !ascends {
            let message = format!("the entries do not ascend from 0 to the {count} trees");
            return Err(at.invalid(message));
        }
        (starts, at)
    } else {
        let at = model.member("gbtree_model_param")?.member("num_trees")?;
        let one_for_all = outputs_of.iter().any(Option::is_none);
        let step = if one_for_all { Some(parallel) } else { parallel.checked_mul(outputs) };
        let step = step.filter(|step| count.is_multiple_of(*step)).ok_or_else(|| {
            let message =
                format!("{count} trees are no whole number of rounds for {outputs} outputs");
            at.invalid(message)
        })?;
        ((0..=count).step_by(step).collect(), at)
    };
    // In each round, each output has as many trees as any other.
    for (round, range) in starts.windows(2).enumerate() {
        let mut given = vec![0usize; outputs];
        for output in &outputs_of[range[0]..range[1]] {
            match output {
                Some(output) => given[*output] += 1,
                None => given.iter_mut().for_each(|count| *count += 1),
            }
        }
        if given.iter().any(|&trees| trees != given[0]) {
            let message =
                format!("in round {round}, `tree_info` gives the outputs {given:?} trees");
            return Err(at.invalid(message));
        }
    }
    Ok(starts)
}
