//! Legal plays against an independent plain generator: sets of boards, one
//! die at a time in either order, straight from the rules.

use std::collections::HashSet;

use endtable::bearoff::plays::{Plays, ROLLS};
use endtable::bearoff::{Board, Points};

/// Signed board in the mover's numbering: positive is the mover, index 0 its
/// tray, 25 its bar; then the opponent's chequers on its bar.
type Plain = ([i8; 26], i8);

fn plain(board: &Board) -> Plain {
    let mut squares = [0i8; 26];
    for (square, &n) in squares[1..].iter_mut().zip(board.on_roll()) {
        *square += n as i8;
    }
    for point in 1..=24 {
        squares[25 - point] -= board.opponent()[point - 1] as i8;
    }
    (squares, board.opponent()[24] as i8)
}

fn one_die(from: &Plain, die: usize) -> Vec<Plain> {
    let mut out = Vec::new();
    let (squares, bar) = from;
    for point in 1..=25usize {
        if squares[point] <= 0 || (squares[25] > 0 && point != 25) {
            continue;
        }
        let mut next = *squares;
        let mut next_bar = *bar;
        next[point] -= 1;
        if point > die {
            let to = point - die;
            if squares[to] < -1 {
                continue;
            }
            if squares[to] == -1 {
                next[to] = 0;
                next_bar += 1;
            }
            next[to] += 1;
        } else {
            let outside = (7..=25).any(|p| squares[p] > 0);
            let behind = (point + 1..=25).any(|p| squares[p] > 0);
            if outside || (point < die && behind) {
                continue;
            }
            next[0] += 1;
        }
        out.push((next, next_bar));
    }
    out
}

fn after(from: &HashSet<Plain>, die: usize) -> HashSet<Plain> {
    from.iter().flat_map(|board| one_die(board, die)).collect()
}

/// The boards that a roll can lead to, by the rules; empty if none.
fn by_the_rules(board: &Board, a: u8, b: u8) -> HashSet<Plain> {
    let (a, b) = (usize::from(a.max(b)), usize::from(a.min(b)));
    let start: HashSet<Plain> = [plain(board)].into();
    if a == b {
        let mut level = start;
        for played in 0..4 {
            let next = after(&level, a);
            if next.is_empty() {
                return if played == 0 { next } else { level };
            }
            level = next;
        }
        return level;
    }
    let (large, small) = (after(&start, a), after(&start, b));
    let both: HashSet<Plain> = after(&large, b).union(&after(&small, a)).copied().collect();
    [both, large, small]
        .into_iter()
        .find(|set| !set.is_empty())
        .unwrap_or_default()
}

/// A small generator of its own, so that the test depends on nothing else.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((self.0 >> 33) as usize) % n
    }
}

/// Half of the boards are strewn at random, half come from games played at
/// random, so that both odd and ordinary ones are seen.
fn random_boards(count: usize) -> Vec<Board> {
    let mut random = Random(7);
    let mut boards = Vec::new();
    while boards.len() < count / 2 {
        let mut sides: [Points; 2] = [[0; 25]; 2];
        for side in &mut sides {
            let span = [6, 12, 25][random.below(3)];
            for _ in 0..=random.below(15) {
                side[random.below(span)] += 1;
            }
        }
        boards.extend(Board::new(sides[0], sides[1]));
    }
    let mut plays = Plays::new();
    let mut board = Board::START;
    while boards.len() < count {
        let (dice, _) = ROLLS[random.below(21)];
        let list = plays.generate(&board, dice);
        board = if list.is_empty() {
            board.swapped()
        } else {
            *list[random.below(list.len())].next()
        };
        if board.opponent() == &[0; 25] {
            board = Board::START;
        }
        boards.push(board);
    }
    boards
}

fn check(board: &Board, plays: &mut Plays) -> usize {
    let mut total = 0;
    for (dice, _) in ROLLS {
        let list = plays.generate(board, dice);
        let fast: HashSet<Plain> = list
            .iter()
            .map(|play| plain(&play.next().swapped()))
            .collect();
        assert_eq!(
            fast.len(),
            list.len(),
            "a board is listed twice: {board:?} {dice:?}"
        );
        // The plain boards also count what is off; drop it to compare.
        let slow: HashSet<Plain> = by_the_rules(board, dice[0], dice[1])
            .into_iter()
            .map(|(mut squares, bar)| {
                squares[0] = 0;
                (squares, bar)
            })
            .collect();
        assert_eq!(fast, slow, "{board:?} {dice:?}");
        total += list.len();
    }
    total
}

#[test]
fn ten_thousand_boards_have_the_plays_that_the_rules_give() {
    let mut plays = Plays::new();
    let total: usize = random_boards(10_000)
        .iter()
        .map(|board| check(board, &mut plays))
        .sum();
    assert!(
        total > 1_000_000,
        "{total} plays are too few to mean anything"
    );
}

/// Boards after one and two plays from the start, rolls counted once each.
#[test]
fn counts_from_the_starting_position() {
    let mut plays = Plays::new();
    assert_eq!(check(&Board::START, &mut plays), 447);
    let first: Vec<Board> = ROLLS
        .iter()
        .flat_map(|&(dice, _)| {
            plays
                .generate(&Board::START, dice)
                .iter()
                .map(|play| *play.next())
                .collect::<Vec<_>>()
        })
        .collect();
    let second: usize = first.iter().map(|board| check(board, &mut plays)).sum();
    assert_eq!(second, 202_782);
}
