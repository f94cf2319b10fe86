//! Damaged evidence of random models: what either checker confirms of it is so, by brute force.
//!
//! Members of the proof are changed, left out, repeated or swapped at random; besides, there are claims that
//! are aimed at what a careless check would miss: proofs of other models, states that promise each other what none
//! has, sets that leave out what they should hold.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use policert_engine_api::{CancelFlag, Limits, Question, Silent};
use policert_evidence::{CertifyRequest, DiagramRecord, certify};
use policert_numeric::{DiagramBuilder, IntInterval, Rational};
use policert_policy::PolicySemantics;
use policert_problem::{read_value, value_record};
use policert_testkit::case_files::write_case;
use policert_testkit::oracle::Oracle;
use policert_testkit::{Case, Profile, Random, case_numbers, semantics, slow_tests};
use serde_json::{Map, Value, json};

use super::{has_python, lies, second};
use crate::support::program::{code, policert, text};

/// The kinds of evidence: name, the engine that writes it, and what else is said to it.
const KINDS: [(&str, &str, &str); 8] = [
    ("run", "explicit", ""),
    ("invariant", "explicit", ""),
    ("abstract invariant", "cegar", ""),
    ("ranks", "explicit", "--reach-goal"),
    ("run without goal", "explicit", "--reach-goal"),
    ("bounds by state", "prob", ""),
    ("bounds by piece", "prob-ppa", "--predicates splits:2"),
    ("diagram", "explicit", ""),
];
/// The position of [`KINDS`] that is made of the boxes of explicit search.
const DIAGRAM: usize = 7;

/// Members that say what the evidence is about: other ones would be other questions.
const QUESTION: [&str; 6] =
    ["schema_version", "verdict", "task", "semantics", "inputs", "unsafe_condition"];

/// What is so of a model, by brute force.
struct Truth {
    is_safe: bool,
    reaches_goal: bool,
    greatest: Rational,
}

/// Evidence with what is so.
struct Base {
    kind: usize,
    case: Case,
    rules: PolicySemantics,
    evidence: Value,
}

impl Base {
    fn oracle(&self) -> Oracle<'_> {
        let question = Question::new(&self.case.model, &self.case.property);
        Oracle::new(question, Some((&self.case.policy, self.rules)))
    }

    /// `None` where brute force does not tell.
    fn truth(&self) -> Option<Truth> {
        let oracle = self.oracle();
        let process = oracle.decision_process(40).ok()??;
        let values = process.greatest();
        let greatest = process.start.iter().map(|&state| values[state].clone());
        Some(Truth {
            is_safe: oracle.reachable().is_safe(),
            reaches_goal: reaches_goal(&oracle)?,
            greatest: greatest.fold(Rational::ZERO, Rational::max),
        })
    }

    /// Returns whether a file about this question that is confirmed says what is so.
    fn is_so(&self, said: &Value, truth: &Truth) -> bool {
        match KINDS[self.kind].0 {
            "run" => !truth.is_safe && self.is_run(said) != Some(false),
            "invariant" | "abstract invariant" | "diagram" => truth.is_safe,
            "ranks" => truth.reaches_goal,
            "run without goal" => !truth.reaches_goal,
            _ => {
                let bound = |at: usize| said["probability"][at].as_str()?.parse::<Rational>().ok();
                let (Some(low), Some(high)) = (bound(0), bound(1)) else { return false };
                low <= truth.greatest && truth.greatest <= high
            }
        }
    }

    /// A state as a box.
    fn point(&self, state: &[i64]) -> Value {
        let variables = self.case.model.variables.iter().zip(state);
        let open = variables.filter(|(variable, _)| variable.domain.lo < variable.domain.hi);
        let side = |value: Value| json!([value.clone(), value]);
        open.map(|(v, &value)| (v.name.clone(), side(value_record(v, value)))).collect()
    }

    /// Returns whether the states of a run follow each other, from a start state to an unsafe one.
    fn is_run(&self, said: &Value) -> Option<bool> {
        let oracle = self.oracle();
        let state = |record: &Value| -> Option<Vec<i64>> {
            let variables = self.case.model.variables.iter();
            let values = variables.map(|variable| match record.get(&variable.name) {
                Some(value) => read_value(variable, value),
                None => Some(variable.domain.lo),
            });
            values.collect()
        };
        let mut at = state(&said["start"])?;
        if !oracle.start_states().contains(&at) {
            return Some(false);
        }
        for step in said["trace"].as_array()? {
            let next = state(&step["state"])?;
            let transitions = oracle.expand(&at).ok()?.transitions;
            if !transitions.iter().any(|transition| transition.step.state == next) {
                return Some(false);
            }
            at = next;
        }
        Some(oracle.question.is_unsafe(&at))
    }
}

