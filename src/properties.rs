//! Named values in a fixed order: parameters of numberings and codecs,
//! attributes of fields, provenance.

/// One value of [`Properties`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// An unsigned number.
    Unsigned(u64),
    /// A signed number.
    Signed(i64),
    /// UTF-8 text.
    Text(String),
    /// Raw bytes, such as a codec's model.
    Bytes(Vec<u8>),
}

/// A short list of key–value pairs; keys are unique, order is kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Properties {
    entries: Vec<(String, Value)>,
}

impl Properties {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets `key`, replacing an earlier value.
    pub fn set(&mut self, key: &str, value: Value) {
        match self.entries.iter_mut().find(|(k, _)| k == key) {
            Some((_, old)) => *old = value,
            None => self.entries.push((key.to_owned(), value)),
        }
    }

    /// The list with `key` set to an unsigned number.
    #[must_use]
    pub fn with(mut self, key: &str, value: u64) -> Self {
        self.set(key, Value::Unsigned(value));
        self
    }

    /// The list with `key` set to a text.
    #[must_use]
    pub fn with_text(mut self, key: &str, value: impl Into<String>) -> Self {
        self.set(key, Value::Text(value.into()));
        self
    }

    /// The list with `key` set to bytes.
    #[must_use]
    pub fn with_bytes(mut self, key: &str, value: Vec<u8>) -> Self {
        self.set(key, Value::Bytes(value));
        self
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|(k, _)| k == key).map(|(_, v)| v)
    }

    /// The value of `key` when it is an unsigned number.
    pub fn unsigned(&self, key: &str) -> Option<u64> {
        match self.get(key) {
            Some(Value::Unsigned(v)) => Some(*v),
            _ => None,
        }
    }

    /// The value of `key` when it is a text.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.get(key) {
            Some(Value::Text(v)) => Some(v),
            _ => None,
        }
    }

    /// The value of `key` when it is bytes.
    pub fn bytes(&self, key: &str) -> Option<&[u8]> {
        match self.get(key) {
            Some(Value::Bytes(v)) => Some(v),
            _ => None,
        }
    }

    /// The pairs in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.entries.iter().map(|(k, v)| (k.as_str(), v))
    }
}
