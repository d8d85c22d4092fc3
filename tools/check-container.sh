#!/usr/bin/env bash
# Builds the image of packaging/Containerfile and runs the program, the service
# and its health check in it. The base is made here by debootstrap, so that no
# image of others has to be fetched.
# usage: tools/check-container.sh VERSION DIR
#   ROOT   a minimal system of Debian to take as the base, instead of a new one
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1
mkdir -p "$2"
dir=$(cd "$2" && pwd)
. tools/debian-system.sh
command -v buildah >/dev/null || skip "no buildah here"
need_systems
fail() {
    echo "FAILED: $*"
    exit 1
}
export STORAGE_DRIVER=vfs BUILDAH_ISOLATION=chroot
buildah() { command buildah --root "$dir/storage" --runroot "$dir/run" "$@"; }
root=${ROOT:-$dir/root}
box=
forget() {
    [ "$box" = "" ] || buildah rm "$box" >/dev/null || :
    rm -rf --one-file-system "$dir/storage" "$dir/run" "$dir/root"
}
trap forget EXIT

if [ ! -e "$root/etc/debian_version" ]; then
    need_release bookworm
    make_system bookworm "$root"
fi
base=$(buildah from scratch)
buildah add -q "$base" "$root" / >/dev/null
buildah commit -q "$base" localhost/urlweir-base >/dev/null
buildah rm "$base" >/dev/null

buildah build -q --format docker --network host --build-arg BASE=localhost/urlweir-base \
    -t localhost/urlweir -f packaging/Containerfile . >"$dir/build.log" 2>&1 ||
    { tail -n 20 "$dir/build.log"; exit 1; }

inspect() { buildah inspect --type image --format "$1" localhost/urlweir; }
[ "$(inspect '{{.OCIv1.Config.User}}')" = urlweir ] || fail "it runs as another user"
inspect '{{.OCIv1.Config.Volumes}}' | grep -q /data || fail "no volume"
inspect '{{.Docker.Config.Healthcheck}}' | grep -q healthz || fail "no health check"
box=$(buildah from localhost/urlweir)
run() { buildah run --user urlweir "$box" -- "$@"; }
run urlweir --version | grep -qx "urlweir $version" || fail "the program"
[ "$(run id -un)" = urlweir ] || fail "the user"
# The command of the health check, as the file has it, fails where nothing is
# served and succeeds where something is.
check=$(sed -n '/^HEALTHCHECK/,/\]$/p' packaging/Containerfile | python3 -c '
import json, sys
print(json.loads("[" + sys.stdin.read().replace("\\\n", "").split("[", 1)[1])[2])')
! run bash -c "$check" 2>"$dir/check.err" || fail "healthy without a service"
run bash -c "urlweir serve /data 2>/tmp/err &
    for i in {1..300}; do
        ( $check ) 2>>/tmp/check && kill \$! && wait && exit 0
        sleep 0.1
    done
    cat /tmp/err
    exit 1" || fail "the service is not healthy"
echo "check-container: passed"
