#!/usr/bin/env bash
# Builds and tests the tree in a fresh minimal system of each Debian release.
# usage: tools/check-releases.sh DIR RELEASE...
#   RUN    what runs there instead of the steps below, for the shell
#   KEEP   not empty: DIR/RELEASE stays, and the next run with it goes on there
# The system stands in DIR/RELEASE, some 3 GB, and is removed at the end. Its
# packages come from where this system's apt takes Debian's. Mounts, processes
# and the network of the tests are in namespaces of their own, which end with
# them. What a machine cannot do is skipped with a line that says so.
set -euo pipefail
cd "$(dirname "$0")/.."
dir=$1
shift
steps=(
    "make deps"
    "make CFLAGS=-Werror check"
    "make CC=clang CFLAGS=-Werror B=build/clang all check-suites"
)

skip() {
    echo "check-releases: skipped, $*"
    exit 0
}
[ "$(id -u)" = 0 ] || skip "only root can make a system of another release"
tools/install-deps.sh releases || skip "debootstrap is not there"
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
    'Origin: Debian' 'Label: Debian' | head -n 1)
[ -n "$mirror" ] || skip "apt has no archive of Debian here"
unshare --mount --pid --fork --net true 2>/dev/null ||
    skip "no namespaces may be made here"

# in_system ROOT NETWORK COMMAND: runs it in the tree inside ROOT.
in_system() {
    local own=(--mount --pid --fork --kill-child)
    [ "$2" = host ] || own+=(--net)
    unshare "${own[@]}" sh -c '
        mount -t proc proc "$1/proc" &&
        mount --rbind /dev "$1/dev" &&
        mount -t tmpfs tmpfs "$1/dev/shm" &&
        { [ ! -d "$1/work/shared" ] || mount --bind "$4" "$1/work/shared"; } &&
        { [ "$2" = host ] || ip link set lo up; } &&
        exec chroot "$1" /usr/bin/env -i HOME=/root LANG=C.UTF-8 \
            PATH=/usr/sbin:/usr/bin:/sbin:/bin \
            ${http_proxy:+http_proxy="$http_proxy"} \
            nice sh -c "cd /work/urlweir && $3"' \
        sh "$1" "$2" "$3" "${SHARED:-../shared}" </dev/null
}

# A system that is minimal, with this tree in it.
make_system() {
    debootstrap --variant=minbase --include=make "$1" "$2" "$mirror" \
        >"$2.log" 2>&1 || { tail -n 20 "$2.log"; return 1; }
    cp /etc/resolv.conf /etc/hosts "$2/etc/"
    apt-config dump | grep -E '^Acquire::(Check-|https?::)' \
        >"$2/etc/apt/apt.conf.d/90host" || :
    printf '#!/bin/sh\nexit 101\n' >"$2/usr/sbin/policy-rc.d" # no services
    chmod 755 "$2/usr/sbin/policy-rc.d"
}

# Of an earlier run only what was built is left.
copy_tree() {
    mkdir -p "$1/work/urlweir"
    find "$1/work/urlweir" -mindepth 1 -maxdepth 1 ! -name build \
        -exec rm -rf {} +
    [ ! -d "${SHARED:-../shared}" ] || mkdir -p "$1/work/shared"
    tar -c --exclude=./build --exclude=./.git . | tar -x -C "$1/work/urlweir"
}

forget() { [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$1"; }

check_release() {
    local release=$1 root=$dir/$1 step network t0
    echo "== $release: a minimal system"
    if [ -z "${KEEP:-}" ] || [ ! -e "$root/work" ]; then
        rm -rf --one-file-system "$root"
        make_system "$release" "$root"
    fi
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
list=$(mktemp)
trap 'rm -f "$list"' EXIT
for release in "$@"; do
    /usr/lib/apt/apt-helper -qq download-file \
        "${mirror%/}/dists/$release/InRelease" "$list" >/dev/null 2>&1 ||
        skip "the archive of $release cannot be reached"
    trap 'rm -f "$list"; forget "$dir/$release"' EXIT
    check_release "$release"
    forget "$dir/$release"
done
echo "check-releases: $* passed"
