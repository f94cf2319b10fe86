//! Small domains and problems in PDDL.

use crate::Random;

/// A domain and a problem of it, as text.
#[derive(Clone, Debug)]
pub struct PddlText {
    /// The domain.
    pub domain: String,
    /// The problem.
    pub problem: String,
}

/// Types: the second is a part of the first, the third stands alone.
const TYPES: [(&str, &[usize]); 3] = [("t0", &[0]), ("t1", &[0, 1]), ("t2", &[2])];

struct Signature {
    name: String,
    types: Vec<usize>,
}

/// A name that may stand as an argument, and its type.
type Term = (String, usize);

struct Sketch<'r> {
    random: &'r mut Random,
    predicates: Vec<Signature>,
    constants: Vec<Term>,
    with_costs: bool,
}

/// A domain and a problem; `size` is the number of objects.
pub fn pddl_text(random: &mut Random, size: usize) -> PddlText {
    let mut predicates = Vec::new();
    for i in 0..2 + random.below(3) {
        let types = (0..random.weighted(&[(2, 0), (4, 1), (3, 2)])).map(|_| random.below(3));
        predicates.push(Signature { name: format!("p{i}"), types: types.collect() });
    }
    let constants =
        if random.percent(30) { vec![("c".to_owned(), random.below(3))] } else { vec![] };
    let with_costs = random.percent(30);
    let mut sketch = Sketch { random, predicates, constants, with_costs };
    let mut domain =
        "(define (domain d)\n  (:requirements :typing)\n  (:types t1 - t0 t2 - object)\n"
            .to_owned();
    for (name, of) in &sketch.constants {
        domain += &format!("  (:constants {name} - {})\n", TYPES[*of].0);
    }
    let declared = |signature: &Signature| {
        let arguments = signature.types.iter().enumerate();
        let arguments = arguments.map(|(i, &of)| format!(" ?x{i} - {}", TYPES[of].0));
        format!("({}{})", signature.name, arguments.collect::<String>())
    };
    let declarations: Vec<String> = sketch.predicates.iter().map(declared).collect();
    domain += &format!("  (:predicates {})\n", declarations.join(" "));
    if with_costs {
        domain += "  (:functions (total-cost) - number)\n";
    }
    for i in 0..1 + sketch.random.below(3) {
        domain += &sketch.action(i);
    }
    domain += ")\n";
    let problem = sketch.problem(size);
    PddlText { domain, problem }
}

impl Sketch<'_> {
    fn action(&mut self, number: usize) -> String {
        let parameters: Vec<Term> = (0..self.random.weighted(&[(1, 0), (4, 1), (4, 2)]))
            .map(|i| (format!("?Y{i}"), self.random.below(3)))
            .collect();
        let shown = |(name, of): &Term| format!("{name} - {}", TYPES[*of].0);
        let shown: Vec<String> = parameters.iter().map(shown).collect();
        let terms = [parameters, self.constants.clone()].concat();
        let precondition = self.condition(&terms);
        let effect = self.effect(&terms, 2);
        format!(
            "  (:action A{number} :parameters ({})\n    :precondition {precondition}\n    :effect {effect})\n",
            shown.join(" ")
        )
    }

    fn condition(&mut self, terms: &[Term]) -> String {
        let parts: Vec<String> = (0..self.random.below(3))
            .filter_map(|_| {
                let test = if self.random.percent(15) && !terms.is_empty() {
                    let (a, b) = (self.random.pick(terms).clone(), self.random.pick(terms).clone());
                    Some(format!("(= {} {})", a.0, b.0))
                } else {
                    self.atom(terms)
                };
                let negated = self.random.percent(35);
                test.map(|test| if negated { format!("(not {test})") } else { test })
            })
            .collect();
        format!("(and {})", parts.join(" "))
    }

    fn atom(&mut self, terms: &[Term]) -> Option<String> {
        let predicate = self.random.below(self.predicates.len());
        let types = self.predicates[predicate].types.clone();
        let mut text = format!("({}", self.predicates[predicate].name);
        for of in types {
            let fitting: Vec<&Term> =
                terms.iter().filter(|(_, given)| TYPES[*given].1.contains(&of)).collect();
            if fitting.is_empty() {
                return None;
            }
            text += " ";
            text += &self.random.pick(&fitting).0;
        }
        Some(text + ")")
    }

    fn effect(&mut self, terms: &[Term], depth: usize) -> String {
        let parts: Vec<String> = (0..1 + self.random.below(3))
            .filter_map(|_| match self.random.below(if depth == 0 { 3 } else { 6 }) {
                0 | 1 => self.atom(terms),
                2 => self.atom(terms).map(|atom| format!("(not {atom})")),
                3 => Some(format!("(when {} {})", self.condition(terms), self.literal(terms))),
                4 => {
                    let (p, q) =
                        *self.random.pick(&[("0.5", "1/2"), ("0.25", "0.5"), ("1/3", "0")]);
                    let (a, b) = (self.effect(terms, depth - 1), self.effect(terms, depth - 1));
                    Some(format!("(probabilistic {p} {a} {q} {b})"))
                }
                _ => self.with_costs.then(|| "(increase (total-cost) 2)".to_owned()),
            })
            .collect();
        format!("(and {})", parts.join(" "))
    }

    fn literal(&mut self, terms: &[Term]) -> String {
        let atom = self.atom(terms).unwrap_or_else(|| "()".to_owned());
        if self.random.percent(40) && atom != "()" { format!("(not {atom})") } else { atom }
    }

    fn problem(&mut self, size: usize) -> String {
        let objects: Vec<Term> =
            (0..size).map(|i| (format!("o{i}"), self.random.below(3))).collect();
        let shown = |(name, of): &Term| format!("{name} - {}", TYPES[*of].0);
        let shown: Vec<String> = objects.iter().map(shown).collect();
        let terms = [objects, self.constants.clone()].concat();
        let facts: Vec<String> =
            (0..self.random.below(6)).filter_map(|_| self.atom(&terms)).collect();
        let goal = self.condition(&terms);
        format!(
            "(define (problem q) (:domain d)\n  (:objects {})\n  (:init {})\n  (:goal {goal}))\n",
            shown.join(" "),
            facts.join(" ")
        )
    }
}
