//! States of the domains as pictures of text.
//!
//! A domain is recognised by the names of a model's variables, so models of the same encoding are
//! drawn whoever wrote them. States that make no sense (two tiles on a place) are drawn as far as
//! they do, and the picture says so.

mod beluga;
mod blocksworld;
mod npuzzle;
mod racetrack;
mod transport;

use crate::{GenerateError, Track};
use beluga::Hangar;
use blocksworld::Blocks;
use npuzzle::Tiles;
use racetrack::Race;
use transport::Road;

/// Draws the states of a model.
#[derive(Clone, Debug)]
pub struct StatePicture(Scene);

#[derive(Clone, Debug)]
enum Scene {
    Blocks(Blocks),
    Tiles(Tiles),
    Road(Road),
    Race(Race),
    Cargo(Hangar),
}

impl Scene {
    /// The name of the domain, of one that has no map.
    fn without_map(&self) -> Option<&'static str> {
        match self {
            Self::Blocks(_) => Some("blocksworld"),
            Self::Tiles(_) => Some("npuzzle"),
            Self::Road(_) => Some("transport"),
            Self::Race(_) => None,
            Self::Cargo(_) => Some("beluga"),
        }
    }
}

/// The variables of a model by name: where their values are in a state, and their domains.
struct Names<'a>(&'a [(&'a str, i64, i64)]);

impl Names<'_> {
    fn index(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|(other, ..)| *other == name)
    }

    /// The indices of `prefix0`, `prefix1` and so on, from `first` as long as there are some.
    fn numbered(&self, prefix: &str, first: usize) -> Vec<usize> {
        (first..).map_while(|k| self.index(&format!("{prefix}{k}"))).collect()
    }

    fn domain(&self, index: usize) -> (i64, i64) {
        self.0.get(index).map_or((0, 0), |&(_, lower, upper)| (lower, upper))
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
        let names = Names(variables);
        let blocks = || Blocks::new(&names).map(Scene::Blocks);
        let tiles = || Tiles::new(model, &names).map(Scene::Tiles);
        let road = || Road::new(&names).map(Scene::Road);
        let race = || Race::new(model, &names, track).map(Scene::Race);
        let cargo = || Hangar::new(&names).map(Scene::Cargo);
        let scene = blocks().or_else(tiles).or_else(road).or_else(race).or_else(cargo);
        let scene = scene.ok_or(GenerateError::NoPicture)?;
        match scene.without_map().filter(|_| has_map) {
            Some(domain) => Err(GenerateError::NoRacetrack(domain)),
            None => Ok(Self(scene)),
        }
    }

    /// A state, whose values come in the order of the variables, as lines of text.
    #[must_use]
    pub fn draw(&self, state: &[i64]) -> String {
        let lines = match &self.0 {
            Scene::Blocks(blocks) => blocks.draw(state),
            Scene::Tiles(tiles) => tiles.draw(state),
            Scene::Road(road) => road.draw(state),
            Scene::Race(race) => race.draw(state),
            Scene::Cargo(hangar) => hangar.draw(state),
        };
        lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
    }
}

/// The value at an index; 0 if the state has none.
fn at(state: &[i64], index: usize) -> i64 {
    state.get(index).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Beluga, Blocksworld, NPuzzle, Racetrack, Transport};

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
