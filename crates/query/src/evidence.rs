//! Evidence of an answer as data, and its check from that data: `docs/formats/evidence.md`.

use std::path::{Path, PathBuf};

use policert_certify::{
    MultiplierSum, RefutationError, RefutationStep, check_refutation, outputs_at,
};
use policert_engine_api::Budget;
use policert_numeric::{LinearInequality, Rational};
use policert_outcome::{Failure, Finding, Input, InputRole, VERSION, digests, metered};
use policert_policy::{Network, read_network_within};
use policert_vnnlib::{NetworkProperty, read_property};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use crate::report::{SEMANTICS, Witness};
use crate::witness::printed_input;
use crate::{AnswerWord, fit};

/// Version of the schema of evidence files.
const EVIDENCE_VERSION: u32 = 1;

/// The least inverse of the relative error of a printed output.
const ROUNDED: i64 = 1_000_000_000_000_000;

/// The evidence that `policert query --evidence` writes.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct QueryEvidence {
    /// Version of the schema.
    pub schema_version: u32,
    /// Version of the program.
    pub version: &'static str,
    /// The answer that it is evidence of: `sat` or `unsat`.
    pub verdict: AnswerWord,
    /// What found it.
    pub engine: &'static str,
    /// The question.
    pub task: QueryTask,
    /// The meaning of the answer.
    pub semantics: &'static str,
    /// The files that were read.
    pub inputs: Vec<Input>,
    /// The proof of the answer.
    #[serde(flatten)]
    pub proof: QueryProof,
}

/// The question: which network, and which property.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct QueryTask {
    /// The network's file.
    pub network: PathBuf,
    /// The property's file.
    pub property: PathBuf,
}

/// Says what shows an answer.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryProof {
    /// *sat*: inputs and outputs.
    Witness(Witness),
    /// *unsat*: for each disjunct the steps of its proof.
    Refutation(Vec<Vec<Value>>),
}

/// What a check has confirmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CheckedQuery {
    /// The answer.
    pub answer: AnswerWord,
    /// Of *unsat*: the number of parts that were refuted.
    pub parts: Option<usize>,
}

impl QueryEvidence {
    pub(crate) fn new(
        answer: AnswerWord,
        network: &Path,
        property: &Path,
        inputs: &[Input],
        proof: QueryProof,
    ) -> Self {
        Self {
            schema_version: EVIDENCE_VERSION,
            version: VERSION,
            verdict: answer,
            engine: "query",
            task: QueryTask { network: network.to_owned(), property: property.to_owned() },
            semantics: SEMANTICS,
            inputs: inputs.to_vec(),
            proof,
        }
    }
}

/// Says that the value at which a part is split belongs to the part below.
const BELOW: &str = "below";

/// A step as a value.
pub(crate) fn step_record(step: &RefutationStep) -> Value {
    match step {
        RefutationStep::Input { input, at } => json!([input, at]),
        RefutationStep::Element { node, element, at, is_below: false } => {
            json!([node, element, at])
        }
        RefutationStep::Element { node, element, at, is_below: true } => {
            json!([node, element, at, BELOW])
        }
        RefutationStep::Empty => Value::Null,
        RefutationStep::Sum(sum) => sum_record(sum),
    }
}

fn sum_record(sum: &MultiplierSum) -> Value {
    if let [(at, by)] = sum.inequalities.as_slice()
        && *sum == MultiplierSum::alone(*at)
        && *by == Rational::ONE
    {
        return json!(at);
    }
    let multiplier = |(at, by): &(usize, Rational)| match sum.exact {
        true => json!([at, by.to_string()]),
        false => json!([at, by.to_f64()]),
    };
    let list = |all: &[(usize, Rational)]| all.iter().map(multiplier).collect::<Vec<_>>();
    let mut record = Map::new();
    for (name, value) in [
        ("sum", list(&sum.inequalities)),
        ("splits", list(&sum.splits)),
        ("slopes", sum.slopes.iter().map(|slope| json!(slope)).collect()),
    ] {
        if !value.is_empty() {
            record.insert(name.to_owned(), Value::from(value));
        }
    }
    if sum.exact {
        record.insert("exact".to_owned(), Value::from(true));
    }
    Value::Object(record)
}

