//! Text under construction, in which tags are ours and everything else is text.

use std::fmt::Write as _;

use policert_files::{escaped, shown};

/// A piece of HTML.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Html {
    text: String,
}

impl Html {
    /// Adds an element with what `inside` adds to it. Its name and those of its attributes are texts of
    /// the program; the values of attributes may come from anywhere.
    pub fn element(
        &mut self,
        tag: &'static str,
        attributes: &[(&'static str, &str)],
        inside: impl FnOnce(&mut Self),
    ) {
        self.open(tag, attributes);
        inside(self);
        let _ = write!(self.text, "</{tag}>");
    }

    /// Adds an element that holds a text.
    pub fn leaf(&mut self, tag: &'static str, text: &str) {
        self.element(tag, &[], |html| html.text(text));
    }

    /// Adds an element that never has anything inside, such as `input`.
    pub fn void(&mut self, tag: &'static str, attributes: &[(&'static str, &str)]) {
        self.open(tag, attributes);
    }

    fn open(&mut self, tag: &'static str, attributes: &[(&'static str, &str)]) {
        self.text.push('<');
        self.text += tag;
        for (name, value) in attributes {
            let _ = write!(self.text, " {name}=\"");
            self.escaped(value);
            self.text.push('"');
        }
        self.text.push('>');
    }

    /// Adds a text, which nothing in it can make anything else. A long one loses its middle.
    pub fn text(&mut self, text: &str) {
        self.escaped(&shown(text).to_string());
    }

    /// Adds a text at its full length: for what people copy.
    pub fn whole(&mut self, text: &str) {
        self.escaped(&escaped(text).to_string());
    }

    /// Adds data for a script: JSON in which no tag can end or begin.
    pub fn data(&mut self, id: &str, value: &serde_json::Value) {
        let text = value.to_string().replace('<', "\\u003c").replace('>', "\\u003e");
        self.open("script", &[("type", "application/json"), ("id", id)]);
        self.text += &text;
        self.text += "</script>";
    }

    /// Adds a drawing as an image. What an image holds is never run.
    pub fn picture(&mut self, svg: &str, description: &str) {
        let source = format!("data:image/svg+xml;base64,{}", base64(svg.as_bytes()));
        self.void("img", &[("src", &source), ("alt", description)]);
    }

    /// Adds another piece.
    pub fn add(&mut self, other: &Self) {
        self.text += &other.text;
    }

    /// A style sheet or a script of this program, which holds no tag.
    pub(crate) fn of_program(text: &'static str) -> Self {
        Self { text: text.to_owned() }
    }

    /// The text itself.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn escaped(&mut self, text: &str) {
        for c in text.chars() {
            match c {
                '&' => self.text += "&amp;",
                '<' => self.text += "&lt;",
                '>' => self.text += "&gt;",
                '"' => self.text += "&quot;",
                '\'' => self.text += "&#39;",
                c => self.text.push(c),
            }
        }
    }
}

/// Bytes in base 64 (RFC 4648).
pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for three in bytes.chunks(3) {
        let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place) & 63) as usize];
            text.push(if place > three.len() { '=' } else { char::from(digit) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_as_in_the_standard() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn data_ends_no_script() {
        let mut html = Html::default();
        html.data("d", &serde_json::json!({"a": "</script><b>"}));
        assert_eq!(html.as_str().matches("</script>").count(), 1, "{}", html.as_str());
        assert!(!html.as_str().contains("<b>"));
    }
}
