//! Categories that a data frame has named, in files of XGBoost.
//!
//! Trees hold positions in the list of a feature's categories. Where the categories are the numbers
//! from 0 on, in order, a category is its position; the library refuses other numbers then.

use std::sync::Arc;

use super::super::column::{Column, Kind, Number, Source, Step};
use super::super::place::At;
use crate::error::PolicyError;

/// Reads the categories that a model names; returns the columns of an ensemble: the features, and
/// behind them those that must be among their categories. None if the model names no categories.
///
/// # Errors
/// If a feature has other categories than the numbers from 0 on, or the lists contradict each other.
pub(super) fn columns(model: &At<'_>, features: usize) -> Result<Vec<Column>, PolicyError> {
    let Some(cats) = model.optional("cats") else { return Ok(Vec::new()) };
    let Some(list) = cats.optional("enc") else { return Ok(Vec::new()) };
    let entries = list.elements()?;
    if entries.is_empty() {
        return Ok(Vec::new());
    }
    list.of_length(features, "features")?;
    let sizes: Vec<usize> = entries.iter().map(size).collect::<Result<_, _>>()?;
    if let Some(at) = cats.optional("feature_segments") {
        let mut ends = vec![0usize];
        for size in &sizes {
            ends.push(ends.last().map_or(0, |end| end + size));
        }
        let given = at.integers()?;
        let fits = |(&end, &given): (&usize, &i64)| usize::try_from(given) == Ok(end);
        if given.len() != ends.len() || !ends.iter().zip(&given).all(fits) {
            return Err(at.invalid("it does not agree with the numbers of categories in `enc`"));
        }
    }
    let column = |input, kind, steps| Column { source: Source::Input(input, kind), steps };
    let of_feature = |input| column(input, Kind::Single, Vec::new());
    let mut columns: Vec<Column> = (0..features).map(of_feature).collect();
    for (input, size) in sizes.into_iter().enumerate().filter(|(_, size)| *size > 0) {
        let known: Arc<[Number]> = (0i64..).take(size).map(Number::Integer).collect();
        columns.push(column(input, Kind::Integer, vec![Step::Among(known)]));
    }
    Ok(columns)
}

/// Returns the number of categories of a feature, which are the numbers from 0 on; 0 if it has none.
fn size(entry: &At<'_>) -> Result<usize, PolicyError> {
    let values = entry.member("values")?;
    let are_texts = match entry.optional("offsets") {
        Some(offsets) => !offsets.elements()?.is_empty(),
        None => false,
    };
    let way = "train with `column.cat.codes`, as the model has them";
    if are_texts {
        let message = format!("categories that are texts are not supported; {way}");
        return Err(entry.unsupported(message));
    }
    let numbers = values.integers().map_err(|_| {
        values.unsupported(format!("categories that are no integers are not supported; {way}"))
    })?;
    match (0i64..).zip(&numbers).find(|(position, number)| position != *number) {
        None => Ok(numbers.len()),
        Some((position, number)) => {
            let message = format!(
                "category {number} stands at position {position}; supported are the categories 0, 1 \
                 and so on, in order: {way}"
            );
            Err(values.unsupported(message))
        }
    }
}

#[cfg(test)]
mod tests {
    use policert_numeric::IntInterval;
    use serde_json::{Value, json};

    use super::*;

    /// The columns of a model with two features, of which the second one has these categories.
    fn read(entry: &Value, segments: &Value) -> Result<Vec<Column>, PolicyError> {
        let none = json!({"offsets": [], "values": []});
        let cats = json!({"enc": [none, entry], "feature_segments": segments});
        columns(&At::root(&json!({"cats": cats})), 2)
    }

    #[test]
    fn categories_that_are_their_positions_are_read() {
        let columns = read(&json!({"type": 15, "values": [0, 1, 2]}), &json!([0, 0, 3]));
        let columns = columns.expect("they are right");
        let inputs: Vec<usize> = columns.iter().flat_map(Column::inputs).collect();
        assert_eq!(inputs, [0, 1, 1]);
        let has_values = |k: usize, hi| columns[k].pieces(IntInterval::new(0, hi)).is_ok();
        assert!(has_values(0, 9) && has_values(1, 9) && has_values(2, 2) && !has_values(2, 3));
        assert!(
            super::columns(&At::root(&json!({"cats": {"enc": []}})), 2).is_ok_and(|c| c.is_empty())
        );
        assert!(super::columns(&At::root(&json!({})), 2).is_ok_and(|c| c.is_empty()));
    }

    #[test]
    fn other_categories_are_refused() {
        let texts = json!({"offsets": [0, 1, 2], "values": [97, 98]});
        let numbers = |values: Value| json!({"type": 15, "values": values});
        for (entry, segments, words, is_invalid) in [
            (texts, json!([0, 0, 2]), "categories that are texts are not supported; train", false),
            (numbers(json!([1, 3])), json!([0, 0, 2]), "category 1 stands at position 0", false),
            (numbers(json!([0, 2, 1])), json!([0, 0, 3]), "category 2 stands at position 1", false),
            (numbers(json!([0.5, 1.5])), json!([0, 0, 2]), "no integers are not supported", false),
            (numbers(json!([0, 1])), json!([0, 0, 3]), "/cats/feature_segments: it does not", true),
            (numbers(json!([0, 1])), json!([0, 2]), "/cats/feature_segments: it does not", true),
        ] {
            let error = read(&entry, &segments).expect_err(words);
            assert!(error.to_string().contains(words), "{error} does not say `{words}`");
            assert_eq!(matches!(error, PolicyError::Invalid { .. }), is_invalid, "{error}");
        }
        let longer = json!({"cats": {"enc": [{"values": []}]}});
        assert!(
            columns(&At::root(&longer), 2)
                .is_err_and(|error| error.to_string().contains("2 features"))
        );
    }
}
