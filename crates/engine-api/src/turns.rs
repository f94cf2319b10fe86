//! Turns: engines on threads of their own that share fewer processors than there are engines.
//!
//! An engine works while it has a seat. It gives it up at a poll of its [`Budget`](crate::Budget)
//! when its turn has lasted long enough and another one waits; seats go to those who wait longest.
//! So none starts anew, and the first answer comes after at most so many times the work of the
//! engine that it comes from as its share says.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::budget::{CancelFlag, StopReason, resident_memory};

/// Time of a turn of an engine whose share is 1.
const SLICE: Duration = Duration::from_millis(100);
/// How long memory that was freed may take to get back to the system.
const RELIEF: Duration = Duration::from_millis(500);
/// The time between two looks at the flag that stops an engine that waits.
const LOOK: Duration = Duration::from_millis(20);

/// The seats of some engines.
#[derive(Debug)]
pub struct Turns {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    /// Seats that nobody has.
    free: usize,
    /// Those who wait for one, by number, the first one first.
    waiting: VecDeque<usize>,
    accounts: Vec<Account>,
    /// When an engine was last told to end because of the memory.
    relieved: Option<Instant>,
}

/// What an engine has used.
#[derive(Debug)]
struct Account {
    flag: CancelFlag,
    used: Duration,
    /// Growth of the process in its turns, in bytes. With several seats that of others counts, too.
    memory: i64,
    has_ended: bool,
}

impl Turns {
    /// So many seats as engines may work at a time.
    #[must_use]
    pub fn new(seats: usize) -> Arc<Self> {
        let state = State {
            free: seats.max(1),
            waiting: VecDeque::new(),
            accounts: Vec::new(),
            relieved: None,
        };
        Arc::new(Self { state: Mutex::new(state), changed: Condvar::new() })
    }

    /// One engine more, behind those that wait: its turns are `share` times as long as the shortest
    /// ones, and `flag` stops it.
    #[must_use]
    pub fn join(self: &Arc<Self>, share: u32, flag: CancelFlag) -> Arc<Turn> {
        let mut state = self.lock();
        let number = state.accounts.len();
        state.accounts.push(Account { flag, used: Duration::ZERO, memory: 0, has_ended: false });
        state.waiting.push_back(number);
        let share = AtomicU32::new(share);
        Arc::new(Turn { turns: Arc::clone(self), number, share, seat: Mutex::new(None) })
    }

    /// Nothing panics while it holds the lock; what it guards is whole at any time.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One engine's place among [`Turns`].
#[derive(Debug)]
pub struct Turn {
    turns: Arc<Turns>,
    number: usize,
    /// The length of its turns, in slices.
    share: AtomicU32,
    seat: Mutex<Option<Seat>>,
}

/// A seat since it was taken, or since it was last looked at.
#[derive(Clone, Copy, Debug)]
struct Seat {
    since: Instant,
    resident: i64,
}

impl Seat {
    fn now() -> Self {
        let resident = resident_memory().and_then(|bytes| i64::try_from(bytes).ok()).unwrap_or(0);
        Self { since: Instant::now(), resident }
    }
}

impl Turn {
    /// Waits for the first seat, or until the engine is told to end.
    pub fn begin(&self) {
        let mut seat = self.seat();
        *seat = self.wait();
    }

    /// Makes its turns `share` times as long as the shortest ones from now on.
    pub fn set_share(&self, share: u32) {
        self.share.store(share, Ordering::Relaxed);
    }

    /// Gives the seat to who waits for it, once the turn has lasted long enough, and waits for the next
    /// one. With `at_once` it has.
    pub(crate) fn pass(&self, at_once: bool) {
        let mut seat = self.seat();
        let Some(taken) = *seat else { return };
        let slice = SLICE * self.share.load(Ordering::Relaxed);
        if !at_once && taken.since.elapsed() < slice {
            return;
        }
        let mut state = self.turns.lock();
        let now = self.settle(&mut state, taken);
        if state.waiting.is_empty() {
            *seat = Some(now);
            return;
        }
        state.free += 1;
        state.waiting.push_back(self.number);
        drop(state);
        self.turns.changed.notify_all();
        *seat = self.wait();
    }

    /// What is to be done where the process is beyond its limit of memory: the engine whose turns let
    /// it grow most ends.
    ///
    /// # Errors
    /// [`StopReason::Memory`] if this one has to end.
    pub(crate) fn relieve(&self) -> Result<(), StopReason> {
        {
            let mut seat = self.seat();
            let mut state = self.turns.lock();
            *seat = seat.map(|taken| self.settle(&mut state, taken));
            let most = (0..state.accounts.len())
                .filter(|&number| !state.accounts[number].has_ended)
                .max_by_key(|&number| state.accounts[number].memory);
            let Some(most) = most else { return Err(StopReason::Memory) };
            if state.relieved.is_none_or(|told| told.elapsed() >= RELIEF) {
                state.relieved = Some(Instant::now());
                if most == self.number {
                    return Err(StopReason::Memory);
                }
                state.accounts[most].flag.stop(StopReason::Memory);
            }
        }
        std::thread::sleep(LOOK);
        self.pass(true);
        Ok(())
    }

