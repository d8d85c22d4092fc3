#!/bin/sh
# `make install` installs the program and its files under DESTDIR and PREFIX,
# and nothing else; `make uninstall` removes the same files, except settings
# that a person has changed. There is a page for each command and each format,
# with all that --help and docs/formats say, and it renders without warnings.
# Promise (Installing and checks): make install installs, and make uninstall
#   removes the same files except changed settings; each command has a manual
#   page with each option, and each format one with each key.
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
(cd root && find . ! -type d ! -path '*/share/man/*' ! -path '*/doc/urlweir/docs/*' |
    LC_ALL=C sort) >files
(cd root && find . -type f -perm 755) >programs
cat >want <<END
./etc/default/urlweir
./usr/bin/urlweir
./usr/include/urlweir.h
./usr/lib/liburlweir.so
./usr/lib/liburlweir.so.1
./usr/lib/liburlweir.so.1.0.0
./usr/lib/pkgconfig/urlweir.pc
./usr/lib/systemd/system/urlweir-crawl@.service
./usr/lib/systemd/system/urlweir.service
./usr/lib/sysusers.d/urlweir.conf
./usr/lib/tmpfiles.d/urlweir.conf
./usr/share/bash-completion/completions/urlweir
./usr/share/doc/urlweir/CHANGELOG.md
./usr/share/doc/urlweir/README.md
./usr/share/doc/urlweir/copyright
./usr/share/doc/urlweir/default.yaml
./usr/share/fish/vendor_completions.d/urlweir.fish
./usr/share/urlweir/grafana-urlweir.json
./usr/share/urlweir/prometheus-urlweir-alerts.yaml
./usr/share/urlweir/urlfrontier.proto
./usr/share/zsh/site-functions/_urlweir
END
diff want files || fail "other files than these are installed"
[ "$(cat programs)" = ./usr/bin/urlweir ] || fail "executable: $(cat programs)"
cmp -s "$URLWEIR" root/usr/bin/urlweir || fail "another program is installed"
exits 0 root/usr/bin/urlweir --version
grep -q '^ExecStart=/usr/bin/urlweir ' root/usr/lib/systemd/system/urlweir.service ||
    fail "the unit starts another program"
for unit in root/usr/lib/systemd/system/*; do
    lacks "$unit" /usr/local "a unit starts another program"
done
exits 0 "$URLWEIR" completion bash
cmp -s out root/usr/share/bash-completion/completions/urlweir || fail "another completion"
(cd "$TOP/docs" && find . -type f ! -path './man/*' | LC_ALL=C sort) >want
(cd root/usr/share/doc/urlweir/docs && find . -type f | LC_ALL=C sort) >files
diff want files || fail "other pages than those of docs/ are installed"

# ---- the manual -----------------------------------------------------------------

man=$WORK/root/usr/share/man
"$URLWEIR" --help | sed -n 's/^  \([a-z]*\)  *.*/\1/p' >commands
{
    sed 's|.*|man1/urlweir-&.1|' commands
    (cd "$TOP/docs/man" && printf '%s\n' *.[1-9]) | sed 's|.*\.\(.\)$|man\1/&|'
    (cd "$TOP/docs/formats" && printf '%s\n' *.md) | sed 's|\(.*\)\.md|man5/urlweir-\1.5|'
} | LC_ALL=C sort -u >want
(cd "$man" && find . ! -type d | sed 's|^\./||' | LC_ALL=C sort) >files
diff want files || fail "other pages than one for each command and each format"

# What stands in a page of the manual, as a reader sees it, in one line.
read_page() {
    mandoc -T utf8 -O width=200 "$1" | sed 's/.\x08//g' | tr -s ' \n' ' '
}
exits 0 mandoc -T lint -W warning "$man"/man[135]/*
while read -r c; do
    [ "$c" != filter ] || continue # its parts have the options
    # crawl and resume have the same options on urlweir(1), in full.
    read_page "$man/man1/urlweir-$c.1" >page
    "$URLWEIR" "$c" --help | sed -n 's/^  \(-.,\|   \) --\([a-z0-9-]*\).*/\2/p' |
        grep -v '^help$' >options || :
    while read -r o; do
        grep -q -e "--$o\b" page || fail "urlweir-$c.1 lacks --$o"
    done <options
done <commands
for c in create add check remove merge info rebuild predict bench; do
    read_page "$man/man1/urlweir-filter.1" >page
    "$URLWEIR" filter $c --help | sed -n 's/^  \(-.,\|   \) --\([a-z0-9-]*\).*/\2/p' |
        grep -v '^help$' >options || :
    while read -r o; do
        grep -q -e "--$o\b" page || fail "urlweir-filter.1 lacks --$o of $c"
    done <options
done
# The keys that a page of docs/formats explains are on its page.
for page in "$TOP"/docs/formats/*.md; do
    name=$(basename "$page" .md)
    read_page "$man/man5/urlweir-$name.5" >page
    # The head of a table, before its rule, is not.
    awk 'row != "" && !/^\|-/ { print row } { row = /^\|[^-]|^#/ ? $0 : "" }
        END { if (row != "") print row }' "$page" |
        sed -n 's/^| `\([A-Za-z0-9_.]*\)`.*/\1/p; s/^#\{1,3\} \([A-Za-z ]*\)$/\1/p' |
        while read -r word; do
            grep -qiF -e "$word" page || fail "urlweir-$name.5 lacks '$word'"
        done
    lacks -E page '[*][*]|\]\(|[|]---' "markdown is left in urlweir-$name.5"
done
# The files that a crawl leaves are named where a reader begins.
read_page "$man/man1/urlweir.1" >page
for word in $(cat commands) frontier.db filter.ckpt manifest urlweir-settings.yaml; do
    grep -qw "$word" page || fail "urlweir.1 does not name $word"
done

# ---- removing -------------------------------------------------------------------

# What others have put beside it stays.
touch root/usr/bin/other
make_it PREFIX=/usr uninstall
(cd root && find . ! -type d) >files
[ "$(cat files)" = ./usr/bin/other ] || fail "left: $(cat files)"
(cd root && find . -name '*urlweir*') >files
[ ! -s files ] || fail "left: $(cat files)"

# Settings that somebody has changed stay, and are not replaced.
make_it install
[ -x root/usr/local/bin/urlweir ] || fail "PREFIX is not /usr/local by default"
echo 'URLWEIR_OPTIONS="--quiet"' >root/etc/default/urlweir
make_it install
make_it uninstall
grep -q quiet root/etc/default/urlweir || fail "changed settings are gone"
