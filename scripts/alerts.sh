#!/usr/bin/env bash
# `make alerts`: whether Prometheus takes the rules, whether each alarm fires when it should and not otherwise, whether
# Grafana's model takes the board, and whether alarms, pages, the board and the table of metrics fit together. What it
# needs scripts/test-tools.sh gets; what of it is missing is got here.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

have python3 || apt_install python3 || die "python3 is missing (Debian: apt-get install python3)"
python3 -c 'import yaml' 2>/dev/null || apt_install python3-yaml ||
  die "Python's yaml is missing (Debian: apt-get install python3-yaml)"
python3 deploy/grafana/board.py --check
python3 scripts/check-alerts.py

if [ "${VESTIBULE_TEST_SKIP_PROMETHEUS:-}" = 1 ]; then
  warn "VESTIBULE_TEST_SKIP_PROMETHEUS=1: the alarms are NOT tested, and neither is the board"
  exit
fi
scripts/test-tools.sh prometheus
have promtool || die "promtool is missing (Debian: apt-get install prometheus).
  VESTIBULE_TEST_SKIP_PROMETHEUS=1 leaves the tests of alarms out."
promtool check config --syntax-only deploy/prometheus/prometheus.yml
promtool check rules deploy/prometheus/rules/*.yml
promtool test rules deploy/prometheus/tests/*.yml
PYTHONPATH=target/tools/grafana-foundation-sdk \
  python3 scripts/check-board.py deploy/grafana/dashboards/*.json
