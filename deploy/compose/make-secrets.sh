#!/bin/sh
# Part of docker-compose.yml. Makes what is missing of the secrets in the volume /run/vestibule; each file is readable
# by the one who needs it, and its content is never printed.
set -eu
umask 077
cd /run/vestibule

# secret NAME USER
secret() {
  [ -s "$1" ] || {
    head -c 32 /dev/urandom | od -An -v -tx1 | tr -d ' \n' >"$1.new"
    mv "$1.new" "$1"
    echo "made the secret $1"
  }
  chown "$2" "$1"
  chmod 400 "$1"
}

secret secret 65532
secret api-token 65532
secret grafana-password 472
chmod 711 .
