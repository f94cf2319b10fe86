//! Explicit search as one of the engines.

use policert_engine_api::{
    Aim, Conclusion, Configuration as _, Configured, Context, Engine, EngineAnswer, EngineError,
    Invariant, Question, Verdict,
};
use policert_explore::{ExplicitConfig, Explored, explicit, reach_goal};
use policert_model::{Model, VarId};
use policert_numeric::IntBox;
use policert_policy::{NarrowestLead, Policy};
use serde_json::{Value, json};

use super::{AnsweredQuestions, Registration, configured, unusual};
use crate::engine_option::EngineOption;

pub(super) const REGISTRATION: Registration = Registration {
    name: "explicit",
    help: "enumeration of states",
    questions: AnsweredQuestions { runs: true, ..AnsweredQuestions::SAFETY },
    passes_on: None,
    options: &[
        EngineOption::KeepGoing,
        EngineOption::StopAtFirstUnsafe,
        EngineOption::BuildAll,
        EngineOption::StateLimit,
    ],
    presets: ExplicitConfig::presets,
    configure: |preset, settings| configured(preset, settings, Explicit),
};

/// Enumerates states.
#[derive(Clone)]
pub(super) struct Explicit(pub Configured<ExplicitConfig>);

impl Engine for Explicit {
    fn answer(
        &self,
        question: &Question<'_>,
        context: &mut Context<'_>,
    ) -> Result<Conclusion, EngineError> {
        match question.aim {
            Aim::AvoidUnsafe => self.search(question, context),
            Aim::ReachGoal => goal(question, context),
            Aim::Probability(_) => Err(question.refused_by("explicit")),
        }
    }
}

impl Explicit {
    fn search(
        &self,
        question: &Question<'_>,
        context: &mut Context<'_>,
    ) -> Result<Conclusion, EngineError> {
        let (budget, observer, _) = context.parts();
        let Configured { name, config } = &self.0;
        let explored = explicit(question, question.policy, config, budget, observer)?;
        let (warnings, mut notes) = remarks(&explored, config.drop_examples);
        let policy = question.policy.zip(explored.narrowest_lead.as_ref());
        notes.extend(policy.map(|(policy, lead)| narrowest(question.model, policy, lead)));
        let numbers = numbers(&explored);
        let answer = EngineAnswer::with_invariant(explored.verdict, explored.reached);
        Ok(Conclusion {
            preset: unusual(name),
            numbers,
            warnings,
            notes,
            ..Conclusion::new("explicit", answer, explored.counts)
        })
    }
}

/// Returns whether every run reaches a goal state.
fn goal(question: &Question<'_>, context: &mut Context<'_>) -> Result<Conclusion, EngineError> {
    let (budget, observer, _) = context.parts();
    let found = reach_goal(question, question.policy, budget, observer)?;
    let dropped = found.counts.dropped_outcomes;
    let warning = format!("{dropped} outcomes leave a domain and count as no transition");
    Ok(Conclusion {
        numbers: json!({ "goal_states": found.goal_states }),
        warnings: if dropped > 0 { vec![warning] } else { Vec::new() },
        ..Conclusion::new("explicit", goal_answer(found.verdict, found.ranked), found.counts)
    })
}

/// A verdict with the ranks that show it, if it is *safe*.
fn goal_answer(
    verdict: Verdict,
    ranked: Option<Result<Vec<(IntBox, u32)>, String>>,
) -> EngineAnswer {
    let invariant = ranked.map(|ranked| {
        ranked.map(|ranked| {
            let (boxes, ranks): (Vec<_>, Vec<_>) = ranked.into_iter().unzip();
            (Invariant::from(boxes), ranks)
        })
    });
    let (invariant, ranks) = match invariant {
        Some(Ok((invariant, ranks))) => (Some(Ok(invariant)), ranks),
        Some(Err(why)) => (Some(Err(why)), Vec::new()),
        None => (None, Vec::new()),
    };
    let mut answer = EngineAnswer::with_invariant(verdict, invariant);
    if let EngineAnswer::Safe { invariant: Ok(claimed), .. } = &mut answer {
        claimed.ranks = Some(ranks.into_iter().map(u64::from).collect());
    }
    answer
}

/// Warnings and notes.
fn remarks(explored: &Explored, most_examples: usize) -> (Vec<String>, Vec<String>) {
    let mut warnings = Vec::new();
    let count = explored.counts.dropped_outcomes;
    if count > 0 {
        let example = explored.dropped.first();
        let example = example.map_or(String::new(), |d| format!("; for example: {}", d.problem));
        let operators = explored.dropped.len();
        warnings.push(format!(
            "{count} outcomes leave a domain and count as no transition (of {operators} \
             operators{}){example}",
            if operators == most_examples { " or more" } else { "" },
        ));
    }
    let mut notes = Vec::new();
    if let Some(reason) = explored.stopped
        && !matches!(explored.verdict, Verdict::Unknown(_))
    {
        notes.push(format!(
            "not all states were built: {reason}; the verdict does not depend on the rest"
        ));
    }
    (warnings, notes)
}

/// Says how close single precision came to another choice.
fn narrowest(model: &Model, policy: &Policy, narrowest: &NarrowestLead) -> String {
    let NarrowestLead { inputs, lead, bound } = narrowest;
    let name = |v: &VarId| model.variables[v.index()].name.as_str();
    let values = policy.inputs().iter().zip(inputs);
    let values: Vec<String> = values.map(|(v, value)| format!("{}={value}", name(v))).collect();
    format!(
        "the narrowest lead of a best score is {lead:.3e}, {:.3e} times the bound of the rounding errors, \
         for {}",
        lead / bound,
        values.join(", ")
    )
}

fn numbers(explored: &Explored) -> Value {
    let stats = &explored.stats;
    let seconds = |time: std::time::Duration| time.as_secs_f64();
    json!({
        "stopped": explored.stopped.map(|reason| reason.to_string()),
        "depth": stats.depth,
        "operators_composed": stats.operators,
        "successors": stats.successors,
        "policy_evaluations": stats.policy_evaluations,
        "exact_decisions": stats.exact_decisions,
        "undecided_choices": stats.undecided_choices,
        "stuck_states": stats.stuck_states,
        "peak_frontier": stats.peak_frontier,
        "times_s": {
            "start_states": seconds(stats.times.start_states),
            "guards": seconds(stats.times.guards),
            "policy": seconds(stats.times.policy),
            "successors": seconds(stats.times.successors),
            "store": seconds(stats.times.store),
        },
    })
}
