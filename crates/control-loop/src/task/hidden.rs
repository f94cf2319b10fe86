//! Variables beside those of the plant: uncertain parameters, disturbances, remembered actions.

use policert_numeric::Rational;

use super::fields::check_name;
use super::reader::{Entry, Section};
use crate::disturbance::{Changes, Disturbance};
use crate::error::ReachError;

/// Names and ranges of what a task has besides its variables and actions.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    /// Further variables of the state: remembered actions, then uncertain parameters.
    pub(super) variables: Vec<String>,
    /// Their initial values.
    pub(super) initial: Vec<(Rational, Rational)>,
    /// For each of the first variables the action that it takes over after each step.
    pub(super) actions: Vec<usize>,
    /// Further inputs, by name.
    pub(super) inputs: Vec<String>,
    pub(super) disturbances: Vec<Disturbance>,
}

impl Hidden {
    /// Reads `[memory]` and `[uncertain]` of a task.
    pub(super) fn read(
        root: &Section<'_, '_>,
        state: &[String],
        actions: &[String],
    ) -> Result<Self, ReachError> {
        let mut hidden = Self::default();
        let mut names: Vec<String> = state.iter().chain(actions).cloned().collect();
        if let Some(section) = root.section("memory")? {
            for entry in section.entries() {
                entry.new_name(&mut names)?;
                let about = entry.section()?;
                let action = about.need("action")?;
                let position =
                    actions.iter().position(|name| Some(name.as_str()) == action.text().ok());
                hidden.actions.push(position.ok_or_else(|| {
                    action.error(format!("`action` is one of the actions: {}", actions.join(", ")))
                })?);
                let first = match about.get("first") {
                    None => (Rational::ZERO, Rational::ZERO),
                    Some(first) if first.is_list() => ordered(&first, &first.exactly(2)?)?,
                    Some(first) => (first.number()?, first.number()?),
                };
                hidden.initial.push(first);
                hidden.variables.push(entry.key().to_owned());
                about.finish(&[])?;
            }
        }
        if let Some(section) = root.section("uncertain")? {
            for entry in section.entries() {
                entry.new_name(&mut names)?;
                hidden.uncertain(&entry)?;
            }
        }
        Ok(hidden)
    }

    /// A quantity of `[uncertain]`.
    fn uncertain(&mut self, entry: &Entry<'_, '_>) -> Result<(), ReachError> {
        let about = entry.section()?;
        let bounds = [about.need("lower")?.number()?, about.need("upper")?.number()?];
        let (lower, upper) = ordered(entry, &bounds)?;
        let name = entry.key().to_owned();
        let changes = about.need("changes")?;
        let changes = match changes.text()? {
            "never" => {
                self.variables.push(name);
                self.initial.push((lower, upper));
                return about.finish(&[]);
            }
            "each-step" => Changes::EachStep,
            "any-time" => Changes::AnyTime,
            _ => {
                return Err(changes.error("`changes` is \"never\", \"each-step\" or \"any-time\""));
            }
        };
        self.inputs.push(name);
        self.disturbances.push(Disturbance { lower, upper, changes });
        about.finish(&[])
    }
}

fn ordered(entry: &Entry<'_, '_>, bounds: &[Rational]) -> Result<(Rational, Rational), ReachError> {
    match bounds {
        [lower, upper] if lower <= upper => Ok((lower.clone(), upper.clone())),
        _ => Err(entry.error("a lower and an upper bound are needed, in this order")),
    }
}

impl Entry<'_, '_> {
    /// Adds the entry's key to names, from all of which it must be different.
    fn new_name(&self, names: &mut Vec<String>) -> Result<(), ReachError> {
        check_name(self, self.key(), names)?;
        names.push(self.key().to_owned());
        Ok(())
    }
}
