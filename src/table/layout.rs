//! The container, parsed a second time for [`super::verify`]: from
//! `spec/FORMAT.md`, with no code of the reader or of [`crate::format`]'s
//! parsers, so that the two check each other.

use std::ops::Range;

use crate::format::{CodecId, Column, Field, Kind, OrderId};
use crate::source::Source;
use crate::{Error, Limits, Properties, Result, Value};

/// Where everything is, read plainly.
pub(super) struct Layout {
    pub(super) positions: u64,
    /// Name, version and parameters.
    pub(super) numbering: (String, u16, Properties),
    pub(super) columns: Vec<Stored>,
    pub(super) content_crc32: u32,
}

/// A column and its index.
pub(super) struct Stored {
    pub(super) column: Column,
    /// Where its blocks lie in the file.
    pub(super) region: Range<u64>,
    blocks: u64,
    bias: u64,
    group: u64,
    bits: u64,
    knots: Vec<u64>,
    distances: Vec<u8>,
}

/// Fails with `rule` unless `right`.
fn expect(rule: &'static str, right: bool, message: impl FnOnce() -> String) -> Result<()> {
    match right {
        true => Ok(()),
        false => Err(Error::corrupt(rule, message())),
    }
}

impl Layout {
    pub(super) fn parse(source: &dyn Source, limits: &Limits) -> Result<Self> {
        let len = source.len();
        let mut header = vec![0; len.min(32) as usize];
        source.read_at(0, &mut header)?;
        expect(
            "H-2",
            header.len() < 8 || header.starts_with(b"\x89ETB\r\n\x1a\n"),
            || "the first 8 bytes are not those of a table".into(),
        )?;
        expect("H-1", len >= 80, || {
            format!("{len} bytes, a table has at least 80")
        })?;
        let mut footer = [0; 48];
        source.read_at(len - 48, &mut footer)?;

        let mut rest = Rest(&header, "H-1");
        rest.bytes(8)?;
        let (major, minor) = (rest.number(2)?, rest.number(2)?);
        let (needed, flags) = (rest.number(2)?, rest.number(2)?);
        let (positions, schema_bytes) = (rest.number(8)?, rest.number(4)?);
        let crc = rest.number(4)?;
        expect("H-3", crc == checksum(&[&header[..28]]), || {
            "the header's checksum is wrong".into()
        })?;
        if major == 1 {
            expect("H-6", needed <= minor, || {
                format!("minor version {minor} needs a reader of {needed}")
            })?;
        }
        if major != 1 || needed > 0 || flags & 0xff != 0 {
            return Err(Error::unsupported(format!(
                "format {major}, reader {needed}, flags {flags:#x}; 1, 0 and 0 are known: update endtable"
            )));
        }
        expect("H-4", positions < 1 << 63, || {
            "more than 2^63 - 1 positions".into()
        })?;
        Limits::check("the schema in bytes", schema_bytes, limits.schema_bytes)?;
        expect("H-5", 80 + schema_bytes <= len, || {
            format!("a schema of {schema_bytes} bytes in a file of {len}")
        })?;

        let mut rest = Rest(&footer, "F-1");
        let (file_bytes, index_offset) = (rest.number(8)?, rest.number(8)?);
        let (index_bytes, content_crc32) = (rest.number(8)?, rest.number(4)?);
        let (zero, crc, zero2) = (rest.number(4)?, rest.number(4)?, rest.number(4)?);
        expect("F-2", rest.bytes(8)? == b"\x1aend.ETB", || {
            "the end mark is missing: the file is truncated".into()
        })?;
        expect("F-3", file_bytes == len, || {
            format!("{file_bytes} bytes expected, the file has {len}")
        })?;
        expect("F-4", zero | zero2 == 0, || {
            "reserved bytes of the footer are not zero".into()
        })?;
        let blocks_from = 32 + schema_bytes;
        let end = u128::from(index_offset) + u128::from(index_bytes) + 48;
        expect(
            "F-5",
            index_offset >= blocks_from && end == u128::from(len),
            || "schema, blocks, index and footer do not fill the file".into(),
        )?;
        Limits::check("the block index in bytes", index_bytes, limits.index_bytes)?;
        let mut schema = vec![0; schema_bytes as usize];
        let mut index = vec![0; index_bytes as usize];
        source.read_at(32, &mut schema)?;
        source.read_at(index_offset, &mut index)?;
        expect(
            "F-6",
            checksum(&[&header, &schema, &index, &footer[..32]]) == crc,
            || "the checksum of header, schema, index and footer is wrong".into(),
        )?;

        let mut rest = Rest(&schema, "S-1");
        let _properties = rest.properties()?;
        let numbering = (rest.text(1)?, rest.number(2)? as u16, rest.properties()?);
        let mut columns = Vec::new();
        for _ in 0..rest.number(2)? {
            columns.push(rest.column()?);
        }
        expect("S-1", rest.0.is_empty(), || {
            format!("{} bytes too many in the schema", rest.0.len())
        })?;
        check_columns(&columns, positions)?;

        let mut rest = Rest(&index, "I-1");
        let mut at = blocks_from;
        let mut stored = Vec::new();
        for column in columns {
            let column = Stored::parse(column, &mut rest)?;
            expect(
                "I-4",
                column.region.start == at && (at..=index_offset).contains(&column.region.end),
                || "blocks overlap or leave gaps".into(),
            )?;
            at = column.region.end;
            stored.push(column);
        }
        expect("I-1", rest.0.is_empty(), || {
            format!("{} bytes too many in the index", rest.0.len())
        })?;
        expect("I-4", at == index_offset, || {
            "the blocks do not reach to the index".into()
        })?;
        Ok(Layout {
            positions,
            numbering,
            columns: stored,
            content_crc32: content_crc32 as u32,
        })
    }
}

