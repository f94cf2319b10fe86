//! Words of a command with names in braces: `{blocks}` stands for a value of that name, `{{` for a
//! brace.

use std::collections::BTreeMap;

use super::value::Words;

/// The values of names.
pub(super) type Values = BTreeMap<String, Words>;

/// The folder of generated files: this name keeps its braces until a run begins.
pub(crate) const WORK: &str = "{work}";

/// Words with their names replaced.
///
/// # Errors
/// A name that has no value, or a list that is to stand within a word.
pub(super) fn filled(words: &[String], values: &Values) -> Result<Vec<String>, String> {
    let mut result = Vec::new();
    for word in words {
        let whole = word.strip_prefix('{').and_then(|word| word.strip_suffix('}'));
        match whole.and_then(|name| values.get(name)) {
            Some(Words::Several(several)) => result.extend(filled(several, values)?),
            Some(Words::One(_)) | None => result.push(filled_word(word, values)?),
        }
    }
    Ok(result)
}

/// One word with its names replaced.
pub(super) fn filled_word(word: &str, values: &Values) -> Result<String, String> {
    let mut result = String::new();
    let mut rest = word;
    while let Some(at) = rest.find(['{', '}']) {
        result += &rest[..at];
        let brace = &rest[at..=at];
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(brace) {
            result += brace;
            rest = after;
            continue;
        }
        let (name, after) = match rest.split_once('}') {
            Some(parts) if brace == "{" => parts,
            _ => return Err(format!("`{word}`: a brace is written twice where it is no name's")),
        };
        rest = after;
        match values.get(name) {
            _ if name == "work" => result += WORK,
            Some(Words::One(text)) => result += text,
            Some(Words::Several(_)) => {
                return Err(format!(
                    "`{word}`: {name} is a list, which stands as a word of its own"
                ));
            }
            None => return Err(format!("`{word}`: there is no value {name}")),
        }
    }
    Ok(result + rest)
}

/// The names in some words, whether they have values or not.
pub(super) fn names<'a>(words: impl IntoIterator<Item = &'a String>) -> Vec<&'a str> {
    let mut names = Vec::new();
    for word in words {
        for part in word.split('{').skip(1) {
            names.extend(part.split_once('}').map(|(name, _)| name));
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_replaced() {
        let one = |text: &str| Words::One(text.to_owned());
        let values: Values = [
            ("n".to_owned(), one("4")),
            ("last".to_owned(), Words::Several(vec!["--last".to_owned(), "c{n}*".to_owned()])),
            ("none".to_owned(), Words::Several(Vec::new())),
        ]
        .into();
        let fill = |word: &str| filled(&[word.to_owned()], &values);
        assert_eq!(fill("a{n}_{n}.jani").expect("known"), ["a4_4.jani"]);
        assert_eq!(fill("{last}").expect("known"), ["--last", "c4*"]);
        assert_eq!(fill("{none}").expect("known"), [""; 0]);
        assert_eq!(fill("{{x}} {work}/m").expect("known"), ["{x} {work}/m"]);
        for wrong in ["{m}", "a{last}", "a{n", "}"] {
            assert!(fill(wrong).is_err(), "{wrong}");
        }
    }
}
