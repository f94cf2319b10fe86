//! Which edges are enabled in a state, by instance and source location.
//!
//! The edges of one location share an index: for each variable with a small domain, and each of
//! its values, the set of edges whose conditions on that variable alone hold, as bits. The
//! intersection over the variables leaves few edges, whose other conditions are evaluated.

use policert_model::{Condition, DomainRule, InstanceId, Model, VarId};
use policert_numeric::IntBox;

use crate::compiled::{CompiledCondition, Kleene};

/// An edge that may fire: index into [`EnabledEdges::edges`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct EdgeId(pub(crate) u32);

impl EdgeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// An edge of an instance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EdgeRef {
    pub(crate) instance: InstanceId,
    /// Its position in [`policert_model::AutomatonInstance::edges`].
    pub(crate) position: u32,
}

/// The edges of a model that may fire, indexed.
#[derive(Debug)]
pub(crate) struct EnabledEdges {
    edges: Vec<EdgeRef>,
    instances: Vec<InstanceEdges>,
}

#[derive(Debug)]
struct InstanceEdges {
    location: usize,
    /// The value of the first group's location.
    first: i64,
    groups: Vec<EdgeGroup>,
}

/// The edges of one instance in one location.
#[derive(Debug, Default)]
struct EdgeGroup {
    /// Number of words of a set of edges.
    words: usize,
    variables: Vec<VariableIndex>,
    edges: Vec<(EdgeId, Option<CompiledCondition>)>,
}

/// For each value of a variable the edges whose conditions on it alone hold.
#[derive(Debug)]
struct VariableIndex {
    variable: usize,
    first: i64,
    sets: Vec<u64>,
}

/// The greatest number of values of a variable that is indexed.
const INDEXED_VALUES: u128 = 1 << 12;
/// The greatest size of one variable's index, in words.
const INDEXED_WORDS: u128 = 1 << 18;

/// The edges enabled in a state.
#[derive(Debug, Default)]
pub(crate) struct Enabled {
    /// Edges whose guard holds, by instance, in the order of the file.
    pub(crate) edges: Vec<EdgeId>,
    /// Edges whose guard has no truth value, where that is an error.
    pub(crate) undefined: Vec<EdgeId>,
    set: Vec<u64>,
}

impl EnabledEdges {
    /// Indexes the edges of `model` for which `fires` holds: (instance, position).
    pub(crate) fn new(
        model: &Model,
        rule: DomainRule,
        fires: impl Fn(InstanceId, u32) -> bool,
    ) -> Self {
        let domains = model.domains();
        let mut edges = Vec::new();
        let mut instances = Vec::new();
        for (i, instance) in model.instances.iter().enumerate() {
            let id = InstanceId::new(i);
            let side = domains[instance.location.index()];
            let mut guards: Vec<Vec<(EdgeId, &Condition)>> = Vec::new();
            for (edge, position) in instance.edges.iter().zip(0u32..) {
                let group = edge.source.checked_sub(side.lo).and_then(|g| usize::try_from(g).ok());
                let Some(group) = group.filter(|_| side.contains(edge.source)) else { continue };
                if !fires(id, position) {
                    continue;
                }
                if guards.len() <= group {
                    guards.resize_with(group + 1, Vec::new);
                }
                guards[group].push((EdgeId(u32_of(edges.len())), &edge.guard));
                edges.push(EdgeRef { instance: id, position });
            }
            let groups = guards.iter().map(|g| EdgeGroup::new(g, &domains, rule)).collect();
            instances.push(InstanceEdges {
                location: instance.location.index(),
                first: side.lo,
                groups,
            });
        }
        Self { edges, instances }
    }

    /// All edges that may fire.
    pub(crate) fn edges(&self) -> &[EdgeRef] {
        &self.edges
    }

    /// Finds the edges enabled in `state`.
    #[inline]
    pub(crate) fn find(&self, state: &[i64], enabled: &mut Enabled) {
        enabled.edges.clear();
        enabled.undefined.clear();
        for instance in &self.instances {
            let group = state[instance.location].wrapping_sub(instance.first);
            if let Some(group) = usize::try_from(group).ok().and_then(|g| instance.groups.get(g)) {
                group.find(state, enabled);
            }
        }
    }
}

