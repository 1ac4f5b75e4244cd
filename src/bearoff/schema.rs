//! How each kind of bearoff database is laid out as a table, and which kind a
//! table holds.

use super::gnubg::Kind;
use crate::codec;
use crate::format::{
    self, CodecId, Column, Field, Kind as FieldKind, NumberingId, OrderId, Schema,
};
use crate::numbering::{self, Multiset, Numbering, Order, Pair, Tiled};
use crate::{Error, Properties, Result, Value};

/// Values of a distribution: the chances of leaving on roll 0 to 31.
pub const ROLLS: usize = 32;
/// The unit of 16-bit chances: 65535 is certain.
pub const CERTAIN: u32 = 65_535;
/// The unit of 24-bit chances: 16777215 is certain.
pub const CERTAIN_24: u32 = (1 << 24) - 1;

/// Chequers of a side that has not borne off any.
const ALL_CHEQUERS: u8 = 15;

/// How the blocks of a table are to be made.
#[derive(Debug, Clone, Default)]
pub struct Packing {
    /// Codec of all columns; `packed` where none is named.
    pub codec: Option<String>,
    /// Positions in a block; what suits the codec where none is given.
    pub block_positions: Option<u32>,
    /// Wishes for the codec; see [`codec::build`].
    pub options: Properties,
}

impl Packing {
    /// Blocks made by this codec.
    pub fn codec(name: &str) -> Self {
        Packing {
            codec: Some(name.to_owned()),
            ..Packing::default()
        }
    }

    /// The schema of a table that is to be written again with these blocks.
    pub fn apply(&self, mut schema: Schema) -> Schema {
        for column in &mut schema.columns {
            column.codec = self.codec_id();
            column.block_positions = self.block_positions(column.width());
        }
        self.suit_rows(&mut schema);
        self.suit_order(&mut schema);
        schema
    }

    /// An order of its own for a column whose numbering can learn one, where the codec
    /// profits: equal records that are side by side hardly cost anything, so that there
    /// are more in a block.
    fn suit_order(&self, schema: &mut Schema) {
        let id = &schema.numbering;
        if id.name == Pair::NAME {
            return;
        }
        let Ok(numbering) = numbering::open(&id.name, id.version, &id.params) else {
            return;
        };
        for column in &mut schema.columns {
            let learns = numbering.order_learner(column.first).is_some() && column.count > 0;
            if !learns || !codec::profits_from_order(&column.codec.name) {
                column.order = None;
                continue;
            }
            let most = format::MOST_BLOCK_POSITIONS / codec::ORDERED_BLOCK_FACTOR;
            column.block_positions = column.block_positions.min(most) * codec::ORDERED_BLOCK_FACTOR;
            column.order = column.order.take().or_else(|| {
                Some(OrderId {
                    name: numbering::Grouped::NAME.to_owned(),
                    params: Properties::new(),
                })
            });
        }
    }

    /// Tiles for pairs, where the codec has references in both sides' positions.
    fn suit_rows(&self, schema: &mut Schema) {
        let params = &schema.numbering.params;
        if schema.numbering.name != Pair::NAME {
            return;
        }
        let Ok(pair) = Pair::from_params(params) else {
            return;
        };
        for column in &mut schema.columns {
            column.order = None;
            if !codec::profits_from_order(&column.codec.name) {
                continue;
            }
            let most = match self.block_positions {
                Some(positions) => u64::from(positions).isqrt(),
                None => codec::DEFAULT_TILE_SIDE,
            };
            let whole = column.first == 0 && column.count == schema.positions;
            if let Some(tiled) = Tiled::largest(&pair, most).filter(|_| whole) {
                column.block_positions = (tiled.side() * tiled.side()) as u32;
                let order: &dyn Order = &tiled;
                column.order = Some(OrderId {
                    name: order.name().to_owned(),
                    params: order.params(),
                });
            }
        }
    }

    fn codec_name(&self) -> &str {
        self.codec.as_deref().unwrap_or("packed")
    }

    fn codec_id(&self) -> CodecId {
        CodecId {
            name: self.codec_name().to_owned(),
            version: 0,
            params: self.options.clone(),
        }
    }

    /// Positions in a block of records of `width` values.
    fn block_positions(&self, width: usize) -> u32 {
        self.block_positions
            .unwrap_or_else(|| codec::default_block_positions(self.codec_name(), width))
    }

