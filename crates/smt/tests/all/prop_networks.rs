//! Random small networks: the encoded scores are the exact ones, what the encoding says is chosen is
//! what the policy chooses, and Z3 finds a state of a choice exactly when there is one.

use std::cell::Cell;

use policert_model::{LabelId, VarId, Variable, VariableKind};
use policert_numeric::{IntBox, IntInterval, Interval, Rational};
use policert_policy::{
    Activation, ElementType, ExactEvaluator, Filter, Matrix, Network, NetworkBuilder, Numbers,
    Policy, PolicySemantics, Ties,
};
use policert_smt::encode::{ScoreTerms, StateFrame, chooses, scores, scores_within};
use policert_smt::{CheckResult, Formula, SmtError, Solver, SolverLimits, Sort, Symbol, Term};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

const DOMAIN: IntInterval = IntInterval::new(-2, 2);
const OUTPUTS: usize = 3;

/// Declares symbols and nothing else.
#[derive(Default)]
struct Record(usize);

impl Solver for Record {
    fn declare(&mut self, _: Sort) -> Symbol {
        self.0 += 1;
        Symbol::new(self.0 - 1)
    }

    fn assert(&mut self, _: Formula) {}

    fn push(&mut self) {}

    fn pop(&mut self) {}

    fn check(&mut self, _: &SolverLimits) -> Result<CheckResult, SmtError> {
        Err(SmtError::Unknown("a record does not solve".to_owned()))
    }
}

fn variables() -> Vec<Variable> {
    let variable = |name: &str| Variable {
        name: name.to_owned(),
        kind: VariableKind::Integer,
        domain: DOMAIN,
    };
    ["x", "y"].map(variable).to_vec()
}

fn points() -> impl Iterator<Item = [i64; 2]> {
    (DOMAIN.lo..=DOMAIN.hi).flat_map(|x| (DOMAIN.lo..=DOMAIN.hi).map(move |y| [x, y]))
}

/// The hidden operation between two affine layers.
#[derive(Clone, Copy, Debug)]
enum Hidden {
    Relu,
    LeakyRelu,
    Clip,
    AddMax,
    ScaleConcat,
}

#[derive(Clone, Debug)]
struct Shape {
    hidden: Hidden,
    weights: Vec<i8>,
    squashed: bool,
}

fn shapes() -> impl Strategy<Value = Shape> {
    let hidden = prop::sample::select(vec![
        Hidden::Relu,
        Hidden::LeakyRelu,
        Hidden::Clip,
        Hidden::AddMax,
        Hidden::ScaleConcat,
    ]);
    // Few distinct weights, so that ties occur.
    (hidden, prop::collection::vec(-2i8..=2, 64), any::<bool>())
        .prop_map(|(hidden, weights, squashed)| Shape { hidden, weights, squashed })
}

/// Two inputs, three hidden neurons, three outputs.
fn network(shape: &Shape) -> Network {
    let mut weights = shape.weights.iter().map(|&weight| f64::from(weight) / 2.0).cycle();
    let mut take = |count: usize| -> Vec<f64> { weights.by_ref().take(count).collect() };
    let mut builder = NetworkBuilder::new(2).expect("two inputs");
    let matrix = |rows, columns, entries| Matrix::new(rows, columns, entries).expect("it fits");
    let input = builder.input();
    let layer = builder.affine(input, matrix(3, 2, take(6)), take(3)).expect("it fits");
    let hidden = match shape.hidden {
        Hidden::Relu => builder.relu(layer),
        Hidden::LeakyRelu => {
            builder.activation(layer, Activation::Leaky { alpha: -0.5 }).expect("finite")
        }
        Hidden::Clip => {
            builder.activation(layer, Activation::Clip { lo: -1.0, hi: 1.5 }).expect("finite")
        }
        Hidden::AddMax => {
            let other = builder.affine(input, matrix(3, 2, take(6)), take(3)).expect("it fits");
            let sum = builder.add(vec![layer, other]).expect("one width");
            builder.max(vec![sum, other, layer]).expect("one width")
        }
        Hidden::ScaleConcat => {
            let scaled = builder.scale(input, take(2), vec![3.0, 0.7], take(2)).expect("it fits");
            builder.concat(vec![input, scaled, layer]).expect("not empty")
        }
    };
    let width = builder.width(hidden);
    let hidden = builder.relu(hidden);
    let output = builder.affine(hidden, matrix(OUTPUTS, width, take(3 * width)), take(OUTPUTS));
    let mut output = output.expect("it fits");
    if shape.squashed {
        output = builder.tanh(output);
    }
    builder.finish(output, ElementType::F64)
}

