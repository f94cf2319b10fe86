//! The graph of the states that are met before the goal, and its cycles.

use std::collections::VecDeque;

/// A transition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Edge {
    pub target: u32,
    /// True if the policy certainly allows it.
    pub is_decided: bool,
    /// True if it does not depend on chance.
    pub is_sure: bool,
}

/// A path from a start state; the last state is that at `loop_from` again, or ends the run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Lasso {
    pub states: Vec<u32>,
    pub loop_from: Option<usize>,
}

/// A way to miss the goal that is not certain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct OpenMiss {
    pub state: u32,
    /// True if chance decides it, and no undecided choice does.
    pub is_chance: bool,
}

/// States by number, with their edges; states are finished in the order of their numbers.
#[derive(Debug, Default)]
pub(super) struct Graph {
    edges: Vec<Edge>,
    /// By state: the end of its edges.
    ends: Vec<usize>,
    starts: Vec<u32>,
    /// By state: whether it was found by decided choices so far, and from which state; its own
    /// number for start states.
    found_from: Vec<Option<u32>>,
    /// States in which a run may end, and whether it does so for sure if it comes there.
    open_ends: Vec<(u32, bool)>,
}

impl Graph {
    /// Returns whether the state was no start state before.
    pub fn add_start(&mut self, id: u32) -> bool {
        self.reserve(id);
        let is_new = self.found_from[id as usize].is_none();
        if is_new {
            self.found_from[id as usize] = Some(id);
            self.starts.push(id);
        }
        is_new
    }

    /// Finishes the next state with its edges; the number of different targets.
    pub fn finish(&mut self, edges: &[Edge]) -> u64 {
        let source = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        self.reserve(source);
        let is_certain = self.is_certain(source);
        for edge in edges {
            self.reserve(edge.target);
            let from = &mut self.found_from[edge.target as usize];
            if is_certain && edge.is_decided && from.is_none() {
                *from = Some(source);
            }
        }
        self.edges.extend_from_slice(edges);
        self.ends.push(self.edges.len());
        let mut targets: Vec<u32> = edges.iter().map(|edge| edge.target).collect();
        targets.sort_unstable();
        targets.dedup();
        targets.len() as u64
    }

    /// Returns whether a state was found by decided choices.
    pub fn is_certain(&self, id: u32) -> bool {
        self.found_from[id as usize].is_some()
    }

    /// Notes a state in which a run may end; `is_sure`: if it comes there.
    pub fn open_end(&mut self, id: u32, is_sure: bool) {
        self.open_ends.push((id, is_sure));
    }

    fn reserve(&mut self, id: u32) {
        if self.found_from.len() <= id as usize {
            self.found_from.resize(id as usize + 1, None);
        }
    }

    fn edges(&self, id: u32) -> &[Edge] {
        let at = id as usize;
        let Some(&end) = self.ends.get(at) else { return &[] };
        let start = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.edges[start..end]
    }

    /// The path by which a certain state was found.
    pub fn path_to(&self, id: u32) -> Lasso {
        let mut states = vec![id];
        let mut at = id;
        while let Some(from) = self.found_from[at as usize].filter(|&from| from != at) {
            states.push(from);
            at = from;
        }
        states.reverse();
        Lasso { states, loop_from: None }
    }

    /// A run by decided choices that ends, or goes round for ever without chance.
    pub fn sure_miss(&mut self) -> Option<Lasso> {
        self.find_certain();
        let ends = self.open_ends.iter().filter(|(_, is_sure)| *is_sure);
        if let Some((end, _)) = ends.into_iter().find(|(id, _)| self.is_certain(*id)) {
            return Some(self.path_to(*end));
        }
        let counts = |edge: &Edge| edge.is_decided && edge.is_sure;
        let on_the_way = self.endless(|id| self.is_certain(id), counts);
        let first = (0..self.ends.len()).find(|&id| on_the_way[id])?;
        // From there every state has a next one, so some state comes again.
        let mut at = u32::try_from(first).unwrap_or(u32::MAX);
        let mut seen = vec![false; self.ends.len()];
        while !std::mem::replace(&mut seen[at as usize], true) {
            let goes_on = |edge: &&Edge| counts(edge) && on_the_way[edge.target as usize];
            at = self.edges(at).iter().find(goes_on)?.target;
        }
        let round = self.shortest_cycle(at, counts, &on_the_way)?;
        let mut lasso = self.path_to(at);
        lasso.loop_from = Some(lasso.states.len() - 1);
        lasso.states.extend(round);
        Some(lasso)
    }

