#!/bin/sh
# Part of the Dockerfile. Copies what says which crates there are, and nothing of their code: every manifest, the lock
# file, and for each of our crates an empty library. Usage: manifests.sh INTO, in the root of the sources.
set -eu
into=$1
mkdir -p "$into/deploy"
cp Cargo.toml Cargo.lock "$into"
cp -R deploy/image "$into/deploy"
for manifest in services/*/Cargo.toml shared/*/Cargo.toml simulation/*/Cargo.toml tests/Cargo.toml tools/*/Cargo.toml; do
  crate=${manifest%/Cargo.toml}
  mkdir -p "$into/$crate/src"
  cp "$manifest" "$into/$crate"
  echo '//! Empty.' >"$into/$crate/src/lib.rs"
done
