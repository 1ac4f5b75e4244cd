//! Chess endings from the rules to the probe.

#[path = "chess/counts.rs"]
mod counts;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use cozy_chess::Board;
use endtable::chess::generate::{Working, closure, generate};
use endtable::chess::make::{Keep, MakeOptions, make};
use endtable::chess::{
    Material, Move, Position, Probe, ProbeError, ProbeOptions, Score, Side, Table, check,
};
use endtable::table::{OpenOptions, Reader, Records, WriteOptions, write};

/// Makes endings in memory, and counts what is known of them.
fn check_counts(names: &[&str]) {
    let wanted: Vec<Material> = names.iter().map(|n| Material::parse(n).unwrap()).collect();
    let mut made: HashMap<Material, Arc<Working>> = HashMap::new();
    for material in closure(&wanted).unwrap() {
        let table = generate(&material, &|m| made.get(m).cloned(), &|_| Ok(())).unwrap();
        let name = material.to_string();
        let known = counts::KNOWN.iter().find(|k| k.0 == name).unwrap();
        let mut results = [[0; 3]; 2];
        let mut longest = [-1; 4];
        let mut zugzwangs = [0; 3];
        table.for_each(|_, _, scores| {
            for (side, score) in scores.into_iter().enumerate().filter(|(_, s)| s.is_legal()) {
                let result = if score.is_win() {
                    0
                } else {
                    1 + usize::from(score.is_loss())
                };
                results[side][result] += 1;
                if let Some(plies) = score.plies() {
                    let slot = &mut longest[2 * side + usize::from(score.is_loss())];
                    *slot = (*slot).max(i32::from(plies));
                }
            }
            if scores.iter().all(|s| s.is_legal()) {
                let points = |s: Score| i32::from(s.is_win()) - i32::from(s.is_loss());
                match (points(scores[0]), -points(scores[1])) {
                    (0, 1) => zugzwangs[0] += 1,
                    (-1, 0) => zugzwangs[1] += 1,
                    (-1, 1) => zugzwangs[2] += 1,
                    _ => {}
                }
            }
        });
        assert_eq!(results, [known.1, known.2], "{name}");
        assert_eq!(longest, known.3, "{name}");
        assert_eq!(zugzwangs, known.4, "{name}");
        made.insert(material, Arc::new(table));
    }
}

#[test]
fn counts_and_longest_mates_of_some_endings() {
    check_counts(&["KQvKR", "KBBvK", "KPvKP"]);
}

#[test]
#[ignore = "takes a few seconds; CI runs it"]
fn counts_and_longest_mates_of_all_35_endings_with_3_and_4_men() {
    let names: Vec<&str> = counts::KNOWN.iter().map(|k| k.0).collect();
    check_counts(&names);
}

/// A folder with KPvKP, KRvKP and all that they convert into.
fn folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER
        .get_or_init(|| {
            let folder = tempfile::tempdir().unwrap();
            let endings = ["KPvKP", "KRvKP"].map(|n| Material::parse(n).unwrap());
            make(
                &endings,
                folder.path(),
                &MakeOptions::default(),
                &|_| Ok(()),
            )
            .unwrap();
            folder
        })
        .path()
}

fn fen(text: &str) -> Position {
    Position::from_fen(text).unwrap()
}

/// Plies as the data state them: negative when losing; `draw`.
fn stated(score: Score) -> String {
    match score.plies() {
        None => "draw".to_owned(),
        Some(plies) if score.is_loss() => format!("{}", -i32::from(plies)),
        Some(plies) => plies.to_string(),
    }
}

