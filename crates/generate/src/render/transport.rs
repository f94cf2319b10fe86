//! The road with its packages, the bridge, and the truck with its load.

use super::{Names, at};

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

    pub(super) fn draw(&self, state: &[i64]) -> Vec<String> {
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
        // The bridge joins the last two places.
        let bridge = if self.velocity.is_none() && count >= 2 { count - 2 } else { count };
        let (before, after) = ((width - 1) / 2, width - 1 - (width - 1) / 2);
        let road: String = (0..count)
            .map(|k| {
                let side = |is_bridge| if is_bridge { "=" } else { "_" };
                let (left, right) = (side(k == bridge + 1), side(k == bridge));
                format!("{}o{}", left.repeat(before), right.repeat(after))
            })
            .collect();
        let mut lines = vec![top, packages, road];
        if self.beyond.is_some_and(|index| at(state, index) < 0) {
            lines.push("the truck is beyond the end".to_owned());
        }
        lines
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
