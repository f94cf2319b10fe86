//! What a policy file contains: a network or a tree ensemble.

use std::path::Path;

use crate::error::PolicyError;
use crate::format::Format;
use crate::interface::{FunctionSizes, InputCount, Interface};
use crate::meter::Meter;
use crate::onnx::{self, Ranges};
use crate::policy_file::PolicyFile;
use crate::read::read_metered;
use crate::sampling::Law;
use crate::scores_file::{ScoresFile, refuse_graph_names, refuse_output_name};
use crate::trees::{Classes, Rounds, TreesFile, is_tree_ensemble, parse_onnx_trees, parse_trees};

/// The function that a policy file contains.
pub(super) enum Function {
    Network(Box<ScoresFile>),
    Trees(Box<TreesFile>),
}

/// The content of a policy file.
pub(super) struct Read {
    pub function: Function,
    pub warnings: Vec<String>,
    pub notes: Vec<String>,
}

impl Read {
    /// Reads a file; `scores` names the output with the scores, whatever the interface says, and
    /// `ranges` are those of the inputs of a network. An ensemble with a single score and two labels is a
    /// classifier of two classes.
    pub fn file(
        path: &Path,
        interface: Option<&Interface>,
        scores: Option<&str>,
        ranges: Ranges<'_>,
        meter: &mut Meter,
    ) -> Result<Self, PolicyError> {
        let rounds = interface.and_then(|interface| interface.rounds);
        let file = PolicyFile::read(path, meter)?;
        let Some(mut trees) = trees_of(&file, rounds.unwrap_or_default(), meter)? else {
            let mut file = ScoresFile::parse(file, interface, scores, ranges, false, meter)?;
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
    pub fn classes(&self) -> Option<&Classes> {
        match self {
            Self::Network(file) => file.classes.as_ref(),
            Self::Trees(trees) => trees.classes.as_ref(),
        }
    }

    /// Returns how the scores become the probabilities that the policy of a file draws by.
    ///
    /// # Errors
    /// If the file has no probabilities, or they are no softmax of its scores.
    pub fn law(&self, path: &Path, meter: &mut Meter) -> Result<Law, PolicyError> {
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
                } else if !file.draws_by_softmax {
                    refused(
                        "the output of the graph has the order of its scores, and is neither logarithms of \
                         probabilities nor their softmax; export the scores before the last functions",
                    )
                } else {
                    Ok(Law::Softmax)
                }
            }
        }
    }

    /// Returns whether it is to be read again with the ranges of its inputs.
    pub fn assumes_ranges(&self) -> bool {
        match self {
            Self::Network(file) => file.assumes_ranges,
            Self::Trees(_) => false,
        }
    }

    /// Returns whether the file itself lets only applicable labels compete.
    pub fn is_masked(&self) -> bool {
        match self {
            Self::Network(file) => file.masked.is_some(),
            Self::Trees(_) => false,
        }
    }

    /// The sizes, for an interface that lists so many outputs.
    pub fn sizes(&self, listed: usize) -> FunctionSizes {
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

/// Bytes that a tree ensemble takes while it is read, for each byte of its file.
pub(super) const TREES_GROWTH: usize = 16;

/// The tree ensemble in a file, if it is one.
pub(super) fn trees_of(
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
