#!/bin/sh
# A crawl whose pages were fetched more than once can be compared with itself at
# two moments; export --what fetches and explain show every fetch.
set -eu
. "$TOP/tests/cli/lib.sh"

mkdir web
for p in a b c d e; do
    printf '<title>%s</title><p>This is page %s of the site' $p $p >web/$p.html
done
echo '<a href=a.html>a</a><a href=b.html>b</a><a href=c.html>c</a><a href=d.html>d</a><a href=e.html>e</a>' >web/index.html
serve_files web
crawl one
ended 0

# Rows of later fetches, as a crawl that goes on writes them: a second after the
# last one a has another text, b is gone and c is as it was; d was found then.
db() { sqlite3 one/frontier.db "$@"; }
id() { db "SELECT id FROM urls WHERE url = '$seed$1.html'"; }
first=$(db "SELECT max(at) FROM fetch")
again() { # PAGE, then what its second row has instead
    db "INSERT INTO fetch(seq, url, final, status, reason, tries, http, at, elapsed, body, title, text_digest, body_print)
        SELECT (SELECT max(seq) + 1 FROM fetch), url, 1, $2, $3, 1, $4, $first + 1000, 1, body, title, $5, $6
        FROM fetch WHERE url = $(id "$1")"
}
again a 1 0 200 "x'00112233445566778899aabbccddeeff'" 5
again b 3 8 404 NULL NULL
again c 1 41 304 text_digest body_print # unchanged
db "UPDATE url SET at = $first + 900 WHERE id = $(id d)"
db "UPDATE fetch SET at = $first + 1000 WHERE url = $(id d)"
moment() { db "SELECT strftime('%Y-%m-%dT%H:%M:%fZ', ($first + $1) / 1000.0, 'unixepoch')"; }

found() { python3 -c 'import json, sys
for line in sys.stdin:
    r = json.loads(line)
    print(r["kind"], r["url"].rsplit("/", 1)[1], r["what"])' <out | sort; }
exits 0 "$URLWEIR" diff one --from "$(moment 500)" --format jsonl
[ "$(found)" = "changed a.html body,text
gone b.html None
new d.html None" ] || fail "since the first fetches: $(found)"
exits 1 "$URLWEIR" diff one --from "$(moment 500)" --to "$(moment 1500)" --exit-code
exits 0 "$URLWEIR" diff one --from "$(moment 500)" --to "$(moment 950)" --exit-code --format jsonl
[ "$(found)" = "" ] || fail "before the second fetches: $(found)"
exits 0 "$URLWEIR" diff one --from "$(moment 1000)" --exit-code
exits 1 "$URLWEIR" diff one
exits 1 "$URLWEIR" diff one one --from "$(moment 0)"
exits 1 "$URLWEIR" diff one --from yesterday
says err "is not a moment"

exits 0 "$URLWEIR" export one --what fetches
[ "$(wc -l <out)" = 9 ] || fail "not nine fetches: $(cat out)"
[ "$(grep -c 'b.html"' out)" = 2 ] || fail "not both fetches of b: $(cat out)"
grep 'b.html"' out | tail -n 1 | grep -q '"reason": "http_404"' || fail "they are not in order: $(cat out)"
exits 0 "$URLWEIR" explain one "${seed}a.html" --json
[ "$(python3 -c 'import json, sys; print(len(json.load(sys.stdin)["history"]))' <out)" = 2 ] ||
    fail "explain does not have both: $(cat out)"
