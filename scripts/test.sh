#!/usr/bin/env bash
# Every test, once all is built. Cargo runs one program of tests after the other. The simulation of both services only
# computes, and most of the others wait, for browsers, gateways and an engine: so that runs beside these, at the lowest
# priority, and what it prints comes last.
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
names=$(others)

# Each job has a process group of its own, and so can be ended with all that it has started.
set -m
run --no-run
printed=$(mktemp)
{ renice -n 19 -p "$BASHPID" && run --test simulation; } >"$printed" 2>&1 &
simulation=$!
trap 'kill -- "-$simulation" 2>/dev/null || true; rm -f "$printed"' EXIT

failed=
named=()
for name in $names; do named+=(--test "$name"); done
run --lib --bins "${named[@]}" || failed=1
run --doc || failed=1
wait "$simulation" || failed=1
cat "$printed"
[ -z "$failed" ] || die "tests have failed: see above"
