//! The abstract syntax of JANI models, as it stands in the file: names are not resolved yet.
//!
//! Every part keeps its place ([`At`]). Parts that could not be read are left out or stand as
//! [`ExprKind::Broken`]; a diagnostic says so.

mod expr;
mod property;

pub use expr::{BinaryOp, Constructor, Expr, ExprKind, IrrationalConstant, RealFunction, UnaryOp};
pub use property::{
    Extremum, Filter, FilterFunction, Formula, FormulaKind, Label, LocationRef, Objective,
    PathOperator, PolicyProperty, Property, PropertyKind, StateSet, StateValues, StatesFilter,
};

use rustc_hash::FxHashMap;

use crate::{names::NameId, source::At};

/// A name with its place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name {
    /// The name.
    pub symbol: NameId,
    /// Its place in the text.
    pub at: At,
}

/// The type of a model.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelType {
    Lts,
    Dtmc,
    Ctmc,
    Mdp,
    Ctmdp,
    Ma,
    Ta,
    Pta,
    Sta,
    Ha,
    Pha,
    Sha,
}

impl ModelType {
    /// All types, with their names in the format.
    pub const ALL: [(&'static str, Self); 12] = [
        ("lts", Self::Lts),
        ("dtmc", Self::Dtmc),
        ("ctmc", Self::Ctmc),
        ("mdp", Self::Mdp),
        ("ctmdp", Self::Ctmdp),
        ("ma", Self::Ma),
        ("ta", Self::Ta),
        ("pta", Self::Pta),
        ("sta", Self::Sta),
        ("ha", Self::Ha),
        ("pha", Self::Pha),
        ("sha", Self::Sha),
    ];

    /// Its name in the format.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(_, ty)| *ty == self).map_or("", |(name, _)| name)
    }

    /// Returns whether time plays no part: `lts`, `dtmc` and `mdp`.
    #[must_use]
    pub fn is_untimed(self) -> bool {
        matches!(self, Self::Lts | Self::Dtmc | Self::Mdp)
    }
}

/// A model, without its properties: they are read when they are asked for.
#[derive(Clone, Debug)]
pub struct Model {
    /// The whole file.
    pub at: At,
    /// Its name.
    pub name: String,
    /// Its type, and where it stands; `None` if it is not known.
    pub ty: Option<(ModelType, At)>,
    /// The features that the file says it uses.
    pub features: Vec<String>,
    /// Its actions.
    pub actions: Vec<Name>,
    /// Its constants.
    pub constants: Vec<Constant>,
    /// Its global variables.
    pub variables: Vec<Variable>,
    /// Its global functions.
    pub functions: Vec<Function>,
    /// The condition that initial states must satisfy.
    pub restrict_initial: Option<Expr>,
    /// Its automata.
    pub automata: Vec<Automaton>,
    /// The way in which they are composed.
    pub system: System,
}

impl Model {
    /// Returns whether time plays no part; so it is taken to be where the type is not known.
    #[must_use]
    pub fn is_untimed(&self) -> bool {
        self.ty.is_none_or(|(ty, _)| ty.is_untimed())
    }
}

/// A constant.
#[derive(Clone, Debug)]
pub struct Constant {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// Its value; `None` if the caller must give it.
    pub value: Option<Expr>,
}

/// A type.
#[derive(Clone, Debug)]
pub struct Type {
    /// Its place in the text.
    pub at: At,
    /// Its kind.
    pub kind: TypeKind,
}

/// Says what a type is.
#[derive(Clone, Debug)]
pub enum TypeKind {
    /// Truth values.
    Bool,
    /// Integers.
    Int,
    /// Real numbers.
    Real,
    /// A clock.
    Clock,
    /// A real number that changes continuously.
    Continuous,
    /// Numbers between bounds.
    Bounded {
        /// True for integers, false for reals.
        integers: bool,
        /// The least value.
        lower: Option<Expr>,
        /// The greatest value.
        upper: Option<Expr>,
    },
    /// Arrays of a type.
    Array(Box<Type>),
    /// Could not be read.
    Broken,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub ty: Type,
    /// True if it has a value of its own only while a transition is taken.
    pub transient: bool,
    /// Its initial value; any value of its type, if there is none.
    pub initial: Option<Expr>,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: Name,
    /// The type of its value.
    pub ty: Type,
    /// Its parameters.
    pub parameters: Vec<(Name, Type)>,
    /// Its value.
    pub body: Expr,
}

/// An automaton.
#[derive(Clone, Debug)]
pub struct Automaton {
    /// Its name.
    pub name: Name,
    /// Its variables.
    pub variables: Vec<Variable>,
    /// Its functions.
    pub functions: Vec<Function>,
    /// Its locations.
    pub locations: Vec<Location>,
    /// Names of its initial locations.
    pub initial_locations: Vec<Name>,
    /// The condition that its initial states must satisfy.
    pub restrict_initial: Option<Expr>,
    /// Its edges.
    pub edges: Edges,
}

