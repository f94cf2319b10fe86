//! Configurations of engines: presets, files of one's own, and single settings.

use std::path::Path;
use std::str::FromStr;

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;
use toml::{Table, Value};

/// A preset: its name and its text.
pub type Preset = (&'static str, &'static str);

/// The configuration of an engine. Its keys are those of its default as TOML.
pub trait Configuration: Default + Serialize + DeserializeOwned {
    /// The presets that come with the engine; the first one is the default.
    fn presets() -> Vec<Preset>;

    /// Refuses settings that contradict each other; `given` has the settings that were given one by
    /// one, each of which must have an effect.
    ///
    /// # Errors
    /// Fails if settings contradict each other, or if one needs a part that is not built in.
    fn check(&self, given: &[Setting]) -> Result<(), ConfigurationError> {
        let _ = given;
        Ok(())
    }

    /// The configuration of a preset, or of a file, with some settings changed.
    ///
    /// # Errors
    /// An unknown preset or key, a value that is none, or what [`Configuration::check`] refuses.
    fn choose(preset: &str, settings: &[Setting]) -> Result<Configured<Self>, ConfigurationError> {
        match preset_text(preset, &Self::presets())? {
            PresetText::BuiltIn(text) => Self::parse(text, settings),
            PresetText::File(text) => Self::parse(&text, settings).map_err(|error| match error {
                ConfigurationError::File(what) => {
                    ConfigurationError::File(format!("{preset}: {what}"))
                }
                other => other,
            }),
        }
    }

    /// The configuration of a preset.
    ///
    /// # Errors
    /// As of [`Configuration::choose`].
    fn preset(name: &str) -> Result<Self, ConfigurationError> {
        Self::choose(name, &[]).map(|chosen| chosen.config)
    }

    /// The configuration of the text of a preset, with some settings changed.
    ///
    /// # Errors
    /// As of [`Configuration::choose`].
    fn parse(text: &str, settings: &[Setting]) -> Result<Configured<Self>, ConfigurationError> {
        let preset: Table = toml::from_str(text).map_err(|error| {
            let offset = error.span().map(|span| span.start);
            ConfigurationError::File(policert_files::placed(text, offset, error.message()))
        })?;
        let mut table = default_table::<Self>()?;
        let keys: Vec<String> = table.keys().cloned().collect();
        let mut name = "unnamed".to_owned();
        for (key, value) in preset {
            if key == "name" {
                value.as_str().unwrap_or_default().clone_into(&mut name);
            } else if !keys.contains(&key) {
                return Err(ConfigurationError::File(unknown_key(&key, &keys)));
            }
            if keys.contains(&key) {
                table.insert(key, value);
            }
        }
        for (i, setting) in settings.iter().enumerate() {
            if settings[..i].iter().any(|earlier| earlier.key == setting.key) {
                let twice = format!("`{}`: it is set twice", setting.key);
                return Err(ConfigurationError::Setting(twice));
            }
            let Some(old) = table.get(&setting.key).filter(|_| setting.key != "name") else {
                return Err(ConfigurationError::Setting(unknown_key(&setting.key, &keys)));
            };
            let value = setting.value_like(old)?;
            table.insert(setting.key.clone(), value);
            name += &format!(", {setting}");
        }
        if let Some(known) = table.get_mut("name") {
            *known = Value::String(name.clone());
        }
        let config: Self = table.try_into().map_err(|error: toml::de::Error| {
            let message = error.to_string().trim_end().replace('\n', " ");
            match settings {
                [] => ConfigurationError::File(message),
                _ => ConfigurationError::Setting(message),
            }
        })?;
        config.check(settings)?;
        Ok(Configured { name, config })
    }
}

/// A configuration that was chosen.
#[derive(Clone, PartialEq, Debug)]
pub struct Configured<C> {
    /// Name of the preset, with the settings that were changed.
    pub name: String,
    /// The configuration.
    pub config: C,
}

/// A setting that is given by itself: `key=value`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setting {
    /// The key, as in files of presets.
    pub key: String,
    /// The value, as in files of presets but without quotation marks.
    pub value: String,
}

