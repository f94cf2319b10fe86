//! Files of networks: what is shared, as JSON.

use std::path::Path;

use policert_policy::PolicyError;
use serde::{Deserialize, Serialize};

use crate::asnet::{Architecture, Asnet, Module, Nonlinearity};
use crate::shape::DomainShape;

/// The version of the format.
const VERSION: u64 = 1;
/// Most layers, and the greatest dimension.
const MOST: usize = 1024;

/// Says what a file is, by its beginning.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// The weights of a network.
    Weights,
    /// A translation between a model and a problem.
    Translation,
}

impl FileKind {
    /// The kind of a file with these bytes, if it is one of them: `asnet` is the first key, and its
    /// value a version, or the name of a file.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let rest = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes).trim_ascii_start();
        let rest = rest.strip_prefix(b"{")?.trim_ascii_start();
        let rest = rest.strip_prefix(b"\"asnet\"")?.trim_ascii_start();
        match rest.strip_prefix(b":")?.trim_ascii_start().first()? {
            b'"' | b'n' => Some(Self::Translation),
            _ => Some(Self::Weights),
        }
    }
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AsnetFile {
    asnet: u64,
    domain: String,
    sha256: String,
    layers: usize,
    dimension: usize,
    activation: Nonlinearity,
    skip: bool,
    /// All weights are multiples of its reciprocal, and the file has the multiples: a power of two.
    #[serde(default = "one")]
    unit: f64,
    actions: Vec<Vec<NamedModule>>,
    propositions: Vec<Vec<NamedModule>>,
}

/// The weights of a schema or predicate in one layer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedModule {
    of: String,
    weights: Vec<Vec<f64>>,
    bias: Vec<f64>,
}

fn one() -> f64 {
    1.0
}

/// The greatest unit: products with it are exact, but for numbers that are hardly there.
const MOST_PARTS: f64 = 65_536.0;

/// The least power of two of whose reciprocal all weights are multiples; 1 if there is none.
fn unit(asnet: &Asnet) -> f64 {
    let modules = asnet.actions.iter().chain(&asnet.propositions).flatten();
    let mut unit = 1.0;
    for weight in modules.flat_map(|module| module.weights.iter().chain(&module.bias)) {
        while unit <= MOST_PARTS && !is_whole(weight * unit) {
            unit *= 2.0;
        }
    }
    if unit > MOST_PARTS { 1.0 } else { unit }
}

fn is_whole(number: f64) -> bool {
    number.fract().abs() <= 0.0
}

impl AsnetFile {
    /// The file of a network.
    #[must_use]
    pub fn new(asnet: &Asnet) -> Self {
        let unit = unit(asnet);
        let Asnet { architecture, shape, actions, propositions } = asnet;
        let schemas: Vec<&str> = shape.schemas.iter().map(|schema| schema.name.as_str()).collect();
        let predicates: Vec<&str> =
            shape.predicates.iter().map(|predicate| predicate.name.as_str()).collect();
        Self {
            asnet: VERSION,
            domain: shape.domain.clone(),
            sha256: shape.hash.clone(),
            layers: architecture.layers,
            dimension: architecture.dimension,
            activation: architecture.nonlinearity,
            skip: architecture.skip,
            unit,
            actions: actions.iter().map(|layer| named(layer, &schemas, unit)).collect(),
            propositions: propositions
                .iter()
                .map(|layer| named(layer, &predicates, unit))
                .collect(),
        }
    }

    /// The text of the file, one module a line.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!(
            "{{\"asnet\": {}, \"domain\": {}, \"sha256\": {},\n \"layers\": {}, \"dimension\": {}, \
             \"activation\": {}, \"skip\": {}, \"unit\": {}",
            self.asnet,
            json(&self.domain),
            json(&self.sha256),
            self.layers,
            self.dimension,
            json(&self.activation),
            self.skip,
            number(self.unit)
        );
        for (key, layers) in [("actions", &self.actions), ("propositions", &self.propositions)] {
            text += &format!(",\n \"{key}\": [");
            for (i, layer) in layers.iter().enumerate() {
                text += if i == 0 { "[" } else { ",\n  [" };
                let modules: Vec<String> = layer.iter().map(NamedModule::text).collect();
                text += &modules.join(",\n   ");
                text += "]";
            }
            text += "]";
        }
        text + "}\n"
    }
}

/// A value in JSON, on one line.
fn json<T: Serialize>(value: &T) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

/// A number in JSON, without a point if it is whole.
fn number(value: f64) -> String {
    if is_whole(value) && value.abs() < 1e15 { value.to_string() } else { json(&value) }
}

impl NamedModule {
    fn text(&self) -> String {
        let list = |numbers: &Vec<f64>| {
            let numbers: Vec<String> = numbers.iter().copied().map(number).collect();
            format!("[{}]", numbers.join(","))
        };
        let rows: Vec<String> = self.weights.iter().map(list).collect();
        format!(
            "{{\"of\":{},\"weights\":[{}],\"bias\":{}}}",
            json(&self.of),
            rows.join(","),
            list(&self.bias)
        )
    }
}

fn named(layer: &[Module], names: &[&str], unit: f64) -> Vec<NamedModule> {
    let times = |numbers: &[f64]| numbers.iter().map(|number| number * unit).collect();
    let named = |(module, name): (&Module, &&str)| NamedModule {
        of: (*name).to_owned(),
        weights: (0..module.bias.len()).map(|output| times(module.row(output))).collect(),
        bias: times(&module.bias),
    };
    layer.iter().zip(names).map(named).collect()
}

