//! Whole cases: a model, a property and a policy, reproducible by profile and number.

use policert_model::{Model, SafetyProperty};
use proptest::prelude::{Strategy, any};

use crate::{PolicyParts, Profile, Random, aim, properties};

/// The greatest size of a case.
pub const LARGEST: usize = 4;

/// A model, a property of it and a policy for it.
#[derive(Clone, Debug)]
pub struct Case {
    /// The number from which it is made: with the profile and the size, the same number gives the
    /// same case.
    pub number: u64,
    /// The language features that it may use.
    pub profile: Profile,
    /// Its size, from 1 to [`LARGEST`].
    pub size: usize,
    pub model: Model,
    pub property: SafetyProperty,
    pub policy: PolicyParts,
}

impl Case {
    /// Case `number` of a profile, of a size that depends on the number.
    #[must_use]
    pub fn numbered(profile: Profile, number: u64) -> Self {
        let size = 1 + usize::try_from(number % LARGEST as u64).unwrap_or(0);
        Self::of_size(profile, number, size)
    }

    /// Case `number` of a profile and a size from 1 to [`LARGEST`].
    #[must_use]
    pub fn of_size(profile: Profile, number: u64, size: usize) -> Self {
        let mut random = Random::new(number);
        let model = crate::model(&mut random.fork(), profile, size);
        let mut property = crate::property(&mut random.fork(), profile, &model);
        let policy = aim::far_reaching_policy(&mut random.fork(), size, &model, &property);
        // An arbitrary unsafe condition is mostly met at once or never.
        if random.percent(75)
            && let Some(aimed) =
                aim::unsafe_condition(&mut random.fork(), profile, &model, &property, &policy)
        {
            property.predicates =
                properties::predicates(&mut random.fork(), profile, &model, &aimed);
            property.unsafe_condition = aimed;
        }
        Self { number, profile, size, model, property, policy }
    }
}

/// Cases of a profile; shrinking reduces the size.
pub fn cases(profile: Profile) -> impl Strategy<Value = Case> {
    (any::<u64>().no_shrink(), 1..=LARGEST)
        .prop_map(move |(number, size)| Case::of_size(profile, number, size))
}
