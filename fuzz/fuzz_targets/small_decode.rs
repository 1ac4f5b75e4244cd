#![no_main]

#[path = "../src/small.rs"]
mod small;

libfuzzer_sys::fuzz_target!(|data: &[u8]| small::small_decode(data));