    fn column(&self, name: &str, positions: u64, fields: Vec<Field>) -> Column {
        let mut column = Column {
            name: name.to_owned(),
            first: 0,
            count: positions,
            block_positions: 0,
            order: None,
            codec: self.codec_id(),
            fields,
            elsewhere: Vec::new(),
        };
        column.block_positions = self.block_positions(column.width());
        column
    }
}

/// The schema of a table that holds what a gnubg database of `kind` holds.
///
/// Distributions are two columns, `win` and `gammon`; `gammon` covers only the
/// positions with all 15 chequers, since with fewer the first has left.
pub fn schema(kind: Kind, packing: &Packing) -> Result<Schema> {
    let positions = kind.positions()?;
    let side = kind.side()?;
    let (content, columns) = match kind {
        Kind::OneSided { gammon, .. } => {
            let columns = distributions(&side, ROLLS as u32, gammon, 16, packing)?;
            ("bearoff one-sided", columns)
        }
        Kind::Normal { .. } => {
            let float = |name: &str| Field {
                name: name.to_owned(),
                kind: FieldKind::Float,
                bits: 32,
                count: 1,
                bias: 0,
                minimum: 0,
                maximum: 0,
                properties: Properties::new().with_text("unit", "rolls"),
            };
            let fields = [
                "win_mean",
                "win_deviation",
                "gammon_mean",
                "gammon_deviation",
            ]
            .map(float);
            (
                "bearoff one-sided normal",
                vec![packing.column("normal", positions, fields.into())],
            )
        }
        Kind::TwoSided { cubeful, .. } => {
            let names = ["cubeless", "owned", "centred", "opponent"];
            let fields = names.iter().take(if cubeful { 4 } else { 1 }).map(|name| {
                // Points = value / 32767.5 - 1.
                linear(
                    Field::unsigned(name, 1, CERTAIN, "points", u64::from(CERTAIN)),
                    2,
                    -65_535,
                )
            });
            (
                "bearoff two-sided",
                vec![packing.column("equity", positions, fields.collect())],
            )
        }
        Kind::Hypergammon { .. } => {
            let chances = [
                "win",
                "win_gammon",
                "win_backgammon",
                "lose_gammon",
                "lose_backgammon",
            ]
            .map(|name| Field::unsigned(name, 1, CERTAIN_24, "probability", u64::from(CERTAIN_24)));
            let equities = ["owned", "centred", "centred_jacoby", "opponent"].map(|name| {
                // Points = (value / 16777215 - 1/2) * 6.
                let field = Field::unsigned(name, 1, CERTAIN_24, "points", u64::from(CERTAIN_24));
                linear(field, 6, -50_331_645)
            });
            let columns = vec![
                packing.column("chances", positions, chances.into()),
                packing.column("equity", positions, equities.into()),
            ];
            ("hypergammon", columns)
        }
    };
    let numbering = match kind {
        Kind::OneSided { .. } | Kind::Normal { .. } => id(&side),
        Kind::TwoSided { .. } | Kind::Hypergammon { .. } => {
            id(&Pair::new(side.points(), side.chequers())?)
        }
    };
    let mut schema = Schema {
        positions,
        properties: properties(content),
        numbering,
        columns,
    };
    packing.suit_rows(&mut schema);
    packing.suit_order(&mut schema);
    Ok(schema)
}

/// The schema of a one-sided table that gnubg has no kind of database for:
/// chances of `bits` bits, those of the last chequer on roll 0 to `rolls − 1`.
pub fn one_sided(
    side: &Multiset,
    rolls: u32,
    gammon: bool,
    bits: u8,
    packing: &Packing,
) -> Result<Schema> {
    let mut schema = Schema {
        positions: side.len(),
        properties: properties("bearoff one-sided"),
        numbering: id(side),
        columns: distributions(side, rolls, gammon, bits, packing)?,
    };
    packing.suit_order(&mut schema);
    Ok(schema)
}

fn properties(content: &str) -> Properties {
    Properties::new()
        .with_text("content", content)
        .with_text("made_by", concat!("endtable ", env!("CARGO_PKG_VERSION")))
}

