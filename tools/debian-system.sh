# Minimal Debian systems for what must work in a fresh one; read with `.` by bash.
# Their packages come from where this system's apt takes Debian's. Mounts,
# processes and the network are in namespaces of their own, which end with them.
# What a machine cannot do is skipped with a line that says so.

skip() {
    echo "$(basename "$0" .sh): skipped, $*"
    exit 0
}

# Sets $mirror.
need_systems() {
    [ "$(id -u)" = 0 ] || skip "only root can make a system of another release"
    tools/install-deps.sh releases || skip "debootstrap is not there"
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' \
        'Origin: Debian' 'Label: Debian' | head -n 1)
    [ -n "$mirror" ] || skip "apt has no archive of Debian here"
    unshare --mount --pid --fork --net true 2>/dev/null ||
        skip "no namespaces may be made here"
}

need_release() {
    local list
    list=$(mktemp)
    /usr/lib/apt/apt-helper -qq download-file \
        "${mirror%/}/dists/$1/InRelease" "$list" >/dev/null 2>&1 || {
        rm -f "$list"
        skip "the archive of $1 cannot be reached"
    }
    rm -f "$list"
}

# make_system RELEASE ROOT [PACKAGE,...]
make_system() {
    debootstrap --variant=minbase ${3:+--include="$3"} "$1" "$2" "$mirror" \
        >"$2.log" 2>&1 || { tail -n 20 "$2.log"; return 1; }
    cp /etc/resolv.conf /etc/hosts "$2/etc/"
    apt-config dump | grep -E '^Acquire::(Check-|https?::)' \
        >"$2/etc/apt/apt.conf.d/90host" || :
    printf '#!/bin/sh\nexit 101\n' >"$2/usr/sbin/policy-rc.d" # no services
    chmod 755 "$2/usr/sbin/policy-rc.d"
}

# in_system ROOT host|own COMMAND: runs it in /work/urlweir inside ROOT, with the
# network of the host, or one of its own where $beside runs outside of ROOT.
in_system() {
    local own=(--mount --pid --fork --kill-child)
    [ "$2" = host ] || own+=(--net)
    unshare "${own[@]}" sh -c '
        mount -t proc proc "$1/proc" &&
        mount --rbind /sys "$1/sys" &&
        mount --rbind /dev "$1/dev" &&
        mount -t tmpfs tmpfs "$1/dev/shm" &&
        { [ ! -d "$1/work/shared" ] || mount --bind "$4" "$1/work/shared"; } &&
        { [ "$2" = host ] || ip link set lo up; } &&
        { [ "$5" = "" ] || eval "$5 &"; } &&
        exec chroot "$1" /usr/bin/env -i HOME=/root LANG=C.UTF-8 \
            PATH=/usr/sbin:/usr/bin:/sbin:/bin \
            ${http_proxy:+http_proxy="$http_proxy"} \
            nice sh -c "cd /work/urlweir && $3"' \
        sh "$1" "$2" "$3" "${SHARED:-../shared}" "${beside:-}" </dev/null
}

# copy_tree ROOT: this tree; of an earlier run only what was built is left.
copy_tree() {
    mkdir -p "$1/work/urlweir"
    find "$1/work/urlweir" -mindepth 1 -maxdepth 1 ! -name build \
        -exec rm -rf {} +
    tar -c --exclude=./build --exclude=./.git . | tar -x -C "$1/work/urlweir"
}
