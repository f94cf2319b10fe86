//! The declarations of a file.

use std::collections::BTreeMap;

use policert_sexpr::Fault;

use crate::variable::Variable;

/// The variables that are declared, and where.
#[derive(Debug, Default)]
pub(crate) struct Declarations(BTreeMap<Variable, usize>);

impl Declarations {
    /// Notes a variable and where it is declared. Returns false if it was declared before.
    pub fn add(&mut self, variable: Variable, at: usize) -> bool {
        self.0.insert(variable, at).is_none()
    }

    pub fn contains(&self, variable: Variable) -> bool {
        self.0.contains_key(&variable)
    }

    /// Returns how many inputs and outputs there are; their numbers have no gaps.
    pub fn counts(&self) -> Result<(usize, usize), Fault> {
        let (mut inputs, mut outputs) = (0, 0);
        for (&variable, &at) in &self.0 {
            let (next, index) = match variable {
                Variable::Input(index) => (&mut inputs, index),
                Variable::Output(index) => (&mut outputs, index),
            };
            if index != *next {
                let missing = match variable {
                    Variable::Input(_) => Variable::Input(*next),
                    Variable::Output(_) => Variable::Output(*next),
                };
                let message = format!("{missing} is not declared, though {variable} is");
                return Err(Fault::invalid(at, message));
            }
            *next += 1;
        }
        Ok((inputs, outputs))
    }
}