/// The same questions with the opposite verdict and the most tempting proofs: of an unsafe model, all that it
/// reaches but for the unsafe states; where a run misses the goal, all states with their distances from it; where
/// none does, a run of another model.
fn opposites(bases: &[(Base, Truth)]) -> Vec<(Base, Truth)> {
    let mut found = Vec::new();
    for (base, truth) in bases {
        let proofs = match KINDS[base.kind].0 {
            "run" if !truth.is_safe => {
                let oracle = base.oracle();
                let reached = oracle.reachable().distances;
                let states = reached.keys().filter(|state| !oracle.question.is_unsafe(state));
                let boxes: Vec<Value> = states.map(|state| base.point(state)).collect();
                let conditions = vec![json!([]); boxes.len()];
                let proof = json!({"invariant": boxes});
                let mut proofs =
                    Vec::from_iter(in_diagram(&base.case, &proof).map(|proof| (DIAGRAM, proof)));
                proofs.extend([(1, proof), (2, json!({"invariant": boxes, "where": conditions}))]);
                proofs
            }
            "run without goal" => {
                let (states, ranks): (Vec<Value>, Vec<usize>) =
                    distances(&base.oracle()).iter().map(|(s, d)| (base.point(s), *d)).unzip();
                vec![(3, json!({"invariant": states, "ranks": ranks}))]
            }
            "ranks" => {
                let other = bases.iter().find(|(other, _)| other.kind == 4);
                other.map(|(other, _)| (4, other.evidence.clone())).into_iter().collect()
            }
            _ => Vec::new(),
        };
        for (kind, proof) in proofs {
            let mut evidence = base.evidence.clone();
            let members = evidence.as_object_mut().expect("an object");
            members.retain(|key, _| QUESTION.contains(&key.as_str()));
            let proof = proof.as_object().expect("an object").clone();
            members.extend(proof.into_iter().filter(|(key, _)| !QUESTION.contains(&key.as_str())));
            let verdict = if members.contains_key("trace") { "unsafe" } else { "safe" };
            members.insert("verdict".to_owned(), json!(verdict));
            let (case, rules) = (base.case.clone(), base.rules);
            let other = Base { kind, case, rules, evidence };
            let truth = other.truth().expect("as before");
            assert!(!other.is_so(&other.evidence, &truth), "{}", other.evidence);
            found.push((other, truth));
        }
    }
    found
}

/// The least numbers of steps to a goal state, of the states that have one; else a number above all.
fn distances(oracle: &Oracle<'_>) -> BTreeMap<Vec<i64>, usize> {
    let mut next: BTreeMap<Vec<i64>, Vec<Vec<i64>>> = BTreeMap::new();
    let mut waiting: Vec<Vec<i64>> = oracle.start_states().into_iter().collect();
    while let Some(state) = waiting.pop() {
        if next.contains_key(&state) {
            continue;
        }
        let transitions = oracle.expand(&state).map(|found| found.transitions);
        let all: Vec<Vec<i64>> =
            transitions.into_iter().flatten().map(|transition| transition.step.state).collect();
        waiting.extend(all.iter().cloned());
        next.insert(state, all);
    }
    let most = next.len() + 1;
    let is_goal = |state: &Vec<i64>| oracle.question.is_goal(state);
    let mut known: BTreeMap<Vec<i64>, usize> =
        next.keys().map(|state| (state.clone(), if is_goal(state) { 0 } else { most })).collect();
    loop {
        let before = known.clone();
        for (state, all) in &next {
            let least = all.iter().map(|after| before[after]).min().unwrap_or(most);
            let known = known.entry(state.clone()).or_insert(most);
            *known = (*known).min(least + 1);
        }
        if before == known {
            return known;
        }
    }
}

