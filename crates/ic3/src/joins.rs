//! What is known of whether it helps to widen reasons together.

/// Says how often it helped to widen other reasons with one, by variable; old times count less.
#[derive(Debug)]
pub(crate) struct Joins {
    tried: Vec<f64>,
    helped: Vec<f64>,
}

/// Tries that are made before success counts.
const FREE_TRIES: f64 = 4.0;

/// The part of the tries that must help for further ones to be worthwhile.
const WORTHWHILE: f64 = 0.125;

/// The factor by which the weight of a past try falls with each later one.
const FADING: f64 = 0.98;

impl Joins {
    pub fn new(variables: usize) -> Self {
        Self { tried: vec![0.0; variables], helped: vec![0.0; variables] }
    }

    /// Returns whether it is worth a try. Where it is not, tries become rare, and are not given up.
    pub fn pay(&mut self, variable: usize) -> bool {
        let pay = self.helped[variable] >= WORTHWHILE * (self.tried[variable] - FREE_TRIES);
        if !pay {
            self.tried[variable] *= FADING;
        }
        pay
    }

    pub fn note(&mut self, variable: usize, helped: bool) {
        self.tried[variable] = self.tried[variable] * FADING + 1.0;
        self.helped[variable] = self.helped[variable] * FADING + f64::from(u8::from(helped));
    }
}
