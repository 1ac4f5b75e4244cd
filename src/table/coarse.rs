//! Distributions in coarser units: smaller, and no chance off by more than asked.

use super::Records;
use crate::format::{Field, Kind, Schema};
use crate::{Error, Result, Value};

/// Values from which on an array of chances is taken for a distribution.
const DISTRIBUTION: u32 = 8;

/// Records whose distributions are rounded to units of `1/scale`.
///
/// Each distribution is rounded as its running sums are, to the nearest unit
/// each: a chance is off by at most two halves of a unit, none is negative, and
/// they still sum to one exactly. Other fields stay as they are.
pub struct Coarse<'a> {
    records: &'a dyn Records,
    schema: Schema,
    /// For each field its values in a record, and its scale if it is rounded.
    fields: Vec<(usize, Option<u32>)>,
    scale: u32,
}

impl<'a> Coarse<'a> {
    /// `records`, which `schema` describes, with chances that are off by at most
    /// `max_error`. Every distribution's property `max_error` will state the
    /// bound that holds.
    ///
    /// Errors: [`Error::Invalid`] unless `max_error` is from 2⁻²⁰ to 1/4, and
    /// where there is no distribution in units finer than that.
    pub fn new(records: &'a dyn Records, schema: &Schema, max_error: f64) -> Result<Self> {
        if !(1.0 / f64::from(1 << 20)..=0.25).contains(&max_error) {
            return Err(Error::invalid(format!(
                "a greatest error of {max_error}: it must be from 2^-20 to 0.25"
            )));
        }
        let scale = (1.0 / max_error).ceil() as u32;
        let mut schema = schema.clone();
        let mut fields = Vec::new();
        for column in &mut schema.columns {
            let mut at = 0;
            for field in &mut column.fields {
                let count = field.count as usize;
                let finer = distribution_scale(field).filter(|&own| own > scale);
                if let (Some(own), Some(elsewhere)) =
                    (finer, column.elsewhere.get_mut(at..at + count))
                {
                    round(elsewhere, own, scale)?;
                }
                if finer.is_some() {
                    coarsen(field, scale);
                }
                fields.push((count, finer));
                at += count;
            }
        }
        if fields.iter().all(|(_, finer)| finer.is_none()) {
            return Err(Error::invalid(format!(
                "a greatest error of {max_error}: the table has no distributions in units below 1/{scale}"
            )));
        }
        Ok(Self {
            records,
            schema,
            fields,
            scale,
        })
    }

    /// Describes the rounded records.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }
}

impl Records for Coarse<'_> {
    fn len(&self) -> u64 {
        self.records.len()
    }

    fn width(&self) -> usize {
        self.records.width()
    }

    fn read(&self, first: u64, out: &mut [u32]) -> Result<()> {
        self.records.read(first, out)?;
        for record in out.chunks_exact_mut(self.records.width().max(1)) {
            let mut rest = record;
            for &(count, finer) in &self.fields {
                let (values, others) = rest.split_at_mut(count);
                if let Some(own) = finer {
                    round(values, own, self.scale)?;
                }
                rest = others;
            }
        }
        Ok(())
    }
}

/// The scale of a distribution, whose values sum to it.
fn distribution_scale(field: &Field) -> Option<u32> {
    let chances =
        matches!(field.properties.get("unit"), Some(Value::Text(unit)) if unit == "probability");
    let plain = field.kind == Kind::Unsigned && field.bias == 0 && field.count >= DISTRIBUTION;
    let scale = field.properties.unsigned("scale")?;
    (chances && plain)
        .then(|| u32::try_from(scale).ok())
        .flatten()
}

fn coarsen(field: &mut Field, scale: u32) {
    field.bits = (u32::BITS - scale.leading_zeros()) as u8;
    field.minimum = 0;
    field.maximum = i64::from(scale);
    field
        .properties
        .set("scale", Value::Unsigned(u64::from(scale)));
    // Properties hold no fractions.
    field
        .properties
        .set("max_error", Value::Text(format!("1/{scale}")));
}

/// Rounds values that sum to `from` to units of which `to` make the same.
fn round(values: &mut [u32], from: u32, to: u32) -> Result<()> {
    let (from, to) = (u64::from(from), u64::from(to));
    let (mut sum, mut before) = (0u64, 0u64);
    for value in values {
        sum += u64::from(*value);
        let rounded = (2 * sum * to + from) / (2 * from);
        *value = (rounded - before) as u32;
        before = rounded;
    }
    if sum == from {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "a distribution sums to {sum}, {from} expected: it can't be rounded"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn too_little_to_round_is_refused() {
        struct None;
        impl Records for None {
            fn len(&self) -> u64 {
                0
            }
            fn width(&self) -> usize {
                0
            }
            fn read(&self, _: u64, _: &mut [u32]) -> Result<()> {
                Ok(())
            }
        }
        let schema = Schema {
            positions: 0,
            properties: Default::default(),
            numbering: crate::format::NumberingId {
                name: "flat".into(),
                version: 1,
                params: Default::default(),
            },
            columns: Vec::new(),
        };
        for error in [0.0, f64::NAN, 0.3, 0.01] {
            assert!(matches!(
                Coarse::new(&None, &schema, error),
                Err(Error::Invalid { .. })
            ));
        }
        assert!(round(&mut [1, 2, 3], 7, 4).is_err());
    }

    proptest! {
        #[test]
        fn the_bound_holds_and_totals_stay_exact(
            parts in proptest::collection::vec(prop_oneof![Just(0u32), 0u32..3000], 31),
            to in 4u32..65_535,
        ) {
            let from = 65_535;
            let mut values = Vec::new();
            let mut rest = from;
            for part in parts {
                let part = part.min(rest);
                values.push(part);
                rest -= part;
            }
            values.push(rest);
            let mut rounded = values.clone();
            round(&mut rounded, from, to).unwrap();
            prop_assert_eq!(rounded.iter().sum::<u32>(), to);
            for (&value, &coarse) in values.iter().zip(&rounded) {
                // |coarse/to - value/from| <= 1/to, in whole numbers.
                let (value, coarse) = (u64::from(value), u64::from(coarse));
                prop_assert!((coarse * u64::from(from)).abs_diff(value * u64::from(to)) <= u64::from(from));
            }
        }
    }
}