impl EdgeGroup {
    fn new(guards: &[(EdgeId, &Condition)], domains: &IntBox, rule: DomainRule) -> Self {
        let words = guards.len().div_ceil(64);
        let mut group = Self { words, ..Self::default() };
        for (bit, &(edge, guard)) in guards.iter().enumerate() {
            let mut rest = Vec::new();
            for conjunct in guard.conjuncts() {
                let values = single_variable(conjunct)
                    .and_then(|v| Some((v, truths(conjunct, v, domains, rule, words)?)));
                match values {
                    Some((variable, truths)) => {
                        group.index_of(variable, guards.len(), domains).keep(bit, words, &truths);
                    }
                    None => rest.push(conjunct.clone()),
                }
            }
            let rest = Condition::and(rest);
            let rest = (rest != Condition::True).then(|| CompiledCondition::new(&rest, domains));
            group.edges.push((edge, rest));
        }
        group
    }

    fn index_of(&mut self, variable: VarId, edges: usize, domains: &IntBox) -> &mut VariableIndex {
        let known = self.variables.iter().position(|v| v.variable == variable.index());
        let at = known.unwrap_or_else(|| {
            let side = domains[variable.index()];
            let values = usize::try_from(side.count().unwrap_or(0)).unwrap_or(0);
            let mut all = vec![u64::MAX; self.words];
            if !edges.is_multiple_of(64)
                && let Some(last) = all.last_mut()
            {
                *last = (1 << (edges % 64)) - 1;
            }
            let sets = all.repeat(values);
            self.variables.push(VariableIndex { variable: variable.index(), first: side.lo, sets });
            self.variables.len() - 1
        });
        &mut self.variables[at]
    }

    #[inline]
    fn find(&self, state: &[i64], enabled: &mut Enabled) {
        if self.words == 1 {
            let mut set = self.variables.iter().fold(u64::MAX, |set, v| set & v.sets(state, 1)[0]);
            if self.variables.is_empty() {
                set >>= 64 - self.edges.len();
            }
            self.check_word(0, set, state, enabled);
            return;
        }
        let mut set = std::mem::take(&mut enabled.set);
        set.clear();
        match self.variables.split_first() {
            None => {
                set.resize(self.words, u64::MAX);
                let spare = self.words * 64 - self.edges.len();
                if let Some(last) = set.last_mut() {
                    *last >>= spare;
                }
            }
            Some((first, others)) => {
                set.extend_from_slice(first.sets(state, self.words));
                for variable in others {
                    for (word, other) in set.iter_mut().zip(variable.sets(state, self.words)) {
                        *word &= other;
                    }
                }
            }
        }
        for (w, &word) in set.iter().enumerate() {
            self.check_word(w, word, state, enabled);
        }
        enabled.set = set;
    }

    /// Evaluates what is left of the guards of the edges in one word of a set.
    #[inline]
    fn check_word(&self, w: usize, mut set: u64, state: &[i64], enabled: &mut Enabled) {
        while set != 0 {
            let (edge, rest) = &self.edges[w * 64 + set.trailing_zeros() as usize];
            set &= set - 1;
            match rest.as_ref().map_or(Kleene::True, |rest| rest.truth(state)) {
                Kleene::True => enabled.edges.push(*edge),
                Kleene::False => {}
                Kleene::Undefined => enabled.undefined.push(*edge),
            }
        }
    }
}

impl VariableIndex {
    /// The set for the value in `state`.
    #[inline]
    fn sets(&self, state: &[i64], words: usize) -> &[u64] {
        let value = state[self.variable].wrapping_sub(self.first);
        let value = usize::try_from(value).unwrap_or(usize::MAX);
        &self.sets[value * words..][..words]
    }

    /// Removes an edge where a condition of it does not hold.
    fn keep(&mut self, bit: usize, words: usize, truths: &[bool]) {
        for (set, holds) in self.sets.chunks_exact_mut(words).zip(truths) {
            if !holds {
                set[bit / 64] &= !(1 << (bit % 64));
            }
        }
    }
}

/// The only variable of a condition.
fn single_variable(condition: &Condition) -> Option<VarId> {
    match condition.variables()[..] {
        [variable] => Some(variable),
        _ => None,
    }
}

/// Returns where a condition on one variable holds, by its values; `None` if it is not to be
/// indexed.
fn truths(
    condition: &Condition,
    variable: VarId,
    domains: &IntBox,
    rule: DomainRule,
    words: usize,
) -> Option<Vec<bool>> {
    let side = domains[variable.index()];
    let count = side.count()?;
    if count > INDEXED_VALUES || count * words as u128 > INDEXED_WORDS {
        return None;
    }
    let mut point = vec![0; domains.dimensions()];
    let mut truths = Vec::new();
    for value in side.lo..=side.hi {
        point[variable.index()] = value;
        match condition.holds(&point) {
            Ok(holds) => truths.push(holds),
            Err(_) if rule == DomainRule::Drop => truths.push(false),
            Err(_) => return None,
        }
    }
    Some(truths)
}

fn u32_of(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
