//! The road with its packages, the bridge, and the truck with its load.

use policert_page::{Drawing, Look, Shape};

use super::{Names, Scene, at, unit};

#[derive(Clone, Debug)]
pub(super) struct Road {
    /// By place: where the number of its packages is.
    loads: Vec<usize>,
    truck: usize,
    truck_load: usize,
    /// With inertia: where the velocity is. There is no bridge then.
    velocity: Option<usize>,
    /// With inertia: where it is said that the truck is beyond the end.
    beyond: Option<usize>,
}

impl Road {
    pub(super) fn new(names: &Names<'_>) -> Option<Self> {
        let (truck, truck_load) = (names.index("truck_0")?, names.index("truck_load_0")?);
        let loads = names.numbered("location_load_", 0);
        let (velocity, beyond) = (names.index("truck_vel_0"), names.index("aux_vel"));
        let road = Self { loads, truck, truck_load, velocity, beyond };
        (!road.loads.is_empty()).then_some(road)
    }

    /// The place before the bridge, which joins the last two places; there is none with inertia.
    fn bridge(&self) -> Option<usize> {
        let has_bridge = self.velocity.is_none() && self.loads.len() >= 2;
        has_bridge.then(|| self.loads.len() - 2)
    }

    fn is_beyond(&self, state: &[i64]) -> bool {
        self.beyond.is_some_and(|index| at(state, index) < 0)
    }
}

/// How far apart places are, where the road lies, and the most packages that are drawn one by one.
const APART: i64 = 64;
const ROAD: i64 = 96;
const PILE: i64 = 4;

fn place_x(place: usize) -> i64 {
    34 + unit(place) * APART
}

impl Scene for Road {
    fn without_map(&self) -> Option<&'static str> {
        Some("transport")
    }

    fn lines(&self, state: &[i64]) -> Vec<String> {
        let count = self.loads.len();
        let load = at(state, self.truck_load);
        let truck = format!("[{load}]");
        let numbers = self.loads.iter().map(|&index| at(state, index).to_string().len());
        let width = numbers.chain([truck.len()]).max().unwrap_or(0) + 2;
        let place = at(state, self.truck);
        let mut top: String = (0..count)
            .map(|k| {
                let is_here = usize::try_from(place) == Ok(k);
                format!("{:^width$}", if is_here { truck.as_str() } else { "" })
            })
            .collect();
        if let Some(velocity) = self.velocity {
            top = format!("{}  velocity {}", top.trim_end(), at(state, velocity));
        }
        let packages: String =
            self.loads.iter().map(|&index| format!("{:^width$}", at(state, index))).collect();
        let bridge = self.bridge().unwrap_or(count);
        let (before, after) = ((width - 1) / 2, width - 1 - (width - 1) / 2);
        let road: String = (0..count)
            .map(|k| {
                let side = |is_bridge| if is_bridge { "=" } else { "_" };
                let (left, right) = (side(k == bridge + 1), side(k == bridge));
                format!("{}o{}", left.repeat(before), right.repeat(after))
            })
            .collect();
        let mut lines = vec![top, packages, road];
        if self.is_beyond(state) {
            lines.push("the truck is beyond the end".to_owned());
        }
        lines
    }

    fn size(&self) -> (i64, i64) {
        (place_x(self.loads.len()) + 30, ROAD + 74)
    }

    fn ground(&self) -> Vec<Shape> {
        let count = self.loads.len();
        let mut shapes = Vec::new();
        for place in 1..count {
            let (from, to) = (place_x(place - 1), place_x(place));
            if self.bridge() == Some(place - 1) {
                shapes.push(Shape::Line(Look::Ground, [from, ROAD - 3, to, ROAD - 3]));
                shapes.push(Shape::Line(Look::Ground, [from, ROAD + 3, to, ROAD + 3]));
                let middle = [i64::midpoint(from, to), ROAD - 10];
                shapes.push(Shape::Text(Look::Note, middle, "bridge".to_owned()));
            } else {
                shapes.push(Shape::Line(Look::Ground, [from, ROAD, to, ROAD]));
            }
        }
        for place in 0..count {
            shapes.push(Shape::Circle(Look::Grid, [place_x(place), ROAD, 7]));
        }
        shapes
    }

    fn drawing(&self, state: &[i64]) -> Drawing {
        let mut shapes = Vec::new();
        let (place, load) = (at(state, self.truck), at(state, self.truck_load));
        let mut waiting = Vec::new();
        for (here, index) in self.loads.iter().enumerate() {
            let packages = at(state, *index);
            let x = place_x(here);
            if packages > 0 {
                waiting.push(format!("{packages} at place {here}"));
            }
            for pile in 0..packages.clamp(0, PILE) {
                let corner = [x - 22 + pile * 11, ROAD + 14, 10, 10];
                shapes.push(Shape::Rect(Look::Thing, corner));
            }
            let below = [x, ROAD + 42];
            shapes.push(Shape::Text(Look::Note, below, packages.to_string()));
        }
        let count = unit(self.loads.len());
        // Beyond the road it stands at its end, and the text says so.
        let x = place_x(usize::try_from(place.clamp(-1, count)).unwrap_or(0));
        shapes.push(Shape::Rect(Look::Actor, [x - 22, ROAD - 54, 32, 26]));
        shapes.push(Shape::Rect(Look::Actor, [x + 10, ROAD - 44, 12, 16]));
        shapes.push(Shape::Circle(Look::Actor, [x - 13, ROAD - 26, 5]));
        shapes.push(Shape::Circle(Look::Actor, [x + 12, ROAD - 26, 5]));
        shapes.push(Shape::Text(Look::Word, [x - 6, ROAD - 36], load.to_string()));
        let mut text = format!("The truck is at place {place} with a load of {load}");
        if let Some(velocity) = self.velocity.map(|index| at(state, index)) {
            text += &format!(" and velocity {velocity}");
            let words = format!("velocity {velocity}");
            shapes.push(Shape::Text(Look::Note, [x.max(40), ROAD - 62], words));
        }
        text += ". Packages wait: ";
        text += &if waiting.is_empty() { "none".to_owned() } else { waiting.join(", ") };
        text.push('.');
        if self.is_beyond(state) {
            text += " The truck is beyond the end.";
            let words = "beyond the end".to_owned();
            shapes.push(Shape::Text(Look::Harm, [self.size().0 / 2, ROAD + 64], words));
        }
        Drawing { shapes, text }
    }
}

#[cfg(test)]
mod tests {
    use crate::StatePicture;

    #[test]
    fn roads() {
        let places = ["location_load_0", "location_load_1", "location_load_2"];
        let truck = ["truck_0", "truck_load_0"];
        let names = |more: &[&'static str]| -> Vec<(&str, i64, i64)> {
            places.iter().chain(&truck).chain(more).map(|&name| (name, 0, 12)).collect()
        };
        let plain = StatePicture::new("m", &names(&["crossed-overloaded"]), None).expect("a road");
        let text = "      [3]\n  9    0    0\n__o____o====o__\n";
        assert_eq!(plain.draw(&[9, 0, 0, 1, 3, 0]), text);
        let inertial = StatePicture::new("m", &names(&["truck_vel_0", "aux_vel"]), None);
        let text = "           [0]  velocity 2\n  9    0    3\n__o____o____o__\n\
                    the truck is beyond the end\n";
        assert_eq!(inertial.expect("a road").draw(&[9, 0, 3, 2, 0, 2, -1]), text);
    }
}
