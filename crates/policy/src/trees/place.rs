//! A value of a JSON file and where it stands, for readers of tree ensembles.

use serde_json::Value;

use crate::error::PolicyError;

/// A value and its JSON pointer.
#[derive(Clone, Debug)]
pub(super) struct At<'v> {
    pub value: &'v Value,
    pub pointer: String,
}

impl<'v> At<'v> {
    /// The whole file.
    pub fn root(value: &'v Value) -> Self {
        Self { value, pointer: String::new() }
    }

    pub fn invalid(&self, message: impl Into<String>) -> PolicyError {
        PolicyError::invalid(self.pointer.clone(), message)
    }

    pub fn unsupported(&self, message: impl Into<String>) -> PolicyError {
        PolicyError::unsupported(self.pointer.clone(), message)
    }

    /// A member, if it is there.
    pub fn optional(&self, name: &str) -> Option<At<'v>> {
        let value = self.value.get(name)?;
        Some(At { value, pointer: format!("{}/{name}", self.pointer) })
    }

    pub fn member(&self, name: &str) -> Result<At<'v>, PolicyError> {
        self.optional(name).ok_or_else(|| self.invalid(format!("`{name}` is missing")))
    }

    /// The members of an object, in their order.
    pub fn members(&self) -> Result<Vec<(&'v str, At<'v>)>, PolicyError> {
        let object = self.value.as_object().ok_or_else(|| self.invalid("an object is expected"))?;
        let at = |(name, value): (&'v String, &'v Value)| {
            (name.as_str(), At { value, pointer: format!("{}/{name}", self.pointer) })
        };
        Ok(object.iter().map(at).collect())
    }

    pub fn elements(&self) -> Result<Vec<At<'v>>, PolicyError> {
        let list = self.value.as_array().ok_or_else(|| self.invalid("a list is expected"))?;
        let place = |k| format!("{}/{k}", self.pointer);
        Ok(list.iter().enumerate().map(|(k, value)| At { value, pointer: place(k) }).collect())
    }

    pub fn text(&self) -> Result<&'v str, PolicyError> {
        self.value.as_str().ok_or_else(|| self.invalid("a text is expected"))
    }

    pub fn texts(&self) -> Result<Vec<&'v str>, PolicyError> {
        self.list(Value::as_str, "a text is expected")
    }

    /// The entries of a list, read one by one.
    fn list<T>(
        &self,
        read: impl Fn(&'v Value) -> Option<T>,
        expected: &str,
    ) -> Result<Vec<T>, PolicyError> {
        let list = self.value.as_array().ok_or_else(|| self.invalid("a list is expected"))?;
        let entry = |(k, value): (usize, &'v Value)| {
            let place = || format!("{}/{k}", self.pointer);
            read(value).ok_or_else(|| PolicyError::invalid(place(), expected))
        };
        list.iter().enumerate().map(entry).collect()
    }

    /// A number in double precision.
    pub fn number(&self) -> Result<f64, PolicyError> {
        self.value.as_f64().ok_or_else(|| self.invalid("a number is expected"))
    }

    /// Numbers in single precision, each rounded once.
    pub fn singles(&self) -> Result<Vec<f32>, PolicyError> {
        self.list(single, "a number is expected")
    }

    /// Whole numbers.
    pub fn integers(&self) -> Result<Vec<i64>, PolicyError> {
        self.list(Value::as_i64, "a whole number is expected")
    }

    /// Truth values, which may be written as 0 and 1.
    pub fn truths(&self) -> Result<Vec<bool>, PolicyError> {
        let truth = |value: &Value| match (value, value.as_i64()) {
            (Value::Bool(truth), _) => Some(*truth),
            (_, Some(0)) => Some(false),
            (_, Some(1)) => Some(true),
            _ => None,
        };
        self.list(truth, "0 or 1 is expected")
    }

    /// A count.
    pub fn count(&self) -> Result<usize, PolicyError> {
        let count = self.value.as_u64().and_then(|count| usize::try_from(count).ok());
        count.ok_or_else(|| self.invalid("a whole number of at least 0 is expected"))
    }

    /// A count that is written as text or as a number.
    pub fn written_count(&self) -> Result<usize, PolicyError> {
        match self.value {
            Value::String(text) => text.parse().map_err(|_| {
                self.invalid(format!("a whole number of at least 0 is expected, not `{text}`"))
            }),
            _ => self.count(),
        }
    }

    /// Checks a list's length, for a list that the format knows.
    pub fn of_length(&self, length: usize, of: &str) -> Result<(), PolicyError> {
        let given = self.elements()?.len();
        if given == length {
            return Ok(());
        }
        Err(self.invalid(format!("the list has {given} entries for {length} {of}")))
    }
}

/// A number in single precision, rounded once.
pub(super) fn single(value: &Value) -> Option<f32> {
    match value {
        Value::Number(number) => number.to_string().parse().ok(),
        _ => None,
    }
}
