#!/bin/sh
# A crawl without -o prints the URLs it fetched on stdout and keeps nothing,
# however it ends.
# Promise (Links): a crawl without -o prints the URLs it fetched, and leaves
#   nothing on disk however it ends.
set -eu
. "$TOP/tests/cli/lib.sh"

mkdir tmp
export TMPDIR="$PWD/tmp"
nothing_left() {
    [ -z "$(ls -A tmp)" ] || fail "left behind: $(ls tmp)"
}
# passing OPTION...: its output in ./urls and ./crawl.err, the status in $status.
passing() {
    status=0
    # shellcheck disable=SC2086
    "$URLWEIR" crawl "$seed" $quick "$@" >urls 2>crawl.err </dev/null || status=$?
    nothing_left
}

serve --hosts 2 --pages 60
crawl kept
passing
ended 0
"$URLWEIR" export kept --what pages | sed 's/.*"url": "\([^"]*\)".*/\1/' | sort >want
sort urls >got
diff want got >difference || fail "not the pages: $(cat difference)"
[ -s want ] || fail "no pages"
says crawl.err "nothing is kept: -o DIR keeps"
lacks crawl.err 'urlweir export'

# JSON where it is asked for; a file of lines is kept, and says all.
passing -j - --quiet
ended 0
[ ! -s crawl.err ] || fail "$(cat crawl.err)"
[ "$(grep -c '^{"seq": ' urls)" -ge "$(wc -l <want)" ] || fail "no lines of JSON"
passing -j lines.jsonl
ended 0
[ ! -s urls ] || fail "$(head -n 3 urls)"
[ "$(grep -c '"status": "fetched"' lines.jsonl)" = "$(wc -l <want)" ] || fail "not all lines"
exits 1 "$URLWEIR" crawl "$seed" --warc
says err "--warc needs -o DIR"
exits 1 "$URLWEIR" crawl
says err "no seed"
# A reader that has enough.
# shellcheck disable=SC2086
"$URLWEIR" crawl "$seed" $quick --delay 20ms 2>crawl.err | head -n 3 >urls
[ "$(wc -l <urls)" = 3 ] || fail "$(cat urls crawl.err)"
waits_for '[ -z "$(ls -A tmp)" ]' || fail "left behind: $(ls tmp)"

# ---- other ends ----

# started: a slow crawl in the background, $pid, that has printed a URL.
started() {
    # shellcheck disable=SC2086
    behind urls crawl.err "$URLWEIR" crawl "$seed" $quick --delay 100ms
    pid=$!
    waits_for '[ -s urls ]' || fail "no URL: $(cat crawl.err)"
}
started
kill -TERM $pid
status=0
wait $pid || status=$?
ended 4
says crawl.err "interrupted"
nothing_left
started
kill -KILL "$(pgrep -P $pid)"
status=0
wait $pid || status=$?
ended 2
says crawl.err "ended by signal 9"
nothing_left
started
child=$(pgrep -P $pid)
kill -KILL $pid
wait $pid 2>/dev/null || :
waits_for '! kill -0 $child 2>/dev/null' || fail "the crawl goes on without its parent"
TMPDIR=$PWD/absent exits 2 "$URLWEIR" crawl "$seed"
says err "cannot make a directory"
