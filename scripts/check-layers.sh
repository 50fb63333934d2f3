#!/usr/bin/env bash
# Checks the direction of dependence between the crates: what deny.toml cannot say, because it is
# about crates that others may well use. Then checks that no two modules of a crate import each other.
# Needs no network.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

wrong=0

# depends_not CRATE SCOPE FORBIDDEN...: SCOPE is `directly` or `at-all`.
depends_not() {
  local crate=$1 depth=() forbidden found
  [ "$2" = directly ] && depth=(--depth 1)
  shift 2
  found=$(cargo tree --quiet --locked -p "$crate" -e normal "${depth[@]}" --prefix none |
    tail -n +2 | cut -d ' ' -f 1 | sort -u)
  for forbidden in "$@"; do
    if grep -qx "$forbidden" <<<"$found"; then
      say "$crate must not depend on $forbidden"
      wrong=1
    fi
  done
}

outside="axum hyper redis deadpool-redis tokio tracing clap"
services="vestibule-admission vestibule-controller"
# shellcheck disable=SC2086 # lists of names
{
  # Pure: no I/O, no clock.
  depends_not vestibule-domain at-all $outside aws-lc-rs rand vestibule-runtime vestibule-store \
    vestibule-token $services
  depends_not vestibule-history at-all $outside aws-lc-rs rand vestibule-runtime vestibule-store \
    vestibule-token $services
  depends_not vestibule-site at-all $outside aws-lc-rs rand vestibule-domain vestibule-runtime \
    vestibule-store vestibule-token $services
  depends_not vestibule-page at-all $outside aws-lc-rs rand vestibule-runtime vestibule-store \
    vestibule-token $services
  depends_not vestibule-token at-all $outside vestibule-runtime vestibule-store $services
  depends_not vestibule-traces at-all axum hyper redis deadpool-redis tracing clap aws-lc-rs \
    vestibule-domain vestibule-runtime vestibule-store vestibule-token $services
  depends_not vestibule-store directly axum hyper aws-lc-rs aes jsonwebtoken clap \
    vestibule-runtime vestibule-token $services
  depends_not vestibule-runtime directly redis deadpool-redis aws-lc-rs aes jsonwebtoken \
    vestibule-domain vestibule-store vestibule-token $services
  depends_not vestibule-issuance directly redis deadpool-redis aws-lc-rs aes jsonwebtoken $services
  depends_not vestibule-admission directly redis deadpool-redis aws-lc-rs aes jsonwebtoken \
    vestibule-controller
  depends_not vestibule-controller directly redis deadpool-redis aws-lc-rs aes jsonwebtoken \
    vestibule-admission
  # A model of Redis, which knows nothing of rooms.
  depends_not vestibule-redis-model at-all $outside aws-lc-rs rand vestibule-domain \
    vestibule-runtime vestibule-store vestibule-token $services
  # Black box: the tests know the services by what they answer. Except by way of the
  # simulation, which is made of them, the crowd does not know them either.
  depends_not vestibule-tests at-all vestibule-domain vestibule-store vestibule-token $services
  depends_not vestibule-crowd directly vestibule-store $services
  # Only the crowd may run the simulation; least of all anything that is in it.
  for crate in $services vestibule-store vestibule-tests vestibule-bench; do
    depends_not "$crate" at-all vestibule-simulation vestibule-redis-model
  done
  depends_not vestibule-bench at-all vestibule-token $services
}
have python3 || apt_install python3 || die "python3 is missing (Debian: apt-get install python3)"
scripts/check-circles.py || wrong=1
[ "$wrong" = 0 ] || die "the layers are crossed"
say "layers ok"
