//! Loading a policy for a model: network, interface, meaning.

mod content;

use std::path::{Path, PathBuf};

use policert_model::{LabelId, Model};
use policert_numeric::Interval;

use crate::error::PolicyError;
use crate::format::Format;
use crate::interface::{
    FunctionSizes, GroupFeed, InputSource, Interface, NamedExpressions, VariablesOnly, attach,
    bind_by_order, computed,
};
use crate::meter::Meter;
use crate::network::Network;
use crate::onnx::Ranges;
use crate::policy::Policy;
use crate::policy_file::PolicyFile;
use crate::read::read_metered;
use crate::sampling::Law;
use crate::scores_file::ScoresFile;
use crate::semantics::{ChoiceRule, Filter, Numbers, PolicySemantics, Ties};
use crate::share::Share;
use crate::single::{SinglePrecision, known_graph};
use crate::trees::{IntegerTrees, Questions, Rounds, TreesFile, with_constant_leaves};
use content::{Function, Read, TREES_GROWTH, trees_of};

/// Settings of the user about the meaning of a policy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PolicyOptions {
    /// The output of an ONNX file that holds the scores; `None` leaves it to the interface file, or
    /// else to the kinds of the outputs.
    pub scores: Option<String>,
    /// The labels that are chosen at ties; `None` leaves it to the interface file, or else to
    /// [`Ties::First`].
    pub ties: Option<Ties>,
    /// The labels that compete; `None` leaves it to the interface file, or else to
    /// [`Filter::None`].
    pub filter: Option<Filter>,
    /// In which arithmetic the scores are meant.
    pub numbers: Numbers,
    /// The rule by which a label is chosen from the scores.
    pub choice: ChoiceRule,
    /// Of a policy that draws: labels that are less probable than this count as never drawn.
    pub at_least: Option<Share>,
}

/// A policy and where it comes from.
#[derive(Clone, Debug)]
pub struct LoadedPolicy {
    /// The policy.
    pub policy: Policy,
    /// The file of the network.
    pub network_file: PathBuf,
    /// Other files with numbers of the network.
    pub data_files: Vec<PathBuf>,
    /// The interface file, if there is one.
    pub interface_file: Option<PathBuf>,
    /// Labels that the policy never chooses, although it has no output for them. Of a model under
    /// this policy, their operators are to be left out: [`Model::without_labels`].
    pub never: Vec<LabelId>,
    /// Warnings to read before trusting a verdict: normalisation, labels that are never restricted,
    /// how inputs were found without an interface, what the settings imply, and what could not be
    /// checked.
    pub warnings: Vec<String>,
    /// Remarks on the files.
    pub notes: Vec<String>,
}

/// Reads a tree ensemble if the file is one, by its content.
/// `rounds` says which rounds of training count, where the file names the best one.
///
/// # Errors
/// If the file cannot be read, breaks its format, contradicts itself, or has something that is not
/// supported.
pub fn read_trees(path: &Path, rounds: Rounds) -> Result<Option<TreesFile>, PolicyError> {
    let mut meter = Meter::default();
    trees_of(&PolicyFile::read(path, &mut meter)?, rounds, &mut meter)
}

/// Returns whether a file is a policy itself and not an interface. Its content tells; for a file
/// that cannot be read, the ending of its name does.
///
/// # Errors
/// [`PolicyError::Stopped`] at a limit.
pub fn is_policy_file(path: &Path, meter: &mut Meter) -> Result<bool, PolicyError> {
    match read_metered(path, meter) {
        Ok(bytes) => {
            meter.before(bytes.len().saturating_mul(TREES_GROWTH))?;
            Ok(Format::is_policy(path, &bytes))
        }
        Err(PolicyError::Stopped) => Err(PolicyError::Stopped),
        // Whoever reads it says what is wrong.
        Err(_) => Ok(Format::is_policy(path, &[])),
    }
}

/// The sizes of the function in a policy file, for an interface that is to be written; `scores` is the
/// output of an ONNX file that holds the scores.
///
/// # Errors
/// If the file cannot be read, breaks its format, or has something that is not supported; and
/// [`PolicyError::Stopped`] at a limit.
pub fn policy_sizes(
    path: &Path,
    scores: Option<&str>,
    meter: &mut Meter,
) -> Result<FunctionSizes, PolicyError> {
    Ok(Read::file(path, None, scores, Ranges::Later, meter)?.function.sizes(0))
}

/// Loads the policy of a model. Without `network`, the interface names the file; without
/// `interface`, inputs and outputs are found by their order.
///
/// # Errors
/// If a file cannot be read or is wrong, or network, interface and model do not fit together.
pub fn load_policy(
    model: &Model,
    network: Option<&Path>,
    interface: Option<&Path>,
    options: &PolicyOptions,
) -> Result<LoadedPolicy, PolicyError> {
    load_computing(model, &VariablesOnly, network, interface, options, &mut Meter::default())
}

