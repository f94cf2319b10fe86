//! A policy that is kept between questions about it.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::SystemTime;

use policert_engine_api::Budget;
use policert_outcome::{Failure, Input, InputRole, KnownDigests, unchanged_since};
use policert_policy::{LoadedPolicy, Policy, PolicyOptions};

use crate::files::Files;
use crate::policy::rules;
use crate::{ModelSource, PolicySource, ProblemOptions};

/// A place for a policy that was read for a model, so that the next question about both need not read it
/// again; or no place, by default. A policy whose files have changed is read again, and so is one for
/// another model.
#[derive(Clone, Default)]
pub struct KeptPolicy(Option<Arc<Mutex<Option<Entry>>>>);

#[derive(Clone)]
struct Entry {
    key: Key,
    /// The files that were read.
    files: Files,
    digests: Vec<Input>,
    loaded: Arc<LoadedPolicy>,
}

/// What reading a policy depends on, besides its files.
#[derive(Clone)]
struct Key {
    model: Weak<ModelSource>,
    of_property: Option<PathBuf>,
    source: PolicySource,
    rules: PolicyOptions,
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        Weak::ptr_eq(&self.model, &other.model)
            && self.of_property == other.of_property
            && self.source == other.source
            && self.rules == other.rules
    }
}

impl KeptPolicy {
    /// A place for one policy, which its copies share.
    #[must_use]
    pub fn place() -> Self {
        Self(Some(Arc::default()))
    }

    /// The policy of these options for a model, which is read by `read` unless it is here. The files that
    /// it comes from go to `files`.
    ///
    /// # Errors
    /// Those of `read`.
    pub(crate) fn or_read(
        &self,
        (options, model, of_property): (&ProblemOptions, &Arc<ModelSource>, Option<&Path>),
        budget: &Budget,
        files: &mut Files,
        read: impl FnOnce(&mut Files) -> Result<Option<LoadedPolicy>, Failure>,
    ) -> Result<Option<Arc<LoadedPolicy>>, Failure> {
        let Some(place) = &self.0 else { return Ok(read(files)?.map(Arc::new)) };
        let key = Key {
            model: Arc::downgrade(model),
            of_property: of_property.map(Path::to_owned),
            source: options.policy.clone(),
            rules: rules(options),
        };
        let kept = place.lock().map_or(None, |entry| entry.clone());
        if let Some(entry) = kept
            && entry.key == key
            && digests(&entry.files, of_property, &options.kept.digests, budget)
                == Some(entry.digests)
        {
            files.extend(entry.files);
            return Ok(Some(entry.loaded));
        }
        let begin = SystemTime::now();
        let mut read_files = Files::new();
        let loaded = read(&mut read_files);
        files.extend(read_files.iter().cloned());
        let Some(loaded) = loaded?.map(Arc::new) else { return Ok(None) };
        // What may have changed while it was read is read again.
        let are_settled =
            named(&read_files, of_property).all(|(_, path)| unchanged_since(&path, begin));
        if are_settled
            && let Some(digests) = digests(&read_files, of_property, &options.kept.digests, budget)
            && let Ok(mut entry) = place.lock()
        {
            let loaded = Arc::clone(&loaded);
            *entry = Some(Entry { key, files: read_files, digests, loaded });
        }
        Ok(Some(loaded))
    }
}

/// The policy itself, without what else is known about it.
pub(crate) fn taken(loaded: Arc<LoadedPolicy>) -> Policy {
    Arc::try_unwrap(loaded).map_or_else(|kept| kept.policy.clone(), |loaded| loaded.policy)
}

/// The files that a policy depends on: those that were read, and the one that the property names, which may
/// be the policy or its interface.
fn named<'f>(
    files: &'f Files,
    of_property: Option<&'f Path>,
) -> impl Iterator<Item = (InputRole, PathBuf)> + 'f {
    let of_property = of_property.map(|path| (InputRole::Interface, path.to_owned()));
    files.iter().cloned().chain(of_property)
}

/// Their digests, if all of them can be read.
fn digests(
    files: &Files,
    of_property: Option<&Path>,
    known: &KnownDigests,
    budget: &Budget,
) -> Option<Vec<Input>> {
    let digests = known.digests_if_readable(named(files, of_property), budget).ok()?;
    (!digests.is_empty()).then_some(digests)
}

impl fmt::Debug for KeptPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "KeptPolicy(place)" } else { "KeptPolicy(none)" })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use policert_outcome::Remarks;
    use policert_policy::Ties;

    use super::*;
    use crate::{Kept, Problem};

    fn example() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/icy_road")
    }

    /// Asks a question, and says what is kept afterwards.
    fn asked(options: &ProblemOptions) -> (Problem, Option<Arc<LoadedPolicy>>) {
        let problem = Problem::load(options, &Budget::unlimited(), &mut Remarks::default());
        let place = options.kept.policy.0.as_ref().expect("a place").lock().expect("no panic");
        (problem.expect("a problem"), place.as_ref().map(|entry| Arc::clone(&entry.loaded)))
    }

    fn is_same(a: Option<&Arc<LoadedPolicy>>, b: Option<&Arc<LoadedPolicy>>) -> bool {
        a.zip(b).is_some_and(|(a, b)| Arc::ptr_eq(a, b))
    }

    /// After this time the system tells two changes of a file apart.
    fn let_settle() {
        std::thread::sleep(Duration::from_millis(3500));
    }

    #[test]
    fn a_policy_is_read_again_where_something_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        for name in ["model.jani", "careful.jani2nnet", "careful.nnet", "hasty.nnet"] {
            std::fs::copy(example().join(name), path(name)).expect("a file");
        }
        let careful = Some("careful".to_owned());
        let options = ProblemOptions {
            kept: Kept::place(),
            property: careful,
            ..ProblemOptions::new(&path("model.jani"))
        };
        let (fresh, kept) = asked(&options);
        assert!(kept.is_none(), "a file that has just been written may change without a trace");
        let_settle();
        let first = asked(&options).1;
        assert!(is_same(first.as_ref(), asked(&options).1.as_ref()));
        // It says the same as what is read.
        let (again, _) = asked(&options);
        assert_eq!(format!("{:?}", again.policy), format!("{:?}", fresh.policy));
        assert_eq!((&again.semantics, &again.inputs), (&fresh.semantics, &fresh.inputs));
        assert_eq!(again.record, fresh.record);
        // Another rule, another model.
        let other = ProblemOptions { ties: Some(Ties::Strict), ..options.clone() };
        assert!(!is_same(first.as_ref(), asked(&other).1.as_ref()));
        let first = asked(&options).1;
        let places = Kept { model: Kept::place().model, ..options.kept.clone() };
        assert!(!is_same(
            first.as_ref(),
            asked(&ProblemOptions { kept: places, ..options.clone() }).1.as_ref()
        ));
        let first = asked(&options).1;
        assert!(is_same(first.as_ref(), asked(&options).1.as_ref()));
        std::fs::copy(path("hasty.nnet"), path("careful.nnet")).expect("a file");
        let (changed, _) = asked(&options);
        assert_ne!(format!("{:?}", changed.policy), format!("{:?}", fresh.policy));
        let digest = |problem: &Problem| problem.inputs.last().map(|input| input.sha256.clone());
        assert_ne!(digest(&changed), digest(&again));
    }
}
