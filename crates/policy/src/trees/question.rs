//! What the questions of an ensemble ask about the variables of a model.

use std::collections::BTreeMap;
use std::fmt;

use policert_model::VarId;
use policert_numeric::{IntBox, IntInterval};

use super::column::{Column, NoValue, Reading, Source};
use super::rule::Rule;
use crate::error::PolicyError;
use crate::interface::InputSource;

/// An input that is a function of the state is tabulated if the variables that it reads have at most
/// this many values together.
const TABLE_SIZE: usize = 1 << 16;

/// Entries of rows that are normalised, in all states together; more are refused.
const MOST_WORK: usize = 1 << 26;

/// When a rule holds, by the values of variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// Always, or never.
    Fixed(bool),
    /// By the value of a variable.
    Pieces {
        /// The variable.
        variable: usize,
        /// Ascending: the last value of a piece, and the answer in it.
        pieces: Vec<(i64, Answer)>,
        /// The answer above the last piece.
        above: Box<Answer>,
    },
}

/// The inputs of an ensemble as functions of variables.
pub(crate) struct Questions {
    inputs: Vec<Input>,
    /// The columns that trees read instead of the inputs, if the file computes them.
    columns: Vec<Asked>,
    variables: usize,
}

/// The source of an input.
enum Input {
    /// The integer at this position, and its domain.
    Integer(usize, IntInterval),
    /// A function of variables, whose values are those that a library reads: in double precision.
    Table(Table),
}

/// A column, as questions are asked about it.
enum Asked {
    /// A function of an integer.
    OfInteger {
        column: Column,
        variable: usize,
        /// The least integer.
        first: i64,
        /// The ascending ends of the pieces on which it is monotone.
        ends: Vec<i64>,
    },
    /// A function of variables.
    Table(Table),
}

/// A function of variables.
struct Table {
    /// The positions and the domains of the variables, the last one being the first to change.
    variables: Vec<(usize, IntInterval)>,
    values: Vec<f64>,
}

impl Questions {
    /// Inputs that are variables themselves.
    pub fn of_integers(inputs: usize) -> Self {
        let integer = |input| Input::Integer(input, IntInterval::ALL);
        let integers = (0..inputs).map(integer).collect();
        Self { inputs: integers, columns: Vec::new(), variables: inputs }
    }

    /// Inputs that are variables with these domains.
    #[cfg(test)]
    pub fn of_bounded(domains: &[IntInterval]) -> Self {
        let inputs = domains.iter().enumerate().map(|(at, &side)| Input::Integer(at, side));
        Self { inputs: inputs.collect(), columns: Vec::new(), variables: domains.len() }
    }

    /// Inputs that are functions of these variables of a model with these domains.
    ///
    /// # Errors
    /// Position of the input that cannot be read, and why.
    pub fn of_sources(
        sources: &[InputSource],
        variables: &[VarId],
        domains: &IntBox,
    ) -> Result<Self, (usize, String)> {
        let input = |(i, source)| Input::of(source, variables, domains).map_err(|why| (i, why));
        let inputs = sources.iter().enumerate().map(input).collect::<Result<_, _>>()?;
        Ok(Self { inputs, columns: Vec::new(), variables: variables.len() })
    }

    /// Returns the same inputs, of which a file computes these columns; none if its trees read the inputs.
    ///
    /// # Errors
    /// If a column has no value for some values of an input.
    pub fn with_columns(mut self, columns: &[Column]) -> Result<Self, PolicyError> {
        let mut work = 0usize;
        for column in columns {
            let asked = match &column.source {
                Source::Input(input, _) => self.of_input(column, *input)?,
                Source::Normalised(..) => Asked::Table(self.of_inputs(column, &mut work)?),
            };
            self.columns.push(asked);
        }
        Ok(self)
    }

