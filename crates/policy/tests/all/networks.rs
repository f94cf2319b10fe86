//! Every network file of the collection.

use std::path::Path;

use policert_numeric::Rational;
use policert_policy::interface::Interface;
use policert_policy::onnx::{parse_onnx, write_onnx};
use policert_policy::{ElementType, ExactEvaluator, Network, PolicyError, read_network};

use policert_testkit::{cases_folder, shared_folder};

use crate::files_below::files_below;

fn read(path: &Path) -> Network {
    let file = read_network(path).unwrap_or_else(|error| panic!("{error}"));
    assert!(file.notes.is_empty(), "{}", path.display());
    file.network
}

/// Collections of files as their makers save them, of which some use operators or versions that are
/// not supported.
const PARTLY_SUPPORTED: [&str; 3] = ["policies", "arch", "vnncomp"];

#[test]
fn every_network_reads() {
    let Some(shared) = shared_folder("") else { return };
    let benchmarks = shared.join("benchmarks");
    let mut networks = 0;
    for file in files_below(&benchmarks, &["nnet", "onnx"]) {
        let in_part = |part: &&str| file.starts_with(benchmarks.join(part));
        let network = match read_network(&file) {
            Err(PolicyError::Unsupported { .. }) if PARTLY_SUPPORTED.iter().any(in_part) => {
                continue;
            }
            read => read.unwrap_or_else(|error| panic!("{error}")).network,
        };
        networks += 1;
        // What is written reads back as the same network. Constants that are made of several stored
        // ones may need double precision, and are merged once more.
        let Ok(bytes) = write_onnx(&network, network.element_type()) else {
            // Some activation functions are not in the version that is written.
            let Ok(bytes) = write_onnx(&network, ElementType::F64) else { continue };
            let again = parse_onnx("again", &bytes).expect("own output");
            let inputs = vec![1; network.input_width()];
            let scores =
                |network| ExactEvaluator::new(network).map(|e| e.scores(&inputs).to_rationals());
            assert_eq!(scores(&again), scores(&network), "{}", file.display());
            continue;
        };
        let again = parse_onnx("again", &bytes).expect("own output");
        assert_eq!(again, network, "{}", file.display());
    }
    assert!(networks > 50, "{networks}");
}

#[test]
fn interfaces_fit_their_networks() {
    let Some(shared) = shared_folder("") else { return };
    let files = files_below(&shared.join("benchmarks"), &["jani2nnet"]);
    let mut fitting = 0;
    for file in files {
        let interface = Interface::read(&file).unwrap_or_else(|error| panic!("{error}"));
        let network_file = file.with_file_name(interface.file.as_deref().expect("a file"));
        // Not every network that is named was published.
        if !network_file.exists() {
            continue;
        }
        let network = read(&network_file);
        assert_eq!(network.input_width(), interface.inputs.len(), "{}", file.display());
        assert_eq!(network.output_width(), interface.outputs.len(), "{}", file.display());
        assert_eq!(network.hidden_sizes(), interface.elements, "{}", file.display());
        fitting += 1;
    }
    assert!(fitting >= 8, "{fitting}");
}

#[test]
fn weights_are_kept_as_stored() {
    let cases = cases_folder().join("policy");
    let network = read(&cases.join("onnx-double-weights/net.onnx"));
    assert_eq!(network.element_type(), ElementType::F64);
    let scores = ExactEvaluator::new(&network).expect("linear").scores(&[0]).to_rationals();
    assert_ne!(scores[0], scores[1]);
    let network = read(&cases.join("tie-only-in-f32/net.onnx"));
    assert_eq!(network.element_type(), ElementType::F32);
    let exact = ExactEvaluator::new(&network).expect("linear");
    let inputs = vec![1; network.input_width()];
    let scores = exact.scores(&inputs).to_rationals();
    let difference = (&scores[0] - &scores[1]).abs();
    assert_eq!(difference, Rational::integer(2).pow(-30).expect("defined"));
}

#[test]
fn files_that_are_refused() {
    let cases = cases_folder().join("policy");
    let error = read_network(&cases.join("onnx-unsupported-operator/net.onnx")).expect_err("noise");
    assert!(matches!(error, PolicyError::Unsupported { .. }));
    let message = error.to_string();
    assert!(message.contains("exploration_noise") && message.contains("RandomNormalLike"));
    let error = read_network(&cases.join("weight-not-a-number/net.nnet")).expect_err("nan");
    assert!(matches!(error, PolicyError::Invalid { .. }));
    assert!(
        error.to_string().contains("line 12: ") && error.to_string().contains("nan"),
        "{error}"
    );
    let error = read_network(&cases.join("filter/missing.nnet")).expect_err("missing");
    assert!(matches!(error, PolicyError::Io { .. }));
    let error = read_network(&cases.join("filter/model.jani")).expect_err("no network");
    assert!(matches!(error, PolicyError::Unsupported { .. }));
}

/// Files that end early are refused, or still complete; nothing panics.
#[test]
fn truncated_files() {
    for file in files_below(&cases_folder().join("policy"), &["nnet", "onnx"]) {
        let bytes = std::fs::read(&file).expect("a file");
        let is_nnet = file.extension().is_some_and(|ending| ending == "nnet");
        for length in 0..bytes.len() {
            if is_nnet {
                let _ = policert_policy::nnet::parse_nnet("part", &bytes[..length]);
            } else {
                let _ = parse_onnx("part", &bytes[..length]);
            }
        }
    }
}
