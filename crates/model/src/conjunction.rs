//! Conjunctions that are narrowed along with a box: bound propagation that looks only at the conjuncts
//! whose variables have changed since.

use std::cell::OnceCell;
use std::rc::Rc;

use policert_numeric::{IntBox, IntInterval};

use crate::propagate::{Reduced, SWEEPS, Swept};
use crate::{Condition, EvalError, VarId};

/// Holds what a box does not say of a condition yet. A copy is cheap.
#[derive(Clone, Debug)]
pub struct Conjunction {
    parts: Vec<Part>,
    /// The box of the latest narrowing.
    seen: Option<IntBox>,
}

#[derive(Clone, Debug)]
struct Part {
    conjunct: Rc<Conjunct>,
    /// True if it came after the latest narrowing.
    is_new: bool,
}

#[derive(Debug)]
struct Conjunct {
    condition: Condition,
    variables: OnceCell<Vec<usize>>,
}

impl Part {
    fn new(condition: &Condition) -> Self {
        let conjunct = Conjunct { condition: condition.clone(), variables: OnceCell::new() };
        Self { conjunct: Rc::new(conjunct), is_new: true }
    }

    fn condition(&self) -> &Condition {
        &self.conjunct.condition
    }

    fn variables(&self) -> &[usize] {
        let conjunct = &self.conjunct;
        conjunct
            .variables
            .get_or_init(|| conjunct.condition.variables().into_iter().map(VarId::index).collect())
    }
}

impl From<&Condition> for Conjunction {
    fn from(condition: &Condition) -> Self {
        Self::from_iter([condition])
    }
}

impl<'c> FromIterator<&'c Condition> for Conjunction {
    fn from_iter<I: IntoIterator<Item = &'c Condition>>(conditions: I) -> Self {
        let parts = conditions.into_iter().flat_map(Condition::conjuncts).map(Part::new);
        Self { parts: parts.collect(), seen: None }
    }
}

impl Conjunction {
    /// Adds the conjuncts of a condition.
    pub fn add(&mut self, condition: &Condition) {
        self.parts.extend(condition.conjuncts().iter().map(Part::new));
    }

    /// The conjuncts that are left.
    pub fn conditions(&self) -> impl Iterator<Item = &Condition> {
        self.parts.iter().map(Part::condition)
    }

    /// Returns whether the box says everything.
    #[must_use]
    pub fn is_true(&self) -> bool {
        self.parts.is_empty()
    }

    /// The first conjunct, and the variables that it reads.
    pub(crate) fn first(&self) -> Option<(&Condition, &[usize])> {
        self.parts.first().map(|part| (part.condition(), part.variables()))
    }

    /// The same without its first conjunct.
    pub(crate) fn without_first(mut self) -> Self {
        self.parts.remove(0);
        self
    }

    /// Returns whether it holds at a point.
    pub(crate) fn holds(&self, point: &[i64]) -> Result<bool, EvalError> {
        let mut undefined = None;
        for condition in self.conditions() {
            match condition.holds(point) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => undefined = undefined.or(Some(error)),
            }
        }
        undefined.map_or(Ok(true), Err)
    }

    /// Shrinks a box without losing a point that satisfies the conjunction, and drops the parts that it
    /// decides then. False if no point is left. The box must be a part of the one of the call before.
    pub fn narrow(&mut self, sides: &mut IntBox) -> bool {
        let mut stamps = Stamps::new(self, sides);
        !sides.is_empty() && self.tighten(sides, &mut stamps) && self.reduce(sides, &stamps.swept)
    }

    /// Propagates bounds, to a fixpoint or a cap. False if no point is left.
    fn tighten(&self, sides: &mut IntBox, stamps: &mut Stamps) -> bool {
        let mut before: Vec<IntInterval> = Vec::with_capacity(sides.dimensions());
        before.extend_from_slice(sides.sides());
        for _ in 0..SWEEPS {
            let mut calm = true;
            for (i, part) in self.parts.iter().enumerate() {
                if !stamps.is_due(i, part) {
                    continue;
                }
                stamps.swept[i] = stamps.now;
                match part.condition().sweep(sides) {
                    Swept::Nothing => continue,
                    Swept::Smaller => calm = false,
                    Swept::Empty => return false,
                }
                stamps.now += 1;
                for (d, (before, side)) in before.iter_mut().zip(sides.sides()).enumerate() {
                    if before != side {
                        *before = *side;
                        stamps.changed[d] = stamps.now;
                    }
                }
            }
            if calm {
                break;
            }
        }
        true
    }

    /// Leaves out what the box decides, in the parts that were swept. False if no point is left.
    fn reduce(&mut self, sides: &IntBox, swept: &[u32]) -> bool {
        let mut left = Vec::with_capacity(self.parts.len());
        for (part, &swept) in self.parts.drain(..).zip(swept) {
            if swept == 0 {
                left.push(part);
                continue;
            }
            match part.condition().reduced_in(sides) {
                Reduced::False => return false,
                Reduced::True => {}
                Reduced::Little => left.push(Part { is_new: false, ..part }),
                // Sweeping its conjuncts would change nothing, since sweeping it did not.
                Reduced::To(reduced) => left.extend(
                    reduced
                        .conjuncts()
                        .iter()
                        .map(|part| Part { is_new: false, ..Part::new(part) }),
                ),
            }
        }
        self.parts = left;
        self.seen = Some(sides.clone());
        true
    }
}