impl Stored {
    fn parse(column: Column, rest: &mut Rest<'_>) -> Result<Self> {
        let size = u64::from(column.block_positions);
        let blocks = match column.count {
            0 => 0,
            count => (column.first + count - 1) / size - column.first / size + 1,
        };
        let (from, bytes, bias) = (rest.number(8)?, rest.number(8)?, rest.number(4)?);
        let (group_log2, bits, zero) = (rest.number(1)?, rest.number(1)?, rest.number(2)?);
        expect("I-2", group_log2 <= 16 && bits <= 28, || {
            format!("groups of 2^{group_log2} blocks, {bits} bits a distance")
        })?;
        expect("I-3", zero == 0, || {
            "reserved bytes of the index are not zero".into()
        })?;
        let group = 1 << group_log2;
        let knots = rest.bytes((blocks.div_ceil(group) + 1).saturating_mul(8))?;
        let knots: Vec<u64> = knots
            .chunks(8)
            .map(|k| Rest(k, "I-1").number(8))
            .collect::<Result<_>>()?;
        expect("I-6", knots.windows(2).all(|w| w[0] <= w[1]), || {
            "the knots of the index descend".into()
        })?;
        let bytes_of_distances = (u128::from(blocks) * u128::from(bits)).div_ceil(8);
        let distances = rest.bytes(u64::try_from(bytes_of_distances).unwrap_or(u64::MAX))?;
        Ok(Stored {
            column,
            region: from..from.checked_add(bytes).unwrap_or(0),
            blocks,
            bias,
            group,
            bits,
            knots,
            distances: distances.to_vec(),
        })
    }

    /// Where a block lies in the region, by the formula of the specification.
    pub(super) fn block(&self, block: u64) -> Result<Range<u64>> {
        let (from, to) = (self.offset(block), self.offset(block + 1));
        let end = i128::from(self.region.end - self.region.start);
        expect("I-5", 0 <= from && from < to && to <= end, || {
            format!("it reaches from {from} to {to} of {end}")
        })?;
        Ok(from as u64..to as u64)
    }

