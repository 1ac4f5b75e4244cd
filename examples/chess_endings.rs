//! Makes endings in memory and prints counts and longest mates.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use endtable::chess::{Ending, Material, generate};
use endtable::numbering::kings::Sides;

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
        if let Ok(dir) = std::env::var("OUT") {
            let t = Instant::now();
            let sides = match std::env::var("SIDES").as_deref() {
                Ok("white") => Sides::White,
                Ok("black") => Sides::Black,
                _ => {
                    if material.is_symmetric() {
                        Sides::White
                    } else {
                        Sides::Both
                    }
                }
            };
            let ending = Ending::new(&table, sides)?;
            let block = std::env::var("BLOCK").map_or(256, |b| b.parse().unwrap());
            let path = std::path::Path::new(&dir).join(format!("{material}.etb"));
            let s = endtable::table::write(
                &ending,
                ending.schema("context", block),
                &path,
                &endtable::table::WriteOptions {
                    force: true,
                    progress: None,
                },
            )?;
            eprintln!(
                "  wrote {} bytes (blocks {}, index {}) in {:.2?}",
                s.file_bytes,
                s.column_bytes[0],
                s.index_bytes,
                t.elapsed()
            );
        }
        made.insert(material, Arc::new(table));
    }
    eprintln!("total {:.2?}", start.elapsed());
    Ok(())
}
