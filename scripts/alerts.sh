#!/usr/bin/env bash
# `make alerts`: whether Prometheus takes the rules, whether each alarm fires when it should and not otherwise, and
# whether alarms, pages, the board and the table of metrics fit together. Needs promtool (Debian's package prometheus)
# and Python with PyYAML; gets them where that is allowed.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

have python3 || apt_install python3 || die "python3 is missing (Debian: apt-get install python3)"
python3 -c 'import yaml' 2>/dev/null || apt_install python3-yaml ||
  die "Python's yaml is missing (Debian: apt-get install python3-yaml)"
python3 scripts/check-alerts.py

if [ "${VESTIBULE_TEST_SKIP_PROMETHEUS:-}" = 1 ]; then
  warn "VESTIBULE_TEST_SKIP_PROMETHEUS=1: the alarms are NOT tested"
  exit
fi
have promtool || apt_install_programs prometheus ||
  die "promtool is missing (Debian: apt-get install prometheus).
  VESTIBULE_TEST_SKIP_PROMETHEUS=1 leaves the tests of alarms out."
promtool check rules deploy/prometheus/rules/*.yml
promtool test rules deploy/prometheus/tests/*.yml
