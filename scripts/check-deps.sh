#!/usr/bin/env bash
# Checks licences, sources and banned crates with cargo-deny (deny.toml); gets it if it is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

version=0.20.2
deny=cargo-deny
if ! have cargo-deny; then
  deny=target/tools/cargo-deny/bin/cargo-deny
  if ! [ -x "$deny" ]; then
    need_compiler
    say "installing cargo-deny $version into target/tools (some minutes, once)"
    cargo install cargo-deny --debug --quiet --locked --version "$version" --root target/tools/cargo-deny \
      --target-dir target/tools/cargo-deny/build ||
      die "cargo-deny cannot be installed from here; have it on the PATH, then try again"
    rm -rf target/tools/cargo-deny/build
  fi
fi
"$deny" --locked check bans licenses sources
