#!/bin/sh
# A full disk: `transcode` must give one clear line on standard error, exit 1,
# and leave nothing of its output. Needs root, for a small file system in memory.
#
#     tests/full_disk.sh PROGRAM INPUT
#
# PROGRAM is the built `endtable`; INPUT a table or database of over 256 KiB.
set -eu
program=$(realpath "$1")
input=$(realpath "$2")

if [ "$(id -u)" != 0 ] || ! command -v mount >/dev/null; then
    echo "SKIPPED: full_disk.sh needs root and mount"
    exit 0
fi
folder=$(mktemp -d)
if ! mount -t tmpfs -o size=128k tmpfs "$folder" 2>/dev/null; then
    rmdir "$folder"
    echo "SKIPPED: full_disk.sh may not mount a tmpfs here"
    exit 0
fi
trap 'umount "$folder"; rmdir "$folder"' EXIT

failed=0
check() {
    name=$1
    shift
    status=0
    message=$("$program" transcode --quiet "$@" "$input" "$folder/$name" 2>&1 >/dev/null) || status=$?
    lines=$(printf '%s\n' "$message" | wc -l)
    left=$(find "$folder" -mindepth 1 | wc -l)
    if [ "$status" != 1 ] || [ "$lines" != 1 ] || [ "$left" != 0 ]; then
        echo "full disk, $name $*: exit $status, $lines lines, $left files left: $message"
        failed=1
    fi
    case $message in
    *"$name"*"No space left"*) ;;
    *)
        echo "full disk, $name: the message names neither file nor reason: $message"
        failed=1
        ;;
    esac
}

check out.etb --codec stored
check out.etb --codec packed
check out.bd
[ "$failed" = 0 ] && echo "full disk: one clear line, exit 1 and nothing left"
exit "$failed"