impl Setting {
    /// The value as one of the same type as another.
    fn value_like(&self, other: &Value) -> Result<Value, ConfigurationError> {
        let text = &self.value;
        let (value, kind) = match other {
            Value::Integer(_) => (text.parse().ok().map(Value::Integer), "whole number"),
            Value::Float(_) => (text.parse().ok().map(Value::Float), "number"),
            Value::Boolean(_) => (text.parse().ok().map(Value::Boolean), "`true` or `false`"),
            Value::String(_) | Value::Datetime(_) | Value::Array(_) | Value::Table(_) => {
                (Some(Value::String(text.clone())), "text")
            }
        };
        value.ok_or_else(|| ConfigurationError::Setting(format!("`{self}`: not a {kind}")))
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}={}", self.key, self.value)
    }
}

impl FromStr for Setting {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=').map(|(key, value)| (key.trim(), value.trim())) {
            Some((key, value)) if !key.is_empty() && !value.is_empty() => {
                Ok(Self { key: key.to_owned(), value: value.to_owned() })
            }
            _ => Err(format!("`{text}` is not of the form KEY=VALUE")),
        }
    }
}

/// A configuration that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum ConfigurationError {
    /// No preset of this name.
    #[error("no preset `{name}`; there are {known}")]
    UnknownPreset {
        /// The name asked for.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A file that is no configuration.
    #[error("preset: {0}")]
    File(String),
    /// A setting that does not exist, has no such value, or has no effect.
    #[error("--set {0}")]
    Setting(String),
    /// Settings that do not go together.
    #[error("preset `{name}`: {problem}")]
    Contradiction {
        /// The preset.
        name: String,
        /// The contradiction, in words.
        problem: String,
    },
    /// Z3 is not built in.
    #[error(
        "preset `{0}` needs Z3, which is not built in: build with `./x build`, or with \
         `cargo build --release --features z3` and the Z3 library in place; in Python, \
         `pip install policert[z3]`"
    )]
    NeedsZ3(String),
}

/// The default of a configuration as TOML.
///
/// # Errors
/// A default that TOML cannot hold: our own mistake.
pub fn default_table<C: Configuration>() -> Result<Table, ConfigurationError> {
    Table::try_from(C::default()).map_err(|error| ConfigurationError::File(error.to_string()))
}

