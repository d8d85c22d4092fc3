#!/bin/sh
# The same tree makes the same release tarball, which has its checksum and
# builds without git; the packages depend on the libraries that the Makefile
# links; systemd makes the user and the folders that the units need.
# Promise (Installing and checks): the same tree makes the same release
#   tarball, which builds without git; packages depend on what the Makefile
#   links; systemd makes user and folders.
set -eu
. "$TOP/tests/cli/lib.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL

# ---- the tarball ----------------------------------------------------------------

version=$(sed -n 's/^VERSION := //p' "$TOP/Makefile")
export SOURCE_DATE_EPOCH=1767225600
for d in one two; do
    exits 0 "$TOP/tools/make-dist.sh" "$version" "$WORK/$d"
done
cmp one/*.tar.gz two/*.tar.gz || fail "two tarballs of one tree differ"
exits 0 sh -c "cd one && sha256sum -c urlweir-$version.tar.gz.sha256"
tar -xzf one/urlweir-$version.tar.gz
for f in Makefile README.md LICENSE docs/man/urlweir.1 packaging/debian/control \
    tests/unit/main.c service/urlfrontier/urlfrontier.proto; do
    cmp -s "$TOP/$f" "urlweir-$version/$f" || fail "the tarball lacks $f"
done
[ ! -e urlweir-$version/build ] && [ ! -e urlweir-$version/.git ] || fail "too much in it"
[ "$(stat -c %Y urlweir-$version/Makefile)" = $SOURCE_DATE_EPOCH ] || fail "another date"
# Without git, which would find the history of a folder above, all is there that
# the Makefile wants to compile.
mkdir no-git
printf '#!/bin/sh\nexit 127\n' >no-git/git
chmod 755 no-git/git
(PATH=$WORK/no-git:$PATH URLWEIR_NO_DEPS=1 make -n -C "urlweir-$version" all >out 2>err) ||
    fail "make: $(cat err)"
sources=$(cd "$TOP" && find base config filter storage frontier crawler job cluster service cli bindings/c \
    -name '*.c' ! -path '*/dashboard/*' ! -name kafka_absent.c | wc -l)
compiled=$(grep -c '  CC  ' out)
[ "$compiled" = "$sources" ] || fail "$compiled files of $sources would be compiled"

# ---- what the packages ask for ----------------------------------------------------

sed -n '/^build="/,/"$/p' "$TOP/tools/install-deps.sh" | tr ' "' '\n\n' |
    grep -e '-dev$\|protobuf.*compiler$\|^pkg-config$' | grep -v '^libc6-dev$' | LC_ALL=C sort >want
sed -n '/^Build-Depends:/,/^$/s/^ \([a-z0-9.+-]*\),$/\1/p' "$TOP/packaging/debian/control" |
    grep -v '^dh-' | LC_ALL=C sort >got
diff want got || fail "debian/control asks for other packages than tools/install-deps.sh"
sed -n '/^PKGS :=/,/[^\\]$/p' "$TOP/Makefile" | tr ' ' '\n' | grep '^[a-z]' | LC_ALL=C sort >want
grep -o 'pkgconfig([^)]*)' "$TOP/packaging/urlweir.spec" | sed 's/.*(\(.*\))/\1/' |
    LC_ALL=C sort >got
diff want got || fail "urlweir.spec asks for other libraries than the Makefile"

# ---- user and folders -------------------------------------------------------------

mkdir -p root/etc
exits 0 systemd-sysusers --root="$WORK/root" "$TOP/packaging/sysusers.conf"
grep -q '^urlweir:.*:/var/lib/urlweir:/usr/sbin/nologin$' root/etc/passwd ||
    fail "no user: $(cat root/etc/passwd)"
for unit in urlweir urlweir-crawl@; do
    grep -qx 'User=urlweir' "$TOP/packaging/$unit.service" || fail "$unit has another user"
done
if [ "$(id -u)" = 0 ]; then
    exits 0 systemd-tmpfiles --root="$WORK/root" --create "$TOP/packaging/tmpfiles.conf"
    [ "$(stat -c %a root/etc/urlweir/crawls)" = 750 ] || fail "others read the crawls' settings"
else
    leaves_out "the folders that systemd makes, which only root can give away"
fi