/// Returns whether every run reaches a goal state.
fn reaches_goal(oracle: &Oracle<'_>) -> Option<bool> {
    if oracle.question.property.goal.is_none() {
        return Some(false);
    }
    // By state: whether all runs from it reach the goal; `None` while that is looked at.
    let mut known: BTreeMap<Vec<i64>, Option<bool>> = BTreeMap::new();
    fn look(
        oracle: &Oracle<'_>,
        state: &[i64],
        known: &mut BTreeMap<Vec<i64>, Option<bool>>,
    ) -> Option<bool> {
        if let Some(found) = known.get(state) {
            return Some(found.unwrap_or(false));
        }
        known.insert(state.to_vec(), None);
        let mut reaches = oracle.question.is_goal(state);
        if !reaches && !oracle.may_get_stuck(state).ok()? {
            reaches = true;
            for transition in oracle.expand(state).ok()?.transitions {
                reaches &= look(oracle, &transition.step.state, known)?;
            }
        }
        known.insert(state.to_vec(), Some(reaches));
        Some(reaches)
    }
    let mut all = true;
    for state in oracle.start_states() {
        all &= look(oracle, &state, &mut known)?;
    }
    Some(all)
}

/// The same evidence with the boxes of its invariant in a diagram; `None` where they are no part of the space.
fn in_diagram(case: &Case, evidence: &Value) -> Option<Value> {
    let model = &case.model;
    let mut boxes = Vec::new();
    for record in evidence["invariant"].as_array()? {
        let mut sides = model.domains();
        for (side, variable) in sides.sides_mut().iter_mut().zip(&model.variables) {
            if let Some(ends) = record.get(&variable.name) {
                let value = |at: usize| read_value(variable, &ends[at]);
                *side = IntInterval::new(value(0)?, value(1)?);
            }
        }
        boxes.push(sides);
    }
    let space = model.domains();
    let builder = DiagramBuilder::new(space.clone(), (0..space.dimensions()).collect(), usize::MAX);
    let diagram = builder.of_boxes(&boxes, &mut || Ok::<_, ()>(())).ok()?.ok()??;
    let mut evidence = evidence.clone();
    evidence["invariant"] = json!([]);
    evidence["diagram"] = serde_json::to_value(DiagramRecord::new(model, &diagram)).ok()?;
    Some(evidence)
}