fn policy(network: Network, semantics: PolicySemantics) -> Policy {
    let domains = IntBox::new(vec![DOMAIN; 2]);
    let labels = (0..OUTPUTS).map(LabelId::new).collect();
    Policy::new(network, vec![VarId(0), VarId(1)], labels, semantics, &domains).expect("it fits")
}

fn every_semantics() -> impl Iterator<Item = PolicySemantics> {
    [Ties::First, Ties::Any, Ties::Strict].into_iter().flat_map(|ties| {
        [Filter::None, Filter::Applicable].map(|filter| PolicySemantics {
            ties,
            filter,
            ..PolicySemantics::default()
        })
    })
}

/// Label 0 is applicable for x ≥ 0, label 1 for y ≥ 0, label 2 for x ≠ y.
fn applicable(point: [i64; 2]) -> [bool; OUTPUTS] {
    [point[0] >= 0, point[1] >= 0, point[0] != point[1]]
}

fn applicable_formulas(frame: &StateFrame) -> Vec<Formula> {
    let at = |variable| Term::from(frame.symbol(VarId(variable)).expect("declared"));
    vec![Term::int(0).le(at(0)), Term::int(0).le(at(1)), at(0).equals(at(1)).negate()]
}

/// The encoding over any inputs, and the one that knows the domain.
fn both_scores(solver: &mut dyn Solver, network: &Network, inputs: &[Term]) -> [ScoreTerms; 2] {
    let domain = Interval::new(-2.0, 2.0).expect("not empty");
    [
        scores(solver, network, inputs).expect("linear pieces"),
        scores_within(solver, network, inputs, &[domain; 2]).expect("linear pieces"),
    ]
}

