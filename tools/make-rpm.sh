#!/bin/sh
# Builds the RPM packages from the tarball of a release into DIR, which is
# emptied. On a system that has rpmbuild but no RPM packages nothing is known of
# what building needs, and it is taken as installed.
# usage: tools/make-rpm.sh VERSION DIR
# Promise (Installing and checks): the RPM holds what `make install` puts
#   there.
set -eu
version=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."

command -v rpmbuild >/dev/null || {
    echo "make-rpm: needs rpmbuild" >&2
    exit 1
}
find "$dir" -mindepth 1 -delete
mkdir "$dir/SOURCES"
tools/make-dist.sh "$version" "$dir/SOURCES" >/dev/null
nodeps=
rpm -q rpm >/dev/null 2>&1 || nodeps=--nodeps
rpmbuild -bb $nodeps --define "_topdir $dir" --define "_version $version" \
    packaging/urlweir.spec >"$dir/build.log" 2>&1 || {
    tail -n 30 "$dir/build.log" >&2
    exit 1
}
find "$dir/RPMS" -name 'urlweir*.rpm' ! -name '*debug*'
