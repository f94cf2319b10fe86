//! Whether parts leave nothing of the initial box out.

use policert_engine_api::{Budget, StopReason};
use policert_numeric::Rational;

/// Returns whether parts cover a box.
pub(super) fn covers(
    parts: &[&[(Rational, Rational)]],
    whole: &[(Rational, Rational)],
    budget: &mut Budget,
) -> Result<bool, StopReason> {
    if parts.iter().any(|part| part.len() != whole.len()) {
        return Ok(false);
    }
    let mut open = vec![(whole.to_vec(), (0..parts.len()).collect::<Vec<usize>>())];
    while let Some((whole, mut meeting)) = open.pop() {
        budget.poll()?;
        let pairs = |at: &usize| parts[*at].iter().zip(&whole);
        meeting.retain(|at| pairs(at).all(|((lo, hi), (low, high))| lo <= high && hi >= low));
        if meeting.iter().any(|at| pairs(at).all(|((lo, hi), (low, high))| lo <= low && hi >= high))
        {
            continue;
        }
        let cut = meeting.iter().find_map(|at| {
            pairs(at).enumerate().find_map(|(i, ((lo, hi), (low, high)))| {
                let inside = [lo, hi].into_iter().find(|&cut| low < cut && cut < high)?;
                Some((i, inside.clone()))
            })
        });
        let Some((i, cut)) = cut else { return Ok(false) };
        let (mut below, mut above) = (whole.clone(), whole);
        below[i].1 = cut.clone();
        above[i].0 = cut;
        open.push((below, meeting.clone()));
        open.push((above, meeting));
    }
    Ok(true)
}
