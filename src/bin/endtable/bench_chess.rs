//! `endtable bench DIR`: how fast the chess tables of a folder answer random
//! legal positions.

use std::hint::black_box;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use endtable::chess::{Material, Position, Probe, ProbeOptions, Side};
use endtable::{Error, Result};
use serde_json::json;

use crate::bench::{Random, Report, clock_cost, put, put_times};
use crate::common::grouped;

/// Positions that are asked again and again where blocks are to be cached.
const WARM: usize = 256;

/// Probes of random legal positions with the greatest number of men in the
/// folder, each of its endings and each side to move as often.
pub(crate) fn measure(folder: &Path, lookups: u64) -> Result<Report> {
    // SAFETY: a table is never changed in place: the writer moves whole files
    // into place, and the program's help tells users to do the same.
    #[allow(unsafe_code)]
    let open = |cache| unsafe { ProbeOptions::new().cache_bytes(cache).map(folder) };
    let probe = open(0);
    let endings = endings(folder)?;
    let positions = positions(&probe, &endings, lookups.min(100_000) as usize)?;
    let mut report = Report::new();
    report.insert("endings".to_owned(), json!(endings.len()));
    report.insert("positions".to_owned(), json!(positions.len()));
    let bytes = |ending: &Material| Ok(probe.table(ending)?.reader().file_bytes());
    let bytes = endings.iter().map(bytes).sum::<Result<u64>>()?;
    report.insert("file_bytes".to_owned(), json!(bytes));

    // A first round opens tables, brings them into the page cache and has each
    // block's checksum compared; it also tells which side has to be searched.
    let (mut stored, mut searched) = (Vec::new(), Vec::new());
    for position in positions {
        match probe.probe(&position)?.searched {
            true => searched.push(position),
            false => stored.push(position),
        }
    }
    for (name, positions) in [("lookup", &stored), ("searched", &searched)] {
        if !positions.is_empty() {
            put_times(&mut report, name, times(&probe, positions)?);
        }
    }
    let warm = open(1 << 30);
    for (name, positions) in [("cached", &stored), ("searched_cached", &searched)] {
        let few = &positions[..positions.len().min(WARM)];
        if few.is_empty() {
            continue;
        }
        times(&warm, few)?;
        let again: Vec<Position> = few.iter().cycle().take(positions.len()).copied().collect();
        put_times(&mut report, name, times(&warm, &again)?);
    }
    put(
        &mut report,
        "stored_percent",
        100.0 * stored.len() as f64 / (stored.len() + searched.len()) as f64,
    );
    Ok(report)
}

/// The endings of most men that the folder has tables of, by name.
fn endings(folder: &Path) -> Result<Vec<Material>> {
    let failed = |e| Error::io("list the folder", e).in_file(folder);
    let mut endings = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(failed)? {
        let path: PathBuf = entry.map_err(failed)?.path();
        let name = path.file_stem().and_then(|s| s.to_str());
        if path.extension().is_some_and(|e| e == "etb")
            && let Some(Ok(ending)) = name.map(Material::parse)
        {
            endings.push(ending);
        }
    }
    let most = endings.iter().map(Material::men).max().unwrap_or(0);
    endings.retain(|ending| ending.men() == most);
    endings.sort();
    match endings.is_empty() {
        true => Err(Error::invalid(format!(
            "{}: no chess tables there; `endtable make chess --men 4 -o DIR` makes some",
            folder.display()
        ))),
        false => Ok(endings),
    }
}

/// Legal positions, drawn from numbers and sides to move that are all alike.
fn positions(probe: &Probe, endings: &[Material], count: usize) -> Result<Vec<Position>> {
    let mut random = Random::new(1);
    let mut out = Vec::with_capacity(count);
    while out.len() < count {
        let ending = &endings[random.below(endings.len() as u64) as usize];
        let table = probe.table(ending)?;
        let side = Side::BOTH[random.below(2) as usize];
        // Nearly every draw of some is one of a legal position.
        for _ in 0..1000 {
            let number = random.below(table.reader().len());
            let own = |p: &_| table.number(p) == Some(number);
            let placement = table.placement(number).filter(own);
            let legal = placement.and_then(|p| Position::from_placement(table.men(), &p, side));
            if let Some(position) = legal {
                out.push(position);
                break;
            }
        }
    }
    Ok(out)
}

/// Times of probes one by one, less what taking the time costs, in ns and in
/// order.
fn times(probe: &Probe, positions: &[Position]) -> Result<Vec<f64>> {
    let clock = clock_cost();
    let mut times = Vec::with_capacity(positions.len());
    for position in positions {
        let start = Instant::now();
        black_box(probe.probe(black_box(position))?);
        times.push(start.elapsed().saturating_sub(clock).as_nanos() as f64);
    }
    times.sort_by(f64::total_cmp);
    Ok(times)
}

pub(crate) fn print(folder: &Path, report: &Report) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    let number = |key: &str| report.get(key).and_then(serde_json::Value::as_f64);
    let count = |key: &str| grouped(number(key).unwrap_or(0.0) as u64);
    writeln!(
        out,
        "{}: {} endings of {} bytes, {} random legal positions, {:.1} % with the side to move stored",
        folder.display(),
        count("endings"),
        count("file_bytes"),
        count("positions"),
        number("stored_percent").unwrap_or(0.0),
    )?;
    for (name, key) in [
        ("stored side, nothing decoded", "lookup"),
        ("stored side, blocks in the cache", "cached"),
        ("other side, nothing decoded", "searched"),
        ("other side, blocks in the cache", "searched_cached"),
    ] {
        let of = |what: &str| number(&format!("{key}_{what}_ns"));
        if let (Some(median), Some(mean), Some(most)) = (of("p50"), of("mean"), of("p99")) {
            writeln!(
                out,
                "  {name:<36}median {median:>9.1} ns, mean {mean:>9.1}, 99th percentile {most:>9.1}"
            )?;
        }
    }
    Ok(())
}
