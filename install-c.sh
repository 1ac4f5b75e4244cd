#!/bin/sh
# Builds the C library, shared and static, and installs it with its header and
# a pkg-config file:
#
#     ./install-c.sh [PREFIX]          # /usr/local unless given; DESTDIR is kept
set -eu
cd "$(dirname "$0")"
prefix=${1:-/usr/local}
root=${DESTDIR:-}$prefix
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
target=${CARGO_TARGET_DIR:-target}

build() { cargo rustc --release --lib --no-default-features --features capi --crate-type "$@"; }
case $(uname -s) in
Darwin) shared=libendtable.dylib name= ;;
*) shared=libendtable.so name="-Clink-arg=-Wl,-soname,libendtable.so.0" ;;
esac
build staticlib
# What the static library needs of the system, in the compiler's own words.
libraries=$(touch src/lib.rs &&
    build staticlib -- --print native-static-libs 2>&1 |
    sed -n 's/.*native-static-libs: //p' | tail -n 1)
build cdylib -- $name

mkdir -p "$root/include" "$root/lib/pkgconfig"
cp include/endtable.h "$root/include/"
cp "$target/release/libendtable.a" "$root/lib/"
if [ "$shared" = libendtable.so ]; then
    cp "$target/release/$shared" "$root/lib/libendtable.so.$version"
    ln -sf "libendtable.so.$version" "$root/lib/libendtable.so.0"
    ln -sf libendtable.so.0 "$root/lib/libendtable.so"
else
    cp "$target/release/$shared" "$root/lib/"
fi
cat >"$root/lib/pkgconfig/endtable.pc" <<PC
prefix=$prefix
includedir=\${prefix}/include
libdir=\${prefix}/lib

Name: endtable
Description: Tables of solved game endings
Version: $version
Cflags: -I\${includedir}
Libs: -L\${libdir} -lendtable
Libs.private: ${libraries:--lpthread -ldl -lm}
PC
echo "installed endtable $version to $root; use it with: pkg-config --cflags --libs endtable"
