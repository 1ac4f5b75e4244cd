//! `endtable bench`: how fast a table answers.

use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use endtable::bearoff::Database;
use endtable::table::{BlockCache, OpenOptions, Reader, Records};
use endtable::{Error, Result};
use serde_json::{Map, json};

use crate::bench_chess;
use crate::bench_memory::dependent_read;
use crate::common::{Outcome, Ran, bytes_of, grouped, map, print_json};

/// Positions of a page, the unit in which skewed look-ups are drawn.
const PAGE: u64 = 64;
/// Exponent of the skew: the page of rank k is asked for with a chance
/// proportional to k^-1.2.
const SKEW: f64 = 1.2;
/// Skewed look-ups that the cache sees before those that are measured, for each
/// of them.
const WARMING: u64 = 4;
/// Pages that are looked up again and again where blocks are to be cached.
const WARM_PAGES: u64 = 256;
/// Look-ups of a batch.
const BATCH: usize = 1024;
/// Look-ups that are timed one by one for the percentiles.
const TIMED: usize = 100_000;

/// Measure look-ups: uniform random, cached, skewed, sequential
///
/// One thread, unless --threads says more; the file should be in the page cache, which a first
/// run sees to. A gnubg database is read record by record, as gnubg itself does. Of a folder
/// with chess tables random legal positions are probed, those with the most men that it has
/// tables for. A look-up that waits for memory is to be compared with the read of
/// memory that is measured beside it.
#[derive(Args)]
pub(crate) struct Arguments {
    /// Tables, gnubg databases, or folders of chess tables; the first is what the others are compared with
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Random look-ups of each kind
    #[arg(long, default_value_t = 1_000_000, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    lookups: u64,
    /// Look only this column up
    #[arg(long, value_name = "NAME")]
    column: Option<String>,
    /// Budget of the cache for skewed look-ups
    #[arg(long, default_value = "64M", value_name = "BYTES", value_parser = bytes_of)]
    cache: u64,
    /// Read with positioned reads instead of a memory map
    #[arg(long)]
    file_source: bool,
    /// Threads that make uniform random look-ups at the same time
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Print one JSON object (an array for several files)
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Ran {
    let mut reports = Vec::new();
    for path in &arguments.files {
        if path.is_dir() {
            let report = bench_chess::measure(path, arguments.lookups)?;
            if !arguments.json {
                bench_chess::print(path, &report)?;
            }
            reports.push(report);
            continue;
        }
        let report = measure(arguments, path)?;
        if !arguments.json {
            print(path, &report, reports.first())?;
        }
        reports.push(report);
    }
    if arguments.json {
        let mut objects: Vec<_> = reports.into_iter().map(serde_json::Value::Object).collect();
        match objects.len() {
            1 => print_json(&objects.remove(0))?,
            _ => print_json(&serde_json::Value::Array(objects))?,
        }
    }
    Ok(Outcome::Done)
}

pub(crate) type Report = Map<String, serde_json::Value>;

/// Adds a number, rounded to a tenth.
pub(crate) fn put(report: &mut Report, key: &str, value: f64) {
    report.insert(key.to_owned(), json!((value * 10.0).round() / 10.0));
}

/// Adds mean, median and 99th percentile of times that are in order.
pub(crate) fn put_times(report: &mut Report, name: &str, times: Vec<f64>) {
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    put(report, &format!("{name}_mean_ns"), mean);
    put(report, &format!("{name}_p50_ns"), times[times.len() / 2]);
    let rare = times[times.len() * 99 / 100];
    put(report, &format!("{name}_p99_ns"), rare);
}

/// What taking the time costs.
pub(crate) fn clock_cost() -> Duration {
    let cost = |_| Instant::now().elapsed();
    (0..1000).map(cost).min().unwrap_or(Duration::ZERO)
}

/// One file, opened as often as there are caches to measure.
struct Subject<'a> {
    arguments: &'a Arguments,
    path: &'a Path,
}

