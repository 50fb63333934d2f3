#!/usr/bin/env bash
# Every test, once all is built. Cargo runs one program of tests after the other. The simulations only compute, and most of
# the others wait, for browsers, gateways and an engine: so those run beside these, at the lowest priority, and what they
# print comes last.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

# Two for each processor keep it busy, since most wait.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((2 * $(nproc)))}

run() { cargo test --locked --workspace --no-fail-fast "$@"; }

# Each job has a process group of its own, and so can be ended with all that it has started.
set -m
run --no-run
printed=$(mktemp)
{ renice -n 19 -p "$BASHPID" && run --test 'si*'; } >"$printed" 2>&1 &
simulations=$!
trap 'kill -- "-$simulations" 2>/dev/null || true; rm -f "$printed"' EXIT

failed=
run --lib --bins --test '[!s]*' --test 's[!i]*' || failed=1
run --doc || failed=1
wait "$simulations" || failed=1
cat "$printed"
[ -z "$failed" ] || die "tests have failed: see above"
