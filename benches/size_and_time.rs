//! Size against look-up time of every codec and block size, as a table and as a
//! plot: `cargo bench --bench size_and_time -- os10.bd` writes
//! `target/size_and_time.svg`. Without a file it takes 7 points.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use endtable::bearoff::Database;
use endtable::bearoff::schema::Packing;
use endtable::table::{OpenOptions, WriteOptions, write};

/// Codecs, their block sizes and colours.
const SERIES: [(&str, &[u32], &str); 5] = [
    ("stored", &[64], "#777777"),
    ("packed", &[16, 24, 40, 64, 128], "#1f77b4"),
    ("lz4", &[16, 64, 256], "#2ca02c"),
    ("zstd", &[16, 64, 256], "#d62728"),
    ("small", &[6, 8, 10, 12, 16, 24, 32, 48], "#9467bd"),
];
/// Look-ups that are timed together, and how often: the least mean counts, as
/// other work on the machine only adds.
const TOGETHER: usize = 500;
const ROUNDS: usize = 400;

struct Point {
    codec: usize,
    block: u32,
    bytes_a_position: f64,
    nanoseconds: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let path = match std::env::args().skip(1).find(|a| !a.starts_with('-')) {
        Some(path) => PathBuf::from(path),
        None => made(folder.path())?,
    };
    let input = Database::open(&path)?;
    let out = folder.path().join("table.etb");
    let mut points = Vec::new();
    println!("codec    block  bytes/position  look-up ns");
    for (codec, (name, blocks, _)) in SERIES.iter().enumerate() {
        for &block in *blocks {
            let packing = Packing {
                block_positions: Some(block),
                ..Packing::codec(name)
            };
            let schema = packing.apply(input.schema()?);
            let options = WriteOptions {
                force: true,
                ..WriteOptions::default()
            };
            let written = write(input.records(), schema, &out, &options)?;
            let point = Point {
                codec,
                block,
                bytes_a_position: written.file_bytes as f64 / written.positions as f64,
                nanoseconds: look_up_time(&out)?,
            };
            println!(
                "{name:8} {block:5}  {:14.3}  {:10.0}",
                point.bytes_a_position, point.nanoseconds
            );
            points.push(point);
        }
    }
    let plot = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/size_and_time.svg");
    std::fs::write(&plot, svg(&points)?)?;
    println!("{}", plot.display());
    Ok(())
}

/// A table of 7 points, made by the program.
fn made(folder: &Path) -> Result<PathBuf, Box<dyn std::error::Error>> {
    let path = folder.join("os7.etb");
    let status = std::process::Command::new(env!("CARGO_BIN_EXE_endtable"))
        .args(["make", "bearoff", "7", "--quiet", "-o"])
        .arg(&path)
        .status()?;
    if status.success() {
        Ok(path)
    } else {
        Err("the table of 7 points was not made".into())
    }
}

/// Mean time of an uncached look-up of all columns of a random position.
fn look_up_time(path: &Path) -> Result<f64, Box<dyn std::error::Error>> {
    // The file is in the page cache, having just been written, and in memory here.
    let source = endtable::source::MemorySource::new(std::fs::read(path)?);
    let reader = OpenOptions::new()
        .cache_bytes(0)
        .open_source(std::sync::Arc::new(source))?;
    // Each block's checksum is compared before its first use: here.
    for chunk in reader.chunks() {
        chunk?;
    }
    let mut record = vec![0; reader.width()];
    let mut random = 0x9e37_79b9_7f4a_7c15u64;
    let mut least = f64::MAX;
    for _ in 0..ROUNDS {
        let numbers: Vec<u64> = (0..TOGETHER)
            .map(|_| {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                random % reader.len()
            })
            .collect();
        let start = Instant::now();
        for &number in &numbers {
            reader.get(number, &mut record)?;
        }
        least = least.min(start.elapsed().as_nanos() as f64 / TOGETHER as f64);
    }
    Ok(least)
}