/// Reads the network of a file, for a domain.
///
/// # Errors
/// If the file cannot be read, breaks the format, contradicts itself, or is for another domain.
pub fn read_asnet(path: &Path, shape: &DomainShape) -> Result<Asnet, PolicyError> {
    let file = path.display().to_string();
    let bytes = policert_files::read(path)
        .map_err(|source| PolicyError::Io { file: file.clone(), source })?;
    parse(&file, &bytes, shape)
}

pub(crate) fn parse(file: &str, bytes: &[u8], shape: &DomainShape) -> Result<Asnet, PolicyError> {
    let invalid = |place: String, message: String| PolicyError::Invalid {
        file: file.to_owned(),
        place,
        message,
    };
    let read: AsnetFile = from_json(file, bytes)?;
    let at = |key: &str| place_of(bytes, key);
    if read.asnet != VERSION {
        return Err(PolicyError::Unsupported {
            file: file.to_owned(),
            place: at("asnet"),
            message: format!("action schema networks of version {VERSION} are supported"),
        });
    }
    if read.sha256 != shape.hash {
        let message = format!(
            "this network is for another domain, `{}` with hash {}; the one that is given is `{}` \
             with hash {}",
            policert_files::name(&read.domain),
            policert_files::name(&read.sha256),
            shape.domain,
            shape.hash
        );
        return Err(invalid(at("sha256"), message));
    }
    if read.layers > MOST || read.dimension > MOST || read.dimension == 0 {
        let message = format!("layers are 0 to {MOST}, and the dimension is 1 to {MOST}");
        return Err(invalid(at("layers"), message));
    }
    if !(1.0..=MOST_PARTS).contains(&read.unit) || !is_power_of_two(read.unit) {
        let message = format!("the unit is a power of two from 1 to {MOST_PARTS}");
        return Err(invalid(at("unit"), message));
    }
    let architecture = Architecture {
        layers: read.layers,
        dimension: read.dimension,
        nonlinearity: read.activation,
        skip: read.skip,
    };
    let mut asnet = Asnet::zeros(shape.clone(), architecture);
    let schemas: Vec<&str> = shape.schemas.iter().map(|schema| schema.name.as_str()).collect();
    let predicates: Vec<&str> =
        shape.predicates.iter().map(|predicate| predicate.name.as_str()).collect();
    for (key, layers, given, names) in [
        ("actions", &mut asnet.actions, read.actions, schemas),
        ("propositions", &mut asnet.propositions, read.propositions, predicates),
    ] {
        fill(layers, given, &names, read.unit)
            .map_err(|(pointer, message)| invalid(format!("/{key}{pointer}"), message))?;
    }
    Ok(asnet)
}

fn is_power_of_two(number: f64) -> bool {
    let mut power = 1.0;
    while power < number {
        power *= 2.0;
    }
    power <= number
}

/// Puts the weights of a file in their places; else the place in the file and what is wrong.
fn fill(
    layers: &mut [Vec<Module>],
    given: Vec<Vec<NamedModule>>,
    names: &[&str],
    unit: f64,
) -> Result<(), (String, String)> {
    if given.len() != layers.len() {
        let message = format!("{} layers are given, and there are {}", given.len(), layers.len());
        return Err((String::new(), message));
    }
    for (i, (layer, given)) in layers.iter_mut().zip(given).enumerate() {
        if given.len() != layer.len() {
            let message = format!("{} modules are given, for {}", given.len(), names.join(", "));
            return Err((format!("/{i}"), message));
        }
        for (j, (module, given)) in layer.iter_mut().zip(given).enumerate() {
            let pointer = format!("/{i}/{j}");
            if given.of != names[j] {
                let name = policert_files::name(&given.of);
                let message = format!("these are the weights of `{name}`, not of `{}`", names[j]);
                return Err((pointer, message));
            }
            let (outputs, inputs) = (module.bias.len(), module.inputs);
            let fits = given.bias.len() == outputs
                && given.weights.len() == outputs
                && given.weights.iter().all(|row| row.len() == inputs);
            if !fits {
                let message = format!("{outputs} rows of {inputs} weights and a bias are expected");
                return Err((pointer, message));
            }
            module.weights = given.weights.concat();
            module.bias = given.bias;
            let numbers = module.weights.iter_mut().chain(&mut module.bias);
            numbers.for_each(|number| *number /= unit);
        }
    }
    Ok(())
}

/// Reads JSON with an error that says where.
pub(crate) fn from_json<'d, T: Deserialize<'d>>(
    file: &str,
    bytes: &'d [u8],
) -> Result<T, PolicyError> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    serde_json::from_slice(bytes).map_err(|error| {
        let text = error.to_string();
        let message = text.rsplit_once(" at line ").map_or(text.as_str(), |(message, _)| message);
        PolicyError::Invalid {
            file: file.to_owned(),
            place: format!("line {}, column {}", error.line(), error.column()),
            message: message.to_owned(),
        }
    })
}

/// The place of a key that stands once.
pub(crate) fn place_of(bytes: &[u8], key: &str) -> String {
    let key = format!("\"{key}\"");
    let at = bytes.windows(key.len()).position(|window| window == key.as_bytes()).unwrap_or(0);
    let before = &bytes[..at];
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
    format!("line {line}, column {}", 1 + at - start)
}