#[test]
fn positions_have_their_true_distances() {
    let probe = Probe::open(folder());
    let data = include_str!("data/chess-dtm.csv");
    let mut probed = 0;
    for line in data.lines().filter(|l| !l.starts_with('#')).skip(1) {
        let (text, plies) = line.split_once(',').unwrap();
        match probe.probe(&fen(text)) {
            Ok(answer) => {
                assert_eq!(stated(answer.score), plies, "{text}");
                probed += 1;
            }
            Err(ProbeError::MissingTable { .. }) => {}
            Err(error) => panic!("{text}: {error}"),
        }
    }
    // The 180 with en passant are all there.
    assert!(probed >= 250, "{probed}");
}

#[test]
fn en_passant_is_seen_at_once_and_later() {
    let probe = Probe::open(folder());
    let plies = |text: &str| stated(probe.probe(&fen(text)).unwrap().score);
    assert_eq!(plies("8/8/7k/8/1pP5/7K/8/8 b - c3"), "19");
    assert_eq!(plies("8/8/7k/8/1pP5/7K/8/8 b - -"), "27");
    // The double step that allows it is no better than what follows.
    for text in ["8/8/7k/8/1p6/7K/2P5/8 w - -", "8/8/8/8/5p2/8/5KPk/8 w - -"] {
        let moves = probe.moves(&fen(text)).unwrap();
        assert_eq!(probe.probe(&fen(text)).unwrap().score, moves[0].1, "{text}");
    }
}

#[test]
fn what_has_no_answer_has_its_own_error() {
    let probe = Probe::open(folder());
    let error = |text: &str| probe.probe(&fen(text)).unwrap_err();
    assert!(matches!(
        Position::from_fen("4k3/8/8/8/8/8/8/R3K3 w Q - 0 1"),
        Err(ProbeError::CastlingRights)
    ));
    assert!(matches!(
        Position::from_fen("4k3/8/8/8/8/8/8/4R1K1 w - - 0 1"),
        Err(ProbeError::IllegalPosition(_))
    ));
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1";
    assert!(matches!(
        error(start),
        ProbeError::TooManyMen { men: 32, most: 7 }
    ));
    match error("4k3/8/8/8/8/8/1B6/R3K3 w - - 0 1") {
        ProbeError::MissingTable { ending, .. } => assert_eq!(ending.to_string(), "KRBvK"),
        other => panic!("{other}"),
    }
    // Bare kings need no table.
    assert_eq!(
        probe
            .probe(&fen("4k3/8/8/8/8/8/8/4K3 w - -"))
            .unwrap()
            .score,
        Score::DRAW
    );
}

#[test]
fn few_handles_and_threads_give_the_same_answers() {
    let many = Probe::open(folder());
    let few = ProbeOptions::new()
        .open_tables(1)
        .cache_bytes(0)
        .open(folder());
    let data = include_str!("data/chess-dtm.csv");
    let fens: Vec<Position> = data
        .lines()
        .filter_map(|l| l.split_once(','))
        .filter_map(|(text, _)| Position::from_fen(text).ok())
        .collect();
    std::thread::scope(|scope| {
        for t in 0..3 {
            let (many, few, fens) = (&many, &few, &fens);
            scope.spawn(move || {
                for p in fens.iter().skip(t).step_by(3) {
                    assert_eq!(many.probe(p).ok(), few.probe(p).ok(), "{p}");
                }
            });
        }
    });
}

#[test]
fn one_side_tells_the_other_by_a_search() {
    let folder = tempfile::tempdir().unwrap();
    let options = MakeOptions {
        keep: Keep::Smaller,
        ..MakeOptions::default()
    };
    let ending = Material::parse("KRvKN").unwrap();
    make(
        std::slice::from_ref(&ending),
        folder.path(),
        &options,
        &|_| Ok(()),
    )
    .unwrap();
    let small = Probe::open(folder.path());
    // Without a cache the moves are looked up block by block.
    let plain = ProbeOptions::new().cache_bytes(0).open(folder.path());
    let both = tempfile::tempdir().unwrap();
    make(
        std::slice::from_ref(&ending),
        both.path(),
        &MakeOptions::default(),
        &|_| Ok(()),
    )
    .unwrap();
    let large = Probe::open(both.path());
    let table = large.table(&ending).unwrap();
    let mut searched = 0;
    for number in (0..table.reader().len()).step_by(1009) {
        for side in Side::BOTH {
            let placement = table.placement(number).unwrap();
            let Some(p) = Position::from_placement(table.men(), &placement, side) else {
                continue;
            };
            let (a, b) = (small.probe(&p).unwrap(), large.probe(&p).unwrap());
            assert_eq!(a.score, b.score, "{p}");
            assert_eq!(plain.probe(&p).unwrap(), a, "{p}");
            assert!(!b.searched);
            searched += u32::from(a.searched);
        }
    }
    assert!(searched > 100);
}

