//! Composition on demand: the operators of the edges that are enabled in a state, and no others.

use policert_engine_api::EngineError;
use policert_model::{
    Composer, DomainRule, InstanceId, LabelId, Model, ModelSemantics, OpId, Operator, OperatorKey,
};
use rustc_hash::FxHashMap;

use crate::compiled::CompiledOperator;
use crate::enabled_edges::{EdgeId, Enabled, EnabledEdges};
use crate::label_set::LabelSet;

/// The operators of a model, composed and compiled when they are first enabled.
#[derive(Debug)]
pub(crate) struct LazyOperators<'m> {
    model: &'m Model,
    semantics: ModelSemantics<'m>,
    edges: EnabledEdges,
    /// By edge: what it takes part in.
    roles: Vec<Role>,
    vectors: Vec<Vector>,
    /// By slot: the vectors whose first participant it is.
    vectors_of: Vec<Vec<u32>>,
    composer: Composer<'m>,
    compiled: Vec<CompiledOperator>,
    /// By silent edge, [`NOT_COMPOSED`] at first.
    silent: Vec<u32>,
    /// By vector and edges, for vectors with too many operators for a table.
    sparse: FxHashMap<Box<[u32]>, u32>,
    slots: Slots,
    /// Buffers of what runs through the operators of one vector.
    product_at: Vec<usize>,
    product_choices: Vec<(u32, EdgeId)>,
    key: Vec<u32>,
}

/// Says what an edge does: it runs alone, or it is one choice of an (instance, action).
#[derive(Clone, Copy, Debug)]
enum Role {
    Silent,
    Labelled { slot: u32, choice: u32 },
}

/// A synchronisation vector.
#[derive(Debug)]
struct Vector {
    label: Option<LabelId>,
    /// The slots of the participants.
    slots: Vec<u32>,
    /// By mixed-radix number of the participants' choices; empty while unused.
    dense: Vec<u32>,
    /// Number of operators, if they get a table.
    count: Option<usize>,
    /// Choices of each participant.
    sizes: Vec<u32>,
}

/// The enabled choices of each (instance, action) in the current state.
#[derive(Debug, Default)]
struct Slots {
    choices: Vec<Vec<(u32, EdgeId)>>,
    touched: Vec<u32>,
    silent: Vec<EdgeId>,
}

const NOT_COMPOSED: u32 = u32::MAX;
/// The greatest number of operators for which a vector has a table.
const DENSE: usize = 1 << 12;

impl<'m> LazyOperators<'m> {
    /// The operators of the semantics' model.
    pub(crate) fn new(semantics: ModelSemantics<'m>) -> Self {
        let model = semantics.model;
        let mut slot_of: FxHashMap<(InstanceId, LabelId), u32> = FxHashMap::default();
        let mut vectors = Vec::new();
        for vector in &model.vectors {
            let mut slots = Vec::new();
            for &participant in &vector.participants {
                let next = u32::try_from(slot_of.len()).unwrap_or(u32::MAX);
                slots.push(*slot_of.entry(participant).or_insert(next));
            }
            let (label, dense) = (vector.result, Vec::new());
            vectors.push(Vector { label, slots, dense, count: None, sizes: Vec::new() });
        }
        let action = |i: InstanceId, e: u32| model.instance(i).edges[e as usize].action;
        let edges = EnabledEdges::new(model, semantics.rule, |instance, edge| {
            action(instance, edge).is_none_or(|a| slot_of.contains_key(&(instance, a)))
        });
        let mut sizes = vec![0u32; slot_of.len()];
        let mut roles = Vec::new();
        for edge in edges.edges() {
            roles.push(match action(edge.instance, edge.position) {
                None => Role::Silent,
                Some(action) => {
                    let slot = slot_of[&(edge.instance, action)];
                    let choice = sizes[slot as usize];
                    sizes[slot as usize] += 1;
                    Role::Labelled { slot, choice }
                }
            });
        }
        let mut vectors_of = vec![Vec::new(); slot_of.len()];
        for (vector, v) in vectors.iter_mut().zip(0u32..) {
            vector.sizes = vector.slots.iter().map(|&s| sizes[s as usize]).collect();
            let count = vector.sizes.iter().try_fold(1usize, |n, &s| n.checked_mul(s as usize));
            vector.count = count.filter(|&count| count <= DENSE);
            if let Some(&first) = vector.slots.first() {
                vectors_of[first as usize].push(v);
            }
        }
        let slots = Slots { choices: vec![Vec::new(); slot_of.len()], ..Slots::default() };
        let silent = vec![NOT_COMPOSED; edges.edges().len()];
        Self {
            model,
            semantics,
            edges,
            roles,
            vectors,
            vectors_of,
            composer: Composer::new(model),
            compiled: Vec::new(),
            silent,
            sparse: FxHashMap::default(),
            slots,
            product_at: Vec::new(),
            product_choices: Vec::new(),
            key: Vec::new(),
        }
    }