/// The edges of an automaton, which may be most of a file: where they stand, and how many there are.
/// They are read again whenever they are gone through.
#[derive(Clone, Default, Debug)]
pub struct Edges {
    /// The list; `None` if it is missing.
    pub at: Option<At>,
    /// Number of edges.
    pub count: usize,
    /// Number of their destinations.
    pub destinations: usize,
    /// Most destinations of one edge.
    pub max_destinations: usize,
    /// The edges of each action, in the order of its first edge.
    pub actions: Vec<ActionEdges>,
    by_action: FxHashMap<Option<NameId>, usize>,
}

/// The edges of one action.
#[derive(Clone, Debug)]
pub struct ActionEdges {
    /// The action as the first of them names it; `None` for silent edges.
    pub action: Option<Name>,
    /// Their number.
    pub count: usize,
    /// The number of those that lead somewhere.
    pub leading: usize,
}

impl Edges {
    /// The edges of a list, none of them counted yet.
    pub fn of_list(at: At) -> Self {
        Self { at: Some(at), ..Self::default() }
    }

    /// Counts an edge.
    pub fn count_in(&mut self, edge: &Edge) {
        let destinations = edge.destinations.len();
        self.count += 1;
        self.destinations += destinations;
        self.max_destinations = self.max_destinations.max(destinations);
        let symbol = edge.action.map(|action| action.symbol);
        let entry = *self.by_action.entry(symbol).or_insert_with(|| {
            self.actions.push(ActionEdges { action: edge.action, count: 0, leading: 0 });
            self.actions.len() - 1
        });
        self.actions[entry].count += 1;
        self.actions[entry].leading += usize::from(destinations > 0);
    }

    /// The edges of an action, or the silent ones, if there are any.
    #[must_use]
    pub fn of_action(&self, action: Option<NameId>) -> Option<&ActionEdges> {
        self.by_action.get(&action).map(|&entry| &self.actions[entry])
    }
}

/// A location.
#[derive(Clone, Debug)]
pub struct Location {
    /// Its name.
    pub name: Name,
    /// The condition under which time may pass.
    pub time_progress: Option<Expr>,
    /// Values that transient variables have in it.
    pub transient_values: Vec<TransientValue>,
}

/// The value that a transient variable has in a location.
#[derive(Clone, Debug)]
pub struct TransientValue {
    /// The variable.
    pub target: Expr,
    /// Its value.
    pub value: Expr,
}

/// An edge.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Its place in the text.
    pub at: At,
    /// The location in which it starts.
    pub location: Name,
    /// Its action; silent if there is none.
    pub action: Option<Name>,
    /// Its guard; true if there is none.
    pub guard: Option<Expr>,
    /// Its rate.
    pub rate: Option<Expr>,
    /// Assignments of all its destinations (written by some tools).
    pub assignments: Vec<Assignment>,
    /// The destinations, one of which it leads to.
    pub destinations: Vec<Destination>,
}

/// A destination of an edge.
#[derive(Clone, Debug)]
pub struct Destination {
    /// The location to which it leads.
    pub location: Name,
    /// Its probability; 1 if there is none.
    pub probability: Option<Expr>,
    /// The assignments.
    pub assignments: Vec<Assignment>,
}

/// An assignment.
#[derive(Clone, Debug)]
pub struct Assignment {
    /// Its place in the text.
    pub at: At,
    /// The variable, or the cell of an array, that is written.
    pub target: Expr,
    /// The value.
    pub value: AssignedValue,
    /// When, among the assignments of the transition.
    pub index: i64,
}

/// The value that an assignment writes.
#[derive(Clone, Debug)]
pub enum AssignedValue {
    /// The value of an expression.
    Expr(Expr),
    /// Any integer between two bounds.
    Between(Expr, Expr),
}

/// The composition.
#[derive(Clone, Default, Debug)]
pub struct System {
    /// The automaton instances.
    pub elements: Vec<Element>,
    /// The synchronisation vectors.
    pub syncs: Vec<Sync>,
}

/// An automaton instance.
#[derive(Clone, Debug)]
pub struct Element {
    /// Name of its automaton.
    pub automaton: Name,
    /// Actions that it never blocks.
    pub input_enable: Vec<Name>,
}

/// A synchronisation vector.
#[derive(Clone, Debug)]
pub struct Sync {
    /// Its place in the text.
    pub at: At,
    /// The action of each instance; `None` if it takes no part.
    pub synchronise: Vec<Option<Name>>,
    /// The label of the joint transition; silent if there is none.
    pub result: Option<Name>,
}
