//! What is kept between questions, so that it need not be read again.

use policert_outcome::KnownDigests;

use crate::{KeptModel, KeptPolicy};

/// Places for what was read; none by default. What has changed is read again.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// The place of the model.
    pub model: KeptModel,
    /// The place of the policy.
    pub policy: KeptPolicy,
    /// The digests of the files.
    pub digests: KnownDigests,
}

impl Kept {
    /// Places for a model and a policy, which copies share.
    #[must_use]
    pub fn place() -> Self {
        let (model, policy) = (KeptModel::place(), KeptPolicy::place());
        Self { model, policy, digests: KnownDigests::place() }
    }
}

impl PartialEq for Kept {
    /// What is kept is no part of a question.
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
