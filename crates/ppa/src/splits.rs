//! Predicate sets by binary search (PPA 2022, Section 8.3): for each variable v with values
//! lo..=hi a share of the predicates v ≥ c, c in lo+1..=hi, middle first.
//!
//! The share is meant of the maximal set, in which every value of every variable is told apart.
//! Without variables that come last it is the same for each variable; with them, the others get
//! everything until they are full. Each variable's part is rounded up.

use std::collections::VecDeque;

use policert_model::{BinaryOp, Condition, Expr, Model, Predicate, VarId};
use policert_numeric::IntInterval;
use thiserror::Error;

/// The most predicates that are made.
const PREDICATE_LIMIT: u128 = 100_000;

/// Says how much of the maximal predicate set is taken.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Splits {
    /// Percent of the maximal set. [range: 0..=100]
    pub percent: u8,
    /// Variables that get their thresholds after all others are full: patterns for names, in
    /// which `*` stands for any text and `?` for one character.
    pub last: Vec<String>,
}

/// A predicate set that cannot be made.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum SplitsError {
    /// More than all.
    #[error("splits: {0} percent is more than all")]
    Percent(u8),
    /// A pattern without variable.
    #[error("splits: no variable has a name like `{0}`")]
    NoVariable(String),
    /// A variable without bounds.
    #[error("splits: variable {0} lacks a bound")]
    Unbounded(String),
    /// More predicates than can be handled.
    #[error("splits: {0} predicates are too many; the limit is {PREDICATE_LIMIT}")]
    TooMany(u128),
}

impl Splits {
    /// The predicates for the variables of a model, in the order of the variables; those of one
    /// variable ascend.
    ///
    /// # Errors
    /// More than 100 percent, a pattern that matches nothing, a variable without bounds, or too
    /// many predicates.
    pub fn predicates(&self, model: &Model) -> Result<Vec<Predicate>, SplitsError> {
        let counts = self.counts(model)?;
        let mut predicates = Vec::new();
        for (index, (variable, count)) in model.variables.iter().zip(counts).enumerate() {
            let mut thresholds = binary_search_order(variable.domain, count);
            thresholds.sort_unstable();
            predicates.extend(thresholds.into_iter().map(|threshold| Predicate {
                text: format!("{} >= {threshold}", variable.name),
                condition: at_least(VarId::new(index), threshold),
            }));
        }
        Ok(predicates)
    }

    /// Returns how many thresholds each variable gets.
    fn counts(&self, model: &Model) -> Result<Vec<usize>, SplitsError> {
        if self.percent > 100 {
            return Err(SplitsError::Percent(self.percent));
        }
        let is_like = |name: &str, pattern: &String| matches_pattern(pattern, name);
        for pattern in &self.last {
            if !model.variables.iter().any(|v| is_like(&v.name, pattern)) {
                return Err(SplitsError::NoVariable(pattern.clone()));
            }
        }
        let mut variables = Vec::with_capacity(model.variables.len());
        // Thresholds of the variables that come first and of those that come last.
        let mut maximal = [0u128; 2];
        for v in &model.variables {
            let values = v.domain.count().ok_or_else(|| SplitsError::Unbounded(v.name.clone()))?;
            let comes_last = self.last.iter().any(|pattern| is_like(&v.name, pattern));
            let thresholds = values.saturating_sub(1);
            maximal[usize::from(comes_last)] += thresholds;
            variables.push((thresholds, comes_last));
        }
        // In hundredths of a predicate.
        let asked = (maximal[0] + maximal[1]) * u128::from(self.percent);
        if asked > PREDICATE_LIMIT * 100 {
            return Err(SplitsError::TooMany(asked / 100));
        }
        let for_first = asked.min(maximal[0] * 100);
        let shares = [for_first, asked - for_first];
        let counts = variables.into_iter().map(|(thresholds, comes_last)| {
            let (share, whole) =
                (shares[usize::from(comes_last)], maximal[usize::from(comes_last)] * 100);
            if whole == 0 { 0 } else { (thresholds * share).div_ceil(whole) }
        });
        let too_many = |count: u128| SplitsError::TooMany(count);
        counts.map(|count| usize::try_from(count).map_err(|_| too_many(count))).collect()
    }
}

/// The first thresholds of a domain in the order of binary search: the middle one of all, then the
/// middle ones below and above it, and so on, level by level. Of two middle ones it is the lower.
fn binary_search_order(domain: IntInterval, count: usize) -> Vec<i64> {
    let mut order = Vec::with_capacity(count);
    let mut gaps = VecDeque::from([IntInterval::new(domain.lo.saturating_add(1), domain.hi)]);
    while order.len() < count
        && let Some(gap) = gaps.pop_front()
    {
        if gap.is_empty() {
            continue;
        }
        let middle = gap.midpoint();
        order.push(middle);
        gaps.push_back(IntInterval::new(gap.lo, middle.saturating_sub(1)));
        gaps.push_back(IntInterval::new(middle.saturating_add(1), gap.hi));
    }
    order
}

/// v ≥ threshold.
fn at_least(v: VarId, threshold: i64) -> Condition {
    Condition::from_expr(&Expr::binary(BinaryOp::Le, Expr::int(threshold), Expr::Var(v)))
}

