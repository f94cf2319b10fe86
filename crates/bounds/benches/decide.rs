//! The oracle on a random network of 20-32-32-7 neurons: all seven outputs of an abstract state
//! with some inputs free, by a decision map and one by one.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use policert_bounds::{DecisionMap, Oracle, SelectionQuery};
use policert_engine_api::Budget;
use policert_model::{LabelId, VarId};
use policert_numeric::{IntBox, IntInterval};
use policert_policy::{ElementType, Matrix, NetworkBuilder, Policy, PolicySemantics};

const SIZES: [usize; 4] = [20, 32, 32, 7];
/// Abstract states that a measurement cycles through.
const STATES: usize = 64;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Between −1 and 1.
    #[expect(clippy::cast_precision_loss, reason = "53 bits")]
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    fn up_to(&mut self, greatest: i64) -> i64 {
        i64::try_from(self.next() % (greatest.unsigned_abs() + 1)).unwrap_or(0)
    }
}

fn policy(random: &mut Random) -> Policy {
    let mut builder = NetworkBuilder::new(SIZES[0]).expect("inputs");
    let mut node = builder.input();
    for (layer, &width) in SIZES[1..].iter().enumerate() {
        let columns = builder.width(node);
        let entries = (0..width * columns).map(|_| random.unit()).collect();
        let bias = (0..width).map(|_| random.unit()).collect();
        let weights = Matrix::new(width, columns, entries).expect("fits");
        node = builder.affine(node, weights, bias).expect("finite");
        if layer + 2 < SIZES.len() {
            node = builder.relu(node);
        }
    }
    let network = builder.finish(node, ElementType::F64);
    let inputs = (0..SIZES[0]).map(VarId::new).collect();
    let outputs = (0..SIZES[3]).map(LabelId::new).collect();
    let domains = IntBox::new(vec![IntInterval::new(0, 12); SIZES[0]]);
    Policy::new(network, inputs, outputs, PolicySemantics::default(), &domains).expect("it fits")
}

/// The first inputs fixed, the last six free from 0 to 12, and `more` others from 0 to 6.
fn abstract_state(more: usize, random: &mut Random) -> IntBox {
    let mut sides: Vec<IntInterval> =
        (0..SIZES[0]).map(|_| IntInterval::point(random.up_to(6))).collect();
    for (i, side) in sides.iter_mut().rev().enumerate() {
        if i < 6 {
            *side = IntInterval::new(0, 12);
        } else if i < 6 + more {
            *side = IntInterval::new(0, 6);
        }
    }
    IntBox::new(sides)
}

fn decide(c: &mut Criterion) {
    let mut random = Random(1);
    let policy = policy(&mut random);
    let mut budget = Budget::unlimited();
    let mut group = c.benchmark_group("all outputs of an abstract state");
    for free in [6, 7] {
        let states: Vec<IntBox> =
            (0..STATES).map(|_| abstract_state(free - 6, &mut random)).collect();
        let mut oracle = Oracle::new(&policy, Vec::new());
        let mut next = states.iter().cycle();
        group.bench_function(BenchmarkId::new("decision map", free), |b| {
            b.iter(|| {
                let Some(region) = next.next() else { return };
                let mut map = DecisionMap::new(&oracle, region);
                for output in 0..SIZES[3] {
                    let query = SelectionQuery { region, conditions: &[], output };
                    let _ = black_box(map.decide(&mut oracle, &query, &mut budget));
                }
            });
        });
        let mut oracle = Oracle::new(&policy, Vec::new());
        let mut next = states.iter().cycle();
        group.bench_function(BenchmarkId::new("one by one", free), |b| {
            b.iter(|| {
                let Some(region) = next.next() else { return };
                for output in 0..SIZES[3] {
                    let query = SelectionQuery { region, conditions: &[], output };
                    let _ = black_box(oracle.decide(&query, &mut budget));
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, decide);
criterion_main!(benches);