    /// Finds the edges enabled in `state`.
    ///
    /// # Errors
    /// A guard of an operator that has no truth value, under [`DomainRule::Error`].
    pub(crate) fn enabled_edges(
        &mut self,
        state: &[i64],
        enabled: &mut Enabled,
    ) -> Result<(), EngineError> {
        self.edges.find(state, enabled);
        if self.semantics.rule == DomainRule::Error && !enabled.undefined.is_empty() {
            self.check_undefined(state, enabled)?;
        }
        Ok(())
    }

    /// An operator without truth value is one whose participants are all enabled or without
    /// truth value.
    #[cold]
    fn check_undefined(&mut self, state: &[i64], enabled: &Enabled) -> Result<(), EngineError> {
        let mut all = enabled.edges.clone();
        all.extend(&enabled.undefined);
        let mut operators = Vec::new();
        self.operators(&all, None, &mut operators)?;
        for id in operators {
            self.semantics.is_enabled(self.composer.operator(id), state)?;
        }
        Ok(())
    }

    /// Finds the labels of the operators of the enabled edges that are in `wanted`; one may come
    /// several times.
    pub(crate) fn applicable(
        &mut self,
        enabled: &[EdgeId],
        wanted: LabelSet<'_>,
        mut found: impl FnMut(LabelId),
    ) {
        self.slots.fill(enabled, &self.roles);
        for &slot in &self.slots.touched {
            for &v in &self.vectors_of[slot as usize] {
                let vector = &self.vectors[v as usize];
                if let Some(label) = vector.label
                    && wanted.contains(label)
                    && self.slots.serve(vector)
                {
                    found(label);
                }
            }
        }
    }

    /// The operators of the enabled edges: silent ones first. Those with a label only if it is
    /// in `allowed`, where that is given.
    ///
    /// # Errors
    /// An operator that cannot be composed.
    pub(crate) fn operators(
        &mut self,
        enabled: &[EdgeId],
        allowed: Option<LabelSet<'_>>,
        operators: &mut Vec<OpId>,
    ) -> Result<(), EngineError> {
        operators.clear();
        let mut slots = std::mem::take(&mut self.slots);
        slots.fill(enabled, &self.roles);
        let result = self.products(&slots, allowed, operators);
        self.slots = slots;
        result
    }

    fn products(
        &mut self,
        slots: &Slots,
        allowed: Option<LabelSet<'_>>,
        operators: &mut Vec<OpId>,
    ) -> Result<(), EngineError> {
        for &edge in &slots.silent {
            operators.push(match self.silent[edge.index()] {
                NOT_COMPOSED => self.compose_silent(edge)?,
                id => OpId(id),
            });
        }
        for &slot in &slots.touched {
            for v in 0..self.vectors_of[slot as usize].len() {
                let v = self.vectors_of[slot as usize][v];
                let vector = &self.vectors[v as usize];
                let wanted = match (vector.label, allowed) {
                    (Some(label), Some(allowed)) => allowed.contains(label),
                    _ => true,
                };
                if !wanted || !slots.serve(vector) {
                    continue;
                }
                if let ([slot], Some(_)) = (&vector.slots[..], vector.count) {
                    for choice in &slots.choices[*slot as usize] {
                        operators.push(self.joint(v, &[*choice])?);
                    }
                } else {
                    self.product(v, slots, operators)?;
                }
            }
        }
        Ok(())
    }

