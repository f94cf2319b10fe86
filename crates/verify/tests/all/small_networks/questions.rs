//! Random questions about networks of at most twelve neurons, of the kinds that bounds alone never
//! decide: functions that bend on the inputs, neurons that cancel, thresholds that are attained.

use policert_numeric::{LinearInequality, Rational};
use policert_policy::{
    Activation, ElementType, ExactEvaluator, Matrix, Network, NetworkBuilder, NodeId,
};
use policert_testkit::Random;

/// Neurons that a network has at most.
const MOST_NEURONS: usize = 12;

/// A network whose input k reads variable k, and inequalities over variables and scores.
pub struct Question {
    pub network: Network,
    pub inequalities: Vec<LinearInequality>,
}

/// The choice of the threshold of a question.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Threshold {
    /// The value at some point, or a hair's breadth from it.
    AtPoint,
    /// The greatest value at the corners of the box: of all, for a convex network.
    AtCorners,
    /// Far from all, or not.
    Any,
}

/// The distribution of weights.
#[derive(Clone, Copy)]
enum Weights {
    Integers,
    Quarters,
    /// As those of trained networks, in single precision.
    Singles,
}

fn ratio(numerator: i64, denominator: i64) -> Rational {
    Rational::new(numerator, denominator).expect("a number")
}

impl Weights {
    #[expect(clippy::cast_precision_loss, reason = "small")]
    fn draw(self, random: &mut Random) -> f64 {
        match self {
            Self::Integers => random.between(-2, 2) as f64,
            Self::Quarters => random.between(-9, 9) as f64 / 4.0,
            Self::Singles => f64::from(random.between(-(1 << 20), 1 << 20) as f32 / 699_050.7),
        }
    }
}

/// Builds one network.
struct Drawing<'a> {
    random: &'a mut Random,
    builder: NetworkBuilder,
    weights: Weights,
    neurons: usize,
}

impl Drawing<'_> {
    fn affine(&mut self, node: NodeId, width: usize) -> NodeId {
        let columns = self.builder.width(node);
        let entries = (0..width * columns).map(|_| self.weights.draw(self.random)).collect();
        let bias = (0..width).map(|_| self.weights.draw(self.random)).collect();
        self.layer(node, entries, bias)
    }

    fn layer(&mut self, node: NodeId, entries: Vec<f64>, bias: Vec<f64>) -> NodeId {
        let columns = self.builder.width(node);
        let matrix = Matrix::new(bias.len(), columns, entries).expect("fits");
        self.builder.affine(node, matrix, bias).expect("finite")
    }

    /// A function that bends, of all elements of a node.
    fn function(&mut self, node: NodeId) -> NodeId {
        self.neurons += self.builder.width(node);
        let builder = &mut self.builder;
        match self.random.below(6) {
            0 => builder.activation(node, Activation::Clip { lo: -0.5, hi: 0.5 }).expect("a range"),
            1 => builder.activation(node, Activation::clip(Some(-1.0), None)).expect("a bound"),
            2 => builder.activation(node, Activation::clip(None, Some(0.25))).expect("a bound"),
            3 => {
                let alpha = *self.random.pick(&[0.5, 0.01, -0.5, 2.0]);
                builder.activation(node, Activation::Leaky { alpha }).expect("finite")
            }
            _ => builder.relu(node),
        }
    }

    /// Layers with functions, and sums, maxima and skips in between.
    fn plain(&mut self, outputs: usize) -> NodeId {
        let mut node = self.builder.input();
        if self.random.percent(40) && self.builder.width(node) <= 4 {
            node = self.function(node);
        }
        while self.neurons < MOST_NEURONS && (self.neurons == 0 || self.random.percent(65)) {
            let width = 1 + self.random.below((MOST_NEURONS - self.neurons).min(6));
            let sums = self.affine(node, width);
            node = match self.random.below(8) {
                0 => {
                    let others = self.affine(node, width);
                    self.neurons += width;
                    self.builder.max(vec![sums, others]).expect("widths")
                }
                1 => {
                    let bent = self.function(sums);
                    self.builder.add(vec![sums, bent]).expect("widths")
                }
                2 => {
                    let bent = self.function(sums);
                    self.builder.concat(vec![node, bent]).expect("widths")
                }
                _ => self.function(sums),
            };
        }
        if self.random.percent(10) { node } else { self.affine(node, outputs) }
    }

    /// Neurons and their copies in another order, maybe scaled, whose weights cancel.
    fn cancelling(&mut self, outputs: usize) -> NodeId {
        let node = self.builder.input();
        let columns = self.builder.width(node);
        let pairs = 1 + self.random.below(MOST_NEURONS / 2);
        let rows: Vec<Vec<f64>> = (0..pairs)
            .map(|_| (0..=columns).map(|_| self.weights.draw(self.random)).collect())
            .collect();
        let first = self.random.below(pairs);
        let scales: Vec<f64> = (0..pairs).map(|_| *self.random.pick(&[1.0, 1.0, 2.0])).collect();
        let (mut entries, mut bias) = (Vec::new(), Vec::new());
        for row in &rows {
            entries.extend_from_slice(&row[..columns]);
            bias.push(row[columns]);
        }
        for at in (0..pairs).map(|at| (at + first) % pairs) {
            entries.extend(rows[at][..columns].iter().map(|weight| weight * scales[at]));
            bias.push(rows[at][columns] * scales[at]);
        }
        let sums = self.layer(node, entries, bias);
        let hidden = self.builder.relu(sums);
        self.neurons += 2 * pairs;
        let (mut entries, mut bias) = (Vec::new(), Vec::new());
        for _ in 0..outputs {
            let weights: Vec<f64> = (0..pairs).map(|_| self.weights.draw(self.random)).collect();
            // Powers of two: exact.
            entries.extend(weights.iter().zip(&scales).map(|(weight, scale)| weight * scale));
            entries.extend((0..pairs).map(|at| -weights[(at + first) % pairs]));
            bias.push(self.weights.draw(self.random));
        }
        self.layer(hidden, entries, bias)
    }

    /// Weights that are not negative behind the first layer: the scores are convex.
    fn convex(&mut self, outputs: usize) -> NodeId {
        let mut node = self.builder.input();
        let mut first = true;
        while self.neurons < MOST_NEURONS && (first || self.random.percent(50)) {
            let width = 1 + self.random.below((MOST_NEURONS - self.neurons).min(8));
            let sums = if first { self.affine(node, width) } else { self.rising(node, width) };
            node = self.builder.relu(sums);
            self.neurons += width;
            first = false;
        }
        self.rising(node, outputs)
    }

    fn rising(&mut self, node: NodeId, width: usize) -> NodeId {
        let columns = self.builder.width(node);
        let draw = |_| self.weights.draw(self.random).abs();
        let entries = (0..width * columns).map(draw).collect();
        let bias = (0..width).map(|_| self.weights.draw(self.random)).collect();
        self.layer(node, entries, bias)
    }
}

