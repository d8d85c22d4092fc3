#!/bin/sh
# The crawl recognises pages whose text is nearly that of an earlier one:
# status and summary count them, export and explain name the page;
# their links are followed, unless --near-dup skip; verify compares the index.
set -eu
. "$TOP/tests/cli/lib.sh"

mkdir web
awk 'BEGIN { for (i = 0; i < 400; i++) printf "w%d ", i * 7919 % 3001 }' >words
page() { printf '<title>%s</title><p>%s</p><a href=%s>next</a>' "$1" "$(cat words)$2" "$3"; }
echo '<a href=a.html>a</a><a href=b.html>b</a><a href=c.html>c</a>' >web/index.html
page a "" below-a.html >web/a.html
page b "another" below-b.html >web/b.html # one word more
sed 's/w/v/g' words >other && mv other words
page c "" below-c.html >web/c.html
for p in a b c; do echo "<p>below $p" >web/below-$p.html; done
cp web/a.html web/below-c.html # the same body: that is no near duplicate
serve_files web
one=--threads\ 1\ --concurrency\ 1

# near DIR: "URL FIRST" of each near duplicate.
near() {
    exits 0 "$URLWEIR" export "$1" --what pages
    sed -n "s,.*\"url\": \"$seed\([^\"]*\)\".*\"near_dup_of\": \"$seed\([^\"]*\)\".*,\1 \2,p" out |
        sort
}

crawl report $one
ended 0
says crawl.err "1 nearly like another"
exits 0 "$URLWEIR" status report --json
[ "$(json near_dup <out)" = 1 ] || fail "not one near duplicate: $(cat out)"
[ "$(near report)" = "b.html a.html" ] || fail "others are near: $(near report)"
exits 0 "$URLWEIR" export report --what pages
grep -q below-b.html out || fail "its links are not followed"
[ "$(grep -c '"simhash": "[0-9a-f]\{16\}"' out)" = 4 ] || fail "fingerprints: $(cat out)"
exits 0 "$URLWEIR" explain report "${seed}b.html"
says out "near_dup_of=${seed}a.html"
agrees report

crawl skip $one --near-dup skip
ended 0
exits 0 "$URLWEIR" export skip
says out below-a.html
lacks out below-b.html "links of a near duplicate are followed"
exits 0 "$URLWEIR" status skip --json
grep -q '"dropped.near_dup": 1\|"near_dup": 1' out || fail "not counted: $(cat out)"
agrees skip

crawl off $one --near-dup off
ended 0
exits 0 "$URLWEIR" export off --what pages
lacks out '"simhash": "' "a fingerprint with --near-dup off"

# ---- an index or a row that lies ----

sqlite3 report/frontier.db "UPDATE fetch SET near = NULL WHERE near IS NOT NULL"
exits 6 "$URLWEIR" verify report
says out "fingerprints: their index does not agree"
