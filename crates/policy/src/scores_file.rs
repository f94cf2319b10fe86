//! Networks of policies: what is read from their files.

use std::path::{Path, PathBuf};

use policert_numeric::{IntBox, IntInterval, Rational};

use crate::error::PolicyError;
use crate::format::Format;
use crate::interface::{GroupFeed, InputSource, Interface};
use crate::meter::Meter;
use crate::network::Network;
use crate::network_file::NetworkFile;
use crate::nnet::parse_nnet_within;
use crate::onnx::{GraphInput, Head, Ranges, Reading, parse_within};
use crate::policy_file::PolicyFile;
use crate::trees::Classes;

/// Reads a network in NNet or ONNX, by its content.
///
/// # Errors
/// If the file cannot be read, breaks its format, or has something that is not supported.
pub fn read_network(path: &Path) -> Result<NetworkFile, PolicyError> {
    read_network_within(path, &mut Meter::default())
}

/// As [`read_network`], within limits.
///
/// # Errors
/// As [`read_network`], and [`PolicyError::Stopped`] at a limit.
pub fn read_network_within(path: &Path, meter: &mut Meter) -> Result<NetworkFile, PolicyError> {
    let name = path.display().to_string();
    let file = PolicyFile::read(path, meter)?;
    let file = ScoresFile::parse(file, None, None, Ranges::Any, false, meter)?;
    let refused = match (file.head, file.needs.iter().any(Option::is_some)) {
        (Head::Values, false) => None,
        (Head::Values, true) => Some("it reads integers, and here its inputs are real numbers"),
        (Head::Order, _) => Some(
            "only the order of its outputs is known, since a softmax is not computed; export the \
             scores before it",
        ),
        (Head::Decision, _) => {
            Some("its output is the index of its greatest score; export the scores themselves")
        }
    };
    match refused {
        None => {
            let notes = file.warnings.into_iter().chain(file.notes).collect();
            Ok(NetworkFile { network: file.network, notes })
        }
        Some(message) => Err(PolicyError::unsupported("", message).in_file(&name)),
    }
}

/// Refuses an interface that says of a graph what only networks in ONNX have.
pub(crate) fn refuse_graph_names(interface: &Interface) -> Result<(), PolicyError> {
    let masked = interface.groups.iter().any(|group| group.feed == GroupFeed::Applicable);
    let (place, what) = match (masked, &interface.scores) {
        (false, None) => return Ok(()),
        (true, _) => ("/input", "read a mask; \"filter\": true says the same"),
        (false, Some(_)) => ("/scores", "have outputs with names"),
    };
    let message = format!("only networks in ONNX {what}");
    Err(PolicyError::unsupported(place, message).in_file(&interface.name))
}

/// Refuses the name of an output for a file that has none.
pub(crate) fn refuse_output_name(path: &Path, scores: Option<&str>) -> Result<(), PolicyError> {
    let Some(name) = scores else { return Ok(()) };
    let message =
        format!("`{name}` names an output, and only networks in ONNX have outputs with names");
    Err(PolicyError::unsupported("--scores", message).in_file(&path.display().to_string()))
}

/// A network whose greatest output is the policy's choice.
#[derive(Debug)]
pub(crate) struct ScoresFile {
    pub network: Network,
    /// The name of the graph's output that is the policy, of a network in ONNX.
    pub output: Option<String>,
    /// The meaning of the file's own output, in terms of the scores.
    pub head: Head,
    /// The classes in the order of the scores, if the file names them.
    pub classes: Option<Classes>,
    /// For each input that must be an integer: in which range.
    pub needs: Vec<Option<IntInterval>>,
    /// The inputs of the graph.
    pub groups: Vec<GraphInput>,
    /// The score of labels that are not applicable, if the file itself sets it.
    pub masked: Option<f64>,
    /// True if the probabilities of a policy that draws are the softmax of the outputs of the network.
    pub draws_by_softmax: bool,
    /// True if the network is to be read again with the ranges of its inputs.
    pub assumes_ranges: bool,
    /// Other files with numbers of the network.
    pub data_files: Vec<PathBuf>,
    pub warnings: Vec<String>,
    pub notes: Vec<String>,
}

