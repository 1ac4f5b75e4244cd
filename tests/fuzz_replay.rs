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

/// Damages seeds again and again, without what a fuzzer would learn from them:
/// `FUZZ_TARGET=probe FUZZ_RUNS=1000000 cargo test --release --test fuzz_replay many -- --ignored`
#[test]
#[ignore = "takes as long as it is told to"]
fn many_damaged_seeds_are_no_findings() {
    let number = |name: &str| std::env::var(name).ok().and_then(|v| v.parse::<u64>().ok());
    let wanted = std::env::var("FUZZ_TARGET").unwrap_or_else(|_| "probe".to_owned());
    let runs = number("FUZZ_RUNS").unwrap_or(10_000);
    let (name, target) = (targets::TARGETS.iter())
        .find(|(name, _)| *name == wanted)
        .expect("a target of that name");
    let seeds = seeds(name);
    let mut state = number("FUZZ_SEED").unwrap_or(1);
    let mut random = move |n: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((u128::from(state) * n as u128) >> 64) as usize
    };
    for _ in 0..runs {
        let mut bytes = seeds[random(seeds.len())].1.clone();
        for _ in 0..=random(6) {
            let at = random(bytes.len() + 1);
            match (random(5), bytes.get_mut(at)) {
                (0, Some(byte)) => *byte ^= 1 << random(8),
                (1, Some(byte)) => *byte = random(256) as u8,
                (2, _) => bytes.insert(at, random(256) as u8),
                (3, Some(_)) => {
                    bytes.remove(at);
                }
                (_, _) => {
                    let other = &seeds[random(seeds.len())].1;
                    let from = random(other.len() + 1);
                    let part = &other[from..(from + random(12)).min(other.len())];
                    bytes.splice(at..at, part.iter().copied());
                    bytes.truncate(4096);
                }
            }
        }
        target(&bytes);
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
