//! A network as the policy of a model: of the task itself, or of a model in JANI with a translation.

use std::path::Path;

use policert_model::{Expr, LabelId, Model, VarId};
use policert_numeric::IntInterval;
use policert_pddl::Task;
use policert_policy::interface::{NamedExpressions, reading_expressions};
use policert_policy::{
    ElementType, ErrorBound, Filter, LoadedPolicy, Matrix, Network, NetworkBuilder, NodeId, Policy,
    PolicyError, PolicyOptions, PolicySemantics,
};

use crate::asnet::Asnet;
use crate::file::read_asnet;
use crate::graph::{instantiate, network};
use crate::instance::Instance;
use crate::shape::DomainShape;
use crate::translation::Translation;

/// The policy that a network is for the model of a task.
///
/// # Errors
/// A file that is wrong, or a network of another domain.
pub fn load_for_task(
    model: &Model,
    task: &Task,
    path: &Path,
    options: &PolicyOptions,
) -> Result<LoadedPolicy, PolicyError> {
    let shape = DomainShape::of(&task.domain);
    let asnet = read_asnet(path, &shape)?;
    let instance = Instance::of(&shape, task);
    let network =
        network(&asnet, &instance).map_err(|error| error.in_file(&path.display().to_string()))?;
    let missing = |name: &str| PolicyError::Mismatch {
        file: path.display().to_string(),
        problems: vec![format!("the model has no `{name}`")],
    };
    let variable = |atom| {
        let name = task.atom_name(atom);
        model.variable_by_name(&name).ok_or_else(|| missing(&name))
    };
    let inputs = task.propositions.iter().map(variable).collect::<Result<Vec<_>, _>>()?;
    let label = |action| {
        let name = task.action_name(action);
        model.label_by_name(&name).ok_or_else(|| missing(&name))
    };
    let outputs = task.actions.iter().map(label).collect::<Result<Vec<_>, _>>()?;
    let semantics = semantics(options, None);
    loaded(model, path, (network, inputs, outputs), semantics)
}

/// The policy that a network is for a model, by a translation. `network` is named in place of the one
/// that the translation names.
///
/// # Errors
/// A file that is wrong, and what the translation leaves open or says about nothing.
pub fn load_translated(
    model: &Model,
    expressions: &dyn NamedExpressions,
    translation: &Translation,
    task: &Task,
    network: Option<&Path>,
    options: &PolicyOptions,
) -> Result<LoadedPolicy, PolicyError> {
    let file = translation.file.display().to_string();
    let translated = translation.of(task)?;
    let path = match (network, &translation.asnet) {
        (Some(path), _) => path.to_owned(),
        (None, Some(path)) => translation.resolved(path),
        (None, None) => {
            let message = "the translation names no network, and no policy is given";
            return Err(PolicyError::invalid("/asnet", message).in_file(&file));
        }
    };
    let mut problems = Vec::new();
    let mut conditions = Vec::with_capacity(translated.conditions.len());
    for (atom, text) in task.propositions.iter().zip(&translated.conditions) {
        let at = || format!("/propositions: `{}`: ", task.atom_name(atom));
        match expressions.expression(text) {
            Ok(condition) if is_truth(&condition, model) => conditions.push(condition),
            Ok(_) => problems.push(format!("{}`{text}` is a number, no condition", at())),
            Err(why) => problems.push(at() + &why),
        }
    }
    let mut label = |name: &str, key: &str| {
        let label = model.label_by_name(name);
        if label.is_none() {
            problems
                .push(format!("/{key}: the model has no label `{}`", policert_files::name(name)));
        }
        label
    };
    let outputs: Vec<LabelId> =
        translated.labels.iter().filter_map(|(name, _)| label(name, "labels")).collect();
    let never: Vec<LabelId> =
        translation.never.iter().filter_map(|name| label(name, "never")).collect();
    for &free in model.operator_labels().iter().filter(|free| !outputs.contains(free)) {
        if !never.contains(&free) {
            let name = model.label_name(Some(free));
            problems.push(format!(
                "/labels: no action is `{name}`, which the model has; a label that is never chosen \
                 stands under `never`"
            ));
        }
    }
    problems.extend(never.iter().filter(|label| outputs.contains(label)).map(|&label| {
        format!("/never: `{}` is the label of actions, too", model.label_name(Some(label)))
    }));
    if !problems.is_empty() {
        return Err(PolicyError::Mismatch { file, problems });
    }
    let shape = DomainShape::of(&task.domain);
    let asnet = read_asnet(&path, &shape)?;
    let instance = Instance::of(&shape, task);
    let groups: Vec<&[usize]> =
        translated.labels.iter().map(|(_, actions)| actions.as_slice()).collect();
    let inner = of_labels(&asnet, &instance, &groups)
        .map_err(|error| error.in_file(&path.display().to_string()))?;
    let domains = model.domains();
    let (network, inputs) =
        reading_expressions(&inner, conditions, &domains).map_err(|(proposition, why)| {
            PolicyError::Mismatch {
                file: file.clone(),
                problems: vec![format!(
                    "/propositions: `{}` cannot be computed: {why}",
                    task.atom_name(&task.propositions[proposition])
                )],
            }
        })?;
    let semantics = semantics(options, translation.filter);
    let mut loaded = loaded(model, &path, (network, inputs, outputs), semantics)?;
    loaded.interface_file = Some(translation.file.clone());
    loaded.data_files =
        [&translation.domain, &translation.problem].map(|path| translation.resolved(path)).to_vec();
    loaded.never = never;
    Ok(loaded)
}

