#!/bin/sh
# --keep-history: of each page the last fetches stay; what they name, their links
# and their lines do too; resume, and a change of the number, are obeyed at once;
# kills lose nothing; the disk of a crawl that refreshes for ever stays as it is.
set -eu
. "$TOP/tests/cli/lib.sh"

mkdir -p web
for i in 1 2 3 4 5 6 7 8; do
    echo "<a href=/p$i.html>$i</a>"
    echo "<title>$i</title>page $i" >web/p$i.html
done >web/index.html
cp web/p1.html web/copy.html # the same body under two URLs
echo '<a href=/copy.html>' >>web/index.html
serve_files web
options="--robots off --min-disk 0 --record links"

rows() {
    python3 -c 'import sqlite3, sys; print(*sqlite3.connect(
f"file:{sys.argv[1]}/frontier.db?mode=ro", uri=True).execute(sys.argv[2]).fetchone())' "$1" "$2"
}

# shellcheck disable=SC2086
crawl d $options --jsonl lines
for i in 1 2 3 4 5 6; do
    echo "page 3, version $i" >web/p3.html
    exits 0 "$URLWEIR" refresh d --now
    exits 0 "$URLWEIR" resume d --progress none
done
[ "$(rows d 'SELECT count(*) >= 60 FROM fetch')" = 1 ] || fail "fetches: $(rows d 'SELECT count(*) FROM fetch')"
before=$(rows d 'SELECT count(*) FROM fetch')

# Asked for by a resume: done before it ends. Each page has its last two, and
# the first one with that body.
exits 0 "$URLWEIR" resume d --keep-history 2 --progress none
[ "$(rows d 'SELECT count(*) FROM fetch')" -lt "$before" ] || fail "nothing was removed: $(cat err)"
exits 0 "$URLWEIR" status d --json
[ "$(json history_removed <out)" = $((before - $(rows d "SELECT count(*) FROM fetch"))) ] || fail "removed: $(cat out)"
[ "$(rows d 'SELECT min(n) || " " || max(n) FROM (SELECT count(*) n FROM fetch GROUP BY url)')" = "2 3" ] ||
    fail "$(rows d 'SELECT group_concat(n) FROM (SELECT count(*) n FROM fetch GROUP BY url)')"
[ "$(rows d 'SELECT count(*) FROM fetch f WHERE same NOT IN (SELECT seq FROM fetch)')" = 0 ] ||
    fail "a name without a row"
[ "$(rows d 'SELECT count(*) FROM link_list WHERE first NOT IN (SELECT first FROM page_links)')" = 0 ] || fail "links of nobody"
exits 0 "$URLWEIR" verify d
exits 0 "$URLWEIR" export d --what pages
grep -q '/copy.html.*"same_as": "[^"]*/p1.html"' out || grep -q '/p1.html.*"same_as": "[^"]*/copy.html"' out ||
    fail "same_as: $(grep -e copy -e p1 out)"
# Lines were written of all fetches.
[ "$(grep -c . lines)" = "$before" ] || fail "$(grep -c . lines) lines of $before fetches"

# The number is of the crawl, and can be taken back.
exits 0 "$URLWEIR" status d --json
grep -q 'keep-history: 2' d/urlweir-settings.yaml || fail "$(cat d/urlweir-settings.yaml)"
exits 0 "$URLWEIR" refresh d --now
exits 0 "$URLWEIR" resume d --keep-history all --progress none
exits 0 "$URLWEIR" verify d
for wrong in 0 101 -1 x; do
    exits 1 "$URLWEIR" resume d --keep-history $wrong
done

# A crawl that refreshes without an end, and is killed: its disk stays bounded.
# shellcheck disable=SC2086
crawl k $options --keep-history 1
kills=3
[ -z "${LONG:-}" ] || kills=20
for requests in $(random "${SEED:-7}" $kills 50 300); do
    behind crawl.out crawl.err "$URLWEIR" resume k --refresh 1ms --progress none
    crawler=$!
    arrive "$requests"
    kill -KILL $crawler 2>/dev/null || :
    wait $crawler 2>/dev/null || :
    exits 0 "$URLWEIR" verify k
done
exits 0 "$URLWEIR" resume k --refresh off --until-idle --progress none
exits 0 "$URLWEIR" verify k
[ "$(rows k 'SELECT max(seq) > 200 FROM fetch')" = 1 ] || fail "too few: $(rows k 'SELECT max(seq) FROM fetch')"
[ "$(rows k 'SELECT count(*) <= 1000 + 3 * 2 * 10 FROM fetch')" = 1 ] || fail "$(rows k 'SELECT count(*) FROM fetch') rows"
