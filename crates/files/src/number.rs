//! Numbers that files write as texts.

/// The double nearest to a number, or about that of a fraction of two; `None` if the text is neither.
#[must_use]
pub fn number_of_text(text: &str) -> Option<f64> {
    let (above, below) = text.split_once('/').unwrap_or((text, "1"));
    Some(above.parse::<f64>().ok()? / below.parse::<f64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::number_of_text;

    #[test]
    fn fractions_and_numbers() {
        assert_eq!(number_of_text("-3/4"), Some(-0.75));
        assert_eq!(number_of_text("1.5e1"), Some(15.0));
        assert_eq!(number_of_text("1/x"), None);
        assert_eq!(number_of_text(""), None);
    }
}