/// As [`load_policy`], where inputs may also be `expressions` over the model, and within limits.
///
/// # Errors
/// As [`load_policy`]; an expression whose value the policy cannot compute; and
/// [`PolicyError::Stopped`] at a limit.
pub fn load_computing(
    model: &Model,
    expressions: &dyn NamedExpressions,
    network: Option<&Path>,
    interface: Option<&Path>,
    options: &PolicyOptions,
    meter: &mut Meter,
) -> Result<LoadedPolicy, PolicyError> {
    let read_interface = interface.map(Interface::read).transpose()?;
    let network_file = match (network, interface.zip(read_interface.as_ref())) {
        (Some(path), _) => path.to_owned(),
        (None, Some((path, read))) => match &read.file {
            Some(file) => path.parent().unwrap_or(Path::new("")).join(file),
            None => {
                let message = "the interface names no file, and no policy is given";
                return Err(PolicyError::invalid("/file", message).in_file(&read.name));
            }
        },
        (None, None) => {
            return Err(PolicyError::invalid("", "neither a policy nor an interface is given"));
        }
    };
    let read = |ranges: Ranges<'_>, meter: &mut Meter| {
        let scores = options.scores.as_deref();
        Read::file(&network_file, read_interface.as_ref(), scores, ranges, meter)
    };
    let Read { mut function, mut warnings, mut notes } = read(Ranges::Later, meter)?;
    let listed = read_interface.as_ref().map_or(0, |interface| interface.outputs.len());
    let sizes = function.sizes(listed);
    if let (Function::Network(_), None, Some(Interface { elements: Some(_), name, .. })) =
        (&function, &sizes.hidden, &read_interface)
    {
        warnings
            .push(format!("{name}: /elements is not compared: the network is no chain of layers"));
    }
    let binding = if let Some(interface) = &read_interface {
        interface.bind(model, expressions, &sizes)?
    } else {
        let name = network_file.display().to_string();
        let binding = bind_by_order(model, &sizes).map_err(|error| error.in_file(&name))?;
        warnings.push(format!(
            "no interface: the {} inputs are the variables and the {} outputs the labels of the \
             model, in its order",
            binding.inputs.len(),
            binding.outputs.len()
        ));
        binding
    };
    let domains = model.domains();
    let ranges: Option<Vec<Interval>> = function
        .assumes_ranges()
        .then(|| binding.inputs.iter().map(|source| source.range(&domains)).collect());
    if let Some(ranges) = &ranges {
        function = read(Ranges::Given(ranges), meter)?.function;
    }
    let filter = read_interface.as_ref().and_then(|interface| interface.filter);
    let ties = read_interface.as_ref().and_then(|interface| interface.ties);
    let of_mask = function.is_masked().then_some(Filter::Applicable);
    if let (Some(Filter::None), true) = (options.filter.or(filter), function.is_masked()) {
        let message = "the policy itself chooses among the applicable labels alone: `filter` false \
                       contradicts that";
        return Err(
            PolicyError::invalid("/filter", message).in_file(&network_file.display().to_string())
        );
    }
    let semantics = PolicySemantics {
        ties: options.ties.or(ties).unwrap_or_default(),
        filter: options.filter.or(filter).or(of_mask).unwrap_or_default(),
        numbers: options.numbers,
        choice: options.choice,
        at_least: options.at_least,
    };
    let law = match options.choice {
        ChoiceRule::Argmax => Law::default(),
        ChoiceRule::Sample => function
            .law(&network_file, meter)
            .map_err(|error| error.in_file(&network_file.display().to_string()))?,
    };
    let name = read_interface
        .as_ref()
        .map_or_else(|| network_file.display().to_string(), |interface| interface.name.clone());
    let mut outputs = binding.outputs.clone();
    let sources = &binding.inputs;
    let variables = binding.variables();
    if sources.iter().any(|source| !source.is_integral()) {
        notes.push(
            "the interface computes inputs that need not be integers: they are meant exactly, however \
             an observation in floating point would round them"
                .to_owned(),
        );
    }
    let mut data_files = Vec::new();
    if let Function::Network(file) = &function {
        file.check_inputs(sources, &domains).map_err(|error| error.in_file(&name))?;
        data_files.clone_from(&file.data_files);
    }
    if let Some(classes) = function.classes() {
        let label = |&label: &LabelId| model.label_name(Some(label)).to_owned();
        let labels: Vec<String> = outputs.iter().map(label).collect();
        let attached = attach(classes, &labels, &outputs).map_err(|problem| {
            PolicyError::Mismatch { file: name.clone(), problems: vec![problem] }
        })?;
        outputs = attached.outputs;
        notes.extend(attached.notes);
        warnings.extend(attached.warnings);
    }
    let policy = match function {
        Function::Network(file) => {
            let masked = file.masked;
            let before = |network: &Network| {
                computed::before(network, sources, &domains)
                    .map_err(|(input, why)| computed::refusal(input, &why, &name))
            };
            let single = match semantics.numbers {
                Numbers::Real => None,
                Numbers::F32 => {
                    let features = match variables {
                        Some(_) => None,
                        None => Some(before(&Network::identity(sources.len())?)?.0),
                    };
                    let are_integral = sources.iter().map(InputSource::is_integral).collect();
                    let features = features.map(|features| (features, are_integral));
                    let scores = options.scores.as_deref();
                    let ranges = ranges.as_deref().map_or(Ranges::Later, Ranges::Given);
                    let output = file.output.as_deref();
                    let interface = read_interface.as_ref();
                    let single =
                        single_precision(&network_file, output, interface, scores, ranges, meter)?;
                    Some(match features {
                        Some(features) => single.with_features(features)?,
                        None => single,
                    })
                }
            };
            let (network, inputs) = match variables {
                Some(variables) => (file.network, variables),
                None => before(&file.network)?,
            };
            let policy =
                Policy::within(network, inputs, outputs, semantics, &domains, single, meter);
            policy.and_then(|policy| match masked {
                Some(least) if !policy.scores_exceed(least) => Err(too_low(least)),
                _ => Ok(policy),
            })
        }
        Function::Trees(trees) => {
            if trees.features.count.is_none() {
                notes.push(format!(
                    "the policy file does not say how many inputs it has, so it was only checked \
                     that its trees read none beyond the {} that are given",
                    sources.len()
                ));
            }
            let summation = trees.summation_for(outputs.len());
            let ensemble = trees.fitted(sources.len(), outputs.len());
            let file = network_file.display().to_string();
            let inputs = variables.unwrap_or_else(|| computed::variables_of(sources));
            let sides: Vec<_> = sources.iter().map(|source| source.side(&domains)).collect();
            let ensemble =
                with_constant_leaves(ensemble, &sides).map_err(|error| error.in_file(&file))?;
            let questions = Questions::of_sources(sources, &inputs, &domains)
                .map_err(|(input, why)| computed::refusal(input, &why, &name))?;
            let trees =
                IntegerTrees::asking(&ensemble, questions).map_err(|error| error.in_file(&file))?;
            Policy::of_summed_trees(trees, summation, inputs, outputs, semantics, &domains)
        }
    };
    let policy = policy.map_err(|error| error.in_file(&name))?.with_law(law);
    notes.extend(policy.single().map(|(rounded, errors)| rounded.remark(errors)));
    if let Some(interface) = &read_interface {
        warnings.extend(interface.warnings.iter().cloned());
    }
    let names = |labels: &[LabelId]| -> String {
        let names: Vec<&str> = labels.iter().map(|&label| model.label_name(Some(label))).collect();
        names.join(", ")
    };
    let never = binding.never;
    if !never.is_empty() {
        let names = names(&never);
        warnings.push(format!("the interface says that these labels are never chosen: {names}"));
    }
    let mut free = policy.unrestricted_labels(model);
    free.retain(|label| !never.contains(label));
    if !free.is_empty() {
        let names = names(&free);
        warnings.push(format!(
            "labels that the policy does not output are never restricted, the environment takes \
             them: {names}; to say that the policy never chooses one, list it under `never` in the \
             interface"
        ));
    }
    warnings.extend(semantics.warnings());
    let interface_file = interface.map(Path::to_owned);
    Ok(LoadedPolicy { policy, network_file, data_files, interface_file, never, warnings, notes })
}

