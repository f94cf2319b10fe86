//! A suite from its file, with the instances of those that it includes.

use std::path::Path;

use policert_outcome::{Failure, Finding};

use super::{Suite, check};

impl Suite {
    /// Reads a suite.
    ///
    /// # Errors
    /// If the file cannot be read or is no suite.
    pub fn read(path: &Path) -> Result<Self, Failure> {
        let suite = Self::read_nested(path, 1)?;
        check::check(&suite).map_err(|what| invalid(path, what))?;
        Ok(suite)
    }

    /// Reads a suite that may include others, so deep.
    fn read_nested(path: &Path, depth: usize) -> Result<Self, Failure> {
        let invalid = |what: String| invalid(path, what);
        let text = policert_files::read_text(path).map_err(|error| invalid(error.to_string()))?;
        let mut suite: Self = toml::from_str(&text).map_err(|error| {
            let offset = error.span().map(|span| span.start);
            invalid(policert_files::placed(&text, offset, error.message()))
        })?;
        let beside = |name: &Path| path.parent().unwrap_or(Path::new("")).join(name);
        let data = beside(Path::new(&with_variables(&suite.folder)));
        if !data.is_dir() {
            return Err(invalid(format!("`folder`: {} is no folder", data.display())));
        }
        for instance in &mut suite.instances {
            instance.folder.clone_from(&data);
        }
        suite.home = data;
        for other in &suite.include {
            let other = beside(other);
            if depth == 0 {
                let what = format!("`include`: {} includes others itself", path.display());
                return Err(invalid(what));
            }
            suite.instances.extend(Self::read_nested(&other, depth - 1)?.instances);
        }
        Ok(suite)
    }
}

fn invalid(path: &Path, what: String) -> Failure {
    let message = format!("{}: {what}", path.display());
    let file = Some(path.to_owned());
    Failure::Findings(vec![Finding { file, ..Finding::invalid(message) }])
}

/// A text with `${NAME:-text}` replaced.
fn with_variables(text: &str) -> String {
    let mut result = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((inside, after)) = after.split_once('}') else { break };
        let (name, default) = inside.split_once(":-").unwrap_or((inside, ""));
        result += before;
        result += &std::env::var(name).unwrap_or_else(|_| default.to_owned());
        rest = after;
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_have_defaults() {
        assert_eq!(with_variables("${POLICERT_NO_SUCH:-a/b}/c"), "a/b/c");
        assert_eq!(with_variables("a${open"), "a${open");
    }
}
