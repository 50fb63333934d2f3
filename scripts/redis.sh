# Where `make run` gets its Redis. To be sourced by run.sh, whose `start` and `run` it uses.
# shellcheck shell=bash

redis_container=

# Sets VESTIBULE_REDIS_URL: to a running Redis if it names one, else to a private one, which keeps
# nothing on disk.
get_redis() {
  if [ -n "${VESTIBULE_REDIS_URL:-}" ]; then
    say "using the Redis of VESTIBULE_REDIS_URL"
    return
  fi
  local port server=
  port=$(free_port 16379)
  if have redis-server; then
    server=redis-server
  elif have valkey-server; then
    server=valkey-server
  elif docker_answers; then
    start_redis_container "$port"
  elif install_redis; then
    server=redis-server
  else
    die "there is no Redis, and none can be installed from here. One of these helps:
  set VESTIBULE_REDIS_URL to a running one; install redis-server or valkey-server
  (Debian: apt-get install redis-server); start a Docker engine"
  fi
  [ -z "$server" ] || start_redis "$server" "$port"
  export VESTIBULE_REDIS_URL=redis://127.0.0.1:$port
}

start_redis() {
  say "starting a private $1 on port $2"
  mkdir -p "$run/redis"
  start redis "$1" --bind 127.0.0.1 --port "$2" --save '' --appendonly no --dir "$run/redis"
  local tries=0
  until port_is_taken "$2"; do
    is_up redis
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || die "$1 does not answer; its log is target/run/redis.log"
    sleep 0.1
  done
}

start_redis_container() {
  say "starting a private Redis in Docker on port $1"
  redis_container=$(docker run --rm --detach --publish "127.0.0.1:$1:6379" redis:7 \
    redis-server --save '' --appendonly no) || die "Docker cannot run the image redis:7"
}

stop_redis() {
  [ -z "$redis_container" ] || docker rm --force "$redis_container" >/dev/null 2>&1 || true
}
