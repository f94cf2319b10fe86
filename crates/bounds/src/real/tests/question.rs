//! Random questions, and their answers by all combinations of pieces.

use std::iter::zip;

use policert_numeric::simplex::{Feasibility, SimplexRow, feasible_point};
use policert_policy::activation::Staircase;
use policert_policy::{Activation, Network, Op};

use super::{exactly, ratio};
use crate::frame::RegionFrame;
use crate::generator::{Random, network};
use crate::real::problem::{RealProblem, RealStart};
use crate::real::*;

/// A piece of a function: the bounds of the argument, true for those that are not reached, and what the
/// exact evaluation calls the piece.
#[derive(Clone, Copy)]
struct Piece {
    lo: Option<(f64, bool)>,
    hi: Option<(f64, bool)>,
    name: i64,
}

/// Node, element, and the pieces of it.
type Pieces = (usize, usize, Vec<Piece>);

/// The pieces of a staircase between two arguments.
fn steps(staircase: Staircase, lo: f64, hi: f64) -> impl Iterator<Item = Piece> {
    #[expect(clippy::cast_possible_truncation, reason = "a few steps near 0")]
    let names = staircase.value(lo) as i32..=staircase.value(hi) as i32;
    names.map(move |name| {
        let k = f64::from(name);
        let is_odd = name % 2 != 0;
        let (lo, hi) = match staircase {
            Staircase::Floor => (Some((k, false)), Some((k + 1.0, true))),
            Staircase::Round => (Some((k - 0.5, is_odd)), Some((k + 0.5, is_odd))),
            Staircase::Sign => {
                ((name >= 0).then_some((0.0, name > 0)), (name <= 0).then_some((0.0, name < 0)))
            }
        };
        Piece { lo, hi, name: name.into() }
    })
}

/// A question about a network whose input k reads variable k.
pub(super) struct Question {
    pub(super) network: Network,
    pub(super) inequalities: Vec<LinearInequality>,
}

impl Question {
    pub(super) fn dimensions(&self) -> usize {
        self.network.input_width()
    }

    /// Returns whether its network jumps.
    pub(super) fn has_steps(&self) -> bool {
        let is_step = |op: &Op| {
            matches!(
                op,
                Op::Pointwise { activation: policert_policy::Activation::Staircase(_), .. }
            )
        };
        self.network.nodes().iter().any(|node| is_step(&node.op))
    }

    /// The values of a point and its scores; none for a network that is not made of pieces.
    pub(super) fn values(&self, point: &[Rational]) -> Option<Vec<Rational>> {
        let scores = ExactEvaluator::new(&self.network)?.scores_at(point);
        Some(point.iter().cloned().chain(scores).collect())
    }

    pub(super) fn satisfied_at(&self, point: &[Rational]) -> Option<bool> {
        let values = self.values(point)?;
        Some(self.inequalities.iter().all(|inequality| inequality.holds(&values)))
    }

    /// A small box, and inequalities many of which hold with equality at some point.
    pub(super) fn random(random: &mut Random, dimensions: usize) -> Self {
        let outputs = 1 + random.below(4);
        let network = network(dimensions, outputs, random);
        let mut inequalities = Vec::new();
        let mut point = Vec::new();
        for variable in 0..dimensions {
            let (lo, width) = (ratio(random.int(-8, 6), 2), ratio(random.int(0, 9), 3));
            let hi = &lo + &width;
            point.push(&lo + &(&width * &ratio(random.int(0, 4), 4)));
            let strict = random.chance(10);
            let terms = |factor: Rational| [(variable, factor)];
            inequalities.push(LinearInequality::new(terms(Rational::ONE), hi, strict));
            inequalities.push(LinearInequality::new(terms(-Rational::ONE), -lo, false));
        }
        let mut question = Self { network, inequalities };
        let values = question.values(&point);
        for _ in 0..1 + random.below(3) {
            let of_scores = random.chance(80);
            let first = if of_scores { dimensions } else { 0 };
            let count = if of_scores { outputs } else { dimensions };
            let mut terms: Vec<(usize, Rational)> = (0..1 + random.below(2))
                .map(|_| (first + random.below(count), ratio(random.int(-2, 2), 1)))
                .collect();
            if random.chance(10) {
                terms.push((random.below(dimensions), ratio(random.int(-2, 2), 3)));
            }
            let upper = match &values {
                Some(values) if random.chance(70) => {
                    let sum: Rational = terms.iter().map(|(v, c)| c * &values[*v]).sum();
                    // As it is at the point, or a hair's breadth from it.
                    match random.below(4) {
                        0 => &sum - &ratio(1, 1 << 40),
                        1 => &sum + &ratio(1, 1 << 40),
                        _ => sum,
                    }
                }
                _ => ratio(random.int(-6, 6), 2),
            };
            let inequality = LinearInequality::new(terms, upper, random.chance(40));
            question.inequalities.push(inequality);
        }
        question
    }

