#!/bin/sh
# Part of the Dockerfile. Builds both services, or takes those of the folder that $PROGRAMS names; with an
# argument, puts them there without symbols. Usage: build.sh [INTO], in the root of the sources.
set -eu
if [ -z "$PROGRAMS" ]; then
  # The empty crates that were built before are newer than the real ones.
  find services shared -name '*.rs' -exec touch {} +
  cargo build --locked --profile "$PROFILE" -p vestibule-admission -p vestibule-controller
  # A folder named after the profile (of `dev` it is `debug`), of which there is only one here.
  PROGRAMS=$(echo target/*/vestibule-admission)
  PROGRAMS=${PROGRAMS%/vestibule-admission}
fi
if [ $# -gt 0 ]; then
  mkdir -p "$1"
  install -s -t "$1" "$PROGRAMS/vestibule-admission" "$PROGRAMS/vestibule-controller"
fi
