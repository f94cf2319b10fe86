//! Tables whose rows can be sorted by each column and filtered by words.

use crate::html::Html;

/// The words of verdicts that have a look of their own: the word, and the name of its style.
pub(crate) const VERDICTS: [(&str, &str); 4] =
    [("safe", "safe"), ("unsafe", "unsafe"), ("unknown", "undecided"), ("error", "undecided")];

/// A cell.
#[derive(Clone, PartialEq, Debug)]
pub enum Cell {
    /// Nothing.
    Empty,
    /// A text; the words of verdicts have a colour besides.
    Text(String),
    /// A text that stands out.
    Best(String),
    /// A number as it is shown, and as it counts when rows are sorted.
    Number(String, f64),
    /// A text that leads to the part of the page with this id.
    Link(String, String),
}

impl Cell {
    /// A number with so many digits after the point; an empty cell if there is none.
    #[must_use]
    pub fn number(value: Option<f64>, digits: usize) -> Self {
        value.map_or(Self::Empty, |value| Self::Number(format!("{value:.digits$}"), value))
    }

    fn add_to(&self, row: &mut Html) {
        match self {
            Self::Empty => row.element("td", &[], |_| ()),
            Self::Text(text) => {
                let style = VERDICTS.iter().find(|(word, _)| word == text).map(|(_, style)| *style);
                row.element("td", &[("class", style.unwrap_or_default())], |td| td.text(text));
            }
            Self::Best(text) => row.element("td", &[], |td| td.leaf("strong", text)),
            Self::Number(text, value) => {
                let value = value.to_string();
                let attributes = [("class", "number"), ("data-value", value.as_str())];
                row.element("td", &attributes, |td| td.text(text));
            }
            Self::Link(text, id) => row.element("td", &[], |td| {
                td.element("a", &[("href", &format!("#{id}"))], |a| a.text(text));
            }),
        }
    }
}

/// A table.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Table {
    /// The id of the table, different from those of others on the page: letters, digits and hyphens.
    pub id: String,
    /// The line above it.
    pub caption: String,
    /// The heads of columns.
    pub columns: Vec<String>,
    /// The rows, each with a cell for every column.
    pub rows: Vec<Vec<Cell>>,
    /// True if it has a field for words that rows must have.
    pub filters: bool,
}

impl Table {
    /// Adds the table to a page.
    pub fn add_to(&self, html: &mut Html) {
        let (field, count) = (format!("{}-filter", self.id), format!("{}-count", self.id));
        if self.filters {
            html.element("div", &[("class", "filter")], |html| {
                html.element("label", &[("for", &field)], |label| {
                    label.text("Rows with these words");
                });
                let attributes =
                    [("type", "search"), ("id", field.as_str()), ("autocomplete", "off")];
                html.void("input", &attributes);
                html.element("output", &[("id", &count), ("for", &field)], |output| {
                    output.text(&format!("{0} of {0} rows", self.rows.len()));
                });
            });
        }
        let label = [
            ("class", "wide"),
            ("role", "region"),
            ("tabindex", "0"),
            ("aria-label", &self.caption),
        ];
        html.element("div", &label, |html| {
            let attributes = [
                ("class", "sorts"),
                ("id", self.id.as_str()),
                ("data-filter", field.as_str()),
                ("data-count", count.as_str()),
            ];
            html.element("table", &attributes, |table| {
                table.leaf("caption", &self.caption);
                table.element("thead", &[], |head| head.element("tr", &[], |row| self.heads(row)));
                table.element("tbody", &[], |body| {
                    for row in &self.rows {
                        body.element("tr", &[], |html| {
                            row.iter().for_each(|cell| cell.add_to(html));
                        });
                    }
                });
            });
        });
    }

    fn heads(&self, row: &mut Html) {
        for (at, name) in self.columns.iter().enumerate() {
            let is_number = |row: &Vec<Cell>| matches!(row.get(at), Some(Cell::Number(..)));
            let class = if self.rows.iter().any(is_number) { "number" } else { "" };
            row.element("th", &[("scope", "col"), ("class", class)], |th| {
                th.element("button", &[("type", "button")], |button| button.text(name));
            });
        }
    }
}
