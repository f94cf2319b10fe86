//! Members of the portfolio side by side: each on a thread of its own, in turns where there are fewer
//! threads than members.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use policert_engine_api::{
    CancelFlag, Conclusion, Context, EngineError, Event, Observer, Question, StopReason, Turn,
    Turns,
};

use super::{Auto, Member, Next, Portfolio};

/// The time between two looks at the flag that stops the whole run.
const POLL: Duration = Duration::from_millis(20);

/// Bytes of the stack of a member, for recursion over the deepest expressions; only what is used takes memory.
const STACK: usize = 256 << 20;

/// What a member says.
enum Message {
    Event(Event),
    /// It has ended, and so long it has worked.
    Ended(Member, Box<Result<Conclusion, EngineError>>, Duration),
}

/// Passes the events of a member on, and gives explicit search longer turns while few of its states wait:
/// then it has seen most of them.
struct Reporter {
    sender: Sender<Message>,
    member: Member,
    turn: Arc<Turn>,
    /// The most states that waited.
    peak: u64,
}

/// How many times as long the turns of a search are that has seen most of its states.
const HOME_STRETCH: u32 = 4;

impl Observer for Reporter {
    fn event(&mut self, event: Event) {
        if let (Member::Explicit(_), Event::Progress { waiting, .. }) = (self.member, &event) {
            self.peak = self.peak.max(*waiting);
            let most_are_seen = *waiting < self.peak / 10 * 9;
            let factor = if most_are_seen { HOME_STRETCH } else { 1 };
            self.turn.set_share(factor * self.member.share());
        }
        // The receiver outlives all members.
        let _ = self.sender.send(Message::Event(event));
    }
}

/// Runs the members, at most as many as there are threads at once, until one is conclusive; it stops the others.
pub(super) fn run(
    portfolio: &mut Portfolio,
    auto: &Auto,
    question: &Question<'_>,
    context: &mut Context<'_>,
    members: &[Member],
) -> Result<(), EngineError> {
    let (sender, receiver) = mpsc::channel();
    let turns = Turns::new(context.threads.into());
    let mut running: Vec<(Member, CancelFlag)> = Vec::new();
    let mut decided: Option<Member> = None;
    let mut failure = None;
    let (budget, observer, _) = context.parts();
    let budget = &*budget;
    // At the limit itself all have to end.
    let memory = budget.limits().memory.map(|limit| limit / 8 * 7);
    thread::scope(|scope| {
        // All have joined before the first one begins.
        let joined: Vec<_> = members
            .iter()
            .map(|&member| {
                let cancel = CancelFlag::default();
                running.push((member, cancel.clone()));
                (member, turns.join(member.share(), cancel.clone()), cancel)
            })
            .collect();
        for (member, turn, cancel) in joined {
            let mut reporter =
                Reporter { sender: sender.clone(), member, turn: Arc::clone(&turn), peak: 0 };
            let work = move || {
                turn.begin();
                let own = member.budget(budget, false).with_memory(memory);
                let own = own.with_flag(cancel).with_turn(Arc::clone(&turn));
                let mut context = Context::new(own, &mut reporter);
                let answer = || member.engine(auto).answer(question, &mut context);
                // Nothing that a panic leaves behind is looked at again.
                let run = panic::catch_unwind(AssertUnwindSafe(answer));
                let run = run.unwrap_or_else(|_| Err(broken(member, "panicked")));
                let ended = Message::Ended(member, Box::new(run), turn.end());
                let _ = reporter.sender.send(ended);
            };
            if thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work).is_err() {
                let none = Box::new(Err(broken(member, "could not be given a thread")));
                let _ = sender.send(Message::Ended(member, none, Duration::ZERO));
            }
        }
        while !running.is_empty() {
            if let Some(reason) = budget.cancel_flag().reason() {
                running.iter().for_each(|(_, cancel)| cancel.stop(reason));
            }
            let (member, run, time) = match receiver.recv_timeout(POLL) {
                Ok(Message::Ended(member, run, time)) => (member, *run, time),
                Ok(Message::Event(event)) => {
                    if decided.is_none() {
                        observer.event(event);
                    }
                    continue;
                }
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            running.retain(|(other, _)| *other != member);
            if let Some(decided) = decided {
                portfolio.stopped(member, &format!("{} had decided", decided.name()), time);
                continue;
            }
            let next = portfolio.note(member, run, time, &[StopReason::Interrupted]);
            if let Ok(Next::Continue) = next {
                continue;
            }
            failure = next.err();
            decided = Some(member);
            running.iter().for_each(|(_, cancel)| cancel.raise());
        }
    });
    failure.map_or(Ok(()), Err)
}

/// A mistake of our own.
fn broken(member: Member, what: &str) -> EngineError {
    EngineError::Internal(format!("engine {} {what}", member.name()))
}
