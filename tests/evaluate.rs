//! Evaluations against known values and against GNU Backgammon's own programs,
//! where these are installed.
//!
//! `ENDTABLE_PAIRS=2000` compares as many pairs as that (40 by default) and
//! the 8-point table as well; `ENDTABLE_GNUBG_DIR` names a folder with
//! `os6.bd`, `os8.bd` and `ts6x6.bd`, which `makebearoff` makes otherwise.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use endtable::bearoff::evaluate::{CubeAction, RatedPlays};
use endtable::bearoff::position::CubeOwner;
use endtable::bearoff::schema::{self, Packing};
use endtable::bearoff::{Board, Database, Evaluation, Position, Tables, board, position_id};
use endtable::numbering::Multiset;
use endtable::table::{WriteOptions, write};
use endtable::{Error, bearoff::play_notation};

/// One of gnubg's programs, where Debian or the path has it.
fn program(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders)
        .chain([PathBuf::from("/usr/games")])
        .map(|folder| folder.join(name))
        .find(|path| path.is_file());
    if found.is_none() {
        let _ = writeln!(std::io::stderr(), "SKIPPED: `{name}` is not installed");
    }
    found
}

fn pairs() -> usize {
    let wanted = std::env::var("ENDTABLE_PAIRS").ok();
    wanted.map_or(40, |n| n.parse().expect("ENDTABLE_PAIRS is a number"))
}

/// A database that `makebearoff` makes, from the folder where there is one.
fn database(name: &str, arguments: &[&str], folder: &Path) -> Option<PathBuf> {
    if let Some(known) = std::env::var_os("ENDTABLE_GNUBG_DIR") {
        let path = PathBuf::from(known).join(name);
        if path.is_file() {
            return Some(path);
        }
    }
    let made = Command::new(program("makebearoff")?)
        .args(arguments)
        .args(["-f", name])
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(made.success());
    Some(folder.join(name))
}

/// The same database as a table, opened for evaluation.
fn tables(bd: &Path, folder: &Path) -> Tables {
    let input = Database::open(bd).unwrap();
    let Database::Gnubg(file) = &input else {
        panic!("{bd:?} is no gnubg database");
    };
    let schema = schema::schema(file.kind(), &Packing::default()).unwrap();
    let path = folder.join(bd.with_extension("etb").file_name().unwrap());
    write(input.records(), schema, &path, &WriteOptions::default()).unwrap();
    let mut tables = Tables::new();
    tables.open(&path).unwrap();
    tables
}

/// Random boards: every other one uniform among the positions with a chequer
/// and more on each side, the rest with a side that can lose a gammon against
/// one with few chequers.
struct Boards {
    side: Multiset,
    state: u64,
    made: u64,
}

impl Boards {
    fn new(points: usize, chequers: u8) -> Self {
        Boards {
            side: Multiset::new(points, chequers).unwrap(),
            state: 2026,
            made: 0,
        }
    }

    /// A side uniform among those with `least` to `most` chequers.
    fn side(&mut self, least: u8, most: u8) -> board::Points {
        self.state = self
            .state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let (first, end) = (self.side.first_with(least), self.side.first_with(most + 1));
        let number = first + (self.state >> 16) % (end - first);
        let mut side = [0; 25];
        let points = self.side.points();
        self.side.unrank(number, &mut side[..points]).unwrap();
        side
    }
}

impl Iterator for Boards {
    type Item = Board;

    fn next(&mut self) -> Option<Board> {
        self.made += 1;
        let most = self.side.chequers();
        let sides = match self.made % 4 {
            1 => [self.side(most, most), self.side(1, 5.min(most))],
            3 => [self.side(1, 5.min(most)), self.side(most, most)],
            _ => [self.side(1, most), self.side(1, most)],
        };
        Some(Board::new(sides[0], sides[1]).unwrap())
    }
}

