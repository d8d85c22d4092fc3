#!/bin/sh
# Two crawls of a site that changed only in what nobody reads have the same text
# digests and other body prints; with --changed-by words numbers and dates do not
# count either. export, --jsonl, explain and the view show both digests; the
# choice is kept with the crawl.
set -eu
. "$TOP/tests/cli/lib.sh"

mkdir web
# site TOKEN DATE WORD: what a server sends at one moment.
site() {
    printf '<title>t</title><script>var token = "%s"</script><body data-token=%s>
<input type=hidden name=csrf value=%s><a href=b.html>b</a> <a href=s.css>s</a>
<p>Read on %s by many.</p>' "$1" "$1" "$1" "$2" >web/index.html
    printf '<link rel=stylesheet href=s.css><p class=x%s>%s' "$1" "$3" >web/b.html
}
echo 'body { color: red }' >web/s.css
serve_files web

# digests DIR: path, body_print, text_digest, no_numbers of each page.
digests() {
    exits 0 "$URLWEIR" export "$1" --what pages
    sed -n "s|.*\"url\": \"$seed\([^\"]*\)\".*\"text_digest\": \"\([0-9a-f]\{32\}\)\", \"no_numbers\": \([a-z]*\), \"body_print\": \"\([0-9a-f]\{16\}\)\".*|/\1 \4 \2 \3|p" out | sort
}
column() { awk -v n="$1" '{ print $1, $n }' "$2"; }

site f00 "Monday, 3 May 2021" "the end"
crawl one --assets --jsonl one.jsonl
ended 0
digests one >one.pages
[ "$(wc -l <one.pages)" = 3 ] || fail "not three pages: $(cat one.pages)"
site b4r "Monday, 3 May 2021" "the end"
crawl two --assets
ended 0
digests two >two.pages
[ "$(column 3 one.pages)" = "$(column 3 two.pages)" ] || fail "a token is a change: $(cat two.pages)"
[ "$(column 2 one.pages | join - two.pages | awk '$2 == $3 { print $1 }')" = /s.css ] ||
    fail "bodies: $(cat one.pages two.pages)"

# ---- a text that changed, and its date ----

site b4r "Tue 14 Sept. 2022" "an end"
crawl three --assets
ended 0
digests three >three.pages
[ "$(column 3 one.pages | join - three.pages | awk '$2 == $4 { print $1 }')" = /s.css ] ||
    fail "texts changed: $(cat one.pages three.pages)"
crawl words-new --assets --changed-by words
ended 0
digests words-new >new.pages
site f00 "Monday, 3 May 2021" "the end"
crawl words-old --assets --changed-by words --limit 1
ended 3
resume words-old --limit none # the choice is kept
ended 0
digests words-old >old.pages
[ "$(column 3 old.pages | join - new.pages | awk '$2 == $4 { print $1 }' | xargs)" = "/ /s.css" ] ||
    fail "dates: $(cat old.pages new.pages)"
[ "$(awk '$4 == "true" { print $1 }' old.pages | xargs)" = "/ /b.html" ] ||
    fail "which digests leave numbers out: $(cat old.pages)"

# ---- where they are shown ----

digest=$(awk '$1 == "/" { print $3 }' one.pages)
print=$(awk '$1 == "/" { print $2 }' one.pages)
says one.jsonl "\"text_digest\": \"$digest\", \"no_numbers\": false, \"body_print\": \"$print\""
exits 0 "$URLWEIR" explain one "$seed"
says out "text_digest=$digest"
[ "$(sqlite3 one/frontier.db "SELECT text_digest || body_print FROM fetches WHERE url = '$seed'")" = "$digest$print" ] ||
    fail "the view has others"