impl Subject<'_> {
    fn open(&self, cache: Arc<BlockCache>) -> Result<Database> {
        Database::open_with(self.path, |path| {
            let options = OpenOptions::new().cache(cache);
            match self.arguments.file_source {
                true => options.open(path),
                false => map(path, options),
            }
        })
    }
}

/// What one look-up reads.
#[derive(Clone, Copy)]
enum Target<'a> {
    All(&'a Reader),
    Column(&'a Reader, usize),
    Foreign(&'a dyn Records),
}

impl<'a> Target<'a> {
    fn new(database: &'a Database, column: Option<&str>) -> Result<Self> {
        match (database, column) {
            (Database::Table(reader), None) => Ok(Target::All(reader)),
            (Database::Table(reader), Some(name)) => match reader.schema().column(name) {
                Some(column) => Ok(Target::Column(reader, column)),
                None => Err(Error::invalid(format!(
                    "the table has no column '{name}'; `endtable info` lists them"
                ))),
            },
            (Database::Gnubg(file), _) => Ok(Target::Foreign(&**file)),
        }
    }

    fn width(self) -> usize {
        match self {
            Target::All(reader) => reader.width(),
            Target::Column(reader, column) => reader.schema().columns[column].width(),
            Target::Foreign(records) => records.width(),
        }
    }

    #[inline]
    fn look_up(self, number: u64, out: &mut [u32]) -> Result<()> {
        match self {
            Target::All(reader) => reader.get(number, out),
            Target::Column(reader, column) => reader.get_column(column, number, out),
            Target::Foreign(records) => records.read(number, out),
        }
    }

    /// Mean time of these look-ups, in ns.
    fn mean(self, numbers: &[u64]) -> Result<f64> {
        // A loop for each target: what is timed is look-ups alone.
        let mut out = vec![0; self.width()];
        match self {
            Target::All(reader) => mean(numbers, &mut out, |n, out| reader.get(n, out)),
            Target::Column(reader, column) => mean(numbers, &mut out, |n, out| {
                reader.get_column(column, n, out)
            }),
            Target::Foreign(records) => mean(numbers, &mut out, |n, out| records.read(n, out)),
        }
    }

    /// Mean time of these look-ups in batches of 1,024, in ns; `None` where
    /// there are no batches of this.
    fn batch_mean(self, numbers: &[u64]) -> Result<Option<f64>> {
        let Target::All(reader) = self else {
            return Ok(None);
        };
        let mut out = vec![0; BATCH * self.width()];
        let start = Instant::now();
        for batch in numbers.chunks(BATCH) {
            let out = &mut out[..batch.len() * reader.width()];
            reader.get_batch(batch, out)?;
            black_box(out);
        }
        Ok(Some(
            start.elapsed().as_nanos() as f64 / numbers.len() as f64,
        ))
    }

    /// Times of these look-ups, each less what taking the time costs, in ns
    /// and in order.
    fn times(self, numbers: &[u64]) -> Result<Vec<f64>> {
        let clock = clock_cost();
        let mut out = vec![0; self.width()];
        let mut times = Vec::with_capacity(numbers.len());
        for &number in numbers {
            let start = Instant::now();
            self.look_up(number, &mut out)?;
            times.push(start.elapsed().saturating_sub(clock).as_nanos() as f64);
            black_box(&mut out);
        }
        times.sort_by(f64::total_cmp);
        Ok(times)
    }
}

/// Mean time of `look_up` over `numbers`, in ns.
fn mean(
    numbers: &[u64],
    out: &mut [u32],
    look_up: impl Fn(u64, &mut [u32]) -> Result<()>,
) -> Result<f64> {
    let start = Instant::now();
    for &number in numbers {
        look_up(number, out)?;
        black_box(&mut *out);
    }
    Ok(start.elapsed().as_nanos() as f64 / numbers.len() as f64)
}

fn measure(arguments: &Arguments, path: &Path) -> Result<Report> {
    let subject = Subject { arguments, path };
    let column = arguments.column.as_deref();
    let mut random = Random::new(1);
    let mut report = Report::new();
    let mut put = |key: &str, value: f64| put(&mut report, key, value);

    let opened = Instant::now();
    let database = subject.open(Arc::new(BlockCache::new(0)))?;
    put("open_ms", opened.elapsed().as_secs_f64() * 1e3);
    let positions = database.records().len();
    if positions == 0 {
        return Err(Error::invalid(format!(
            "{}: there are no positions to look up",
            path.display()
        )));
    }
    let target = Target::new(&database, column)?;
    let numbers: Vec<u64> = (0..arguments.lookups)
        .map(|_| random.below(positions))
        .collect();
    let timed = &numbers[..numbers.len().min(TIMED)];

    // Uniform random with nothing decoded before. A first round brings the
    // file into the page cache and has each block's checksum compared.
    target.mean(&numbers)?;
    put("lookup_mean_ns", target.mean(&numbers)?);
    // At once, since neighbours on the machine change what memory costs.
    put(
        "memory_read_ns",
        dependent_read(&mut Random::new(2), database.file_bytes()),
    );
    let times = target.times(timed)?;
    put("lookup_p50_ns", times[times.len() / 2]);
    put("lookup_p99_ns", times[times.len() * 99 / 100]);
    if let Some(mean) = target.batch_mean(&numbers)? {
        put("batch_mean_ns", mean);
    }
    if arguments.threads > 1 {
        put("lookups_per_s", throughput(target, &numbers, 1)?);
        put(
            "lookups_per_s_threads",
            throughput(target, &numbers, usize::from(arguments.threads))?,
        );
    }
    put(
        "sequential_mb_per_s",
        sequential(database.records(), &database)?,
    );

    // Random among few pages, all of them in a cache that is large enough.
    let database = subject.open(Arc::new(BlockCache::new(1 << 30)))?;
    let target = Target::new(&database, column)?;
    let pages = positions.div_ceil(PAGE);
    let warm: Vec<u64> = (0..WARM_PAGES).map(|_| random.below(pages)).collect();
    let cached: Vec<u64> = (0..arguments.lookups)
        .map(|_| {
            let page = warm[random.below(WARM_PAGES) as usize];
            (page * PAGE + random.below(PAGE)).min(positions - 1)
        })
        .collect();
    target.mean(&cached)?;
    put("cached_mean_ns", target.mean(&cached)?);
    let times = target.times(&cached[..cached.len().min(TIMED)])?;
    put("cached_p50_ns", times[times.len() / 2]);
    put("cached_p99_ns", times[times.len() * 99 / 100]);

    // Skewed, through a cache of the given budget that is in its stride.
    let cache = Arc::new(BlockCache::new(arguments.cache as usize));
    let database = subject.open(Arc::clone(&cache))?;
    let target = Target::new(&database, column)?;
    let skewed = skewed(&mut random, positions, (1 + WARMING) * arguments.lookups);
    let (before, measured) = skewed.split_at((WARMING * arguments.lookups) as usize);
    target.mean(before)?;
    let held = cache.statistics();
    put("skewed_mean_ns", target.mean(measured)?);
    let seen = cache.statistics();
    let (hits, misses) = (seen.hits - held.hits, seen.misses - held.misses);
    if hits + misses > 0 {
        put(
            "skewed_hit_percent",
            100.0 * hits as f64 / (hits + misses) as f64,
        );
    }
    report.insert("file_bytes".to_owned(), json!(database.file_bytes()));
    report.insert("positions".to_owned(), json!(positions));
    report.insert(
        "bytes_per_position".to_owned(),
        json!(database.file_bytes() as f64 / positions as f64),
    );
    Ok(report)
}

/// Look-ups a second of `threads` threads that share the reader.
fn throughput(target: Target<'_>, numbers: &[u64], threads: usize) -> Result<f64> {
    let start = Instant::now();
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|i| {
                // Each thread begins elsewhere in the same list.
                let turned = numbers.len() / threads * i;
                scope.spawn(move || {
                    target.mean(&numbers[turned..])?;
                    target.mean(&numbers[..turned.max(1)])
                })
            })
            .collect();
        for worker in workers {
            worker
                .join()
                .map_err(|_| Error::invalid("a thread of the benchmark ended early"))??;
        }
        Ok::<(), Error>(())
    })?;
    Ok((numbers.len() * threads) as f64 / start.elapsed().as_secs_f64())
}