#[test]
fn values_follow_from_their_moves() {
    let probe = Probe::open(folder());
    for (name, sample) in [
        ("KRvK", u64::MAX),
        ("KPvK", u64::MAX),
        ("KPvKP", 20_000),
        ("KRvKP", 20_000),
    ] {
        let checked = check(&probe, &Material::parse(name).unwrap(), sample, &|_| Ok(())).unwrap();
        assert!(checked.values > 10_000, "{name} {checked:?}");
    }
}

#[test]
fn statistics_are_those_of_the_ending() {
    for name in ["KPvK", "KRvK", "KRvKR", "KRvKP"] {
        let path = folder().join(format!("{name}.etb"));
        let table = Table::new(OpenOptions::new().open(path).unwrap()).unwrap();
        let stats = table.stats().unwrap();
        let known = counts::KNOWN.iter().find(|k| k.0 == name).unwrap();
        let [white, black] = stats.sides.map(Option::unwrap);
        assert_eq!((white.counts, black.counts), (known.1, known.2), "{name}");
        let plies = |x: Option<(u16, Position)>| x.map_or(-1, |(n, _)| i32::from(n));
        let longest = [
            white.longest_win,
            white.longest_loss,
            black.longest_win,
            black.longest_loss,
        ];
        assert_eq!(longest.map(plies), known.3, "{name}");
        assert_eq!(stats.zugzwangs, Some(known.4), "{name}");
        let probe = Probe::open(folder());
        let (n, example) = white.longest_win.unwrap();
        assert_eq!(probe.probe(&example).unwrap().score, Score::win(n));
    }
}

#[test]
fn tables_are_the_same_for_any_number_of_threads_and_after_resuming() {
    let made = |threads: usize, resume: bool| {
        let folder = tempfile::tempdir().unwrap();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let options = MakeOptions {
            resume,
            ..MakeOptions::default()
        };
        let endings = [Material::parse("KPvK").unwrap()];
        pool.install(|| {
            if resume {
                make(
                    &[Material::parse("KQK").unwrap()],
                    folder.path(),
                    &options,
                    &|_| Ok(()),
                )
                .unwrap();
            }
            make(&endings, folder.path(), &options, &|_| Ok(())).unwrap();
        });
        let mut files: Vec<_> = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|f| f.unwrap().path())
            .collect();
        files.sort();
        let names: Vec<_> = files
            .iter()
            .map(|f| f.file_name().unwrap().to_owned())
            .collect();
        assert_eq!(
            names,
            ["KBvK.etb", "KNvK.etb", "KPvK.etb", "KQvK.etb", "KRvK.etb"]
        );
        files
            .iter()
            .map(|f| std::fs::read(f).unwrap())
            .collect::<Vec<_>>()
    };
    let one = made(1, false);
    assert!(made(3, false) == one);
    assert!(made(2, true) == one);
}

/// A table with one of its values changed.
struct Changed {
    reader: Reader,
    number: u64,
    value: u32,
}

impl Records for Changed {
    fn len(&self) -> u64 {
        self.reader.len()
    }

    fn width(&self) -> usize {
        self.reader.width()
    }

