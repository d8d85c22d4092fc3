#!/bin/sh
# No rule against traps fires on real documentation: its pages are all fetched,
# from the indexes on. LONG=1: nine packages more, 10,966 pages in Debian 12.
set -eu
. "$TOP/tests/cli/lib.sh"

names=clang
[ -z "${LONG:-}" ] || names="$names apache2-doc cmake-doc debian-policy debian-reference-en
    git-doc libxml2-doc postgresql python3 sqlite3-doc"

crawled=0
for name in $names; do
    top=$TOP/build/docs/$name
    if [ ! -e "$top/.whole" ]; then
        leaves_out "$name could not be downloaded (again: rm -r build/docs)"
        continue
    fi
    mkdir web
    cp -R "$top/usr/share" web/share
    find web -name '*.gz' -type f -exec gunzip -f {} +
    # A page whose links lead to all indexes; where there is none, to all pages.
    (
        cd web
        find share -name 'index*.html' -type f >../starts
        [ -s ../starts ] || find share -name '*.html' -type f >../starts
        sed 's|.*|<a href="/&">index</a>|' ../starts >index.html
    )
    serve_files web
    "$URLWEIR" crawl "$seed" -o "$name" --scope host --allow-private --sitemap off --delay 0 \
        --min-disk 0 --progress none --traps report >crawl.out 2>crawl.err </dev/null ||
        fail "$name: status $?: $(cat crawl.err)"
    lacks crawl.err "a trap" "$name"
    exits 0 "$URLWEIR" status "$name" --json
    [ "$(json traps <out)" = 0 ] || fail "$name: $(cat out)"
    echo "$name: $(json fetched <out) pages, $(json links <out) links, no trap"
    [ "$(json fetched <out)" -gt 10 ] || fail "$name: few pages: $(cat out)"
    crawled=$((crawled + 1))
    serve_no_more
    rm -r web "$name"
done
[ "$crawled" -gt 0 ] || skip "no documentation could be downloaded (again: rm -r build/docs)"
