//! The commands of a file: declarations and assertions.

use policert_sexpr::{Fault, Reader, Sexpr, quoted};

use crate::declarations::Declarations;
use crate::formula::Formula;
use crate::variable::Variable;

/// Holds what a file says.
#[derive(Debug)]
pub(crate) struct Script {
    /// Number of inputs.
    pub inputs: usize,
    /// Number of outputs.
    pub outputs: usize,
    pub assertions: Formula,
    /// The position of the first assertion.
    pub assertions_at: usize,
}

/// Reads a whole file.
pub(crate) fn read(text: &str) -> Result<Script, Fault> {
    let mut reader = Reader::new(text);
    let mut declared = Declarations::default();
    let mut assertions = Vec::new();
    let mut assertions_at = None;
    let mut ended_by = None;
    while let Some(expression) = reader.next_expression()? {
        let command = Command::of(&expression)?;
        match command.name {
            "declare-const" => declare(&command, 2, &mut declared)?,
            "declare-fun" => declare(&command, 3, &mut declared)?,
            "assert" => {
                if let Some(name) = ended_by {
                    let message = format!(
                        "an assertion after ({name}): which of them belong to the property is not \
                         clear"
                    );
                    return Err(Fault::invalid(command.at, message));
                }
                let [condition] = command.arguments else {
                    let count = command.arguments.len();
                    let message = format!("`assert` has 1 condition, not {count}");
                    return Err(Fault::invalid(command.at, message));
                };
                assertions.push(Formula::read(condition, false, &declared)?);
                assertions_at.get_or_insert(command.at);
            }
            "check-sat" | "exit" => ended_by = Some(command.name),
            "set-logic" | "set-info" | "set-option" | "get-model" | "get-value" | "get-info"
            | "get-option" | "echo" => {}
            other => return Err(no_command(command.at, other)),
        }
    }
    let (inputs, outputs) = declared.counts()?;
    if inputs == 0 || outputs == 0 {
        let what = if inputs == 0 { "no input X_0 is" } else { "no output Y_0 is" };
        let message = format!(
            "{what} declared: a property declares every input as in (declare-const X_0 Real), every \
             output as in (declare-const Y_0 Real)"
        );
        return Err(Fault::invalid(text.trim_end().len(), message));
    }
    let assertions = Formula::joined(true, assertions);
    Ok(Script { inputs, outputs, assertions, assertions_at: assertions_at.unwrap_or(0) })
}

/// `(name arguments…)`.
struct Command<'s, 'a> {
    at: usize,
    name: &'a str,
    arguments: &'s [Sexpr<'a>],
}

impl<'s, 'a> Command<'s, 'a> {
    fn of(expression: &'s Sexpr<'a>) -> Result<Self, Fault> {
        let head = expression.list().and_then(<[_]>::split_first);
        match head.and_then(|(head, arguments)| Some((head.atom()?, arguments))) {
            Some((name, arguments)) => Ok(Self { at: expression.at, name, arguments }),
            None => {
                let message = format!(
                    "a command such as (assert …) is expected, not {}",
                    expression.described()
                );
                Err(Fault::invalid(expression.at, message))
            }
        }
    }
}

/// Reads `(declare-const X_0 Real)`, or `(declare-fun X_0 () Real)`, which have `count` arguments.
fn declare(
    command: &Command<'_, '_>,
    count: usize,
    declared: &mut Declarations,
) -> Result<(), Fault> {
    let name = command.name;
    let form = if count == 2 { "X_0 Real" } else { "X_0 () Real" };
    if command.arguments.len() != count {
        let message = format!("a declaration is of the form ({name} {form})");
        return Err(Fault::invalid(command.at, message));
    }
    let (variable, sort) = (&command.arguments[0], &command.arguments[count - 1]);
    if count == 3 && command.arguments[1].list() != Some(&[]) {
        let message = "only functions without arguments are supported: (declare-fun X_0 () Real)";
        return Err(Fault::unsupported(command.arguments[1].at, message));
    }
    if sort.atom() != Some("Real") {
        let message = format!("the variables are of sort Real, not {}", sort.described());
        return Err(Fault::unsupported(sort.at, message));
    }
    let Some(known) = variable.atom().and_then(Variable::from_name) else {
        let message = format!(
            "{} is no variable of a network: inputs are X_0, X_1, …, outputs Y_0, Y_1, …",
            variable.described()
        );
        return Err(Fault::invalid(variable.at, message));
    };
    if !declared.add(known, variable.at) {
        return Err(Fault::invalid(variable.at, format!("{known} is declared twice")));
    }
    Ok(())
}

/// Returns what is wrong with a command that is not read.
fn no_command(at: usize, name: &str) -> Fault {
    let supported = "declare-const, declare-fun, assert and check-sat are";
    match name {
        "vnnlib-version" | "declare-network" | "declare-input" | "declare-output" => {
            let message = format!(
                "`{name}` belongs to VNN-LIB 2.0, which is not supported; VNN-LIB 1.0 is, with \
                 inputs X_0, X_1, … and outputs Y_0, Y_1, …"
            );
            Fault::unsupported(at, message)
        }
        "define-fun" | "define-const" | "define-fun-rec" | "define-sort" | "declare-sort"
        | "declare-datatype" | "declare-datatypes" | "push" | "pop" | "reset"
        | "reset-assertions" | "check-sat-assuming" | "assert-soft" | "minimize" | "maximize" => {
            Fault::unsupported(at, format!("the command `{name}` is not supported; {supported}"))
        }
        _ => Fault::invalid(at, format!("{} is no command; {supported}", quoted(name))),
    }
}
