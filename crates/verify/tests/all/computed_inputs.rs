//! Policies whose interface computes their inputs, on random tiny models: a choice is that of the
//! network for the values that the model's own evaluator gives the expressions, and engines agree with
//! an enumeration by these choices.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use policert_engine_api::Question;
use policert_model::{BinaryOp, Expr, LabelId, Observable, State, VarId};
use policert_outcome::VerdictWord;
use policert_policy::interface::NamedExpressions;
use policert_policy::onnx::write_onnx;
use policert_policy::{
    ElementType, Filter, Meter, Policy, PolicyError, PolicyOptions, PolicySemantics, load_computing,
};
use policert_problem::Problem;
use policert_testkit::oracle::policy::{best_labels, chosen_labels};
use policert_testkit::oracle::{NoAnswer, Oracle};
use policert_testkit::{
    Case, Expressions, Forms, PolicyParts, Profile, Random, case_numbers, semantics, states,
};
use policert_verify::{CancelFlag, ProblemSource, Request, Silent, verify};

/// Expressions by their numbers: `e0`, `e1`, ….
struct Numbered(Vec<Expr>);

impl NamedExpressions for Numbered {
    fn observables(&self) -> &[Observable] {
        &[]
    }

    fn expression(&self, text: &str) -> Result<Expr, String> {
        let number = text.strip_prefix('e').and_then(|number| number.parse::<usize>().ok());
        match (text.parse(), number.and_then(|number| self.0.get(number))) {
            (Ok(integer), _) => Ok(Expr::int(integer)),
            (Err(_), Some(expr)) => Ok(expr.clone()),
            (Err(_), None) => Err(format!("there is no {text}")),
        }
    }
}

/// A network over the values of expressions.
struct Computed {
    expressions: Numbered,
    /// The inputs as an interface lists them.
    items: Vec<String>,
    /// The value of each input.
    inputs: Vec<Expr>,
    /// The network, which reads the inputs by their positions.
    network: PolicyParts,
}

impl Computed {
    fn new(random: &mut Random, case: &Case) -> Self {
        let generator = Expressions::new(&case.model.variables, Forms::Total);
        let mut exprs = Vec::new();
        let (mut items, mut inputs) = (Vec::new(), Vec::new());
        let width = case.policy.inputs.len();
        while inputs.len() < width {
            let name = format!("e{}", exprs.len());
            let depth = 1 + random.below(2);
            if inputs.len() + 2 <= width && random.percent(30) {
                let expr = generator.boolean(random, depth);
                inputs.extend(
                    [0, 1].map(|value| Expr::binary(BinaryOp::Eq, expr.clone(), Expr::int(value))),
                );
                items.push(format!("one_hot({name}, 0, 1)"));
                exprs.push(expr);
            } else {
                let expr = match random.below(3) {
                    0 => generator.boolean(random, depth),
                    _ => generator.integer(random, depth),
                };
                inputs.push(expr.clone());
                items.push(name);
                exprs.push(expr);
            }
        }
        let positions = (0..width).map(VarId::new).collect();
        let network = PolicyParts { inputs: positions, ..case.policy.clone() };
        Self { expressions: Numbered(exprs), items, inputs, network }
    }

    /// The policy, loaded from files.
    fn load(
        &self,
        case: &Case,
        rules: PolicySemantics,
        folder: &Path,
    ) -> Result<Policy, PolicyError> {
        let (network, interface) = (folder.join("policy.onnx"), folder.join("interface.json"));
        let bytes = write_onnx(&self.network.network, ElementType::F64).expect("doubles");
        std::fs::write(&network, bytes).expect("a file");
        let label = |&label: &LabelId| case.model.label_name(Some(label)).to_owned();
        let outputs: Vec<String> = case.policy.outputs.iter().map(label).collect();
        let (items, outputs) = (&self.items, &outputs);
        let text = serde_json::json!({"version": 2, "input": items, "output": outputs});
        std::fs::write(&interface, text.to_string()).expect("a file");
        let options = PolicyOptions {
            ties: Some(rules.ties),
            filter: Some(rules.filter),
            numbers: rules.numbers,
            ..PolicyOptions::default()
        };
        let files = (Some(network.as_path()), Some(interface.as_path()));
        let meter = &mut Meter::default();
        let loaded =
            load_computing(&case.model, &self.expressions, files.0, files.1, &options, meter)?;
        Ok(loaded.policy)
    }

