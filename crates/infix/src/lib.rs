//! Expressions as people write them on a command line and in task files: `x >= 3 && y = 1`.
//!
//! | level | operators, loosest first |
//! |---|---|
//! | 1 | `a if condition else b` (to the right) |
//! | 2 | `=>` `⇒` `->` (to the right) |
//! | 3 | `\|\|` `\|` `∨` `or` |
//! | 4 | `&&` `&` `∧` `and` |
//! | 5 | `!` `¬` `not` |
//! | 6 | `=` `==` `!=` `≠` `<` `<=` `≤` `>` `>=` `≥` (one of them) |
//! | 7 | `+` `-` `−` |
//! | 8 | `*` `·` `/` `%` |
//! | 9 | `-` `−` `+` before an operand |
//! | 10 | `^` `**` (to the right) |
//! | 11 | `A[i]`, `(…)`, `min(a, b)` and other functions, numbers, names, `true`, `false` |
//!
//! What operators, functions and names mean is up to the [`Meaning`]: the grammar knows neither
//! types nor variables, so brackets may stand around conditions as around numbers. A name in quotes
//! is no word of the grammar.

mod grammar;
mod token;

pub use grammar::{Binary, MAX_DEPTH, Meaning, SyntaxProblem, Unary, read};
pub use token::{Token, TokenKind, is_plain_name, tokens};

/// Words that cannot be names without quotes.
pub const WORDS: [&str; 7] = ["if", "else", "and", "or", "not", "true", "false"];
