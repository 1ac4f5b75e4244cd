//! Retrograde analysis in waves: all positions decided in n plies, for n = 0,
//! 1, 2, …
//!
//! A position is won in n (odd) when some move leads to one lost in n − 1; lost
//! in n (even) when no move leads to one not yet known to be won. Captures and
//! promotions are looked up beforehand and join the wave of their length.

use rayon::prelude::*;

use super::convert::{self, Conversions};
use super::en_passant::{EnPassant, Which};
use super::layout::{Layout, Word};
use super::moves::{self, Goal};
use crate::chess::Score;
use crate::numbering::kings::board::{PAWN_SQUARES, bit, squares};
use crate::numbering::kings::men::{Kind, Side};

const NEVER: u16 = u16::MAX;

/// What is known with one side to move; sets have one bit a position.
#[derive(Debug)]
struct Known {
    /// Legal and neither won nor lost so far.
    undecided: Vec<u64>,
    /// Legal and not won so far.
    not_won: Vec<u64>,
    /// Lost in the last wave of losses.
    lost: Vec<u64>,
    /// Captures and promotions don't stand in the way of being lost by now.
    exposed: Vec<u64>,
    /// Stalemates, and positions where only en passant can be played.
    stuck: Vec<u64>,
    /// For each word the next wave in which a conversion wins or loses.
    next: Vec<[u16; 2]>,
    /// Decided scores; before that the best conversion.
    scores: Vec<Score>,
}

/// The part of one segment.
struct Part<'a> {
    segment: usize,
    undecided: &'a mut [u64],
    not_won: &'a mut [u64],
    lost: &'a mut [u64],
    exposed: &'a mut [u64],
    stuck: &'a mut [u64],
    next: &'a mut [[u16; 2]],
    scores: &'a mut [Score],
}

impl Known {
    fn new(legal: Vec<u64>) -> Self {
        let words = legal.len();
        Self {
            undecided: legal.clone(),
            not_won: legal,
            lost: vec![0; words],
            exposed: vec![0; words],
            stuck: vec![0; words],
            next: vec![[NEVER; 2]; words],
            scores: vec![Score::NONE; words * 64],
        }
    }