    /// The labels that are chosen in a state, by the definitions alone.
    fn chosen(
        &self,
        rules: PolicySemantics,
        state: &[i64],
        applicable: &[LabelId],
    ) -> Result<Vec<LabelId>, NoAnswer> {
        let value = |expr: &Expr| expr.eval(state).expect("it is total").to_i64();
        let values: Vec<i64> =
            self.inputs.iter().map(|expr| value(expr).expect("an integer")).collect();
        let best = best_labels(&self.network, rules.filter, &values, applicable)?;
        Ok(chosen_labels(rules.ties, &best))
    }
}

/// The results of the cases.
#[derive(Debug, Default)]
struct Tally {
    refused: usize,
    states: usize,
    safe: usize,
    bad: usize,
}

#[test]
fn computed_inputs_are_the_values_of_their_expressions() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut tally = Tally::default();
    for profile in [Profile::Unary, Profile::Linear] {
        for number in case_numbers(120) {
            let mut random = Random::new(number ^ 0xc0de);
            let case = Case::numbered(profile, number);
            let rules = semantics(&mut random);
            let computed = Computed::new(&mut random, &case);
            let place = format!("{profile:?} {number}: {:?}", computed.items);
            match computed.load(&case, rules, folder.path()) {
                Ok(policy) => check(&case, rules, &computed, policy, &mut tally, &place),
                Err(PolicyError::Unsupported { .. }) => tally.refused += 1,
                Err(error) => panic!("{place}: {error}"),
            }
        }
    }
    let _ = writeln!(std::io::stderr(), "{tally:?}");
    assert!(tally.states > 1500 && tally.safe > 25 && tally.bad > 15, "{tally:?}");
}

fn check(
    case: &Case,
    rules: PolicySemantics,
    computed: &Computed,
    policy: Policy,
    tally: &mut Tally,
    place: &str,
) {
    let question = Question::new(&case.model, &case.property);
    let oracle = Oracle::new(question.clone(), None);
    let mut chooser = policy.chooser();
    let mut steps = Vec::new();
    for state in states(&case.model) {
        let Ok(expansion) = oracle.expand(&state) else { return };
        // A label that only leads out of a domain is applicable, too.
        if expansion.dropped && rules.filter == Filter::Applicable {
            return;
        }
        let applicable: Vec<LabelId> =
            expansion.transitions.iter().filter_map(|transition| transition.label).collect();
        let Ok(chosen) = computed.chosen(rules, &state, &applicable) else { return };
        let allowed: Vec<bool> =
            policy.outputs().iter().map(|label| applicable.contains(label)).collect();
        let mut inputs = Vec::new();
        policy.read_inputs(&state, &mut inputs);
        let choice = chooser.choose(&inputs, &allowed);
        assert!(!choice.is_undecided(), "{place} in {state:?}");
        let names = choice.outputs().iter().map(|&output| policy.outputs()[output]);
        assert_eq!(names.collect::<Vec<_>>(), chosen, "{place} in {state:?}");
        tally.states += 1;
        let taken = expansion.transitions.into_iter().filter(|transition| {
            let is_policys = |label: &LabelId| policy.outputs().contains(label);
            transition.label.filter(is_policys).is_none_or(|label| chosen.contains(&label))
        });
        let targets: Vec<State> = taken.map(|transition| transition.step.state).collect();
        steps.push((state, targets));
    }
    let mut open: Vec<State> = oracle.start_states().into_iter().collect();
    let mut reached: BTreeSet<State> = open.iter().cloned().collect();
    let mut expected = VerdictWord::Safe;
    while let Some(state) = open.pop() {
        if question.is_unsafe(&state) {
            expected = VerdictWord::Unsafe;
            continue;
        }
        let targets = steps.iter().find(|(source, _)| *source == state);
        for target in targets.into_iter().flat_map(|(_, targets)| targets) {
            if reached.insert(target.clone()) {
                open.push(target.clone());
            }
        }
    }
    *(if expected == VerdictWord::Safe { &mut tally.safe } else { &mut tally.bad }) += 1;
    let problem =
        Arc::new(Problem::from_parts(case.model.clone(), case.property.clone(), Some(policy)));
    for engine in ["explicit", "ic3"] {
        let mut request = Request::new(ProblemSource::Loaded(Arc::clone(&problem)));
        request.engine = engine.to_owned();
        let outcome = verify(&request, &CancelFlag::default(), &mut Silent);
        if let Some(failure) = outcome.failure {
            assert!(failure.to_string().contains("unsupported"), "{place} {engine}: {failure}");
            continue;
        }
        assert_eq!(outcome.report.verdict, expected, "{place} {engine}");
    }
}