/// Evidence of each kind of random models, some of each; the models are small.
fn bases(root: &Path, most: usize) -> Vec<(Base, Truth)> {
    let mut found: Vec<(Base, Truth)> = Vec::new();
    let mut counts = [0; KINDS.len()];
    for number in case_numbers(4000) {
        if counts.iter().all(|&count| count >= most) {
            break;
        }
        let mut random = Random::new(number ^ 0x3bad);
        let profile = [Profile::Unary, Profile::Linear, Profile::General][random.below(3)];
        let case = Case::numbered(profile, number);
        let rules = semantics(&mut random);
        if case.model.domains().count().is_none_or(|count| count > 400) {
            continue;
        }
        let name = number.to_string();
        let folder = root.join(&name);
        std::fs::create_dir(&folder).expect("a folder");
        if !write_case(&folder, &case, rules.filter).expect("files") {
            continue;
        }
        let ties = serde_json::to_value(rules.ties).expect("a word");
        for (kind, (what, engine, options)) in KINDS.iter().enumerate() {
            if counts[kind] >= most || (!options.is_empty() && case.property.goal.is_none()) {
                continue;
            }
            let file = folder.join(format!("{kind}.json"));
            let arguments = format!(
                "verify {} --ties {} --engine {engine} {options} --quiet --evidence {}",
                folder.join("model.jani").display(),
                ties.as_str().unwrap_or_default(),
                file.display(),
            );
            let output = policert(root, &arguments).output().expect("policert runs");
            assert!(code(&output) < 50, "{arguments}: {}", text(&output));
            if !file.is_file() {
                continue;
            }
            let mut evidence = lies::read(&file);
            if kind == DIAGRAM {
                let Some(as_diagram) = in_diagram(&case, &evidence) else { continue };
                evidence = as_diagram;
            }
            let shows_run = evidence.get("trace").is_some();
            if shows_run != what.starts_with("run") {
                continue;
            }
            let case = Case::numbered(profile, number);
            let base = Base { kind, case, rules, evidence };
            let Some(truth) = base.truth() else { continue };
            assert!(base.is_so(&base.evidence, &truth), "{arguments}: brute force says otherwise");
            counts[kind] += 1;
            found.push((base, truth));
        }
    }
    found
}

/// JSON pointers of all values that are part of the proof.
fn places(value: &Value, place: &str, found: &mut Vec<String>) {
    let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
    if !place.is_empty() {
        found.push(place.to_owned());
    }
    match value {
        Value::Array(list) => {
            for (at, part) in list.iter().enumerate() {
                places(part, &format!("{place}/{at}"), found);
            }
        }
        Value::Object(members) => {
            for (key, part) in members {
                let is_question = place.is_empty() && QUESTION.contains(&key.as_str());
                let is_idle = place.is_empty() && key == "paths";
                if !(is_question || is_idle) {
                    places(part, &format!("{place}/{}", escaped(key)), found);
                }
            }
        }
        _ => {}
    }
}

/// Changes something at random.
fn mutate(value: &mut Value, random: &mut Random) {
    let mut all = Vec::new();
    places(value, "", &mut all);
    if all.is_empty() {
        return;
    }
    let other = value.pointer(random.pick::<String>(&all)).cloned().unwrap_or_default();
    let place = random.pick::<String>(&all).clone();
    let Some(part) = value.pointer_mut(&place) else { return };
    if random.percent(15) && std::mem::discriminant(part) == std::mem::discriminant(&other) {
        *part = other;
        return;
    }
    match part {
        Value::Number(number) => {
            let old = number.as_f64().unwrap_or_default();
            *part = match (number.as_i64(), random.below(6)) {
                (Some(old), 0) => json!(old.wrapping_add(1)),
                (Some(old), 1) => json!(old.wrapping_sub(1)),
                (Some(_), _) => json!(random.between(-2, 5)),
                (None, 0) => json!(0.0),
                (None, 1) => json!(1.0),
                (None, 2) => json!(old / 2.0),
                (None, 3) => json!((old * 2.0).min(1.0)),
                (None, _) => json!(f64::from_bits(old.to_bits().wrapping_sub(1))),
            };
        }
        Value::String(text) => {
            *text = match random.below(4) {
                0 => "0".to_owned(),
                1 => "1".to_owned(),
                2 => "1/3".to_owned(),
                _ => format!("{text}1"),
            };
        }
        Value::Bool(truth) => *truth = !*truth,
        Value::Null => *part = json!(0),
        Value::Array(list) if !list.is_empty() => {
            let (a, b) = (random.below(list.len()), random.below(list.len()));
            match random.below(4) {
                0 => drop(list.remove(a)),
                1 => list.swap(a, b),
                2 => list.insert(a, list[b].clone()),
                _ => list.truncate(a),
            }
        }
        Value::Object(members) if !members.is_empty() => {
            let keys: Vec<String> = members.keys().cloned().collect();
            let (a, b) =
                (random.pick::<String>(&keys).clone(), random.pick::<String>(&keys).clone());
            match random.below(2) {
                0 => drop(members.remove(&a)),
                _ => {
                    let value = members[&b].clone();
                    members.insert(a, value);
                }
            }
        }
        Value::Array(_) | Value::Object(_) => {}
    }
}

