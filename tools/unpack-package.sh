#!/bin/sh
# A Debian package's files under DIR, without installing it: nothing on the
# system changes, and images that leave /usr/share/doc out still get it.
# usage: tools/unpack-package.sh PACKAGE DIR [N]
#   PACKAGE  its name; with N the Nth, in the order of versions, of those whose
#            names match this extended regular expression: releases of Debian
#            have other versions of a documentation
set -eu
package=$1
dir=$2
nth=${3:-}
[ ! -e "$dir/.whole" ] || exit 0

command -v apt-get >/dev/null 2>&1 || {
    echo "unpack-package: no apt-get here; unpack $package into $dir" \
        "and touch $dir/.whole" >&2
    exit 1
}
rm -rf "$dir"
mkdir -p "$dir"
log=$dir.log
# As root apt would hand the download to a user who may not write here.
download() {
    [ -z "$nth" ] || package=$(apt-cache search --names-only "^$1\$" |
        cut -d ' ' -f 1 | sort -V | sed -n "${nth}p")
    [ -n "$package" ] && (cd "$dir" && apt-get -q -o APT::Sandbox::User= download "$package") \
        >"$log" 2>&1
}
refresh() {
    sudo=""
    [ "$(id -u)" = 0 ] || sudo=sudo
    $sudo apt-get -q -o DPkg::Lock::Timeout=300 update >>"$log" 2>&1
}
echo "  GET  $package${nth:+ ($nth)}"
# An index that is there may be enough; where it is old, fetch it, try again.
download "$1" || { refresh && download "$1"; } || {
    tail -n 20 "$log" >&2
    echo "unpack-package: apt-get could not download $1" >&2
    exit 1
}
dpkg-deb -x "$dir"/*.deb "$dir"
rm -f "$dir"/*.deb
touch "$dir/.whole"
