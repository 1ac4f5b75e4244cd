//! The 64×64 table from the two kings' squares to a segment of contiguous
//! numbers and the reflections that lead there.

use std::sync::OnceLock;

use super::board::{KING, Reflection, bit};

/// How the board's symmetry is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Symmetry {
    /// No pawns, first king in a1–d1–d4: 60 + 174 + 330 = 564 segments.
    Triangle,
    /// As before, and with the first king on the long diagonal the second is
    /// not above it: 462 segments.
    TriangleTight,
    /// With pawns, first king on files a to d: 120 + 696 + 990 = 1806 segments.
    Half,
}

/// What is known of one segment or of one pair of squares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The segment.
    pub segment: u16,
    /// Maps a position onto the one that has the segment's king squares.
    pub reflection: Reflection,
}

/// The table for one use of symmetry.
#[derive(Debug)]
pub struct Segments {
    entries: Box<[Option<Entry>; 4096]>,
    kings: Vec<[u8; 2]>,
}

impl Segments {
    /// The table, computed once.
    pub fn of(symmetry: Symmetry) -> &'static Segments {
        static TABLES: [OnceLock<Segments>; 3] = [const { OnceLock::new() }; 3];
        TABLES[symmetry as usize].get_or_init(|| Self::build(symmetry))
    }

    fn build(symmetry: Symmetry) -> Self {
        let mut entries = Box::new([None; 4096]);
        let mut kings: Vec<[u8; 2]> = Vec::new();
        // The representatives in ascending order of first and second king …
        for first in 0..64 {
            for second in 0..64 {
                if apart(first, second) && reflection(symmetry, first, second).0 == 0 {
                    let segment = kings.len() as u16;
                    entries[pair(first, second)] = Some(Entry {
                        segment,
                        reflection: Reflection(0),
                    });
                    kings.push([first, second]);
                }
            }
        }
        // … then each pair of squares by its representative.
        for first in 0..64 {
            for second in 0..64 {
                if apart(first, second) {
                    let r = reflection(symmetry, first, second);
                    entries[pair(first, second)] = entries[pair(r.square(first), r.square(second))]
                        .map(|e| Entry { reflection: r, ..e });
                }
            }
        }
        Self { entries, kings }
    }

    /// The segment of two kings' squares; none when they touch.
    #[inline(always)]
    pub fn find(&self, first: u8, second: u8) -> Option<Entry> {
        self.entries[pair(first & 63, second & 63)]
    }

    /// The two kings' squares of a segment below [`Segments::len`].
    #[inline(always)]
    pub fn kings(&self, segment: usize) -> [u8; 2] {
        self.kings[segment]
    }

    /// How many segments there are.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.kings.len()
    }
}

const fn pair(first: u8, second: u8) -> usize {
    first as usize * 64 + second as usize
}

fn apart(first: u8, second: u8) -> bool {
    first != second && KING[usize::from(first)] & bit(second) == 0
}

/// The reflections that bring the first king to its home region.
fn reflection(symmetry: Symmetry, first: u8, second: u8) -> Reflection {
    let mut r = Reflection(0);
    if first & 7 >= 4 {
        r.0 |= Reflection::FILES;
    }
    if symmetry == Symmetry::Half {
        return r;
    }
    if first >> 3 >= 4 {
        r.0 |= Reflection::RANKS;
    }
    let above = |s: u8| (s >> 3) > (s & 7);
    let level = |s: u8| (s >> 3) == (s & 7);
    let (a, b) = (r.square(first), r.square(second));
    if above(a) || (symmetry == Symmetry::TriangleTight && level(a) && above(b)) {
        r.0 |= Reflection::DIAGONAL;
    }
    r
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_564_462_and_1806_segments() {
        for (symmetry, len) in [
            (Symmetry::Triangle, 564),
            (Symmetry::TriangleTight, 462),
            (Symmetry::Half, 1806),
        ] {
            let table = Segments::of(symmetry);
            assert_eq!(table.len(), len);
            for first in 0..64 {
                for second in 0..64 {
                    let Some(e) = table.find(first, second) else {
                        assert!(!apart(first, second));
                        continue;
                    };
                    let images = [first, second].map(|s| e.reflection.square(s));
                    assert_eq!(images, table.kings(usize::from(e.segment)));
                }
            }
        }
    }
}