/// When sides changed and conjuncts were swept, in steps of time.
struct Stamps {
    now: u32,
    /// By dimension.
    changed: Vec<u32>,
    /// By conjunct; 0 for one that was not.
    swept: Vec<u32>,
}

impl Stamps {
    fn new(conjunction: &Conjunction, sides: &IntBox) -> Self {
        let seen = conjunction.seen.as_ref();
        let changed =
            |(d, side): (usize, &IntInterval)| u32::from(seen.is_none_or(|s| s[d] != *side));
        Self {
            now: 1,
            changed: sides.sides().iter().enumerate().map(changed).collect(),
            swept: vec![0; conjunction.parts.len()],
        }
    }

    /// Returns whether a conjunct has to be swept: it is new, or a side of its variables has
    /// changed since.
    fn is_due(&self, i: usize, part: &Part) -> bool {
        part.is_new && self.swept[i] == 0
            || part.variables().iter().any(|&d| self.changed[d] > self.swept[i])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BinaryOp, Expr};

    fn le(a: Expr, b: Expr) -> Condition {
        Condition::from_expr(&Expr::binary(BinaryOp::Le, a, b))
    }

    #[test]
    fn what_is_added_later_narrows_as_if_it_had_been_there() {
        let x = |d| Expr::Var(VarId(d));
        let sum = Expr::binary(BinaryOp::Add, x(0), x(1));
        let either = Condition::or([
            Condition::and([le(x(2), Expr::int(3)), le(x(0), Expr::int(1))]),
            Condition::and([le(Expr::int(7), x(2)), le(Expr::int(6), x(1))]),
        ]);
        let all = Condition::and([either, le(Expr::int(8), sum), le(x(1), x(2))]);
        let domains = IntBox::new(vec![IntInterval::new(0, 9); 3]);
        for value in 0..=9 {
            for later in [le(x(2), Expr::int(value)), le(Expr::int(value), x(2))] {
                let (mut step, mut sides) = (Conjunction::from(&all), domains.clone());
                assert!(step.narrow(&mut sides));
                step.add(&later);
                let any = step.narrow(&mut sides);
                let mut whole = Conjunction::from(&Condition::and([all.clone(), later.clone()]));
                let mut expected = domains.clone();
                assert_eq!(any, whole.narrow(&mut expected), "{later:?}");
                if any {
                    assert_eq!(sides, expected, "{later:?}");
                }
                // No point is lost, and what is left says the same.
                for point in (0..1000).map(|n| [n / 100, n / 10 % 10, n % 10]) {
                    let holds = all.holds(&point) == Ok(true) && later.holds(&point) == Ok(true);
                    let kept = any && sides.contains(&point) && step.holds(&point) == Ok(true);
                    assert_eq!(kept, holds, "{later:?} {point:?}");
                }
            }
        }
    }
}