    fn offset(&self, block: u64) -> i128 {
        if block == self.blocks {
            return i128::from(self.region.end - self.region.start);
        }
        let mut distance = 0u64;
        for i in 0..self.bits {
            let bit = block * self.bits + i;
            distance |= u64::from(self.distances[(bit / 8) as usize] >> (bit % 8) & 1) << i;
        }
        let (group, within) = ((block / self.group) as usize, block % self.group);
        let (from, to) = (self.knots[group], self.knots[group + 1]);
        let slope = (to - from) / self.group;
        i128::from(from) + i128::from(within) * i128::from(slope) + i128::from(distance)
            - i128::from(self.bias)
    }
}

/// The rules of columns and fields.
fn check_columns(columns: &[Column], positions: u64) -> Result<()> {
    expect("S-5", (1..=64).contains(&columns.len()), || {
        format!("{} columns, 1 to 64 expected", columns.len())
    })?;
    let mut record = 0u64;
    let mut names = std::collections::HashSet::new();
    for (i, column) in columns.iter().enumerate() {
        let name = &column.name;
        let in_column = |what: String| format!("column '{name}': {what}");
        expect(
            "S-6",
            (1..=32_768).contains(&column.block_positions),
            || in_column(format!("blocks of {} positions", column.block_positions)),
        )?;
        let end = u128::from(column.first) + u128::from(column.count);
        expect("S-7", end <= u128::from(positions), || {
            in_column(format!("numbers up to {end} of {positions}"))
        })?;
        expect("S-8", (1..=1024).contains(&column.fields.len()), || {
            in_column(format!("{} fields", column.fields.len()))
        })?;
        let mut values = 0;
        for field in &column.fields {
            check_field(field)?;
            expect("S-13", names.insert(field.name.clone()), || {
                format!("field '{}' occurs twice", field.name)
            })?;
            values += u64::from(field.count);
        }
        record += values;
        expect("S-8", record <= 65_535, || {
            in_column("over 65535 values in a record".into())
        })?;
        let block = values * u64::from(column.block_positions);
        expect("S-15", block <= 1 << 24, || {
            in_column(format!("blocks of {block} values"))
        })?;
        let whole = column.first == 0 && column.count == positions;
        let length = if whole { 0 } else { values };
        expect("S-12", column.elsewhere.len() as u64 == length, || {
            in_column("no fitting record for numbers that are not stored".into())
        })?;
        check_values(column, &column.elsewhere)
            .map_err(|(field, value)| Error::corrupt("S-12", in_column(outside(field, value))))?;
        expect("S-13", columns[..i].iter().all(|c| c.name != *name), || {
            in_column("the name occurs twice".into())
        })?;
    }
    Ok(())
}

fn check_field(field: &Field) -> Result<()> {
    let in_field = |what: &str| format!("field '{}': {what}", field.name);
    expect(
        "S-9",
        (1..=32).contains(&field.bits) && field.count > 0,
        || in_field("no values or no bits"),
    )?;
    if field.kind == Kind::Float {
        let rest = [field.bias, field.minimum, field.maximum];
        return expect("S-10", field.bits == 32 && rest == [0; 3], || {
            in_field("not 32 plain bits")
        });
    }
    let low = i128::from(field.bias);
    let high = low + (1 << field.bits) - 1;
    let (minimum, maximum) = (i128::from(field.minimum), i128::from(field.maximum));
    let right = low <= minimum && minimum <= maximum && maximum <= high && high < 1 << 63;
    let sign = field.kind != Kind::Unsigned || minimum >= 0;
    expect("S-11", right && sign, || in_field("impossible bounds"))
}

/// Finds the first value of some records that is outside of its field's bounds.
pub(super) fn check_values<'a>(
    column: &'a Column,
    values: &[u32],
) -> std::result::Result<(), (&'a Field, u32)> {
    let mut rest = values;
    while !rest.is_empty() {
        for field in &column.fields {
            let (head, tail) = rest.split_at(field.count as usize);
            rest = tail;
            let outside = |raw: &&u32| {
                let value = i128::from(**raw) + i128::from(field.bias);
                value < i128::from(field.minimum) || value > i128::from(field.maximum)
            };
            if field.kind != Kind::Float
                && let Some(&raw) = head.iter().find(outside)
            {
                return Err((field, raw));
            }
        }
    }
    Ok(())
}

