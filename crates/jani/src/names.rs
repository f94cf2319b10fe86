//! Names of a model, interned: equal names have equal symbols.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// A name: index into [`Names`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Symbol(u32);

impl Symbol {
    /// The index into tables with an entry for each name.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// All names that occur in what was read.
#[derive(Clone, Default, Debug)]
pub struct Names {
    symbols: FxHashMap<Arc<str>, Symbol>,
    texts: Vec<Arc<str>>,
}

impl Names {
    /// The symbol of `name`, new if need be.
    pub fn intern(&mut self, name: &str) -> Symbol {
        if let Some(&symbol) = self.symbols.get(name) {
            return symbol;
        }
        let symbol = Symbol(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        let text: Arc<str> = name.into();
        self.texts.push(Arc::clone(&text));
        self.symbols.insert(text, symbol);
        symbol
    }

    /// The symbol of `name`, if it occurs.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Symbol> {
        self.symbols.get(name).copied()
    }

    /// The name itself.
    #[must_use]
    pub fn text(&self, symbol: Symbol) -> &str {
        self.texts.get(symbol.index()).map_or("", |text| text)
    }

    /// All names.
    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.texts.iter().map(|text| &**text)
    }

    /// Number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.texts.len()
    }

    /// Whether there is no name yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }
}