    fn read(&self, first: u64, out: &mut [u32]) -> endtable::Result<()> {
        self.reader.read(first, out)?;
        let width = self.width();
        if let Some(record) = (self.number.checked_sub(first))
            .and_then(|i| out.chunks_exact_mut(width).nth(i as usize))
        {
            record[0] = self.value;
        }
        Ok(())
    }
}

/// A copy of a table, not coded, with another name, other fields and one other
/// value of White to move.
fn copied(folder: &Path, name: &str, number: u64, value: u32, metric: &str) {
    let from = OpenOptions::new()
        .open(self::folder().join("KQvK.etb"))
        .unwrap();
    let mut schema = from.schema().clone();
    let column = &mut schema.columns[0];
    column.codec.name = "stored".to_owned();
    column.codec.params = endtable::Properties::new();
    for field in &mut column.fields {
        field
            .properties
            .set("metric", endtable::Value::Text(metric.to_owned()));
    }
    let records = Changed {
        reader: from,
        number,
        value,
    };
    let options = WriteOptions {
        force: true,
        progress: None,
    };
    write(
        &records,
        schema,
        &folder.join(format!("{name}.etb")),
        &options,
    )
    .unwrap();
}

#[test]
fn each_rule_of_chess_tables_is_found() {
    let sound = Probe::open(folder());
    let table = sound.table(&Material::parse("KQvK").unwrap()).unwrap();
    let (number, position) = (0..table.reader().len())
        .filter_map(|number| {
            let placement = table.placement(number)?;
            let own = table.number(&placement) == Some(number);
            let position = Position::from_placement(table.men(), &placement, Side::White)?;
            own.then_some((number, position))
        })
        .nth(1000)
        .unwrap();
    let mut record = [0; 2];
    table.reader().get(number, &mut record).unwrap();
    assert!(record[0] > 1);
    let rule = |error: ProbeError| match error {
        ProbeError::Table(endtable::Error::Corrupt { rule, .. }) => rule,
        other => panic!("{other}"),
    };
    let temporary = tempfile::tempdir().unwrap();
    let here = temporary.path();
    let asked = |name: &str| {
        Probe::open(here)
            .table(&Material::parse(name).unwrap())
            .map(|_| ())
    };
    // As it is, then with each fault.
    copied(here, "KQvK", number, record[0], "dtm");
    assert_eq!(
        Probe::open(here).probe(&position).unwrap(),
        sound.probe(&position).unwrap()
    );
    copied(here, "KQvK", number, record[0], "dtz");
    assert_eq!(rule(asked("KQvK").unwrap_err()), "K-3");
    copied(here, "KRvK", number, record[0], "dtm");
    assert_eq!(rule(asked("KRvK").unwrap_err()), "K-4");
    copied(here, "KQvK", number, 0, "dtm");
    assert_eq!(rule(Probe::open(here).probe(&position).unwrap_err()), "K-5");
    copied(here, "KQvK", number, record[0] - 1, "dtm");
    let ending = Material::parse("KQvK").unwrap();
    match check(&Probe::open(here), &ending, u64::MAX, &|_| Ok(())) {
        Err(endtable::Error::Corrupt {
            rule: "K-6",
            message,
            ..
        }) => {
            assert!(message.contains("Score"), "{message}");
        }
        other => panic!("{other:?}"),
    }
}

/// How many files this process has open under a folder.
#[cfg(target_os = "linux")]
fn open_files(folder: &Path) -> usize {
    std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok())
        .filter(|path| path.starts_with(folder))
        .count()
}

