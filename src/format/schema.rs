//! The schema: what a table says of itself.

use super::bytes::{Cursor, Sink};
use crate::{Error, Properties, Result, Value};

/// Fields of a column, values of a record (all columns together), columns of a
/// table, and values of a block, at most.
const MOST_FIELDS: usize = 1024;
const MOST_VALUES: u64 = 65_535;
const MOST_COLUMNS: usize = 64;
const MOST_BLOCK_VALUES: u64 = 1 << 24;
/// Records in a block, at most: slots are 16-bit numbers, and 65535 means none.
pub const MOST_BLOCK_POSITIONS: u32 = 32_768;

/// A numbering by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberingId {
    /// Registered name, such as `multiset`.
    pub name: String,
    /// Version of the numbering with that name.
    pub version: u16,
    /// Its parameters.
    pub params: Properties,
}

/// A codec by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodecId {
    /// Registered name, such as `packed`.
    pub name: String,
    /// Version of the codec with that name.
    pub version: u16,
    /// Its parameters, models included.
    pub params: Properties,
}

/// An order of a column's numbers by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderId {
    /// Registered name, such as `grouped`.
    pub name: String,
    /// Its parameters.
    pub params: Properties,
}

/// How the stored bits of a value are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `value = raw + bias`, never negative.
    Unsigned,
    /// `value = raw + bias`.
    Signed,
    /// The raw bits are an IEEE 754 binary32 number.
    Float,
}

/// One named array in a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Name, unique in the table.
    pub name: String,
    /// How raw bits become values.
    pub kind: Kind,
    /// Bits of a raw value, 1 to 32.
    pub bits: u8,
    /// Values in the array.
    pub count: u32,
    /// Added to a raw value.
    pub bias: i64,
    /// No value is less.
    pub minimum: i64,
    /// No value is greater.
    pub maximum: i64,
    /// `unit`, `scale` (one unit is 1/scale), codes, bound of loss and so on.
    pub properties: Properties,
}

impl Field {
    /// An array of `count` unsigned values from 0 to `maximum`, in units of
    /// `1/scale`.
    pub fn unsigned(name: &str, count: u32, maximum: u32, unit: &str, scale: u64) -> Self {
        Field {
            name: name.to_owned(),
            kind: Kind::Unsigned,
            bits: (u32::BITS - maximum.leading_zeros()).max(1) as u8,
            count,
            bias: 0,
            minimum: 0,
            maximum: i64::from(maximum),
            properties: Properties::new()
                .with_text("unit", unit)
                .with("scale", scale),
        }
    }

    /// Whether a raw value lies within the field's bits and bounds.
    pub fn allows(&self, raw: u32) -> bool {
        let value = i64::from(raw).saturating_add(self.bias);
        let within = value >= self.minimum && value <= self.maximum;
        u64::from(raw) >> self.bits == 0 && (within || self.kind == Kind::Float)
    }

    /// What a raw value means, in the field's unit: the value (raw + bias)
    /// times the property `multiplier`, plus `offset`, over `scale` (1, 0 and 1
    /// where the table does not say); or the floating number of those bits.
    pub fn quantity(&self, raw: u32) -> f64 {
        if self.kind == Kind::Float {
            return f64::from(f32::from_bits(raw));
        }
        let number = |key: &str, otherwise: f64| match self.properties.get(key) {
            Some(Value::Unsigned(v)) => *v as f64,
            Some(Value::Signed(v)) => *v as f64,
            _ => otherwise,
        };
        let value = f64::from(raw) + self.bias as f64;
        (value * number("multiplier", 1.0) + number("offset", 0.0)) / number("scale", 1.0)
    }

    /// Bytes of one value in canonical form.
    pub fn value_bytes(&self) -> usize {
        usize::from(self.bits.div_ceil(8))
    }
}

