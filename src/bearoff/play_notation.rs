//! Plays as players write them: `8/5 6/5`, `24/18*/13`, `bar/22`, `6/off(2)`.

use super::board::{BAR, Board};
use super::plays::{Move, Play};
use super::position::Dice;
use crate::{Error, Result};

/// Writes a play made on `board`: chequers from the highest down, moves of
/// one chequer joined, `*` for each hit, `(n)` for n equal moves. No move at
/// all is `pass`.
pub fn format(board: &Board, play: &Play) -> String {
    let hits =
        |point: u8| (1..=24).contains(&point) && board.opponent()[24 - usize::from(point)] == 1;
    let mut paths: Vec<Vec<u8>> = Vec::new();
    let mut moves: Vec<Move> = play.moves().to_vec();
    moves.sort_by_key(|m| (std::cmp::Reverse(m.from), std::cmp::Reverse(m.to)));
    for step in moves {
        match paths
            .iter_mut()
            .find(|path| path.last() == Some(&step.from))
        {
            Some(path) => path.push(step.to),
            None => paths.push(vec![step.from, step.to]),
        }
    }
    // Only the first chequer to land on a blot hits it.
    let mut hit_already = [false; 25];
    let mut items: Vec<String> = Vec::new();
    for path in paths {
        let mut text = name(path[0]);
        for (i, &point) in path.iter().enumerate().skip(1) {
            let hit = hits(point) && !std::mem::replace(&mut hit_already[usize::from(point)], true);
            if hit || i + 1 == path.len() {
                text += &format!("/{}{}", name(point), if hit { "*" } else { "" });
            }
        }
        items.push(text);
    }
    merge(&items)
}

/// Joins equal items as `item(n)`; of equal moves only the first may hit, and
/// the mark then stands for all of them.
fn merge(items: &[String]) -> String {
    if items.is_empty() {
        return "pass".to_owned();
    }
    let mut counted: Vec<(&str, usize)> = Vec::new();
    for item in items {
        match counted
            .iter_mut()
            .find(|(text, _)| text == item || text.strip_suffix('*') == Some(item))
        {
            Some((_, n)) => *n += 1,
            None => counted.push((item, 1)),
        }
    }
    let texts: Vec<String> = counted
        .into_iter()
        .map(|(text, n)| match (n, text.strip_suffix('*')) {
            (1, _) => text.to_owned(),
            (_, Some(bare)) => format!("{bare}({n})*"),
            (_, None) => format!("{text}({n})"),
        })
        .collect();
    texts.join(" ")
}

fn name(point: u8) -> String {
    match point {
        0 => "off".to_owned(),
        25 => "bar".to_owned(),
        _ => point.to_string(),
    }
}

/// Finds, among the legal `plays` of `dice` on `board`, the one that `text`
/// describes. The order of the moves is free; moves of one chequer may be
/// joined (`24/13`) or not (`24/18 18/13`); hits may be marked or not, and
/// marks decide where the text fits two plays.
///
/// # Errors
/// [`Error::Invalid`] if the text is no play, or describes no legal play or
/// more than one.
pub fn find<'a>(text: &str, board: &Board, dice: Dice, plays: &'a [Play]) -> Result<&'a Play> {
    let shown = text.trim().escape_debug().to_string();
    let (hops, marks) = parse(text)?;
    let mut mine = board.on_roll().map(i16::from);
    for &(from, to) in &hops {
        mine[usize::from(from) - 1] -= 1;
        if to > 0 {
            mine[usize::from(to) - 1] += 1;
        }
    }
    let fits: Vec<&Play> = plays
        .iter()
        .filter(|play| play.next().opponent().map(i16::from) == mine)
        .collect();
    let marked: Vec<&Play> = fits
        .iter()
        .copied()
        .filter(|play| hit_points(board, play) == marks)
        .collect();
    match (&fits[..], &marked[..]) {
        ([], _) => Err(Error::invalid(format!(
            "`{shown}` is no legal play of {}{}",
            dice[0], dice[1]
        ))),
        ([play], _) | (_, [play]) => Ok(play),
        (several, _) => {
            let names: Vec<String> = several
                .iter()
                .map(|play| format!("`{}`", format(board, play)))
                .collect();
            Err(Error::invalid(format!(
                "`{shown}` may be {}: mark the hits with `*`",
                names.join(" or ")
            )))
        }
    }
}

/// The points, as a bit set, on which a play hits.
fn hit_points(board: &Board, play: &Play) -> u32 {
    let left = play.next().on_roll();
    (0..24)
        .filter(|&i| board.opponent()[23 - i] == 1 && left[23 - i] == 0)
        .fold(0, |set, i| set | 1 << i)
}

