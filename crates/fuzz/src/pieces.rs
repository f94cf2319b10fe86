//! The pieces of a text file that a change may move: lines, and what stands between commas, colons
//! and brackets.

/// Start and end of each line, with its break.
pub fn lines(bytes: &[u8]) -> Vec<(usize, usize)> {
    let mut start = 0;
    let mut lines = Vec::new();
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        lines.push((start, start + line.len()));
        start += line.len();
    }
    lines
}

/// Start and end of what stands between separators (a value of JSON, a cell of a list, a word of a
/// script), and of each pair of brackets with what it holds.
pub fn values(bytes: &[u8]) -> Vec<(usize, usize)> {
    let (mut found, mut open, mut start, mut quoted) = (Vec::new(), Vec::new(), None, false);
    for (at, &byte) in bytes.iter().enumerate() {
        if quoted {
            quoted = byte != b'"' || bytes[at - 1] == b'\\';
            continue;
        }
        let is_break = byte.is_ascii_whitespace() || b",:[]{}()=".contains(&byte);
        if is_break && let Some(start) = start.take() {
            found.push((start, at));
        }
        match byte {
            b'[' | b'{' | b'(' => open.push(at),
            b']' | b'}' | b')' => {
                if let Some(begin) = open.pop() {
                    found.push((begin, at + 1));
                }
            }
            b'"' => {
                quoted = true;
                start.get_or_insert(at);
            }
            _ if !is_break => {
                start.get_or_insert(at);
            }
            _ => {}
        }
    }
    if let Some(start) = start {
        found.push((start, bytes.len()));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{lines, values};

    fn texts<'a>(text: &'a str, places: &[(usize, usize)]) -> Vec<&'a str> {
        places.iter().map(|&(start, end)| &text[start..end]).collect()
    }

    #[test]
    fn values_of_json() {
        let text = r#"{"a": [1, "x, y"], "b": -2e5}"#;
        let found = texts(text, &values(text.as_bytes()));
        let expected = ["\"a\"", "1", "\"x, y\"", "[1, \"x, y\"]", "\"b\"", "-2e5", text];
        assert_eq!(found, expected);
    }

    #[test]
    fn lines_with_their_breaks() {
        assert_eq!(texts("a\nb\n\nc", &lines(b"a\nb\n\nc")), ["a\n", "b\n", "\n", "c"]);
    }
}
