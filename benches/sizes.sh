#!/usr/bin/env bash
# Bytes per position of one-sided tables with every codec, and positions per
# second of making them, as Markdown: benches/sizes.sh [FIRST [LAST]]
# Needs some 5 GB of disk and ten minutes for 6 to 13 points.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --quiet
endtable=$PWD/target/release/endtable
work=$(mktemp -d -p "${TMPDIR:-/tmp}")
trap 'rm -rf "$work"' EXIT
cd "$work"

field() { python3 -c "import json,sys; print(json.load(sys.stdin)['$1'])"; }
echo "| points | positions | made in | positions/s | raw | gnubg's format | stored | lz4 | packed | zstd | small |"
echo "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |"
for points in $(seq "${1:-6}" "${2:-13}"); do
    start=$(date +%s.%N)
    "$endtable" make bearoff "$points" -o packed.etb --quiet --force
    seconds=$(echo "$(date +%s.%N) - $start" | bc)
    positions=$("$endtable" info packed.etb --json | field positions)
    row="| $points | $positions | $(printf %.2f "$seconds") s | $(echo "$positions / $seconds" | bc) | 128"
    "$endtable" transcode packed.etb gnubg.bd --quiet --force
    for file in gnubg.bd stored lz4 packed zstd small; do
        case $file in
        *.bd) bytes=$(stat -c %s "$file") ;;
        *)
            "$endtable" transcode packed.etb "$file-table.etb" --codec "$file" --quiet --force
            bytes=$(stat -c %s "$file-table.etb")
            rm "$file-table.etb"
            ;;
        esac
        row="$row | $(echo "scale=3; $bytes / $positions" | bc)"
    done
    echo "$row |"
done
