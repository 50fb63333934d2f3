#!/usr/bin/env bash
# `make fuzz-api`: checks with made-up requests that both services answer as their OpenAPI documents
# say. Redis and the services are private ones and end with the script; Schemathesis is installed
# once, into a folder of Python's own outside the repository. Not part of CI.
#
# FUZZ_EXAMPLES: requests for each operation (100). FUZZ_ONLY: `admission` or `controller`.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

venv=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/vestibule-fuzz
dir=$(mktemp -d)
pids=()

stop_all() {
  local pid
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  [ -n "${failed:-}" ] || rm -rf "$dir"
}
trap stop_all EXIT

# start NAME COMMAND...: in the background, with a log.
start() {
  local name=$1
  shift
  "$@" >"$dir/$name.log" 2>&1 </dev/null &
  pids+=("$!")
}

# wait_for NAME COMMAND...: until the command succeeds.
wait_for() {
  local name=$1 tries=0
  shift
  until "$@" 2>/dev/null; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { tail "$dir/$name.log"; die "$name is not ready"; }
    sleep 0.2
  done
}

# put PATH JSON: sets something up, by one request in plain bash.
put() {
  local status
  exec 3<>"/dev/tcp/127.0.0.1/$controller"
  printf 'PUT %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n' "$1" >&3
  printf 'Authorization: Bearer %s\r\nContent-Length: %d\r\n\r\n%s' "$VESTIBULE_API_TOKEN" "${#2}" "$2" >&3
  read -r _ status _ <&3
  exec 3>&- 3<&-
  [ "$status" = 201 ] || die "the controller refuses $1: status $status"
}

# fuzz SERVICE PORT HEADER...
fuzz() {
  local service=$1 port=$2 header headers=()
  shift 2
  [ "${FUZZ_ONLY:-$service}" = "$service" ] || return 0
  for header in "$@"; do headers+=(-H "$header"); done
  "$venv/bin/schemathesis" --config-file "$dir/schemathesis.toml" run "openapi/$service.json" \
    --url "http://127.0.0.1:$port" "${headers[@]}" --max-examples "${FUZZ_EXAMPLES:-100}" \
    --phases examples,coverage,fuzzing --workers 2 --request-timeout 30 --warnings off \
    --continue-on-failure \
    --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance \
    || failed=1
}

have redis-server || die "redis-server is missing (Debian: apt-get install redis-server)"
[ -x "$venv/bin/schemathesis" ] || {
  python3 -m venv "$venv"
  "$venv/bin/pip" install --quiet 'schemathesis>=4,<5'
}
cargo build --locked --quiet -p vestibule-admission -p vestibule-controller
bin=${CARGO_TARGET_DIR:-target}/debug

redis=$(free_port 26379) admission=$(free_port 28080) controller=$(free_port 28081)
admission_admin=$(free_port 29080) controller_admin=$(free_port 29081)
export VESTIBULE_REDIS_URL=redis://127.0.0.1:$redis VESTIBULE_LOG=warn
export VESTIBULE_SECRET=0123456789abcdef0123456789abcdef VESTIBULE_API_TOKEN=0123456789abcdef
start redis redis-server --bind 127.0.0.1 --port "$redis" --save '' --appendonly no --dir "$dir"
wait_for redis port_is_taken "$redis"
start controller env VESTIBULE_LISTEN="127.0.0.1:$controller" \
  VESTIBULE_ADMIN_LISTEN="127.0.0.1:$controller_admin" "$bin/vestibule-controller"
start admission env VESTIBULE_LISTEN="127.0.0.1:$admission" \
  VESTIBULE_ADMIN_LISTEN="127.0.0.1:$admission_admin" "$bin/vestibule-admission"
wait_for controller env VESTIBULE_ADMIN_LISTEN="127.0.0.1:$controller_admin" "$bin/vestibule-controller" healthcheck
wait_for admission env VESTIBULE_ADMIN_LISTEN="127.0.0.1:$admission_admin" "$bin/vestibule-admission" healthcheck
# The room of the documents' examples, with a draw, so that not every call ends with 404.
now=$(date +%s)
put /v1/rooms/on-sale '{"json_response_enabled":true}'
put /v1/rooms/on-sale/events/album-release "{\"event_start_time\":$((now + 7200)),
  \"event_end_time\":$((now + 9000)),\"prequeue_start_time\":$((now + 3600)),\"draw_at_event_start\":true}"
# 503 is documented, for calls that come while something is away.
cat >"$dir/schemathesis.toml" <<'END'
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", "503"]
END

failed=
fuzz admission "$admission"
fuzz controller "$controller" "Authorization: Bearer $VESTIBULE_API_TOKEN"
if grep -l ERROR "$dir"/*.log; then failed=1; fi
[ -z "$failed" ] || die "the services do not answer as documented; their logs are in $dir"
