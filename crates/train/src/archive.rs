//! Bytes of a checkpoint: one description of the order of values both writes and reads them.
//!
//! Little-endian; lists begin with their length. The bytes begin with a mark and end with a sum of
//! all before it.

use crate::error::TrainError;

/// The first bytes of a checkpoint: of what training it is. The last of them is the version.
pub(crate) type Mark = [u8; 8];

/// Values that are written, or read, one after the other.
#[derive(Debug)]
pub(crate) enum Archive<'b> {
    Writer(Vec<u8>),
    Reader(&'b [u8]),
}

impl<'b> Archive<'b> {
    /// Starts writing.
    pub(crate) fn writer(mark: &Mark) -> Self {
        Self::Writer(mark.to_vec())
    }

    /// Starts reading.
    pub(crate) fn reader(bytes: &'b [u8], mark: &Mark) -> Result<Self, TrainError> {
        let Some((content, sum)) = bytes.split_last_chunk::<8>() else { return Err(broken()) };
        let Some(rest) = content.strip_prefix(mark) else {
            return Err(TrainError::Checkpoint("it has another format".to_owned()));
        };
        if checksum(content) != u64::from_le_bytes(*sum) {
            return Err(broken());
        }
        Ok(Self::Reader(rest))
    }

    /// The bytes that were written.
    pub(crate) fn finish(self) -> Vec<u8> {
        match self {
            Self::Writer(mut bytes) => {
                let sum = checksum(&bytes);
                bytes.extend(sum.to_le_bytes());
                bytes
            }
            Self::Reader(_) => Vec::new(),
        }
    }

    /// Returns whether everything was read.
    pub(crate) fn is_at_end(&self) -> bool {
        matches!(self, Self::Reader([]))
    }

    fn chunk<const N: usize>(&mut self, written: [u8; N]) -> Result<[u8; N], TrainError> {
        match self {
            Self::Writer(bytes) => {
                bytes.extend(written);
                Ok(written)
            }
            Self::Reader(bytes) => {
                let (chunk, rest) = bytes.split_first_chunk::<N>().ok_or_else(broken)?;
                *bytes = rest;
                Ok(*chunk)
            }
        }
    }

    pub(crate) fn u64(&mut self, value: &mut u64) -> Result<(), TrainError> {
        *value = u64::from_le_bytes(self.chunk(value.to_le_bytes())?);
        Ok(())
    }

    pub(crate) fn u32(&mut self, value: &mut u32) -> Result<(), TrainError> {
        *value = u32::from_le_bytes(self.chunk(value.to_le_bytes())?);
        Ok(())
    }

    pub(crate) fn i64(&mut self, value: &mut i64) -> Result<(), TrainError> {
        *value = i64::from_le_bytes(self.chunk(value.to_le_bytes())?);
        Ok(())
    }

    pub(crate) fn f64(&mut self, value: &mut f64) -> Result<(), TrainError> {
        *value = f64::from_le_bytes(self.chunk(value.to_le_bytes())?);
        Ok(())
    }

    pub(crate) fn f32(&mut self, value: &mut f32) -> Result<(), TrainError> {
        *value = f32::from_le_bytes(self.chunk(value.to_le_bytes())?);
        Ok(())
    }

    pub(crate) fn usize(&mut self, value: &mut usize) -> Result<(), TrainError> {
        let mut wide = *value as u64;
        self.u64(&mut wide)?;
        *value = usize::try_from(wide).map_err(|_| broken())?;
        Ok(())
    }

    /// A list, each element by `element`.
    pub(crate) fn list<T: Clone + Default>(
        &mut self,
        list: &mut Vec<T>,
        mut element: impl FnMut(&mut Self, &mut T) -> Result<(), TrainError>,
    ) -> Result<(), TrainError> {
        let mut length = list.len();
        self.usize(&mut length)?;
        // Each element takes a byte at least: no length makes more room than the file has.
        if let Self::Reader(bytes) = self
            && length > bytes.len()
        {
            return Err(broken());
        }
        list.resize(length, T::default());
        list.iter_mut().try_for_each(|value| element(self, value))
    }

    /// Numbers whose count does not change.
    pub(crate) fn f64s(&mut self, values: &mut [f64]) -> Result<(), TrainError> {
        values.iter_mut().try_for_each(|value| self.f64(value))
    }

    /// Text that must be the same where it is read.
    pub(crate) fn same_text(&mut self, text: &str) -> Result<(), TrainError> {
        let mut bytes = text.as_bytes().to_vec();
        self.list(&mut bytes, |archive, byte| {
            [*byte] = archive.chunk([*byte])?;
            Ok(())
        })?;
        if bytes == text.as_bytes() {
            return Ok(());
        }
        let message = "it belongs to other files or other options";
        Err(TrainError::Checkpoint(message.to_owned()))
    }
}

/// The failure of bytes that are no checkpoint.
pub(crate) fn broken() -> TrainError {
    TrainError::Checkpoint("it is damaged or incomplete".to_owned())
}

/// FNV-1a, over eight bytes at once.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(5);
    let (words, rest) = bytes.as_chunks::<8>();
    let sum = words.iter().fold(0xcbf2_9ce4_8422_2325, |sum, w| mix(sum, u64::from_le_bytes(*w)));
    rest.iter().fold(sum, |sum, &byte| mix(sum, u64::from(byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &Mark = b"TEST\0\0\0\x01";

    fn describe(
        archive: &mut Archive<'_>,
        a: &mut u64,
        b: &mut Vec<f64>,
    ) -> Result<(), TrainError> {
        archive.same_text("x")?;
        archive.u64(a)?;
        archive.list(b, Archive::f64)
    }

    #[test]
    fn what_is_written_is_read() {
        let mut archive = Archive::writer(MARK);
        describe(&mut archive, &mut 7, &mut vec![0.5, f64::MIN_POSITIVE]).expect("written");
        let bytes = archive.finish();
        let (mut a, mut b) = (0, Vec::new());
        let mut archive = Archive::reader(&bytes, MARK).expect("a checkpoint");
        describe(&mut archive, &mut a, &mut b).expect("read");
        assert!(archive.is_at_end());
        assert_eq!((a, b), (7, vec![0.5, f64::MIN_POSITIVE]));
        for at in 0..bytes.len() {
            let mut spoilt = bytes.clone();
            spoilt[at] ^= 4;
            assert!(Archive::reader(&spoilt, MARK).is_err());
            assert!(Archive::reader(&bytes[..at], MARK).is_err());
        }
    }
}