/// `value` as gnubg prints it, which computes in single precision with numbers
/// up to `scale`: the other digit is right, too, where the value lies that
/// close between two.
fn prints(value: f64, scale: f64, digits: usize, printed: &str) -> bool {
    let plain = |v: f64| format!("{v:.digits$}").replace("-0.000", "0.000");
    let slack = 4e-7 * scale;
    let printed = printed.trim_start_matches('+').replace("-0.000", "0.000");
    [value, value - slack, value + slack]
        .iter()
        .any(|&v| plain(v) == printed)
}

/// The rows of a dump that begin with a name, as the numbers after it.
fn rows(dump: &str) -> BTreeMap<&str, Vec<&str>> {
    let names = ["Mean", "Std dev", "EPC", "Wastage", "static:"];
    let mut rows = BTreeMap::new();
    for line in dump.lines() {
        for name in names {
            if let Some(rest) = line.strip_prefix(name) {
                let numbers = rest.split_whitespace().collect::<Vec<_>>();
                if numbers.first().is_some_and(|n| n.parse::<f64>().is_ok()) {
                    rows.insert(name, numbers);
                }
            }
        }
    }
    rows
}

/// The four printed distributions, from 0 to 1: both sides' last and first
/// chequers.
fn distributions(dump: &str) -> [[f64; 32]; 4] {
    let mut out = [[0.0; 32]; 4];
    let lines = dump.lines().skip_while(|line| !line.starts_with("Rolls"));
    for line in lines
        .skip(1)
        .take_while(|line| !line.starts_with("Average"))
    {
        let numbers: Vec<&str> = line.split_whitespace().collect();
        let roll: usize = numbers[0].parse().unwrap();
        for (column, number) in numbers[1..].iter().enumerate() {
            out[column][roll] = number.parse::<f64>().unwrap() / 100.0;
        }
    }
    out
}

/// Winning and gammon chances by their definition, from what is printed.
fn check_chances(seen: &Evaluation, dump: &str, board: &Board) {
    let [us, them, our_first, their_first] = distributions(dump);
    // The chance that `a` is over within `i` rolls, and `b` after at least
    // `i + lead`.
    let before = |a: &[f64; 32], b: &[f64; 32], lead: usize| -> f64 {
        (0..32)
            .map(|i| a[i] * b.iter().skip(i + lead).sum::<f64>())
            .sum()
    };
    for (name, value, expected) in [
        ("win", seen.win, before(&us, &them, 0)),
        (
            "win gammon",
            seen.win_gammon.unwrap(),
            before(&us, &their_first, 0),
        ),
        (
            "lose gammon",
            seen.lose_gammon.unwrap(),
            before(&them, &our_first, 1),
        ),
    ] {
        // Two dozen printed values, each off by at most half its last digit.
        assert!(
            (value - expected).abs() < 1e-4,
            "{name}: {value} against {expected}: {board:?}"
        );
    }
}

fn check_rolls(seen: &Evaluation, dump: &str, board: &Board) {
    let rows = rows(dump);
    let rolls = seen.rolls.unwrap();
    for (side, rolls) in rolls.iter().enumerate() {
        for (name, value) in [
            ("Mean", rolls.mean),
            ("Std dev", rolls.deviation),
            ("EPC", rolls.epc),
            ("Wastage", rolls.wastage),
        ] {
            let printed = rows[name][side];
            assert!(
                prints(value, rolls.epc, 3, printed),
                "{name} of side {side}: {value} against {printed}: {board:?}"
            );
        }
    }
}