    /// Runs `work` on all segments in parallel; whether any of them says yes.
    fn any(&mut self, size: usize, work: impl Fn(&mut Part<'_>) -> bool + Sync) -> bool {
        let parts = (
            self.undecided.par_chunks_mut(size),
            self.not_won.par_chunks_mut(size),
            self.lost.par_chunks_mut(size),
            self.exposed.par_chunks_mut(size),
            self.stuck.par_chunks_mut(size),
            self.next.par_chunks_mut(size),
            self.scores.par_chunks_mut(size * 64),
        );
        parts
            .into_par_iter()
            .enumerate()
            .map(
                |(segment, (undecided, not_won, lost, exposed, stuck, next, scores))| {
                    work(&mut Part {
                        segment,
                        undecided,
                        not_won,
                        lost,
                        exposed,
                        stuck,
                        next,
                        scores,
                    })
                },
            )
            .reduce(|| false, |a, b| a | b)
    }
}

/// Legal positions of each word with `mover` to move.
fn legal(layout: &Layout, mover: Side) -> Vec<u64> {
    let mut sets = vec![0; layout.words()];
    let allowed = if layout.last().kind == Kind::Pawn {
        PAWN_SQUARES
    } else {
        !0
    };
    sets.par_chunks_mut(layout.words_per_segment)
        .enumerate()
        .for_each(|(segment, part)| {
            for (local, set) in part.iter_mut().enumerate() {
                if let Some(word) = layout.word(segment, local) {
                    let king = Layout::king(&word, mover.other());
                    *set = allowed & !word.fixed & !moves::attacked(layout, &word, mover, king);
                }
            }
        });
    sets
}

/// Scores of every placement for both sides to move.
pub(crate) fn solve(
    layout: &Layout,
    conversions: &Conversions,
    progress: &dyn Fn(u16) -> crate::Result<()>,
) -> crate::Result<[Vec<Score>; 2]> {
    let mut known = Side::BOTH.map(|side| Known::new(legal(layout, side)));
    let mut en_passant =
        EnPassant::new(layout, conversions, [&known[0].not_won, &known[1].not_won]);
    let mut last_wave = en_passant.longest();
    let mut active = false;
    for side in Side::BOTH {
        let (own, other) = pair(&mut known, side);
        active |= first_wave(layout, conversions, side, own, other, &en_passant);
        let longest = own.scores.par_iter().filter_map(|s| s.plies()).max();
        last_wave = last_wave.max(longest.unwrap_or(0));
    }
    active |= en_passant.lose(layout, 0, |side, word| way_out(&known, side, word));
    let mut plies = 0;
    while active || plies < last_wave {
        plies += 1;
        progress(plies)?;
        let mut won = false;
        for side in Side::BOTH {
            let (own, other) = pair(&mut known, side);
            won |= wave_of_wins(layout, side, own, &other.lost, &en_passant, plies);
        }
        won |= en_passant.win(layout, plies, [&known[0].not_won, &known[1].not_won]);
        plies += 1;
        progress(plies)?;
        active = false;
        for side in Side::BOTH {
            let (own, other) = pair(&mut known, side);
            active |= wave_of_losses(layout, side, own, &other.not_won, &en_passant, plies);
        }
        active |= en_passant.lose(layout, plies, |side, word| way_out(&known, side, word));
        active |= won;
    }
    Ok(known.map(|k| finish(layout, k)))
}

/// Positions that are lost by now or have no move but perhaps en passant.
fn way_out(known: &[Known; 2], side: Side, word: usize) -> u64 {
    let k = &known[side.index()];
    k.not_won[word] & !k.undecided[word] | k.stuck[word]
}

fn pair(known: &mut [Known; 2], side: Side) -> (&mut Known, &Known) {
    let [white, black] = known;
    match side {
        Side::White => (white, black),
        Side::Black => (black, white),
    }
}

/// Looks conversions up, finds checkmates (lost in 0) and stalemates.
fn first_wave(
    layout: &Layout,
    conversions: &Conversions,
    side: Side,
    own: &mut Known,
    other: &Known,
    en_passant: &EnPassant,
) -> bool {
    let goal = Goal {
        set: &other.not_won,
        en_passant,
        which: Which::Legal,
    };
    own.any(layout.words_per_segment, |part| {
        let mut any = false;
        for local in 0..layout.words_per_segment {
            let legal = part.undecided[local];
            let Some(word) = layout.word(part.segment, local).filter(|_| legal != 0) else {
                continue;
            };
            let best = convert::best(layout, conversions, &word, side, legal);
            let scores = &mut part.scores[local * 64..][..64];
            scores.copy_from_slice(&best);
            let (mut converts, mut holds) = (0, 0);
            for s in squares(legal) {
                let score = best[usize::from(s)];
                if score.is_legal() {
                    converts |= bit(s);
                    holds |= bit(s);
                }
            }
            let quiet = moves::into(layout, &word, side, goal, legal & !converts);
            let stuck = legal & !converts & !quiet;
            let king = Layout::king(&word, side);
            let check = moves::attacked(layout, &word, side.other(), king);
            let mated = stuck & check;
            part.stuck[local] = stuck & !check;
            part.exposed[local] = legal & !holds & !stuck;
            part.undecided[local] = legal & !mated;
            part.lost[local] = mated;
            for s in squares(mated) {
                scores[usize::from(s)] = Score::loss(0);
            }
            part.next[local] = next(scores, part.undecided[local], 0);
            any |= mated != 0;
        }
        any
    })
}

/// The next waves after `plies` in which a conversion of an undecided position
/// wins, and loses.
fn next(scores: &[Score], undecided: u64, plies: u16) -> [u16; 2] {
    let mut next = [NEVER; 2];
    for s in squares(undecided) {
        let score = scores[usize::from(s)];
        if let Some(n) = score.plies().filter(|&n| n > plies) {
            let slot = &mut next[usize::from(score.is_loss())];
            *slot = (*slot).min(n);
        }
    }
    next
}

/// The undecided positions whose best conversion has this score.
fn converting(scores: &[Score], undecided: u64, score: Score) -> u64 {
    let mut set = 0;
    for (s, &x) in scores.iter().enumerate() {
        set |= u64::from(x == score) << s;
    }
    set & undecided
}

fn wave_of_wins(
    layout: &Layout,
    side: Side,
    own: &mut Known,
    lost: &[u64],
    en_passant: &EnPassant,
    plies: u16,
) -> bool {
    let goal = Goal {
        set: lost,
        en_passant,
        which: Which::Lost,
    };
    own.any(layout.words_per_segment, |part| {
        let mut any = false;
        for local in 0..layout.words_per_segment {
            let undecided = part.undecided[local];
            if undecided == 0 {
                continue;
            }
            let Some(word) = layout.word(part.segment, local) else {
                continue;
            };
            let scores = &mut part.scores[local * 64..][..64];
            let mut won = 0;
            let converts = part.next[local][0] == plies;
            if converts {
                won = converting(scores, undecided, Score::win(plies));
            }
            won |= moves::into(layout, &word, side, goal, !0) & undecided;
            if won != 0 {
                any = true;
                part.undecided[local] &= !won;
                part.not_won[local] &= !won;
                for s in squares(won) {
                    scores[usize::from(s)] = Score::win(plies);
                }
            }
            if converts {
                part.next[local][0] = next(scores, part.undecided[local], plies)[0];
            }
        }
        any
    })
}

fn wave_of_losses(
    layout: &Layout,
    side: Side,
    own: &mut Known,
    not_won: &[u64],
    en_passant: &EnPassant,
    plies: u16,
) -> bool {
    let goal = Goal {
        set: not_won,
        en_passant,
        which: Which::NotWon,
    };
    own.any(layout.words_per_segment, |part| {
        let mut any = false;
        for local in 0..layout.words_per_segment {
            part.lost[local] = 0;
            let undecided = part.undecided[local];
            if undecided == 0 {
                continue;
            }
            let scores = &mut part.scores[local * 64..][..64];
            if part.next[local][1] == plies {
                part.exposed[local] |= converting(scores, undecided, Score::loss(plies));
                part.next[local][1] = next(scores, undecided, plies)[1];
            }
            let candidates = undecided & part.exposed[local];
            if candidates == 0 {
                continue;
            }
            let Some(word) = layout.word(part.segment, local) else {
                continue;
            };
            let lost = candidates & !escapes(layout, &word, side, goal, candidates);
            if lost != 0 {
                any = true;
                part.undecided[local] &= !lost;
                part.lost[local] = lost;
                for s in squares(lost) {
                    scores[usize::from(s)] = Score::loss(plies);
                }
            }
        }
        any
    })
}

fn escapes(layout: &Layout, word: &Word, side: Side, goal: Goal<'_>, enough: u64) -> u64 {
    moves::into(layout, word, side, goal, enough)
}

/// Undecided positions are draws, the rest of the numbers no positions.
fn finish(layout: &Layout, known: Known) -> Vec<Score> {
    let Known {
        undecided,
        not_won,
        mut scores,
        ..
    } = known;
    let size = layout.words_per_segment;
    (
        undecided.par_chunks(size),
        not_won.par_chunks(size),
        scores.par_chunks_mut(size * 64),
    )
        .into_par_iter()
        .for_each(|(undecided, not_won, scores)| {
            let rows = scores
                .chunks_exact_mut(64)
                .zip(undecided.iter().zip(not_won));
            for (row, (&undecided, &not_won)) in rows {
                for (s, score) in row.iter_mut().enumerate() {
                    if undecided >> s & 1 != 0 {
                        *score = Score::DRAW;
                    } else if not_won >> s & 1 == 0 && !score.is_win() {
                        *score = Score::ILLEGAL;
                    }
                }
            }
        });
    scores
}