    /// Returns whether there is a point, by all combinations of linear pieces; `None` if there are
    /// more than `most`.
    pub(super) fn by_pieces(&self, most: usize) -> Option<bool> {
        let exact = ExactEvaluator::new(&self.network)?;
        let pieces: Vec<Pieces> = self.pieces(most)?;
        let combinations: usize = pieces.iter().map(|(.., pieces)| pieces.len()).product();
        (0..combinations)
            .map(|mut number| {
                let chosen: Vec<usize> = pieces
                    .iter()
                    .map(|(.., pieces)| {
                        let piece = number % pieces.len();
                        number /= pieces.len();
                        piece
                    })
                    .collect();
                self.satisfiable_on(&exact, &pieces, &chosen)
            })
            .reduce(|a, b| a || b)
    }

    /// The pieces of all elements; none if there are more than `most` combinations.
    fn pieces(&self, most: usize) -> Option<Vec<Pieces>> {
        let mut all = Vec::new();
        let mut combinations = 1usize;
        // Of the whole box.
        let program = Program::within(&self.network, &mut Budget::unlimited()).ok()?;
        let is_read = vec![true; self.dimensions()];
        let start = RealProblem::read(self.dimensions(), &is_read, &self.inequalities).ok()?;
        let RealStart::Open(problem) = start else { return Some(Vec::new()) };
        let (lo, hi) = problem.sides();
        let frame = RegionFrame::new(&program, lo, hi);
        for (at, node) in self.network.nodes().iter().enumerate() {
            for element in 0..node.width {
                let pieces: Vec<Piece> = match &node.op {
                    Op::Pointwise { input, activation: Activation::Staircase(staircase) } => {
                        let slot = program.nodes[input.index()].at + element;
                        let (lo, hi) = (frame.least[slot], frame.greatest[slot]);
                        let count = staircase.value(hi) - staircase.value(lo);
                        if !(count < 64.0 && hi.abs() < 1e6) {
                            return None;
                        }
                        steps(*staircase, lo, hi).collect()
                    }
                    Op::Pointwise { activation, .. } if activation.is_piecewise_linear() => {
                        let bends = || activation.bends().map(|at| Some((at, false)));
                        let sides = std::iter::once(None).chain(bends()).zip(bends().chain([None]));
                        sides.zip(0..).map(|((lo, hi), name)| Piece { lo, hi, name }).collect()
                    }
                    Op::Max { .. } | Op::Pointwise { .. } => return None,
                    _ => continue,
                };
                combinations = combinations.checked_mul(pieces.len())?;
                all.push((at, element, pieces));
            }
        }
        (combinations <= most).then_some(all)
    }

    fn satisfiable_on(&self, exact: &ExactEvaluator, pieces: &[Pieces], chosen: &[usize]) -> bool {
        let piece = |node: usize, element: usize| {
            let at = pieces.iter().position(|(n, e, _)| (*n, *e) == (node, element));
            at.map_or(0, |at| pieces[at].2[chosen[at]].name)
        };
        let dimensions = self.dimensions();
        let mut at = vec![Rational::ZERO; dimensions];
        let origin = exact.values_on_pieces(&at, &piece);
        let units: Vec<_> = (0..dimensions)
            .map(|variable| {
                at[variable] = Rational::ONE;
                let values = exact.values_on_pieces(&at, &piece);
                at[variable] = Rational::ZERO;
                values
            })
            .collect();
        let mut rows = Vec::new();
        let mut push = |terms: &[(usize, usize, Rational)],
                        own: &[(usize, Rational)],
                        upper: &Rational,
                        strict| {
            let mut coefficients = vec![Rational::ZERO; dimensions];
            let mut upper = upper.clone();
            for (variable, factor) in own {
                coefficients[*variable] = &coefficients[*variable] + factor;
            }
            for (node, element, factor) in terms {
                let base = &origin[*node][*element];
                upper = &upper - &(factor * base);
                for (coefficient, values) in zip(&mut coefficients, &units) {
                    *coefficient = &*coefficient + &(factor * &(&values[*node][*element] - base));
                }
            }
            rows.push(SimplexRow { coefficients, upper, strict });
        };
        for ((node, element, own), &chosen) in zip(pieces, chosen) {
            let source = self.network.nodes()[*node].op.inputs()[0].index();
            let Piece { lo, hi, .. } = own[chosen];
            if let Some((lo, strict)) = lo {
                push(&[(source, *element, -Rational::ONE)], &[], &-exactly(lo), strict);
            }
            if let Some((hi, strict)) = hi {
                push(&[(source, *element, Rational::ONE)], &[], &exactly(hi), strict);
            }
        }
        let output = self.network.output().index();
        for inequality in &self.inequalities {
            let terms = inequality.terms.iter();
            let (own, scores): (Vec<_>, Vec<_>) = terms.cloned().partition(|t| t.0 < dimensions);
            let scores: Vec<_> =
                scores.into_iter().map(|(v, c)| (output, v - dimensions, c)).collect();
            push(&scores, &own, &inequality.upper, inequality.strict);
        }
        let wide = ratio(1000, 1);
        let lo = vec![-wide.clone(); dimensions];
        let hi = vec![wide; dimensions];
        matches!(feasible_point(&lo, &hi, &rows, || true), Feasibility::Feasible(_))
    }
}
