#!/usr/bin/env bash
# Every test. What the tests need is fetched while all is compiled, since the one waits for the network and the
# other computes. Cargo runs one program of tests after the other, so there are three of it beside each other: for
# the tests with browsers, gateways, an engine and many servers, which mostly wait; for those with a Redis or
# nothing; and, at the lowest priority, for the simulation of both services, which only computes. What the latter
# two print comes last.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

# Two for each processor keep it busy, since most wait.
export RUST_TEST_THREADS=${RUST_TEST_THREADS:-$((2 * $(nproc)))}

run() { cargo test --locked --workspace --no-fail-fast "$@"; }

# programs waiting|others: `--test NAME` for each program of tests that is of these.
programs() {
  cargo metadata --locked --no-deps --format-version 1 | python3 -c '
import json, sys
names = {kind: set() for kind in ("waiting", "others")}
for package in json.load(sys.stdin)["packages"]:
    for name in (target["name"] for target in package["targets"] if "test" in target["kind"]):
        waits = package["name"] == "vestibule-tests" and name != "scenarios"
        names["waiting" if waits else "others"].add(name)
print(*(f"--test {name}" for name in sorted(names[sys.argv[1]] - {"simulation"})))' "$1"
}

run_others() {
  local failed=0
  run --lib --bins "${others[@]}" || failed=1
  run --doc || failed=1
  say "the tests with a Redis or nothing have run after $SECONDS s"
  return "$failed"
}

have python3 || apt_install python3 || die "python3 is missing (Debian: apt-get install python3)"
need_compiler
names=$(programs waiting)
read -ra waiting <<<"$names"
names=$(programs others)
read -ra others <<<"$names"

# Each job has a process group of its own, and so can be ended with all that it has started.
set -m
printed=$(mktemp -d)
jobs=()
trap 'for job in "${jobs[@]}"; do kill -- "-$job" 2>/dev/null || true; done; rm -rf "$printed"' EXIT

scripts/test-tools.sh &
jobs=($!)
cargo build --locked --workspace --bins
scripts/previous-release.sh
run --no-run
wait "${jobs[0]}" || die "what the tests need could not be fetched: see above"
say "all is compiled and fetched after $SECONDS s"

{ renice -n 19 -p "$BASHPID" && run --test simulation; } >"$printed/simulation" 2>&1 &
jobs=($!)
run_others >"$printed/others" 2>&1 &
jobs+=($!)
failed=
run "${waiting[@]}" || failed=1
say "the tests with browsers, gateways, an engine and many servers have run after $SECONDS s"
for job in "${jobs[@]}"; do wait "$job" || failed=1; done
cat "$printed/others" "$printed/simulation"
say "all tests have run after $SECONDS s"
[ -z "$failed" ] || die "tests have failed: see above"
