//! The expanded form of polynomials: like terms are added up, so that a variable is read less
//! often and natural extensions are tighter.

use std::collections::BTreeMap;

use policert_numeric::Rational;

use super::{ExpressionGraph, ExpressionId, ExpressionNode};

/// A product of powers of atoms: variables and parts that are no polynomials.
type Monomial = Vec<(ExpressionId, i32)>;
/// A sum of monomials with their coefficients, none of which is 0.
type Polynomial = BTreeMap<Monomial, Rational>;

/// Longer polynomials stay as they are.
const MAX_TERMS: usize = 32;

impl ExpressionGraph {
    /// The expanded form of an expression if it reads no variable more often than the expression
    /// itself and is less work; otherwise the expression.
    ///
    /// An expression that has no value somewhere stays as it is, since like terms may cancel.
    pub fn expanded(&mut self, root: ExpressionId, variables: usize) -> ExpressionId {
        if !self.total[root.index()] {
            return root;
        }
        let Some(polynomial) = self.polynomial(root) else { return root };
        let expanded = self.sum_of(&polynomial);
        let reads = |root| -> Vec<u32> {
            (0..variables).map(|variable| self.occurrences(root, variable)).collect()
        };
        let (before, after) = (reads(root), reads(expanded));
        let never_more = before.iter().zip(&after).all(|(before, after)| after <= before);
        let work = |root| self.reachable(root).count();
        let less = after < before || work(expanded) < work(root);
        if never_more && less { expanded } else { root }
    }

    /// The polynomial of an expression; `None` if it has too many terms.
    fn polynomial(&self, root: ExpressionId) -> Option<Polynomial> {
        let needed = self.needed(&[root]);
        let mut known: Vec<Polynomial> = Vec::with_capacity(root.index() + 1);
        for (i, &needed) in needed.iter().enumerate().take(root.index() + 1) {
            let polynomial = if needed { self.step(i, &known)? } else { Polynomial::new() };
            known.push(polynomial);
        }
        known.pop()
    }

    /// The polynomial of node `i`, given those of the nodes before it.
    fn step(&self, i: usize, known: &[Polynomial]) -> Option<Polynomial> {
        let of = |a: ExpressionId| &known[a.index()];
        let polynomial = match &self.nodes[i] {
            ExpressionNode::Constant(value) => {
                scaled(&Polynomial::from([(Vec::new(), Rational::ONE)]), value)
            }
            ExpressionNode::Neg(a) => scaled(of(*a), &Rational::integer(-1)),
            ExpressionNode::Add(a, b) => sum(of(*a), of(*b)),
            ExpressionNode::Sub(a, b) => sum(of(*a), &scaled(of(*b), &Rational::integer(-1))),
            ExpressionNode::Mul(a, b) => product(of(*a), of(*b))?,
            ExpressionNode::Power(a, exponent @ 2..=8) => {
                let mut power = of(*a).clone();
                for _ in 1..*exponent {
                    power = product(&power, of(*a))?;
                }
                power
            }
            _ => {
                let atom = ExpressionId(u32::try_from(i).ok()?);
                Polynomial::from([(vec![(atom, 1)], Rational::ONE)])
            }
        };
        (polynomial.len() <= MAX_TERMS).then_some(polynomial)
    }

    /// The expression of a polynomial.
    fn sum_of(&mut self, polynomial: &Polynomial) -> ExpressionId {
        let mut total = self.constant(Rational::ZERO);
        for (monomial, coefficient) in polynomial {
            let mut term = self.constant(Rational::ONE);
            for &(atom, exponent) in monomial {
                let power = self.power(atom, exponent);
                term = self.mul(term, power);
            }
            let size = self.constant(coefficient.abs());
            let term = self.mul(term, size);
            let positive = coefficient.signum() >= 0;
            total = if positive { self.add(total, term) } else { self.sub(total, term) };
        }
        total
    }
}

fn scaled(polynomial: &Polynomial, factor: &Rational) -> Polynomial {
    if factor.is_zero() {
        return Polynomial::new();
    }
    polynomial.iter().map(|(monomial, value)| (monomial.clone(), value * factor)).collect()
}

fn add_term(polynomial: &mut Polynomial, monomial: Monomial, value: &Rational) {
    let entry = polynomial.entry(monomial.clone()).or_insert(Rational::ZERO);
    *entry = &*entry + value;
    if entry.is_zero() {
        polynomial.remove(&monomial);
    }
}

fn sum(a: &Polynomial, b: &Polynomial) -> Polynomial {
    let mut sum = a.clone();
    for (monomial, value) in b {
        add_term(&mut sum, monomial.clone(), value);
    }
    sum
}

/// `None` if an exponent overflows or there are too many products.
fn product(a: &Polynomial, b: &Polynomial) -> Option<Polynomial> {
    if a.len().saturating_mul(b.len()) > MAX_TERMS {
        return None;
    }
    let mut product = Polynomial::new();
    for (left, x) in a {
        for (right, y) in b {
            add_term(&mut product, monomials_product(left, right)?, &(x * y));
        }
    }
    Some(product)
}

fn monomials_product(a: &Monomial, b: &Monomial) -> Option<Monomial> {
    let mut powers: BTreeMap<ExpressionId, i32> = a.iter().copied().collect();
    for &(atom, exponent) in b {
        let power = powers.entry(atom).or_insert(0);
        *power = power.checked_add(exponent)?;
    }
    Some(powers.into_iter().collect())
}
