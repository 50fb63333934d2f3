#!/usr/bin/env bash
# Replaces the running instances one at a time by what `docker compose build` has built: controllers first, then
# admissions (README, "Upgrading"). Usage: deploy/compose/upgrade.sh, after the build; with `back`, the admissions
# first. Goes by the same environment as `docker compose`. Nobody in line notices.
set -euo pipefail
cd "$(dirname "$0")/../.."

if docker compose version >/dev/null 2>&1; then
  compose=(docker compose)
else
  compose=(docker-compose)
fi

# until_healthy SERVICE
until_healthy() {
  local container state tries=0
  container=$("${compose[@]}" ps --quiet "$1")
  until state=$(docker inspect --format '{{.State.Health.Status}}' "$container") && [ "$state" = healthy ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 120 ] || {
      echo "error: $1 is $state after a minute; the others go on. See: ${compose[*]} logs $1" >&2
      exit 1
    }
    sleep 0.5
  done
}

services=(controller-1 controller-2 admission-1 admission-2)
[ "${1:-}" != back ] || services=(admission-1 admission-2 controller-1 controller-2)
for service in "${services[@]}"; do
  "${compose[@]}" up --detach --no-deps --no-build "$service"
  until_healthy "$service"
  echo "$service is replaced"
done
