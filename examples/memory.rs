//! A million random look-ups through a small cache, and the memory they took:
//! `cargo run --release --example memory TABLE [CACHE_BYTES]`.

use endtable::table::OpenOptions;

fn main() -> endtable::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let Some(path) = arguments.next() else {
        eprintln!("usage: memory TABLE [CACHE_BYTES]");
        std::process::exit(2);
    };
    let cache = arguments
        .next()
        .and_then(|text| text.parse().ok())
        .unwrap_or(16 << 20);
    let table = OpenOptions::new().cache_bytes(cache).open(&path)?;
    let mut record = vec![0; table.width()];
    let mut state = 1u64;
    for _ in 0..1_000_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        table.get((state >> 16) % table.len(), &mut record)?;
    }
    println!("cache: {:?}", table.cache_statistics());
    // Linux tells the most memory that a process has held.
    if let Ok(status) = std::fs::read_to_string("/proc/self/status") {
        for line in status.lines().filter(|line| line.starts_with("VmHWM")) {
            println!("{line}");
        }
    }
    Ok(())
}
