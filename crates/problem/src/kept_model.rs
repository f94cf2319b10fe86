//! A model that is kept between questions about it.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use policert_engine_api::Budget;
use policert_outcome::Input;

use crate::load::model_files;
use crate::{ModelSource, Probabilities, ProblemOptions};

/// A place for a model that was read, so that the next question about it need not read it again; or no
/// place, by default. A model whose files have changed is read again.
#[derive(Clone, Default)]
pub struct KeptModel(Option<Arc<Mutex<Option<Entry>>>>);

#[derive(Clone)]
struct Entry {
    key: Key,
    /// The files and their digests from before they were read.
    files: Vec<Input>,
    source: Arc<ModelSource>,
}

/// What reading a model depends on.
#[derive(Clone, PartialEq)]
struct Key {
    model: PathBuf,
    problem: Option<PathBuf>,
    constants: Vec<(String, String)>,
    probabilities: Probabilities,
}

impl KeptModel {
    /// A place for one model, which its copies share.
    #[must_use]
    pub fn place() -> Self {
        Self(Some(Arc::default()))
    }

    /// The model of these options, which is read by `read` unless it is here.
    ///
    /// # Errors
    /// Those of `read`.
    pub(crate) fn or_read<E>(
        &self,
        options: &ProblemOptions,
        budget: &Budget,
        read: impl FnOnce() -> Result<ModelSource, E>,
    ) -> Result<Arc<ModelSource>, E> {
        let Some(place) = &self.0 else { return read().map(Arc::new) };
        let key = Key {
            model: options.model.clone(),
            problem: options.pddl_problem.clone(),
            constants: options.constants.clone(),
            probabilities: options.probabilities,
        };
        // Without digests nothing is known about the files, and reading says what is wrong.
        let files = options.kept.digests.digests_if_readable(model_files(options), budget);
        let files = files.unwrap_or_default();
        let kept = place.lock().map_or(None, |entry| entry.clone());
        if let Some(entry) = kept
            && entry.key == key
            && entry.files == files
        {
            return Ok(entry.source);
        }
        let source = Arc::new(read()?);
        if let (Ok(mut entry), false) = (place.lock(), files.is_empty()) {
            *entry = Some(Entry { key, files, source: Arc::clone(&source) });
        }
        Ok(source)
    }
}

impl fmt::Debug for KeptModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "KeptModel(place)" } else { "KeptModel(none)" })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use policert_outcome::Remarks;

    use super::*;
    use crate::Kept;
    use crate::load::model;

    fn read(options: &ProblemOptions) -> Arc<ModelSource> {
        model(options, &Budget::unlimited(), &mut Remarks::default()).expect("a model")
    }

    #[test]
    fn a_model_is_read_again_where_it_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("model.jani");
        let example =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/icy_road/model.jani");
        let text = std::fs::read_to_string(example).expect("the example");
        std::fs::write(&path, &text).expect("a file");
        let options = ProblemOptions { kept: Kept::place(), ..ProblemOptions::new(&path) };
        let first = read(&options);
        assert!(Arc::ptr_eq(&first, &read(&options)));
        let other = ProblemOptions { probabilities: Probabilities::Exact, ..options.clone() };
        assert!(!Arc::ptr_eq(&first, &read(&other)));
        let first = read(&options);
        // As long as it was.
        std::fs::write(&path, text.replace("icy_road", "icy_lane")).expect("a file");
        let changed = read(&options);
        assert!(!Arc::ptr_eq(&first, &changed));
        assert_eq!(changed.model().map(|model| model.name.as_str()), Some("icy_lane"));
        std::fs::write(&path, "{}").expect("a file");
        let failed = model(&options, &Budget::unlimited(), &mut Remarks::default());
        assert!(failed.is_err());
        std::fs::write(&path, &text).expect("a file");
        let again = read(&options);
        assert_eq!(again.model().map(|model| model.name.as_str()), Some("icy_road"));
        let nowhere = ProblemOptions::new(&path);
        assert!(!Arc::ptr_eq(&read(&nowhere), &read(&nowhere)));
    }
}
