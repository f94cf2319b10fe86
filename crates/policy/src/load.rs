//! Loading a policy for a model: network, interface, meaning.

use std::path::{Path, PathBuf};

use policert_model::{LabelId, Model};

use crate::error::PolicyError;
use crate::format::Format;
use crate::interface::{
    FunctionSizes, InputCount, InputSource, Interface, NamedExpressions, VariablesOnly, attach,
    bind_by_order, computed,
};
use crate::meter::Meter;
use crate::network::Network;
use crate::onnx;
use crate::policy::Policy;
use crate::policy_file::PolicyFile;
use crate::read::read_metered;
use crate::sampling::Law;
use crate::scores_file::{ScoresFile, refuse_graph_names, refuse_output_name};
use crate::semantics::{ChoiceRule, Filter, Numbers, PolicySemantics, Ties};
use crate::share::Share;
use crate::single::SinglePrecision;
use crate::trees::{
    Classes, IntegerTrees, Questions, Rounds, TreesFile, is_tree_ensemble, parse_onnx_trees,
    parse_trees, with_constant_leaves,
};

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

/// Bytes that a tree ensemble takes while it is read, for each byte of its file.
const TREES_GROWTH: usize = 16;

/// The tree ensemble in a file, if it is one.
fn trees_of(
    file: &PolicyFile<'_>,
    rounds: Rounds,
    meter: &mut Meter,
) -> Result<Option<TreesFile>, PolicyError> {
    let PolicyFile { name, bytes, format, .. } = file;
    let is_ensemble = match format {
        Format::Nnet => false,
        Format::Onnx => is_tree_ensemble(bytes),
        Format::Json | Format::Trees => true,
    };
    if !is_ensemble {
        return Ok(None);
    }
    meter.before(bytes.len().saturating_mul(TREES_GROWTH))?;
    if *format == Format::Onnx {
        parse_onnx_trees(name, bytes).map(Some)
    } else {
        parse_trees(name, bytes, rounds).map(Some)
    }
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
    Ok(Read::file(path, None, scores, meter)?.function.sizes(0))
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
    let Read { function, mut warnings, mut notes } =
        Read::file(&network_file, read_interface.as_ref(), options.scores.as_deref(), meter)?;
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
    let domains = model.domains();
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
                    let named = read_interface.as_ref().and_then(|read| read.scores.as_deref());
                    let scores = options.scores.as_deref().or(named);
                    let file = (network_file.as_path(), &file.network);
                    Some(SinglePrecision::of_file(file, scores, features, meter)?)
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
            Policy::of_trees(trees, inputs, outputs, semantics, &domains)
        }
    };
    let policy = policy.map_err(|error| error.in_file(&name))?.with_law(law);
    notes.extend(policy.single().map(|(_, errors)| errors.remark()));
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

/// The error for a mask whose number for labels that are not applicable may also be a score.
fn too_low(least: f64) -> PolicyError {
    let message = format!(
        "labels that are not applicable get the score {least:e}, and others might get one as low; \
         export the policy without a mask, and use the interface's `filter`"
    );
    PolicyError::unsupported("/input", message)
}

/// The function that a policy file contains.
enum Function {
    Network(Box<ScoresFile>),
    Trees(Box<TreesFile>),
}

/// The content of a policy file.
struct Read {
    function: Function,
    warnings: Vec<String>,
    notes: Vec<String>,
}

