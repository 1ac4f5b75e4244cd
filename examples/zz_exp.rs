use std::collections::HashMap;
use std::sync::Arc;
use endtable::chess::{Material, generate, Score};
use endtable::numbering::kings::board::*;

struct Model { cells: HashMap<u32, Vec<u32>>, escapes: f64 }
const SY: usize = 64;
impl Model {
    fn new() -> Self { Model { cells: HashMap::new(), escapes: 0.0 } }
    fn add(&mut self, ctx: &[u32], pivot: i32, v: i32) {
        let mut h = 0u32; for &c in ctx { h = h * 12 + c; }
        let h = h * 256 + pivot as u32;
        let d = v - pivot; let mut z = (if d >= 0 { 2 * d } else { -2 * d - 1 }) as usize;
        if z >= SY - 1 { z = SY - 1; self.escapes += 7.0; }
        self.cells.entry(h).or_insert_with(|| vec![0; SY])[z] += 1;
    }
    fn ent(v: &[f64]) -> f64 { let n: f64 = v.iter().sum(); let mut b = 0.0; for &x in v { if x > 0.0 { b -= x * (x / n).log2(); } } b }
    fn full(&self) -> f64 { self.cells.values().map(|v| Self::ent(&v.iter().map(|&x| x as f64).collect::<Vec<_>>())).sum::<f64>() / 8.0 + self.escapes / 8.0 }
    // k-means by cross entropy
    fn clustered(&self, k: usize) -> (f64, usize) {
        let mut keys: Vec<_> = self.cells.keys().copied().collect();
        keys.sort_by_key(|x| (std::cmp::Reverse(self.cells[x].iter().sum::<u32>()), *x));
        let cells: Vec<Vec<f64>> = keys.iter().map(|x| self.cells[x].iter().map(|&c| c as f64).collect()).collect();
        let k = k.min(cells.len());
        let mut cent: Vec<Vec<f64>> = (0..k).map(|i| cells[i].clone()).collect();
        let mut asg = vec![0usize; cells.len()];
        for _ in 0..8 {
            let logs: Vec<Vec<f64>> = cent.iter().map(|c| { let n: f64 = c.iter().sum::<f64>() + 0.02 * SY as f64; c.iter().map(|x| -((x + 0.02) / n).log2()).collect() }).collect();
            for (i, c) in cells.iter().enumerate() {
                let nz: Vec<(usize, f64)> = c.iter().copied().enumerate().filter(|x| x.1 > 0.0).collect();
                let mut best = (f64::MAX, 0);
                for (j, l) in logs.iter().enumerate() { let cost: f64 = nz.iter().map(|&(s, x)| x * l[s]).sum(); if cost < best.0 { best = (cost, j); } }
                asg[i] = best.1;
            }
            for c in &mut cent { c.iter_mut().for_each(|x| *x = 0.0); }
            for (i, c) in cells.iter().enumerate() { for s in 0..SY { cent[asg[i]][s] += c[s]; } }
        }
        (cent.iter().map(|c| Self::ent(c)).sum::<f64>() / 8.0 + self.escapes / 8.0, cells.len())
    }
}

