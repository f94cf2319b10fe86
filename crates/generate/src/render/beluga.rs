//! The cargo of Beluga: what is still in the planes, on trailer, truck and racks, and at the factory.

use super::{Names, at};

#[derive(Clone, Debug)]
pub(super) struct Hangar {
    /// By piece of cargo: where its place is, and its neighbour towards the back.
    cargo: Vec<(usize, usize)>,
    /// By rack: where the cargo at its front is.
    fronts: Vec<usize>,
    request: usize,
}

impl Hangar {
    pub(super) fn new(names: &Names<'_>) -> Option<Self> {
        let request = names.index("request")?;
        let backs = names.numbered("back_cargo_", 0);
        let cargo: Vec<_> = names.numbered("cargo_", 0).into_iter().zip(backs).collect();
        let fronts = names.numbered("front_rack_", 0);
        let is_whole = !cargo.is_empty()
            && !fronts.is_empty()
            && ["arriving", "empty_trailer", "empty_truck"]
                .iter()
                .all(|n| names.index(n).is_some());
        is_whole.then_some(Self { cargo, fronts, request })
    }

    pub(super) fn draw(&self, state: &[i64]) -> Vec<String> {
        let place = |i: usize| usize::try_from(at(state, self.cargo[i].0)).ok();
        let pieces = 0..self.cargo.len();
        let (count, racks) = (self.cargo.len(), self.fronts.len());
        let list = |pieces: Vec<usize>| match &pieces[..] {
            [] => "-".to_owned(),
            _ => pieces.iter().map(|i| format!("[{i}]")).collect::<Vec<_>>().join(" "),
        };
        let on =
            |wanted: usize| list(pieces.clone().filter(|&i| place(i) == Some(wanted)).collect());
        // The greatest rank comes first.
        let mut planes: Vec<usize> =
            pieces.clone().filter(|&i| place(i).is_some_and(|place| place < count)).collect();
        planes.sort_by_key(|&i| std::cmp::Reverse(place(i)));
        let mut lines = vec![format!("planes   {}", list(planes))];
        lines.push(format!("trailer  {}", on(count + racks)));
        for (rack, &front) in self.fronts.iter().enumerate() {
            let mut row = Vec::new();
            let mut next = usize::try_from(at(state, front)).ok();
            while let Some(i) = next.filter(|&i| i < count && row.len() < count) {
                row.push(i);
                next = usize::try_from(at(state, self.cargo[i].1)).ok();
            }
            lines.push(format!("rack {rack}   {}", list(row)));
        }
        lines.push(format!("truck    {}", on(count + racks + 1)));
        let wanted = match at(state, self.request) {
            none if none < 0 => "nothing is wanted".to_owned(),
            i => format!("[{i}] is wanted"),
        };
        lines.push(format!("factory  {}, {wanted}", on(count + racks + 2)));
        lines
    }
}

#[cfg(test)]
mod tests {
    use crate::StatePicture;

    #[test]
    fn racks() {
        let names = [
            "cargo_0",
            "cargo_1",
            "cargo_2",
            "cargo_3",
            "back_cargo_0",
            "back_cargo_1",
            "back_cargo_2",
            "back_cargo_3",
            "front_rack_0",
            "front_rack_1",
            "arriving",
            "empty_trailer",
            "empty_truck",
            "request",
        ];
        let variables = names.map(|name| (name, -1, 8));
        let picture = StatePicture::new("beluga", &variables, None).expect("recognised");
        // 2 is in its plane, 3 and 1 on rack 1, 0 at the factory.
        let state = [8, 5, 0, 5, -1, -1, -1, 1, -1, 3, 1, 1, 1, 1];
        let text = "planes   [2]\ntrailer  -\nrack 0   -\nrack 1   [3] [1]\ntruck    -\n\
                    factory  [0], [1] is wanted\n";
        assert_eq!(picture.draw(&state), text);
    }
}
