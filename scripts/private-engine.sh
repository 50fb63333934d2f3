#!/usr/bin/env bash
# A Docker engine of the tests' own, where none answers. Usage: private-engine.sh FOLDER; root only.
#
# Runs until its standard input ends, so it never outlives who started it, however that ends; then it takes away all
# that it has made: containers, networks, mounts, and the folder. Says `ready` once DOCKER_HOST=unix://FOLDER/docker.sock
# answers. It changes no rule of the machine's firewall, so containers reach nobody else, and published ports are on
# this machine alone.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

[ $# = 1 ] || die "usage: scripts/private-engine.sh FOLDER"
[ "$(id -u)" = 0 ] || die "a private engine needs root"
# Debian puts it there, which is not on everybody's path.
PATH=$PATH:/usr/sbin:/sbin
have dockerd || die "there is no dockerd (Debian: apt-get install docker.io)"
mkdir -p "$1"
folder=$(cd "$1" && pwd -P)
export DOCKER_HOST=unix://$folder/docker.sock

# Of the one that ran here before, and was killed with SIGKILL, or of ours.
tidy_up() {
  local pid
  if docker version >/dev/null 2>&1; then
    docker ps --all --quiet | xargs -r docker rm --force --volumes >/dev/null 2>&1 || true
    docker network prune --force >/dev/null 2>&1 || true
  fi
  pid=$(cat "$folder/docker.pid" 2>/dev/null || true)
  if [ -n "$pid" ] && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = dockerd ]; then
    kill -TERM "$pid" 2>/dev/null || true
    # 15 s, which is what it gives its containers, and then some.
    for _ in $(seq 200); do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
  fi
  # Only what is mounted below our own folder, the innermost first.
  awk -v below="$folder/" 'index($5, below) == 1 { print $5 }' /proc/self/mountinfo | sort -r |
    while read -r mounted; do umount "$mounted" 2>/dev/null || true; done
  rm -rf "${folder:?}/data" "$folder/exec" "$folder/docker.pid" "$folder/docker.sock"
}

tidy_up
trap tidy_up EXIT
trap 'exit 0' INT TERM HUP
dockerd --host "$DOCKER_HOST" --data-root "$folder/data" --exec-root "$folder/exec" --pidfile "$folder/docker.pid" \
  --bridge none --iptables=false --ip6tables=false --ip-forward=false \
  >"$folder/dockerd.log" 2>&1 </dev/null &
engine=$!
until docker version >/dev/null 2>&1; do
  kill -0 "$engine" 2>/dev/null || {
    tail -n 20 "$folder/dockerd.log" >&2
    die "the private engine has ended; its log is $folder/dockerd.log"
  }
  sleep 0.1
done
say ready
# Until whoever has started us closes it, or is gone.
cat >/dev/null
# Its log is for those who ask why it did not start, or was ended otherwise.
tidy_up
rm -f "$folder/dockerd.log"
rmdir "$folder" 2>/dev/null || true
