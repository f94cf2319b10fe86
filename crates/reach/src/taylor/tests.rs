//! Values of random expressions and trajectories of random loops lie in their enclosures.

use policert_control_loop::{Changes, ExpressionGraph, Gusts, StateCondition, Tape, Task};
use policert_engine_api::Budget;
use policert_numeric::{Interval, Rational};
use policert_policy::{Activation, ElementType, Matrix, NetworkBuilder, Smooth};
use policert_testkit::{case_numbers, shared_folder};

use super::monomial::Monomial;
use super::*;
use crate::policy::{Controls, NetworkArithmetic};
use crate::post::Post;
use crate::state_sets::{StateSetKind, StateSets};

/// Random bits (xorshift).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }

    fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % (count as u64)).expect("small")
    }

    /// A number from −1 to 1, with few digits.
    fn unit(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() % 2001).expect("small")) / 1000.0 - 1.0
    }

    fn text(&mut self) -> String {
        format!("({:.3})", self.unit())
    }

    fn one_of(&mut self, names: &[&'static str]) -> &'static str {
        names[self.below(names.len())]
    }

    /// An expression over some variables.
    fn expression(&mut self, names: &[&'static str], depth: u32) -> String {
        if depth == 0 || self.below(4) == 0 {
            return if self.below(3) == 0 { self.text() } else { self.one_of(names).to_owned() };
        }
        let mut part = || self.expression(names, depth - 1);
        let (a, b) = (part(), part());
        match self.below(16) {
            0 | 1 => format!("({a} + {b})"),
            2 | 3 => format!("({a} - {b})"),
            4..=6 => format!("({a} * {b})"),
            7 => format!("({a} / (2.5 + sin({b})))"),
            8 => format!("sin({a})"),
            9 => format!("cos({a})"),
            10 => format!("exp(0.3*{a})"),
            11 => format!("tanh({a})"),
            12 => format!("log(3 + cos({a}))"),
            13 => format!("sqrt(1 + ({a})^2)"),
            14 => format!("max({a}, abs({b}))"),
            _ => format!("({a})^{}", 2 + self.below(3)),
        }
    }
}

/// The symbols of the variables of expressions; the last one has no powers.
const PLACES: [usize; 3] = [0, 9, 12];

const NAMES: [&str; 4] = ["x", "y", "z", "u"];

fn parsed(graph: &mut ExpressionGraph, text: &str) -> policert_control_loop::ExpressionId {
    let names = |name: &str, graph: &mut ExpressionGraph| {
        let position = NAMES.iter().position(|known| *known == name)?;
        Some(graph.variable(position))
    };
    graph.parse(text, names).unwrap_or_else(|error| panic!("{text}: {error:?}"))
}

/// The value of a model at a place of the symbols.
fn value_at(model: &Model, place: &[f64]) -> Interval {
    model.terms.iter().fold(model.rest, |sum, &(monomial, c)| {
        let mut term = Interval::point(c);
        for (&symbol, &x) in PLACES.iter().zip(place) {
            for _ in 0..monomial.exponent(symbol) {
                term = term * Interval::point(x);
            }
        }
        sum + term
    })
}

#[test]
fn expressions_stay_inside_their_models() {
    let (mut cases, mut compared) = (0, 0);
    for seed in case_numbers(4_000) {
        cases += 1;
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        random.next();
        let mut graph = ExpressionGraph::new();
        let text = random.expression(&NAMES[..3], 4);
        let root = parsed(&mut graph, &text);
        let order = Order {
            degree: 1 + u32::try_from(random.below(4)).expect("small"),
            time: 0,
            cutoff: [0.0, 1e-9, 1e-2][random.below(3)],
        };
        let radius = [0.0, 1e-3, 0.1, 1.0][random.below(4)];
        let centres: Vec<f64> = (0..3).map(|_| 2.0 * random.unit()).collect();
        let variables: Vec<Model> =
            (0..3).map(|i| Model::symbol(centres[i], radius, PLACES[i])).collect();
        let program = Program::new(&graph, &[root]);
        let references: Vec<&Model> = variables.iter().collect();
        let mut algebra = Algebra::new(order);
        let Some(models) = program.run(&mut algebra, &references) else { continue };
        let tape: Tape<Interval> = Tape::new(&graph, &[root], 3);
        for _ in 0..6 {
            let place: Vec<f64> =
                (0..3).map(|_| if random.below(3) == 0 { 1.0 } else { random.unit() }).collect();
            let state: Vec<Interval> =
                variables.iter().map(|variable| value_at(variable, &place)).collect();
            let exact = tape.evaluate(&state).expect("a value")[0];
            let found = value_at(&models[0], &place);
            assert!(found.intersection(exact).is_some(), "{text}: {found:?} {exact:?} {order:?}");
            assert!(models[0].range().intersection(exact).is_some(), "{text}");
            compared += usize::from(models[0].is_bounded());
        }
    }
    assert!(compared > cases, "{compared} of {cases}");
}

/// A network of two layers between the variables and one action.
fn controller(random: &mut Random, dimension: usize) -> StateController {
    let observation = (random.below(3) == 0).then(|| {
        let mut graph = ExpressionGraph::new();
        let count = 1 + random.below(3);
        let texts = (0..count).map(|_| random.expression(&NAMES[..dimension], 2));
        let roots = texts.map(|text| parsed(&mut graph, &text)).collect();
        Observation::new(graph, roots, dimension)
    });
    let inputs = observation.as_ref().map_or(dimension, Observation::width);
    let mut builder = NetworkBuilder::new(inputs).expect("some inputs");
    let mut node = builder.input();
    let activation = [
        Activation::RELU,
        Activation::Smooth(Smooth::Tanh),
        Activation::Smooth(Smooth::Sigmoid),
        Activation::Leaky { alpha: 0.125 },
        Activation::Clip { lo: -0.5, hi: 0.75 },
    ][random.below(5)];
    let choices: Option<Vec<Vec<Rational>>> = (random.below(4) == 0).then(|| {
        let count = 2 + random.below(2);
        let quarters = (0..count).map(|_| i64::try_from(random.below(9)).expect("small") - 4);
        quarters.map(|value| vec![Rational::new(value, 4).expect("not 0")]).collect()
    });
    let outputs = choices.as_ref().map_or(1, Vec::len);
    let mut width = inputs;
    for layer in 0..3 {
        let next = if layer == 2 { outputs } else { 2 + random.below(5) };
        let weights: Vec<f64> = (0..next * width).map(|_| random.unit()).collect();
        let bias: Vec<f64> = (0..next).map(|_| random.unit()).collect();
        let matrix = Matrix::new(next, width, weights).expect("the shape fits");
        node = builder.affine(node, matrix, bias).expect("fits");
        if layer < 2 {
            node = builder.activation(node, activation).expect("fits");
        }
        width = next;
    }
    let clamp = (random.below(3) == 0).then(|| {
        let edge = |x: i64| BoxEdge::new(Rational::new(x, 4).expect("not 0"));
        (edge(-3), edge(2))
    });
    StateController::new(
        builder.finish(node, ElementType::F64),
        ActionMap { clamp, choices, ..ActionMap::default() },
        observation,
    )
}

fn dynamics(random: &mut Random, dimension: usize) -> (Dynamics, Vec<String>) {
    let mut graph = ExpressionGraph::new();
    let mut names: Vec<&'static str> = NAMES[..dimension].to_vec();
    names.push("u");
    let kind = if random.below(4) == 0 { DynamicsKind::Difference } else { DynamicsKind::Ode };
    let mut disturbances = Vec::new();
    if random.below(3) == 0 {
        names.push("w");
        let changes = match kind {
            DynamicsKind::Ode if random.below(2) == 0 => Changes::AnyTime,
            DynamicsKind::Ode | DynamicsKind::Difference => Changes::EachStep,
        };
        let lower = Rational::new(-1, [2, 10, 1000][random.below(3)]).expect("not 0");
        disturbances.push(Disturbance {
            lower,
            upper: Rational::new(1, 8).expect("not 0"),
            changes,
        });
    }
    let at_any_time = disturbances.iter().any(Disturbance::changes_within_steps);
    let remembers = dimension > 1 && !at_any_time && random.below(3) == 0;
    let mut texts: Vec<String> = (0..dimension)
        .map(|_| {
            let (a, b) = (random.expression(&names, 2), random.expression(&names, 2));
            format!("0.5*({a}) - {}*({b}) + {}*u", random.text(), random.text())
        })
        .collect();
    let mut remembered = Vec::new();
    if remembers {
        remembered.push((dimension - 1, 0));
        texts[dimension - 1] = match kind {
            DynamicsKind::Difference => names[dimension - 1].to_owned(),
            DynamicsKind::Ode => "0".to_owned(),
        };
    }
    let mut components = Vec::new();
    for text in &texts {
        // The action is the variable after those of the state.
        let at = |name: &str, graph: &mut ExpressionGraph| {
            let position = names.iter().position(|known| *known == name)?;
            Some(graph.variable(position))
        };
        components.push(graph.parse(text, at).expect("an expression"));
    }
    let period = Rational::new(1, 1 + i64::try_from(random.below(8)).expect("small"));
    let clamp = (random.below(6) == 0).then(|| {
        let edge = |x: i64| BoxEdge::new(Rational::integer(x));
        vec![(edge(-1), edge(1)); dimension]
    });
    let twice = kind == DynamicsKind::Difference && random.below(2) == 0;
    let substeps = if twice { 2 } else { 1 };
    let dynamics = Dynamics {
        kind,
        graph,
        components,
        substeps,
        period: period.expect("not 0"),
        clamp,
        disturbances,
        remembered,
    };
    (dynamics, texts)
}

/// One loop: from some states of a box, with narrow boxes in many short parts of each step.
fn check(seed: u64, kind: StateSetKind) -> usize {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    random.next();
    let dimension = 1 + random.below(3);
    let (dynamics, texts) = dynamics(&mut random, dimension);
    let controller = controller(&mut random, dimension);
    let radius = [0.0, 1e-4, 0.02, 0.2][random.below(4)];
    let sides: Vec<Interval> = (0..dimension)
        .map(|_| Interval::ball(random.unit(), radius * f64::from(u8::from(random.below(4) > 0))))
        .collect();
    // What may change at any time changes once in the middle of a step.
    let at_any_time = dynamics.disturbances.iter().any(Disturbance::changes_within_steps);
    let parts = if at_any_time { 2 } else { 1 };
    let fine = Dynamics {
        substeps: if dynamics.kind == DynamicsKind::Ode { 16 } else { dynamics.substeps },
        period: dynamics.period.checked_div(&Rational::from(parts)).expect("not 0"),
        clamp: dynamics.clamp.clone().filter(|_| !at_any_time),
        ..dynamics.clone()
    };
    let dynamics = Dynamics { clamp: fine.clamp.clone(), ..dynamics };
    let inputs = 1 + dynamics.disturbances.len();
    let mut post: Post<Interval> = Post::new(&fine, inputs).expect("smooth");
    let kind = if at_any_time { StateSetKind::TaylorModels } else { kind };
    let mut sets = StateSets::new(kind, &dynamics, inputs).expect("smooth");
    let mut gusts = Gusts::Random(random.next() | 1);
    let mut budget = Budget::unlimited();
    sets.begin(sides.clone());
    let mut branches = vec![sets];
    let mut states: Vec<Vec<Interval>> = (0..3)
        .map(|k| {
            let corner = |side: &Interval| match (k, random.below(3)) {
                (0, _) => Interval::point(side.midpoint()),
                (_, 0) => Interval::point(side.lo()),
                (_, 1) => Interval::point(side.hi()),
                _ => {
                    let x = side.midpoint() + 0.4 * random.unit() * side.width();
                    Interval::point(x.clamp(side.lo(), side.hi()))
                }
            };
            sides.iter().map(corner).collect()
        })
        .collect();
    let names: Vec<String> = NAMES[..dimension].iter().map(|&name| name.to_owned()).collect();
    let asked = format!("{} < 0", random.expression(&NAMES[..dimension], 3));
    let condition = StateCondition::parse(&asked, &names).expect("a condition");
    let mut compared = 0;
    for step in 0..4 {
        let mut between = Vec::new();
        let mut next = Vec::new();
        for branch in &mut branches {
            let Some(choices) = branch.choices(&controller) else { return compared };
            let any = match choices.len() > 1 && random.below(2) == 0 {
                true => branch.any_of(&controller, &choices, &mut budget).expect("no limit"),
                false => None,
            };
            let apart = || choices.into_iter().map(Taken::One).collect();
            for taken in any.map_or_else(apart, |any| vec![Taken::Any(any)]) {
                let (mut sets, wanted) = (branch.clone(), Some(&mut between));
                if sets.act(&controller, &taken).is_none()
                    || !sets.advance((&controller, &taken), wanted, &mut budget).expect("no limit")
                {
                    return compared;
                }
                between.extend_from_slice(sets.hull());
                next.push(sets);
            }
        }
        if next.len() > 16 {
            return compared;
        }
        branches = next;
        for state in &mut states {
            let (mut actions, mut way) = (Vec::new(), Vec::new());
            if controller.append_ranges(state, &mut actions).is_none() {
                // It is not certain which action is taken.
                return compared;
            }
            for _ in 0..parts {
                let mut image = Vec::new();
                actions.truncate(1);
                actions.extend(gusts.next::<Interval>(&dynamics.disturbances));
                if post.post(state, &actions, &mut image, Some(&mut way)).is_none() {
                    return compared;
                }
                *state = image;
            }
            let meet = |a: &[Interval], b: &[Interval]| {
                a.iter().zip(b).all(|(a, b)| a.intersection(*b).is_some())
            };
            let within = |sets: &StateSets| {
                let one = condition.asked().ranges(state);
                let values = sets.values(condition.asked()).zip(one);
                meet(sets.hull(), state) && values.is_none_or(|(all, one)| meet(&all, &one))
            };
            let hulls: Vec<_> = branches.iter().map(StateSets::hull).collect();
            let met = branches.iter().any(within);
            assert!(met, "seed {seed}, step {step}: {hulls:?} {state:?} {asked} {texts:?}");
            for state in way.chunks_exact(dimension) {
                let met = between.chunks_exact(dimension).any(|hull| {
                    hull.iter().zip(state).all(|(hull, x)| hull.intersection(*x).is_some())
                });
                assert!(met, "seed {seed}, before step {step}: {state:?} {texts:?}");
            }
            compared += usize::from(state.iter().all(|x| x.width() < 1e-3));
        }
    }
    compared
}

#[test]
fn trajectories_of_random_loops_stay_inside() {
    let (mut cases, mut compared) = (0, 0);
    for seed in case_numbers(1_000) {
        cases += 1;
        let kinds = [StateSetKind::TaylorModels, StateSetKind::Zonotopes];
        compared += check(seed, kinds[usize::from(seed % 5 == 0)]);
    }
    assert!(compared > 2 * cases, "{compared} of {cases}");
}

/// Loops of the ARCH competition whose networks are there.
const LOOPS: [&str; 7] = [
    "single-pendulum-hi",
    "acc",
    "tora-relu-1hi",
    "tora-sigmoid",
    "unicycle",
    "nav-set",
    "dp-less-1hi",
];

#[test]
fn trajectories_of_known_loops_stay_inside() {
    let Some(folder) = shared_folder("benchmarks/arch") else { return };
    let mut compared = 0;
    for name in LOOPS {
        let task = Task::read(&folder.join(format!("{name}.toml")), None).expect("well-formed");
        let mut budget = Budget::unlimited();
        let arithmetic = NetworkArithmetic::default();
        let controls: Controls<'_, Interval> =
            Controls::new(&task, arithmetic, &budget).expect("the network fits");
        let controller = controls.state_controller().expect("it reads the state");
        let inputs = task.inputs.len();
        let sides: Vec<Interval> =
            task.initial.iter().map(|(lo, hi)| Interval::between(lo, hi)).collect();
        let mut sets = TaylorSets::new(&task.dynamics, inputs).expect("smooth");
        sets.begin(sides.clone());
        let mut tube = Vec::new();
        // Enclosures that blow up say nothing any more.
        for _ in 0..task.steps {
            let mut between = Vec::new();
            assert_eq!(sets.choices(controller), Some(vec![0]));
            let moved = sets.advance((controller, &Taken::One(0)), Some(&mut between), &mut budget);
            let moved = moved.expect("no limit");
            if !moved || sets.hull().iter().any(|side| side.width() > 100.0) {
                break;
            }
            tube.push((between, sets.hull().to_vec()));
        }
        assert!(tube.len() >= 3, "{name}: {}", tube.len());
        let fine = Dynamics { substeps: 4 * task.dynamics.substeps, ..task.dynamics.clone() };
        let mut post: Post<Interval> = Post::new(&fine, inputs).expect("smooth");
        for seed in case_numbers(8) {
            let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
            random.next();
            let place = |side: &Interval| {
                let x = match random.below(3) {
                    0 => side.lo(),
                    1 => side.hi(),
                    _ => side.midpoint() + 0.5 * random.unit() * side.width(),
                };
                Interval::point(x.clamp(side.lo(), side.hi()))
            };
            let mut state: Vec<Interval> = sides.iter().map(place).collect();
            for (step, (between, hull)) in tube.iter().enumerate() {
                let (mut actions, mut image, mut way) = (Vec::new(), Vec::new(), Vec::new());
                controller.append_ranges(&state, &mut actions).expect("a value");
                if post.post(&state, &actions, &mut image, Some(&mut way)).is_none() {
                    break;
                }
                state = image;
                let meet = |hull: &[Interval], state: &[Interval]| {
                    hull.iter().zip(state).all(|(hull, x)| hull.intersection(*x).is_some())
                };
                assert!(meet(hull, &state), "{name}, seed {seed}, step {step}: {hull:?} {state:?}");
                for state in way.chunks_exact(state.len()) {
                    let met = between.chunks_exact(state.len()).any(|hull| meet(hull, state));
                    assert!(met, "{name}, seed {seed}, before step {step}: {state:?}");
                }
                if state.iter().any(|x| x.width() > 1e-3) {
                    break;
                }
                compared += 1;
            }
        }
    }
    assert!(compared > 300, "{compared}");
}

#[test]
fn fewer_symbols_cover_more() {
    for dimension in [1, 2, 3] {
        let symbols = Symbols { fixed: 1, most: 2 * dimension };
        let mut models: Vec<Model> = (0..dimension)
            .map(|i| {
                let mut terms = vec![(Monomial::symbol(0), 1.0)];
                for k in 1..=12 {
                    let symbol = Monomial::symbol(k);
                    let weight = if k % dimension == i { 2.0 } else { 0.25 };
                    terms.push((symbol, weight));
                    let pairs = [Monomial::symbol(0), Monomial::symbol(k + 1)];
                    terms.extend(pairs.iter().filter_map(|m| Some((m.times(symbol)?, 0.5))));
                }
                terms.sort_by_key(|&(m, _)| m);
                Model { terms, rest: Interval::ball(0.0, 0.125) }
            })
            .collect();
        // The greatest value, with all symbols 1.
        let sum = |model: &Model| model.terms.iter().map(|(_, c)| c).sum::<f64>() + 0.125;
        let greatest: Vec<f64> = models.iter().map(sum).collect();
        let before = SYMBOLS - symbols.unused(&models).len();
        symbols.absorb(&mut models, 0);
        assert!(SYMBOLS - symbols.unused(&models).len() < before);
        for (model, greatest) in models.iter().zip(greatest) {
            assert!(model.range().hi() >= greatest, "{dimension}: {model:?} {greatest}");
        }
    }
}

#[test]
fn an_oscillator_keeps_its_width() {
    // x″ = −x for 100 periods of 0.3: a box around it alone would grow without bounds.
    let mut graph = ExpressionGraph::new();
    let components = vec![parsed(&mut graph, "y"), parsed(&mut graph, "-x + 0*z")];
    let dynamics = Dynamics {
        kind: DynamicsKind::Ode,
        graph,
        components,
        substeps: 1,
        period: Rational::new(3, 10).expect("not 0"),
        clamp: None,
        disturbances: Vec::new(),
        remembered: Vec::new(),
    };
    let mut random = Random(7);
    let mut sets = TaylorSets::new(&dynamics, 1).expect("smooth");
    sets.begin(vec![Interval::ball(1.0, 0.1), Interval::ball(0.0, 0.1)]);
    let mut budget = Budget::unlimited();
    let controller = controller(&mut random, 2);
    for _ in 0..100 {
        let taken = Taken::One(sets.choices(&controller).expect("a value")[0]);
        assert!(sets.advance((&controller, &taken), None, &mut budget).expect("no limit"));
    }
    assert!(sets.hull().iter().all(|side| side.width() < 0.3), "{:?}", sets.hull());
}
