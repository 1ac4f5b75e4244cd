//! Joins format, codec, numbering and source.
