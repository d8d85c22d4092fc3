#!/usr/bin/env bash
# Builds the Debian packages in a system of the release, where lintian finds
# nothing to say, and in a minimal one installs them, runs the README's first
# crawl as their user, upgrades and purges: nothing is left.
# usage: tools/check-deb.sh VERSION DIR SITE RELEASE
#   SITE   the server of the test web
#   KEEP   not empty: the system that builds stays, and the next run uses it
# The release that this system is builds here; another one in a system of its
# own, below DIR. CC and DEB_BUILD_OPTIONS hold for the build here.
# Promise (Installing and checks): the Debian packages, on Debian 12 and 13,
#   pass lintian; in a minimal system they install, run the README's first
#   crawl and upgrade with settings kept, and a purge leaves nothing.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
site=$3
release=$4
. tools/debian-system.sh
need_systems
need_release "$release"

build=$dir/$release-build root=$dir/$release made=$dir/packages-$release
forget() {
    rm -rf --one-file-system "$root"
    [ -n "${KEEP:-}" ] || rm -rf --one-file-system "$build"
}
trap forget EXIT
t0=$SECONDS
step() { echo "== $release, $((SECONDS - t0)) s: $*"; }

# Both revisions differ in their name alone, as one that is upgraded to.
build_both="tools/make-deb.sh $version build/deb &&
    lintian --allow-root --fail-on error,warning build/deb/*.changes &&
    mkdir build/deb/old && mv build/deb/*.deb build/deb/old &&
    cd build/deb/urlweir-$version &&
    sed -i '1s/-1)/-2)/' debian/changelog &&
    dpkg-buildpackage --build=binary --no-pre-clean --no-sign >../build2.log 2>&1"

step "build and lintian"
rm -rf "$made"
if [ "$(. /etc/os-release && echo "$VERSION_CODENAME")" = "$release" ]; then
    tools/install-deps.sh build packages
    sh -c "$build_both"
    cp -R build/deb "$made"
else
    if [ ! -e "$build/work/urlweir" ]; then
        rm -rf --one-file-system "$build"
        make_system "$release" "$build"
    fi
    copy_tree "$build"
    in_system "$build" host "tools/install-deps.sh build packages"
    in_system "$build" own "DEB_BUILD_OPTIONS=parallel=2 sh -c \"$build_both\""
    cp -R "$build/work/urlweir/build/deb" "$made"
fi

step "a minimal system"
rm -rf --one-file-system "$root"
make_system "$release" "$root"
mkdir -p "$root/work/urlweir"
cp "$made"/old/*urlweir*_"$version"-1_*.deb "$made"/*urlweir*_"$version"-2_*.deb \
    "$root/work/urlweir"
rm -f "$root"/work/urlweir/*-dbgsym_*
# The first command of the README that keeps a crawl, at a site of this machine.
crawl=$(sed -n 's/^    \(urlweir crawl https:[^#]* -o crawl\) .*/\1/p' README.md | head -n 1)
[ -n "$crawl" ] || { echo "the README has no first crawl"; exit 1; }
crawl="$(echo "$crawl" | sed 's|https://example.org/|http://127.0.0.1:8080/|')"
crawl="$crawl --delay 0 --allow-private"
cat >"$root/work/urlweir/run" <<END
set -eu
cd /work/urlweir
fail() { echo "FAILED: \$*"; exit 1; }
urlweir --version | grep -q '^urlweir $version$' || fail "--version"
[ "\$(getent passwd urlweir | cut -d: -f 6,7)" = /var/lib/urlweir:/usr/sbin/nologin ] || fail "no user"
for page in man1/urlweir-crawl.1 man1/urlweir-block.1 man5/urlweir-status.5; do
    gzip -dc /usr/share/man/\$page.gz | grep -q . || fail "no page \$page"
done
lib=\$(ldconfig -p | sed -n 's/.*liburlweir\.so\.1 .* => //p')
[ -n "\$lib" ] || fail "the loader does not find the library"
! ldd "\$lib" | grep "not found" || fail "the library lacks others"
mkdir -m 700 /srv/mine && chown urlweir: /srv/mine && cd /srv/mine
runuser -u urlweir -- $crawl || fail "the first crawl"
urlweir verify crawl || fail "verify"
urlweir export crawl --what pages | grep -c '"fetched"' >/work/urlweir/pages
END
cat >"$root/work/urlweir/run-again" <<END
set -eu
cd /srv/mine
grep -q mine /etc/default/urlweir || { echo "FAILED: settings are gone"; exit 1; }
runuser -u urlweir -- urlweir resume crawl
END

step "install"
in_system "$root" host "apt-get -qq update &&
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install \
        ./*-1_*.deb" >"$dir/install.log" 2>&1 ||
    { tail -n 20 "$dir/install.log"; exit 1; }
step "the first crawl"
beside="$site serve --hosts 1 --pages 50 --port 8080 --log $dir/log --max-time 120 >/dev/null" \
    in_system "$root" own "sh run"
pages=$(cat "$root/work/urlweir/pages")
[ "$pages" -ge 50 ] || { echo "FAILED: $pages pages of 50"; exit 1; }
echo "URLWEIR_OPTIONS=--quiet # mine" >"$root/etc/default/urlweir"
step "upgrade"
in_system "$root" own "dpkg -i *-2_*.deb &&
    sh run-again" >"$dir/upgrade.log" 2>&1 || { tail -n 20 "$dir/upgrade.log"; exit 1; }
step "purge"
in_system "$root" own "mkdir -p /var/lib/urlweir /etc/urlweir/crawls &&
    dpkg --purge urlweir urlweir-doc liburlweir-dev liburlweir1" >"$dir/purge.log" 2>&1 ||
    { tail -n 20 "$dir/purge.log"; exit 1; }
rm -rf "$root/srv/mine" "$root/work"
left=$(find "$root" -xdev -name '*urlweir*')
[ -z "$left" ] || { echo "FAILED: a purge leaves $left"; exit 1; }
step "passed"