/// A step from its value; `None` if it is none.
fn read_step(record: &Value) -> Option<RefutationStep> {
    let index = |value: &Value| usize::try_from(value.as_u64()?).ok();
    match record {
        Value::Null => Some(RefutationStep::Empty),
        Value::Number(_) => Some(RefutationStep::Sum(MultiplierSum::alone(index(record)?))),
        Value::Array(parts) => match parts.as_slice() {
            [input, at] => Some(RefutationStep::Input { input: index(input)?, at: at.as_f64()? }),
            [node, element, at, rest @ ..] => Some(RefutationStep::Element {
                node: index(node)?,
                element: index(element)?,
                at: at.as_f64()?,
                is_below: match rest {
                    [] => false,
                    [word] if word == BELOW => true,
                    _ => return None,
                },
            }),
            _ => None,
        },
        Value::Object(members) => {
            const KNOWN: [&str; 4] = ["sum", "splits", "slopes", "exact"];
            if members.is_empty() || !members.keys().all(|key| KNOWN.contains(&key.as_str())) {
                return None;
            }
            let list = |name: &str| match members.get(name) {
                None => Some(&[][..]),
                Some(list) => list.as_array().map(Vec::as_slice),
            };
            let multiplier = |pair: &Value| {
                let [at, by] = pair.as_array()?.as_slice() else { return None };
                let by = match by {
                    Value::String(text) => text.parse().ok()?,
                    number => Rational::from_f64(number.as_f64()?)?,
                };
                Some((index(at)?, by))
            };
            let multipliers =
                |name: &str| list(name)?.iter().map(multiplier).collect::<Option<Vec<_>>>();
            let slope = |triple: &Value| {
                let [node, element, slope] = triple.as_array()?.as_slice() else { return None };
                Some((index(node)?, index(element)?, slope.as_f64()?))
            };
            Some(RefutationStep::Sum(MultiplierSum {
                inequalities: multipliers("sum")?,
                splits: multipliers("splits")?,
                slopes: list("slopes")?.iter().map(slope).collect::<Option<_>>()?,
                exact: members.get("exact").map_or(Some(false), Value::as_bool)?,
            }))
        }
        Value::Bool(_) | Value::String(_) => None,
    }
}

/// Checks evidence of an answer, with the files that it names; messages call it by `name`.
///
/// # Errors
/// The reason why it is not confirmed.
pub fn check_evidence(
    evidence: &Value,
    name: &Path,
    budget: &mut Budget,
) -> Result<CheckedQuery, Failure> {
    let file = Members { value: evidence, name };
    let claimed: String = file.member("verdict")?;
    let answers = [AnswerWord::Sat, AnswerWord::Unsat];
    let answer = answers.into_iter().find(|answer| answer.as_str() == claimed);
    let Some(answer) = answer else { return Err(file.wrong("verdict")) };
    let shown = match evidence.get("witness").is_some() {
        true => AnswerWord::Sat,
        false => AnswerWord::Unsat,
    };
    if answer != shown {
        return Err(file.rejected(&format!(
            "it claims `{claimed}`, but lists what shows `{}`",
            shown.as_str()
        )));
    }
    let (network, property) = read_inputs(&file, budget)?;
    if file.member::<String>("semantics")? != SEMANTICS {
        return Err(file.rejected(&format!("`semantics` is not: {SEMANTICS}")));
    }
    let parts = match answer {
        AnswerWord::Sat => {
            check_witness(&file, &network, &property)?;
            None
        }
        AnswerWord::Unsat | AnswerWord::Unknown | AnswerWord::Timeout => {
            Some(refuted_parts(&file, &network, &property, budget)?)
        }
    };
    Ok(CheckedQuery { answer, parts })
}

/// The network and the property, if they are what the evidence is about.
fn read_inputs(file: &Members<'_>, budget: &Budget) -> Result<(Network, NetworkProperty), Failure> {
    let path = |member: &str| {
        let path = file.value.pointer(&format!("/task/{member}")).and_then(Value::as_str);
        path.map(PathBuf::from).ok_or_else(|| file.wrong(&format!("task.{member}")))
    };
    let (network, property) = (path("network")?, path("property")?);
    let recorded: Vec<Input> = file.member("inputs")?;
    let named = [(InputRole::Network, network.clone()), (InputRole::Property, property.clone())];
    let read = digests(named, budget).map_err(|(path, error)| match error {
        policert_outcome::DigestError::Stop(reason) => Failure::Stopped(reason),
        policert_outcome::DigestError::Io(error) => {
            Failure::invalid(format!("{}: {error}", path.display()))
        }
    })?;
    for input in &recorded {
        if !read.iter().any(|other| (&other.path, &other.sha256) == (&input.path, &input.sha256)) {
            return Err(Failure::invalid(format!(
                "{}: {} is not the file that the evidence is about",
                file.name.display(),
                input.path.display()
            )));
        }
    }
    if let Some(unnamed) = read.iter().find(|input| !recorded.contains(input)) {
        return Err(file.rejected(&format!(
            "`inputs` does not name {} as what it is for the question",
            unnamed.path.display()
        )));
    }
    let read = metered(budget, |meter| read_network_within(&network, meter))?.network;
    let asked =
        read_property(&property).map_err(|error| Failure::Findings(vec![Finding::from(&error)]))?;
    fit(&network, &property, &read, &asked)?;
    Ok((read, asked))
}

