#!/usr/bin/env bash
# Every test. What the tests need is fetched while all is compiled, since the one waits for the network and the other
# computes. Cargo runs one program of tests after the other. The simulation of both services only computes, and most of
# the others wait, for browsers, gateways and an engine: so that runs beside these, at the lowest priority, and what it
# prints comes last.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

# Two for each processor keep it busy, since most wait.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((2 * $(nproc)))}

run() { cargo test --locked --workspace --no-fail-fast "$@"; }

# The test programs of all crates but that one.
others() {
  cargo metadata --locked --no-deps --format-version 1 | python3 -c '
import json, sys
targets = [target for package in json.load(sys.stdin)["packages"] for target in package["targets"]]
print(*sorted({target["name"] for target in targets if "test" in target["kind"]} - {"simulation"}))'
}

have python3 || apt_install python3 || die "python3 is missing (Debian: apt-get install python3)"
need_compiler
names=$(others)

# Each job has a process group of its own, and so can be ended with all that it has started.
set -m
printed=$(mktemp)
job=
trap '[ -z "$job" ] || kill -- "-$job" 2>/dev/null || true; rm -f "$printed"' EXIT

scripts/test-tools.sh &
job=$!
cargo build --locked --workspace --bins
scripts/previous-release.sh
run --no-run
wait "$job" || die "what the tests need could not be fetched: see above"
say "all is compiled and fetched after $SECONDS s"

{ renice -n 19 -p "$BASHPID" && run --test simulation; } >"$printed" 2>&1 &
job=$!
failed=
named=()
for name in $names; do named+=(--test "$name"); done
run --lib --bins "${named[@]}" || failed=1
run --doc || failed=1
say "all tests but the simulation have run after $SECONDS s"
wait "$job" || failed=1
cat "$printed"
say "all tests have run after $SECONDS s"
[ -z "$failed" ] || die "tests have failed: see above"
