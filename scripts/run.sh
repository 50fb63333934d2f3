#!/usr/bin/env bash
# `make run`: one controller and one admission over a Redis, with a demo room, until Ctrl-C.
#
# Secrets are made once and kept in target/run, so that tickets outlive a restart as long as Redis
# does. Neither curl nor anything else but bash, coreutils and Rust is needed.
set -euo pipefail
cd "$(dirname "$0")/.."

# A shell that starts this in the background has SIGINT ignored, which bash could not undo.
if [ "${1:-}" != --signals-reset ] && env --default-signal=INT true 2>/dev/null; then
  exec env --default-signal=INT bash scripts/run.sh --signals-reset
fi

# shellcheck source=scripts/lib.sh
. scripts/lib.sh
# shellcheck source=scripts/redis.sh
. scripts/redis.sh

umask 077
run=$PWD/target/run
mkdir -p "$run"
started=()

# secret_file NAME: makes it on the first start.
secret_file() {
  [ -s "$run/$1" ] || head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$run/$1"
}

# in_background NAME COMMAND...: in a process group of its own, so that Ctrl-C is ours to pass on.
in_background() {
  local name=$1
  shift
  set -m
  "$@" </dev/null &
  set +m
  started+=("$!:$name")
}

# start NAME COMMAND...: in the background, with a log.
start() { in_background "$@" >"$run/$1.log" 2>&1; }

# Ends what was started, the last first, and waits for it.
stop_all() {
  trap '' INT TERM HUP
  local index pid
  for ((index = ${#started[@]} - 1; index >= 0; index--)); do
    pid=${started[index]%%:*}
    kill -TERM "$pid" 2>/dev/null || continue
    wait "$pid" 2>/dev/null || true
  done
  stop_redis
}

stopped() {
  say
  say "stopping"
  exit 0
}

# is_up NAME: fails the script if that process has ended.
is_up() {
  local entry
  for entry in "${started[@]}"; do
    [ "${entry#*:}" = "$1" ] || continue
    kill -0 "${entry%%:*}" 2>/dev/null && return
    tail -n 20 "$run/$1.log" >&2
    die "$1 has ended; its log is target/run/$1.log"
  done
}

# wait_ready NAME PROGRAM ADMIN_ADDRESS
wait_ready() {
  local tries=0
  until VESTIBULE_ADMIN_LISTEN=$3 "$2" healthcheck 2>/dev/null; do
    is_up "$1"
    tries=$((tries + 1))
    [ "$tries" -lt 150 ] || die "$1 is not ready after 30 s; its log is target/run/$1.log"
    sleep 0.2
  done
}

# choose_port WANTED NAME: sets `port`; says so when it is another one.
choose_port() {
  port=$(free_port "$1")
  [ "$port" = "$1" ] || say "port $1 is taken: $2 listens on $port"
}

# put_room JSON: one request in plain bash, because curl may not be there.
put_room() {
  local status
  exec 3<>"/dev/tcp/127.0.0.1/$controller_port"
  printf 'PUT /v1/rooms/demo HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n' >&3
  printf 'Authorization: Bearer %s\r\n' "$api_token" >&3
  printf 'Content-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' "${#1}" "$1" >&3
  read -r _ status _ <&3
  exec 3>&- 3<&-
  case $status in 20*) ;; *) die "the controller refuses the demo room: status $status" ;; esac
}

print_usage() {
  local admission=http://127.0.0.1:$admission_port controller=http://127.0.0.1:$controller_port
  local jar=$run/visitor
  cat <<END

Vestibule runs.
  visitors    $admission/docs
  operators   $controller/docs   (token: target/run/api-token)
  logs        target/run/admission.log, target/run/controller.log

The room \`demo\` has two seats, each for 30 seconds. Three visitors come; the third one waits:
  for n in 1 2 3; do curl -s -X POST -c $jar-\$n.jar $admission/v1/rooms/demo/join; echo; done
It asks where it stands:
  curl -s -b $jar-3.jar -c $jar-3.jar $admission/v1/rooms/demo/status; echo
It claims its seat until one is free, within 30 seconds, and enters with an access token:
  until curl -s -X POST -b $jar-3.jar -c $jar-3.jar $admission/v1/rooms/demo/claim | grep access_token; do sleep 1; done

The waiting page, for people (a private window is another visitor):
  $admission/room/demo

Ctrl-C stops everything.
END
}

trap stop_all EXIT
trap stopped INT TERM HUP

need_compiler
say "building (the first time takes some minutes)"
# A demo needs no release, which is optimised across crates for minutes more; trials and this share what is built.
in_background build cargo build --locked --profile quick -p vestibule-admission -p vestibule-controller
wait "${started[0]%%:*}" || die "the build has failed"
started=()
bin=${CARGO_TARGET_DIR:-target}/quick

if [ -z "${VESTIBULE_SECRET:-}${VESTIBULE_SECRET_FILE:-}" ]; then
  secret_file secret
  export VESTIBULE_SECRET_FILE=$run/secret
fi
if [ -n "${VESTIBULE_API_TOKEN_FILE:-}" ]; then
  api_token=$(<"$VESTIBULE_API_TOKEN_FILE")
elif [ -n "${VESTIBULE_API_TOKEN:-}" ]; then
  api_token=$VESTIBULE_API_TOKEN
else
  secret_file api-token
  api_token=$(<"$run/api-token")
  export VESTIBULE_API_TOKEN_FILE=$run/api-token
fi

get_redis
choose_port 8080 admission && admission_port=$port
choose_port 8081 controller && controller_port=$port
choose_port 9080 "admission's health" && admission_admin=127.0.0.1:$port
choose_port 9081 "the controller's health" && controller_admin=127.0.0.1:$port

start controller env VESTIBULE_LISTEN="127.0.0.1:$controller_port" \
  VESTIBULE_ADMIN_LISTEN="$controller_admin" "$bin/vestibule-controller"
start admission env VESTIBULE_DOCS=true VESTIBULE_LISTEN="127.0.0.1:$admission_port" \
  VESTIBULE_ADMIN_LISTEN="$admission_admin" "$bin/vestibule-admission"
wait_ready controller "$bin/vestibule-controller" "$controller_admin"
wait_ready admission "$bin/vestibule-admission" "$admission_admin"
put_room '{"total_active_users":2,"session_duration_seconds":30}'
print_usage

wait -n || true
is_up admission
is_up controller
die "Redis has ended; its log is target/run/redis.log"