/// The network of the scores of groups of actions: of each group the greatest score of those that are
/// applicable.
///
/// # Errors
/// As [`network`].
pub(crate) fn of_labels(
    asnet: &Asnet,
    instance: &Instance,
    groups: &[&[usize]],
) -> Result<Network, PolicyError> {
    let mut builder = NetworkBuilder::new(instance.propositions)?;
    let input = builder.input();
    let nodes = instantiate(&mut builder, input, asnet, instance)?;
    if groups.iter().all(|group| group.len() == 1) {
        let scores = groups.iter().map(|group| nodes.scores[group[0]]).collect();
        let output = builder.concat(scores)?;
        return Ok(builder.finish(output, ElementType::F64));
    }
    // More than the difference of any two scores: what is not applicable is below all that is.
    let penalty = 2.0 * above_all_scores(&network(asnet, instance)?)?;
    let mut outputs = Vec::with_capacity(groups.len());
    for group in groups {
        let score = |builder: &mut NetworkBuilder, action: usize| {
            let both = vec![nodes.scores[action], nodes.applicable[action]];
            let both = builder.concat(both)?;
            let weights = Matrix::new(1, 2, vec![1.0, penalty]);
            let weights =
                weights.ok_or_else(|| PolicyError::invalid("", "a row of two weights"))?;
            builder.affine(both, weights, vec![-penalty])
        };
        outputs.push(match group[..] {
            [one] => nodes.scores[one],
            _ => {
                let scores = group.iter().map(|&action| score(&mut builder, action));
                let scores: Vec<NodeId> = scores.collect::<Result<_, _>>()?;
                builder.max(scores)?
            }
        });
    }
    let output = builder.concat(outputs)?;
    Ok(builder.finish(output, ElementType::F64))
}

/// A power of two that is above the magnitude of all scores in all states.
fn above_all_scores(network: &Network) -> Result<f64, PolicyError> {
    let sides = vec![IntInterval::new(0, 1); network.input_width()];
    let bound = ErrorBound::over(network, &policert_numeric::IntBox::new(sides));
    let magnitude = |score: &policert_numeric::Interval| score.lo().abs().max(score.hi().abs());
    let greatest = bound.scores().iter().map(magnitude).fold(1.0, f64::max);
    let mut power = 1.0;
    while power <= greatest {
        power *= 2.0;
        if power > f64::MAX / 8.0 {
            return Err(PolicyError::invalid("", "the weights are too large: scores may overflow"));
        }
    }
    Ok(power)
}

/// Returns whether the value of an expression is 0 or 1 in every state.
fn is_truth(expr: &Expr, model: &Model) -> bool {
    match expr {
        Expr::Var(variable) => {
            let side = model.variables[variable.index()].domain;
            side.lo >= 0 && side.hi <= 1
        }
        Expr::Constant(value) => value.is_zero() || *value == policert_numeric::Rational::ONE,
        other => other.is_boolean_operator(),
    }
}

/// Only applicable labels compete, unless something else is asked for.
fn semantics(options: &PolicyOptions, filter: Option<bool>) -> PolicySemantics {
    let of_file = filter.map(|only| if only { Filter::Applicable } else { Filter::None });
    PolicySemantics {
        ties: options.ties.unwrap_or_default(),
        filter: options.filter.or(of_file).unwrap_or(Filter::Applicable),
        numbers: options.numbers,
        choice: options.choice,
        at_least: options.at_least,
    }
}

fn loaded(
    model: &Model,
    path: &Path,
    (network, inputs, outputs): (Network, Vec<VarId>, Vec<LabelId>),
    semantics: PolicySemantics,
) -> Result<LoadedPolicy, PolicyError> {
    let policy = Policy::new(network, inputs, outputs, semantics, &model.domains())
        .map_err(|error| error.in_file(&path.display().to_string()))?;
    Ok(LoadedPolicy {
        policy,
        network_file: path.to_owned(),
        data_files: Vec::new(),
        interface_file: None,
        never: Vec::new(),
        warnings: semantics.warnings(),
        notes: Vec::new(),
    })
}
