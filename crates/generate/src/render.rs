//! States of the domains as pictures: of text, and of shapes for pages.
//!
//! A domain is recognised by the names of a model's variables, so models of the same encoding are
//! drawn whoever wrote them. States that make no sense (two tiles on a place) are drawn as far as
//! they do, and the picture says so.

mod beluga;
mod blocksworld;
mod icy_road;
mod npuzzle;
mod racetrack;
mod transport;

use policert_page::{Drawing, Pictures, Run, Shape};

use crate::{GenerateError, Track};
use beluga::Hangar;
use blocksworld::Blocks;
use icy_road::IcyRoad;
use npuzzle::Tiles;
use racetrack::Race;
use transport::Road;

/// Draws the states of a model.
#[derive(Clone, Debug)]
pub struct StatePicture(Domain);

#[derive(Clone, Debug)]
enum Domain {
    Blocks(Blocks),
    Tiles(Tiles),
    Road(Road),
    Race(Race),
    Cargo(Hangar),
    IcyRoad(IcyRoad),
}

/// What draws the states of a domain, whose values come in the order of the variables.
trait Scene {
    /// The name of the domain, of one that has no map.
    fn without_map(&self) -> Option<&'static str>;

    /// A state as lines of text.
    fn lines(&self, state: &[i64]) -> Vec<String>;

    /// Width and height of all pictures, in units of a shape.
    fn size(&self) -> (i64, i64);

    /// What all pictures have in common.
    fn ground(&self) -> Vec<Shape>;

    /// A state as shapes and as sentences.
    fn drawing(&self, state: &[i64]) -> Drawing;
}

impl Domain {
    fn new(model: &str, names: &Names<'_>, track: Option<Track>) -> Option<Self> {
        let blocks = || Blocks::new(names).map(Self::Blocks);
        let tiles = || Tiles::new(model, names).map(Self::Tiles);
        let road = || Road::new(names).map(Self::Road);
        let race = || Race::new(model, names, track).map(Self::Race);
        let cargo = || Hangar::new(names).map(Self::Cargo);
        let icy = || IcyRoad::new(model, names).map(Self::IcyRoad);
        blocks().or_else(tiles).or_else(road).or_else(race).or_else(cargo).or_else(icy)
    }

    fn scene(&self) -> &dyn Scene {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Tiles(tiles) => tiles,
            Self::Road(road) => road,
            Self::Race(race) => race,
            Self::Cargo(hangar) => hangar,
            Self::IcyRoad(road) => road,
        }
    }
}

/// The variables of a model by name: where their values are in a state.
struct Names<'a> {
    /// Names, with the least and the greatest value.
    variables: &'a [(&'a str, i64, i64)],
    /// True if these are the values of one run, not the domain of the model.
    are_of_run: bool,
}

impl Names<'_> {
    fn index(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|(other, ..)| *other == name)
    }

    /// The indices of `prefix0`, `prefix1` and so on, from `first` as long as there are some.
    fn numbered(&self, prefix: &str, first: usize) -> Vec<usize> {
        (first..).map_while(|k| self.index(&format!("{prefix}{k}"))).collect()
    }

    fn domain(&self, index: usize) -> (i64, i64) {
        self.variables.get(index).map_or((0, 0), |&(_, lower, upper)| (lower, upper))
    }
}

impl StatePicture {
    /// Returns what draws the states of a model with these variables (name, least and greatest
    /// value). A racetrack has its walls from `track`, else from the built-in map that the model is
    /// named after; without both only the car is drawn.
    ///
    /// # Errors
    /// A model of no domain that is known; a map for a model that is no racetrack.
    pub fn new(
        model: &str,
        variables: &[(&str, i64, i64)],
        track: Option<Track>,
    ) -> Result<Self, GenerateError> {
        let has_map = track.is_some();
        let names = Names { variables, are_of_run: false };
        let domain = Domain::new(model, &names, track).ok_or(GenerateError::NoPicture)?;
        match domain.scene().without_map().filter(|_| has_map) {
            Some(domain) => Err(GenerateError::NoRacetrack(domain)),
            None => Ok(Self(domain)),
        }
    }

    /// Pictures for the states of a run; `None` if they are of no domain that is known. The names of its model
    /// say what map there is.
    #[must_use]
    pub fn of_run(run: &Run<'_>) -> Option<Pictures> {
        let Run { models, variables, states } = run;
        let values = |index: usize| states.iter().map(move |state| at(state, index));
        let extent = |(index, name): (usize, &'_ String)| {
            let (low, high) = (values(index).min(), values(index).max());
            (name.clone(), low.unwrap_or(0), high.unwrap_or(0))
        };
        let extents: Vec<(String, i64, i64)> = variables.iter().enumerate().map(extent).collect();
        let variables: Vec<(&str, i64, i64)> =
            extents.iter().map(|(name, low, high)| (name.as_str(), *low, *high)).collect();
        let names = Names { variables: &variables, are_of_run: true };
        let track = models.iter().find_map(|model| Track::of_model(model));
        let domain = models.iter().find_map(|model| Domain::new(model, &names, track.clone()))?;
        let scene = domain.scene();
        let states = states.iter().map(|state| scene.drawing(state)).collect();
        Some(Pictures { size: scene.size(), ground: scene.ground(), states })
    }

