//! Little-endian reading with bounds, and writing, of the schema's primitives.

use crate::{Error, Properties, Result, Value};

/// Properties of one list, at most: each new key is compared with all before.
const MOST_PROPERTIES: usize = 256;

/// Reads primitives front to back; every read is checked against the end.
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    /// Rule that a short read breaks.
    rule: &'static str,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(bytes: &'a [u8], rule: &'static str) -> Self {
        Cursor { rest: bytes, rule }
    }

    pub(super) fn remaining(&self) -> usize {
        self.rest.len()
    }

    pub(super) fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        match self.rest.split_at_checked(n) {
            Some((head, tail)) => {
                self.rest = tail;
                Ok(head)
            }
            None => Err(Error::corrupt(
                self.rule,
                format!("{n} more bytes expected, {} left", self.rest.len()),
            )),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut out = [0; N];
        out.copy_from_slice(self.take(N)?);
        Ok(out)
    }

    pub(super) fn u8(&mut self) -> Result<u8> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    pub(super) fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(super) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(super) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(super) fn i64(&mut self) -> Result<i64> {
        Ok(i64::from_le_bytes(self.array()?))
    }

    /// A text with its length in front, of 8 bits (`short`) or 32.
    pub(super) fn text(&mut self, short: bool) -> Result<String> {
        let n = if short {
            usize::from(self.u8()?)
        } else {
            self.u32()? as usize
        };
        let bytes = self.take(n)?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(e) => Err(Error::corrupt("S-2", format!("text is not UTF-8: {e}"))),
        }
    }

    pub(super) fn properties(&mut self) -> Result<Properties> {
        let count = self.u16()?;
        if usize::from(count) > MOST_PROPERTIES {
            return Err(Error::corrupt(
                "S-3",
                format!("{count} properties in one list, at most {MOST_PROPERTIES} allowed"),
            ));
        }
        let mut out = Properties::new();
        for _ in 0..count {
            let key = self.text(true)?;
            if out.get(&key).is_some() {
                return Err(Error::corrupt(
                    "S-3",
                    format!("property '{key}' occurs twice"),
                ));
            }
            let value = match self.u8()? {
                0 => Value::Unsigned(self.u64()?),
                1 => Value::Signed(self.i64()?),
                2 => Value::Text(self.text(false)?),
                3 => {
                    let n = self.u32()? as usize;
                    Value::Bytes(self.take(n)?.to_vec())
                }
                tag => {
                    return Err(Error::corrupt(
                        "S-4",
                        format!("property '{key}' has type {tag}, 0 to 3 expected"),
                    ));
                }
            };
            out.set(&key, value);
        }
        Ok(out)
    }
}

/// Appends primitives; lengths that do not fit are the caller's fault.
pub(super) struct Sink {
    pub(super) bytes: Vec<u8>,
}

impl Sink {
    pub(super) fn new() -> Self {
        Sink { bytes: Vec::new() }
    }

    pub(super) fn u8(&mut self, v: u8) {
        self.bytes.push(v);
    }

    pub(super) fn u16(&mut self, v: u16) {
        self.bytes.extend_from_slice(&v.to_le_bytes());
    }

    pub(super) fn u32(&mut self, v: u32) {
        self.bytes.extend_from_slice(&v.to_le_bytes());
    }

    pub(super) fn u64(&mut self, v: u64) {
        self.bytes.extend_from_slice(&v.to_le_bytes());
    }

    pub(super) fn i64(&mut self, v: i64) {
        self.bytes.extend_from_slice(&v.to_le_bytes());
    }

    pub(super) fn count16(&mut self, n: usize, what: &str) -> Result<()> {
        match u16::try_from(n) {
            Ok(v) => {
                self.u16(v);
                Ok(())
            }
            Err(_) => Err(Error::invalid(format!(
                "{n} {what}, at most 65535 fit a table"
            ))),
        }
    }

    pub(super) fn text(&mut self, text: &str, short: bool) -> Result<()> {
        let n = text.len();
        if short {
            let n = u8::try_from(n)
                .map_err(|_| Error::invalid(format!("name '{text}' is longer than 255 bytes")))?;
            self.u8(n);
        } else {
            self.long(n)?;
        }
        self.bytes.extend_from_slice(text.as_bytes());
        Ok(())
    }

    fn long(&mut self, n: usize) -> Result<()> {
        let n = u32::try_from(n).map_err(|_| {
            Error::invalid(format!("a property of {n} bytes, under 4 GiB fit a table"))
        })?;
        self.u32(n);
        Ok(())
    }

    pub(super) fn properties(&mut self, properties: &Properties) -> Result<()> {
        let count = properties.iter().len();
        if count > MOST_PROPERTIES {
            return Err(Error::invalid(format!(
                "{count} properties in one list, at most {MOST_PROPERTIES} fit a table"
            )));
        }
        self.count16(count, "properties")?;
        for (key, value) in properties.iter() {
            self.text(key, true)?;
            match value {
                Value::Unsigned(v) => {
                    self.u8(0);
                    self.u64(*v);
                }
                Value::Signed(v) => {
                    self.u8(1);
                    self.i64(*v);
                }
                Value::Text(v) => {
                    self.u8(2);
                    self.text(v, false)?;
                }
                Value::Bytes(v) => {
                    self.u8(3);
                    self.long(v.len())?;
                    self.bytes.extend_from_slice(v);
                }
            }
        }
        Ok(())
    }
}
