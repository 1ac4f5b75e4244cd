//! Chess probes of random legal positions: a stored side with nothing decoded
//! and from cached blocks, and a side that is searched one ply:
//! `cargo bench --bench probe`. For all endings of a folder see `endtable bench DIR`.

use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, criterion_group, criterion_main};
use endtable::chess::make::{Keep, MakeOptions, make};
use endtable::chess::{Material, Position, Probe, ProbeOptions, Side};

const ENDINGS: [&str; 2] = ["KQvKR", "KRvKN"];
const POSITIONS: usize = 4096;
/// Positions whose blocks are cached.
const FEW: usize = 256;

fn tables(folder: &Path, keep: Keep) {
    let options = MakeOptions {
        keep,
        ..MakeOptions::default()
    };
    let endings = ENDINGS.map(|name| Material::parse(name).expect("an ending"));
    make(&endings, folder, &options, &|_| Ok(())).expect("tables are made");
}

/// Random legal positions of the endings: those with the side to move stored,
/// and the others.
fn positions(probe: &Probe) -> [Vec<Position>; 2] {
    let mut state = 1u64;
    let mut random = move |n: u64| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((u128::from(state) * u128::from(n)) >> 64) as u64
    };
    let mut out = [Vec::new(), Vec::new()];
    while out.iter().map(Vec::len).sum::<usize>() < POSITIONS {
        let name = ENDINGS[random(2) as usize];
        let ending = Material::parse(name).expect("an ending");
        let table = probe.table(&ending).expect("a table");
        let side = Side::BOTH[random(2) as usize];
        let placement = table.placement(random(table.reader().len()));
        let legal = placement.and_then(|p| Position::from_placement(table.men(), &p, side));
        if let Some(position) = legal {
            let answer = probe.probe(&position).expect("an answer");
            out[usize::from(answer.searched)].push(position);
        }
    }
    out
}

fn benches(c: &mut Criterion) {
    let folders = [Keep::Both, Keep::Smaller].map(|keep| {
        let folder = tempfile::tempdir().expect("a temporary folder");
        tables(folder.path(), keep);
        folder
    });
    let open = |folder: &tempfile::TempDir, cache| {
        // SAFETY: nobody else knows the temporary folder.
        #[allow(unsafe_code)]
        unsafe {
            ProbeOptions::new().cache_bytes(cache).map(folder.path())
        }
    };
    let mut group = c.benchmark_group("probe");
    let mut bench = |name: &str, probe: Probe, positions: &[Position]| {
        let mut next = positions.iter().cycle();
        group.bench_function(name, |b| {
            b.iter(|| {
                let position = next.next().expect("a position");
                black_box(probe.probe(position)).expect("an answer")
            });
        });
    };
    let [both, one] = &folders;
    let [stored, _] = positions(&open(both, 0));
    bench("both sides/uncached", open(both, 0), &stored);
    bench("both sides/cached", open(both, 1 << 28), &stored[..FEW]);
    let [stored, other] = positions(&open(one, 0));
    bench("one side/uncached", open(one, 0), &stored);
    bench("one side/cached", open(one, 1 << 28), &stored[..FEW]);
    bench("other side/uncached", open(one, 0), &other);
    bench("other side/cached", open(one, 1 << 28), &other[..FEW]);
    group.finish();
}

criterion_group!(all, benches);
criterion_main!(all);
