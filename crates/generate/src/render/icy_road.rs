//! The truck of the example that the documentation begins with, on its road with ice and a yard.

use policert_page::{Drawing, Look, Shape};

use super::{Names, Scene, at};

/// Positions of the road, of its ice, and of the yard where the truck must be slow.
const ROAD: (i64, i64) = (0, 30);
const ICE: (i64, i64) = (16, 22);
const YARD: (i64, i64) = (26, 30);

#[derive(Clone, Debug)]
pub(super) struct IcyRoad {
    position: usize,
    speed: usize,
}

impl IcyRoad {
    /// The names are common ones: the model must be called so, too.
    pub(super) fn new(model: &str, names: &Names<'_>) -> Option<Self> {
        // Where automata are is written as `name#0`.
        let own = names.variables.iter().filter(|(name, ..)| !name.contains('#'));
        let is_it = model == "icy_road" && own.count() == 2;
        let (position, speed) = (names.index("position")?, names.index("speed")?);
        is_it.then_some(Self { position, speed })
    }
}

/// The width of a position, where the road lies, and the height of its surface.
const STEP: i64 = 24;
const GROUND: i64 = 80;
const SURFACE: i64 = 22;

fn left_of(position: i64) -> i64 {
    20 + (position.clamp(ROAD.0 - 1, ROAD.1 + 1) - ROAD.0) * STEP
}

fn is_in((low, high): (i64, i64), position: i64) -> bool {
    (low..=high).contains(&position)
}

impl Scene for IcyRoad {
    fn without_map(&self) -> Option<&'static str> {
        Some("icy road")
    }

    fn lines(&self, state: &[i64]) -> Vec<String> {
        let (position, speed) = (at(state, self.position), at(state, self.speed));
        let sign = |place: i64| match place {
            place if is_in(ICE, place) => '~',
            place if is_in(YARD, place) => '=',
            _ => '_',
        };
        let positions = ROAD.0..=ROAD.1;
        let truck = positions.clone().map(|place| if place == position { '@' } else { ' ' });
        vec![truck.collect(), positions.map(sign).collect(), format!("speed {speed}")]
    }

    fn size(&self) -> (i64, i64) {
        (left_of(ROAD.1) + STEP + 20, GROUND + SURFACE + 46)
    }

    fn ground(&self) -> Vec<Shape> {
        let stretch = |look, (low, high): (i64, i64)| {
            let width = left_of(high) + STEP - left_of(low);
            Shape::Rect(look, [left_of(low), GROUND, width, SURFACE])
        };
        let word = |(low, high): (i64, i64), text: &str| {
            let middle = i64::midpoint(left_of(low), left_of(high) + STEP);
            Shape::Text(Look::Note, [middle, GROUND + SURFACE + 34], text.to_owned())
        };
        let number = |place: i64| {
            let at = [left_of(place) + STEP / 2, GROUND + SURFACE + 16];
            Shape::Text(Look::Note, at, place.to_string())
        };
        let mut shapes = vec![stretch(Look::Grid, ROAD), stretch(Look::Wall, ICE)];
        shapes.push(stretch(Look::Aim, YARD));
        shapes.extend([word(ICE, "ice"), word(YARD, "yard: be slow")]);
        shapes.extend((ROAD.0..=ROAD.1).step_by(5).map(number));
        shapes
    }

    fn drawing(&self, state: &[i64]) -> Drawing {
        let (position, speed) = (at(state, self.position), at(state, self.speed));
        let left = left_of(position);
        let middle = left + STEP / 2;
        let mut shapes = vec![
            Shape::Rect(Look::Actor, [left - 4, GROUND - 30, STEP, 24]),
            Shape::Rect(Look::Actor, [left + STEP - 4, GROUND - 20, 10, 14]),
            Shape::Circle(Look::Actor, [left + 2, GROUND - 5, 5]),
            Shape::Circle(Look::Actor, [left + STEP - 2, GROUND - 5, 5]),
            Shape::Text(Look::Note, [middle.max(34), GROUND - 50], format!("speed {speed}")),
        ];
        // How far it drives in a step.
        let tip = left_of(position.saturating_add(speed)) + STEP / 2;
        if speed > 0 {
            shapes.push(Shape::Line(Look::Actor, [middle, GROUND - 40, tip, GROUND - 40]));
            shapes.push(Shape::Line(Look::Actor, [tip - 7, GROUND - 45, tip, GROUND - 40]));
            shapes.push(Shape::Line(Look::Actor, [tip - 7, GROUND - 35, tip, GROUND - 40]));
        }
        let place = match position {
            position if is_in(ICE, position) => ", on the ice",
            position if is_in(YARD, position) => ", in the yard",
            _ => "",
        };
        Drawing { shapes, text: format!("The truck is at {position}{place}, speed {speed}.") }
    }
}

#[cfg(test)]
mod tests {
    use crate::StatePicture;

    #[test]
    fn a_truck_on_the_ice() {
        let variables = [("position", 0, 30), ("speed", 0, 3)];
        let picture = StatePicture::new("icy_road", &variables, None).expect("known");
        let text = "                   @\n________________~~~~~~~___=====\nspeed 2\n";
        assert_eq!(picture.draw(&[19, 2]), text);
        // Other models have a position and a speed, too.
        assert!(StatePicture::new("lift", &variables, None).is_err());
        let more = [("position", 0, 30), ("speed", 0, 3), ("x", 0, 1)];
        assert!(StatePicture::new("icy_road", &more, None).is_err());
    }
}
