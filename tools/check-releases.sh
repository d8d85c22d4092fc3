#!/usr/bin/env bash
# Builds and tests the tree in a fresh minimal system of each Debian release.
# usage: tools/check-releases.sh DIR RELEASE...
#   RUN    what runs there instead of the steps below, for the shell
#   KEEP   not empty: DIR/RELEASE stays, and the next run with it goes on there
# The system stands in DIR/RELEASE, some 3 GB, and is removed at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1
shift
steps=(
    "make deps"
    "make CFLAGS=-Werror check"
    "make CC=clang CFLAGS=-Werror B=build/clang all check-unit"
)

. tools/debian-system.sh
need_systems

forget() { [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$1"; }

check_release() {
    local release=$1 root=$dir/$1 step network t0
    echo "== $release: a minimal system"
    if [ -z "${KEEP:-}" ] || [ ! -e "$root/work" ]; then
        rm -rf --one-file-system "$root"
        make_system "$release" "$root" make
    fi
    [ ! -d "${SHARED:-../shared}" ] || mkdir -p "$root/work/shared"
    copy_tree "$root"
    for step in "${steps[@]}"; do
        t0=$SECONDS
        network=own
        [ "$step" != "make deps" ] || network=host
        echo "== $release: $step"
        in_system "$root" $network "$step"
        echo "== $release: $step took $((SECONDS - t0)) s"
    done
}

[ -z "${RUN:-}" ] || steps=("make deps" "$RUN")
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
for release in "$@"; do
    need_release "$release"
    trap 'forget "$dir/$release"' EXIT
    check_release "$release"
    forget "$dir/$release"
done
echo "check-releases: $* passed"