    /// Finds again which states decided choices reach: a state may have become certain after it was
    /// expanded.
    fn find_certain(&mut self) {
        let mut found_from = vec![None; self.found_from.len()];
        let mut queue: VecDeque<u32> = self.starts.iter().copied().collect();
        for &start in &self.starts {
            found_from[start as usize] = Some(start);
        }
        while let Some(id) = queue.pop_front() {
            for edge in self.edges(id).iter().filter(|edge| edge.is_decided) {
                if found_from[edge.target as usize].is_none() {
                    found_from[edge.target as usize] = Some(id);
                    queue.push_back(edge.target);
                }
            }
        }
        self.found_from = found_from;
    }

    /// The states from which one can go on for ever, by edges that count between states that do.
    fn endless(
        &self,
        state_counts: impl Fn(u32) -> bool,
        counts: impl Fn(&Edge) -> bool,
    ) -> Vec<bool> {
        let states = self.ends.len();
        let mut ways = vec![0u32; states];
        let mut sources: Vec<Vec<u32>> = vec![Vec::new(); states];
        for id in (0..states).map(|id| u32::try_from(id).unwrap_or(u32::MAX)) {
            for edge in self.edges(id).iter().filter(|edge| counts(edge)) {
                let inside = (edge.target as usize) < states && state_counts(edge.target);
                if inside && state_counts(id) {
                    ways[id as usize] += 1;
                    sources[edge.target as usize].push(id);
                }
            }
        }
        let mut ended: Vec<usize> = (0..states).filter(|&id| ways[id] == 0).collect();
        while let Some(id) = ended.pop() {
            for &source in &sources[id] {
                ways[source as usize] -= 1;
                if ways[source as usize] == 0 {
                    ended.push(source as usize);
                }
            }
        }
        ways.into_iter().map(|ways| ways > 0).collect()
    }

    /// By state, the greatest number of steps to a state without edges; there must be no cycle.
    pub fn ranks(&self) -> Vec<u32> {
        let states = self.ends.len();
        let mut ways = vec![0u32; states];
        let mut sources: Vec<Vec<u32>> = vec![Vec::new(); states];
        for id in (0..states).map(|id| u32::try_from(id).unwrap_or(u32::MAX)) {
            for edge in self.edges(id) {
                ways[id as usize] += 1;
                sources[edge.target as usize].push(id);
            }
        }
        let mut ranks = vec![0u32; states];
        let mut ended: Vec<usize> = (0..states).filter(|&id| ways[id] == 0).collect();
        while let Some(id) = ended.pop() {
            for &source in &sources[id] {
                let source = source as usize;
                ranks[source] = ranks[source].max(ranks[id] + 1);
                ways[source] -= 1;
                if ways[source] == 0 {
                    ended.push(source);
                }
            }
        }
        ranks
    }

    /// The states after `from` on a shortest way back to it.
    fn shortest_cycle(
        &self,
        from: u32,
        counts: impl Fn(&Edge) -> bool,
        inside: &[bool],
    ) -> Option<Vec<u32>> {
        let mut before: Vec<Option<u32>> = vec![None; self.ends.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(id) = queue.pop_front() {
            for edge in self.edges(id).iter().filter(|edge| counts(edge)) {
                let target = edge.target as usize;
                if !inside.get(target).is_some_and(|&inside| inside) || before[target].is_some() {
                    continue;
                }
                before[target] = Some(id);
                if edge.target == from {
                    let mut round = vec![from];
                    let mut at = id;
                    while at != from {
                        round.push(at);
                        at = before[at as usize]?;
                    }
                    round.reverse();
                    return Some(round);
                }
                queue.push_back(edge.target);
            }
        }
        None
    }

    /// A way to miss the goal, if chance and undecided choices may go any way.
    pub fn open_miss(&self) -> Option<OpenMiss> {
        if let Some(&(state, _)) = self.open_ends.first() {
            return Some(OpenMiss { state, is_chance: false });
        }
        let first = |endless: Vec<bool>| {
            let first = endless.iter().position(|&endless| endless);
            first.map(|id| u32::try_from(id).unwrap_or(u32::MAX))
        };
        let by_chance = first(self.endless(|id| self.is_certain(id), |edge| edge.is_decided));
        if let Some(state) = by_chance {
            return Some(OpenMiss { state, is_chance: true });
        }
        let any = first(self.endless(|_| true, |_| true));
        any.map(|state| OpenMiss { state, is_chance: false })
    }
}
