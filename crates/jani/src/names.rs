//! Names of a model, interned: equal names have equal symbols.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// A name: index into [`Names`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NameId(u32);

impl NameId {
    /// The index into tables with an entry for each name.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// All names that occur in what was read.
#[derive(Clone, Default, Debug)]
pub struct Names {
    symbols: FxHashMap<Arc<str>, NameId>,
    texts: Vec<Arc<str>>,
}

impl Names {
    /// The symbol of `name`, new if need be.
    pub fn intern(&mut self, name: &str) -> NameId {
        if let Some(&symbol) = self.symbols.get(name) {
            return symbol;
        }
        let symbol = NameId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        let text: Arc<str> = name.into();
        self.texts.push(Arc::clone(&text));
        self.symbols.insert(text, symbol);
        symbol
    }

    /// The name itself.
    #[must_use]
    pub fn text(&self, symbol: NameId) -> &str {
        self.texts.get(symbol.index()).map_or("", |text| text)
    }
}
