//! Makes endings in memory and prints counts and longest mates.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use endtable::chess::{Material, generate};

fn main() -> endtable::Result<()> {
    let mut wanted = Vec::new();
    for name in std::env::args().skip(1) {
        match name.parse::<usize>() {
            Ok(men) => wanted.extend(Material::all(men)),
            Err(_) => wanted.push(Material::parse(&name)?),
        }
    }
    let start = Instant::now();
    let mut made = HashMap::new();
    for material in generate::closure(&wanted)? {
        let t = Instant::now();
        let table = generate::generate(&material, &|m| made.get(m).cloned(), &|_| Ok(()))?;
        let secs = t.elapsed();
        let mut wdl = [[0u64; 3]; 2];
        let mut longest = [[None; 2]; 2];
        table.for_each(|_, _, scores| {
            for (s, score) in scores.into_iter().enumerate() {
                if !score.is_legal() {
                    continue;
                }
                wdl[s][if score.is_win() {
                    0
                } else if score.is_loss() {
                    2
                } else {
                    1
                }] += 1;
                let slot = &mut longest[s][usize::from(score.is_loss())];
                *slot = (*slot).max(score.plies());
            }
        });
        let l = |x: Option<u16>| x.map_or(String::new(), |x| x.to_string());
        println!(
            "{material},{},{},{},{},{},{},{},{},{},{}",
            wdl[0][0],
            wdl[0][1],
            wdl[0][2],
            wdl[1][0],
            wdl[1][1],
            wdl[1][2],
            l(longest[0][0]),
            l(longest[1][1]),
            l(longest[1][0]),
            l(longest[0][1])
        );
        eprintln!("{material} {secs:.2?}");
        made.insert(material, Arc::new(table));
    }
    eprintln!("total {:.2?}", start.elapsed());
    Ok(())
}
