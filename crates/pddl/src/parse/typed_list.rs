//! Lists of names with types: `a b - t c`.

use policert_sexpr::{Fault, Sexpr};

use super::names::{find, is_word, name};
use crate::domain::{Domain, Object, Type};

/// A name of a list, the place where it stands, and its type: of another name, or none.
pub(super) struct Entry {
    pub at: usize,
    pub name: String,
    pub of: Option<(usize, String)>,
}

/// Reads a list of names; those of parameters begin with a question mark.
pub(super) fn entries(items: &[Sexpr<'_>], are_parameters: bool) -> Result<Vec<Entry>, Fault> {
    let mut entries: Vec<Entry> = Vec::new();
    // The entries from here on have no type yet.
    let mut untyped = 0;
    let mut items = items.iter();
    while let Some(item) = items.next() {
        if is_word(item, "-") {
            let Some(of) = items.next() else {
                return Err(Fault::invalid(item.at, "a type is expected after `-`"));
            };
            if untyped == entries.len() {
                return Err(Fault::invalid(item.at, "a name is expected before `-`"));
            }
            let is_either = |list: &[Sexpr<'_>]| list.first().is_some_and(|f| is_word(f, "either"));
            if of.list().is_some_and(is_either) {
                let message = "types with `either` are not supported; declare a type that has the \
                               others as its parts";
                return Err(Fault::unsupported(of.at, message));
            }
            let name = name(of, "a type")?;
            entries[untyped..].iter_mut().for_each(|e| e.of = Some((of.at, name.clone())));
            untyped = entries.len();
            continue;
        }
        let name = if are_parameters { parameter(item)? } else { name(item, "a name")? };
        if entries.iter().any(|entry| entry.name == name) {
            return Err(Fault::invalid(item.at, format!("{} is listed twice", item.described())));
        }
        entries.push(Entry { at: item.at, name, of: None });
    }
    Ok(entries)
}

/// The name of a parameter, without its question mark.
pub(super) fn parameter(item: &Sexpr<'_>) -> Result<String, Fault> {
    match item.atom().and_then(|atom| atom.strip_prefix('?')) {
        Some(name) if !name.is_empty() => Ok(name.to_ascii_lowercase()),
        _ => {
            let message = format!("a parameter such as ?x is expected, not {}", item.described());
            Err(Fault::invalid(item.at, message))
        }
    }
}

impl Domain {
    /// The objects of a list.
    pub(super) fn objects(
        &self,
        items: &[Sexpr<'_>],
        are_parameters: bool,
    ) -> Result<Vec<(usize, Object)>, Fault> {
        let object = |entry: Entry| {
            let of = match entry.of {
                Some((at, of)) => {
                    find(at, &of, "type", self.types.iter().map(|t| t.name.as_str()))?
                }
                None => 0,
            };
            Ok((entry.at, Object { name: entry.name, of }))
        };
        entries(items, are_parameters)?.into_iter().map(object).collect()
    }
}

/// The types of a list; `object` is the first one.
pub(super) fn types(items: &[Sexpr<'_>]) -> Result<Vec<Type>, Fault> {
    let entries = entries(items, false)?;
    let mut types = vec![Type { name: "object".to_owned(), parent: None }];
    for entry in entries.iter().filter(|entry| entry.name != "object") {
        types.push(Type { name: entry.name.clone(), parent: Some(0) });
    }
    // A type may be declared by being a parent.
    for (_, of) in entries.iter().filter_map(|entry| entry.of.as_ref()) {
        if types.iter().all(|known| known.name != *of) {
            types.push(Type { name: of.clone(), parent: Some(0) });
        }
    }
    for entry in &entries {
        let Some((at, of)) = &entry.of else { continue };
        let position = |name: &str| types.iter().position(|known| known.name == name);
        if let (Some(child), Some(parent)) = (position(&entry.name), position(of)) {
            if child == 0 {
                if parent == 0 {
                    continue;
                }
                return Err(Fault::invalid(*at, "`object` is part of no other type"));
            }
            let mut above = Some(parent);
            while let Some(current) = above {
                if current == child {
                    let message = format!("`{}` would be a part of itself", entry.name);
                    return Err(Fault::invalid(*at, message));
                }
                above = types[current].parent;
            }
            types[child].parent = Some(parent);
        }
    }
    Ok(types)
}
