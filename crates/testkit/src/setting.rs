//! A random case with the meaning that it is given.

use policert_engine_api::Question;
use policert_policy::{Filter, Policy, PolicySemantics, Ties};

use crate::oracle::Oracle;
use crate::{Case, Profile, Random, with_trees};

/// Draws the rules by which a policy chooses.
pub fn semantics(random: &mut Random) -> PolicySemantics {
    PolicySemantics {
        ties: *random.pick(&[Ties::First, Ties::Any, Ties::Strict]),
        filter: *random.pick(&[Filter::None, Filter::Applicable]),
        ..PolicySemantics::default()
    }
}

/// A case with the meaning that it is given.
#[derive(Clone, Debug)]
pub struct Setting {
    pub case: Case,
    /// The way in which the policy chooses.
    pub semantics: PolicySemantics,
    /// True if the policy acts.
    pub with_policy: bool,
    /// True if goal states are terminal.
    pub terminal: bool,
    /// The case in the words of a message.
    pub place: String,
}

impl Setting {
    /// Takes the case of this number, whose policy becomes a tree ensemble with `trees`, and draws
    /// whether the policy acts, with a chance of `acting` in a hundred, and whether goal states are
    /// terminal.
    #[must_use]
    pub fn new(
        profile: Profile,
        number: u64,
        semantics: PolicySemantics,
        trees: bool,
        acting: usize,
        random: &mut Random,
    ) -> Self {
        let mut case = Case::numbered(profile, number);
        if trees {
            case.policy = with_trees(random, &case.model, &case.policy);
        }
        Self {
            case,
            semantics,
            with_policy: random.percent(acting),
            terminal: random.percent(30),
            place: format!("{profile:?} {number}"),
        }
    }

    /// The question of the case.
    #[must_use]
    pub fn question(&self) -> Question<'_> {
        let terminal = self.case.property.goal.clone().filter(|_| self.terminal);
        Question { terminal, ..Question::new(&self.case.model, &self.case.property) }
    }

    /// The policy, if it acts.
    ///
    /// # Panics
    /// If it does not fit the model, which is a mistake of the generator.
    #[must_use]
    pub fn policy(&self) -> Option<Policy> {
        let policy = self.case.policy.policy(&self.case.model, self.semantics).expect("it fits");
        self.with_policy.then_some(policy)
    }

    /// The oracle for a question about the case.
    #[must_use]
    pub fn oracle<'a>(&'a self, question: &Question<'a>) -> Oracle<'a> {
        let policy = self.with_policy.then_some((&self.case.policy, self.semantics));
        Oracle::new(question.clone(), policy)
    }
}
