//! JANI text to AST to checked AST to model.