#[test]
fn rolls_and_chances_are_those_of_bearoffdump() {
    let Some(bearoffdump) = program("bearoffdump") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for (points, name) in [(6, "os6.bd"), (8, "os8.bd")] {
        if points == 8 && pairs() < 1000 {
            continue;
        }
        let Some(bd) = database(name, &["-o", &points.to_string()], folder.path()) else {
            return;
        };
        let tables = tables(&bd, folder.path());
        for board in Boards::new(points, 15).take(pairs()) {
            let output = Command::new(&bearoffdump)
                .args(["-p", &position_id::format_board(&board)])
                .arg(&bd)
                .output()
                .unwrap();
            let dump = String::from_utf8_lossy(&output.stdout);
            let seen = tables.evaluate(&board).unwrap();
            check_rolls(&seen, &dump, &board);
            check_chances(&seen, &dump, &board);
        }
    }
}

/// Bearoffdump prints no chances of winning; gnubg's `eval` does, from the
/// 6-point database that it ships with.
#[test]
fn chances_are_those_that_gnubg_evaluates() {
    let Some(gnubg) = program("gnubg") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let Some(bd) = database("os6.bd", &["-o", "6"], folder.path()) else {
        return;
    };
    let tables = tables(&bd, folder.path());
    let boards: Vec<Board> = Boards::new(6, 15).take(pairs()).collect();
    let mut script = "set automatic roll off\nset automatic game off\nnew game\n".to_owned();
    for board in &boards {
        let id = position_id::format_board(board);
        script += &format!("set board {id}\neval\n");
    }
    let input = folder.path().join("script");
    fs::write(&input, script).unwrap();
    let output = Command::new(&gnubg)
        .args(["-t", "-q", "-r"])
        .env("HOME", folder.path())
        .stdin(fs::File::open(&input).unwrap())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let answers: Vec<&str> = text.split("Evaluator:").skip(1).collect();
    assert_eq!(answers.len(), boards.len(), "{text}");
    let mut gammons = 0;
    for (board, answer) in boards.iter().zip(answers) {
        let seen = tables.evaluate(board).unwrap();
        let printed = &rows(answer)["static:"];
        let (won, lost) = (seen.win_gammon.unwrap(), seen.lose_gammon.unwrap());
        for (value, column) in [(seen.win, 0), (won, 1), (lost, 3)] {
            assert!(
                prints(value, 1.0, 3, printed[column]),
                "{value} against {} in column {column}: {}",
                printed[column],
                position_id::format_board(board)
            );
        }
        gammons += usize::from(won > 0.001 || lost > 0.001);
    }
    assert!(gammons * 20 > boards.len(), "only {gammons} gammons");
}

#[test]
fn equities_are_those_of_bearoffdump() {
    let (Some(bearoffdump), folder) = (program("bearoffdump"), tempfile::tempdir().unwrap()) else {
        return;
    };
    let Some(bd) = database("ts6x6.bd", &["-t", "6x6"], folder.path()) else {
        return;
    };
    let tables = tables(&bd, folder.path());
    for board in Boards::new(6, 6).take(pairs()) {
        let output = Command::new(&bearoffdump)
            .args(["-p", &position_id::format_board(&board)])
            .arg(&bd)
            .output()
            .unwrap();
        let dump = String::from_utf8_lossy(&output.stdout);
        let printed = |name: &str| {
            let line = dump.lines().find(|line| line.starts_with(name)).unwrap();
            line.split_once(": ").unwrap().1.trim().to_owned()
        };
        let seen = tables.evaluate(&board).unwrap();
        let cubeful = seen.cubeful.unwrap();
        for (name, value) in [
            ("Cubeless equity", seen.equity_cubeless.unwrap()),
            ("Owned cube", cubeful.owned),
            ("Centered cube", cubeful.centred),
            ("Opponent owns cube", cubeful.opponent),
        ] {
            let printed = printed(name);
            assert!(
                prints(value, 1.0, 4, &printed),
                "{name}: {value} against {printed}"
            );
        }
    }

    // One chequer on the six-point each: 27 of 36 rolls bear it off, and else
    // the opponent's 27 do: 0.75 + 0.25 · 0.25.
    let one_each = Position::parse("6:1 / 6:1").unwrap().board;
    let seen = tables.evaluate(&one_each).unwrap();
    assert!((seen.win - 0.8125).abs() <= 1.0 / 65535.0);
    // Doubled, the opponent loses 2 points with 3/4, and else redoubles us
    // out for 2: worth 1 to us, as much as when it gives up.
    let cubeful = seen.cubeful.unwrap();
    assert_eq!(
        cubeful.action(CubeOwner::Centred),
        Some(CubeAction::DoublePass)
    );
    // Four chequers on the ace-point against two: only doubles win.
    let four = Position::parse("1:4 / 1:2").unwrap().board;
    assert!((tables.evaluate(&four).unwrap().win - 1.0 / 6.0).abs() <= 1.0 / 65535.0);

    // 21 with 2 and 3 left against a sure loser in one: both off, or one.
    let mut plays = RatedPlays::new();
    let board = Position::parse("2:1 1:1 / 6:1").unwrap().board;
    tables
        .rate_plays(&board, [2, 1], Some(CubeOwner::Centred), &mut plays)
        .unwrap();
    let best = plays.as_slice()[0];
    assert!(best.play.wins() && best.equity == 1.0 && plays.is_exact() && plays.is_cubeful());
}