    /// A column that begins with one input.
    fn of_input(&self, column: &Column, input: usize) -> Result<Asked, PolicyError> {
        let wrong = |value: &dyn fmt::Display, why: NoValue| {
            PolicyError::unsupported("", format!("input {input} may be {value}: {why}"))
        };
        match &self.inputs[input] {
            Input::Integer(variable, domain) => {
                let ends = column.pieces(*domain).map_err(|(at, why)| wrong(&at, why))?;
                let (column, variable) = (column.clone(), *variable);
                Ok(Asked::OfInteger { column, variable, first: domain.lo, ends })
            }
            Input::Table(Table { variables, values }) => {
                let value =
                    |&at: &f64| column.value(&|_| Reading::Real(at)).map_err(|why| wrong(&at, why));
                let values = values.iter().map(value).collect::<Result<_, _>>()?;
                Ok(Asked::Table(Table { variables: variables.clone(), values }))
            }
        }
    }

    /// A column that reads several inputs, for all values of the variables in these. The entries of rows in
    /// all states are added to `work`.
    fn of_inputs(&self, column: &Column, work: &mut usize) -> Result<Table, PolicyError> {
        let mut domains: BTreeMap<usize, IntInterval> = BTreeMap::new();
        for input in column.inputs() {
            match &self.inputs[input] {
                Input::Integer(variable, domain) => {
                    domains.insert(*variable, *domain);
                }
                Input::Table(table) => domains.extend(table.variables.iter().copied()),
            }
        }
        let variables: Vec<(usize, IntInterval)> = domains.into_iter().collect();
        let sides: Vec<IntInterval> = variables.iter().map(|&(_, side)| side).collect();
        let size = table_size(&sides).ok_or_else(|| {
            let message = format!(
                "a Normalizer before a tree ensemble can read variables that have at most {TABLE_SIZE} \
                 values together; bound them, or train on inputs that the interface computes"
            );
            PolicyError::unsupported("", message)
        })?;
        *work = work.saturating_add(size.saturating_mul(column.inputs().len()));
        if *work > MOST_WORK {
            let message = "a Normalizer reads too many columns of variables with too many values; train on \
                           inputs that the interface computes";
            return Err(PolicyError::unsupported("", message));
        }
        let at = |state: &[i64], variable: usize| {
            let place = variables.iter().position(|&(known, _)| known == variable);
            place.map_or(0, |place| state[place])
        };
        let mut values = Vec::with_capacity(size);
        for_each_state(&sides, |state| {
            let read = |input: usize| match &self.inputs[input] {
                Input::Integer(variable, _) => Reading::Integer(at(state, *variable)),
                Input::Table(table) => Reading::Real(table.at(|variable| at(state, variable))),
            };
            values.push(column.value(&read).map_err(|why| {
                let message = format!("the variables may be {state:?}: {why}");
                PolicyError::unsupported("", message)
            })?);
            Ok::<(), PolicyError>(())
        })?;
        Ok(Table { variables, values })
    }

    /// The number of variables.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// Returns whether trees read nothing but variables.
    pub fn are_of_integers(&self) -> bool {
        self.columns.is_empty()
            && self.inputs.iter().all(|input| matches!(input, Input::Integer(..)))
    }

    /// Returns when a rule holds for what trees read at this place: an input, or a column.
    pub(super) fn answer(&self, place: usize, rule: &Rule) -> Answer {
        let of_table = |Table { variables, values }: &Table| {
            tabulated(&|value| rule.holds(value), variables, values)
        };
        match self.columns.get(place) {
            None => match &self.inputs[place] {
                Input::Integer(variable, _) => Answer::of_truths(*variable, rule.pieces()),
                Input::Table(table) => of_table(table),
            },
            Some(Asked::OfInteger { column, variable, first, ends }) => {
                // That there is a value was checked.
                let value = |at| column.value_at(at).unwrap_or(f64::NAN);
                Answer::of_truths(*variable, rule.pieces_of(ends, *first, value))
            }
            Some(Asked::Table(table)) => of_table(table),
        }
    }
}