fn check_witness(
    file: &Members<'_>,
    network: &Network,
    property: &NetworkProperty,
) -> Result<(), Failure> {
    let values = |member: &str, letter: char| {
        let place = format!("witness.{member}");
        let list = file.value["witness"][member].as_array().ok_or_else(|| file.wrong(&place))?;
        let value = |(k, record): (usize, &Value)| {
            let number: Option<Rational> = match &record["exact"] {
                Value::Null => None,
                text => {
                    let text = text.as_str().and_then(|text| text.parse().ok());
                    Some(text.ok_or_else(|| file.wrong(&place))?)
                }
            };
            match (record["name"].as_str(), record["value"].as_str()) {
                (Some(name), Some(text)) if name == format!("{letter}_{k}") => {
                    Ok((text.to_owned(), number))
                }
                (_, _) => Err(file.wrong(&place)),
            }
        };
        list.iter().enumerate().map(value).collect::<Result<Vec<_>, Failure>>()
    };
    let (inputs, outputs) = (values("inputs", 'X')?, values("outputs", 'Y')?);
    let mut exact = Vec::with_capacity(inputs.len());
    for (k, (text, number)) in inputs.into_iter().enumerate() {
        let Some(number) = number else { return Err(file.wrong("witness.inputs")) };
        if printed_input(&number) != text {
            return Err(file.rejected(&format!("the input X_{k} has two values")));
        }
        exact.push(number);
    }
    let inputs = exact;
    if inputs.len() != network.input_width() {
        return Err(file.wrong("witness.inputs"));
    }
    if outputs.len() != network.output_width() {
        return Err(file.wrong("witness.outputs"));
    }
    let disjunct = file.value["witness"]["disjunct"].as_u64();
    let disjunct = disjunct.and_then(|at| property.disjuncts.get(usize::try_from(at).ok()?));
    let Some(disjunct) = disjunct else { return Err(file.wrong("witness.disjunct")) };
    let mut is_right = false;
    for found in outputs_at(network, &inputs) {
        let said = outputs.iter().zip(&found);
        let differs = |((text, said), (lo, hi)): (&(String, _), &(Rational, Rational))| {
            let said: &Option<Rational> = said;
            said.as_ref().is_some_and(|said| said < lo || said > hi)
                || !is_near(text, lo) && !is_near(text, hi)
        };
        if let Some(k) = said.clone().position(differs) {
            return Err(file.rejected(&format!("the output Y_{k} is not what it says")));
        }
        is_right = disjunct.iter().all(|one| holds(one, &inputs, &found));
        if is_right {
            break;
        }
    }
    match is_right {
        true => Ok(()),
        false => Err(file.rejected("the inputs do not satisfy that disjunct of the property")),
    }
}

/// Returns whether a decimal is a number but for rounding.
fn is_near(text: &str, number: &Rational) -> bool {
    text.parse::<Rational>().is_ok_and(|said| {
        (&said - number).abs() <= &number.abs() * &Rational::new(1, ROUNDED).unwrap_or_default()
    })
}

/// Returns whether an inequality holds, whatever the outputs are within their bounds.
fn holds(
    inequality: &LinearInequality,
    inputs: &[Rational],
    outputs: &[(Rational, Rational)],
) -> bool {
    let greatest = |(variable, factor): &(usize, Rational)| {
        let value = match variable.checked_sub(inputs.len()) {
            None => &inputs[*variable],
            Some(output) if factor.signum() > 0 => &outputs[output].1,
            Some(output) => &outputs[output].0,
        };
        factor * value
    };
    let sum: Rational = inequality.terms.iter().map(greatest).sum();
    if inequality.strict { sum < inequality.upper } else { sum <= inequality.upper }
}

fn refuted_parts(
    file: &Members<'_>,
    network: &Network,
    property: &NetworkProperty,
    budget: &mut Budget,
) -> Result<usize, Failure> {
    let lists = file.value["refutation"].as_array().ok_or_else(|| file.wrong("refutation"))?;
    let mut proofs = Vec::with_capacity(lists.len());
    for (at, list) in lists.iter().enumerate() {
        let steps = list.as_array().and_then(|list| list.iter().map(read_step).collect());
        let steps: Option<Vec<RefutationStep>> = steps;
        proofs.push(steps.ok_or_else(|| file.wrong(&format!("refutation[{at}]")))?);
    }
    check_refutation(network, &property.disjuncts, &proofs, budget).map_err(|error| match error {
        RefutationError::Stopped(reason) => Failure::Stopped(reason),
        RefutationError::Network(error) => error.into(),
        error => file.rejected(&error.to_string()),
    })
}

/// The members of a file.
struct Members<'a> {
    value: &'a Value,
    name: &'a Path,
}

impl Members<'_> {
    fn member<T: DeserializeOwned>(&self, member: &str) -> Result<T, Failure> {
        let value = self.value.get(member).cloned().ok_or_else(|| self.wrong(member))?;
        serde_json::from_value(value).map_err(|_| self.wrong(member))
    }

    fn wrong(&self, member: &str) -> Failure {
        let name = self.name.display();
        Failure::invalid(format!("{name}: `{member}` is missing, or not what it should be"))
    }

    fn rejected(&self, what: &str) -> Failure {
        Failure::Rejected(format!("evidence rejected: {}: {what}", self.name.display()))
    }
}