/// Claims that are aimed at a careless check, made of evidence and of other evidence of the same kind.
fn aimed(base: &Base, other: &Base) -> Vec<Value> {
    let mut claims = Vec::new();
    let mut claim = |change: &dyn Fn(&mut Map<String, Value>) -> Option<()>| {
        let mut evidence = base.evidence.clone();
        let changed = evidence.as_object_mut().and_then(change);
        if changed.is_some() && evidence != base.evidence {
            claims.push(evidence);
        }
    };
    // The proof of another model.
    claim(&|e| {
        for (key, value) in other.evidence.as_object()? {
            if !QUESTION.contains(&key.as_str()) {
                e.insert(key.clone(), value.clone());
            }
        }
        Some(())
    });
    let each = |e: &mut Map<String, Value>, key: &str, change: &dyn Fn(&mut Value)| {
        e.get_mut(key)?.as_array_mut()?.iter_mut().for_each(change);
        Some(())
    };
    let whole = |e: &mut Map<String, Value>, key: &str, value: Value| {
        e.contains_key(key).then(|| e.insert(key.to_owned(), value)).map(|_| ())
    };
    // Everything, and nothing.
    claim(&|e| whole(e, "invariant", json!([{}])));
    claim(&|e| whole(e, "invariant", json!([])));
    claim(&|e| each(e, "where", &|parts| *parts = json!([])));
    claim(&|e| each(e, "where", &|parts| *parts = json!([{"any": []}])));
    claim(&|e| each(e, "ranks", &|rank| *rank = json!(0)));
    claim(&|e| each(e, "ranks", &|rank| *rank = json!(9 - rank.as_i64().unwrap_or(0).min(9))));
    claim(&|e| {
        whole(e, "invariant", json!([{}, {}]))?;
        whole(e, "ranks", json!([0, 1]))
    });
    claim(&|e| whole(e, "trace", json!([])));
    claim(&|e| {
        let trace = e.get_mut("trace")?.as_array_mut()?;
        trace.truncate(trace.len().checked_sub(1)?);
        let steps = trace.len();
        whole(e, "steps", json!(steps))
    });
    claim(&|e| {
        whole(e, "trace", json!([]))?;
        whole(e, "steps", json!(0))?;
        whole(e, "end", json!({"kind": "stuck", "back_to": null, "policy": null}))
    });
    claim(&|e| whole(e, "end", json!({"kind": "loop", "back_to": 0, "policy": null})));
    // Values that promise each other what none of them has.
    for (value, claimed) in [(0.0, "0"), (1.0, "1")] {
        claim(&|e| {
            each(e, "values", &|state| (state[1], state[2]) = (json!(value), json!(value)))?;
            each(e, "pieces", &|piece| piece[2] = json!(value));
            whole(e, "probability", json!([claimed, claimed]))
        });
    }
    for claimed in ["0", "1/1000000", "1/2", "999999/1000000", "1"] {
        claim(&|e| whole(e, "probability", json!([claimed, claimed])));
        claim(&|e| {
            whole(e, "pieces", json!([[{}, [], 0.5]]))?;
            whole(e, "probability", json!(["0", claimed]))
        });
        claim(&|e| {
            let upper = e.get("probability")?[1].clone();
            whole(e, "probability", json!([claimed, upper]))
        });
        claim(&|e| {
            let lower = e.get("probability")?[0].clone();
            whole(e, "probability", json!([lower, claimed]))
        });
    }
    claim(&|e| {
        each(e, "pieces", &|piece| piece[2] = json!(piece[2].as_f64().unwrap_or(0.0) / 2.0))?;
        let upper: Rational = e.get("probability")?[1].as_str()?.parse().ok()?;
        let half = &upper * &Rational::new(1, 2)?;
        whole(e, "probability", json!(["0", half.to_string()]))
    });
    claims
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    random: usize,
    aimed: usize,
    /// Confirmed, which is so.
    confirmed: usize,
    rejected: usize,
    /// Confirmed by one of the checkers only.
    apart: usize,
    /// Claims that are not so, rejected.
    false_claims: usize,
}