impl Answer {
    fn of_truths(variable: usize, pieces: Vec<(i64, bool)>) -> Self {
        Self::of_pieces(variable, pieces.into_iter().map(|(at, holds)| (at, Self::Fixed(holds))))
    }

    /// Ascending pieces, of which the last one has no end.
    fn of_pieces(variable: usize, pieces: impl Iterator<Item = (i64, Self)>) -> Self {
        let mut joined: Vec<(i64, Self)> = Vec::new();
        for (at, answer) in pieces {
            match joined.last_mut() {
                Some(last) if last.1 == answer => last.0 = at,
                _ => joined.push((at, answer)),
            }
        }
        match joined.pop() {
            None => Self::Fixed(false),
            Some((_, above)) if joined.is_empty() => above,
            Some((_, above)) => Self::Pieces { variable, pieces: joined, above: Box::new(above) },
        }
    }
}

/// Returns when a condition holds for values that are tabulated by variables.
fn tabulated(
    holds: &impl Fn(f64) -> bool,
    variables: &[(usize, IntInterval)],
    values: &[f64],
) -> Answer {
    let Some((&(variable, side), others)) = variables.split_first() else {
        return Answer::Fixed(values.first().is_some_and(|&value| holds(value)));
    };
    let step = others.iter().map(|(_, side)| count(*side)).product::<usize>().max(1);
    let rows = (side.lo..=side.hi).zip(values.chunks(step));
    Answer::of_pieces(variable, rows.map(|(at, row)| (at, tabulated(holds, others, row))))
}

/// The number of values of a bounded side.
fn count(side: IntInterval) -> usize {
    let span = side.hi.checked_sub(side.lo).and_then(|span| usize::try_from(span).ok());
    span.and_then(|span| span.checked_add(1)).unwrap_or(usize::MAX)
}

/// The number of combinations of values, if a table may have so many.
fn table_size(sides: &[IntInterval]) -> Option<usize> {
    sides.iter().try_fold(1usize, |size, &side| {
        size.checked_mul(count(side)).filter(|&size| side.is_bounded() && size <= TABLE_SIZE)
    })
}

/// Visits all combinations of values of sides that are not empty, the last one being the first to change.
fn for_each_state<E>(
    sides: &[IntInterval],
    mut visit: impl FnMut(&[i64]) -> Result<(), E>,
) -> Result<(), E> {
    let mut state: Vec<i64> = sides.iter().map(|side| side.lo).collect();
    loop {
        visit(&state)?;
        let next = state.iter_mut().zip(sides).rev().find_map(|(entry, side)| {
            let goes_on = *entry < side.hi;
            *entry = if goes_on { *entry + 1 } else { side.lo };
            goes_on.then_some(())
        });
        if next.is_none() {
            return Ok(());
        }
    }
}

impl Table {
    /// The value for these values of the variables.
    fn at(&self, value: impl Fn(usize) -> i64) -> f64 {
        let place = self.variables.iter().fold(0usize, |place, &(variable, side)| {
            let offset = usize::try_from(value(variable).saturating_sub(side.lo)).unwrap_or(0);
            place.saturating_mul(count(side)).saturating_add(offset)
        });
        self.values.get(place).copied().unwrap_or(f64::NAN)
    }
}

