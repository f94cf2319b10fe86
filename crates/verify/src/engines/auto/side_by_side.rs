//! Members of the portfolio side by side, each on a thread of its own.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use policert_engine_api::{CancelFlag, Context, EngineError, Event, Question, Silent};

use super::{Auto, Member, Next, Portfolio, is_over};

/// The time between two looks at the flag that stops the whole run.
const POLL: Duration = Duration::from_millis(20);

/// Runs the members, at most as many as there are threads at once, until one is conclusive; it stops the others.
pub(super) fn run(
    portfolio: &mut Portfolio,
    auto: &Auto,
    question: &Question<'_>,
    context: &mut Context<'_>,
    members: &[Member],
) -> Result<(), EngineError> {
    context.observer.event(Event::Phase("engines side by side"));
    let (sender, receiver) = mpsc::channel();
    let mut waiting = members.iter().copied();
    let mut running: Vec<(Member, CancelFlag)> = Vec::new();
    let mut decided: Option<Member> = None;
    let mut failure = None;
    let budget = &context.budget;
    std::thread::scope(|scope| {
        let mut start = |running: &mut Vec<(Member, CancelFlag)>| {
            let Some(member) = waiting.next() else { return };
            let cancel = CancelFlag::default();
            running.push((member, cancel.clone()));
            let sender = sender.clone();
            scope.spawn(move || {
                let begin = Instant::now();
                let own = member.budget(budget, true).with_flag(cancel);
                let mut silent = Silent;
                let run = member.engine(auto).answer(question, &mut Context::new(own, &mut silent));
                // The receiver outlives all threads.
                let _ = sender.send((member, run, begin));
            });
        };
        for _ in 0..context.threads.max(1) {
            start(&mut running);
        }
        while !running.is_empty() {
            let (member, run, begin) = match receiver.recv_timeout(POLL) {
                Ok(ended) => ended,
                Err(RecvTimeoutError::Timeout) => {
                    if let Some(reason) = budget.cancel_flag().reason() {
                        running.iter().for_each(|(_, cancel)| cancel.stop(reason));
                    }
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => break,
            };
            running.retain(|(other, _)| *other != member);
            if let Some(decided) = decided {
                let why = format!("{} had decided", decided.name());
                portfolio.stopped(member, &why, begin);
                continue;
            }
            match portfolio.note(member, run, begin, is_over(budget)) {
                Ok(Next::Continue) => start(&mut running),
                Ok(Next::Stop) => {
                    decided = Some(member);
                    running.iter().for_each(|(_, cancel)| cancel.raise());
                }
                Err(error) => {
                    failure = Some(error);
                    decided = Some(member);
                    running.iter().for_each(|(_, cancel)| cancel.raise());
                }
            }
        }
    });
    for member in waiting {
        portfolio.pass_over(member.name(), "the run had ended");
    }
    failure.map_or(Ok(()), Err)
}