/// Raw bytes of all records a second, in MB, read in number order.
fn sequential(records: &dyn Records, database: &Database) -> Result<f64> {
    let record_bytes = database.schema()?.record_bytes();
    let step = 8192;
    let mut values = vec![0; step * records.width()];
    let start = Instant::now();
    let mut next = 0;
    while next < records.len() {
        let count = (records.len() - next).min(step as u64) as usize;
        records.read(next, &mut values[..count * records.width()])?;
        black_box(&mut values);
        next += count as u64;
    }
    Ok(records.len() as f64 * record_bytes as f64 / 1e6 / start.elapsed().as_secs_f64())
}

/// Numbers whose pages are drawn by [`SKEW`] over a random order of pages.
fn skewed(random: &mut Random, positions: u64, count: u64) -> Vec<u64> {
    let pages = positions.div_ceil(PAGE);
    let mut order: Vec<u64> = (0..pages).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i as u64 + 1) as usize);
    }
    let mut sums = Vec::with_capacity(order.len());
    let mut sum = 0.0;
    for rank in 1..=order.len() {
        sum += (rank as f64).powf(-SKEW);
        sums.push(sum);
    }
    (0..count)
        .map(|_| {
            let drawn = random.unit() * sum;
            let page = order[sums.partition_point(|&s| s < drawn).min(order.len() - 1)];
            (page * PAGE + random.below(PAGE)).min(positions - 1)
        })
        .collect()
}

