//! The program `endtable`.

fn main() {}
