//! Identifiers: indices into the tables of a [`Model`](crate::Model).

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub struct $name(pub u32);

        impl $name {
            /// The id of index `index`.
            ///
            /// # Panics
            /// If `index` does not fit 32 bits: tables are never that long.
            #[must_use]
            pub fn new(index: usize) -> Self {
                Self(u32::try_from(index).expect("a table of more than 2^32 entries"))
            }

            /// The index into its table.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id!(
    /// A state variable: index into `Model::variables` and into states. Ids from
    /// `Model::variables.len()` on are the choices of a destination, see
    /// [`Destination::choices`](crate::Destination::choices).
    VarId
);
id!(
    /// A transient variable: index into `Model::transients`.
    TransientId
);
id!(
    /// An action label: index into `Model::labels`. Edges and operators share the names.
    LabelId
);
id!(
    /// An automaton instance: index into `Model::instances`.
    InstanceId
);
id!(
    /// An operator of the composed model, in the order in which it was composed.
    OpId
);