/// Both axes are logarithmic.
fn svg(points: &[Point]) -> Result<String, std::fmt::Error> {
    const WIDTH: f64 = 720.0;
    const HEIGHT: f64 = 440.0;
    const MARGIN: f64 = 60.0;
    let bounds = |value: fn(&Point) -> f64| {
        let least = points.iter().map(value).fold(f64::MAX, f64::min);
        let most = points.iter().map(value).fold(0.0, f64::max);
        ((least / 1.3).ln(), (most * 1.3).ln())
    };
    let (left, right) = bounds(|p| p.nanoseconds);
    let (low, high) = bounds(|p| p.bytes_a_position);
    let x = |ns: f64| MARGIN + (ns.ln() - left) / (right - left) * (WIDTH - 2.0 * MARGIN);
    let y =
        |bytes: f64| HEIGHT - MARGIN - (bytes.ln() - low) / (high - low) * (HEIGHT - 2.0 * MARGIN);
    let mut out = String::new();
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">"#
    )?;
    writeln!(
        out,
        r#"<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>"#
    )?;
    let bottom = HEIGHT - MARGIN;
    for step in 0..=18 {
        // 1, 2, 5, 10, 20, 50 …
        let tick = [1.0, 2.0, 5.0][step % 3] * 10f64.powi(step as i32 / 3);
        if (left..right).contains(&tick.ln()) {
            let at = x(tick);
            writeln!(
                out,
                r##"<path d="M{at:.1} {MARGIN}V{bottom}" stroke="#dddddd"/>"##
            )?;
            writeln!(
                out,
                r#"<text x="{at:.1}" y="{}" text-anchor="middle">{tick}</text>"#,
                bottom + 16.0
            )?;
        }
        if (low..high).contains(&tick.ln()) {
            let at = y(tick);
            writeln!(
                out,
                r##"<path d="M{MARGIN} {at:.1}H{}" stroke="#dddddd"/>"##,
                WIDTH - MARGIN
            )?;
            writeln!(
                out,
                r#"<text x="{}" y="{:.1}" text-anchor="end">{tick}</text>"#,
                MARGIN - 6.0,
                at + 4.0
            )?;
        }
    }
    let middle = WIDTH / 2.0;
    writeln!(
        out,
        r#"<text x="{middle}" y="{}" text-anchor="middle">uncached random look-up, ns</text>"#,
        HEIGHT - 18.0
    )?;
    writeln!(
        out,
        r#"<text x="{MARGIN}" y="{}">bytes a position</text>"#,
        MARGIN - 14.0
    )?;
    for (codec, (name, _, colour)) in SERIES.iter().enumerate() {
        let own: Vec<&Point> = points.iter().filter(|p| p.codec == codec).collect();
        let line: Vec<String> = own
            .iter()
            .map(|p| format!("{:.1},{:.1}", x(p.nanoseconds), y(p.bytes_a_position)))
            .collect();
        writeln!(
            out,
            r#"<polyline points="{}" fill="none" stroke="{colour}"/>"#,
            line.join(" ")
        )?;
        for point in &own {
            let (cx, cy) = (x(point.nanoseconds), y(point.bytes_a_position));
            writeln!(
                out,
                r#"<circle cx="{cx:.1}" cy="{cy:.1}" r="3.5" fill="{colour}"/>"#
            )?;
            writeln!(
                out,
                r#"<text x="{:.1}" y="{:.1}" font-size="10">{}</text>"#,
                cx + 5.0,
                cy - 5.0,
                point.block
            )?;
        }
        if let Some(first) = own.first() {
            let (tx, ty) = (x(first.nanoseconds), y(first.bytes_a_position) - 18.0);
            writeln!(
                out,
                r#"<text x="{tx:.1}" y="{ty:.1}" fill="{colour}" font-weight="bold">{name}</text>"#
            )?;
        }
    }
    writeln!(out, "</svg>")?;
    Ok(out)
}
