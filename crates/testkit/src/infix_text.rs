//! Random expressions of control loops, as text.

use proptest::prelude::*;

/// Text of random expressions that have values everywhere; `rational` leaves functions out.
pub fn some_expression(rational: bool) -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("x".to_owned()),
        Just("y".to_owned()),
        (-20i32..20).prop_map(|n| format!("({n}/8)")),
        (0i32..100).prop_map(|n| format!("0.{n:02}")),
    ];
    leaf.prop_recursive(4, 24, 3, move |inner| {
        let two = (inner.clone(), inner.clone());
        let shared = prop_oneof![
            two.clone().prop_map(|(a, b)| format!("({a} + {b})")),
            two.clone().prop_map(|(a, b)| format!("({a} - {b})")),
            two.clone().prop_map(|(a, b)| format!("({a} * {b})")),
            two.clone().prop_map(|(a, b)| format!("({a} / (1 + ({b})^2))")),
            (inner.clone(), 0i32..4).prop_map(|(a, n)| format!("({a})^{n}")),
            two.clone().prop_map(|(a, b)| format!("min({a}, {b})")),
            two.clone().prop_map(|(a, b)| format!("max({a}, {b})")),
            inner.clone().prop_map(|a| format!("abs({a})")),
            (two, inner.clone()).prop_map(|((a, b), c)| format!("({a} if {b} < {c} else {c})")),
        ];
        if rational {
            return shared.boxed();
        }
        let function = prop::sample::select(vec!["sin", "cos", "tanh"]);
        prop_oneof![
            4 => shared,
            1 => (function, inner.clone()).prop_map(|(name, a)| format!("{name}({a})")),
            1 => inner.clone().prop_map(|a| format!("exp(sin({a}))")),
            1 => inner.clone().prop_map(|a| format!("sqrt(1 + ({a})^2)")),
            1 => inner.prop_map(|a| format!("log(2 + cos({a}))")),
        ]
        .boxed()
    })
}
