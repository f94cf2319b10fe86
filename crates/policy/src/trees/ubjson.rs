//! Reader of UBJSON (Universal Binary JSON, draft 12), as XGBoost writes it, to JSON values.

use serde_json::{Map, Number, Value};

use crate::error::PolicyError;
use crate::json::twice;

/// Values may be nested this deep.
const DEPTH: usize = 128;

/// Returns whether the bytes look like UBJSON: an object whose first key has a binary length.
pub(crate) fn is_likely(bytes: &[u8]) -> bool {
    matches!(bytes, [b'{', b'i' | b'U' | b'I' | b'l' | b'L' | b'$' | b'#' | b'N', ..])
}

/// Reads one value.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, PolicyError> {
    let mut reader = Reader { bytes, at: 0 };
    let value = reader.value(DEPTH)?;
    if reader.at < bytes.len() {
        return Err(reader.wrong("something stands behind the value"));
    }
    Ok(value)
}

struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Reader<'_> {
    fn wrong(&self, what: &str) -> PolicyError {
        PolicyError::invalid(format!("byte {}", self.at), format!("UBJSON: {what}"))
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], PolicyError> {
        let end = self.at.checked_add(N).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or_else(|| self.wrong("the file ends too early"))?;
        let taken = self.bytes[self.at..end].try_into();
        self.at = end;
        taken.map_err(|_| self.wrong("the file ends too early"))
    }

    /// The next marker; "no operation" is passed over.
    fn marker(&mut self) -> Result<u8, PolicyError> {
        loop {
            match self.take::<1>()? {
                [b'N'] => {}
                [marker] => return Ok(marker),
            }
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, PolicyError> {
        let marker = self.marker()?;
        self.of_kind(marker, depth)
    }

    fn of_kind(&mut self, marker: u8, depth: usize) -> Result<Value, PolicyError> {
        if depth == 0 {
            return Err(self.wrong("the values are nested too deep"));
        }
        Ok(match marker {
            b'Z' => Value::Null,
            b'T' => Value::Bool(true),
            b'F' => Value::Bool(false),
            b'd' => {
                let value = f32::from_be_bytes(self.take()?);
                self.float(f64::from(value))?
            }
            b'D' => {
                let value = f64::from_be_bytes(self.take()?);
                self.float(value)?
            }
            b'C' => {
                let [character] = self.take()?;
                Value::from(char::from(character).to_string())
            }
            b'S' => Value::from(self.text()?),
            b'[' => self.list(depth - 1)?,
            b'{' => self.object(depth - 1)?,
            _ => Value::from(self.integer(marker)?),
        })
    }

    fn float(&self, value: f64) -> Result<Value, PolicyError> {
        let number = Number::from_f64(value);
        number.map(Value::Number).ok_or_else(|| self.wrong("a number is not finite"))
    }

    fn integer(&mut self, marker: u8) -> Result<i64, PolicyError> {
        Ok(match marker {
            b'i' => i8::from_be_bytes(self.take()?).into(),
            b'U' => u8::from_be_bytes(self.take()?).into(),
            b'I' => i16::from_be_bytes(self.take()?).into(),
            b'l' => i32::from_be_bytes(self.take()?).into(),
            b'L' => i64::from_be_bytes(self.take()?),
            other => {
                let kind = char::from(other).escape_default();
                return Err(self.wrong(&format!("values of type `{kind}` are not supported")));
            }
        })
    }

    fn length(&mut self) -> Result<usize, PolicyError> {
        let marker = self.marker()?;
        let length = self.integer(marker)?;
        usize::try_from(length).map_err(|_| self.wrong("a length is negative"))
    }

    fn text(&mut self) -> Result<String, PolicyError> {
        let length = self.length()?;
        let end = self.at.checked_add(length).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or_else(|| self.wrong("the file ends too early"))?;
        let text = std::str::from_utf8(&self.bytes[self.at..end]).map(str::to_owned);
        let text = text.map_err(|_| self.wrong("a text is no UTF-8"))?;
        self.at = end;
        Ok(text)
    }

    /// A key that the object does not have yet.
    fn new_key(&mut self, members: &Map<String, Value>) -> Result<String, PolicyError> {
        let key = self.text()?;
        if members.contains_key(&key) { Err(self.wrong(&twice(&key))) } else { Ok(key) }
    }

    /// Type and number of the elements of a container, where it says so.
    fn head(&mut self) -> Result<(Option<u8>, Option<usize>), PolicyError> {
        let mut kind = None;
        if self.bytes.get(self.at) == Some(&b'$') {
            self.at += 1;
            kind = Some(self.marker()?);
        }
        if self.bytes.get(self.at) == Some(&b'#') {
            self.at += 1;
            return Ok((kind, Some(self.length()?)));
        }
        match kind {
            None => Ok((None, None)),
            Some(_) => Err(self.wrong("a container with a type has no count")),
        }
    }

    /// Reads the end of the container, if it ends here, and returns whether it did.
    fn ends(&mut self, end: u8) -> Result<bool, PolicyError> {
        while self.bytes.get(self.at) == Some(&b'N') {
            self.at += 1;
        }
        match self.bytes.get(self.at) {
            None => Err(self.wrong("the file ends too early")),
            Some(&byte) if byte == end => {
                self.at += 1;
                Ok(true)
            }
            Some(_) => Ok(false),
        }
    }

    fn element(&mut self, kind: Option<u8>, depth: usize) -> Result<Value, PolicyError> {
        match kind {
            Some(kind) => self.of_kind(kind, depth),
            None => self.value(depth),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, PolicyError> {
        let (kind, count) = self.head()?;
        let mut elements = Vec::new();
        match count {
            Some(count) => {
                // Elements without bytes could be claimed in any number.
                if matches!(kind, Some(b'Z' | b'T' | b'F')) && count > self.bytes.len() {
                    return Err(self.wrong("a list is longer than the file"));
                }
                for _ in 0..count {
                    elements.push(self.element(kind, depth)?);
                }
            }
            None => {
                while !self.ends(b']')? {
                    elements.push(self.value(depth)?);
                }
            }
        }
        Ok(Value::Array(elements))
    }

    fn object(&mut self, depth: usize) -> Result<Value, PolicyError> {
        let (kind, count) = self.head()?;
        let mut members = Map::new();
        match count {
            Some(count) => {
                for _ in 0..count {
                    let key = self.new_key(&members)?;
                    members.insert(key, self.element(kind, depth)?);
                }
            }
            None => {
                while !self.ends(b'}')? {
                    let key = self.new_key(&members)?;
                    members.insert(key, self.value(depth)?);
                }
            }
        }
        Ok(Value::Object(members))
    }
}
