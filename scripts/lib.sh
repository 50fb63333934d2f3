# What the scripts share. To be sourced by bash; it does nothing by itself.
# shellcheck shell=bash

# Cargo as rustup installs it, also where no profile was read.
if ! command -v cargo >/dev/null && [ -x "${CARGO_HOME:-${HOME:-/root}/.cargo}/bin/cargo" ]; then
  PATH="${CARGO_HOME:-${HOME:-/root}/.cargo}/bin:$PATH"
fi

say() { printf '%s\n' "$*"; }

warn() { printf 'WARNING: %s\n' "$*" >&2; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# Runs a command as root: directly, or through sudo where that asks for no password.
as_root() {
  if [ "$(id -u)" = 0 ]; then
    "$@"
  elif have sudo && sudo -n true 2>/dev/null; then
    sudo -n "$@"
  else
    return 1
  fi
}

# one_at_a_time COMMAND...: of all scripts of this tree that run beside each other. What it starts does not hold the lock.
one_at_a_time() {
  if ! have flock; then
    "$@"
    return
  fi
  mkdir -p target/tools
  (flock 9 && "$@" 9>&-) 9>target/tools/.apt.lock
}

# apt_install PACKAGE...: fails where there is no apt, or it is not allowed.
apt_install() {
  have apt-get || return 1
  as_root true || return 1
  one_at_a_time install_with_apt "$@"
}

install_with_apt() {
  say "installing with apt: $*"
  local install=(env DEBIAN_FRONTEND=noninteractive
    apt-get install -y -qq --no-install-recommends "$@")
  # A fresh machine has no package lists yet, or old ones.
  as_root "${install[@]}" >/dev/null 2>&1 || {
    as_root apt-get update -qq >/dev/null && as_root "${install[@]}" >/dev/null
  }
}

# apt_install_programs PACKAGE...: for their programs. Services that come with them are not started.
apt_install_programs() {
  have apt-get || return 1
  as_root true || return 1
  one_at_a_time install_programs_with_apt "$@"
}

# Debian asks policy-rc.d before it starts a service, and 101 means no.
install_programs_with_apt() {
  local policy=/usr/sbin/policy-rc.d added=
  if [ ! -e "$policy" ]; then
    printf '#!/bin/sh\nexit 101\n' | as_root tee "$policy" >/dev/null
    as_root chmod 755 "$policy"
    added=1
  fi
  local installed=0
  install_with_apt "$@" || installed=1
  [ -z "$added" ] || as_root rm -f "$policy"
  # Nor with the next start of the machine.
  if [ "$installed" = 0 ] && have systemctl; then
    local package
    for package in "$@"; do
      as_root systemctl disable "${package%-light}" >/dev/null 2>&1 || true
    done
  fi
  return "$installed"
}

need_pip() {
  python3 -m pip --version >/dev/null 2>&1 || apt_install python3 python3-pip
}

# pip_install PACKAGE DIRECTORY [OPTION...]
pip_install() {
  need_pip || return 1
  local package=$1 directory=$2
  shift 2
  say "installing $package with pip into $directory"
  mkdir -p "$directory"
  python3 -m pip install --quiet --disable-pip-version-check --root-user-action=ignore \
    --upgrade --target "$directory" "$@" "$package"
}

# Redis is wanted for its program: a service that comes with the package is not left running.
install_redis() {
  apt_install redis-server || return 1
  if have systemctl; then
    as_root systemctl disable --now redis-server >/dev/null 2>&1 || true
  elif have service; then
    as_root service redis-server stop >/dev/null 2>&1 || true
  fi
}

# Rust needs a linker, and the cryptography a C compiler.
need_compiler() {
  have cargo || die "Rust is missing: install it with rustup, then try again"
  have cc || apt_install gcc libc6-dev ||
    die "a C compiler is missing: install gcc (Debian: apt-get install gcc libc6-dev)"
}

docker_answers() { have docker && docker version >/dev/null 2>&1; }

# port_is_taken PORT: whether somebody listens there on this machine.
port_is_taken() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# free_port WANTED: that port, or the next one on which nobody listens.
free_port() {
  local port=$1
  while port_is_taken "$port"; do port=$((port + 1)); done
  printf '%s' "$port"
}
