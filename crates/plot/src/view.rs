//! The part of a plane that is drawn, and what of a rectangle lies in it.

/// A rectangle: lower and upper bound of x, then of y.
pub(super) type Sides = [f64; 4];

/// The part of a rectangle that lies in a view, if some does.
pub(super) fn clipped(sides: &Sides, view: &Sides) -> Option<Sides> {
    let inside = [
        sides[0].max(view[0]),
        sides[1].min(view[1]),
        sides[2].max(view[2]),
        sides[3].min(view[3]),
    ];
    (inside[0] <= inside[1] && inside[2] <= inside[3]).then_some(inside)
}

/// The part of a rectangle that lies in a view, at least so large that it can be seen.
pub(super) fn drawn(sides: &Sides, view: &Sides) -> Option<Sides> {
    let mut inside = clipped(sides, view)?;
    for at in [0, 2] {
        let least = (view[at + 1] - view[at]) * 4e-4;
        let missing = (least - (inside[at + 1] - inside[at])).max(0.0);
        inside[at] = (inside[at] - missing / 2.0).max(view[at]);
        inside[at + 1] = (inside[at + 1] + missing / 2.0).min(view[at + 1]);
    }
    Some(inside)
}

/// The edges of a region that lie in a view.
pub(super) fn edges(sides: &Sides, view: &Sides) -> Vec<[(f64, f64); 2]> {
    let Some([left, right, bottom, top]) = clipped(sides, view) else { return Vec::new() };
    let mut edges = Vec::new();
    for (at, edge) in [
        (0, [(left, bottom), (left, top)]),
        (1, [(right, bottom), (right, top)]),
        (2, [(left, bottom), (right, bottom)]),
        (3, [(left, top), (right, top)]),
    ] {
        let low = at / 2 * 2;
        if (view[low]..=view[low + 1]).contains(&sides[at]) {
            edges.push(edge);
        }
    }
    edges
}

/// The part of the plane that is drawn.
#[derive(Clone, Debug)]
pub(super) struct View(Sides);

impl Default for View {
    fn default() -> Self {
        Self([f64::INFINITY, f64::NEG_INFINITY, f64::INFINITY, f64::NEG_INFINITY])
    }
}

impl View {
    /// Makes room for the finite bounds of a rectangle.
    pub fn include(&mut self, sides: &Sides) {
        for (at, &value) in sides.iter().enumerate().filter(|(_, value)| value.is_finite()) {
            let low = at / 2 * 2;
            self.0[low] = self.0[low].min(value);
            self.0[low + 1] = self.0[low + 1].max(value);
        }
    }

    /// The same, but no farther than once its length beyond `core`.
    pub fn include_near(&mut self, sides: &Sides, core: &Self) {
        let mut near = *sides;
        for (at, value) in near.iter_mut().enumerate().filter(|(_, value)| value.is_finite()) {
            let low = at / 2 * 2;
            let (from, to) = (core.0[low], core.0[low + 1]);
            if to > from {
                *value = value.clamp(from - (to - from), to + (to - from));
            }
        }
        self.include(&near);
    }

    /// The view with a margin; of some length along both axes.
    pub fn with_room(&self) -> Sides {
        let mut sides = self.0;
        for at in [0, 2] {
            let (low, high) = (sides[at], sides[at + 1]);
            let (low, high) = if low <= high { (low, high) } else { (0.0, 1.0) };
            let room = ((high - low) * 0.05).max(low.abs().max(high.abs()) * 1e-6).max(1e-9);
            (sides[at], sides[at + 1]) = (low - room, high + room);
        }
        sides
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: Sides = [0.0, 4.0, 0.0, 2.0];

    #[test]
    fn what_lies_outside_is_cut_off() {
        assert_eq!(clipped(&[-1.0, 1.0, 1.0, 9.0], &VIEW), Some([0.0, 1.0, 1.0, 2.0]));
        assert_eq!(clipped(&[5.0, 6.0, 1.0, 9.0], &VIEW), None);
        let point = drawn(&[1.0, 1.0, 2.0, 2.0], &VIEW).expect("inside");
        assert!(point[0] < 1.0 && 1.0 < point[1] && point[2] < 2.0 && point[3] <= 2.0);
        // Of a region that is endless upwards, three edges are drawn.
        assert_eq!(edges(&[1.0, 2.0, 1.0, f64::INFINITY], &VIEW).len(), 3);
        assert_eq!(edges(&[5.0, 6.0, 1.0, 2.0], &VIEW).len(), 0);
    }

    #[test]
    fn a_view_grows_to_what_is_near() {
        let mut core = View::default();
        core.include(&[0.0, 1.0, 0.0, 1.0]);
        let mut view = core.clone();
        view.include_near(&[0.5, 1.5, f64::NEG_INFINITY, 1e300], &core);
        let [left, right, bottom, top] = view.with_room();
        assert!(left < 0.0 && left > -0.1 && right > 1.5 && right < 1.6);
        assert!(bottom < 0.0 && bottom > -0.2 && top > 2.0 && top < 2.2);
        let nothing = View::default().with_room();
        assert!(nothing[0] < nothing[1] && nothing[2] < nothing[3]);
    }
}
