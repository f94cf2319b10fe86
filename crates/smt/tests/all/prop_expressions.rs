//! Random model expressions: their encoding means the same at every point of a small box, and
//! Z3 finds a point exactly when there is one.

use policert_model::{
    BinaryOp, Condition, Conflict, Destination, Expr, FreeChoice, LabelId, Model, ModelSemantics,
    Operator, OperatorKey, Probability, UnaryOp, Update, UpdateValue, VarId, Variable,
    VariableKind,
};
use policert_numeric::{IntInterval, Rational};
use policert_smt::encode::{StateFrame, successor};
use policert_smt::{CheckResult, Formula, SmtError, Solver, SolverLimits, Sort, Symbol, Term};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Domain of each of the two variables.
const DOMAIN: IntInterval = IntInterval::new(-2, 3);

fn variables() -> Vec<Variable> {
    ["x", "y"]
        .map(|name| Variable { name: name.to_owned(), kind: VariableKind::Integer, domain: DOMAIN })
        .to_vec()
}

fn points() -> impl Iterator<Item = [i64; 2]> {
    (DOMAIN.lo..=DOMAIN.hi).flat_map(|x| (DOMAIN.lo..=DOMAIN.hi).map(move |y| [x, y]))
}

fn values(point: &[i64]) -> Vec<Rational> {
    point.iter().map(|&value| Rational::from(value)).collect()
}

/// Keeps what it is told; enough to look at encodings.
#[derive(Default)]
struct Record {
    sorts: Vec<Sort>,
    assertions: Vec<Formula>,
}

impl Solver for Record {
    fn declare(&mut self, sort: Sort) -> Symbol {
        self.sorts.push(sort);
        Symbol::new(self.sorts.len() - 1)
    }

    fn assert(&mut self, formula: Formula) {
        self.assertions.push(formula);
    }

    fn push(&mut self) {}

    fn pop(&mut self) {}

    fn check(&mut self, _: &SolverLimits) -> Result<CheckResult, SmtError> {
        Err(SmtError::Unknown("a record does not solve".to_owned()))
    }
}

fn expressions() -> impl Strategy<Value = Expr> {
    let leaf = prop_oneof![
        (-3i64..=3).prop_map(Expr::int),
        Just(Expr::Var(VarId(0))),
        Just(Expr::Var(VarId(1))),
    ];
    let unary = prop::sample::select(vec![
        UnaryOp::Not,
        UnaryOp::Floor,
        UnaryOp::Ceil,
        UnaryOp::Truncate,
        UnaryOp::Abs,
        UnaryOp::Sign,
    ]);
    let binary = prop::sample::select(vec![
        BinaryOp::Add,
        BinaryOp::Sub,
        BinaryOp::Mul,
        BinaryOp::Div,
        BinaryOp::Mod,
        BinaryOp::Min,
        BinaryOp::Max,
        BinaryOp::And,
        BinaryOp::Or,
        BinaryOp::Implies,
        BinaryOp::Eq,
        BinaryOp::Ne,
        BinaryOp::Lt,
        BinaryOp::Le,
    ]);
    leaf.prop_recursive(4, 24, 3, move |inner| {
        prop_oneof![
            1 => (unary.clone(), inner.clone()).prop_map(|(op, a)| Expr::unary(op, a)),
            4 => (binary.clone(), inner.clone(), inner.clone())
                .prop_map(|(op, a, b)| Expr::binary(op, a, b)),
            1 => (inner.clone(), -2i64..=3)
                .prop_map(|(a, e)| Expr::binary(BinaryOp::Pow, a, Expr::int(e))),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(c, a, b)| Expr::ite(c, a, b)),
            1 => (prop::collection::vec(inner.clone(), 1..4), inner.clone())
                .prop_map(|(cells, index)| Expr::cell(cells, index)),
        ]
    })
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new_with_rng(
        Config { cases, failure_persistence: None, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(
            proptest::test_runner::RngAlgorithm::ChaCha,
        ),
    )
}

/// The number of times that something was seen.
#[derive(Default)]
struct Seen(std::cell::Cell<u32>);

impl Seen {
    fn count(&self, seen: bool) {
        self.0.set(self.0.get() + u32::from(seen));
    }

    fn check(&self, least: u32) {
        assert!(self.0.get() >= least, "the generator shows it only {} times", self.0.get());
    }
}

