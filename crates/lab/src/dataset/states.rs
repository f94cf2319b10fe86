//! Reading a list of states.

use std::path::Path;

use policert_model::{InitialValue, Model, State, VarId, Variable};
use policert_outcome::Failure;

use super::problem;

/// Reads states from a CSV file: names of variables in the first line, integers below. Variables
/// that are not named have their initial value, or the least one if there are several; columns
/// `label_index` and `label` are passed over, so what `dataset` wrote can be read.
pub(super) fn read(path: &Path, model: &Model) -> Result<Vec<State>, Failure> {
    let text = policert_files::read_text(path)
        .map_err(|error| Failure::invalid(format!("{}: {error}", path.display())))?;
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let Some((_, header)) = lines.next() else {
        return Err(problem(path, 1, "the names of variables are missing"));
    };
    let mut columns = Vec::new();
    for name in fields(header) {
        // As `dataset` writes names.
        let written = || {
            let is_meant = |v: &Variable| policert_files::escaped(&v.name).to_string() == name;
            model.variables.iter().position(is_meant)
        };
        let variable = model.variable_by_name(&name).map(VarId::index).or_else(written);
        columns.push(match variable {
            Some(variable) if columns.contains(&Some(variable)) => {
                return Err(problem(path, 1, &format!("the column `{name}` stands twice")));
            }
            Some(variable) => Some(variable),
            None if name == "label_index" || name == "label" => None,
            None => return Err(problem(path, 1, &format!("the model has no variable `{name}`"))),
        });
    }
    let initial: State = model
        .variables
        .iter()
        .zip(&model.initial_values)
        .map(|(variable, value)| match value {
            InitialValue::Fixed(value) => *value,
            InitialValue::Any => variable.domain.lo,
            InitialValue::OneOf(values) => values.first().copied().unwrap_or(variable.domain.lo),
        })
        .collect();
    let mut states = Vec::new();
    for (index, line) in lines {
        if line.trim().is_empty() {
            continue;
        }
        let fields = fields(line);
        if fields.len() != columns.len() {
            let what = format!("{} fields, {} are expected", fields.len(), columns.len());
            return Err(problem(path, index + 1, &what));
        }
        let mut state = initial.clone();
        for (field, column) in fields.iter().zip(&columns) {
            let Some(v) = *column else { continue };
            let variable = &model.variables[v];
            state[v] = match field.trim().parse() {
                Ok(value) if variable.domain.contains(value) => value,
                _ => {
                    let (name, domain) = (&variable.name, variable.domain);
                    let what = format!("`{field}` is no value of {name}, whose domain is {domain}");
                    return Err(problem(path, index + 1, &what));
                }
            };
        }
        states.push(state);
    }
    Ok(states)
}

/// The fields of a line (RFC 4180, without line ends in fields).
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut characters = line.chars().peekable();
    while let Some(c) = characters.next() {
        let last = fields.len() - 1;
        match c {
            '"' if quoted && characters.peek() == Some(&'"') => {
                characters.next();
                fields[last].push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields[last].push(c),
        }
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::fields;

    #[test]
    fn lines_are_split() {
        assert_eq!(fields("x,\"a,\"\"b\"\"\",3"), ["x", "a,\"b\"", "3"]);
        assert_eq!(fields(""), [""]);
    }
}
