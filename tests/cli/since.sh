#!/bin/sh
# A crawl that knows an earlier one (--since) asks only whether pages have
# changed, keeps the links of unchanged pages, sees through servers that lie,
# and is whole on its own, also after a kill and without the earlier one.
# Promise (Archives): a crawl that knows an earlier one finds every page, also
#   if that one has no links or other rules, and its records refer to those of
#   the earlier one; sitemaps, feeds, heads and redirects reveal to it, and to
#   a crawl that is refreshed, what a new crawl would find. See also `make sim`,
#   `frontier_last`, `past_crawl`.
set -eu
. "$TOP/tests/cli/lib.sh"

echo 1 >epoch
: >log
behind port site.err python3 "$TOP/tests/support/validator_web.py" log epoch
waits_for 'grep -q "^port" port' || fail "no server: $(cat site.err)"
port=$(sed 's/port //' port)
seed=http://127.0.0.1:$port/
quick="$quick --sitemap off --scope host --give-up 5s"

# urls DIR: "PATH STATUS REASON" of each URL.
urls() {
    exits 0 "$URLWEIR" export "$1" --what urls --format csv
    python3 - "$seed" <<'PYTHON' >got
import csv, sys
for row in sorted(csv.DictReader(open("out")), key=lambda r: r["url"]):
    print("/" + row["url"].removeprefix(sys.argv[1]), row["status"], row["reason"], sep=" ")
PYTHON
}
# answered PATH TEXT: the one line of the log about it.
answered() {
    [ "$(grep "^$1 " log)" = "$1 $2" ] || fail "$1: $(grep "^$1 " log) instead of $2"
}

crawl old --record links --warc
ended 0
cp -r old old.kept
: >log
echo 2 >epoch

# ---- what is asked, and what comes of it --------------------------------------

crawl new --since old --record links --warc
ended 0
for path in / /a.html /weak.html /dated.html /deep.html /deeper.html; do
    answered $path "304 conditional"
done
answered /liar.html "200 conditional"    # the body says that it is the same
answered /changed.html "200 conditional"
answered /plain.html "200"               # it has no validator
answered /never.html "304"               # it was not asked
answered /moved.html "302"               # validators of a redirect say nothing
urls new
diff - got <<'END' || fail "other outcomes"
/ fetched unchanged
/a.html fetched unchanged
/changed.html fetched 
/cut.html fetched unchanged
/dated.html fetched unchanged
/deep.html fetched unchanged
/deeper.html fetched unchanged
/liar.html fetched unchanged
/moved.html redirect 
/never.html failed http_304
/new.html fetched 
/plain.html fetched unchanged
/weak.html fetched unchanged
END
exits 0 "$URLWEIR" explain new "${seed}a.html"
says out unchanged
exits 0 "$URLWEIR" export new --what pages
grep "$seed\"" out | grep -q '"title": "/"' || fail "the title is lost"
agrees new

# ---- its records refer to those of the earlier one ------------------------------

gzip -dc new/warc/*.warc.gz | tr -d '\r' >records
[ "$(grep -c '^WARC-Profile:.*server-not-modified' records)" = 8 ] ||
    fail "not eight records of a 304, one of them asked for by nobody"
[ "$(grep -c '^WARC-Profile:.*identical-payload-digest' records)" = 2 ] ||
    fail "not two of the same body: $(grep -c identical-payload records)"
[ "$(grep -c '^WARC-Refers-To-Date:' records)" = 9 ] || fail "not nine dates"
says records "WARC-Refers-To-Target-URI: ${seed}liar.html"

# ---- without links in the earlier one nothing is lost -------------------------------

echo 1 >epoch
crawl bare
ended 0
: >log
crawl from-bare --since bare
ended 0
says crawl.err "it has no links"
answered /a.html "200"                # it has links
answered /deeper.html "304 conditional" # it has none
urls bare
mv got want
urls from-bare
[ "$(wc -l <got)" = "$(wc -l <want)" ] || fail "links were lost: $(cat got)"

# ... nor by other rules
: >log
crawl other-rules --since old --include html --include '/$'
ended 0
says crawl.err "include"
answered /a.html "200"

# ---- refused, and resumed --------------------------------------------------------

crawl nowhere --since nothing-there
ended 2
says crawl.err "no crawl there"

: >log
crawl half --since old --record links --limit 2
ended 3
mv old old.away
resume half --limit none
ended 0
says crawl.err "asked for in full"
urls half
[ "$(wc -l <got)" = 12 ] || fail "the resumed crawl lacks pages: $(cat got)"
mv old.away old
diff -r old/warc old.kept/warc || fail "the earlier crawl was changed"
