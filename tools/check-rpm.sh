#!/bin/sh
# The RPM packages build, hold what `make install` puts there and nothing else,
# and their program runs.
# usage: tools/check-rpm.sh VERSION DIR
set -eu
cd "$(dirname "$0")/.."
fail() {
    echo "FAILED: $*"
    exit 1
}
for tool in rpmbuild rpm2cpio cpio; do
    command -v $tool >/dev/null || { echo "check-rpm: skipped, no $tool here"; exit 0; }
done
dir=$2
tools/make-rpm.sh "$1" "$dir"
mkdir "$dir/root" "$dir/want"
for rpm in $(find "$PWD/$dir/RPMS" -name 'urlweir*.rpm' ! -name '*debug*'); do
    rpm2cpio "$rpm" | (cd "$dir/root" && cpio -id --quiet)
done
[ "$("$dir/root/usr/bin/urlweir" --version | head -n 1)" = "urlweir $1" ] || fail "the program"
make -s DESTDIR="$PWD/$dir/want" PREFIX=/usr LIBDIR="$(rpm --eval '%{_libdir}')" install >/dev/null
# Where rpmbuild compresses manuals it does it for all.
list() { (cd "$1" && find . ! -type d | sed 's|\(/man/.*\)\.gz$|\1|' | grep -v build-id | LC_ALL=C sort); }
list "$dir/want" >"$dir/want.list"
list "$dir/root" >"$dir/root.list"
diff "$dir/want.list" "$dir/root.list" || fail "other files than make install has"
rpm -qp --scripts "$(find "$dir/RPMS" -name "urlweir-$1*.rpm")" 2>/dev/null |
    grep -q systemd-sysusers || fail "nobody makes the user"
echo "check-rpm: passed"
