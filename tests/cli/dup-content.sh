#!/bin/sh
# The crawl recognises bodies that it has seen before, by digest, also after a
# resume: status and summary count them, export and explain name the URL they
# repeat, WARC files refer to it; their links are followed, unless
# --dup-content skip.
set -eu
. "$TOP/tests/cli/lib.sh"

mkdir -p web/one web/two web/other
echo '<title>top</title><a href=one/>1</a><a href=two/>2</a><a href=other/>o</a>' \
    >web/index.html
echo '<title>twin</title><a href=deep.html>deep</a>' | tee web/one/index.html \
    >web/two/index.html
echo '<p>below one</p>' >web/one/deep.html
echo '<p>below two</p>' >web/two/deep.html
echo '<title>other</title><a href=deep.html>d</a>' >web/other/index.html
echo '<p>below one</p>' >web/other/deep.html # the same as one/deep.html
serve_files web
one=--threads\ 1\ --concurrency\ 1

# repeats DIR: "URL FIRST" of each page whose body was seen before.
repeats() {
    exits 0 "$URLWEIR" export "$1" --what pages
    sed -n "s,.*\"url\": \"$seed\([^\"]*\)\".*\"same_as\": \"$seed\([^\"]*\)\".*,\1 \2,p" out |
        sort
}

# ---- reported, and followed ----

crawl report $one --warc
ended 0
says crawl.err "2 with a body seen before"
exits 0 "$URLWEIR" status report --json
[ "$(json same_content <out)" = 2 ] || fail "not two repeats: $(cat out)"
repeats report >got
diff - got <<'END' || fail "other pages repeat other pages"
other/deep.html one/deep.html
two/ one/
END
exits 0 "$URLWEIR" export report --what pages
[ "$(wc -l <out)" = 7 ] || fail "not seven pages: $(cat out)"
exits 0 "$URLWEIR" explain report "${seed}two/"
says out "same_as=${seed}one/"
gzip -dc report/warc/*.warc.gz | tr -d '\r' >records
[ "$(grep -c '^WARC-Type: revisit' records)" = 2 ] || fail "not two revisits"
says records "WARC-Refers-To-Target-URI: ${seed}one/"
agrees report

# ---- skipped: what only the twin links to is not found ----

crawl skip $one --dup-content skip
ended 0
exits 0 "$URLWEIR" export skip
says out "\"url\": \"${seed}one/deep.html\""
lacks -F out "${seed}two/deep.html" "a twin's links are followed"
exits 0 "$URLWEIR" status skip --json
[ "$(json same_content <out)" = 2 ] || fail "not two repeats: $(cat out)"

# ---- across a stop ----

crawl later $one --limit 2
ended 3
resume later --limit none
ended 0
repeats later >got2
diff got got2 || fail "after a resume others repeat"
agrees later

# ---- an error page that looks like a page is not one that was read ----
#
# With --warc bodies of errors are kept, and known again; the links of a page
# with the same body were never looked at.

at=web/127.0.0.1
mkdir -p $at
echo '<a href=/a-missing>m</a><a href=/b-page>p</a>' >$at/index.html
echo '<a href=/deep.html>deep</a>' | tee $at/a-missing >$at/b-page
printf '404\nContent-Type: text/html\n' >$at/a-missing.head
printf '200\nContent-Type: text/html\n' >$at/b-page.head
echo deep >$at/deep.html
plain_site 127.0.0.1
crawl errors $one --warc --dup-content skip
ended 0
exits 0 "$URLWEIR" export errors
says out "\"url\": \"${seed}deep.html\""

# ---- a URL that failed twice with one body is not the same as itself ----

echo '<p>another' >$at/b-page
printf '503\nContent-Type: text/html\n' >$at/b-page.head
crawl twice $one --warc --tries 2 --retry-delay 0.1 --jsonl twice.jsonl
exits 0 "$URLWEIR" export twice --what pages
grep -F '"http_503"' out >failed || fail "no page failed: $(cat out)"
says failed '"same_as": null'
grep -F '"http_503"' twice.jsonl >failed || :
[ "$(wc -l <failed)" = 1 ] || fail "not one line: $(cat twice.jsonl)"
lacks failed '"same_as": "' "the same as itself"
exits 0 "$URLWEIR" explain twice "${seed}b-page"
lacks out same_as "the same as itself"
echo "two repeats in each crawl"