#[test]
fn plays_are_rated_by_what_the_opponent_sees() {
    let folder = tempfile::tempdir().unwrap();
    let Some(bd) = database("os6.bd", &["-o", "6"], folder.path()) else {
        return;
    };
    let tables = tables(&bd, folder.path());
    let mut plays = RatedPlays::new();
    for (position, roll) in [
        ("6:3 5:2 4:1 / 6:2 4:3", [5, 2]),
        ("6:4 1:4 / 5:5", [1, 1]),
        ("6:15 / 6:15", [6, 1]),
        ("6:7 5:5 4:3 / 1:1", [3, 3]),
    ] {
        let board = Position::parse(position).unwrap().board;
        tables
            .rate_plays(&board, roll, Some(CubeOwner::Centred), &mut plays)
            .unwrap();
        let list = plays.as_slice();
        assert!(!list.is_empty() && !plays.is_cubeful() && !plays.is_exact());
        for rated in list {
            let seen = tables.evaluate(rated.play.next()).unwrap();
            assert_eq!(rated.win, 1.0 - seen.win);
            assert_eq!(rated.lose_gammon, seen.win_gammon);
            assert_eq!(Some(-rated.equity), seen.equity_cubeless);
            assert!(rated.equity <= list[0].equity);
        }
    }
    // Whatever it plays, it loses for sure: then the most chequers come off.
    let lost = Position::parse("3:3 2:1 / -").unwrap().board;
    tables.rate_plays(&lost, [2, 1], None, &mut plays).unwrap();
    let list = plays.as_slice();
    assert!(list.len() > 1 && list.iter().all(|rated| rated.equity == -1.0));
    let left = |i: usize| list[i].play.next().opponent().iter().sum::<u8>();
    assert!(left(0) == 3 && (1..list.len()).all(|i| left(i) >= 3));
    assert_eq!(play_notation::format(&lost, &list[0].play), "3/off");
}

#[test]
fn the_average_over_all_rolls_is_the_evaluation() {
    // With one chequer a side there is nothing to choose, so that the chance
    // before the roll is the mean of those after it.
    let folder = tempfile::tempdir().unwrap();
    let Some(bd) = database("os6.bd", &["-o", "6"], folder.path()) else {
        return;
    };
    let tables = tables(&bd, folder.path());
    let mut plays = RatedPlays::new();
    for (mine, theirs) in (1..=6).flat_map(|a| (1..=6).map(move |b| (a, b))) {
        let board = Position::parse(&format!("{mine}:1 / {theirs}:1"))
            .unwrap()
            .board;
        let mut sum = 0.0;
        for (roll, throws) in endtable::bearoff::plays::ROLLS {
            tables.rate_plays(&board, roll, None, &mut plays).unwrap();
            sum += f64::from(throws) * plays.as_slice()[0].win;
        }
        let seen = tables.evaluate(&board).unwrap().win;
        assert!((sum / 36.0 - seen).abs() < 3.0 / 65535.0, "{sum} {seen}");
    }
}

