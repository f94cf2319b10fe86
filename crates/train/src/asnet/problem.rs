//! A problem to train on, and the states of it that are learnt from.

use std::collections::BTreeMap;

use policert_asnet::{Asnet, DomainShape, Instance};
use policert_engine_api::{Budget, EngineError, StopReason};
use policert_explore::Random;
use policert_pddl::Task;

use super::run::{AsnetRun, asnet_run};
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
        horizon: usize,
        random: &mut Random,
        budget: &mut Budget,
    ) -> Result<bool, StopReason> {
        self.teacher.forget();
        let AsnetRun { states, reaches_goal } =
            asnet_run(asnet, &self.task, &self.instance, horizon, random, budget)?;
        let mut last = self.task.initial.clone();
        for state in states {
            self.note(&state, budget)?;
            last = state;
        }
        let anywhere = self.wander(random);
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
        Ok(reaches_goal)
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
            let best: Vec<u64> = lesson.best.iter().map(|&action| action as u64).collect();
            (packed(&lesson.state), best)
        };
        let mut written: Vec<(Vec<u64>, Vec<u64>)> = self.lessons.iter().map(lesson).collect();
        archive.list(&mut written, |archive, (state, best)| {
            archive.list(state, Archive::u64)?;
            archive.list(best, Archive::u64)
        })?;
        if matches!(archive, Archive::Writer(_)) {
            return Ok(());
        }
        self.known.clear();
        self.lessons.clear();
        let propositions = self.task.propositions.len();
        for (key, best) in written {
            if key.len() != propositions.div_ceil(64) {
                return Err(broken());
            }
            let best: Vec<usize> =
                best.into_iter().filter_map(|action| usize::try_from(action).ok()).collect();
            let lesson = Lesson::new(&self.task, unpacked(&key, propositions), best);
            let is_sound = |action: &usize| lesson.applicable.contains(action);
            if lesson.best.is_empty() || !lesson.best.iter().all(is_sound) {
                return Err(broken());
            }
            self.known.insert(key, self.lessons.len());
            self.lessons.push(lesson);
        }
        Ok(())
    }
}