/// All endings with up to six men have a file here, many more than may be open.
#[test]
#[cfg(target_os = "linux")]
fn with_510_tables_no_more_are_open_than_allowed() {
    let temporary = tempfile::tempdir().unwrap();
    let here = temporary.path().canonicalize().unwrap();
    // Real tables of three men under all other names: their look-ups fail, as
    // the men are others, after the files were opened.
    let mut names: Vec<Material> = (3..=6).flat_map(Material::all).collect();
    names.truncate(510);
    assert_eq!(names.len(), 510);
    for ending in &names {
        let from = folder().join("KQvK.etb");
        std::fs::copy(from, here.join(format!("{ending}.etb"))).unwrap();
    }
    let probe = ProbeOptions::new().open_tables(3).open(&here);
    let mut failed = 0;
    for ending in &names {
        failed += usize::from(probe.table(ending).is_err());
        assert!(open_files(&here) <= 3);
    }
    assert_eq!(failed, 509);
    drop(probe);
    // Those that are right stay open.
    let few = ["KQvK", "KRvK", "KPvK", "KBvK", "KNvK"].map(|n| Material::parse(n).unwrap());
    for ending in &few {
        let name = format!("{ending}.etb");
        std::fs::copy(folder().join(&name), here.join(&name)).unwrap();
    }
    let probe = ProbeOptions::new().open_tables(3).open(&here);
    for (i, ending) in few.iter().chain(&few).enumerate() {
        probe.table(ending).unwrap();
        assert_eq!(open_files(&here), (i + 1).min(3));
    }
}

/// Random legal positions of up to seven men as FEN, by an oracle's judgement.
fn random_boards(count: usize) -> Vec<Board> {
    let mut x = 0x2545_f491_4f6c_dd1d_u64;
    let mut random = move |n: u64| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x % n
    };
    let mut boards = Vec::new();
    while boards.len() < count {
        let mut squares = [None; 64];
        let men = 3 + random(5) as usize;
        for i in 0..men {
            let letter = match i {
                0 => 'K',
                1 => 'k',
                _ => ['Q', 'R', 'B', 'N', 'P', 'P', 'q', 'r', 'b', 'n', 'p', 'p']
                    [random(12) as usize],
            };
            squares[random(64) as usize] = Some(letter);
        }
        // Now and then two pawns side by side, one of which may just have moved.
        let white = random(2) == 0;
        let mut passed = "-".to_owned();
        if random(3) == 0 {
            let file = random(7) as usize;
            let (pair, rank, row) = if white {
                (['P', 'p'], 6, 3)
            } else {
                (['p', 'P'], 3, 4)
            };
            squares[8 * row + file] = Some(pair[0]);
            squares[8 * row + file + 1] = Some(pair[1]);
            passed = format!("{}{rank}", (b'a' + file as u8 + 1) as char);
        }
        let ranks: Vec<String> = squares
            .chunks(8)
            .map(|r| {
                r.iter()
                    .map(|s| s.map_or("1".to_owned(), |c: char| c.to_string()))
                    .collect()
            })
            .collect();
        let side = if white { "w" } else { "b" };
        let text = format!("{} {side} - {passed} 0 1", ranks.join("/"));
        let Ok(board) = text.parse::<Board>() else {
            continue;
        };
        // The oracle lets kings touch.
        let kings = cozy_chess::Color::ALL.map(|c| board.king(c));
        if !cozy_chess::get_king_moves(kings[0]).has(kings[1]) {
            boards.push(board);
        }
    }
    boards
}

#[test]
fn legal_moves_are_those_of_another_program() {
    let mut with_en_passant = 0;
    for board in random_boards(20_000) {
        let position = fen(&board.to_string());
        let mut expected = Vec::new();
        board.generate_moves(|moves| {
            expected.extend(moves.into_iter().map(|m| m.to_string()));
            false
        });
        let mut found: Vec<String> = position
            .moves()
            .iter()
            .map(|(m, _): &(Move, _)| m.to_string())
            .collect();
        with_en_passant += u32::from(position.to_string().split(' ').nth(3) != Some("-"));
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{board}");
        assert_eq!(position.in_check(), !board.checkers().is_empty(), "{board}");
    }
    assert!(with_en_passant > 1000);
}
