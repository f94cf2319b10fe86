//! An explicit MDP in DRN, the format of Storm: every state, its choices and their distributions.

use std::fmt::Write as _;

use policert_explore::Induced;
use policert_numeric::Rational;

use crate::error::{ConvertError, unsupported};

/// The MDP as text, with labels `init`, `target` and `failed` (states where what has to hold does
/// not, and terminal ones). A state without choices gets a loop; what leaves a domain goes to a last
/// state, `lost`.
///
/// # Errors
/// An MDP that is not complete.
pub fn drn_text(induced: &Induced) -> Result<String, ConvertError> {
    if !induced.unexplored.is_empty() || !induced.starts_complete {
        return unsupported("an MDP that was not built to its end");
    }
    if induced.undecided.is_some() {
        return unsupported("an MDP with states in which the policy's choice is not decided");
    }
    if induced.above.is_some() {
        return unsupported(
            "a policy that draws (--choice sample) by probabilities that are no fractions",
        );
    }
    let mdp = &induced.mdp;
    let distributions = mdp.distributions();
    let loses = |choice: u32| !distributions.is_complete(mdp.distribution(choice));
    let open = |state: u32| !induced.target.contains(state) && !induced.avoid.contains(state);
    let choices = |state: u32| if open(state) { mdp.choices_of(state) } else { 0..0 };
    let loses_some = mdp.state_range().any(|state| choices(state).any(loses));
    let lost = mdp.states();
    let states = mdp.states() + usize::from(loses_some);
    let count: usize = mdp.state_range().map(|state| choices(state).len().max(1)).sum();
    let count = count + usize::from(loses_some);
    let mut text = String::from("// Written by policert convert\n@type: MDP\n@parameters\n\n");
    let _ = write!(text, "@reward_models\n\n@nr_states\n{states}\n@nr_choices\n{count}\n@model\n");
    let mut is_initial = vec![false; mdp.states()];
    for &state in &induced.initial {
        is_initial[state as usize] = true;
    }
    for state in mdp.state_range() {
        let _ = write!(text, "state {state}");
        for (label, holds) in [
            (" init", is_initial[state as usize]),
            (" target", induced.target.contains(state)),
            (" failed", induced.avoid.contains(state)),
        ] {
            text.push_str(if holds { label } else { "" });
        }
        text.push('\n');
        if choices(state).is_empty() {
            let _ = write!(text, "\taction 0\n\t\t{state} : 1\n");
        }
        for (k, choice) in choices(state).enumerate() {
            let _ = writeln!(text, "\taction {k}");
            let mut outcomes: Vec<(u32, &Rational)> = mdp.outcomes(choice).collect();
            outcomes.sort_unstable_by_key(|&(to, _)| to);
            for &(to, p) in &outcomes {
                let _ = writeln!(text, "\t\t{to} : {}", probability(p));
            }
            if loses(choice) {
                let sum: Rational = outcomes.iter().map(|&(_, p)| p.clone()).sum();
                let _ = writeln!(text, "\t\t{lost} : {}", probability(&(Rational::ONE - sum)));
            }
        }
    }
    if loses_some {
        let _ = write!(text, "state {lost} lost\n\taction 0\n\t\t{lost} : 1\n");
    }
    Ok(text)
}

/// A decimal: exact where its double is, else the nearest double.
fn probability(p: &Rational) -> String {
    p.to_f64().to_string()
}
