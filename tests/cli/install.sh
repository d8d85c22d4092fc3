#!/bin/sh
# `make install` puts the program, its manual, the commented settings and the
# licence under DESTDIR and PREFIX, and nothing else; `make uninstall` removes
# what it put there. The manual renders without warnings.
set -eu
. "$TOP/tests/cli/lib.sh"

mode=$(basename "$(dirname "$URLWEIR")")
unset MAKEFLAGS MFLAGS MAKELEVEL
# What others run beside this is not made anew under their feet (-o).
make_it() {
    exits 0 make -C "$TOP" -o "build/$mode/urlweir" MODE="$mode" \
        DESTDIR="$WORK/root" "$@"
}

make_it PREFIX=/usr install
(cd root && find . ! -type d | LC_ALL=C sort) >files
(cd root && find . -type f -perm 755) >programs
cat >want <<END
./usr/bin/urlweir
./usr/share/doc/urlweir/copyright
./usr/share/doc/urlweir/default.yaml
END
(cd "$TOP/docs/man" && printf '%s\n' *.[1-9]) |
    sed 's|.*\.\([1-9]\)$|./usr/share/man/man\1/&|' >>want
diff want files || fail "other files than these are installed"
[ "$(cat programs)" = ./usr/bin/urlweir ] || fail "executable: $(cat programs)"
cmp -s "$URLWEIR" root/usr/bin/urlweir || fail "another program is installed"
exits 0 root/usr/bin/urlweir --version

# What others have put beside it stays.
touch root/usr/bin/other
make_it PREFIX=/usr uninstall
(cd root && find . ! -type d) >files
[ "$(cat files)" = ./usr/bin/other ] || fail "left: $(cat files)"

make_it install
[ -x root/usr/local/bin/urlweir ] || fail "PREFIX is not /usr/local by default"

# Each command and the files it names are in the manual as a reader sees it.
command -v mandoc >/dev/null || skip "mandoc is not installed"
exits 0 mandoc -T lint -W warning "$TOP"/docs/man/*.[1-9]
exits 0 mandoc -T utf8 "$TOP/docs/man/urlweir.1"
sed 's/.\x08//g' out >manual
for word in crawl resume status audit explain export verify frontier.db \
    filter.ckpt manifest urlweir-settings.yaml; do
    grep -qw "$word" manual || fail "the manual does not name $word"
done
