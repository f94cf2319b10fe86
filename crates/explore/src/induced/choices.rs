//! Distributions of operators, and the choices of a state that wait to be stored.

use policert_engine_api::EngineError;
use policert_mdp::{DistributionId, MdpBuilder, ProbabilityId};
use policert_model::{OpId, Operator, Probability};

/// The probabilities of the outcomes of operators.
#[derive(Debug, Default)]
pub(super) struct Probabilities {
    /// By operator; `None` where they depend on the state, or were not needed yet.
    shapes: Vec<Option<Shape>>,
    /// The one that depends on the state.
    current: Shape,
}

/// The probabilities of the outcomes of an operator in a state.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    pub entries: Vec<ProbabilityId>,
    /// As one distribution, if there is one successor for each outcome.
    pub distribution: Option<DistributionId>,
}

impl Probabilities {
    /// The probabilities of an operator in a state.
    pub(super) fn shape(
        &mut self,
        id: OpId,
        operator: &Operator,
        state: &[i64],
        builder: &mut MdpBuilder,
    ) -> Result<&Shape, EngineError> {
        if self.shapes.len() <= id.index() {
            self.shapes.resize(id.index() + 1, None);
        }
        if self.shapes[id.index()].is_none() {
            let shape = shape(operator, state, builder)?;
            let constant =
                |d: &policert_model::Destination| matches!(d.probability, Probability::Constant(_));
            if operator.destinations.iter().all(constant) {
                self.shapes[id.index()] = Some(shape);
            } else {
                self.current = shape;
            }
        }
        Ok(self.shapes[id.index()].as_ref().unwrap_or(&self.current))
    }
}

fn shape(
    operator: &Operator,
    state: &[i64],
    builder: &mut MdpBuilder,
) -> Result<Shape, EngineError> {
    let mut entries = Vec::with_capacity(operator.destinations.len());
    let mut positive = true;
    for destination in &operator.destinations {
        let p = match &destination.probability {
            Probability::Constant(p) => builder.probability(p),
            Probability::Expr(expr) => {
                let p = expr.eval(state).map_err(|error| {
                    EngineError::Internal(format!("a probability without value: {error}"))
                })?;
                positive &= !p.is_zero();
                builder.probability(&p)
            }
        };
        entries.push(p);
    }
    let distribution = positive.then(|| builder.distribution(&entries));
    Ok(Shape { entries, distribution })
}

/// Choices that wait, with the positions of their successors.
#[derive(Debug, Default)]
pub(super) struct PendingChoices {
    list: Vec<PendingChoice>,
    /// (Position of the successor, probability).
    outcomes: Vec<(u32, ProbabilityId)>,
}

/// A choice that waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingChoice {
    /// The end of its outcomes.
    end: usize,
    /// Its distribution, if its outcomes have different successors.
    pub distribution: Option<DistributionId>,
}

/// The greatest number of choices that a single operator may make in a state by values that it
/// chooses freely.
pub(super) const MOST_CHOICES: usize = 1 << 20;

impl PendingChoices {
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
        self.outcomes.clear();
    }

    /// A choice and its outcomes.
    pub(super) fn get(&self, at: usize) -> (PendingChoice, &[(u32, ProbabilityId)]) {
        let start = if at == 0 { 0 } else { self.list[at - 1].end };
        (self.list[at], &self.outcomes[start..self.list[at].end])
    }

    /// Adds a choice with these outcomes.
    pub(super) fn push_outcomes(
        &mut self,
        outcomes: impl IntoIterator<Item = (u32, ProbabilityId)>,
    ) {
        self.outcomes.extend(outcomes);
        self.list.push(PendingChoice { end: self.outcomes.len(), distribution: None });
    }

    /// Adds the choices of an operator, whose outcomes end at `ends` of its successors; the first of
    /// these has the position `first`.
    pub(super) fn push(
        &mut self,
        first: usize,
        shape: &Shape,
        ends: &[usize],
    ) -> Result<(), EngineError> {
        let first = place(first)?;
        let count = ends.last().copied().unwrap_or(0);
        let starts = || std::iter::once(0).chain(ends.iter().copied());
        let sizes = || starts().zip(ends).map(|(start, &end)| end - start);
        if sizes().all(|size| size <= 1) {
            for ((start, &end), &p) in starts().zip(ends).zip(&shape.entries) {
                if start < end {
                    self.outcomes.push((first + place(start)?, p));
                }
            }
            let whole = count == shape.entries.len();
            let distribution = shape.distribution.filter(|_| whole);
            self.list.push(PendingChoice { end: self.outcomes.len(), distribution });
            return Ok(());
        }
        let product = sizes().try_fold(1usize, |n, size| n.checked_mul(size.max(1)));
        if product.is_none_or(|product| product > MOST_CHOICES) {
            return Err(EngineError::Unsupported(format!(
                "an operator that chooses values freely in {} outcomes, in too many combinations",
                ends.len()
            )));
        }
        let sizes: Vec<usize> = sizes().collect();
        let mut picked = vec![0usize; sizes.len()];
        loop {
            for (((start, size), pick), &p) in starts().zip(&sizes).zip(&picked).zip(&shape.entries)
            {
                if *size > 0 {
                    self.outcomes.push((first + place(start + pick)?, p));
                }
            }
            self.list.push(PendingChoice { end: self.outcomes.len(), distribution: None });
            let Some(next) = (0..sizes.len()).find(|&i| picked[i] + 1 < sizes[i]) else {
                return Ok(());
            };
            picked[next] += 1;
            picked[..next].fill(0);
        }
    }
}

fn place(at: usize) -> Result<u32, EngineError> {
    u32::try_from(at).map_err(|_| EngineError::Unsupported("too many successors".to_owned()))
}
