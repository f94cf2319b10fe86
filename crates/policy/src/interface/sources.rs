//! What feeds the inputs of a policy: variables, and functions of the state.

use policert_infix::{TokenKind, is_plain_name, tokens};
use policert_model::{EvalError, Expr, Model, Observable, VarId};
use policert_numeric::{IntBox, IntInterval, Interval, Rational};

use super::similar_names::near;
use super::{InputItem, InstanceItem};

/// More inputs of one item are a mistake.
const MOST_INPUTS: i64 = 4096;

/// The names that an interface may use besides the variables of a model.
pub trait NamedExpressions {
    /// The transient variables of the model, as expressions over the state.
    fn observables(&self) -> &[Observable];

    /// A number or a truth value (as 0 and 1) over the states of the model, as people write it.
    ///
    /// # Errors
    /// Explains what is wrong with the text.
    fn expression(&self, text: &str) -> Result<Expr, String>;
}

/// The names of a model's variables, and no others.
#[derive(Clone, Copy, Debug, Default)]
pub struct VariablesOnly;

impl NamedExpressions for VariablesOnly {
    fn observables(&self) -> &[Observable] {
        &[]
    }

    fn expression(&self, text: &str) -> Result<Expr, String> {
        Err(format!("`{text}` is no variable, and only variables can be inputs here"))
    }
}

/// The source of one input of a policy.
#[derive(Clone, Debug, PartialEq)]
pub enum InputSource {
    /// A variable of the state.
    Variable(VarId),
    /// The value of an expression in the state.
    Computed(Expr),
    /// A value that is normalised.
    Normalised(Box<Normalised>),
}

/// A value that is normalised: (value − mean) / divisor, cut off at ±clip.
#[derive(Clone, Debug, PartialEq)]
pub struct Normalised {
    /// The value.
    pub value: Expr,
    /// The number that is subtracted.
    pub mean: f64,
    /// The root of variance and epsilon, as double precision rounds it.
    pub divisor: f64,
    /// The greatest magnitude, if there is one.
    pub clip: Option<f64>,
}

impl InputSource {
    /// The source that is the value of an expression.
    pub(super) fn of(expr: Expr) -> Self {
        match expr {
            Expr::Var(variable) => Self::Variable(variable),
            expr => Self::Computed(expr),
        }
    }

    /// The value that is read from the state, before it is normalised.
    #[must_use]
    pub fn expr(&self) -> Expr {
        match self {
            Self::Variable(variable) => Expr::Var(*variable),
            Self::Computed(expr) => expr.clone(),
            Self::Normalised(normalised) => normalised.value.clone(),
        }
    }

    /// The domain of the variable that it is, if it is one.
    pub(crate) fn side(&self, domains: &IntBox) -> Option<IntInterval> {
        match self {
            Self::Variable(variable) => Some(domains[variable.index()]),
            Self::Computed(_) | Self::Normalised(_) => None,
        }
    }

    /// Contains the input in every state.
    pub(crate) fn range(&self, domains: &IntBox) -> Interval {
        let range = self.expr().range(domains);
        let enclosing = |bound: Option<Rational>| bound.as_ref().map(Interval::enclosing);
        let lo = enclosing(range.lo).map_or(f64::NEG_INFINITY, Interval::lo);
        let hi = enclosing(range.hi).map_or(f64::INFINITY, Interval::hi);
        let value = Interval::new(lo, hi).unwrap_or(Interval::EVERYTHING);
        let Self::Normalised(normalised) = self else { return value };
        let Normalised { mean, divisor, clip, .. } = **normalised;
        let centred = value - Interval::point(mean);
        let scaled = centred.checked_div(Interval::point(divisor)).unwrap_or(Interval::EVERYTHING);
        match clip {
            Some(clip) => scaled.min(Interval::point(clip)).max(Interval::point(-clip)),
            None => scaled,
        }
    }

    /// Returns whether the input is an integer in every state, as far as its form shows.
    pub(crate) fn is_integral(&self) -> bool {
        match self {
            Self::Variable(_) => true,
            Self::Computed(expr) => expr.is_integral(),
            Self::Normalised(_) => false,
        }
    }

    /// The exact input in a state.
    ///
    /// # Errors
    /// If the expression has no value there.
    pub fn value(&self, state: &[i64]) -> Result<Rational, EvalError> {
        let value = self.expr().eval(state)?;
        let Self::Normalised(normalised) = self else { return Ok(value) };
        let Normalised { mean, divisor, clip, .. } = **normalised;
        let exact = |number: f64| Rational::from_f64(number).unwrap_or_default();
        let scaled = (value - exact(mean)).checked_div(&exact(divisor)).unwrap_or_default();
        Ok(match clip.map(exact) {
            Some(clip) => scaled.min(clip.clone()).max(-clip),
            None => scaled,
        })
    }
}

