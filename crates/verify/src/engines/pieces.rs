//! Pieces of an invariant that an engine has collected, as evidence of proportionate size.

use policert_engine_api::{Budget, EngineAnswer, Invariant, Verdict};
use policert_explore::covering;
use policert_numeric::IntBox;

/// The number of abstract states up to which each one is a piece, so that a person can recognise it.
const MOST_SINGLE: usize = 10_000;

/// An answer with the invariant that these pieces of a space are, the boxes among them merged where they are many.
pub(super) fn with_pieces(
    verdict: Verdict,
    invariant: Option<Invariant>,
    (pieces, space): (&str, &IntBox),
    budget: &mut Budget,
) -> EngineAnswer {
    let limited = |invariant: Invariant| {
        let found = invariant.pieces().len();
        let invariant =
            if found > MOST_SINGLE { merged(invariant, space, budget)? } else { invariant };
        match invariant.pieces().len() {
            0..=Invariant::MOST_PIECES => Ok(invariant),
            more => Err(format!(
                "{found} {pieces} make {more} pieces; evidence has {} at most",
                Invariant::MOST_PIECES
            )),
        }
    };
    EngineAnswer::with_invariant(verdict, invariant.map(limited))
}

/// Merges the pieces that are boxes.
fn merged(invariant: Invariant, space: &IntBox, budget: &mut Budget) -> Result<Invariant, String> {
    let (boxes, mut pieces): (Vec<_>, Vec<_>) =
        invariant.into_pieces().into_iter().partition(|piece| piece.conditions.is_empty());
    let boxes = boxes.into_iter().map(|piece| piece.sides).collect();
    let boxes = covering(boxes, space, budget)?;
    let diagram = boxes.diagram().cloned();
    pieces.extend(boxes.into_pieces());
    Ok(Invariant::new(pieces).with_diagram(diagram))
}

#[cfg(test)]
mod tests {
    use policert_model::{Condition, LinearConstraint, Region, VarId};
    use policert_numeric::{IntBox, IntInterval};

    use super::*;

    #[test]
    fn merged_abstract_states_are_the_same_states() {
        let corner =
            LinearConstraint { terms: vec![(VarId::new(0), 1), (VarId::new(1), 1)], upper: 9 };
        let piece = |sides: IntBox, conditions| Region { sides, conditions };
        let states: Vec<[i64; 2]> = (0..7).flat_map(|x| (0..7).map(move |y| [x, y])).collect();
        let is_box = |[x, y]: [i64; 2]| x < 4 && (y < 2 || y == 4);
        let boxes = states.iter().filter(|state| is_box(**state));
        let mut pieces: Vec<_> =
            boxes.map(|state| piece(IntBox::point(state), Vec::new())).collect();
        let mut above = IntBox::point(&[5, 5]);
        above.hull_with(&IntBox::point(&[6, 3]));
        pieces.push(piece(above, vec![Condition::Linear(corner)]));
        let before = Invariant::new(pieces);
        let space = IntBox::new(vec![IntInterval::new(0, 6); 2]);
        let after = merged(before.clone(), &space, &mut Budget::unlimited()).expect("no limit");
        assert_eq!(after.pieces().len(), 3);
        for state in &states {
            assert_eq!(after.contains(state), before.contains(state), "{state:?}");
        }
        let mut stopped = Budget::unlimited();
        stopped.cancel_flag().raise();
        assert!(merged(before, &space, &mut stopped).is_err());
    }
}