#[test]
fn conditions_mean_the_same_at_every_point() {
    let (yes, no, undefined) = (Seen::default(), Seen::default(), Seen::default());
    let checked = runner(1500).run(&expressions(), |expr| {
        let condition = Condition::from_expr(&expr);
        let frame = StateFrame::declare(&mut Record::default(), &variables(), Sort::Int);
        let holds = frame.condition(&condition, true).expect("small exponents");
        let fails = frame.condition(&condition, false).expect("small exponents");
        for point in points() {
            let expected = condition.holds(&point);
            let at = values(&point);
            prop_assert_eq!(holds.eval(&at), Some(expected == Ok(true)), "holds at {:?}", point);
            prop_assert_eq!(fails.eval(&at), Some(expected == Ok(false)), "fails at {:?}", point);
            yes.count(expected == Ok(true));
            no.count(expected == Ok(false));
            undefined.count(expected.is_err());
        }
        Ok(())
    });
    checked.expect("the encoding means the same");
    [yes, no, undefined].iter().for_each(|seen| seen.check(1000));
}

/// A destination that writes `value` to x, and a free choice up to `upper` to y.
fn destination(value: Expr, defined: &Expr, upper: Expr) -> Destination {
    let (x, y) = (VarId(0), VarId(1));
    Destination {
        probability: Probability::one(),
        defined: Condition::and([
            Condition::from_expr(defined),
            Condition::from_expr(&Expr::binary(BinaryOp::Le, Expr::int(0), Expr::Var(VarId(2)))),
            Condition::from_expr(&Expr::binary(BinaryOp::Le, Expr::Var(VarId(2)), upper.clone())),
        ]),
        cell_writes: Vec::new(),
        transient_values: Vec::new(),
        conflict: Conflict { condition: Condition::False, variables: Vec::new() },
        choices: vec![FreeChoice { target: y, lower: Expr::int(0), upper }],
        updates: vec![
            Update { variable: x, value: UpdateValue::from_expr(value) },
            Update { variable: y, value: UpdateValue::from_expr(Expr::Var(VarId(2))) },
        ],
    }
}

fn model() -> Model {
    Model {
        name: "two variables".to_owned(),
        variables: variables(),
        transients: Vec::new(),
        labels: vec!["a".to_owned()],
        instances: Vec::new(),
        vectors: Vec::new(),
        initial_values: Vec::new(),
        initial_condition: Condition::True,
    }
}

/// The successors by the reference semantics; `None` where the model breaks its own rules.
fn reference(model: &Model, destination: &Destination, point: &[i64]) -> Option<Vec<Vec<i64>>> {
    let operator = Operator {
        key: OperatorKey { vector: None, edges: Vec::new() },
        label: Some(LabelId(0)),
        guard: Condition::True,
        destinations: vec![destination.clone()],
    };
    let semantics = ModelSemantics { model, rule: policert_model::DomainRule::Drop };
    let successors = semantics.successors(&operator, point).ok()?;
    Some(successors.list.into_iter().map(|successor| successor.state).collect())
}

#[test]
fn successors_are_those_of_the_reference_semantics() {
    let (model, some, none) = (model(), Seen::default(), Seen::default());
    let inputs = (expressions(), expressions(), expressions());
    let checked = runner(400).run(&inputs, |(value, defined, upper)| {
        let destination = destination(value, &defined, upper);
        let mut record = Record::default();
        let frame = StateFrame::declare(&mut record, &model.variables, Sort::Int);
        let next = successor(&mut record, &model.variables, &frame, &destination)
            .expect("small exponents");
        for point in points() {
            let Some(expected) = reference(&model, &destination, &point) else { continue };
            some.count(!expected.is_empty());
            none.count(expected.is_empty());
            for target in points() {
                let mut at = vec![Rational::ZERO; record.sorts.len()];
                at[..2].clone_from_slice(&values(&point));
                for (variable, &value) in target.iter().enumerate() {
                    at[next.frame.symbols()[variable].index()] = value.into();
                }
                // The choice is the new value of y.
                at[next.choices[0].index()] = target[1].into();
                let expected = expected.contains(&target.to_vec());
                prop_assert_eq!(
                    next.constraint.eval(&at),
                    Some(expected),
                    "from {:?} to {:?}",
                    point,
                    target
                );
            }
        }
        Ok(())
    });
    checked.expect("the encoding has the same successors");
    [some, none].iter().for_each(|seen| seen.check(300));
}

#[test]
fn what_has_no_encoding_is_refused() {
    let frame = StateFrame::declare(&mut Record::default(), &variables(), Sort::Int);
    let power = Expr::binary(BinaryOp::Pow, Expr::Var(VarId(0)), Expr::Var(VarId(1)));
    let condition = Condition::from_expr(&Expr::binary(BinaryOp::Lt, power, Expr::int(4)));
    assert!(matches!(frame.condition(&condition, true), Err(SmtError::Unsupported(_))));
    let beyond = Condition::var_equals(VarId(7), 1);
    assert!(matches!(frame.condition(&beyond, true), Err(SmtError::Unsupported(_))));
}

