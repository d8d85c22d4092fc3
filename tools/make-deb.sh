#!/bin/sh
# Builds the Debian packages from the tarball of a release into DIR, which is
# emptied; the build runs in DIR/urlweir-VERSION.
# usage: tools/make-deb.sh VERSION DIR [REVISION]
set -eu
version=$1
revision=${3:-1}
mkdir -p "$2"
dir=$(cd "$2" && pwd)
cd "$(dirname "$0")/.."

for tool in dpkg-buildpackage dh; do
    command -v $tool >/dev/null || {
        echo "make-deb: needs $tool; on Debian: apt-get install dpkg-dev debhelper" >&2
        exit 1
    }
done
find "$dir" -mindepth 1 -delete
tools/make-dist.sh "$version" "$dir" >/dev/null
tar -xzf "$dir/urlweir-$version.tar.gz" -C "$dir"
cp -R packaging/debian "$dir/urlweir-$version/debian"
cd "$dir/urlweir-$version"
cat >debian/changelog <<END
urlweir ($version-$revision) unstable; urgency=medium

  * Release $version; see /usr/share/doc/urlweir/changelog.gz.

 -- urlweir authors <urlweir@example.org>  $(date -Ru -r CHANGELOG.md)
END
dpkg-buildpackage --build=binary --no-sign --check-builddeps >"$dir/build.log" 2>&1 || {
    tail -n 30 "$dir/build.log" >&2
    exit 1
}
cd "$dir"
printf '%s\n' "$dir"/*.deb | grep -v dbgsym