/// Returns whether a name is like a pattern: `*` stands for any text, `?` for one character,
/// everything else for itself.
fn matches_pattern(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), name.chars().collect());
    // Where the last `*` was, and up to where of the name it stands for.
    let mut star: Option<(usize, usize)> = None;
    let (mut p, mut n) = (0, 0);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match &mut star {
                None => return false,
                Some((at, end)) => {
                    *end += 1;
                    (p, n) = (*at + 1, *end);
                }
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use policert_model::{Variable, VariableKind};

    fn model(domains: &[(&str, i64, i64)]) -> Model {
        let variable = |&(name, lo, hi): &(&str, i64, i64)| Variable {
            name: name.to_owned(),
            kind: VariableKind::Integer,
            domain: IntInterval::new(lo, hi),
        };
        Model {
            name: String::new(),
            variables: domains.iter().map(variable).collect(),
            transients: Vec::new(),
            labels: Vec::new(),
            instances: Vec::new(),
            vectors: Vec::new(),
            initial_values: Vec::new(),
            initial_condition: Condition::True,
        }
    }

    /// The texts of the predicates, with blanks between them.
    fn texts(model: &Model, percent: u8, last: &[&str]) -> Result<String, SplitsError> {
        let last = last.iter().map(|&pattern| pattern.to_owned()).collect();
        let predicates = Splits { percent, last }.predicates(model)?;
        let texts: Vec<String> = predicates.iter().map(|p| p.text.replace(' ', "")).collect();
        Ok(texts.join(" "))
    }

    #[test]
    fn thresholds_come_middle_first() {
        let order = |lo, hi| binary_search_order(IntInterval::new(lo, hi), 100);
        assert_eq!(order(0, 6), [3, 1, 5, 2, 4, 6]);
        assert_eq!(order(0, 7), [4, 2, 6, 1, 3, 5, 7]);
        assert_eq!(order(0, 12), [6, 3, 9, 1, 4, 7, 11, 2, 5, 8, 10, 12]);
        assert_eq!(order(-3, 3), [0, -2, 2, -1, 1, 3]);
        assert_eq!(order(0, 1), [1]);
        assert_eq!(order(5, 5), [0; 0]);
        assert_eq!(binary_search_order(IntInterval::new(0, 1 << 40), 2), [1 << 39, 1 << 38]);
    }

    #[test]
    fn each_variable_gets_its_percentage_rounded_up() {
        let model = model(&[("x", 0, 6), ("b", 0, 1), ("c", 4, 4), ("y", -1, 3)]);
        let texts = |percent| texts(&model, percent, &[]);
        assert_eq!(texts(0), Ok(String::new()));
        assert_eq!(texts(1), Ok("x>=3 b>=1 y>=1".to_owned()));
        // 3 of 6, 1 of 1, 2 of 4: the order for y is 1, 0, 2, 3.
        assert_eq!(texts(50), Ok("x>=1 x>=3 x>=5 b>=1 y>=0 y>=1".to_owned()));
        // 3.06 of 6, 2.04 of 4
        assert_eq!(texts(51), Ok("x>=1 x>=2 x>=3 x>=5 b>=1 y>=0 y>=1 y>=2".to_owned()));
        let all = "x>=1 x>=2 x>=3 x>=4 x>=5 x>=6 b>=1 y>=0 y>=1 y>=2 y>=3";
        assert_eq!(texts(100), Ok(all.to_owned()));
    }

    #[test]
    fn last_variables_wait_until_the_others_are_full() {
        // 6 + 2 thresholds first, 2 + 6 thresholds last: 16 in all.
        let model = model(&[("x", 0, 6), ("cost_x", 0, 2), ("y", 0, 2), ("cost_y", 0, 6)]);
        let texts = |percent| texts(&model, percent, &["cost_*"]);
        // 4 of 8 thresholds of x and y.
        assert_eq!(texts(25), Ok("x>=1 x>=3 x>=5 y>=1".to_owned()));
        let full = "x>=1 x>=2 x>=3 x>=4 x>=5 x>=6";
        assert_eq!(texts(50), Ok(format!("{full} y>=1 y>=2")));
        // 0.16 of the 8 others.
        assert_eq!(texts(51), Ok(format!("{full} cost_x>=1 y>=1 y>=2 cost_y>=3")));
        // 4 of the 8 others.
        assert_eq!(
            texts(75),
            Ok(format!("{full} cost_x>=1 y>=1 y>=2 cost_y>=1 cost_y>=3 cost_y>=5"))
        );
        assert_eq!(texts(100).map(|all| all.split(' ').count()), Ok(16));
        // All variables last is as good as none.
        assert_eq!(super::tests::texts(&model, 30, &["*"]), super::tests::texts(&model, 30, &[]));
    }

    #[test]
    fn what_cannot_be_split_is_refused() {
        let bounded = model(&[("x", 0, 6)]);
        assert_eq!(texts(&bounded, 101, &[]), Err(SplitsError::Percent(101)));
        assert_eq!(texts(&bounded, 50, &["y"]), Err(SplitsError::NoVariable("y".to_owned())));
        let unbounded = model(&[("x", 0, IntInterval::UNBOUNDED_ABOVE)]);
        assert_eq!(texts(&unbounded, 50, &[]), Err(SplitsError::Unbounded("x".to_owned())));
        let huge = model(&[("x", i64::MIN + 1, i64::MAX - 1)]);
        assert!(matches!(texts(&huge, 1, &[]), Err(SplitsError::TooMany(_))));
        assert_eq!(texts(&huge, 0, &[]), Ok(String::new()));
    }

    #[test]
    fn patterns() {
        for (pattern, name) in [
            ("cost", "cost"),
            ("*", ""),
            ("*cost*", "step_cost"),
            ("cost_?", "cost_3"),
            ("a[*].v", "a[12].v"),
            ("*ab*ab", "xababab"),
        ] {
            assert!(matches_pattern(pattern, name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("cost", "cost_0"), ("cost_?", "cost_"), ("", "x"), ("*ab", "aba"), ("a?", "a")]
        {
            assert!(!matches_pattern(pattern, name), "{pattern} {name}");
        }
    }
}
