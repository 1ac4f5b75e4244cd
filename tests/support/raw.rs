//! A table put together byte by byte from `spec/FORMAT.md`, without any code of
//! the library, so that each part can be made wrong.

/// A table of 6 records of two values of 10 bits and one of 8, in blocks of 4.
#[derive(Clone)]
pub(crate) struct Raw {
    pub(crate) major: u16,
    pub(crate) minor: u16,
    pub(crate) minimum_reader: u16,
    pub(crate) flags: u16,
    pub(crate) positions: u64,
    pub(crate) schema: Vec<u8>,
    pub(crate) blocks: Vec<Vec<u8>>,
    pub(crate) index: Index,
    pub(crate) content_crc32: u32,
    /// Bytes 28 to 31 and 36 to 39 of the footer.
    pub(crate) footer_zero: [u32; 2],
}

/// The index's part of the one column.
#[derive(Clone)]
pub(crate) struct Index {
    pub(crate) region_offset: u64,
    pub(crate) region_bytes: u64,
    pub(crate) bias: u32,
    pub(crate) group_log2: u8,
    pub(crate) delta_bits: u8,
    pub(crate) reserved: u16,
    pub(crate) knots: Vec<u64>,
    pub(crate) deltas: Vec<u8>,
}

/// What the schema of [`Raw`] is made of.
#[derive(Clone)]
pub(crate) struct Parts {
    pub(crate) properties: Vec<u8>,
    pub(crate) numbering: (&'static str, u16, Vec<u8>),
    pub(crate) columns: Vec<RawColumn>,
}

#[derive(Clone)]
pub(crate) struct RawColumn {
    pub(crate) name: &'static str,
    pub(crate) first: u64,
    pub(crate) count: u64,
    pub(crate) block_positions: u16,
    pub(crate) orders: u16,
    /// Name and parameters of the order, if there is one.
    pub(crate) order: Vec<u8>,
    pub(crate) codec: (&'static str, u16, Vec<u8>),
    pub(crate) fields: Vec<RawField>,
    pub(crate) elsewhere: Vec<u32>,
}

#[derive(Clone)]
pub(crate) struct RawField {
    pub(crate) name: String,
    pub(crate) kind: u8,
    pub(crate) bits: u8,
    pub(crate) count: u32,
    pub(crate) bias: i64,
    pub(crate) minimum: i64,
    pub(crate) maximum: i64,
}

pub(crate) fn name(text: &[u8]) -> Vec<u8> {
    let mut out = vec![text.len() as u8];
    out.extend_from_slice(text);
    out
}

/// A list of properties of type 0.
pub(crate) fn properties(list: &[(&str, u64)]) -> Vec<u8> {
    let mut out = (list.len() as u16).to_le_bytes().to_vec();
    for (key, value) in list {
        out.extend(name(key.as_bytes()));
        out.push(0);
        out.extend(value.to_le_bytes());
    }
    out
}

impl RawField {
    pub(crate) fn new(name: &str, bits: u8, count: u32) -> Self {
        RawField {
            name: name.into(),
            kind: 0,
            bits,
            count,
            bias: 0,
            minimum: 0,
            maximum: (1 << bits) - 1,
        }
    }
}

impl Parts {
    pub(crate) fn good() -> Self {
        Parts {
            properties: properties(&[]),
            numbering: ("flat", 1, properties(&[("positions", 6)])),
            columns: vec![RawColumn {
                name: "a",
                first: 0,
                count: 6,
                block_positions: 4,
                orders: 0,
                order: Vec::new(),
                codec: ("stored", 1, properties(&[])),
                fields: vec![RawField::new("x", 10, 2), RawField::new("y", 8, 1)],
                elsewhere: Vec::new(),
            }],
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = self.properties.clone();
        out.extend(name(self.numbering.0.as_bytes()));
        out.extend(self.numbering.1.to_le_bytes());
        out.extend(&self.numbering.2);
        out.extend((self.columns.len() as u16).to_le_bytes());
        for column in &self.columns {
            out.extend(name(column.name.as_bytes()));
            out.extend(column.first.to_le_bytes());
            out.extend(column.count.to_le_bytes());
            out.extend(column.block_positions.to_le_bytes());
            out.extend(column.orders.to_le_bytes());
            out.extend(&column.order);
            out.extend(name(column.codec.0.as_bytes()));
            out.extend(column.codec.1.to_le_bytes());
            out.extend(&column.codec.2);
            out.extend((column.fields.len() as u16).to_le_bytes());
            for field in &column.fields {
                out.extend(name(field.name.as_bytes()));
                out.extend([field.kind, field.bits]);
                out.extend(field.count.to_le_bytes());
                for number in [field.bias, field.minimum, field.maximum] {
                    out.extend(number.to_le_bytes());
                }
                out.extend(properties(&[]));
            }
            out.extend((column.elsewhere.len() as u16).to_le_bytes());
            for value in &column.elsewhere {
                out.extend(value.to_le_bytes());
            }
        }
        out
    }
}

/// The records of [`Raw::good`].
pub(crate) const VALUES: [u32; 18] = [
    0, 1, 2, 1023, 512, 255, 7, 8, 9, 300, 301, 1, 1, 1, 1, 1000, 24, 128,
];

/// Canonical form of [`VALUES`].
pub(crate) fn canonical(values: &[u32]) -> Vec<u8> {
    let mut out = Vec::new();
    for (i, value) in values.iter().enumerate() {
        let bytes = value.to_le_bytes();
        out.extend_from_slice(&bytes[..if i % 3 == 2 { 1 } else { 2 }]);
    }
    out
}

/// A payload with its checksum.
pub(crate) fn block(payload: &[u8]) -> Vec<u8> {
    let mut out = payload.to_vec();
    out.extend(crc32fast::hash(payload).to_le_bytes());
    out
}

impl Raw {
    /// A table that breaks no rule.
    pub(crate) fn good() -> Self {
        Self::with_blocks(
            Parts::good().bytes(),
            vec![
                block(&canonical(&VALUES[..12])),
                block(&canonical(&VALUES[12..])),
            ],
        )
    }