enum PresetText {
    BuiltIn(&'static str),
    File(String),
}

/// The text of a preset, or of a file if the name looks like that of one.
fn preset_text(name: &str, presets: &[Preset]) -> Result<PresetText, ConfigurationError> {
    if let Some((_, text)) = presets.iter().find(|(known, _)| *known == name) {
        return Ok(PresetText::BuiltIn(text));
    }
    let path = Path::new(name);
    if name.contains('/') || path.extension().is_some() || path.is_file() {
        let text = policert_files::read_text(path);
        let text = text.map_err(|error| ConfigurationError::File(format!("{name}: {error}")))?;
        return Ok(PresetText::File(text));
    }
    let known: Vec<&str> = presets.iter().map(|(name, _)| *name).collect();
    Err(ConfigurationError::UnknownPreset { name: name.to_owned(), known: known.join(", ") })
}

/// Says that a key does not exist, and which are close to it.
#[must_use]
pub fn unknown_key(key: &str, known: &[String]) -> String {
    let mut near: Vec<(usize, &str)> = known
        .iter()
        .filter(|name| *name != "name")
        .map(|name| (distance(key, name), &**name))
        .collect();
    near.sort_unstable();
    let names: Vec<String> = near.iter().take(3).map(|(_, name)| format!("`{name}`")).collect();
    match names.as_slice() {
        [] => format!("`{key}`: this engine has no settings"),
        _ => format!("`{key}`: no such key; close to it are {}", names.join(", ")),
    }
}

/// Returns how many letters have to be replaced, added or left out to make one word of the other;
/// none for the part of a word.
fn distance(a: &str, b: &str) -> usize {
    if b.split(['-', '.']).any(|part| part == a) || b.ends_with(a) {
        return 0;
    }
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != *other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// Limits that are 0 in configurations where there is none: for `serde(with)`.
pub mod zero_is_none {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    use super::Limit;

    /// Writes a limit.
    ///
    /// # Errors
    /// Those of the serializer.
    pub fn serialize<T: Limit, S: Serializer>(limit: &Option<T>, to: S) -> Result<S::Ok, S::Error> {
        limit.map_or(0, T::to_number).serialize(to)
    }

    /// Reads a limit.
    ///
    /// # Errors
    /// Those of the deserializer, and a number that is too large.
    pub fn deserialize<'de, T: Limit, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<T>, D::Error> {
        match u64::deserialize(from)? {
            0 => Ok(None),
            number => match T::from_number(number) {
                Some(limit) => Ok(Some(limit)),
                None => Err(D::Error::custom(format!("{number} is too large"))),
            },
        }
    }
}

/// A number that is a limit.
pub trait Limit: Copy {
    /// The number, for reading.
    fn to_number(self) -> u64;
    /// The limit of a number above 0, if it is not too large.
    fn from_number(number: u64) -> Option<Self>;
}

impl Limit for u64 {
    fn to_number(self) -> u64 {
        self
    }
    fn from_number(number: u64) -> Option<Self> {
        Some(number)
    }
}

impl Limit for u32 {
    fn to_number(self) -> u64 {
        self.into()
    }
    fn from_number(number: u64) -> Option<Self> {
        number.try_into().ok()
    }
}

impl Limit for std::num::NonZeroUsize {
    fn to_number(self) -> u64 {
        self.get() as u64
    }
    fn from_number(number: u64) -> Option<Self> {
        number.try_into().ok().and_then(Self::new)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Example {
        #[serde(with = "zero_is_none")]
        box_limit: Option<u32>,
        exact: bool,
        order: String,
    }

    impl Default for Example {
        fn default() -> Self {
            Self { box_limit: None, exact: false, order: "model".to_owned() }
        }
    }

    impl Configuration for Example {
        fn presets() -> Vec<Preset> {
            vec![("native", "name = \"native\""), ("other", "name = \"other\"\nexact = true")]
        }
    }

    fn choose(preset: &str, settings: &str) -> Result<Configured<Example>, String> {
        let settings = settings.split_whitespace().map(str::parse);
        let settings = settings.collect::<Result<Vec<Setting>, String>>()?;
        Example::choose(preset, &settings).map_err(|error| error.to_string())
    }

    #[test]
    fn settings_change_a_preset() {
        assert_eq!(choose("native", "").expect("a preset").config, Example::default());
        let chosen = choose("other", "box-limit=7 order=learned").expect("settings");
        assert_eq!(chosen.name, "other, box-limit=7, order=learned");
        let expected = Example { box_limit: Some(7), exact: true, order: "learned".to_owned() };
        assert_eq!(chosen.config, expected);
        assert_eq!(choose("native", "box-limit=0").expect("none").config.box_limit, None);
    }

    #[test]
    fn what_does_not_exist_is_refused_with_what_is_close() {
        for (preset, settings, said) in [
            ("none", "", "no preset `none`; there are native, other"),
            ("native", "boxlimit=1", "`boxlimit`: no such key; close to it are `box-limit`"),
            ("native", "limit=1", "close to it are `box-limit`"),
            ("native", "name=x", "no such key"),
            ("native", "box-limit=-1", "box-limit"),
            ("native", "box-limit=99999999999", "99999999999 is too large"),
            ("native", "exact=maybe", "`exact=maybe`: not a `true` or `false`"),
            ("native", "exact", "is not of the form KEY=VALUE"),
            ("native", "exact=true exact=false", "`exact`: it is set twice"),
            ("missing.toml", "", "missing.toml"),
        ] {
            let error = choose(preset, settings).expect_err(settings);
            assert!(error.contains(said), "{preset} {settings}: {error}");
        }
        let error = Example::parse("exakt = true", &[]).expect_err("a wrong key").to_string();
        assert!(
            error.starts_with("preset: `exakt`: no such key; close to it are `exact`"),
            "{error}"
        );
    }
}