/// How the network of a file is evaluated in single precision, of which `output` is the policy if it is a graph; the
/// other arguments are those of [`Read::file`].
fn single_precision(
    path: &Path,
    output: Option<&str>,
    interface: Option<&Interface>,
    scores: Option<&str>,
    ranges: Ranges<'_>,
    meter: &mut Meter,
) -> Result<SinglePrecision, PolicyError> {
    let file = PolicyFile::read(path, meter)?;
    let name = file.name.clone();
    let graph = output.map(|output| {
        let groups = interface.map_or(&[][..], |interface| &interface.groups);
        let masks = groups.iter().filter(|group| group.feed == GroupFeed::Applicable);
        let masks: Vec<&str> = masks.map(|group| group.name.as_str()).collect();
        known_graph(&file.bytes, output, &masks)
    });
    let graph = graph.transpose().map_err(|error| error.in_file(&name))?;
    let written = ScoresFile::parse(file, interface, scores, ranges, true, meter)?;
    let single = match graph {
        Some(graph) => SinglePrecision::of_graph(&written.network, graph),
        None => SinglePrecision::without_factors(&written.network),
    };
    single.map_err(|error| error.in_file(&name))
}

/// The error for a mask whose number for labels that are not applicable may also be a score.
fn too_low(least: f64) -> PolicyError {
    let message = format!(
        "labels that are not applicable get the score {least:e}, and others might get one as low; \
         export the policy without a mask, and use the interface's `filter`"
    );
    PolicyError::unsupported("/input", message)
}

impl Policy {
    /// The labels of operators that the policy does not output: they belong to the environment.
    #[must_use]
    pub fn unrestricted_labels(&self, model: &Model) -> Vec<LabelId> {
        let mut labels = model.operator_labels();
        labels.retain(|&label| self.output_of(label).is_none());
        labels
    }
}
