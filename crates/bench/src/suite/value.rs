//! Values of axes and of names: texts, numbers, and lists of words.

use std::fmt;

use serde::Deserialize;
use serde::de::{self, Deserializer, SeqAccess, Visitor};

/// A text as it stands in a command. Numbers are written as they are read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Word(pub String);

/// What a name stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Words {
    /// A part of a word.
    One(String),
    /// Words of a command.
    Several(Vec<String>),
}

impl<'de> Deserialize<'de> for Word {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Words::deserialize(deserializer)? {
            Words::One(text) => Ok(Self(text)),
            Words::Several(_) => Err(de::Error::custom("a list is no value of an axis")),
        }
    }
}

impl<'de> Deserialize<'de> for Words {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WordsVisitor)
    }
}

struct WordsVisitor;

impl<'de> Visitor<'de> for WordsVisitor {
    type Value = Words;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a number, or a list of them")
    }

    fn visit_str<E>(self, text: &str) -> Result<Words, E> {
        Ok(Words::One(text.to_owned()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Words, E> {
        Ok(Words::One(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Words, E> {
        Ok(Words::One(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Words, E> {
        Ok(Words::One(number.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Words, A::Error> {
        let mut words = Vec::new();
        while let Some(Word(word)) = list.next_element()? {
            words.push(word);
        }
        Ok(Words::Several(words))
    }
}