/// The hops of a text, from the bar or a point to a point or off (0), and the
/// points marked as hit.
fn parse(text: &str) -> Result<(Vec<(u8, u8)>, u32)> {
    let wrong = |what: &str| {
        Error::invalid(format!(
            "`{}` was not understood: expected moves such as 8/5 6/5, bar/22, 24/18*/13 or 6/off(2)",
            what.escape_debug()
        ))
    };
    let (mut hops, mut marks) = (Vec::new(), 0u32);
    for item in text.split([' ', ',', '\t']).filter(|item| !item.is_empty()) {
        // The mark of a repeated move is written before or after the count.
        let (body, tail) = match item.split_once('(') {
            Some((body, tail)) => (
                body,
                tail.strip_suffix('*')
                    .map_or(tail.to_owned(), |t| t.to_owned()),
            ),
            None => (item, "1)".to_owned()),
        };
        let count = tail
            .strip_suffix(')')
            .and_then(|n| n.parse::<u8>().ok())
            .filter(|n| (1..=4).contains(n));
        let count = count.ok_or_else(|| wrong(item))?;
        let stops: Vec<&str> = body.split('/').collect();
        if stops.len() < 2 {
            return Err(wrong(item));
        }
        let mut points = Vec::with_capacity(stops.len());
        for (i, stop) in stops.iter().enumerate() {
            let last = i + 1 == stops.len();
            let marked = stop.ends_with('*') || (last && item.ends_with(")*"));
            let point = match stop.trim_end_matches('*').to_ascii_lowercase().as_str() {
                "bar" | "25" if i == 0 => BAR as u8 + 1,
                "off" | "0" if last => 0,
                number => number
                    .parse()
                    .ok()
                    .filter(|n| (1..=24).contains(n))
                    .ok_or_else(|| wrong(item))?,
            };
            if marked && point > 0 {
                marks |= 1 << (point - 1);
            }
            points.push(point);
        }
        if points.windows(2).any(|pair| pair[1] >= pair[0]) {
            return Err(wrong(item));
        }
        for _ in 0..count {
            hops.extend(points.windows(2).map(|pair| (pair[0], pair[1])));
        }
    }
    if hops.is_empty() || hops.len() > 16 {
        return Err(wrong(text.trim()));
    }
    Ok((hops, marks))
}

#[cfg(test)]
mod tests {
    use super::super::notation::parse_board;
    use super::super::plays::{Plays, ROLLS};
    use super::*;

    fn found(board: &str, dice: Dice, text: &str) -> Result<String> {
        let board = parse_board(board)?;
        let mut plays = Plays::new();
        let play = find(text, &board, dice, plays.generate(&board, dice))?;
        Ok(format(&board, play))
    }

    const START: &str = "24:2 13:5 8:3 6:5 / 24:2 13:5 8:3 6:5";

    #[test]
    fn plays_are_written_as_players_write_them() {
        for (board, dice, text, written) in [
            (START, [3, 1], "6/5 8/5", "8/5 6/5"),
            (START, [5, 1], "13/8, 24/23", "24/23 13/8"),
            (START, [6, 5], "24/18 18/13", "24/13"),
            (START, [6, 6], "24/18(2) 13/7(2)", "24/18(2) 13/7(2)"),
            (START, [4, 4], "13/5(2)", "13/5(2)"),
            ("bar:1 6:2 / 6:2 1:1", [3, 1], "bar/24* 6/3", "bar/24* 6/3"),
            ("bar:1 6:2 / 6:2 1:1", [3, 1], "bar/22 6/5", "bar/22 6/5"),
            (
                "bar:2 6:2 / 24:1 3:1",
                [3, 3],
                "bar/22(2)* 6/3(2)",
                "bar/22(2)* 6/3(2)",
            ),
            ("6:3 1:2 / 20:2", [6, 6], "6/off(3) 1/off", "6/off(3) 1/off"),
            ("24:1 6:2 / 7:1 6:5", [6, 5], "24/18*/13", "24/18*/13"),
        ] {
            assert_eq!(
                found(board, dice, text).unwrap_or_else(|e| e.to_string()),
                written,
                "{text}"
            );
        }
    }

    #[test]
    fn hits_decide_between_two_ways_of_one_chequer() {
        let board = "24:1 1:2 / 7:1 6:5 15:2";
        assert_eq!(found(board, [6, 2], "24/16").unwrap(), "24/16");
        assert_eq!(found(board, [6, 2], "24/18*/16").unwrap(), "24/18*/16");
        let board = "24:1 1:2 / 7:1 3:1 15:2";
        assert!(
            found(board, [6, 2], "24/16")
                .unwrap_err()
                .to_string()
                .contains("mark the hits")
        );
        assert_eq!(found(board, [6, 2], "24/18*/16").unwrap(), "24/18*/16");
        assert_eq!(found(board, [6, 2], "24/22*/16").unwrap(), "24/22*/16");
    }

    #[test]
    fn what_is_no_play_is_refused() {
        for text in [
            "",
            "8",
            "8/",
            "/5",
            "8/5/6",
            "5/8",
            "8/5(5)",
            "8/5(",
            "bar/22",
            "8/5 6/4",
            "x/y",
            "8/5(2)(2)",
            "0/0",
        ] {
            assert!(found(START, [3, 1], text).is_err(), "{text}");
        }
    }

    #[test]
    fn every_legal_play_is_found_by_its_own_text() {
        let boards = [
            START,
            "bar:2 13:3 8:2 6:4 / bar:1 22:1 13:4 8:3 6:3 4:1",
            "24:1 18:2 9:1 7:1 6:2 5:1 4:2 / 24:1 17:1 8:2 6:3 5:2 3:1 2:1",
            "6:2 5:2 3:1 / 24:1 3:2",
        ];
        let mut plays = Plays::new();
        for text in boards {
            let board = parse_board(text).unwrap();
            for (dice, _) in ROLLS {
                plays.generate(&board, dice);
                for play in plays.as_slice() {
                    let written = format(&board, play);
                    let read = find(&written, &board, dice, plays.as_slice())
                        .unwrap_or_else(|e| panic!("{text} {dice:?}: {e}"));
                    assert_eq!(read.next(), play.next(), "{written}");
                }
            }
        }
    }
}
