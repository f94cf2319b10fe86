//! Splits by categories, as splits by thresholds.
//!
//! Libraries cut off what is behind the decimal point of a category, so a set of categories is a
//! union of half-open intervals: its bounds are the thresholds.

use super::ensemble::TreeNode;
use super::rule::{Missing, Precision, Rule, RuleComparison};

/// The rules by which a library reads the number of a category.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct CategoryReading {
    /// In which precision.
    pub precision: Precision,
    /// True if a number between −1 and 0 is category 0; else it is not a category.
    pub zero_from_below: bool,
    /// True if a missing value is in the set.
    pub missing_inside: bool,
}

/// A question whether an input is one of some categories.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Categories {
    /// Ascending thresholds: below the first one an input is outside, then inside, and so on.
    bounds: Vec<(RuleComparison, f64)>,
    reading: CategoryReading,
}

impl Categories {
    /// The question for these categories.
    pub fn new(mut set: Vec<u32>, reading: CategoryReading) -> Self {
        set.sort_unstable();
        set.dedup();
        let mut bounds: Vec<(RuleComparison, f64)> = Vec::new();
        for category in set {
            let (low, high) = (f64::from(category), f64::from(category) + 1.0);
            match bounds.last_mut() {
                Some(last) if last.1.total_cmp(&low).is_eq() => last.1 = high,
                None if category == 0 && reading.zero_from_below => {
                    bounds
                        .extend([(RuleComparison::LessEqual, -1.0), (RuleComparison::Less, high)]);
                }
                Some(_) | None => {
                    bounds.extend([(RuleComparison::Less, low), (RuleComparison::Less, high)]);
                }
            }
        }
        Self { bounds, reading }
    }

    /// The number of nodes of [`nodes`](Self::nodes).
    pub fn size(&self) -> usize {
        self.bounds.len().max(1)
    }

    /// The question as splits, which are numbered from `first` on; `inside` and `outside` are the
    /// nodes that follow. Depth grows with the logarithm of the number of intervals.
    pub fn nodes(
        &self,
        input: usize,
        first: usize,
        [inside, outside]: [usize; 2],
    ) -> Vec<TreeNode> {
        let mut nodes = Vec::with_capacity(self.size());
        if self.bounds.is_empty() {
            // Nothing is inside.
            let rule = self.rule((RuleComparison::Less, 0.0), true);
            return vec![TreeNode::Split { input, rule, left: outside, right: outside }];
        }
        self.part(input, first, [inside, outside], (0, self.bounds.len()), &mut nodes);
        nodes
    }

    /// Appends the splits by the bounds from `low` on, below `high`.
    fn part(
        &self,
        input: usize,
        first: usize,
        [inside, outside]: [usize; 2],
        (low, high): (usize, usize),
        nodes: &mut Vec<TreeNode>,
    ) -> usize {
        if low == high {
            // The pieces between bounds are outside and inside in turn.
            return if low.is_multiple_of(2) { outside } else { inside };
        }
        let middle = usize::midpoint(low, high);
        let own = nodes.len();
        // A missing value goes to the first piece that is inside, or outside.
        let goal = usize::from(self.reading.missing_inside);
        let rule = self.rule(self.bounds[middle], goal <= middle);
        nodes.push(TreeNode::Leaf(Vec::new()));
        let left = self.part(input, first, [inside, outside], (low, middle), nodes);
        let right = self.part(input, first, [inside, outside], (middle + 1, high), nodes);
        nodes[own] = TreeNode::Split { input, rule, left, right };
        first + own
    }

    fn rule(&self, (comparison, threshold): (RuleComparison, f64), missing: bool) -> Rule {
        let missing = Missing::NotANumber(missing);
        Rule { comparison, threshold, precision: self.reading.precision, missing }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ensemble::{Ensemble, Tree};
    use super::*;

    /// Returns whether an input is in the set, by the splits.
    fn is_inside(categories: &Categories, input: f64) -> bool {
        let size = categories.size();
        let mut nodes = categories.nodes(0, 0, [size, size + 1]);
        nodes.extend([TreeNode::Leaf(vec![(0, 1.0)]), TreeNode::Leaf(Vec::new())]);
        let ensemble = Ensemble::new(1, vec![0.0], vec![Tree { nodes }]).expect("a tree");
        ensemble.approximate_scores(&[input])[0] > 0.5
    }

    #[test]
    fn categories_are_inside_and_all_else_is_outside() {
        for set in [vec![], vec![0], vec![3, 1, 1], vec![0, 1, 2, 5, 9, 31, 32], vec![1 << 24]] {
            for zero_from_below in [false, true] {
                for missing_inside in [false, true] {
                    let precision = Precision::Single;
                    let reading = CategoryReading { precision, zero_from_below, missing_inside };
                    let categories = Categories::new(set.clone(), reading);
                    for input in (-3..40).chain([(1 << 24) - 1, 1 << 24, i32::MAX]) {
                        let expected = u32::try_from(input).is_ok_and(|input| set.contains(&input));
                        let found = is_inside(&categories, f64::from(input));
                        assert_eq!(found, expected, "{input} in {set:?}");
                    }
                    assert_eq!(is_inside(&categories, 1.5), set.contains(&1), "{set:?}");
                    let below = zero_from_below && set.contains(&0);
                    assert_eq!(is_inside(&categories, -0.5), below, "{set:?}");
                    let missing = missing_inside && !set.is_empty();
                    assert_eq!(is_inside(&categories, f64::NAN), missing, "{set:?}");
                }
            }
        }
    }
}
