//! Names that every format takes: letters, digits and underscores, all different.

use std::collections::BTreeSet;

/// Words that mean something in the language of PRISM, or in Storm's reader of it.
const RESERVED: [&str; 54] = [
    "A",
    "bool",
    "clock",
    "const",
    "ctmc",
    "C",
    "double",
    "dtmc",
    "E",
    "endinit",
    "endinvariant",
    "endmodule",
    "endobservables",
    "endrewards",
    "endsystem",
    "F",
    "false",
    "formula",
    "filter",
    "func",
    "G",
    "global",
    "I",
    "init",
    "invariant",
    "int",
    "label",
    "max",
    "mdp",
    "min",
    "module",
    "nondeterministic",
    "observable",
    "observables",
    "of",
    "P",
    "Pmax",
    "Pmin",
    "pomdp",
    "popta",
    "probabilistic",
    "prob",
    "pta",
    "R",
    "rate",
    "rewards",
    "Rmax",
    "Rmin",
    "S",
    "stochastic",
    "system",
    "true",
    "U",
    "W",
];

/// Gives out names.
#[derive(Debug, Default)]
pub(crate) struct Identifiers {
    taken: BTreeSet<String>,
}

impl Identifiers {
    /// The name itself where it is an identifier that is free, else one like it.
    pub(crate) fn take(&mut self, name: &str) -> String {
        let mut base: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) || is_reserved(&base) {
            base.insert_str(0, "v_");
        }
        let mut candidate = base.clone();
        let mut number = 2u64;
        while !self.taken.insert(candidate.clone()) {
            candidate = format!("{base}_{number}");
            number += 1;
        }
        candidate
    }
}

fn is_reserved(word: &str) -> bool {
    // `X` is next, and others are functions.
    RESERVED.contains(&word) || ["X", "pow", "floor", "ceil", "mod", "log", "round"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_apart() {
        let mut names = Identifiers::default();
        for (name, expected) in [
            ("x", "x"),
            ("A[2]", "A_2_"),
            ("A 2 ", "A_2__2"),
            ("x", "x_2"),
            ("init", "v_init"),
            ("0", "v_0"),
            ("", "v_"),
            ("hand-empty", "hand_empty"),
        ] {
            assert_eq!(names.take(name), expected);
        }
    }
}
