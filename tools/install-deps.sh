#!/bin/sh
# Installs the Debian packages of the named groups that are not there yet.
# usage: tools/install-deps.sh build|check|lint|interop|kafka|releases|packages ...
# As root it calls apt-get itself, else through sudo. Other systems: install
# what the lists below name, then set URLWEIR_NO_DEPS=1.
set -eu

build="gcc libc6-dev make pkg-config libcurl4-openssl-dev libxml2-dev
 libsqlite3-dev zlib1g-dev libisal-dev libssl-dev libxxhash-dev libpsl-dev
 libicu-dev libbrotli-dev libzstd-dev libbz2-dev libpcre2-dev libyaml-dev libjansson-dev
 libhiredis-dev librdkafka-dev libseccomp-dev
 libmicrohttpd-dev libgnutls28-dev libnghttp2-dev libprotobuf-c-dev protobuf-c-compiler
 protobuf-compiler
 ca-certificates"
# Each command that a test calls: none is skipped because one is missing.
check="check python3 sqlite3 openssl curl jq xz-utils nghttp2-server redis-server
 procps util-linux mandoc g++ strace systemd zsh fish"
lint="clang clang-format clang-tidy clang-tools cppcheck libclang-rt-dev"
interop="python3 python3-venv python3-pip"
# For tools/kafka.sh. Maven comes with a Java, but maybe without this one.
kafka="maven default-jre-headless openssl python3 procps"
releases="debootstrap iproute2 util-linux"
packages="build-essential debhelper lintian"

[ -z "${URLWEIR_NO_DEPS:-}" ] || exit 0
command -v dpkg-query >/dev/null 2>&1 || {
    echo "install-deps: not a Debian system; install the equivalents of:" \
        $build "and for the tests" $check "and set URLWEIR_NO_DEPS=1" >&2
    exit 1
}

want=""
for group in "$@"; do
    case $group in
    build | check | lint | interop | kafka | releases | packages) eval "want=\"\$want \$$group\"" ;;
    *) echo "install-deps: no group $group" >&2; exit 1 ;;
    esac
done

# Debian 12 names the sanitizer and fuzzer runtime after clang's version.
if [ -z "$(apt-cache search --names-only '^libclang-rt-dev$' 2>/dev/null)" ]; then
    want=$(echo $want | sed 's/libclang-rt-dev/libclang-rt-14-dev/')
fi

# The tests take valkey-server as well, where only that is to be had.
named() { [ -n "$(apt-cache search --names-only "^$1\$" 2>/dev/null)" ]; }
if ! named redis-server && named valkey-server; then
    want=$(echo $want | sed 's/redis-server/valkey-server/')
fi

missing=""
for p in $want; do
    state=$(dpkg-query -W -f '${db:Status-Abbrev}' "$p" 2>/dev/null || true)
    case $state in ii*) ;; *) missing="$missing $p" ;; esac
done
[ -n "$missing" ] || exit 0

sudo=""
if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null 2>&1 || {
        echo "install-deps: run as root, or install:$missing" >&2
        exit 1
    }
    sudo="sudo"
fi
echo "  DEPS$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
run() {
    DEBIAN_FRONTEND=noninteractive $sudo apt-get -y -q \
        -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" >"$log" 2>&1
}
# An index that is there may be enough; where it is old, fetch it and try
# again. A mirror that does not answer may a little later.
for pause in 0 10 30; do
    sleep $pause
    run install --no-install-recommends $missing && exit 0
    run update || : # of some of the lists, and those may be enough
    run install --no-install-recommends $missing && exit 0
done
tail -n 20 "$log" >&2
echo "install-deps: apt-get could not install:$missing" >&2
exit 1