/// The column `win` and, where wanted, `gammon`.
fn distributions(
    side: &Multiset,
    rolls: u32,
    gammon: bool,
    bits: u8,
    packing: &Packing,
) -> Result<Vec<Column>> {
    let win = vec![distribution("win", rolls, bits)];
    let mut columns = vec![packing.column("win", side.len(), win)];
    if gammon {
        let gammon = distribution("gammon", ROLLS as u32, bits);
        columns.push(gammon_column(packing, side, gammon)?);
    }
    Ok(columns)
}

/// The kind of gnubg database that could hold a table's records.
///
/// Errors: [`Error::Invalid`] when there is none.
pub fn kind(schema: &Schema) -> Result<Kind> {
    let none = || {
        Error::invalid(format!(
            "gnubg has no kind of database for this table (numbering '{}', fields {}); choose an output that ends in .etb",
            schema.numbering.name,
            field_names(schema).join(", ")
        ))
    };
    let params = &schema.numbering.params;
    let (Some(points), Some(chequers)) = (params.unsigned("points"), params.unsigned("chequers"))
    else {
        return Err(none());
    };
    let (points, chequers) = (
        u8::try_from(points).map_err(|_| none())?,
        u8::try_from(chequers).map_err(|_| none())?,
    );
    let candidates = match schema.numbering.name.as_str() {
        Multiset::NAME => vec![
            Kind::OneSided {
                points,
                chequers,
                gammon: false,
                compressed: true,
            },
            Kind::OneSided {
                points,
                chequers,
                gammon: true,
                compressed: true,
            },
            Kind::Normal { points, chequers },
        ],
        Pair::NAME => vec![
            Kind::TwoSided {
                points,
                chequers,
                cubeful: false,
            },
            Kind::TwoSided {
                points,
                chequers,
                cubeful: true,
            },
            Kind::Hypergammon { chequers },
        ],
        _ => Vec::new(),
    };
    let fits = |candidate: &Kind| {
        let Ok(expected) = self::schema(*candidate, &Packing::default()) else {
            return false;
        };
        expected.numbering == schema.numbering && shape(&expected) == shape(schema)
    };
    candidates.into_iter().find(fits).ok_or_else(none)
}

/// Names, types and lengths of a table's fields, in record order: what two
/// tables must share for their records to be the same thing.
fn shape(schema: &Schema) -> Vec<(&str, FieldKind, u8, u32, i64)> {
    let fields = schema.columns.iter().flat_map(|c| &c.fields);
    fields
        .map(|f| (f.name.as_str(), f.kind, f.bits, f.count, f.bias))
        .collect()
}

/// Whether records of both tables mean the same.
pub fn same_meaning(a: &Schema, b: &Schema) -> bool {
    a.positions == b.positions && a.numbering == b.numbering && shape(a) == shape(b)
}

fn field_names(schema: &Schema) -> Vec<&str> {
    schema
        .columns
        .iter()
        .flat_map(|c| &c.fields)
        .map(|f| f.name.as_str())
        .collect()
}

fn id(numbering: &dyn Numbering) -> NumberingId {
    NumberingId {
        name: numbering.name().to_owned(),
        version: numbering.version(),
        params: numbering.params(),
    }
}

/// A field of the chances of leaving on each roll, of 16 or 24 bits.
fn distribution(name: &str, rolls: u32, bits: u8) -> Field {
    let certain = u32::MAX >> (32 - bits);
    Field::unsigned(name, rolls, certain, "probability", u64::from(certain))
}

/// A field whose quantity is (value × `multiplier` + `offset`) / scale.
fn linear(mut field: Field, multiplier: u64, offset: i64) -> Field {
    field
        .properties
        .set("multiplier", Value::Unsigned(multiplier));
    field.properties.set("offset", Value::Signed(offset));
    field
}

/// The column of the first chequer's leaving: certain on roll 0 unless all
/// chequers are on the board, which are the last numbers of the table.
fn gammon_column(packing: &Packing, side: &Multiset, field: Field) -> Result<Column> {
    let mut elsewhere = vec![0; ROLLS];
    elsewhere[0] = field.maximum as u32;
    let mut column = packing.column("gammon", side.len(), vec![field]);
    column.first = match side.chequers() {
        ALL_CHEQUERS => side.first_with(ALL_CHEQUERS),
        _ => side.len(),
    };
    column.count = side.len() - column.first;
    if column.first > 0 {
        column.elsewhere = elsewhere;
    }
    Ok(column)
}
