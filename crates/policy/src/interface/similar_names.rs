//! Names that may have been meant by another one.

/// Names that differ little, as a clause to append.
pub(super) fn near<'a>(name: &str, candidates: impl Iterator<Item = &'a str>) -> String {
    /// At most this many are listed.
    const MANY: usize = 3;
    let limit = 2.max(name.chars().count() / 3);
    let with_distance = candidates.map(|candidate| (distance(name, candidate), candidate));
    let mut close: Vec<_> = with_distance.filter(|(distance, _)| *distance <= limit).collect();
    close.sort_unstable();
    close.truncate(MANY);
    if close.is_empty() {
        return String::new();
    }
    let names: Vec<String> = close.iter().map(|(_, name)| format!("`{name}`")).collect();
    format!("; did you mean {}?", names.join(" or "))
}

/// Number of insertions, deletions and replacements between two names (Levenshtein).
pub(super) fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, expected) in [
            ("", "", 0),
            ("abc", "abc", 0),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("é", "e", 1),
        ] {
            assert_eq!(distance(a, b), expected);
            assert_eq!(distance(b, a), expected);
        }
    }

    #[test]
    fn near_names() {
        let names = ["speed_x", "speed_y", "x", "position"];
        assert_eq!(near("speedx", names.into_iter()), "; did you mean `speed_x` or `speed_y`?");
        assert_eq!(near("unlike", names.into_iter()), "");
    }
}