fn print(path: &Path, report: &Report, first: Option<&Report>) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let number = |report: &Report, key: &str| report.get(key).and_then(serde_json::Value::as_f64);
    writeln!(
        out,
        "{}: {} bytes, {:.3} a position",
        path.display(),
        grouped(number(report, "file_bytes").unwrap_or(0.0) as u64),
        number(report, "bytes_per_position").unwrap_or(0.0)
    )?;
    let rows = [
        ("open", "open_ms", "ms"),
        (
            "uniform random, nothing decoded: mean",
            "lookup_mean_ns",
            "ns",
        ),
        (
            "  one dependent read of as much memory",
            "memory_read_ns",
            "ns",
        ),
        ("  median, one by one", "lookup_p50_ns", "ns"),
        ("  99th percentile, one by one", "lookup_p99_ns", "ns"),
        ("  in batches of 1,024: mean", "batch_mean_ns", "ns"),
        ("  one thread", "lookups_per_s", "look-ups/s"),
        ("  all threads", "lookups_per_s_threads", "look-ups/s"),
        ("blocks in the cache: mean", "cached_mean_ns", "ns"),
        ("  median, one by one", "cached_p50_ns", "ns"),
        ("  99th percentile, one by one", "cached_p99_ns", "ns"),
        ("skewed: mean", "skewed_mean_ns", "ns"),
        ("  found in the cache", "skewed_hit_percent", "%"),
        ("sequential, raw records", "sequential_mb_per_s", "MB/s"),
    ];
    for (name, key, unit) in rows {
        let Some(value) = number(report, key) else {
            continue;
        };
        write!(out, "  {name:<40}{value:>12.1} {unit}")?;
        if let Some(other) = first
            .and_then(|first| number(first, key))
            .filter(|other| *other > 0.0)
        {
            write!(out, "  ({:.2} of the first)", value / other)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// SplitMix64: a fixed sequence of look-ups for a fixed seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Random(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A number less than `n`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u64
    }

    /// A number from 0 to 1.
    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}