    /// All choices of the participants, the last one fastest.
    fn product(
        &mut self,
        v: u32,
        slots: &Slots,
        operators: &mut Vec<OpId>,
    ) -> Result<(), EngineError> {
        let mut at = std::mem::take(&mut self.product_at);
        at.clear();
        at.resize(self.vectors[v as usize].slots.len(), 0);
        loop {
            let mut choices = std::mem::take(&mut self.product_choices);
            choices.clear();
            let participants = self.vectors[v as usize].slots.iter().zip(&at);
            choices.extend(participants.map(|(&slot, &at)| slots.choices[slot as usize][at]));
            let operator = self.joint(v, &choices);
            self.product_choices = choices;
            operators.push(operator?);
            // Counts up in a mixed radix.
            let next =
                self.vectors[v as usize].slots.iter().zip(&mut at).rev().any(|(&slot, at)| {
                    *at = (*at + 1) % slots.choices[slot as usize].len();
                    *at != 0
                });
            if !next {
                break;
            }
        }
        self.product_at = at;
        Ok(())
    }

    /// The operator of a vector and the participants' edges.
    fn joint(&mut self, v: u32, choices: &[(u32, EdgeId)]) -> Result<OpId, EngineError> {
        let vector = &mut self.vectors[v as usize];
        if let Some(count) = vector.count {
            if vector.dense.is_empty() {
                vector.dense.resize(count, NOT_COMPOSED);
            }
            let sizes = vector.sizes.iter().map(|&s| s as usize);
            let index = choices.iter().zip(sizes).fold(0, |n, (c, size)| n * size + c.0 as usize);
            if vector.dense[index] != NOT_COMPOSED {
                return Ok(OpId(vector.dense[index]));
            }
            let id = self.compose(Some(v), choices.iter().map(|c| c.1))?;
            self.vectors[v as usize].dense[index] = id.0;
            return Ok(id);
        }
        self.key.clear();
        self.key.push(v);
        self.key.extend(choices.iter().map(|c| c.0));
        if let Some(&id) = self.sparse.get(&self.key[..]) {
            return Ok(OpId(id));
        }
        let id = self.compose(Some(v), choices.iter().map(|c| c.1))?;
        self.sparse.insert(self.key.as_slice().into(), id.0);
        Ok(id)
    }

    #[cold]
    fn compose_silent(&mut self, edge: EdgeId) -> Result<OpId, EngineError> {
        let id = self.compose(None, std::iter::once(edge))?;
        self.silent[edge.index()] = id.0;
        Ok(id)
    }

    #[cold]
    fn compose(
        &mut self,
        vector: Option<u32>,
        edges: impl Iterator<Item = EdgeId>,
    ) -> Result<OpId, EngineError> {
        let all = self.edges.edges();
        let edges = edges.map(|e| (all[e.index()].instance, all[e.index()].position)).collect();
        let id = self.composer.compose(&OperatorKey { vector, edges })?;
        if id.index() == self.compiled.len() {
            self.compiled.push(CompiledOperator::new(self.composer.operator(id), self.model));
        }
        Ok(id)
    }

    /// An operator that was composed.
    pub(crate) fn operator(&self, id: OpId) -> &Operator {
        self.composer.operator(id)
    }

    /// An operator that was composed, and its compiled form.
    #[inline]
    pub(crate) fn compiled(&self, id: OpId) -> (&Operator, &CompiledOperator) {
        (self.composer.operator(id), &self.compiled[id.index()])
    }

    /// Number of operators composed so far.
    pub(crate) fn composed(&self) -> usize {
        self.compiled.len()
    }
}

impl Slots {
    /// Sorts enabled edges by what they take part in.
    #[inline]
    fn fill(&mut self, enabled: &[EdgeId], roles: &[Role]) {
        for slot in self.touched.drain(..) {
            self.choices[slot as usize].clear();
        }
        self.silent.clear();
        for &edge in enabled {
            match roles[edge.index()] {
                Role::Silent => self.silent.push(edge),
                Role::Labelled { slot, choice } => {
                    let choices = &mut self.choices[slot as usize];
                    if choices.is_empty() {
                        self.touched.push(slot);
                    }
                    choices.push((choice, edge));
                }
            }
        }
    }

    /// Returns whether every participant has an enabled edge.
    #[inline]
    fn serve(&self, vector: &Vector) -> bool {
        vector.slots.iter().all(|&slot| !self.choices[slot as usize].is_empty())
    }
}
