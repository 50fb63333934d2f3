#!/usr/bin/env bash
# Chaos on real processes: many runs, a row for each kind of fault, and a table in Markdown on standard
# output. What is played can be changed: see tests/chaos/options.rs. Fails if anything breaks.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

need_compiler
scripts/test-tools.sh
have faketime || die "libfaketime is missing (Debian: apt-get install faketime)"

cargo build --locked --workspace --bins
report=$(mktemp)
trap 'rm -f "$report"' EXIT
ended=0
VESTIBULE_CHAOS_FAULTS=${VESTIBULE_CHAOS_FAULTS:-all} VESTIBULE_CHAOS_REPORT=$report \
  cargo test --locked --workspace --test chaos -- \
  --ignored --exact a_thousand_faults --nocapture >&2 || ended=$?
cat "$report"
exit "$ended"
