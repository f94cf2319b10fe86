//! The members of an object as a reader of it takes them, and which keys may be misspelt.

use smallvec::SmallVec;

use super::Json;

/// The members of an object, to be taken one by one; what is left over is unknown.
pub(crate) struct Members<'s> {
    object: Json<'s>,
    members: SmallVec<[(Json<'s>, Json<'s>, bool); 8]>,
    /// Keys that were asked for and are not there.
    absent: SmallVec<[&'static str; 8]>,
}

impl<'s> Members<'s> {
    pub fn new(object: Json<'s>) -> Self {
        let members = object.members().map(|(k, v)| (k, v, false)).collect();
        Self { object, members, absent: SmallVec::new() }
    }

    /// The object whose members they are.
    pub fn object(&self) -> Json<'s> {
        self.object
    }

    /// The value of `key`: the last, if there are several.
    pub fn take(&mut self, key: &'static str) -> Option<Json<'s>> {
        let mut found = None;
        for (k, value, taken) in &mut self.members {
            if !*taken && k.is_key(key) {
                *taken = true;
                found = Some(*value);
            }
        }
        if found.is_none() {
            self.absent.push(key);
        }
        found
    }

    /// The key that was asked for, is not there, and may be meant by an unknown one.
    pub fn meant_by(&self, unknown: &str) -> Option<&'static str> {
        let absent = self.absent.iter().copied();
        absent.filter(|key| is_near(key, unknown)).min_by_key(|key| distance(key, unknown))
    }

    /// Takes all that is left: somebody else complains.
    pub fn take_all(&mut self) {
        self.members.iter_mut().for_each(|(.., taken)| *taken = true);
    }

    /// Keys that nobody took, but for comments and extensions (`x-…`).
    pub fn left_over(&self) -> impl Iterator<Item = Json<'s>> {
        self.members
            .iter()
            .filter(|(key, _, taken)| {
                !taken && !key.is_key("comment") && !key.text().starts_with("\"x-")
            })
            .map(|(key, ..)| *key)
    }
}

/// Returns whether one word may be a misspelling of the other.
fn is_near(key: &str, word: &str) -> bool {
    // A long word may be long on purpose, and comparing it is slow.
    let (length, other) = (key.len(), word.len());
    other <= 2 * length && distance(key, word) <= 1 + usize::from(length > 4) + length / 10
}

/// Returns how many letters must be changed, left out, put in, or exchanged with the next one, to
/// make one word of the other; capitals and separators do not matter.
fn distance(a: &str, b: &str) -> usize {
    let letters = |word: &str| -> Vec<char> {
        word.chars()
            .filter(|c| !matches!(c, '-' | '_' | ' '))
            .flat_map(char::to_lowercase)
            .collect()
    };
    let (a, b) = (letters(a), letters(b));
    let (mut before, mut last): (Vec<usize>, Vec<usize>) = (Vec::new(), (0..=b.len()).collect());
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let changed = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = changed.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}

#[cfg(test)]
mod tests {
    use super::is_near;

    #[test]
    fn misspelt_keys_are_near_and_other_words_are_not() {
        for (key, word) in [
            ("assignments", "assigments"),
            ("assignments", "assignements"),
            ("assignments", "Assignments"),
            ("assignments", "asignments"),
            ("transient-values", "transient_values"),
            ("guard", "gaurd"),
            ("probability", "probabilty"),
            ("exp", "expr"),
            ("op", "ops"),
        ] {
            assert!(is_near(key, word), "{key} {word}");
        }
        for (key, word) in [
            ("assignments", "annotations"),
            ("guard", "rate"),
            ("exp", "rate"),
            ("assignments", &"assignments".repeat(1000)),
        ] {
            assert!(!is_near(key, word), "{key} {word}");
        }
    }
}
