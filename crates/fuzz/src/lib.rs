//! Damaged files: what a random change, or several, makes of a good one.
//!
//! [`damage`] draws changes that readers are prone to fall for: bits and bytes, cuts and repetitions,
//! lines and JSON values that stand elsewhere, twice or not at all, numbers at the edges of their
//! types. The draws come from a [`Driver`], so that a coverage-guided engine can steer them.

mod pieces;

use std::ops::Bound::Included;

use bolero::Driver;
use pieces::{lines, values};

/// The largest number of changes to one file.
const CHANGES: usize = 4;

/// Numbers and words that readers are prone to fall for.
const TOKENS: [&str; 36] = [
    "0",
    "-1",
    "1",
    "2",
    "-5",
    "255",
    "256",
    "65536",
    "2147483647",
    "2147483648",
    "-2147483649",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551616",
    "1e308",
    "-1e308",
    "1e309",
    "1e-400",
    "1e999999999",
    "0.1",
    "NaN",
    "nan",
    "inf",
    "-Infinity",
    "null",
    "true",
    "false",
    "\"\"",
    "[]",
    "{}",
    "\"\\u0000\"",
    "\"\\ud800\"",
    "\u{1b}[2K",
    "(",
    ")",
];

/// Makes a damaged file from one of `seeds`; nothing if the driver has no more to give.
pub fn damage(driver: &mut impl Driver, seeds: &[Vec<u8>]) -> Option<Vec<u8>> {
    let mut bytes = seeds.get(below(driver, seeds.len())?)?.clone();
    for _ in 0..=below(driver, CHANGES)? {
        change(driver, &mut bytes, seeds)?;
    }
    Some(bytes)
}

/// Draws a number below `end`; 0 if that is 0.
fn below(driver: &mut impl Driver, end: usize) -> Option<usize> {
    driver.gen_usize(Included(&0), Included(&end.saturating_sub(1)))
}

/// Draws a range within a length, mostly a short one.
fn range(driver: &mut impl Driver, length: usize) -> Option<(usize, usize)> {
    let start = below(driver, length + 1)?;
    let longest = if driver.gen_bool(None)? { 8 } else { length };
    let end = start + below(driver, longest.min(length - start) + 1)?;
    Some((start, end))
}

fn change(driver: &mut impl Driver, bytes: &mut Vec<u8>, seeds: &[Vec<u8>]) -> Option<()> {
    match below(driver, 10)? {
        0 if !bytes.is_empty() => {
            let at = below(driver, bytes.len())?;
            bytes[at] ^= 1 << below(driver, 8)?;
        }
        1 if !bytes.is_empty() => {
            let at = below(driver, bytes.len())?;
            bytes[at] = driver.gen_u8(Included(&0), Included(&255))?;
        }
        2 => bytes.truncate(below(driver, bytes.len() + 1)?),
        3 => {
            let (start, end) = range(driver, bytes.len())?;
            bytes.drain(start..end);
        }
        4 => {
            let (start, end) = range(driver, bytes.len())?;
            let again = bytes[start..end].to_vec();
            let at = below(driver, bytes.len() + 1)?;
            bytes.splice(at..at, again);
        }
        5 => {
            let other = &seeds[below(driver, seeds.len())?];
            let (start, end) = range(driver, other.len())?;
            let at = below(driver, bytes.len() + 1)?;
            bytes.splice(at..at, other[start..end].iter().copied());
        }
        6 => {
            let token = TOKENS[below(driver, TOKENS.len())?];
            let (start, end) = range(driver, bytes.len())?;
            bytes.splice(start..end, token.bytes());
        }
        7 => {
            let places = lines(bytes);
            move_piece(driver, bytes, &places)?;
        }
        8 => {
            let places = values(bytes);
            let Some(&(start, end)) = places.get(below(driver, places.len())?) else {
                return Some(());
            };
            let token = TOKENS[below(driver, TOKENS.len())?];
            bytes.splice(start..end, token.bytes());
        }
        _ => {
            let places = values(bytes);
            move_piece(driver, bytes, &places)?;
        }
    }
    Some(())
}

/// Drops a piece, repeats it, or puts it in the place of another one.
fn move_piece(
    driver: &mut impl Driver,
    bytes: &mut Vec<u8>,
    places: &[(usize, usize)],
) -> Option<()> {
    let (Some(&(start, end)), Some(&(other_start, other_end))) =
        (places.get(below(driver, places.len())?), places.get(below(driver, places.len())?))
    else {
        return Some(());
    };
    let piece = bytes[start..end].to_vec();
    match below(driver, 3)? {
        0 => drop(bytes.drain(start..end)),
        1 => drop(bytes.splice(end..end, piece)),
        _ => drop(bytes.splice(other_start..other_end, piece)),
    }
    Some(())
}