impl ScoresFile {
    /// Parses a file by its format; the interface may name inputs and an output of its graph, and
    /// `scores` another output. `ranges` are those of the inputs. Constants of a graph stay apart if they are
    /// to be `as_written`.
    pub(crate) fn parse(
        file: PolicyFile<'_>,
        interface: Option<&Interface>,
        scores: Option<&str>,
        ranges: Ranges<'_>,
        as_written: bool,
        meter: &mut Meter,
    ) -> Result<Self, PolicyError> {
        let PolicyFile { path, name, bytes, format } = file;
        match format {
            Format::Nnet => {
                let NetworkFile { network, notes } = parse_nnet_within(&name, &bytes, meter)?;
                Ok(Self {
                    needs: vec![None; network.input_width()],
                    network,
                    output: None,
                    head: Head::Values,
                    classes: None,
                    groups: Vec::new(),
                    masked: None,
                    draws_by_softmax: true,
                    assumes_ranges: false,
                    data_files: Vec::new(),
                    warnings: notes,
                    notes: Vec::new(),
                })
            }
            Format::Onnx => {
                let reading = Reading {
                    folder: path.parent(),
                    output: scores.or_else(|| interface.and_then(|one| one.scores.as_deref())),
                    groups: interface.map_or(&[], |interface| interface.groups.as_slice()),
                    ranges,
                    as_written,
                };
                let file = parse_within(&name, bytes, &reading, meter)?;
                Ok(Self {
                    network: file.network,
                    output: Some(file.output),
                    head: file.head,
                    classes: file.classes,
                    needs: file.needs,
                    groups: file.inputs,
                    masked: file.masked,
                    draws_by_softmax: file.draws_by_softmax,
                    assumes_ranges: file.assumes_ranges,
                    data_files: file.data_files,
                    warnings: Vec::new(),
                    notes: file.remarks,
                })
            }
            Format::Json | Format::Trees => {
                let message =
                    "this is no network; a network in NNet (.nnet) or ONNX (.onnx) is needed here";
                Err(PolicyError::unsupported("", message).in_file(&name))
            }
        }
    }

    /// Checks that inputs which the file reads as integers of a range are such.
    pub(crate) fn check_inputs(
        &self,
        sources: &[InputSource],
        domains: &IntBox,
    ) -> Result<(), PolicyError> {
        let of_group = |group: &GraphInput| {
            std::iter::repeat_n(group.is_integer.then_some(IntInterval::ALL), group.width)
        };
        let declared = self.groups.iter().flat_map(of_group).chain(std::iter::repeat(None));
        let needs = self.needs.iter().zip(declared).map(|(need, declared)| need.or(declared));
        for (index, (need, source)) in needs.zip(sources).enumerate() {
            let Some(wanted) = need else { continue };
            let place = format!("/input/{index}");
            if !source.is_integral() {
                let message = "the network reads this input as an integer, and it need not be one";
                return Err(PolicyError::unsupported(place, message));
            }
            let range = source.expr().range(domains);
            let bound = |bound: i64, none: i64| (bound != none).then(|| Rational::from(bound));
            let lo = bound(wanted.lo, IntInterval::UNBOUNDED_BELOW);
            let hi = bound(wanted.hi, IntInterval::UNBOUNDED_ABOVE);
            let fits = lo.is_none_or(|lo| range.lo.as_ref().is_some_and(|least| *least >= lo))
                && hi.is_none_or(|hi| range.hi.as_ref().is_some_and(|greatest| *greatest <= hi));
            if !fits {
                let shown = |bound: &Option<Rational>| {
                    bound.as_ref().map_or(String::new(), Rational::to_string)
                };
                let message = format!(
                    "the network reads integers {wanted} here, and this input is in {}..{}; narrow \
                     the bounds of its variables in the model",
                    shown(&range.lo),
                    shown(&range.hi)
                );
                return Err(PolicyError::unsupported(place, message));
            }
        }
        Ok(())
    }
}
