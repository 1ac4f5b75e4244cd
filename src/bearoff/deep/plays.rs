//! All plays of a roll, listed plainly, in the order in which gnubg lists
//! them: the larger die first, each die's sources from the highest down, then
//! the smaller die first; doubles from the highest down.

/// Chequers on each point, from the ace-point on.
pub(crate) type Counts = Vec<u8>;

/// The different results of the plays of a roll, each where it is first.
pub(crate) fn plays(counts: &[u8], large: usize, small: usize) -> Vec<Counts> {
    let mut found = Found {
        plays: Vec::new(),
        most: (0, 0),
    };
    if large == small {
        found.go_on(counts, &[large; 4], counts.len(), (0, 0), true);
    } else {
        found.go_on(counts, &[large, small], counts.len(), (0, 0), false);
        found.go_on(counts, &[small, large], counts.len(), (0, 0), false);
    }
    let most = found.most;
    let mut results: Vec<Counts> = Vec::new();
    for (result, _) in found.plays.into_iter().filter(|&(_, used)| used == most) {
        if !results.contains(&result) {
            results.push(result);
        }
    }
    results
}

struct Found {
    /// Results with the moves made and the pips of the dice used.
    plays: Vec<(Counts, (usize, usize))>,
    /// The most moves, then the most pips: other plays are not allowed.
    most: (usize, usize),
}

impl Found {
    /// Plays the dice in order, sources from below `limit` down.
    fn go_on(
        &mut self,
        counts: &[u8],
        dice: &[usize],
        limit: usize,
        used: (usize, usize),
        double: bool,
    ) {
        let mut stuck = true;
        if let [die, rest @ ..] = dice {
            for source in (0..limit).rev() {
                let Some(moved) = step(counts, source, *die) else {
                    continue;
                };
                stuck = false;
                let limit = if double { source + 1 } else { counts.len() };
                self.go_on(&moved, rest, limit, (used.0 + 1, used.1 + die), double);
            }
        }
        if stuck {
            self.most = self.most.max(used);
            self.plays.push((counts.to_vec(), used));
        }
    }
}

/// Moves one chequer, if the rules let it.
fn step(counts: &[u8], source: usize, die: usize) -> Option<Counts> {
    if counts[source] == 0 {
        return None;
    }
    let mut moved = counts.to_vec();
    moved[source] -= 1;
    let point = source + 1;
    if point > die {
        moved[source - die] += 1;
        return Some(moved);
    }
    let all_home = counts.iter().skip(6).all(|&c| c == 0);
    let none_higher = counts[point..].iter().all(|&c| c == 0);
    (all_home && (point == die || none_higher)).then_some(moved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_high_die_bears_off_from_the_highest_point_only() {
        assert_eq!(plays(&[1, 1, 0, 0, 0, 0], 6, 5), [vec![0; 6]]);
        // 6-1: off from the three-point, then 1 from the two-point or the
        // ace-point; or 3/2 first, then the six takes one from the two-point.
        assert_eq!(
            plays(&[1, 1, 1, 0, 0, 0], 6, 1),
            [
                vec![2, 0, 0, 0, 0, 0],
                vec![0, 1, 0, 0, 0, 0],
                vec![1, 1, 0, 0, 0, 0]
            ]
        );
    }

    #[test]
    fn nothing_leaves_while_a_chequer_is_outside() {
        let results = plays(&[1, 0, 0, 0, 0, 0, 0, 1], 6, 5);
        // 8/2 then the five has to take the two off; 8/3 then the six.
        assert_eq!(results, [vec![1, 0, 0, 0, 0, 0, 0, 0]]);
    }

    #[test]
    fn doubles_move_four_times() {
        let results = plays(&[0, 0, 0, 0, 2, 0], 1, 1);
        let expected: [&[u8]; 3] = [
            &[1, 0, 0, 0, 1, 0],
            &[0, 1, 0, 1, 0, 0],
            &[0, 0, 2, 0, 0, 0],
        ];
        assert_eq!(results.len(), 3);
        assert!(
            expected.iter().all(|e| results.iter().any(|r| r == e)),
            "{results:?}"
        );
    }
}
