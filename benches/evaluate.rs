//! One evaluation of a race: random positions of the table that
//! `ENDTABLE_BENCH_TABLE` names (such as the 10-point one), through a memory
//! map without a cache, and from cached blocks.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use endtable::bearoff::{Board, Database, Tables};
use endtable::numbering::{Multiset, Numbering};
use endtable::table::OpenOptions;

/// Boards that are evaluated in turn: many more than a processor's cache has
/// room for records of, and few enough for a block cache.
const MANY: usize = 1 << 20;
const FEW: usize = 1 << 10;

fn boards(side: &Multiset, count: usize) -> Vec<Board> {
    let mut state = 1u64;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let number = 1 + (state >> 20) % (side.len() - 1);
        let mut counts = [0; 25];
        side.unrank(number, &mut counts[..side.points()])
            .expect("the number is in range");
        counts
    };
    (0..count)
        .map(|_| Board::new(next(), next()).expect("a race"))
        .collect()
}

fn evaluate(c: &mut Criterion) {
    let Some(path) = std::env::var_os("ENDTABLE_BENCH_TABLE") else {
        eprintln!("set ENDTABLE_BENCH_TABLE to a one-sided table");
        return;
    };
    let path = Path::new(&path);
    let open = |cache: usize, map: bool| {
        let database = Database::open_with(path, |path| {
            let options = OpenOptions::new().cache_bytes(cache);
            // SAFETY: nobody changes the table during the benchmark.
            #[allow(unsafe_code)]
            match map {
                true => unsafe { options.map(path) },
                false => options.open(path),
            }
        });
        let database = database.expect("the table opens");
        let params = database.schema().expect("a schema").numbering.params;
        let mut tables = Tables::new();
        tables.add(path, database).expect("a one-sided table");
        let side = Multiset::from_params(&params).expect("a one-sided table");
        (tables, side)
    };
    for (name, cache, map, count) in [
        ("mapped, random over the whole table", 0, true, MANY),
        ("mapped, random over 1024 boards", 0, true, FEW),
        (
            "cached blocks, random over 1024 boards",
            1 << 28,
            false,
            FEW,
        ),
    ] {
        let (tables, side) = open(cache, map);
        let boards = boards(&side, count);
        for board in &boards {
            tables.evaluate(board).expect("covered");
        }
        let mut next = 0;
        c.bench_function(&format!("evaluate/{name}"), |b| {
            b.iter(|| {
                next = (next + 1) % boards.len();
                black_box(tables.evaluate(black_box(&boards[next])).map(|e| e.win))
            })
        });
    }
}

criterion_group!(benches, evaluate);
criterion_main!(benches);