/// A model, and what can be said about its states.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    pub model: &'a Model,
    pub expressions: &'a dyn NamedExpressions,
}

impl Names<'_> {
    /// The inputs of an item.
    pub fn sources(&self, item: &InputItem) -> Result<Vec<InputSource>, String> {
        match item {
            InputItem::Variable { .. } | InputItem::Location(_) => {
                find_input(self.model, self.expressions.observables(), item).map(|one| vec![one])
            }
            InputItem::Expression(text) => self.text(text),
            InputItem::Normalised { items, statistics } => {
                let mut exprs = Vec::new();
                for (i, item) in items.iter().enumerate() {
                    if let InputItem::Normalised { .. } = item {
                        return Err("inputs are normalised once only".to_owned());
                    }
                    let sources = self
                        .sources(item)
                        .map_err(|problem| format!("/normalise/{i}: {problem}"))?;
                    exprs.extend(sources.iter().map(InputSource::expr));
                }
                let (count, epsilon, clip) = (exprs.len(), statistics.epsilon, statistics.clip);
                for (key, list) in [("mean", &statistics.mean), ("variance", &statistics.variance)]
                {
                    if list.len() != count {
                        let given = list.len();
                        return Err(format!("`{key}` has {given} numbers for {count} inputs"));
                    }
                }
                let statistics = statistics.mean.iter().zip(&statistics.variance);
                let normalised = |(value, (&mean, &variance)): (Expr, (&f64, &f64))| {
                    let divisor = (variance + epsilon).sqrt();
                    if divisor.is_finite() && divisor > 0.0 {
                        Ok(InputSource::Normalised(Box::new(Normalised {
                            value,
                            mean,
                            divisor,
                            clip,
                        })))
                    } else {
                        Err(format!("variance {variance} and epsilon have no positive root"))
                    }
                };
                exprs.into_iter().zip(statistics).map(normalised).collect()
            }
        }
    }

    /// The inputs that a text describes.
    fn text(&self, text: &str) -> Result<Vec<InputSource>, String> {
        match self.call(text) {
            Some(("one_hot", arguments)) => self.one_hot(&arguments),
            Some(("flatten", arguments)) => match arguments[..] {
                [array] => self.cells(array),
                _ => Err("`flatten` has 1 argument, an array".to_owned()),
            },
            Some(_) | None => Ok(vec![InputSource::of(self.expression(text)?)]),
        }
    }

    /// The name and the arguments of a call that is the whole text.
    fn call<'t>(&self, text: &'t str) -> Option<(&'t str, Vec<&'t str>)> {
        let names = self.model.variables.iter().map(|variable| variable.name.as_str());
        let observables = self.expressions.observables().iter();
        let names = names.chain(observables.map(|observable| observable.name.as_str()));
        let known: Vec<&str> = names.filter(|name| !is_plain_name(name)).collect();
        let tokens = tokens(text, &known);
        let [name, open, .., close, _] = tokens.as_slice() else { return None };
        if !matches!(name.kind, TokenKind::Name(_)) || open.kind != TokenKind::Sign("(") {
            return None;
        }
        let (mut arguments, mut begin, mut depth) = (Vec::new(), open.span.end, 0);
        for token in &tokens[1..] {
            match token.kind {
                TokenKind::Sign("(" | "[") => depth += 1,
                TokenKind::Sign(")" | "]") => depth -= 1,
                TokenKind::Sign(",") if depth == 1 => {
                    arguments.push(text[begin..token.span.start].trim());
                    begin = token.span.end;
                }
                _ => {}
            }
            if depth == 0 {
                arguments.push(text[begin..token.span.start].trim());
                return (token.span == close.span).then(|| (&text[name.span.clone()], arguments));
            }
        }
        None
    }

    fn expression(&self, text: &str) -> Result<Expr, String> {
        let text = text.trim();
        if let Some(variable) = self.model.variable_by_name(text) {
            return Ok(Expr::Var(variable));
        }
        let observables = self.expressions.observables();
        match observables.iter().find(|observable| observable.name == text) {
            Some(Observable { value: Ok(value), .. }) => Ok(value.clone()),
            Some(Observable { value: Err(why), .. }) => Err(format!(
                "`{text}` is a transient variable without a known value in states: {why}"
            )),
            None => self.expressions.expression(text),
        }
    }

    /// One input for each value of an integer: 1 where it has this value, else 0.
    fn one_hot(&self, arguments: &[&str]) -> Result<Vec<InputSource>, String> {
        let (value, bounds) = match arguments {
            [value] => (value, None),
            [value, low, high] => (value, Some([low, high])),
            _ => {
                let message = "`one_hot` has 1 or 3 arguments: a value, its least and its greatest";
                return Err(message.to_owned());
            }
        };
        let expr = self.expression(value)?;
        if !expr.is_integral() {
            return Err(format!("`{value}` may be no integer, so it is not one of the positions"));
        }
        let range = expr.range(&self.model.domains());
        let bound = |bound: &Option<Rational>| bound.as_ref().and_then(Rational::to_i64);
        let (least, greatest) = (bound(&range.lo), bound(&range.hi));
        let (low, high) = match bounds {
            None => least.zip(greatest).ok_or_else(|| {
                format!("`{value}` has no bounds; give them: one_hot({value}, 0, 9)")
            })?,
            Some(bounds) => {
                let [low, high] = bounds.map(|bound| {
                    let constant = self.expression(bound)?;
                    let number = constant.as_constant().and_then(Rational::to_i64);
                    number.ok_or_else(|| format!("`{bound}` is no constant integer"))
                });
                (low?, high?)
            }
        };
        let count = high.checked_sub(low).and_then(|span| span.checked_add(1));
        let count = count.filter(|count| (1..=MOST_INPUTS).contains(count)).ok_or_else(|| {
            format!("`{value}` from {low} to {high}: 1 to {MOST_INPUTS} positions are supported")
        })?;
        let inside = |end: Option<i64>| end.is_some_and(|end| (low..=high).contains(&end));
        if !inside(least) || !inside(greatest) {
            let shown = |end: Option<i64>| end.map_or("?".to_owned(), |end| end.to_string());
            return Err(format!(
                "`{value}` may lie between {} and {}, which is not within {low} and {high}",
                shown(least),
                shown(greatest)
            ));
        }
        let is = |at: i64| {
            let at = Expr::int(low + at);
            InputSource::Computed(Expr::binary(policert_model::BinaryOp::Eq, expr.clone(), at))
        };
        Ok((0..count).map(is).collect())
    }

    /// The cells of an array, the last index first to change.
    fn cells(&self, array: &str) -> Result<Vec<InputSource>, String> {
        let array = array.trim_matches(|quote| matches!(quote, '\'' | '"' | '`'));
        let is_cell =
            |name: &str| name.strip_prefix(array).is_some_and(|rest| rest.starts_with('['));
        let variables = self.model.variables.iter().map(|variable| variable.name.as_str());
        let observables = self.expressions.observables().iter();
        let names: Vec<&str> = variables.chain(observables.map(|o| o.name.as_str())).collect();
        let cells: Vec<&str> = names.iter().copied().filter(|name| is_cell(name)).collect();
        if cells.is_empty() {
            let arrays = names.iter().filter_map(|name| Some(name.split_once('[')?.0));
            return Err(format!("the model has no array `{array}`{}", near(array, arrays)));
        }
        cells.into_iter().map(|cell| Ok(InputSource::of(self.expression(cell)?))).collect()
    }
}