impl Question {
    pub fn random(number: u64) -> Self {
        let mut random = Random::new(number);
        let inputs = 1 + random.below(5);
        let outputs = 1 + random.below(3);
        let weights = *random.pick(&[Weights::Integers, Weights::Quarters, Weights::Singles]);
        let builder = NetworkBuilder::new(inputs).expect("inputs");
        let mut drawing = Drawing { random: &mut random, builder, weights, neurons: 0 };
        let (output, threshold) = match drawing.random.below(10) {
            0..=1 => (drawing.cancelling(outputs), Threshold::AtPoint),
            2..=3 => (drawing.convex(outputs), Threshold::AtCorners),
            4..=7 => (drawing.plain(outputs), Threshold::AtPoint),
            _ => (drawing.plain(outputs), Threshold::Any),
        };
        let network = drawing.builder.finish(output, ElementType::F64);
        let sides: Vec<(Rational, Rational)> = (0..inputs)
            .map(|_| {
                let (lo, width) = (ratio(random.between(-4, 2), 2), ratio(random.between(1, 9), 3));
                let hi = &lo + &width;
                (lo, hi)
            })
            .collect();
        let mut inequalities = Vec::new();
        for (variable, (lo, hi)) in sides.iter().enumerate() {
            let strict = random.percent(5);
            let terms = |factor: Rational| [(variable, factor)];
            inequalities.push(LinearInequality::new(terms(Rational::ONE), hi.clone(), strict));
            inequalities.push(LinearInequality::new(terms(-Rational::ONE), -lo.clone(), false));
        }
        let mut question = Self { network, inequalities };
        let count = if threshold == Threshold::AtCorners { 1 } else { 1 + random.below(2) };
        for _ in 0..count {
            let inequality = question.inequality(&mut random, &sides, threshold);
            question.inequalities.push(inequality);
        }
        question
    }

    fn inequality(
        &self,
        random: &mut Random,
        sides: &[(Rational, Rational)],
        threshold: Threshold,
    ) -> LinearInequality {
        let (inputs, outputs) = (self.network.input_width(), self.network.output_width());
        let output = |random: &mut Random| inputs + random.below(outputs);
        let mut terms = vec![(output(random), ratio(*random.pick(&[1, 1, -1, 2]), 1))];
        let strict = random.percent(60);
        let hair = ratio(*random.pick(&[0, 0, 0, -1, 1]), 1 << 40);
        if threshold == Threshold::AtCorners {
            // −score ≤ −(the greatest one)
            terms[0].1 = -Rational::ONE;
            let corners = (0..1usize << inputs).map(|number| -> Vec<Rational> {
                let side = |(at, (lo, hi)): (usize, &(Rational, Rational))| {
                    if number >> at & 1 == 0 { lo.clone() } else { hi.clone() }
                };
                sides.iter().enumerate().map(side).collect()
            });
            let value = |corner: Vec<Rational>| self.values(&corner)[terms[0].0].clone();
            let greatest = corners.map(value).reduce(Ord::max).expect("a corner");
            return LinearInequality::new(terms, -greatest + hair, strict);
        }
        if random.percent(30) {
            terms.push((output(random), ratio(random.between(-2, 2), 1)));
        }
        if random.percent(20) {
            terms.push((random.below(inputs), ratio(random.between(-2, 2), 3)));
        }
        let upper = if threshold == Threshold::AtPoint {
            let point: Vec<Rational> = sides
                .iter()
                .map(|(lo, hi)| lo + &(&(hi - lo) * &ratio(random.between(0, 4), 4)))
                .collect();
            let values = self.values(&point);
            let sum: Rational = terms.iter().map(|(variable, by)| by * &values[*variable]).sum();
            sum + hair
        } else {
            ratio(random.between(-8, 8), 2)
        };
        LinearInequality::new(terms, upper, strict)
    }

    /// The values of a point and its scores.
    pub fn values(&self, point: &[Rational]) -> Vec<Rational> {
        let exact = ExactEvaluator::new(&self.network).expect("piecewise linear");
        point.iter().cloned().chain(exact.scores_at(point)).collect()
    }

    pub fn holds_at(&self, point: &[Rational]) -> bool {
        let values = self.values(point);
        self.inequalities.iter().all(|inequality| inequality.holds(&values))
    }
}
