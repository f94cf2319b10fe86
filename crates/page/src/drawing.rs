//! Pictures of states: shapes on a common ground, with a text that says the same.

use serde_json::{Value, json};

use crate::html::Html;

/// The look of a shape. Each look differs from the others without colour, too: by its line, its filling
/// or the letter on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// Where things stand: a thick line.
    Ground,
    /// Thin lines that divide the ground.
    Grid,
    /// What nothing can go through: filled.
    Wall,
    /// Where a run is to arrive: dashed.
    Aim,
    /// A thing that is moved.
    Thing,
    /// What acts: a vehicle, a hand.
    Actor,
    /// A sign of harm.
    Harm,
    /// A text.
    Word,
    /// A small text, such as a number of a place.
    Note,
}

impl Look {
    fn name(self) -> &'static str {
        match self {
            Self::Ground => "ground",
            Self::Grid => "grid",
            Self::Wall => "wall",
            Self::Aim => "aim",
            Self::Thing => "thing",
            Self::Actor => "actor",
            Self::Harm => "harm",
            Self::Word => "word",
            Self::Note => "note-word",
        }
    }
}

/// A shape; lengths are in units of the picture, to the right and downwards.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Shape {
    /// A rectangle: its upper left corner, width and height.
    Rect(Look, [i64; 4]),
    /// A circle: its centre and its radius.
    Circle(Look, [i64; 3]),
    /// A line between two points.
    Line(Look, [i64; 4]),
    /// A text around a point on its base line.
    Text(Look, [i64; 2], String),
}

/// The attributes of elements of SVG, in the order of the numbers of a shape.
const RECT: [&str; 4] = ["x", "y", "width", "height"];
const CIRCLE: [&str; 3] = ["cx", "cy", "r"];
const LINE: [&str; 4] = ["x1", "y1", "x2", "y2"];
const TEXT: [&str; 2] = ["x", "y"];

impl Shape {
    fn parts(&self) -> (&'static str, Look, &'static [&'static str], &[i64], Option<&str>) {
        match self {
            Self::Rect(look, numbers) => ("rect", *look, &RECT, numbers, None),
            Self::Circle(look, numbers) => ("circle", *look, &CIRCLE, numbers, None),
            Self::Line(look, numbers) => ("line", *look, &LINE, numbers, None),
            Self::Text(look, numbers, text) => ("text", *look, &TEXT, numbers, Some(text)),
        }
    }

    fn add_to(&self, html: &mut Html) {
        let (tag, look, names, numbers, text) = self.parts();
        let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        let places = names.iter().zip(&numbers).map(|(name, number)| (*name, number.as_str()));
        let attributes: Vec<(&'static str, &str)> =
            [("class", look.name())].into_iter().chain(places).collect();
        html.element(tag, &attributes, |html| html.text(text.unwrap_or_default()));
    }

    /// The shape for the page's script: tag, class, attributes, text.
    fn data(&self) -> Value {
        let (tag, look, names, numbers, text) = self.parts();
        let places: serde_json::Map<String, Value> =
            names.iter().zip(numbers).map(|(name, n)| ((*name).to_owned(), json!(n))).collect();
        json!([tag, look.name(), places, text.unwrap_or_default()])
    }
}

/// A picture of a state.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Drawing {
    /// What is drawn on the ground.
    pub shapes: Vec<Shape>,
    /// The same in a sentence or two, for people who do not see it.
    pub text: String,
}

/// Pictures of the states of a run.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Pictures {
    /// Width and height.
    pub size: (i64, i64),
    /// What all pictures have in common.
    pub ground: Vec<Shape>,
    /// The pictures, by state.
    pub states: Vec<Drawing>,
}

/// The most shapes of a film; pictures of further states are left out.
const MOST_SHAPES: usize = 60_000;

impl Pictures {
    /// Adds the picture of the first state, and what the page's script needs for the others.
    pub(crate) fn add_to(&self, html: &mut Html, id: &str) {
        let Some(first) = self.states.first() else { return };
        let (width, height) = self.size;
        let view = format!("0 0 {width} {height}");
        let (width, data) = (width.to_string(), format!("{id}-pictures"));
        html.element("figure", &[("class", "scene")], |figure| {
            let attributes = [
                ("viewBox", view.as_str()),
                ("width", width.as_str()),
                ("role", "img"),
                ("aria-label", first.text.as_str()),
                ("data-pictures", data.as_str()),
            ];
            figure.element("svg", &attributes, |svg| {
                svg.element("g", &[], |g| self.ground.iter().for_each(|shape| shape.add_to(g)));
                svg.element("g", &[("class", "moving")], |g| {
                    first.shapes.iter().for_each(|shape| shape.add_to(g));
                });
            });
            figure.leaf("figcaption", &first.text);
        });
        let mut count = 0;
        let kept = self.states.iter().take_while(|state| {
            count += state.shapes.len();
            count <= MOST_SHAPES
        });
        let kept: Vec<Value> = kept
            .map(|state| {
                let shapes: Vec<Value> = state.shapes.iter().map(Shape::data).collect();
                json!([state.text, shapes])
            })
            .collect();
        html.data(&data, &json!(kept));
    }
}
