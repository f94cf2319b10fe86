//! A property in disjunctive normal form.

use policert_numeric::{LinearInequality, Rational};
use policert_sexpr::Fault;

use crate::formula::{Formula, inequality};
use crate::script::Script;
use crate::term::LinearTerm;

/// A disjunctive normal form may have this many inequalities in all.
pub const MAX_INEQUALITIES: usize = 1_000_000;

/// Says what is looked for: inputs and outputs of a network that satisfy one of the disjuncts.
///
/// Variables are numbers: those below `inputs` are the inputs X_0, X_1, …, those from `inputs` on
/// the outputs Y_0, Y_1, ….
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NetworkProperty {
    /// Number of inputs, at least 1.
    pub inputs: usize,
    /// Number of outputs, at least 1.
    pub outputs: usize,
    /// Each holds where all its inequalities do. Constant inequalities are left out; a disjunct
    /// with a false one is, too. The order is that of the file.
    pub disjuncts: Vec<Vec<LinearInequality>>,
}

/// A comparison of a formula.
type Literal<'a> = (&'a LinearTerm, bool);

impl NetworkProperty {
    /// # Errors
    /// If the normal form has too many inequalities.
    pub(crate) fn new(script: Script) -> Result<Self, Fault> {
        let Script { inputs, outputs, assertions, assertions_at } = script;
        let disjuncts = disjuncts(&assertions).ok_or_else(|| {
            let message = format!(
                "the assertions, written as a disjunction of conjunctions, have more than \
                 {MAX_INEQUALITIES} inequalities"
            );
            Fault::unsupported(assertions_at, message)
        })?;
        let inequalities = |disjunct: Vec<Literal<'_>>| {
            disjunct.into_iter().map(|(term, strict)| inequality(term, strict, inputs)).collect()
        };
        Ok(Self { inputs, outputs, disjuncts: disjuncts.into_iter().map(inequalities).collect() })
    }

    /// Returns whether inputs and outputs, one after the other, satisfy one of the disjuncts.
    ///
    /// # Panics
    /// If there are not as many values as variables.
    #[must_use]
    pub fn holds(&self, values: &[Rational]) -> bool {
        assert_eq!(values.len(), self.inputs + self.outputs, "one value for each variable");
        self.disjuncts.iter().any(|disjunct| disjunct.iter().all(|one| one.holds(values)))
    }
}

/// The disjunctive normal form; `None` if it has too many inequalities.
fn disjuncts(formula: &Formula) -> Option<Vec<Vec<Literal<'_>>>> {
    match formula {
        Formula::Comparison { term, strict } => Some(vec![vec![(term, *strict)]]),
        Formula::Any(parts) => {
            let (mut all, mut size) = (Vec::new(), 0);
            for part in parts {
                let found = disjuncts(part)?;
                size += literals(&found);
                if size > MAX_INEQUALITIES {
                    return None;
                }
                all.extend(found);
            }
            Some(all)
        }
        Formula::All(parts) => {
            let mut product: Vec<Vec<Literal<'_>>> = vec![Vec::new()];
            // What every disjunct has is added at the end.
            let mut shared = Vec::new();
            for part in parts {
                if let Formula::Comparison { term, strict } = part {
                    shared.push((term, *strict));
                    continue;
                }
                let factor = disjuncts(part)?;
                let left = literals(&product).checked_mul(factor.len())?;
                let right = literals(&factor).checked_mul(product.len())?;
                if left.checked_add(right)? > MAX_INEQUALITIES {
                    return None;
                }
                let joined = |left: &Vec<_>, right: &Vec<_>| [&left[..], &right[..]].concat();
                product = product
                    .iter()
                    .flat_map(|left| factor.iter().map(move |right| joined(left, right)))
                    .collect();
            }
            let size = shared.len().checked_mul(product.len())?.checked_add(literals(&product))?;
            if size > MAX_INEQUALITIES {
                return None;
            }
            for disjunct in &mut product {
                disjunct.splice(0..0, shared.iter().copied());
            }
            Some(product)
        }
    }
}

fn literals(disjuncts: &[Vec<Literal<'_>>]) -> usize {
    disjuncts.iter().map(Vec::len).sum()
}
