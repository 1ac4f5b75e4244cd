//! Every fuzz target over its committed seeds, and over damaged ones: what
//! `cargo fuzz` runs, in the ordinary tests.

#[path = "../fuzz/src/small.rs"]
mod small;
#[path = "../fuzz/src/targets.rs"]
mod targets;

use std::fs;
use std::path::{Path, PathBuf};

fn seeds(target: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/seeds")
        .join(target);
    let mut out: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    out.sort();
    assert!(!out.is_empty(), "{target} has no seeds");
    out
}

#[test]
fn no_seed_is_a_finding() {
    let alone: (&str, fn(&[u8])) = ("small_decode", small::small_decode);
    for (name, target) in targets::TARGETS.into_iter().chain([alone]) {
        for (i, (_, seed)) in seeds(name).iter().enumerate() {
            target(seed);
            // A few damaged ones, so that this finds something by itself.
            for round in 0..4u32 {
                let mut damaged = seed.clone();
                let at = (i * 2_654_435_761 + round as usize * 40_503) % (seed.len() + 1);
                match (round, damaged.get_mut(at)) {
                    (0, _) => damaged.truncate(at),
                    (_, Some(byte)) => *byte ^= 1 << (i % 8),
                    (_, None) => damaged.push(round as u8),
                }
                target(&damaged);
            }
        }
    }
    targets::clean_up();
}

/// `cargo test --test fuzz_replay make_payloads -- --ignored`
#[test]
#[ignore = "writes to fuzz/seeds"]
fn make_payloads() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/codec_decode");
    for (i, name) in targets::codecs().iter().enumerate() {
        for shape in 0..7 {
            fs::write(
                folder.join(format!("{name}-{shape}")),
                targets::payload(i as u8, shape),
            )
            .unwrap();
        }
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/small_decode");
    for (i, payload) in (0..).map_while(small::payload).enumerate() {
        fs::write(folder.join(format!("small-{i}")), payload).unwrap();
    }
}