/// Fields that are stored and compressed together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// Name, unique in the table.
    pub name: String,
    /// First number that is stored.
    pub first: u64,
    /// How many numbers are stored.
    pub count: u64,
    /// Records in a block; blocks lie on the grid of multiples of it.
    pub block_positions: u32,
    /// The order in which the records are stored; that of the numbers if `None`.
    pub order: Option<OrderId>,
    /// The codec.
    pub codec: CodecId,
    /// The fields, in record order.
    pub fields: Vec<Field>,
    /// The raw record of numbers that are not stored; empty when all are.
    pub elsewhere: Vec<u32>,
}

impl Column {
    /// Values in a record of this column.
    pub fn width(&self) -> usize {
        self.fields.iter().map(|f| f.count as usize).sum()
    }

    /// Bytes of a record of this column in canonical form.
    pub fn record_bytes(&self) -> usize {
        self.fields
            .iter()
            .map(|f| f.count as usize * f.value_bytes())
            .sum()
    }

    /// Bits of each value of a record.
    pub fn value_bits(&self) -> Vec<u8> {
        self.fields
            .iter()
            .flat_map(|f| std::iter::repeat_n(f.bits, f.count as usize))
            .collect()
    }

    /// Bytes of a block in the file, at most: more than any codec needs for
    /// values that do not compress.
    pub fn longest_block(&self) -> usize {
        16 * self.width() * self.block_positions as usize + 1024
    }

    /// How many blocks the column has.
    pub fn blocks(&self) -> u64 {
        let size = u64::from(self.block_positions);
        match self.count {
            0 => 0,
            count => (self.first + count - 1) / size - self.first / size + 1,
        }
    }

    /// First number and count of records of a block.
    pub fn block_range(&self, block: u64) -> (u64, usize) {
        let size = u64::from(self.block_positions);
        let grid = self.first / size + block;
        let from = (grid * size).max(self.first);
        let to = ((grid + 1) * size).min(self.first + self.count);
        (from, to.saturating_sub(from) as usize)
    }

    /// Block and slot of a number, or `None` where it is not stored.
    #[inline]
    pub fn place(&self, number: u64) -> Option<(u64, usize)> {
        if number.wrapping_sub(self.first) >= self.count {
            return None;
        }
        let size = u64::from(self.block_positions);
        let grid = number / size;
        let block = grid - self.first / size;
        let from = (grid * size).max(self.first);
        Some((block, (number - from) as usize))
    }