#[test]
fn bounds_are_the_domains() {
    let frame = StateFrame::declare(&mut Record::default(), &variables(), Sort::Int);
    let bounds = frame.bounds(&variables());
    assert!(points().all(|point| bounds.eval(&values(&point)) == Some(true)));
    assert_eq!(bounds.eval(&values(&[0, 4])), Some(false));
    assert_eq!(bounds.eval(&values(&[-3, 0])), Some(false));
    let half = [Rational::new(1, 2).expect("not 0"), Rational::ZERO];
    assert_eq!(Term::from(Symbol::new(0)).eval(&half), Rational::new(1, 2));
}

#[cfg(feature = "z3")]
mod with_z3 {
    use super::*;
    use policert_smt::Z3Solver;
    use std::time::Duration;

    fn limits() -> SolverLimits<'static> {
        SolverLimits { time: Some(Duration::from_secs(10)), stop: None }
    }

    #[test]
    fn a_point_is_found_exactly_when_there_is_one() {
        let (sat, unsat, unknown) = (Seen::default(), Seen::default(), Seen::default());
        let inputs = (expressions(), expressions(), any::<bool>());
        let checked = runner(300).run(&inputs, |(a, b, positive)| {
            let condition = Condition::and([Condition::from_expr(&a), Condition::from_expr(&b)]);
            let expected = points().any(|point| condition.holds(&point) == Ok(positive));
            for sort in [Sort::Int, Sort::Real] {
                let mut solver = Z3Solver::new();
                let frame = StateFrame::declare(&mut solver, &variables(), sort);
                solver.assert(frame.bounds(&variables()));
                solver.assert(frame.condition(&condition, positive).expect("small exponents"));
                match solver.check(&limits()) {
                    Ok(CheckResult::Sat(found)) => {
                        sat.count(true);
                        if sort == Sort::Int {
                            prop_assert!(expected, "no point satisfies it");
                            let point = found.integers(frame.symbols().iter().copied());
                            let point = point.expect("integers");
                            prop_assert_eq!(condition.holds(&point), Ok(positive));
                        }
                    }
                    Ok(CheckResult::Unsat) => {
                        unsat.count(true);
                        prop_assert!(!expected, "a point satisfies it, also for {:?}", sort);
                    }
                    Err(SmtError::Unknown(_) | SmtError::TimeLimit(_)) => unknown.count(true),
                    Err(error) => prop_assert!(false, "{}", error),
                }
            }
            Ok(())
        });
        checked.expect("Z3 agrees with enumeration");
        [sat, unsat].iter().for_each(|seen| seen.check(50));
        assert!(unknown.0.get() < 60, "{} questions without an answer", unknown.0.get());
    }

    #[test]
    fn a_successor_is_found_exactly_when_there_is_one() {
        let (model, sat, unsat) = (model(), Seen::default(), Seen::default());
        let inputs = (expressions(), expressions(), expressions(), expressions());
        let checked = runner(200).run(&inputs, |(value, upper, from, to)| {
            let destination = destination(value, &Expr::bool(true), upper);
            let (from, to) = (Condition::from_expr(&from), Condition::from_expr(&to));
            let mut expected = false;
            for point in points().filter(|point| from.holds(point) == Ok(true)) {
                // A point where the model breaks its own rules makes the question meaningless.
                let Some(next) = reference(&model, &destination, &point) else { return Ok(()) };
                expected |= next.iter().any(|next| to.holds(next) == Ok(true));
            }
            let mut solver = Z3Solver::new();
            let frame = StateFrame::declare(&mut solver, &model.variables, Sort::Int);
            let next = successor(&mut solver, &model.variables, &frame, &destination)
                .expect("small exponents");
            solver.assert(frame.bounds(&model.variables));
            solver.assert(frame.condition(&from, true).expect("small exponents"));
            solver.assert(next.constraint);
            solver.assert(next.frame.condition(&to, true).expect("small exponents"));
            match solver.check(&limits()) {
                Ok(result) => {
                    let found = matches!(result, CheckResult::Sat(_));
                    sat.count(found);
                    unsat.count(!found);
                    prop_assert_eq!(found, expected);
                }
                Err(SmtError::Unknown(_) | SmtError::TimeLimit(_)) => {}
                Err(error) => prop_assert!(false, "{}", error),
            }
            Ok(())
        });
        checked.expect("Z3 agrees with the reference semantics");
        [sat, unsat].iter().for_each(|seen| seen.check(20));
    }
}