/// What is wrong with a value that [`check_values`] found.
pub(super) fn outside(field: &Field, raw: u32) -> String {
    format!(
        "field '{}' has the value {}, {} to {} expected",
        field.name,
        i128::from(raw) + i128::from(field.bias),
        field.minimum,
        field.maximum
    )
}

fn checksum(parts: &[&[u8]]) -> u64 {
    let mut hasher = crc32fast::Hasher::new();
    for part in parts {
        hasher.update(part);
    }
    u64::from(hasher.finalize())
}

/// The rest of some bytes, and the rule that too few of them break.
struct Rest<'a>(&'a [u8], &'static str);

impl<'a> Rest<'a> {
    fn bytes(&mut self, n: u64) -> Result<&'a [u8]> {
        expect(self.1, n <= self.0.len() as u64, || {
            format!("{n} bytes expected, {} left", self.0.len())
        })?;
        let (head, tail) = self.0.split_at(n as usize);
        self.0 = tail;
        Ok(head)
    }

    fn number(&mut self, bytes: u64) -> Result<u64> {
        Ok(self
            .bytes(bytes)?
            .iter()
            .rev()
            .fold(0, |n, &b| n << 8 | u64::from(b)))
    }

    fn text(&mut self, length_bytes: u64) -> Result<String> {
        let n = self.number(length_bytes)?;
        String::from_utf8(self.bytes(n)?.to_vec())
            .map_err(|_| Error::corrupt("S-2", "text is not UTF-8"))
    }

    fn properties(&mut self) -> Result<Properties> {
        let mut out = Properties::new();
        let count = self.number(2)?;
        expect("S-3", count <= 256, || {
            format!("{count} properties in one list, at most 256 allowed")
        })?;
        for _ in 0..count {
            let key = self.text(1)?;
            expect("S-3", out.get(&key).is_none(), || {
                format!("property '{key}' occurs twice")
            })?;
            let value = match self.number(1)? {
                0 => Value::Unsigned(self.number(8)?),
                1 => Value::Signed(self.number(8)? as i64),
                2 => Value::Text(self.text(4)?),
                3 => {
                    let n = self.number(4)?;
                    Value::Bytes(self.bytes(n)?.to_vec())
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

    fn field(&mut self) -> Result<Field> {
        Ok(Field {
            name: self.text(1)?,
            kind: match self.number(1)? {
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
            bits: self.number(1)? as u8,
            count: self.number(4)? as u32,
            bias: self.number(8)? as i64,
            minimum: self.number(8)? as i64,
            maximum: self.number(8)? as i64,
            properties: self.properties()?,
        })
    }

    fn order(&mut self) -> Result<Option<OrderId>> {
        let orders = self.number(2)?;
        expect("S-16", orders <= 1, || {
            format!("a column of {orders} orders, 0 or 1 expected")
        })?;
        match orders {
            0 => Ok(None),
            _ => Ok(Some(OrderId {
                name: self.text(1)?,
                params: self.properties()?,
            })),
        }
    }

    fn column(&mut self) -> Result<Column> {
        let mut column = Column {
            name: self.text(1)?,
            first: self.number(8)?,
            count: self.number(8)?,
            block_positions: self.number(2)? as u32,
            order: self.order()?,
            codec: CodecId {
                name: self.text(1)?,
                version: self.number(2)? as u16,
                params: self.properties()?,
            },
            fields: Vec::new(),
            elsewhere: Vec::new(),
        };
        for _ in 0..self.number(2)? {
            column.fields.push(self.field()?);
        }
        for _ in 0..self.number(2)? {
            column.elsewhere.push(self.number(4)? as u32);
        }
        Ok(column)
    }
}
