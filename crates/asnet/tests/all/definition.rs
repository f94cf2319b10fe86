//! What a network computes, by the definition: no graph is built, and relatedness is looked for
//! wherever it is needed. It is intended to be easy to read, and slow.

use std::collections::BTreeMap;

use policert_asnet::{Asnet, Module};
use policert_numeric::Rational;
use policert_pddl::{GroundAction, GroundAtom, Task};

pub struct Definition<'a> {
    pub asnet: &'a Asnet,
    pub task: &'a Task,
    pub state: &'a [bool],
}

type Vector = Vec<Rational>;

impl Definition<'_> {
    /// The exact score of each action.
    pub fn scores(&self) -> Vec<Rational> {
        let last = self.asnet.architecture.layers;
        let mut known = BTreeMap::new();
        let actions = self.task.actions.iter();
        actions.map(|action| self.action(last, action, &mut known)[0].clone()).collect()
    }

    /// The output of an action module.
    fn action(
        &self,
        layer: usize,
        action: &GroundAction,
        known: &mut BTreeMap<(usize, GroundAtom), Vector>,
    ) -> Vector {
        let mut input = Vector::new();
        for atom in self.slots(action) {
            if layer == 0 {
                input.push(Rational::from(i64::from(self.holds(&atom))));
                input.push(Rational::from(self.wanted(&atom)));
            } else {
                input.extend(self.proposition(layer - 1, &atom, known));
            }
        }
        if layer == 0 {
            input.push(Rational::from(i64::from(action.is_applicable(self.state))));
        } else if self.asnet.architecture.skip {
            input.extend(self.action(layer - 1, action, known));
        }
        let module = &self.asnet.actions[layer][action.schema];
        let output = product(module, &input);
        if layer == self.asnet.architecture.layers { output } else { relu(output) }
    }

    /// The output of a proposition module.
    fn proposition(
        &self,
        layer: usize,
        atom: &GroundAtom,
        known: &mut BTreeMap<(usize, GroundAtom), Vector>,
    ) -> Vector {
        if let Some(output) = known.get(&(layer, atom.clone())) {
            return output.clone();
        }
        let shape = &self.asnet.shape;
        let predicate = shape.predicates.iter().position(|p| p.predicate == atom.predicate);
        let predicate = predicate.expect("a predicate that changes");
        let mut input = Vector::new();
        for &(schema, slot) in &shape.predicates[predicate].pools {
            let mut pooled: Option<Vector> = None;
            for action in self.task.actions.iter().filter(|action| action.schema == schema) {
                if self.slots(action)[slot] == *atom {
                    let output = self.action(layer, action, known);
                    pooled = Some(match pooled {
                        None => output,
                        Some(pooled) => {
                            pooled.into_iter().zip(output).map(|(a, b)| a.max(b)).collect()
                        }
                    });
                }
            }
            let zeros = || vec![Rational::ZERO; self.asnet.architecture.dimension];
            input.extend(pooled.unwrap_or_else(zeros));
        }
        if self.asnet.architecture.skip && layer > 0 {
            input.extend(self.proposition(layer - 1, atom, known));
        }
        let output = relu(product(&self.asnet.propositions[layer][predicate], &input));
        known.insert((layer, atom.clone()), output.clone());
        output
    }

    fn slots(&self, action: &GroundAction) -> Vec<GroundAtom> {
        let slots = self.asnet.shape.schemas[action.schema].slots.iter();
        slots.map(|atom| atom.ground(&action.objects)).collect()
    }

    fn holds(&self, atom: &GroundAtom) -> bool {
        match self.task.propositions.iter().position(|known| known == atom) {
            Some(proposition) => self.state[proposition],
            None => self.task.problem.initial.contains(atom),
        }
    }

    fn wanted(&self, atom: &GroundAtom) -> i64 {
        let wanted = self.task.problem.goal.iter().find(|(wanted, _)| wanted == atom);
        wanted.map_or(0, |(_, truth)| if *truth { 1 } else { -1 })
    }
}

fn product(module: &Module, input: &[Rational]) -> Vector {
    assert_eq!(module.inputs, input.len());
    let exact = |number: f64| Rational::from_f64(number).expect("finite");
    let row = |output: usize| {
        let terms = module.row(output).iter().zip(input);
        terms.fold(exact(module.bias[output]), |sum, (&weight, x)| &sum + &(&exact(weight) * x))
    };
    (0..module.bias.len()).map(row).collect()
}

fn relu(vector: Vector) -> Vector {
    vector.into_iter().map(|x| x.max(Rational::ZERO)).collect()
}
