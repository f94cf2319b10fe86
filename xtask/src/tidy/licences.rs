//! The licences of all dependencies: SPDX expressions that an allow-list satisfies.

use anyhow::{Context as _, Result};
use serde_json::Value;

use super::Finding;

const ALLOWED: [&str; 14] = [
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unicode-DFS-2016",
    "Unlicense",
    "Zlib",
];

/// Checks every package that `cargo metadata` lists.
pub fn check(metadata: &Value) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for package in metadata["packages"].as_array().context("packages")? {
        let name = package["name"].as_str().context("name")?;
        let message = match package["license"].as_str() {
            None => "states no licence".to_owned(),
            Some(expression) if is_allowed(expression) => continue,
            Some(expression) => format!("licence not on the allow-list: {expression}"),
        };
        findings.push(Finding::new(name, 0, message));
    }
    Ok(findings)
}

/// Whether the allow-list satisfies an SPDX expression (`OR`, its old spelling `/`, `AND`, `WITH`
/// and parentheses). What cannot be read is not allowed.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let tokens: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { tokens: &tokens };
    reader.any_of() == Some(true) && reader.tokens.is_empty()
}

struct Reader<'a> {
    tokens: &'a [&'a str],
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        Some(first)
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.tokens.first() == Some(&token);
        if found {
            self.tokens = &self.tokens[1..];
        }
        found
    }

    fn any_of(&mut self) -> Option<bool> {
        let mut allowed = self.all_of()?;
        while self.eat("OR") {
            allowed |= self.all_of()?;
        }
        Some(allowed)
    }

    fn all_of(&mut self) -> Option<bool> {
        let mut allowed = self.one()?;
        while self.eat("AND") {
            allowed &= self.one()?;
        }
        Some(allowed)
    }

    fn one(&mut self) -> Option<bool> {
        if self.eat("(") {
            let allowed = self.any_of()?;
            return self.eat(")").then_some(allowed);
        }
        let allowed = ALLOWED.contains(&self.next()?);
        if self.eat("WITH") {
            self.next()?; // an exception only ever grants more
        }
        Some(allowed)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{check, is_allowed};

    #[test]
    fn expressions() {
        for allowed in [
            "MIT",
            "MIT OR Apache-2.0",
            "MIT/Apache-2.0",
            "Apache-2.0 WITH LLVM-exception OR GPL-3.0",
            "(MIT OR Apache-2.0) AND Unicode-3.0",
            "GPL-2.0 OR (GPL-3.0 OR Zlib)",
        ] {
            assert!(is_allowed(allowed), "{allowed}");
        }
        for refused in ["GPL-3.0", "MIT AND GPL-3.0", "", "MIT OR", "(MIT", "MIT)", "MIT ISC"] {
            assert!(!is_allowed(refused), "{refused}");
        }
    }

    #[test]
    fn packages() {
        let metadata = json!({"packages": [
            {"name": "good", "license": "MIT"},
            {"name": "viral", "license": "AGPL-3.0"},
            {"name": "silent", "license": null},
        ]});
        let places: Vec<_> =
            check(&metadata).expect("well-formed").into_iter().map(|found| found.place).collect();
        assert_eq!(places, ["viral", "silent"]);
    }
}
