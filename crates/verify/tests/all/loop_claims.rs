//! What tests of evidence about control loops share: checks of lies, shipped tasks, random networks.

use std::fs;
use std::path::{Path, PathBuf};

use policert_engine_api::{CancelFlag, Limits, Silent};
use policert_evidence::{CertifyRequest, certify};
use policert_outcome::file_digest;
use policert_policy::activation::Smooth;
use policert_policy::{Activation, ElementType, Matrix, Network, NetworkBuilder};
use policert_testkit::Random;
use serde_json::{Value, json};

/// The exit code of a check.
pub fn check(evidence: &Value) -> i32 {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("evidence.json");
    fs::write(&path, evidence.to_string()).expect("written");
    let request = CertifyRequest { evidence: path, limits: Limits::default() };
    certify(&request, &CancelFlag::default(), &mut Silent).status.code().into()
}

/// The check of evidence that was changed.
pub fn changed(evidence: &Value, change: impl FnOnce(&mut Value)) -> i32 {
    let mut lie = evidence.clone();
    change(&mut lie);
    assert_ne!(&lie, evidence, "a change");
    check(&lie)
}

/// The same evidence, of another task: what is in its file now.
pub fn of_another_task(evidence: &Value, path: &Path, text: String) -> Value {
    fs::write(path, text).expect("written");
    let mut lie = evidence.clone();
    lie["inputs"][0]["sha256"] = json!(file_digest(path).expect("read"));
    lie
}

pub fn shipped(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A multiple of 1/8 between 0 and `most`.
pub fn eighths(random: &mut Random, most: usize) -> f64 {
    f64::from(u8::try_from(random.below(8 * most + 1)).expect("small")) / 8.0
}

/// A random network of two inputs and a hidden layer of four neurons.
pub fn network(random: &mut Random, outputs: usize) -> Network {
    let mut builder = NetworkBuilder::new(2).expect("inputs");
    let mut layer = |rows: usize, columns: usize| {
        let mut weight = || eighths(random, 2) - 1.0;
        let weights = (0..rows * columns).map(|_| weight()).collect();
        let bias = (0..rows).map(|_| weight()).collect();
        (Matrix::new(rows, columns, weights).expect("sizes"), bias)
    };
    let (hidden, last) = (layer(4, 2), layer(outputs, 4));
    let kinds = [
        Activation::Leaky { alpha: 0.0 },
        Activation::Smooth(Smooth::Tanh),
        Activation::Smooth(Smooth::Sigmoid),
    ];
    let function = kinds[random.below(kinds.len())];
    let node = builder.affine(builder.input(), hidden.0, hidden.1).expect("sizes");
    let node = builder.activation(node, function).expect("finite");
    let node = builder.affine(node, last.0, last.1).expect("sizes");
    builder.finish(node, ElementType::F32)
}

/// About where a damped pendulum under a force is after so many stretches of time, by the midpoint method.
pub fn swung([mut x, mut y]: [f64; 2], force: f64, (length, count): (f64, u32)) -> [f64; 2] {
    let f = |x: f64, y: f64| -x.sin() - 0.25 * y + force;
    for _ in 0..count {
        let (half_x, half_y) = (x + 0.5 * length * y, y + 0.5 * length * f(x, y));
        (x, y) = (x + length * half_y, y + length * f(half_x, half_y));
    }
    [x, y]
}