    /// A state, whose values come in the order of the variables, as lines of text.
    #[must_use]
    pub fn draw(&self, state: &[i64]) -> String {
        let lines = self.0.scene().lines(state);
        lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

/// A count or a position as a number of a picture.
fn unit(count: usize) -> i64 {
    i64::try_from(count).unwrap_or(0)
}

/// The value at an index; 0 if the state has none.
fn at(state: &[i64], index: usize) -> i64 {
    state.get(index).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Beluga, Blocksworld, NPuzzle, Racetrack, Transport};

    /// All pictures of a run lie within their size, and their texts differ where their shapes do.
    #[test]
    fn pictures_of_a_run_lie_within_their_size() {
        let names =
            |names: &[&str]| -> Vec<String> { names.iter().map(ToString::to_string).collect() };
        let blocks = names(&["hand-empty", "table-counter", "block_0", "block_1", "block_2"]);
        let tiles = names(&["empty", "tile_1", "tile_2", "tile_3"]);
        let road = names(&["location_load_0", "location_load_1", "truck_0", "truck_load_0"]);
        let race = names(&["car0_x", "car0_y", "car0_dx", "car0_dy", "car0_crashed"]);
        let cargo = names(&[
            "cargo_0",
            "cargo_1",
            "back_cargo_0",
            "back_cargo_1",
            "front_rack_0",
            "arriving",
            "empty_trailer",
            "empty_truck",
            "request",
        ]);
        let icy = names(&["position", "speed"]);
        for (model, variables, states, said) in [
            (
                "m",
                blocks,
                vec![vec![0, 2, 3, 1, 0], vec![1, 3, 1, 1, 1]],
                "The hand holds 2. Stacks",
            ),
            ("m", tiles, vec![vec![0, 1, 2, 3], vec![1, 0, 2, 3]], "top: empty, 1; 2, 3."),
            ("m", road, vec![vec![5, 0, 0, 1], vec![0, 0, 9, 6]], "at place 0 with a load of 1."),
            (
                "racetrack_barto-small",
                race.clone(),
                vec![vec![1, 5, 2, 0, 0], vec![-9, 99, 1, 1, 1]],
                "(1, 5), velocity (2, 0).",
            ),
            ("m", race, vec![vec![1, 5, 2, 0, 0], vec![4, 5, 3, 0, 0]], "(1, 5), velocity (2, 0)."),
            (
                "m",
                cargo,
                vec![vec![1, 0, -1, -1, -1, 1, 1, 1, 0], vec![2, 0, -1, -1, 0, 1, 1, 1, -1]],
                "planes: 0 1. At the factory 0 is wanted.",
            ),
            (
                "icy_road",
                icy,
                vec![vec![17, 2], vec![30, 3]],
                "The truck is at 17, on the ice, speed 2.",
            ),
        ] {
            let run = Run { models: vec!["model", model], variables: &variables, states };
            let pictures = StatePicture::of_run(&run).expect("known");
            assert!(pictures.states[0].text.contains(said), "{}", pictures.states[0].text);
            assert_ne!(pictures.states[0], pictures.states[1]);
            assert_ne!(pictures.states[0].text, pictures.states[1].text);
            let (width, height) = pictures.size;
            let shapes = pictures.states.iter().flat_map(|state| &state.shapes);
            for shape in pictures.ground.iter().chain(shapes) {
                let (left, top, right, bottom) = match shape {
                    Shape::Rect(_, [x, y, w, h]) => (*x, *y, x + w, y + h),
                    Shape::Circle(_, [x, y, r]) => (x - r, y - r, x + r, y + r),
                    Shape::Line(_, [x, y, to_x, to_y]) => {
                        (*x.min(to_x), *y.min(to_y), *x.max(to_x), *y.max(to_y))
                    }
                    Shape::Text(_, [x, y], _) => (*x, *y, *x, *y),
                };
                let is_inside = left >= 0 && top >= 0 && right <= width && bottom <= height;
                assert!(is_inside, "{model}: {shape:?} in {width} by {height}");
            }
        }
        let other = ["x".to_owned()];
        let run = Run { models: vec!["icy_road"], variables: &other, states: vec![vec![1]] };
        assert!(StatePicture::of_run(&run).is_none());
    }

    /// The names are those that the generators write.
    #[test]
    fn generated_models_are_recognised() {
        let npuzzle = NPuzzle { cost_bound: 12, ..NPuzzle::new(2, 3) };
        let track = Track::built_in("barto-small").expect("built in");
        for instance in [
            Blocksworld::new(4).instance(),
            npuzzle.instance(),
            Transport::new(4, 3).instance(),
            Transport { velocity: true, ..Transport::new(4, 3) }.instance(),
            Racetrack::new(track).instance(),
            Beluga::new(4, 2).instance(),
        ] {
            let instance = instance.expect("in range");
            let (lower, upper) = (-10, 50);
            let variables: Vec<_> =
                instance.variables.iter().map(|v| (v.name.as_str(), lower, upper)).collect();
            let picture = StatePicture::new(&instance.name, &variables, None);
            assert!(picture.is_ok(), "{}", instance.name);
            let track = Track::built_in("barto-small");
            let with_map = StatePicture::new(&instance.name, &variables, track).map(|_| ());
            let is_race = instance.name.starts_with("racetrack");
            assert_eq!(with_map.is_ok(), is_race, "{}: {with_map:?}", instance.name);
            let (_, fewer) = variables.split_first().expect("variables");
            assert!(StatePicture::new(&instance.name, fewer, None).is_err(), "{}", instance.name);
        }
        assert!(StatePicture::new("m", &[("x", 0, 1)], None).is_err());
    }
}
