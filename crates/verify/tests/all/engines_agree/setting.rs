//! A random case with the meaning that its number gives it.

use policert_engine_api::Question;
use policert_policy::{Filter, Policy, Semantics, Ties};
use policert_ppa::Splits;
use policert_testkit::oracle::Oracle;
use policert_testkit::{Case, Profile, Random, with_trees};

/// A case with the meaning that its number gives it.
pub struct Setting {
    pub case: Case,
    pub semantics: Semantics,
    pub with_policy: bool,
    pub terminal: bool,
    #[cfg(feature = "z3")]
    pub profile: Profile,
    pub number: u64,
    pub place: String,
}

impl Setting {
    pub fn new(profile: Profile, number: u64) -> Self {
        let mut random = Random::new(number ^ 0x9e37);
        let semantics = Semantics {
            ties: *random.pick(&[Ties::First, Ties::Any, Ties::Strict]),
            filter: *random.pick(&[Filter::None, Filter::Applicable]),
            ..Semantics::default()
        };
        let mut case = Case::numbered(profile, number);
        if number % 5 == 4 {
            case.policy = with_trees(&mut random, &case.model, &case.policy);
        }
        Self {
            case,
            semantics,
            with_policy: random.percent(90),
            terminal: random.percent(30),
            #[cfg(feature = "z3")]
            profile,
            number,
            place: format!("{profile:?} {number}"),
        }
    }

    /// The same with predicates by binary search, some or all of them.
    pub fn with_splits(mut self, number: u64) -> (Self, Splits) {
        let mut random = Random::new(number ^ 0x5917);
        let mut splits = Splits { percent: *random.pick(&[0, 15, 40, 70, 100]), last: Vec::new() };
        if random.percent(50) {
            splits.last.push(random.pick(&self.case.model.variables).name.clone());
        }
        self.case.property.predicates =
            splits.predicates(&self.case.model).expect("all variables are bounded");
        self.place += &format!(" {splits:?}");
        (self, splits)
    }

    pub fn question(&self) -> Question<'_> {
        let terminal = self.case.property.goal.clone().filter(|_| self.terminal);
        Question { terminal, ..Question::new(&self.case.model, &self.case.property) }
    }

    pub fn policy(&self) -> Option<Policy> {
        let policy = self.case.policy.policy(&self.case.model, self.semantics).expect("it fits");
        self.with_policy.then_some(policy)
    }

    pub fn oracle<'a>(&'a self, question: &Question<'a>) -> Oracle<'a> {
        let policy = self.with_policy.then_some((&self.case.policy, self.semantics));
        Oracle::new(question.clone(), policy)
    }
}