    fn check(&self, positions: u64) -> Result<()> {
        let name = &self.name;
        if self.block_positions == 0 || self.block_positions > MOST_BLOCK_POSITIONS {
            return Err(Error::corrupt(
                "S-6",
                format!(
                    "column '{name}' has blocks of {} positions, 1 to {MOST_BLOCK_POSITIONS} allowed",
                    self.block_positions
                ),
            ));
        }
        if self
            .first
            .checked_add(self.count)
            .is_none_or(|end| end > positions)
        {
            return Err(Error::corrupt(
                "S-7",
                format!(
                    "column '{name}' stores {} numbers from {}, the table has {positions}",
                    self.count, self.first
                ),
            ));
        }
        if self.fields.is_empty() || self.fields.len() > MOST_FIELDS {
            return Err(Error::corrupt(
                "S-8",
                format!(
                    "column '{name}' has {} fields, 1 to {MOST_FIELDS} allowed",
                    self.fields.len()
                ),
            ));
        }
        let mut width = 0u64;
        for field in &self.fields {
            if field.bits == 0 || field.bits > 32 || field.count == 0 {
                return Err(Error::corrupt(
                    "S-9",
                    format!(
                        "field '{}' has {} values of {} bits; at least one of 1 to 32 expected",
                        field.name, field.count, field.bits
                    ),
                ));
            }
            let plain = field.bits == 32 && (field.bias, field.minimum, field.maximum) == (0, 0, 0);
            if field.kind == Kind::Float && !plain {
                return Err(Error::corrupt(
                    "S-10",
                    format!(
                        "floating field '{}' is not 32 plain bits without bias and bounds",
                        field.name
                    ),
                ));
            }
            if field.kind != Kind::Float {
                // i128 keeps hostile bounds from overflowing.
                let top = i128::from(field.bias) + ((1i128 << field.bits) - 1);
                let negative = field.kind == Kind::Unsigned && field.minimum < 0;
                if negative
                    || top > i128::from(i64::MAX)
                    || field.minimum > field.maximum
                    || i128::from(field.minimum) < i128::from(field.bias)
                    || i128::from(field.maximum) > top
                {
                    return Err(Error::corrupt(
                        "S-11",
                        format!(
                            "field '{}' has values from {} to {}, its bits hold {} to {top}",
                            field.name, field.minimum, field.maximum, field.bias
                        ),
                    ));
                }
            }
            width += u64::from(field.count);
        }
        if width > MOST_VALUES {
            return Err(Error::corrupt(
                "S-8",
                format!("column '{name}' has {width} values, at most {MOST_VALUES} allowed"),
            ));
        }
        let values = width * u64::from(self.block_positions);
        if values > MOST_BLOCK_VALUES {
            return Err(Error::corrupt(
                "S-15",
                format!(
                    "column '{name}' has blocks of {values} values, at most {MOST_BLOCK_VALUES} allowed; choose fewer positions"
                ),
            ));
        }
        let whole = self.first == 0 && self.count == positions;
        let fields = self
            .fields
            .iter()
            .flat_map(|f| std::iter::repeat_n(f, f.count as usize));
        let fits = self.elsewhere.iter().zip(fields).all(|(v, f)| f.allows(*v));
        if self.elsewhere.len() != if whole { 0 } else { self.width() } || !fits {
            return Err(Error::corrupt(
                "S-12",
                format!("column '{name}' has no fitting record for numbers that are not stored"),
            ));
        }
        Ok(())
    }
}

/// All that a table says of itself apart from where its bytes are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Schema {
    /// Positions in the table; kept in the header.
    pub positions: u64,
    /// `content`, `made_by`, `made_from` and so on.
    pub properties: Properties,
    /// How positions become numbers.
    pub numbering: NumberingId,
    /// The columns, in record order.
    pub columns: Vec<Column>,
}

impl Schema {
    /// Values in a record over all columns.
    pub fn width(&self) -> usize {
        self.columns.iter().map(Column::width).sum()
    }

    /// Bytes of a record in canonical form over all columns.
    pub fn record_bytes(&self) -> usize {
        self.columns.iter().map(Column::record_bytes).sum()
    }