    /// Gives the seat back for good.
    ///
    /// Returns the time of all turns.
    pub fn end(&self) -> Duration {
        let mut seat = self.seat();
        let mut state = self.turns.lock();
        if let Some(taken) = seat.take() {
            self.settle(&mut state, taken);
            state.free += 1;
        }
        state.accounts[self.number].has_ended = true;
        let used = state.accounts[self.number].used;
        drop(state);
        self.turns.changed.notify_all();
        used
    }

    /// Adds what was used since a look at the seat. The seat as it is now.
    fn settle(&self, state: &mut State, taken: Seat) -> Seat {
        let (account, now) = (&mut state.accounts[self.number], Seat::now());
        account.used += now.since.duration_since(taken.since);
        account.memory += now.resident - taken.resident;
        now
    }

    /// Waits until a seat is free and nobody has waited longer: it is among those who wait already.
    /// None if it is told to end meanwhile.
    fn wait(&self) -> Option<Seat> {
        let mut state = self.turns.lock();
        loop {
            let told = state.accounts[self.number].flag.is_raised();
            let goes_on = |&&number: &&usize| !state.accounts[number].flag.is_raised();
            let first = state.waiting.iter().find(goes_on);
            let is_next = state.free > 0 && first == Some(&self.number);
            if told || is_next {
                state.waiting.retain(|&number| number != self.number);
                if !is_next {
                    return None;
                }
                state.free -= 1;
                return Some(Seat::now());
            }
            let waited = self.turns.changed.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn seat(&self) -> MutexGuard<'_, Option<Seat>> {
        self.seat.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::{Budget, Limits};
    use std::sync::atomic::AtomicUsize;

    /// Works until so many polls are done, and says how many others had a seat meanwhile.
    fn work(turn: &Arc<Turn>, seated: &AtomicUsize, polls: usize) -> usize {
        turn.begin();
        let mut budget = Budget::unlimited().with_turn(Arc::clone(turn));
        let mut most = 0;
        for _ in 0..polls {
            most = most.max(seated.fetch_add(1, Ordering::SeqCst) + 1);
            std::thread::sleep(Duration::from_millis(5));
            seated.fetch_sub(1, Ordering::SeqCst);
            budget.poll_clock().expect("no limits");
        }
        turn.end();
        most
    }

    #[test]
    fn as_many_work_as_there_are_seats() {
        for seats in [1, 2] {
            let turns = Turns::new(seats);
            let seated = AtomicUsize::new(0);
            let joined: Vec<_> = (0..3).map(|_| turns.join(1, CancelFlag::default())).collect();
            let most: Vec<usize> = std::thread::scope(|scope| {
                let seated = &seated;
                let spawn = |turn| scope.spawn(move || work(turn, seated, 60));
                let threads: Vec<_> = joined.iter().map(spawn).collect();
                threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
            });
            assert!(most.iter().all(|&most| most <= seats), "{seats} seats: {most:?}");
            let state = turns.lock();
            assert_eq!((state.free, state.waiting.len()), (seats, 0));
        }
    }

    #[test]
    fn who_never_polls_lets_others_wait_and_who_is_told_to_end_does_not() {
        let turns = Turns::new(1);
        let flag = CancelFlag::default();
        let (first, second) = (turns.join(1, CancelFlag::default()), turns.join(1, flag.clone()));
        first.begin();
        flag.raise();
        second.begin();
        let mut budget = Budget::new(Limits::default(), flag).with_turn(second);
        assert_eq!(budget.poll_clock(), Err(StopReason::Interrupted));
    }

    #[test]
    fn whose_memory_grew_most_ends() {
        let turns = Turns::new(1);
        let flags = [CancelFlag::default(), CancelFlag::default()];
        let [small, large] = [0, 1].map(|at| turns.join(1, flags[at].clone()));
        small.begin();
        turns.lock().accounts[1].memory = i64::MAX / 2;
        assert_eq!(small.relieve(), Ok(()));
        assert_eq!(flags[1].reason(), Some(StopReason::Memory));
        large.begin();
        large.end();
        std::thread::sleep(RELIEF);
        assert_eq!(small.relieve(), Err(StopReason::Memory));
        assert_eq!(flags[0].reason(), None);
    }
}