impl Input {
    fn of(source: &InputSource, variables: &[VarId], domains: &IntBox) -> Result<Self, String> {
        let position = |variable: &VarId| variables.iter().position(|known| known == variable);
        if let InputSource::Variable(variable) = source {
            let integer = position(variable);
            let integer = integer.map(|at| Self::Integer(at, domains[variable.index()]));
            return integer.ok_or_else(|| "a variable is missing".to_owned());
        }
        let mut read: Vec<VarId> = Vec::new();
        source.expr().for_each_var(&mut |v| {
            if !read.contains(&v) {
                read.push(v);
            }
        });
        let sides: Vec<IntInterval> = read.iter().map(|v| domains[v.index()]).collect();
        let size = table_size(&sides).ok_or_else(|| {
            format!(
                "a tree ensemble can read a function of variables that have at most {TABLE_SIZE} \
                 values together"
            )
        })?;
        let mut state = vec![0; read.iter().map(|v| v.index() + 1).max().unwrap_or(0)];
        let mut values = Vec::with_capacity(size);
        for_each_state(&sides, |chosen| {
            for (v, &value) in read.iter().zip(chosen) {
                state[v.index()] = value;
            }
            let value = source.value(&state);
            let value =
                value.map_err(|error| format!("it has no value in some states: {error}"))?;
            values.push(value.to_f64());
            Ok::<(), String>(())
        })?;
        let variables = read.iter().zip(sides);
        let variables = variables.filter_map(|(v, side)| Some((position(v)?, side)));
        Ok(Self::Table(Table { variables: variables.collect(), values }))
    }
}

#[cfg(test)]
mod tests {
    use policert_model::{BinaryOp, Expr};
    use policert_numeric::Rational;

    use super::super::rule::{Missing, Precision, RuleComparison};
    use super::*;

    /// The answer for values of variables.
    fn asked(answer: &Answer, state: &[i64]) -> bool {
        match answer {
            Answer::Fixed(holds) => *holds,
            Answer::Pieces { variable, pieces, above } => {
                let piece = pieces.iter().find(|(at, _)| state[*variable] <= *at);
                asked(piece.map_or(&**above, |(_, answer)| answer), state)
            }
        }
    }

    #[test]
    fn questions_about_functions_of_the_state_are_those_about_their_values() {
        let domains = IntBox::new(vec![IntInterval::new(-2, 4), IntInterval::new(0, 3)]);
        let variables = [VarId::new(1), VarId::new(0)];
        let (x, y) = (|| Expr::Var(VarId::new(0)), || Expr::Var(VarId::new(1)));
        let third = Expr::Constant(Rational::new(1, 3).unwrap_or_default());
        let sources = [
            InputSource::Variable(VarId::new(0)),
            InputSource::Computed(Expr::binary(BinaryOp::Mul, third, x())),
            InputSource::Computed(Expr::binary(BinaryOp::Mul, y(), x())),
            InputSource::Computed(Expr::int(1)),
            InputSource::Computed(Expr::binary(BinaryOp::Eq, x(), y())),
        ];
        let questions = Questions::of_sources(&sources, &variables, &domains).expect("bounded");
        let mut both = [false; 2];
        for (input, source) in sources.iter().enumerate() {
            for threshold in [-1.0, -2.0 / 3.0, 0.0, 1.0 / 3.0, 0.5, 1.0, 4.0] {
                for comparison in
                    [RuleComparison::Less, RuleComparison::LessEqual, RuleComparison::Equal]
                {
                    let missing = Missing::NotANumber(false);
                    let precision = Precision::Single;
                    let rule = Rule { comparison, threshold, precision, missing };
                    let answer = questions.answer(input, &rule);
                    for (a, b) in (-2..=4).flat_map(|a| (0..=3).map(move |b| (a, b))) {
                        let value = source.value(&[a, b]).expect("total").to_f64();
                        let expected = rule.holds(value);
                        assert_eq!(asked(&answer, &[b, a]), expected, "{source:?} {rule} {a} {b}");
                        both[usize::from(expected)] = true;
                    }
                }
            }
        }
        assert_eq!(both, [true, true]);
        let wide = IntBox::new(vec![IntInterval::new(0, 1 << 20), IntInterval::new(0, 3)]);
        let refused = Questions::of_sources(&sources, &variables, &wide);
        let (at, why) = refused.err().expect("too many values");
        assert!(at == 1 && why.contains("65536"), "{at} {why}");
    }
}