fn main() -> endtable::Result<()> {
    let mut wanted = Vec::new();
    let names: Vec<String> = std::env::args().skip(1).collect();
    for name in &names {
        match name.parse::<usize>() {
            Ok(men) => wanted.extend(Material::all(men)),
            Err(_) => wanted.push(Material::parse(name)?),
        }
    }
    let mut made = HashMap::new();
    let mut tot = vec![[0.0; 3]; 16];
    for material in generate::closure(&wanted)? {
        let table = Arc::new(generate::generate(&material, &|m| made.get(m).cloned(), &|_| Ok(()))?);
        made.insert(material.clone(), table.clone());
        if !wanted.contains(&material) { continue; }
        let last = table.exp_layout().0;
        let b = last.side; let a = b.other();
        // ranks
        let mut ml = [0i32; 2]; let mut mw = [0i32; 2];
        table.for_each(|_, _, sc| for i in 0..2 { if let Some(n) = sc[i].plies() { if sc[i].is_win() { mw[i] = mw[i].max(n as i32 / 2 + 1) } else { ml[i] = ml[i].max(n as i32 / 2 + 1) } } });
        let rank = |i: usize, s: Score| -> i32 { match s.plies() { None => ml[i] + 1, Some(n) => if s.is_win() { ml[i] + 1 + mw[i] - n as i32 / 2 } else { 1 + n as i32 / 2 } } };
        let mut models: Vec<Model> = (0..7).map(|_| Model::new()).collect();
        let mut group: Vec<[[i32; 64]; 2]> = vec![];
        let wps = table.exp_layout().1;
        let gsize: usize = std::env::var("G").map_or(4, |x| x.parse().unwrap());
        table.exp_words(|fixed, _, _, idx, canon, both: [&[Score]; 2], _, checkmask: [u64;2], capmask:[u64;2]| {
            let have_prev = idx % wps % gsize != 0 && !group.is_empty();
            let prev = group.last().copied().unwrap_or([[0; 64]; 2]);
            let mut cur = [[0i32; 64]; 2];
            let clip = |d: i32| -> u32 { (if d <= -3 { 0 } else if d >= 3 { 6 } else { d + 3 }) as u32 };
            for pass in 0..2 {
                let i = if pass == 0 { a.index() } else { b.index() };
                for s in 0..64usize {
                    let nb = |f: &[i32; 64], k: usize| f[k];
                    let f = &cur[i];
                    let w = if have_prev { Some(prev[i][s]) } else { None };
                    let l = if s % 8 > 0 { nb(f, s-1) } else if s >= 8 { nb(f, s-8) } else { w.unwrap_or(ml[i] + 1) };
                    let bl = if s >= 8 { nb(f, s-8) } else { l };
                    let w1 = w.unwrap_or(l);
                    let wa = have_prev as u32;
                    let v = both[i][s];
                    if !(canon >> s & 1 != 0 && v.is_legal()) { cur[i][s] = l; continue; }
                    let fl = (checkmask[i] >> s & 1) as u32 + 2 * (capmask[i] >> s & 1) as u32;
                    let r = rank(i, v);
                    let med = l.max(bl).min(l.min(bl).max(w1));
                    if pass == 0 {
                        models[0].add(&[wa, clip(l - w1), clip(bl - w1), fl], w1, r);
                        models[1].add(&[wa, clip(l - med), clip(bl - med), clip(w1 - med), fl], med, r);
                        models[4].add(&[clip(bl - l), fl], l, r);
                    } else {
                        let mut best = Score::NONE;
                        for t in squares(attacks(last.kind, b, s as u8, fixed) & !fixed) {
                            let x = both[a.index()][t as usize];
                            if x.is_legal() { best = best.max(x.before()); }
                        }
                        let o = if best == Score::NONE { 0 } else { rank(i, best).clamp(0, ml[i]+mw[i]+1) };
                        models[2].add(&[clip(l - o), clip(bl - o), fl], o, r);
                        models[3].add(&[wa, clip(l - o), clip(bl - o), clip(w1 - o), fl], o, r);
                        models[5].add(&[wa, clip(l - w1), clip(bl - w1), fl], w1, r);
                        models[6].add(&[wa, clip(l - med), clip(bl - med), clip(w1 - med), fl], med, r);
                    }
                    cur[i][s] = r;
                }
            }
            group.clear(); group.push(cur);
        });
        print!("{material:8}");
        for (i, m) in models.iter().enumerate() {
            let x = m.full(); let (y, c) = m.clustered(64); let (z, _) = m.clustered(200);
            print!(" {}: {:.0}/{c}->{:.0},{:.0}", i, x / 1000.0, y / 1000.0, z / 1000.0);
            tot[i][0] += x; tot[i][1] += y; tot[i][2] += z;
        }
        println!();
    }
    println!("total {:?}", tot.iter().map(|x| x.map(|x| (x / 1000.0) as u64)).collect::<Vec<_>>());
    Ok(())
}
