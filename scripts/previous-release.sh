#!/usr/bin/env bash
# Builds both services of another revision into target/previous, for the tests in which they run beside those
# of this tree (tests/upgrade). Usage: scripts/previous-release.sh [REVISION], the parent of HEAD unless said.
#
# Dependencies that this tree has built already are used again; what is built lies beside its own, under names that
# differ because the profile does. Nothing is built when target/previous is of that revision.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/lib.sh
. scripts/lib.sh

if [ "${VESTIBULE_TEST_SKIP_UPGRADE:-}" = 1 ]; then
  warn "VESTIBULE_TEST_SKIP_UPGRADE=1: nothing will be tested beside the previous release"
  exit 0
fi
root=$(pwd -P)
into=$root/target/previous
# Of this workspace's own crates alone, as a release has it: so they have other names than those of this tree, where both
# are kept.
profile=(--config 'profile.dev.debug=false' --config 'profile.dev.overflow-checks=false')

without_history() {
  rm -rf "$into"
  warn "$1: no previous release is built.
  The tests that run one beside this tree (tests/upgrade) will be LEFT OUT. Needed: a clone with its history
  (git fetch --unshallow)."
  exit 0
}

# unpack REVISION: its tree into target/previous/source, all as of now, because cargo goes by the time.
unpack() {
  rm -rf "$into/source"
  mkdir -p "$into/source"
  git archive "$1" | tar -x -m -C "$into/source"
}

# The whole workspace is named, because cargo builds what is chosen from all crates with the features that all of them
# together want: those that this tree's dependencies have been built with.
build() {
  (cd "$into/source" && CARGO_BUILD_BUILD_DIR=$root/target CARGO_TARGET_DIR=$into/built \
    cargo build --locked "${profile[@]}" --workspace --bin vestibule-admission --bin vestibule-controller)
}

have git || without_history "git is missing"
[ "$(git rev-parse --show-toplevel 2>/dev/null)" = "$root" ] ||
  without_history "this is not a git checkout"
wanted=${1:-HEAD^}
revision=$(git rev-parse --quiet --verify "$wanted^{commit}") || {
  [ $# -eq 0 ] || die "there is no revision $wanted here. Name one that \`git log\` lists."
  without_history "this checkout has no commit before its newest"
}
[ "$(cat "$into/revision" 2>/dev/null)" != "$revision" ] || exit 0
rm -f "$into/revision"
say "building the services of $(git log -1 --format='%h, %s' "$revision") into target/previous"
unpack "$revision"
build
for program in vestibule-admission vestibule-controller; do
  cp -f "$into/built/debug/$program" "$into/$program"
done
printf '%s\n' "$revision" >"$into/revision"
