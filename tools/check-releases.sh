#!/usr/bin/env bash
# The tree in a fresh minimal system of each Debian release: in bookworm the two
# commands of README.md, word by word; in trixie everything is compiled, with
# warnings as errors, and the unit tests run. LONG=1: all of that in both, the
# tests once more without a network, and clang as well.
# usage: tools/check-releases.sh DIR RELEASE...
#   RUN    what runs there instead, for the shell
#   KEEP   not empty: DIR/RELEASE stays, and the next run with it goes on there
# The system stands in DIR/RELEASE, some 3 GB, and is removed at the end. Where
# none can be made, README's commands run on this machine, which may have what a
# fresh one lacks.
# Promise (Installing and checks): README's two commands end with 0 in a fresh
#   minimal Debian 12; a fresh 13 compiles everything without a warning and
#   passes the unit tests. With LONG=1 both do both, with clang too, and run
#   all tests once more without a network. See also `.ci/run`.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1
shift
releases=$*

. tools/debian-system.sh
skip() {
    echo "check-releases: NO FRESH SYSTEM of $releases: $*"
    case $releases in *bookworm*)
        echo "check-releases: README's commands run on this machine instead"
        make demo
        make check
        ;;
    esac
    exit
}
need_systems

# readme NAME: the command that ends with `make NAME`.
readme() {
    sed -n "s/^    \(apt-get update .* make $1\)\$/\1/p" README.md | grep . ||
        { echo "README.md has no command that ends with make $1" >&2; exit 1; }
}
install=$(readme check)
install=${install% && make check}
compile="make -j2 CFLAGS=-Werror B=build/werror build-all check-unit"

# A network and a command each; `own` is one without a way out.
steps_of() {
    if [ -n "${RUN:-}" ]; then
        echo "host $RUN"
        return
    fi
    [ "$1" != bookworm ] && [ -z "${LONG:-}" ] || printf 'host %s\n' "$(readme demo)" "$(readme check)"
    [ "$1" = bookworm ] && [ -z "${LONG:-}" ] || echo "host $install && $compile"
    [ -z "${LONG:-}" ] || printf '%s\n' "own make check" \
        "host make deps" "own make CC=clang CFLAGS=-Werror B=build/clang build-all check-unit"
}

forget() { [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$1"; }

check_release() {
    local release=$1 root=$dir/$1 network step t0=$SECONDS
    echo "== $release: a minimal system"
    if [ -z "${KEEP:-}" ] || [ ! -e "$root/work" ]; then
        rm -rf --one-file-system "$root"
        make_system "$release" "$root"
    fi
    [ ! -d "${SHARED:-../shared}" ] || mkdir -p "$root/work/shared"
    copy_tree "$root"
    echo "== $release: a minimal system took $((SECONDS - t0)) s"
    while read -r network step; do
        t0=$SECONDS
        echo "== $release: $step"
        in_system "$root" "$network" "$step"
        echo "== $release: $step took $((SECONDS - t0)) s"
    done < <(steps_of "$release")
}

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
for release in "$@"; do
    need_release "$release"
    trap 'forget "$dir/$release"' EXIT
    check_release "$release"
    forget "$dir/$release"
done
echo "check-releases: $* passed"
