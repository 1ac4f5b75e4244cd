//! Bytes only: header, schema, block index, checksums.
