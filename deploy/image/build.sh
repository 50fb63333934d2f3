#!/bin/sh
# Part of the Dockerfile. Without an argument, builds what both services depend on. With one, builds the services, or takes
# those of the folder that $PROGRAMS names, and puts them there without symbols,
# with the one library that the images' base lacks.
# Usage: build.sh [INTO], in the root of the sources.
set -eu

build() {
  [ -n "$PROGRAMS" ] ||
    cargo build --locked --profile "$PROFILE" -p vestibule-admission -p vestibule-controller "$1"
}

# Without programs nothing is linked, which takes long in a release.
if [ $# = 0 ]; then
  build --lib
  exit
fi
# The empty crates that were built before are newer than the real ones.
find services shared -name '*.rs' -exec touch {} +
build --bins
if [ -z "$PROGRAMS" ]; then
  # Named after the profile, but for `dev`. There may be others: what was handed over by PROGRAMS before.
  case $PROFILE in dev) PROGRAMS=target/debug ;; *) PROGRAMS=target/$PROFILE ;; esac
fi
mkdir -p "$1"
cp /lib/*-linux-gnu*/libgcc_s.so.1 "$1"
install -s -t "$1" "$PROGRAMS/vestibule-admission" "$PROGRAMS/vestibule-controller"
