//! Positioned reads: file, memory map, memory.