    /// A table of one column with these blocks (two at most).
    pub(crate) fn with_blocks(schema: Vec<u8>, blocks: Vec<Vec<u8>>) -> Self {
        let region_bytes = blocks.iter().map(Vec::len).sum::<usize>() as u64;
        // The line goes through 0, so that a distance is the offset itself.
        let mut deltas = vec![0; 2 * blocks.len()];
        let mut at = 0;
        for (pair, block) in deltas.chunks_exact_mut(2).zip(&blocks) {
            pair.copy_from_slice(&(at as u16).to_le_bytes());
            at += block.len();
        }
        Raw {
            major: 1,
            minor: 0,
            minimum_reader: 0,
            flags: 0,
            positions: 6,
            index: Index {
                region_offset: 32 + schema.len() as u64,
                region_bytes,
                bias: 0,
                group_log2: 4,
                delta_bits: 16,
                reserved: 0,
                knots: vec![0, 0],
                deltas,
            },
            schema,
            blocks,
            content_crc32: crc32fast::hash(&canonical(&VALUES)),
            footer_zero: [0, 0],
        }
    }

    pub(crate) fn header(&self) -> Vec<u8> {
        let mut out = b"\x89ETB\r\n\x1a\n".to_vec();
        for number in [self.major, self.minor, self.minimum_reader, self.flags] {
            out.extend(number.to_le_bytes());
        }
        out.extend(self.positions.to_le_bytes());
        out.extend((self.schema.len() as u32).to_le_bytes());
        out.extend(crc32fast::hash(&out).to_le_bytes());
        out
    }

    pub(crate) fn index_bytes(&self) -> Vec<u8> {
        let index = &self.index;
        let mut out = Vec::new();
        out.extend(index.region_offset.to_le_bytes());
        out.extend(index.region_bytes.to_le_bytes());
        out.extend(index.bias.to_le_bytes());
        out.extend([index.group_log2, index.delta_bits]);
        out.extend(index.reserved.to_le_bytes());
        for knot in &index.knots {
            out.extend(knot.to_le_bytes());
        }
        out.extend(&index.deltas);
        out
    }

    /// The whole file.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.bytes_with_index(&self.index_bytes())
    }

    pub(crate) fn bytes_with_index(&self, index: &[u8]) -> Vec<u8> {
        let front = [self.header(), self.schema.clone()].concat();
        let blocks = self.blocks.concat();
        let mut footer = Vec::new();
        let index_offset = front.len() + blocks.len();
        footer.extend(((index_offset + index.len() + 48) as u64).to_le_bytes());
        footer.extend((index_offset as u64).to_le_bytes());
        footer.extend((index.len() as u64).to_le_bytes());
        footer.extend(self.content_crc32.to_le_bytes());
        footer.extend(self.footer_zero[0].to_le_bytes());
        let covered = [&front[..], index, &footer].concat();
        footer.extend(crc32fast::hash(&covered).to_le_bytes());
        footer.extend(self.footer_zero[1].to_le_bytes());
        footer.extend(b"\x1aend.ETB");
        [&front[..], &blocks, index, &footer].concat()
    }

    /// The same table with another codec and the payloads that it is to have.
    pub(crate) fn coded(codec: &'static str, payloads: &[&[u8]]) -> Self {
        let mut parts = Parts::good();
        parts.columns[0].codec.0 = codec;
        let blocks = payloads.iter().map(|p| block(p)).collect();
        Self::with_blocks(parts.bytes(), blocks)
    }

    pub(crate) fn with_parts(change: impl FnOnce(&mut Parts)) -> Vec<u8> {
        let mut parts = Parts::good();
        change(&mut parts);
        let good = Raw::good();
        Self::with_blocks(parts.bytes(), good.blocks).bytes()
    }
}
