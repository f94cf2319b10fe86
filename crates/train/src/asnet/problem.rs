//! A problem to train on, and the states of it that are learnt from.

use std::collections::BTreeMap;

use policert_asnet::{Asnet, DomainShape, Instance};
use policert_engine_api::{Budget, EngineError, StopReason};
use policert_explore::Random;
use policert_pddl::Task;

use super::any_way::actions_that_do;
use super::config::AsnetConfig;
use super::run::Runner;
use super::teacher::{Lesson, Teacher, lengths, packed, unpacked};
use crate::archive::{Archive, broken};
use crate::error::TrainError;

/// Most actions at random before a way to the goal is looked at.
const WANDER: usize = 60;

/// A problem, with its teacher.
pub(crate) struct Problem {
    pub task: Task,
    pub instance: Instance,
    teacher: Teacher,
    /// By state its position in `lessons`.
    known: BTreeMap<Vec<u64>, usize>,
    pub lessons: Vec<Lesson>,
}

impl Problem {
    /// Prepares all problems, which are of the domain of this shape.
    ///
    /// # Errors
    /// A problem of another domain, one without a way to the goal, or a stop.
    pub fn all(
        tasks: Vec<Task>,
        shape: &DomainShape,
        exact_states: usize,
        budget: &mut Budget,
    ) -> Result<Vec<Self>, TrainError> {
        let mut problems: Vec<Self> = Vec::with_capacity(tasks.len());
        for task in tasks {
            let name = &task.problem.name;
            if DomainShape::of(&task.domain) != *shape {
                let message = format!("problem `{name}` is of another domain");
                return Err(TrainError::Setting(message));
            }
            let Some(lengths) = lengths(&task) else {
                let message = format!(
                    "problem `{name}` has a cost that is no whole number from 0 to 1000: networks \
                     are trained for such costs alone"
                );
                return Err(TrainError::Setting(message));
            };
            let earlier = problems.iter().map(|problem| (&problem.task, &problem.teacher));
            let mut teacher = Teacher::of(&task, &lengths, earlier, exact_states, budget)
                .map_err(EngineError::from)?;
            let distance = teacher.distance(&task, &task.initial, budget);
            if distance.map_err(EngineError::from)?.is_none() {
                let message = format!(
                    "problem `{name}` has no way to its goal, or one that is too long to be found"
                );
                return Err(TrainError::Setting(message));
            }
            let instance = Instance::of(shape, &task);
            let (known, lessons) = (BTreeMap::new(), Vec::new());
            problems.push(Self { task, instance, teacher, known, lessons });
        }
        Ok(problems)
    }

    /// Runs the network, and follows shortest ways from the start, from where the run ended, and from
    /// anywhere; notes the states. Returns whether the network solves the problem.
    pub fn explore(
        &mut self,
        asnet: &Asnet,
        config: &AsnetConfig,
        random: &mut Random,
        budget: &mut Budget,
    ) -> Result<bool, StopReason> {
        self.teacher.forget();
        let (last, is_solved) = self.follow(asnet, config, None, random, budget)?;
        let any = if config.any_way { self.teacher.any_state(random) } else { None };
        let anywhere = any.unwrap_or_else(|| self.wander(random));
        if config.any_way {
            self.follow(asnet, config, Some(&anywhere), random, budget)?;
        }
        for mut state in [self.task.initial.clone(), last, anywhere] {
            while let Some(lesson) = self.note(&state, budget)? {
                budget.poll()?;
                let action = lesson.best[random.below(lesson.best.len())];
                match self.teacher.after(&self.task, &state, action, budget)? {
                    Some(next) => state = next,
                    None => break,
                }
            }
        }
        Ok(is_solved)
    }

    /// Runs the network, from the start if nothing else is said, and notes the states. Returns the last one
    /// in which an action was taken, and whether the goal is reached.
    fn follow(
        &mut self,
        asnet: &Asnet,
        config: &AsnetConfig,
        from: Option<&[bool]>,
        random: &mut Random,
        budget: &mut Budget,
    ) -> Result<(Vec<bool>, bool), StopReason> {
        let from = from.unwrap_or(&self.task.initial);
        let runner = Runner::new(asnet, &self.task, &self.instance, config.horizon);
        let run = runner.run(from, random, budget)?;
        let last = run.states.last().map_or(from, Vec::as_slice).to_vec();
        let others = match config.any_way {
            true => actions_that_do(&runner, &run, random, budget)?,
            false => Vec::new(),
        };
        for state in &run.states {
            self.note(state, budget)?;
        }
        for (place, others) in others {
            if let Some(&lesson) = self.known.get(&packed(&run.states[place])) {
                self.lessons[lesson].want(&others);
            }
        }
        Ok((last, run.reaches_goal))
    }

    /// A state that actions drawn at random lead to from the start.
    fn wander(&self, random: &mut Random) -> Vec<bool> {
        let mut state = self.task.initial.clone();
        for _ in 0..random.below(WANDER) {
            let actions = self.task.actions.iter();
            let applicable: Vec<_> =
                actions.filter(|action| action.is_applicable(&state)).collect();
            if applicable.is_empty() {
                break;
            }
            let outcomes = &applicable[random.below(applicable.len())].outcomes;
            state = outcomes[random.below(outcomes.len())].after(&state);
        }
        state
    }

    /// Adds a state to those that are learnt from.
    fn note(&mut self, state: &[bool], budget: &mut Budget) -> Result<Option<&Lesson>, StopReason> {
        let key = packed(state);
        let position = match self.known.get(&key) {
            Some(&position) => position,
            None => {
                let Some(lesson) = self.teacher.lesson(&self.task, state, budget)? else {
                    return Ok(None);
                };
                self.known.insert(key, self.lessons.len());
                self.lessons.push(lesson);
                self.lessons.len() - 1
            }
        };
        Ok(self.lessons.get(position))
    }

    /// The states that are learnt from, for a checkpoint.
    pub fn describe(&mut self, archive: &mut Archive<'_>) -> Result<(), TrainError> {
        let lesson = |lesson: &Lesson| {
            let numbers =
                |actions: &[usize]| -> Vec<u64> { actions.iter().map(|&a| a as u64).collect() };
            (packed(&lesson.state), numbers(&lesson.best), numbers(&lesson.wanted))
        };
        let mut written: Vec<(Vec<u64>, Vec<u64>, Vec<u64>)> =
            self.lessons.iter().map(lesson).collect();
        archive.list(&mut written, |archive, (state, best, wanted)| {
            archive.list(state, Archive::u64)?;
            archive.list(best, Archive::u64)?;
            archive.list(wanted, Archive::u64)
        })?;
        if matches!(archive, Archive::Writer(_)) {
            return Ok(());
        }
        self.known.clear();
        self.lessons.clear();
        let propositions = self.task.propositions.len();
        let actions = |numbers: Vec<u64>| -> Vec<usize> {
            numbers.into_iter().filter_map(|action| usize::try_from(action).ok()).collect()
        };
        for (key, best, wanted) in written {
            if key.len() != propositions.div_ceil(64) {
                return Err(broken());
            }
            let state = unpacked(&key, propositions);
            let mut lesson = Lesson::new(&self.task, state, actions(best));
            lesson.want(&actions(wanted));
            let is_sound = |action: &usize| lesson.applicable.contains(action);
            if lesson.best.is_empty() || !lesson.wanted.iter().all(is_sound) {
                return Err(broken());
            }
            self.known.insert(key, self.lessons.len());
            self.lessons.push(lesson);
        }
        Ok(())
    }
}