#[test]
fn what_is_confirmed_of_damaged_evidence_is_so() {
    if !has_python() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    let (models, random_each, aimed_each) =
        if slow_tests() { (30, 2000, 100) } else { (4, 40, 20) };
    let mut bases = bases(folder, models);
    bases.extend(opposites(&bases));
    let mut tallies = [Tally::default(); KINDS.len()];
    let mut random = Random::new(0xdada);
    let mut files: Vec<(usize, PathBuf, Value)> = Vec::new();
    let mut write = |at: usize, evidence: Value| {
        let path = folder.join(format!("{}.json", files.len()));
        std::fs::write(&path, evidence.to_string()).expect("a file");
        files.push((at, path, evidence));
    };
    for (kind, tally) in tallies.iter_mut().enumerate() {
        let of_kind: Vec<usize> = (0..bases.len()).filter(|&at| bases[at].0.kind == kind).collect();
        assert!(of_kind.len() >= models / 2, "{}: {}", KINDS[kind].0, of_kind.len());
        for _ in 0..20 * random_each {
            if tally.random >= random_each {
                break;
            }
            let at = *random.pick(&of_kind);
            let original = &bases[at].0.evidence;
            let mut evidence = original.clone();
            for _ in 0..1 + random.below(3) {
                mutate(&mut evidence, &mut random);
            }
            if evidence != *original {
                tally.random += 1;
                write(at, evidence);
            }
        }
        for &at in &of_kind {
            let (base, truth) = &bases[at];
            if !base.is_so(&base.evidence, truth) {
                tally.aimed += 1;
                write(at, base.evidence.clone());
            }
        }
        for shift in 1..of_kind.len() {
            for (i, &at) in of_kind.iter().enumerate() {
                let other = of_kind[(i + shift) % of_kind.len()];
                for evidence in aimed(&bases[at].0, &bases[other].0) {
                    if tally.aimed < aimed_each {
                        tally.aimed += 1;
                        write(at, evidence);
                    }
                }
            }
        }
        assert!(tally.random >= random_each && tally.aimed >= aimed_each, "{tally:?}");
    }
    let paths: Vec<PathBuf> = files.iter().map(|(_, path, _)| path.clone()).collect();
    for ((at, path, evidence), (second, said)) in files.iter().zip(second(folder, &paths)) {
        let (base, truth) = &bases[*at];
        let tally = &mut tallies[base.kind];
        let is_so = base.is_so(evidence, truth);
        let request = CertifyRequest { evidence: path.clone(), limits: Limits::default() };
        let first = certify(&request, &CancelFlag::default(), &mut Silent).status.code();
        let what = KINDS[base.kind].0;
        assert!(is_so || (first != 0 && second != 0), "{what}: {first}, {said}: {evidence}");
        // What is left out, or is not what the proof rests on, makes a difference to one of them only.
        tally.apart += usize::from((first == 0) != (second == 0));
        match first {
            0 => tally.confirmed += 1,
            _ => tally.rejected += 1,
        }
        tally.false_claims += usize::from(!is_so);
    }
    for ((what, ..), tally) in KINDS.iter().zip(&tallies) {
        let _ = writeln!(std::io::stderr(), "{what}: {tally:?}");
        assert!(tally.rejected > 0 && tally.false_claims > 0, "{what}: {tally:?}");
    }
}
