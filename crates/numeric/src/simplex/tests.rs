//! Feasible points and infeasibility proofs, checked by definition.

use proptest::prelude::*;

use super::*;

fn ratio(num: i64, den: i64) -> Rational {
    Rational::new(num, den).expect("a number")
}

/// Small problems, many of them degenerate: few different coefficients and bounds.
fn problem() -> impl Strategy<Value = (Vec<Rational>, Vec<Rational>, Vec<SimplexRow<Rational>>)> {
    (1usize..5).prop_flat_map(|dimensions| {
        let number = || (-3i64..=3, 1i64..=2).prop_map(|(num, den)| ratio(num, den));
        let row = (prop::collection::vec(number(), dimensions), -4i64..=4, any::<bool>());
        let row = row.prop_map(|(coefficients, upper, strict)| SimplexRow {
            coefficients,
            upper: ratio(upper, 2),
            strict,
        });
        let side = (-3i64..=2, 0i64..=4);
        let sides = prop::collection::vec(side, dimensions);
        (sides, prop::collection::vec(row, 0..8)).prop_map(|(sides, rows)| {
            let lo = sides.iter().map(|&(lo, _)| ratio(lo, 1)).collect();
            let hi = sides.iter().map(|&(lo, width)| ratio(lo + width, 1)).collect();
            (lo, hi, rows)
        })
    })
}

/// Returns whether a point satisfies everything.
fn holds(
    lo: &[Rational],
    hi: &[Rational],
    rows: &[SimplexRow<Rational>],
    point: &[Rational],
) -> bool {
    zip(zip(lo, hi), point).all(|((lo, hi), x)| lo <= x && x <= hi)
        && rows.iter().all(|row| {
            let sum: Rational = zip(&row.coefficients, point).map(|(c, x)| c * x).sum();
            if row.strict { sum < row.upper } else { sum <= row.upper }
        })
}

/// Returns whether the rows' sum with these factors is satisfied nowhere in the box.
fn refutes(
    lo: &[Rational],
    hi: &[Rational],
    rows: &[SimplexRow<Rational>],
    by: &[Rational],
) -> bool {
    let least: Rational = (0..lo.len())
        .map(|at| {
            let slope: Rational = zip(rows, by).map(|(row, by)| &row.coefficients[at] * by).sum();
            if slope.signum() < 0 { slope * &hi[at] } else { slope * &lo[at] }
        })
        .sum();
    let upper: Rational = zip(rows, by).map(|(row, by)| &row.upper * by).sum();
    let strict = zip(rows, by).any(|(row, by)| row.strict && !by.is_zero());
    by.iter().all(|by| by.signum() >= 0) && if strict { least >= upper } else { least > upper }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn exact_answers_are_proofs((lo, hi, rows) in problem()) {
        match feasible_point(&lo, &hi, &rows, || true) {
            Feasibility::Feasible(point) => prop_assert!(holds(&lo, &hi, &rows, &point)),
            Feasibility::Infeasible(by) => prop_assert!(refutes(&lo, &hi, &rows, &by)),
            Feasibility::Open => prop_assert!(false, "gave up"),
        }
    }

    #[test]
    fn doubles_agree_where_the_margin_is_clear((lo, hi, rows) in problem()) {
        let double = |numbers: &[Rational]| -> Vec<f64> {
            numbers.iter().map(Rational::to_f64).collect()
        };
        let margin = |shift: Rational| -> Vec<SimplexRow<Rational>> {
            let shifted = |row: &SimplexRow<Rational>| SimplexRow { upper: &row.upper + &shift, ..row.clone() };
            rows.iter().map(shifted).collect()
        };
        let inexact: Vec<SimplexRow<f64>> = rows
            .iter()
            .map(|row| SimplexRow {
                coefficients: double(&row.coefficients),
                upper: row.upper.to_f64(),
                strict: false,
            })
            .collect();
        let exact = |rows: &[SimplexRow<Rational>]| {
            matches!(feasible_point(&lo, &hi, rows, || true), Feasibility::Feasible(_))
        };
        match feasible_point(&double(&lo), &double(&hi), &inexact, || true) {
            Feasibility::Feasible(_) => prop_assert!(exact(&margin(ratio(1, 1_000_000)))),
            Feasibility::Infeasible(_) => prop_assert!(!exact(&margin(ratio(-1, 1_000_000)))),
            Feasibility::Open => {}
        }
    }
}

#[test]
fn it_stops_when_asked() {
    let row = SimplexRow { coefficients: vec![ratio(1, 1)], upper: ratio(-1, 1), strict: false };
    let (lo, hi) = ([ratio(0, 1)], [ratio(1, 1)]);
    assert_eq!(feasible_point(&lo, &hi, &[row], || false), Feasibility::Open);
}