impl Read {
    /// Reads a file; `scores` names the output with the scores, whatever the interface says. An ensemble with a single score and two labels is a classifier of two classes.
    fn file(
        path: &Path,
        interface: Option<&Interface>,
        scores: Option<&str>,
        meter: &mut Meter,
    ) -> Result<Self, PolicyError> {
        let rounds = interface.and_then(|interface| interface.rounds);
        let file = PolicyFile::read(path, meter)?;
        let Some(mut trees) = trees_of(&file, rounds.unwrap_or_default(), meter)? else {
            let mut file = ScoresFile::parse(file, interface, scores, meter)?;
            if file.groups.is_empty() {
                refuse_output_name(path, scores)?;
            }
            if let Some(interface) = interface.filter(|_| file.groups.is_empty()) {
                refuse_graph_names(interface)?;
            }
            if let Some((interface, _)) = interface.zip(rounds) {
                let message = "the policy is a network, and only tree ensembles have rounds";
                return Err(PolicyError::invalid("/rounds", message).in_file(&interface.name));
            }
            let warnings = std::mem::take(&mut file.warnings);
            let notes = std::mem::take(&mut file.notes);
            return Ok(Self { function: Function::Network(Box::new(file)), warnings, notes });
        };
        refuse_output_name(path, scores)?;
        if let Some(interface) = interface {
            refuse_graph_names(interface)?;
        }
        let mut warnings = Vec::new();
        if let Some(interface) = interface
            && trees.outputs_for(interface.outputs.len()) != trees.ensemble.outputs()
            && let [first, second] = interface.outputs.as_slice()
        {
            warnings.push(format!(
                "the ensemble has one score: where it is positive, `{second}` is chosen, else \
                 `{first}`"
            ));
        }
        let notes = std::mem::take(&mut trees.notes);
        Ok(Self { function: Function::Trees(Box::new(trees)), warnings, notes })
    }
}

impl Function {
    /// The classes in the order of the scores, if the file names them.
    fn classes(&self) -> Option<&Classes> {
        match self {
            Self::Network(file) => file.classes.as_ref(),
            Self::Trees(trees) => trees.classes.as_ref(),
        }
    }

    /// Returns how the scores become the probabilities that the policy of a file draws by.
    ///
    /// # Errors
    /// If the file has no probabilities, or they are no softmax of its scores.
    fn law(&self, path: &Path, meter: &mut Meter) -> Result<Law, PolicyError> {
        let refused = |message: &str| {
            Err(PolicyError::unsupported(
                "",
                format!("choice sample is not supported here: {message}"),
            ))
        };
        match self {
            Self::Trees(trees) => match trees.law {
                Some(law) => Ok(law),
                None => refused(
                    "it is not known how the scores of the ensemble become probabilities; supported \
                     are classifiers of XGBoost (binary:logistic, multi:softprob), of LightGBM \
                     (binary, multiclass) and in ONNX (probabilities, or SOFTMAX)",
                ),
            },
            Self::Network(file) => {
                let graph = onnx::decode(&read_metered(path, meter)?).ok().and_then(|m| m.graph);
                let nodes = graph.map(|graph| graph.node).unwrap_or_default();
                let classifies = nodes.iter().any(|node| node.op_type.ends_with("Classifier"));
                if file.classes.is_some() || classifies {
                    refused(
                        "the graph is a classifier, whose probabilities need not be the softmax of \
                         its scores; export the scores before they become probabilities",
                    )
                } else if file.network.ends_squashed() {
                    refused(
                        "the outputs of the network pass through a function such as tanh or the \
                         sigmoid, so they are no logarithms of probabilities; export what is before it",
                    )
                } else {
                    Ok(Law::Softmax)
                }
            }
        }
    }

    /// Returns whether the file itself lets only applicable labels compete.
    fn is_masked(&self) -> bool {
        match self {
            Self::Network(file) => file.masked.is_some(),
            Self::Trees(_) => false,
        }
    }

    /// The sizes, for an interface that lists so many outputs.
    fn sizes(&self, listed: usize) -> FunctionSizes {
        match self {
            Self::Network(file) => FunctionSizes {
                kind: "network",
                inputs: InputCount::Exactly(file.network.input_width()),
                input_names: Vec::new(),
                outputs: file.network.output_width(),
                groups: file.groups.iter().map(|g| (g.name.clone(), g.width)).collect(),
                classes: file.classes.as_ref().map(Classes::shown).unwrap_or_default(),
                hidden: file.network.hidden_sizes(),
            },
            Self::Trees(trees) => FunctionSizes {
                kind: "tree ensemble",
                inputs: match trees.features.count {
                    Some(count) => InputCount::Exactly(count),
                    None => InputCount::AtLeast(trees.ensemble.inputs()),
                },
                input_names: trees.features.names.clone(),
                outputs: trees.outputs_for(listed),
                groups: trees.features.groups.clone(),
                classes: trees.classes.as_ref().map(Classes::shown).unwrap_or_default(),
                hidden: None,
            },
        }
    }
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
