#!/usr/bin/env bash
# Checks that every `select!` of the services is `biased`: otherwise it asks its branches in a random
# order, and a simulation would not run the same way twice.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

found=$(grep -rn -A1 --include='*.rs' 'select! {' shared services | grep -v 'select! {' |
  grep -v -e '^--$' -e 'biased;' || true)
[ -z "$found" ] || die "begin these with \`biased;\`:
$found"
say "every select is biased"