    /// Position of a column by name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    /// The schema's bytes; [`Error::Invalid`] when it breaks a rule.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.check()
            .map_err(|e| Error::invalid(format!("the schema cannot be written: {e}")))?;
        let mut sink = Sink::new();
        sink.properties(&self.properties)?;
        sink.text(&self.numbering.name, true)?;
        sink.u16(self.numbering.version);
        sink.properties(&self.numbering.params)?;
        sink.count16(self.columns.len(), "columns")?;
        for column in &self.columns {
            sink.text(&column.name, true)?;
            sink.u64(column.first);
            sink.u64(column.count);
            sink.u16(column.block_positions as u16);
            sink.u16(u16::from(column.order.is_some()));
            if let Some(order) = &column.order {
                sink.text(&order.name, true)?;
                sink.properties(&order.params)?;
            }
            sink.text(&column.codec.name, true)?;
            sink.u16(column.codec.version);
            sink.properties(&column.codec.params)?;
            sink.count16(column.fields.len(), "fields")?;
            for field in &column.fields {
                sink.text(&field.name, true)?;
                sink.u8(match field.kind {
                    Kind::Unsigned => 0,
                    Kind::Signed => 1,
                    Kind::Float => 2,
                });
                sink.u8(field.bits);
                sink.u32(field.count);
                sink.i64(field.bias);
                sink.i64(field.minimum);
                sink.i64(field.maximum);
                sink.properties(&field.properties)?;
            }
            sink.count16(column.elsewhere.len(), "values")?;
            for &value in &column.elsewhere {
                sink.u32(value);
            }
        }
        Ok(sink.bytes)
    }

    /// Reads a schema of a table of `positions` positions.
    pub fn parse(bytes: &[u8], positions: u64) -> Result<Self> {
        let mut cursor = Cursor::new(bytes, "S-1");
        let properties = cursor.properties()?;
        let numbering = NumberingId {
            name: cursor.text(true)?,
            version: cursor.u16()?,
            params: cursor.properties()?,
        };
        let count = cursor.u16()?;
        let mut columns = Vec::new();
        for _ in 0..count {
            columns.push(parse_column(&mut cursor)?);
        }
        if cursor.remaining() != 0 {
            return Err(Error::corrupt(
                "S-1",
                format!("{} bytes too many in the schema", cursor.remaining()),
            ));
        }
        let schema = Schema {
            positions,
            properties,
            numbering,
            columns,
        };
        schema.check()?;
        Ok(schema)
    }

    fn check(&self) -> Result<()> {
        if self.columns.is_empty() || self.columns.len() > MOST_COLUMNS {
            return Err(Error::corrupt(
                "S-5",
                format!(
                    "{} columns, 1 to {MOST_COLUMNS} expected",
                    self.columns.len()
                ),
            ));
        }
        let mut width = 0;
        for (i, column) in self.columns.iter().enumerate() {
            column.check(self.positions)?;
            width += column.width() as u64;
            if width > MOST_VALUES {
                return Err(Error::corrupt(
                    "S-8",
                    format!("a record has over {MOST_VALUES} values in all columns together"),
                ));
            }
            if self.columns.iter().take(i).any(|c| c.name == column.name) {
                return Err(Error::corrupt(
                    "S-13",
                    format!("column '{}' occurs twice", column.name),
                ));
            }
        }
        let mut names: Vec<&str> = self
            .columns
            .iter()
            .flat_map(|c| &c.fields)
            .map(|f| f.name.as_str())
            .collect();
        names.sort_unstable();
        if let Some([name, _]) = names.array_windows().find(|[a, b]| a == b) {
            return Err(Error::corrupt(
                "S-13",
                format!("field '{name}' occurs twice"),
            ));
        }
        Ok(())
    }
}

fn parse_column(cursor: &mut Cursor<'_>) -> Result<Column> {
    let name = cursor.text(true)?;
    let first = cursor.u64()?;
    let count = cursor.u64()?;
    let block_positions = u32::from(cursor.u16()?);
    let order = match cursor.u16()? {
        0 => None,
        1 => Some(OrderId {
            name: cursor.text(true)?,
            params: cursor.properties()?,
        }),
        other => {
            return Err(Error::corrupt(
                "S-16",
                format!("column '{name}' has {other} orders, 0 or 1 expected"),
            ));
        }
    };
    let codec = CodecId {
        name: cursor.text(true)?,
        version: cursor.u16()?,
        params: cursor.properties()?,
    };
    let field_count = cursor.u16()?;
    let mut fields = Vec::new();
    for _ in 0..field_count {
        fields.push(Field {
            name: cursor.text(true)?,
            kind: match cursor.u8()? {
                0 => Kind::Unsigned,
                1 => Kind::Signed,
                2 => Kind::Float,
                kind => {
                    return Err(Error::corrupt(
                        "S-10",
                        format!("a field of kind {kind}, 0 to 2 expected"),
                    ));
                }
            },
            bits: cursor.u8()?,
            count: cursor.u32()?,
            bias: cursor.i64()?,
            minimum: cursor.i64()?,
            maximum: cursor.i64()?,
            properties: cursor.properties()?,
        });
    }
    let elsewhere_count = cursor.u16()?;
    let elsewhere = (0..elsewhere_count)
        .map(|_| cursor.u32())
        .collect::<Result<_>>()?;
    Ok(Column {
        name,
        first,
        count,
        block_positions,
        order,
        codec,
        fields,
        elsewhere,
    })
}
