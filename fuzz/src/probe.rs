//! Chess positions as text, as squares of men, and in damaged tables.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use endtable::Limits;
use endtable::chess::make::{Keep, MakeOptions, make};
use endtable::chess::{Answer, Material, Position, Probe, ProbeError, ProbeOptions};

use super::{Input, scratch, seal};

/// Endings whose tables are damaged.
const DAMAGED: [&str; 3] = ["KQvK", "KRvK", "KPvK"];
/// Bytes of a table that a damage reaches.
const REACH: u64 = 60_000;

/// Tables with both sides to move, and with one: KPvK and what it needs.
fn folders() -> &'static [PathBuf; 2] {
    static FOLDERS: OnceLock<[PathBuf; 2]> = OnceLock::new();
    FOLDERS.get_or_init(|| {
        [("both", Keep::Both), ("one", Keep::Smaller)].map(|(name, keep)| {
            let folder = scratch().join(name);
            let options = MakeOptions {
                keep,
                force: true,
                ..MakeOptions::default()
            };
            let endings = [Material::parse("KPvK").unwrap()];
            make(&endings, &folder, &options, &|_| Ok(())).unwrap();
            folder
        })
    })
}

/// Bytes as a position, in tables that are sound and in one that is not.
pub(crate) fn probe(data: &[u8]) {
    let mut input = Input(data);
    let how = input.byte();
    if how.is_multiple_of(8) {
        damaged(&mut input);
        return;
    }
    let text = match how % 2 {
        0 => String::from_utf8_lossy(input.0).into_owned(),
        _ => described(&mut input),
    };
    let Ok(position) = Position::from_fen(&text) else {
        return;
    };
    // A position that was understood is written, and reads the same.
    assert_eq!(Position::from_fen(&position.to_string()).unwrap(), position);
    static PROBES: OnceLock<[Probe; 2]> = OnceLock::new();
    let [both, one] = PROBES.get_or_init(|| {
        let [both, one] = folders();
        [
            Probe::open(both),
            ProbeOptions::new().cache_bytes(0).open(one),
        ]
    });
    let answers = [both, one].map(|p| p.probe(&position));
    match &answers {
        [Ok(a), Ok(b)] => assert_eq!(a.score, b.score, "{position}"),
        [Err(a), Err(b)] => same_fault(a, b),
        // The side that is not stored may lead to a table that is missing.
        [Ok(_), Err(ProbeError::MissingTable { .. })] => {}
        other => panic!("{position}: {other:?}"),
    }
    let [Ok(Answer { score, .. }), _] = answers else {
        return;
    };
    assert!(score.is_legal());
    // The value follows from the moves.
    let moves = both.moves(&position).unwrap();
    if let Some(&(_, best)) = moves.first() {
        assert_eq!(best, score, "{position}");
    } else {
        assert_eq!(score.is_loss(), position.in_check(), "{position}");
    }
}

fn same_fault(a: &ProbeError, b: &ProbeError) {
    assert_eq!(std::mem::discriminant(a), std::mem::discriminant(b));
    assert!(!matches!(a, ProbeError::Table(_)), "{a}");
}

/// A FEN of a few men on squares that the bytes say.
fn described(input: &mut Input<'_>) -> String {
    let mut board = [None; 64];
    let men = usize::from(input.byte() % 6);
    for i in 0..2 + men {
        let square = usize::from(input.byte() % 64);
        let letter = match i {
            0 => b'K',
            1 => b'k',
            _ => b"QRBNPPPqrbnppp"[usize::from(input.byte() % 14)],
        };
        board[square] = Some(letter as char);
    }
    let rank = |rank: &[Option<char>]| rank.iter().map(|s| s.unwrap_or('1')).collect::<String>();
    let ranks: Vec<String> = board.chunks(8).map(rank).collect();
    let side = ['w', 'b'][usize::from(input.byte() % 2)];
    let castling = if input.byte() == 7 { "Kq" } else { "-" };
    let passed = match input.byte() {
        n @ 0..16 => format!("{}{}", (b'a' + n % 8) as char, if n < 8 { 3 } else { 6 }),
        _ => "-".to_owned(),
    };
    format!("{} {side} {castling} {passed} 5 40", ranks.join("/"))
}

/// A position in a table with some bytes changed below all checksums: any
/// score or an error.
fn damaged(input: &mut Input<'_>) {
    let name = DAMAGED[usize::from(input.byte()) % DAMAGED.len()];
    let [sound, _] = folders();
    let mut bytes = fs::read(sound.join(format!("{name}.etb"))).unwrap();
    for _ in 0..input.byte() % 4 {
        let at = input.range(0, REACH) as usize % bytes.len();
        bytes[at] ^= input.byte();
    }
    if input.byte() == 1 {
        bytes.truncate(input.range(0, REACH) as usize);
    }
    if !input.byte().is_multiple_of(4) {
        seal(&mut bytes);
    }
    let folder = scratch().join("damaged");
    fs::create_dir_all(&folder).unwrap();
    write_over(&folder.join(format!("{name}.etb")), &bytes);
    let limits = Limits {
        schema_bytes: 1 << 20,
        index_bytes: 1 << 20,
        block_bytes: 1 << 20,
    };
    let probe = ProbeOptions::new()
        .limits(limits)
        .cache_bytes(usize::from(input.byte()) << 12)
        .open(&folder);
    for _ in 0..8 {
        let text = described(input);
        if let Ok(position) = Position::from_fen(&text) {
            if let Ok(answer) = probe.probe(&position) {
                assert!(answer.score.is_legal());
            }
            let _ = probe.moves(&position);
        }
    }
    if let Ok(table) = probe.table(&Material::parse(name).unwrap())
        && table.reader().len() <= 1 << 17
    {
        let _ = table.stats();
    }
}

fn write_over(path: &Path, bytes: &[u8]) {
    let _ = fs::remove_file(path);
    fs::write(path, bytes).unwrap();
}