/// Finds the variable that an item names, or the transient variable whose value in a state it is.
pub(super) fn find_input(
    model: &Model,
    observables: &[Observable],
    item: &InputItem,
) -> Result<InputSource, String> {
    let instance = match item {
        InputItem::Location(instance) => Some(instance),
        InputItem::Variable { instance, .. } => instance.as_ref(),
        InputItem::Expression(_) | InputItem::Normalised { .. } => None,
    };
    if let Some(instance) = instance {
        check_instance(model, instance)?;
    }
    let name = item.to_string();
    let is_location = matches!(item, InputItem::Location(_));
    let same_kind = |variable: &policert_model::Variable| variable.is_location() == is_location;
    let found = model.variables.iter().position(|v| same_kind(v) && v.name == name);
    if let Some(variable) = found {
        return Ok(InputSource::Variable(VarId::new(variable)));
    }
    match observables.iter().find(|observable| !is_location && observable.name == name) {
        Some(Observable { value: Ok(value), .. }) => Ok(InputSource::Computed(value.clone())),
        Some(Observable { value: Err(why), .. }) => {
            Err(format!("`{name}` is a transient variable without a known value in states: {why}"))
        }
        None => {
            let variables = model.variables.iter().filter(|v| same_kind(v));
            let names = variables.map(|v| v.name.as_str());
            let transients = observables.iter().map(|observable| observable.name.as_str());
            let near = near(&name, names.chain(transients.filter(|_| !is_location)));
            Err(format!("the model has no variable `{name}`{near}"))
        }
    }
}

/// Checks that the instance is one of the system, of this automaton.
fn check_instance(model: &Model, item: &InstanceItem) -> Result<(), String> {
    match model.instances.get(item.index) {
        Some(instance) if instance.automaton == item.automaton => Ok(()),
        Some(instance) => Err(format!(
            "element {} of the system is automaton `{}`, not `{}`",
            item.index, instance.automaton, item.automaton
        )),
        None => Err(format!(
            "the system has no element {} (automaton `{}`); it has {}",
            item.index,
            item.automaton,
            model.instances.len()
        )),
    }
}