#[test]
fn what_no_table_covers_is_said_with_what_would() {
    let folder = tempfile::tempdir().unwrap();
    let Some(bd) = database("os6.bd", &["-o", "6"], folder.path()) else {
        return;
    };
    let tables = tables(&bd, folder.path());
    let fault = |text: &str| {
        let board = Position::parse(text).unwrap().board;
        match tables.evaluate(&board) {
            Err(Error::NotCovered(fault)) => fault,
            other => panic!("{text}: {other:?}"),
        }
    };
    let far = fault("10:2 1:1 / 6:3");
    assert_eq!(
        (far.contact, far.points, far.covered),
        (false, [10, 6], [false, true])
    );
    let text = far.to_string();
    assert!(
        text.contains("make bearoff 10") && text.contains("make two-sided 10x3"),
        "{text}"
    );
    assert!(!fault("9:15 / 8:15").to_string().contains("two-sided"));
    assert!(fault("start").contact);
    assert!(fault("12:1 / 14:1").contact);
    assert!(!fault("12:1 / 12:1").contact);
    assert!(fault("bar:1 / 1:1").contact);

    let mut out = [const { Err(Error::Interrupted) }; 3];
    let boards =
        ["6:1 / 6:1", "7:1 / 6:1", "6:1 / 5:1"].map(|text| Position::parse(text).unwrap().board);
    tables.evaluate_batch(&boards, &mut out).unwrap();
    assert_eq!(
        out[0].as_ref().unwrap(),
        &tables.evaluate(&boards[0]).unwrap()
    );
    assert!(matches!(out[1], Err(Error::NotCovered(_))));
    assert_eq!(
        out[2].as_ref().unwrap(),
        &tables.evaluate(&boards[2]).unwrap()
    );
    assert!(tables.evaluate_batch(&boards[..2], &mut out).is_err());
}

#[test]
fn tables_without_gammons_say_that_they_do_not_know() {
    let folder = tempfile::tempdir().unwrap();
    let Some(bd) = database("os4n.bd", &["-o", "4", "-g"], folder.path()) else {
        return;
    };
    let mut tables = tables(&bd, folder.path());
    let all = Position::parse("4:15 / 4:2").unwrap().board;
    let seen = tables.evaluate(&all).unwrap();
    assert_eq!((seen.win_gammon, seen.lose_gammon), (Some(0.0), None));
    assert_eq!(seen.equity_cubeless, None);
    let few = Position::parse("4:14 / 4:2").unwrap().board;
    assert_eq!(tables.evaluate(&few).unwrap().lose_gammon, Some(0.0));
    // A larger one that knows helps out, opened as gnubg wrote it.
    let larger = database("os5.bd", &["-o", "5"], folder.path()).unwrap();
    tables.open(&larger).unwrap();
    let seen = tables.evaluate(&all).unwrap();
    // It loses one when the opponent is off at once, which a third or so of
    // the rolls do, after a roll of ours with no four, which four ninths are.
    assert!(
        (0.01..0.15).contains(&seen.lose_gammon.unwrap()),
        "{seen:?}"
    );
    assert_eq!(tables.name(seen.one_sided.unwrap()[0]), larger);
    assert!(
        tables
            .evaluate(&few)
            .unwrap()
            .one_sided
            .unwrap()
            .map(|id| tables.name(id) == larger)
            == [false; 2]
    );

    // Normal approximations are no distributions.
    let normal = database("os4a.bd", &["-o", "4", "-n"], folder.path()).unwrap();
    assert!(matches!(
        tables.open(&normal),
        Err(Error::Unsupported { .. })
    ));
}
