//! Many threads on the same tables and a cache that is always full: every
//! answer is what one thread finds.

use std::sync::Arc;
use std::thread;

use endtable::bearoff::generate::{Form, Keep, OneSided};
use endtable::bearoff::schema::Packing;
use endtable::bearoff::{Board, Tables};
use endtable::table::{BlockCache, OpenOptions, WriteOptions, write};

const THREADS: u64 = 4;
const ROUNDS: u64 = 1_000;

fn next(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state >> 20
}

#[test]
fn threads_find_what_one_thread_finds() {
    let folder = tempfile::tempdir().unwrap();
    let generator = OneSided::new(4, 15, true, Form::Rounded).unwrap();
    let records = generator.generate(&Keep::Memory, &|_| Ok(())).unwrap();
    let paths: Vec<_> = ["lz4", "packed"]
        .map(|codec| {
            let path = folder.path().join(codec);
            let schema = generator.schema(&Packing::codec(codec)).unwrap();
            write(&records, schema, &path, &WriteOptions::default()).unwrap();
            path
        })
        .into();
    // Room for some blocks only, shared by both tables.
    let cache = Arc::new(BlockCache::new(200_000));
    let readers: Vec<_> = paths
        .iter()
        .map(|path| OpenOptions::new().cache(cache.clone()).open(path).unwrap())
        .collect();
    let mut tables = Tables::new();
    tables.open_cached(&paths[0], &cache).unwrap();

    let work = &|seed: u64| {
        let (mut state, mut sum) = (seed, 0.0);
        for _ in 0..ROUNDS {
            for reader in &readers {
                let mut record = vec![0; reader.width()];
                let number = next(&mut state) % reader.len();
                reader.get(number, &mut record).unwrap();
                let total: u32 = record[..32].iter().sum();
                assert_eq!(total, 65_535, "position {number}");
                sum += f64::from(record[3]);
            }
            let mut sides = [[0; 25]; 2];
            for side in &mut sides {
                (0..=next(&mut state) % 15).for_each(|_| side[next(&mut state) as usize % 4] += 1);
            }
            let board = Board::new(sides[0], sides[1]).unwrap();
            sum += tables.evaluate(&board).unwrap().win;
        }
        sum
    };
    let alone: Vec<f64> = (0..THREADS).map(work).collect();
    let together: Vec<f64> = thread::scope(|scope| {
        let running: Vec<_> = (0..THREADS)
            .map(|seed| scope.spawn(move || work(seed)))
            .collect();
        running
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    assert_eq!(alone, together);
    let seen = cache.statistics();
    assert!(
        seen.bytes <= 200_000 && seen.hits > 0 && seen.misses > 0,
        "{seen:?}"
    );
}
