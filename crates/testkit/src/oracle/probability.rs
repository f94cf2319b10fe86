//! The exact probability of reaching an unsafe state, by improving policies with dense linear
//! equations.
//!
//! An outcome that is dropped is lost. A policy that nothing improves solves Bellman's equation,
//! whose least solution is the greatest probability; so it is best. For the least probability,
//! states from which some scheduler avoids unsafe ones are found first.

use std::collections::{BTreeMap, BTreeSet};

use policert_model::{LabelId, OperatorKey, State};
use policert_numeric::Rational;
use policert_policy::ChoiceRule;

use super::policy::drawn_labels;
use super::reachability::{NoAnswer, Oracle, Transition};

/// Successors with their probabilities; what they lack to 1 is lost.
pub type Distribution = Vec<(usize, Rational)>;

/// The reachable states with their choices; unsafe and terminal states have none.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DecisionProcess {
    pub states: Vec<State>,
    /// Those in which runs start.
    pub start: BTreeSet<usize>,
    /// Those that are unsafe.
    pub unsafe_states: BTreeSet<usize>,
    /// By state.
    pub choices: Vec<Vec<Distribution>>,
    /// True if an outcome was dropped somewhere: an operator without any other is no choice here.
    pub dropped: bool,
}

impl Oracle<'_> {
    /// The reachable states with their choices; `None` beyond `most` states.
    ///
    /// # Errors
    /// Fails if the model is wrong, or the policy's choice is undecided.
    pub fn decision_process(&self, most: usize) -> Result<Option<DecisionProcess>, NoAnswer> {
        let mut process = DecisionProcess::default();
        let mut numbers: BTreeMap<State, usize> = BTreeMap::new();
        for state in self.start_states() {
            let number = number(state, &mut process, &mut numbers);
            process.start.insert(number);
        }
        let mut next = 0;
        while next < process.states.len() {
            if process.states.len() > most {
                return Ok(None);
            }
            let state = process.states[next].clone();
            if self.question.is_unsafe(&state) {
                process.unsafe_states.insert(next);
            } else if !self.question.is_terminal(&state) {
                let expansion = self.expand(&state)?;
                process.dropped |= expansion.dropped;
                let mut by_operator: BTreeMap<OperatorKey, Vec<Transition>> = BTreeMap::new();
                for transition in expansion.transitions {
                    by_operator.entry(transition.operator.clone()).or_default().push(transition);
                }
                let mut of_labels: BTreeMap<LabelId, Vec<Distribution>> = BTreeMap::new();
                for transitions in by_operator.into_values() {
                    let label = transitions[0].label.filter(|label| self.draws(*label));
                    let choices = distributions(transitions, |state| {
                        number(state, &mut process, &mut numbers)
                    });
                    match label {
                        Some(label) => of_labels.entry(label).or_default().extend(choices),
                        None => process.choices[next].extend(choices),
                    }
                }
                if !of_labels.is_empty() {
                    process.choices[next].extend(self.mixtures(&state, &of_labels)?);
                }
            }
            next += 1;
        }
        Ok(Some(process))
    }
}

impl Oracle<'_> {
    /// Returns whether a label is one of a policy that draws.
    fn draws(&self, label: LabelId) -> bool {
        self.policy.is_some_and(|(policy, semantics)| {
            semantics.choice == ChoiceRule::Sample && policy.outputs.contains(&label)
        })
    }

    /// The choices in a state whose label is drawn: one operator for each label. What a label has that
    /// is not applicable is lost.
    fn mixtures(
        &self,
        state: &State,
        of_labels: &BTreeMap<LabelId, Vec<Distribution>>,
    ) -> Result<Vec<Distribution>, NoAnswer> {
        let Some((policy, semantics)) = self.policy else { return Ok(Vec::new()) };
        let applicable = self.applicable(state)?;
        let mut all: Vec<Distribution> = vec![Vec::new()];
        for (label, p) in drawn_labels(policy, semantics, state, &applicable)? {
            let Some(options) = of_labels.get(&label) else { continue };
            all = all
                .iter()
                .flat_map(|begun| {
                    options.iter().map(|option| {
                        let scaled = option.iter().map(|(to, q)| (*to, &p * q));
                        begun.iter().cloned().chain(scaled).collect()
                    })
                })
                .collect();
        }
        Ok(all)
    }
}

fn number(
    state: State,
    process: &mut DecisionProcess,
    numbers: &mut BTreeMap<State, usize>,
) -> usize {
    if let Some(&known) = numbers.get(&state) {
        return known;
    }
    numbers.insert(state.clone(), process.states.len());
    process.states.push(state);
    process.choices.push(Vec::new());
    process.states.len() - 1
}

