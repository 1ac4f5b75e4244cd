//! Range asymmetric numeral systems (rANS): symbols with static frequencies,
//! many tables interleaved over one state, plus raw bits.
//!
//! J. Duda, "Asymmetric numeral systems" (2013). A table's slots are found by
//! the alias method (A. J. Walker, 1977): one small entry instead of a table of
//! all slots, so that dozens of tables stay in the first-level cache.
//!
//! The state is 32 bits and never below 2^16; the words are 16 bits, little
//! endian, read forward from the front of the bytes. Raw bits are read
//! backward from their end, least significant bit first. See `spec/small.md`.

mod decoder;
mod encoder;
mod table;

pub use decoder::{Decoded, Decoder, SIDE_BY_SIDE, SIDE_SYMBOLS, Tables};
pub use encoder::{Encoder, EncoderTable};
pub use table::{Table, normalise};

/// Frequencies of a table sum to 2 to this power.
pub const PROBABILITY_BITS: u32 = 12;
/// What the frequencies of a table sum to.
pub const TOTAL: u32 = 1 << PROBABILITY_BITS;
/// The state's lower bound, and what it must be after the last symbol.
const LOWER: u32 = 1 << 16;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn alias_slots_cover_each_symbol_exactly() {
        for counts in [
            vec![1u64; 32],
            vec![0, 5, 1_000_000, 3],
            (0..64).map(|k| k * k * k).collect(),
        ] {
            let frequencies = normalise(&counts);
            let table = Table::new(&frequencies, &[]).unwrap();
            let mut slots = table.encoder().slots;
            slots.sort_unstable();
            assert!(slots.iter().enumerate().all(|(k, &s)| k == usize::from(s)));
        }
    }

    #[test]
    fn tables_that_break_a_rule_are_refused() {
        assert!(Table::new(&[4096], &[]).is_err());
        assert!(Table::new(&[4000, 95], &[]).is_err());
        assert!(Table::new(&[2000, 2000, 96], &[]).is_err());
        assert!(Table::new(&[4096, 0], &[]).is_ok());
    }

    #[test]
    fn a_certain_symbol_costs_nothing() {
        let tables = [Table::new(&[4096, 0], &[7, 9]).unwrap()];
        let mut encoder = Encoder::new();
        (0..1000).for_each(|_| encoder.symbol(0, 0));
        let mut bytes = Vec::new();
        encoder.finish(&[tables[0].encoder()], &mut bytes).unwrap();
        assert_eq!(bytes.len(), 4);
        let mut decoder = Decoder::new(&bytes).unwrap();
        (0..1000)
            .for_each(|_| assert_eq!(decoder.symbol(&tables[0]), Decoded { symbol: 0, tag: 7 }));
        decoder.finish().unwrap();
        encoder.symbol(0, 1);
        assert!(encoder.finish(&[tables[0].encoder()], &mut bytes).is_err());
    }

    proptest! {
        #[test]
        fn round_trip(
            counts in proptest::collection::vec(0u64..10_000, 16),
            items in proptest::collection::vec((0u32..2, 0u8..16, any::<u32>(), 0u32..=32), 0..300),
            garbage in proptest::collection::vec(any::<u8>(), 0..64),
        ) {
            let uniform = vec![1u64; 16];
            let tables: Vec<Table> =
                [&counts, &uniform].iter().map(|c| Table::new(&normalise(c), &[]).unwrap()).collect();
            let inverse: Vec<EncoderTable> = tables.iter().map(Table::encoder).collect();
            let mut encoder = Encoder::new();
            for &(table, symbol, value, bits) in &items {
                encoder.symbol(table, symbol);
                encoder.raw(value, bits);
            }
            let mut bytes = Vec::new();
            encoder.finish(&inverse, &mut bytes).unwrap();
            let mut decoder = Decoder::new(&bytes).unwrap();
            for &(table, symbol, value, bits) in &items {
                prop_assert_eq!(decoder.symbol(&tables[table as usize]).symbol, symbol);
                prop_assert_eq!(u64::from(decoder.raw(bits)), u64::from(value) & ((1u64 << bits) - 1));
            }
            prop_assert!(decoder.finish().is_ok());
            // Any bytes: the decoder goes on without a panic.
            if let Ok(mut decoder) = Decoder::new(&garbage) {
                for &(table, _, _, bits) in &items {
                    decoder.symbol(&tables[table as usize]);
                    decoder.raw(bits);
                }
                let _ = decoder.finish();
            }
        }
    }
}
