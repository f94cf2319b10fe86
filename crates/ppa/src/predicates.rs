//! The predicate set 𝒫: literals, projection of states, concretisation of abstract states.

use policert_engine_api::EngineError;
use policert_model::{Condition, Model, Predicate, Truth, VarId};
use policert_numeric::{IntBox, IntInterval};

use crate::atoms::atoms;
use crate::{AbstractState, Layout, PredId, Region};

/// The predicates with both of their literals.
#[derive(Clone, Debug)]
pub struct PredicateSet {
    literals: Vec<[Condition; 2]>,
    /// For predicates that bound one variable: the variable, and where the literals hold.
    bounds: Vec<Option<(VarId, [IntInterval; 2])>>,
    layout: Layout,
    domains: IntBox,
}

impl PredicateSet {
    /// Reads the predicates of a property.
    ///
    /// # Errors
    /// A predicate that may have no truth value in some state, and a variable without bounds:
    /// unsupported.
    pub fn new(model: &Model, predicates: &[Predicate]) -> Result<Self, EngineError> {
        let domains = model.domains();
        if let Some(v) = model.variables.iter().find(|v| !v.domain.is_bounded()) {
            return Err(EngineError::Unsupported(format!(
                "predicate abstraction needs both bounds of variable {}",
                v.name
            )));
        }
        let mut set = Self {
            literals: Vec::with_capacity(predicates.len()),
            bounds: Vec::with_capacity(predicates.len()),
            layout: Layout::new(model, predicates.len()),
            domains,
        };
        for predicate in predicates {
            set.insert(&predicate.condition, &predicate.text)?;
        }
        Ok(set)
    }

    /// Adds predicates. Abstract states of the set before have another layout.
    ///
    /// # Errors
    /// As [`PredicateSet::new`].
    pub fn extend(&mut self, model: &Model, predicates: &[Predicate]) -> Result<(), EngineError> {
        for predicate in predicates {
            self.insert(&predicate.condition, &predicate.text)?;
        }
        self.layout = Layout::new(model, self.literals.len());
        Ok(())
    }

    fn insert(&mut self, condition: &Condition, text: &str) -> Result<(), EngineError> {
        require_total(condition, &self.domains, text)?;
        let literals = [condition.negate(), condition.clone()];
        self.bounds.push(as_bounds(&literals));
        self.literals.push(literals);
        Ok(())
    }

    /// Returns whether a condition is a literal of some predicate.
    #[must_use]
    pub fn tells(&self, condition: &Condition) -> bool {
        self.literals.iter().any(|literals| literals.contains(condition))
    }

    /// Returns whether a condition can be a predicate that says something: it is about states
    /// alone, has a truth value in each, not the same in all, and is not decided by the locations.
    pub(crate) fn is_candidate(&self, atom: &Condition) -> bool {
        let (domains, locations) = (&self.domains, self.layout.locations());
        let variables = atom.variables();
        variables.iter().all(|v| v.index() < domains.dimensions())
            && !variables.iter().all(|v| locations.contains(v))
            && atom.truth(domains) == Truth::Maybe
            && require_total(atom, domains, "").is_ok()
    }

    /// The atoms of a condition that can be predicates.
    pub(crate) fn candidates(&self, condition: &Condition) -> Vec<Condition> {
        let mut found = Vec::new();
        atoms(condition, &mut found);
        found.retain(|atom| self.is_candidate(atom));
        found
    }

    /// Number of predicates.
    #[must_use]
    pub fn len(&self) -> usize {
        self.literals.len()
    }

    /// Returns whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.literals.is_empty()
    }

    /// The ids in order.
    pub fn ids(&self) -> impl Iterator<Item = PredId> + use<> {
        (0..u32::try_from(self.literals.len()).unwrap_or(u32::MAX)).map(PredId)
    }

    /// The condition that the predicate has the truth value `value`.
    #[must_use]
    pub fn literal(&self, predicate: PredId, value: bool) -> &Condition {
        &self.literals[predicate.index()][usize::from(value)]
    }

    /// Returns how abstract states are laid out.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The box of all states.
    #[must_use]
    pub fn domains(&self) -> &IntBox {
        &self.domains
    }

    /// s|𝒫: the abstraction of a state.
    #[must_use]
    pub fn project(&self, state: &[i64]) -> AbstractState {
        let mut result = self.layout.blank();
        for p in self.ids() {
            let value = match &self.bounds[p.index()] {
                Some((v, [_, holds])) => holds.contains(state[v.index()]),
                None => self.literal(p, true).holds(state) == Ok(true),
            };
            result.set(p, value);
        }
        for (k, location) in self.layout.locations().iter().enumerate() {
            self.layout.set_location(&mut result, k, state[location.index()]);
        }
        result
    }

    /// The concretisation \[s_𝒫\]: the states that an abstract state stands for.
    #[must_use]
    pub fn concretisation(&self, state: &AbstractState) -> Region<'_> {
        let mut sides = self.domains.clone();
        for (k, location) in self.layout.locations().iter().enumerate() {
            sides[location.index()] = IntInterval::point(self.layout.location(state, k));
        }
        let mut others = Vec::new();
        for p in self.ids() {
            let value = state.get(p);
            match &self.bounds[p.index()] {
                Some((v, literals)) => {
                    let side = &mut sides[v.index()];
                    *side = side.intersect(literals[usize::from(value)]);
                }
                None => others.push(self.literal(p, value)),
            }
        }
        if sides.is_empty() {
            others.clear();
        }
        Region::new(sides, others)
    }
}

/// The variable that both literals of a predicate bound, and where they hold.
fn as_bounds(literals: &[Condition; 2]) -> Option<(VarId, [IntInterval; 2])> {
    match literals {
        [Condition::Linear(negative), Condition::Linear(positive)] => {
            let ((v, no), (w, yes)) = (negative.as_bound()?, positive.as_bound()?);
            (v == w).then_some((v, [no, yes]))
        }
        _ => None,
    }
}

/// Refuses a condition that may have no truth value somewhere in `domains`.
pub(crate) fn require_total(
    condition: &Condition,
    domains: &IntBox,
    text: &str,
) -> Result<(), EngineError> {
    if condition.is_total(domains) {
        Ok(())
    } else {
        Err(EngineError::Unsupported(format!(
            "`{text}` may have no truth value in some state (a cell that does not exist or a \
             division by zero)"
        )))
    }
}