/// The distributions of an operator: one for each way to choose values in all of its outcomes.
fn distributions(
    transitions: Vec<Transition>,
    mut number: impl FnMut(State) -> usize,
) -> Vec<Distribution> {
    let mut outcomes: BTreeMap<usize, Vec<(usize, Rational)>> = BTreeMap::new();
    for transition in transitions {
        let step = transition.step;
        let successor = (number(step.state), step.probability);
        outcomes.entry(step.destination).or_default().push(successor);
    }
    let mut all: Vec<Distribution> = vec![Vec::new()];
    for options in outcomes.into_values() {
        all = all
            .into_iter()
            .flat_map(|begun| {
                options.iter().map(move |option| {
                    let mut longer = begun.clone();
                    longer.push(option.clone());
                    longer
                })
            })
            .collect();
    }
    all
}

impl DecisionProcess {
    /// The greatest probability of reaching an unsafe state, by state.
    #[must_use]
    pub fn greatest(&self) -> Vec<Rational> {
        self.improve(&BTreeSet::new(), |new, old| new > old)
    }

    /// The least probability of reaching an unsafe state, by state.
    #[must_use]
    pub fn least(&self) -> Vec<Rational> {
        // The greatest set in which a scheduler can stay, or end, or lose all.
        let mut avoiding: BTreeSet<usize> =
            (0..self.states.len()).filter(|s| !self.unsafe_states.contains(s)).collect();
        loop {
            let stays = |s: &usize| {
                let choices = &self.choices[*s];
                choices.is_empty()
                    || choices
                        .iter()
                        .any(|c| c.iter().all(|(to, p)| p.is_zero() || avoiding.contains(to)))
            };
            let kept: BTreeSet<usize> = avoiding.iter().filter(|s| stays(s)).copied().collect();
            if kept.len() == avoiding.len() {
                break;
            }
            avoiding = kept;
        }
        self.improve(&avoiding, |new, old| new < old)
    }

    /// Improves a policy until nothing is better; states in `zero` have value 0.
    fn improve(
        &self,
        zero: &BTreeSet<usize>,
        is_better: impl Fn(&Rational, &Rational) -> bool,
    ) -> Vec<Rational> {
        let mut policy = vec![0usize; self.states.len()];
        loop {
            let values = self.evaluate(&policy, zero);
            let mut improved = false;
            for s in (0..policy.len()).filter(|s| !zero.contains(s)) {
                let mut best = values[s].clone();
                for (at, choice) in self.choices[s].iter().enumerate() {
                    let value: Rational = choice.iter().map(|(to, p)| p * &values[*to]).sum();
                    if is_better(&value, &best) {
                        (best, policy[s], improved) = (value, at, true);
                    }
                }
            }
            if !improved {
                return values;
            }
        }
    }

    /// The values of a policy, by Gaussian elimination over the states that reach an unsafe one.
    fn evaluate(&self, policy: &[usize], zero: &BTreeSet<usize>) -> Vec<Rational> {
        let n = self.states.len();
        let chosen = |s: usize| {
            let counts = !zero.contains(&s) && !self.unsafe_states.contains(&s);
            self.choices[s].get(policy[s]).filter(|_| counts)
        };
        let mut reaching = self.unsafe_states.clone();
        loop {
            let before = reaching.len();
            for s in 0..n {
                let leads = |(to, p): &(usize, Rational)| !p.is_zero() && reaching.contains(to);
                if chosen(s).is_some_and(|choice| choice.iter().any(leads)) {
                    reaching.insert(s);
                }
            }
            if reaching.len() == before {
                break;
            }
        }
        let mut rows = vec![vec![Rational::ZERO; n + 1]; n];
        for (s, row) in rows.iter_mut().enumerate() {
            row[s] = Rational::ONE;
            if self.unsafe_states.contains(&s) {
                row[n] = Rational::ONE;
            } else if reaching.contains(&s) {
                for (to, p) in chosen(s).into_iter().flatten() {
                    if reaching.contains(to) {
                        row[*to] = &row[*to] - p;
                    }
                }
            }
        }
        for column in 0..n {
            let pivot = (column..n).find(|&row| !rows[row][column].is_zero());
            let pivot = pivot.expect("a run ends with probability 1");
            rows.swap(column, pivot);
            let scale = rows[column][column].recip().expect("not 0");
            let scaled: Vec<Rational> = rows[column].iter().map(|x| x * &scale).collect();
            for (row, entries) in rows.iter_mut().enumerate() {
                let factor = entries[column].clone();
                if row != column && !factor.is_zero() {
                    for (entry, own) in entries.iter_mut().zip(&scaled) {
                        *entry = &*entry - &(&factor * own);
                    }
                }
            }
            rows[column] = scaled;
        }
        rows.into_iter().map(|row| row[n].clone()).collect()
    }
}
