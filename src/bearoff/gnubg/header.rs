//! The 40-byte header: which kind of database, and how long its file must be.

use crate::numbering::{Multiset, Numbering, Pair};
use crate::source::Source;
use crate::{Error, Result};

/// Bytes before the records.
pub(crate) const HEADER_BYTES: u64 = 40;

/// Chances of leaving on each of 32 rolls.
pub(crate) const ROLLS: usize = 32;

/// Points of a hypergammon side: the board's and the bar.
const HYPERGAMMON_POINTS: usize = 25;

/// What a database holds, as its header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// For each position of one side the chances, in 1/65535, that the last
    /// chequer leaves on roll 0 to 31.
    OneSided {
        /// Points, 1 to 24.
        points: u8,
        /// The most chequers, 1 to 15.
        chequers: u8,
        /// Whether the chances that the *first* chequer leaves follow.
        gammon: bool,
        /// Whether only the runs of non-zero chances are stored, with an index.
        compressed: bool,
    },
    /// For each position of one side mean and standard deviation of the
    /// rolls to the last and to the first chequer's leaving, as `f32`.
    Normal {
        /// Points, 1 to 24.
        points: u8,
        /// The most chequers, 1 to 15.
        chequers: u8,
    },
    /// Equities of each position of one side against each of the other;
    /// stored `u` means `u / 32767.5 − 1`.
    TwoSided {
        /// Points, 1 to 24.
        points: u8,
        /// The most chequers of a side, 1 to 15.
        chequers: u8,
        /// Whether there are four (cubeless, cube owned, centred, opponent
        /// owns) or the cubeless one only.
        cubeful: bool,
    },
    /// Chances and equities of hypergammon, in 1/16777215.
    Hypergammon {
        /// Chequers of a side, 1 to 3 in practice.
        chequers: u8,
    },
}

impl Kind {
    /// Reads a header.
    ///
    /// Errors: [`Error::Corrupt`] when this is not a header of gnubg's,
    /// [`Error::Unsupported`] for points or chequers out of range.
    pub fn parse(header: &[u8; HEADER_BYTES as usize]) -> Result<Self> {
        let not_gnubg = || {
            Error::corrupt(
                "gnubg-header",
                format!(
                    "expected a header such as `gnubg-OS-06-15-1-1-0xxx…`, `gnubg-TS-06-06-1xxx…` or \
                     `gnubg-H2xxx…`, found `{}`",
                    header.escape_ascii()
                ),
            )
        };
        let text = std::str::from_utf8(header).map_err(|_| not_gnubg())?;
        let text = text.strip_prefix("gnubg-").ok_or_else(not_gnubg)?;
        let text = text.trim_end_matches('\n').trim_end_matches('x');
        let mut parts = text.split('-');
        let family = parts.next().unwrap_or_default();
        let rest = parts
            .map(|part| part.parse().map_err(|_| not_gnubg()))
            .collect::<Result<Vec<u8>>>()?;
        let kind = match (family, rest.as_slice()) {
            ("OS", &[points, chequers, gammon @ 0..=1, compressed @ 0..=1, 0]) => Kind::OneSided {
                points,
                chequers,
                gammon: gammon == 1,
                compressed: compressed == 1,
            },
            ("OS", &[points, chequers, 1, 0, 1]) => Kind::Normal { points, chequers },
            ("TS", &[points, chequers, cubeful @ 0..=1]) => Kind::TwoSided {
                points,
                chequers,
                cubeful: cubeful == 1,
            },
            (family, []) => {
                let chequers = family.strip_prefix('H').and_then(|c| c.parse().ok());
                Kind::Hypergammon {
                    chequers: chequers.ok_or_else(not_gnubg)?,
                }
            }
            _ => return Err(not_gnubg()),
        };
        // One spelling a kind, so that what is written again is what was read.
        if kind.header() != *header {
            return Err(not_gnubg());
        }
        kind.file_bytes(0)
            .map_err(|e| Error::unsupported(format!("{text}: {e}")))?;
        Ok(kind)
    }

    /// Reads the header at the beginning of `source`.
    pub(crate) fn read(source: &dyn Source) -> Result<Self> {
        if source.len() < HEADER_BYTES {
            return Err(Error::corrupt(
                "gnubg-length",
                format!("{} bytes: a header alone has {HEADER_BYTES}", source.len()),
            ));
        }
        let mut header = [0; HEADER_BYTES as usize];
        source.read_at(0, &mut header)?;
        Kind::parse(&header)
    }

