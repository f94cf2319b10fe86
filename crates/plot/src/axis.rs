//! An axis: its range, where its ticks are, and what stands there.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

/// An axis; positions on a logarithmic one are powers of ten.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Axis {
    name: String,
    low: f64,
    high: f64,
    ticks: Vec<f64>,
    logarithmic: bool,
}

/// A logarithmic axis of more decades has a tick at each of them only.
const DECADES: f64 = 2.5;
/// About this many ticks.
const TICKS: f64 = 9.0;

impl Axis {
    /// The axis from `low` to `high`, which are finite; of some length if they are equal.
    pub fn linear(name: &str, low: f64, high: f64) -> Self {
        let half = (low.abs() * 1e-3).max(1e-6);
        let (low, high) = if high > low { (low, high) } else { (low - half, low + half) };
        let step = nice((high - low) / TICKS);
        let first = (low / step).ceil();
        let ticks = (0..100).map(|k| (first + f64::from(k)) * step);
        let ticks = ticks.take_while(|tick| *tick <= high + step * 1e-9).collect();
        Self { name: name.to_owned(), low, high, ticks, logarithmic: false }
    }

    /// The logarithmic axis that has room for values from `low` to `high`, both positive.
    pub fn logarithmic(name: &str, low: f64, high: f64) -> Self {
        let (low, high) = (low.log10(), high.log10());
        let room = ((high - low) * 0.05).max(0.05);
        let (low, high) = (low - room, high + room);
        let digits: &[f64] = if high - low > DECADES { &[1.0] } else { &[1.0, 2.0, 5.0] };
        let mut ticks = Vec::new();
        let mut decade = low.floor();
        while decade <= high {
            ticks.extend(digits.iter().map(|digit| decade + digit.log10()));
            decade += 1.0;
        }
        ticks.retain(|tick| (low..=high).contains(tick));
        Self { name: name.to_owned(), low, high, ticks, logarithmic: true }
    }

    /// Returns what it shows.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The position at its beginning.
    pub fn low(&self) -> f64 {
        self.low
    }

    /// The position at its end.
    pub fn high(&self) -> f64 {
        self.high
    }

    /// The position of a value.
    pub fn at(&self, value: f64) -> f64 {
        if self.logarithmic { value.max(f64::MIN_POSITIVE).log10() } else { value }
    }

    /// Returns what stands at a position.
    pub fn label(&self, position: f64) -> String {
        if self.logarithmic && self.high - self.low > DECADES {
            return power_of_ten(position);
        }
        if self.logarithmic {
            return number(10f64.powf(position));
        }
        let small = (self.high - self.low) * 1e-9;
        number(if position.abs() < small { 0.0 } else { position })
    }
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, position: &f64, (from, to): (i32, i32)) -> i32 {
        let share = (position - self.low) / (self.high - self.low);
        let (from, to) = (f64::from(from), f64::from(to));
        #[expect(clippy::cast_possible_truncation, reason = "pixels; the conversion saturates")]
        let pixel = (from + share * (to - from)).round() as i32;
        pixel
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() { Vec::new() } else { self.ticks.clone() }
    }

    fn range(&self) -> Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Axis {
    fn format(value: &f64) -> String {
        number(*value)
    }
}

/// The number 1, 2 or 5 times a power of ten that is next to a length.
fn nice(length: f64) -> f64 {
    let power = 10f64.powf(length.log10().floor());
    let factors = [1.0, 2.0, 5.0, 10.0];
    let factor = factors.into_iter().find(|factor| factor * power >= length * 0.999);
    factor.unwrap_or(10.0) * power
}

/// As in 10².
fn power_of_ten(position: f64) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = |c: char| c.to_digit(10).map_or('⁻', |digit| DIGITS[digit as usize]);
    "10".chars().chain(format!("{:.0}", position).chars().map(raised)).collect()
}

/// A number with at most six digits that matter.
pub(super) fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    let trimmed = |text: &str| match text.split_once('.') {
        Some(_) => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        None => text.to_owned(),
    };
    if (1e-4..1e6).contains(&size) {
        return trimmed(&format!("{value:.*}", if size < 1.0 { 6 } else { 4 }));
    }
    let text = format!("{value:.4e}");
    match text.split_once('e') {
        Some((digits, power)) => format!("{}e{power}", trimmed(digits)),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis) -> Vec<String> {
        axis.ticks.iter().map(|tick| axis.label(*tick)).collect()
    }

    #[test]
    fn ticks_are_round_numbers() {
        let axis = Axis::linear("x", -0.13, 0.52);
        assert_eq!(labels(&axis), ["-0.1", "0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(labels(&Axis::linear("x", 0.0, 7e6)).last(), Some(&"7e6".to_owned()));
        let axis = Axis::logarithmic("n", 90.0, 7e6);
        assert_eq!(labels(&axis), ["10²", "10³", "10⁴", "10⁵", "10⁶", "10⁷"]);
        assert_eq!(labels(&Axis::logarithmic("n", 0.02, 0.06)), ["0.02", "0.05"]);
        assert_eq!(labels(&Axis::logarithmic("s", 1e-3, 5.0)), ["10⁻³", "10⁻²", "10⁻¹", "10⁰"]);
        let point = Axis::linear("x", 3.0, 3.0);
        assert!(point.low() < 3.0 && 3.0 < point.high());
    }
}