/// The value of every symbol at a point: definitions are equalities, in order; all else holds.
fn neurons(constraint: &Formula, point: [i64; 2], symbols: usize) -> Vec<Rational> {
    let mut values = vec![Rational::ZERO; symbols];
    values[..2].clone_from_slice(&point.map(Rational::from));
    let parts = match constraint {
        Formula::And(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    for part in parts {
        match part {
            Formula::Eq(Term::Symbol(symbol), term) => {
                values[symbol.index()] = term.eval(&values).expect("defined");
            }
            other => assert_eq!(other.eval(&values), Some(true), "{other:?}"),
        }
    }
    values
}

fn runner(cases: u32) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

#[test]
fn scores_and_choices_are_exact() {
    let (chosen, nothing, several) = (Cell::new(0), Cell::new(0), Cell::new(0));
    let count = |counter: &Cell<u32>, seen: bool| counter.set(counter.get() + u32::from(seen));
    let checked = runner(60).run(&shapes(), |shape| {
        let network = network(&shape);
        let mut record = Record::default();
        let frame = StateFrame::declare(&mut record, &variables(), Sort::Int);
        let inputs: Vec<Term> = frame.symbols().iter().map(|&symbol| symbol.into()).collect();
        let encodings = both_scores(&mut record, &network, &inputs);
        let exact = ExactEvaluator::new(&network.without_final_squashing()).expect("as before");
        let applicable_formulas = applicable_formulas(&frame);
        for (encoded, point) in encodings.iter().flat_map(|e| points().map(move |p| (e, p))) {
            let values = neurons(&encoded.constraint, point, record.0);
            let found: Option<Vec<Rational>> =
                encoded.outputs.iter().map(|output| output.eval(&values)).collect();
            prop_assert_eq!(found, Some(exact.scores(&point).to_rationals()));
            for semantics in every_semantics() {
                let policy = policy(network.clone(), semantics);
                let choice = policy.chooser().choose(&point, &applicable(point));
                for output in 0..OUTPUTS {
                    let formula =
                        chooses(&encoded.outputs, output, &semantics, &applicable_formulas)
                            .expect("real numbers");
                    prop_assert_eq!(formula.eval(&values), choice.contains(output));
                }
                count(&chosen, choice.outputs().len() == 1);
                count(&nothing, choice.outputs().is_empty());
                count(&several, choice.outputs().len() > 1);
            }
        }
        Ok(())
    });
    checked.expect("the encoding means the same");
    for counter in [chosen, nothing, several] {
        assert!(counter.get() >= 100, "seen only {} times", counter.get());
    }
}

#[test]
fn what_has_no_encoding_is_refused() {
    let mut builder = NetworkBuilder::new(1).expect("one input");
    let squashed = builder.tanh(builder.input());
    let one = Matrix::new(1, 1, vec![1.0]).expect("it fits");
    let output = builder.affine(squashed, one, vec![0.0]).expect("it fits");
    let network = builder.finish(output, ElementType::F64);
    let refused = |inputs: &[Term]| {
        matches!(scores(&mut Record::default(), &network, inputs), Err(SmtError::Unsupported(_)))
    };
    assert!(refused(&[Term::int(1)]), "tanh inside");
    assert!(refused(&[]), "no inputs");

    let outputs = [Term::int(0), Term::int(1)];
    let single = PolicySemantics { numbers: Numbers::F32, ..PolicySemantics::default() };
    let filtered = PolicySemantics { filter: Filter::Applicable, ..PolicySemantics::default() };
    let refused = |output, semantics| {
        matches!(chooses(&outputs, output, semantics, &[]), Err(SmtError::Unsupported(_)))
    };
    assert!(
        refused(0, &single) && refused(0, &filtered) && refused(2, &PolicySemantics::default())
    );
}

#[cfg(feature = "z3")]
mod with_z3 {
    use std::time::Duration;

    use policert_smt::Z3Solver;

    use super::*;

    #[test]
    fn a_state_of_a_choice_is_found_exactly_when_there_is_one() {
        let (sat, unsat) = (Cell::new(0), Cell::new(0));
        let inputs = (shapes(), -2i64..=2, any::<bool>(), any::<bool>());
        let checked = runner(25).run(&inputs, |(shape, least, filtered, fixed)| {
            let network = network(&shape);
            let filter = if filtered { Filter::Applicable } else { Filter::None };
            let mut solver = Z3Solver::new();
            let frame = StateFrame::declare(&mut solver, &variables(), Sort::Int);
            solver.assert(frame.bounds(&variables()));
            let at = |variable: usize| Term::from(frame.symbols()[variable]);
            // A region that may miss the states of a choice: y = x + least.
            solver.assert(at(1).equals(Term::sum([at(0), Term::int(least)])));
            let [open, within] = both_scores(&mut solver, &network, &[at(0), at(1)]);
            let encoded = if fixed { within } else { open };
            solver.assert(encoded.constraint);
            for ties in [Ties::First, Ties::Any, Ties::Strict] {
                let semantics = PolicySemantics { ties, filter, ..PolicySemantics::default() };
                let policy = policy(network.clone(), semantics);
                for output in 0..OUTPUTS {
                    let formula =
                        chooses(&encoded.outputs, output, &semantics, &applicable_formulas(&frame));
                    solver.push();
                    solver.assert(formula.expect("real numbers"));
                    let limits = SolverLimits { time: Some(Duration::from_secs(60)), stop: None };
                    let found = solver.check(&limits).expect("a definite answer").sat();
                    solver.pop();
                    let chosen = |point: &[i64]| {
                        let point = [point[0], point[1]];
                        point[1] == point[0] + least
                            && policy.chooser().choose(&point, &applicable(point)).contains(output)
                                == Some(true)
                    };
                    let expected = points().any(|point| chosen(&point));
                    prop_assert_eq!(found.is_some(), expected);
                    if let Some(found) = found {
                        let point = found.integers(frame.symbols().iter().copied());
                        prop_assert!(chosen(&point.expect("integers")));
                    }
                    sat.set(sat.get() + u32::from(expected));
                    unsat.set(unsat.get() + u32::from(!expected));
                }
            }
            Ok(())
        });
        checked.expect("Z3 agrees with enumeration");
        assert!(sat.get() >= 20 && unsat.get() >= 20, "{} sat, {} unsat", sat.get(), unsat.get());
    }
}