    /// The header of a file of this kind.
    pub fn header(&self) -> [u8; HEADER_BYTES as usize] {
        let text = match *self {
            Kind::OneSided {
                points,
                chequers,
                gammon,
                compressed,
            } => format!(
                "gnubg-OS-{points:02}-{chequers:02}-{}-{}-0",
                u8::from(gammon),
                u8::from(compressed)
            ),
            Kind::Normal { points, chequers } => {
                format!("gnubg-OS-{points:02}-{chequers:02}-1-0-1")
            }
            Kind::TwoSided {
                points,
                chequers,
                cubeful,
            } => {
                format!("gnubg-TS-{points:02}-{chequers:02}-{}", u8::from(cubeful))
            }
            Kind::Hypergammon { chequers } => format!("gnubg-H{chequers}"),
        };
        let mut header = [b'x'; HEADER_BYTES as usize];
        for (to, from) in header.iter_mut().zip(text.bytes()) {
            *to = from;
        }
        header[HEADER_BYTES as usize - 1] = b'\n';
        header
    }

    /// How the positions of one side are numbered: all of a one-sided
    /// database, either side of the others.
    ///
    /// Errors: [`Error::Invalid`] for points outside 1 to 24 or chequers
    /// outside 1 to 15.
    pub fn side(&self) -> Result<Multiset> {
        let (points, chequers) = match *self {
            Kind::OneSided {
                points, chequers, ..
            }
            | Kind::Normal { points, chequers }
            | Kind::TwoSided {
                points, chequers, ..
            } => (usize::from(points), chequers),
            Kind::Hypergammon { chequers } => (HYPERGAMMON_POINTS, chequers),
        };
        if points == HYPERGAMMON_POINTS && !matches!(self, Kind::Hypergammon { .. }) {
            return Err(Error::invalid(
                "25 points: a bearoff database has 1 to 24 points",
            ));
        }
        Multiset::new(points, chequers)
    }

    /// Records in a file of this kind.
    ///
    /// Errors: as [`Self::side`], and [`Error::Invalid`] beyond 64 bits.
    pub fn positions(&self) -> Result<u64> {
        let side = self.side()?;
        match self {
            Kind::OneSided { .. } | Kind::Normal { .. } => Ok(side.len()),
            Kind::TwoSided { .. } | Kind::Hypergammon { .. } => {
                Ok(Pair::new(side.points(), side.chequers())?.len())
            }
        }
    }

    /// Values in a record as [`super::GnubgFile::read`] gives them.
    pub fn width(&self) -> usize {
        match *self {
            Kind::OneSided { gammon, .. } => ROLLS * (1 + usize::from(gammon)),
            Kind::Normal { .. } => 4,
            Kind::TwoSided { cubeful, .. } => {
                if cubeful {
                    4
                } else {
                    1
                }
            }
            Kind::Hypergammon { .. } => 9,
        }
    }

    /// Bytes of a record where all have the same length, else of its entry
    /// in the index.
    pub(crate) fn stride(&self) -> u64 {
        match *self {
            Kind::OneSided {
                compressed: true,
                gammon,
                ..
            } => {
                if gammon {
                    8
                } else {
                    6
                }
            }
            Kind::OneSided { .. } | Kind::TwoSided { .. } => 2 * self.width() as u64,
            Kind::Normal { .. } => 16,
            Kind::Hypergammon { .. } => 28,
        }
    }

    /// Bytes of a file of this kind whose runs, if it has any, hold `values`
    /// values.
    ///
    /// Errors: as [`Self::positions`].
    pub(crate) fn file_bytes(&self, values: u64) -> Result<u64> {
        self.positions()?
            .checked_mul(self.stride())
            .and_then(|bytes| {
                bytes
                    .checked_add(HEADER_BYTES)?
                    .checked_add(values.checked_mul(2)?)
            })
            .ok_or_else(|| Error::invalid("a file of this kind has more than 2^64 bytes"))
    }

    /// Whether runs of varying length follow an index.
    pub(crate) fn is_compressed(&self) -> bool {
        matches!(
            self,
            Kind::OneSided {
                compressed: true,
                ..
            }
        )
    }
}
