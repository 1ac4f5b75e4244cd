//! Look-ups, decoding and encoding of the 7-point one-sided database with each
//! codec: `cargo bench --bench table`.

use std::hint::black_box;
use std::path::PathBuf;
use std::sync::Arc;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use endtable::bearoff::gnubg::Kind;
use endtable::bearoff::schema::{Packing, schema};
use endtable::source::MemorySource;
use endtable::table::{OpenOptions, Reader, Records, WriteOptions, write};

/// Codecs that suit bearoffs.
const CODECS: [&str; 5] = ["stored", "packed", "lz4", "zstd", "small"];
const KIND: Kind = Kind::OneSided {
    points: 7,
    chequers: 15,
    gammon: true,
    compressed: true,
};

/// The whole database in memory.
struct Database {
    values: Vec<u32>,
    width: usize,
}

impl Records for Database {
    fn len(&self) -> u64 {
        (self.values.len() / self.width) as u64
    }
    fn width(&self) -> usize {
        self.width
    }
    fn read(&self, first: u64, out: &mut [u32]) -> endtable::Result<()> {
        let start = first as usize * self.width;
        out.copy_from_slice(&self.values[start..start + out.len()]);
        Ok(())
    }
}

/// Makes the database with the program, which is the way that users have.
fn database(folder: &std::path::Path) -> Database {
    let path = folder.join("os7.etb");
    let made = std::process::Command::new(env!("CARGO_BIN_EXE_endtable"))
        .args(["make", "bearoff", "7", "--quiet", "-o"])
        .arg(&path)
        .status()
        .expect("the program runs");
    assert!(made.success());
    let reader = Reader::open(&path).expect("the table opens");
    let mut values = vec![0; reader.len() as usize * reader.width()];
    reader.read(0, &mut values).expect("the table is read");
    Database {
        values,
        width: reader.width(),
    }
}

fn benches(c: &mut Criterion) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let database = database(folder.path());
    let raw_bytes = database.values.len() as u64 * 2;
    let table = |codec: &str| -> PathBuf {
        let path = folder.path().join(format!("{codec}.etb"));
        let schema = schema(KIND, &Packing::codec(codec)).expect("a schema");
        write(
            &database,
            schema,
            &path,
            &WriteOptions {
                force: true,
                progress: None,
            },
        )
        .expect("a table is written");
        path
    };
    let mut group = c.benchmark_group("table");
    group.sample_size(10);
    for codec in CODECS {
        let bytes: Arc<[u8]> = std::fs::read(table(codec))
            .expect("the table is read")
            .into();
        let open = |cache| {
            let source = Arc::new(MemorySource::new(Arc::clone(&bytes)));
            OpenOptions::new()
                .cache_bytes(cache)
                .open_source(source)
                .expect("the table opens")
        };
        let (plain, cached) = (open(0), open(256 << 20));
        let mut record = vec![0; plain.width()];
        let mut state = 1u64;
        let mut number = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 16) % 170_544
        };
        group.throughput(Throughput::Elements(1));
        group.bench_function(format!("{codec}/random"), |b| {
            b.iter(|| {
                plain
                    .get(number(), black_box(&mut record))
                    .expect("a record")
            });
        });
        for n in 0..cached.len() {
            cached.get(n, &mut record).expect("a record");
        }
        group.bench_function(format!("{codec}/cached"), |b| {
            b.iter(|| {
                cached
                    .get(number(), black_box(&mut record))
                    .expect("a record")
            });
        });
        group.throughput(Throughput::Bytes(raw_bytes));
        let mut all = vec![0; database.values.len()];
        group.bench_function(format!("{codec}/decode"), |b| {
            b.iter(|| plain.read(0, black_box(&mut all)).expect("all records"));
        });
        group.bench_function(format!("{codec}/encode"), |b| {
            b.iter_batched(|| (), |()| table(codec), BatchSize::PerIteration);
        });
    }
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
