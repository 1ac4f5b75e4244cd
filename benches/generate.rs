//! Positions per second of the generators by size, so that the growth shows.

use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use endtable::bearoff::generate::{Form, Keep, OneSided, TwoSided};

fn one_sided(c: &mut Criterion) {
    let mut group = c.benchmark_group("one-sided");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(3));
    for points in [6, 7, 8, 9] {
        let table = OneSided::new(points, 15, true, Form::Rounded).unwrap();
        group.throughput(Throughput::Elements(table.work()));
        group.bench_function(format!("{points} points"), |b| {
            b.iter(|| table.generate(&Keep::Memory, &|_| Ok(())).unwrap());
        });
    }
}

fn two_sided(c: &mut Criterion) {
    let mut group = c.benchmark_group("two-sided");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(3));
    for chequers in [5, 6, 7] {
        let table = TwoSided::new(6, chequers, true).unwrap();
        group.throughput(Throughput::Elements(table.positions()));
        group.bench_function(format!("6x{chequers}"), |b| {
            b.iter(|| table.generate(&Keep::Memory, &|_| Ok(())).unwrap());
        });
    }
}

criterion_group!(benches, one_sided, two_sided);
criterion_main!(benches);
