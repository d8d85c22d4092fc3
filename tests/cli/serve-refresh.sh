#!/bin/sh
# serve --crawl with refresh and --keep-history goes on for ever: a week (LONG:
# a year) of hourly fetches, in a fraction of the time, adds nothing to its log,
# and no memory and disk to those of the first third.
# Promise (Commands and options): serve --crawl with refresh and --keep-history
#   goes on for ever: log, memory and disk do not grow.
set -eu
. "$TOP/tests/cli/lib.sh"

mkdir -p web
for i in 1 2 3 4 5 6 7 8; do
    echo "<a href=/p$i.html>$i</a>"
    echo "<title>$i</title>page $i" >web/p$i.html
done >web/index.html
serve_files web
cat >news.yaml <<END
seeds: [ $seed ]
allow-private: true
robots: off
sitemap: off
delay: 0
min-disk: 0
checkpoint: 1s
record: links
refresh: 5ms
keep-history: 2
END
hours=168
[ -z "${LONG:-}" ] || hours=$((hours * 52))

start_service 127.0.0.1:0 --crawl news.yaml
# counter NAME: of the crawl; 0: it is not there yet.
counter() {
    python3 "$TOP/tests/support/json_api.py" "$http" GET /v1/crawls/news >answer || fail "$(cat answer)"
    python3 -c 'import json, sys; print(json.load(open("answer")).get(sys.argv[1], 0))' "$1"
}
change() {
    echo "<title>3</title>page 3 at $(date +%s%N)" >page && mv page web/p3.html
}
# A page changes now and then, as news do.
comes_to() { # ROUNDS
    while [ "$(counter refreshed)" -lt $(($1 * 9)) ]; do
        change
        sleep 0.05
    done
}
measure() {
    sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$service/status" >"$1.rss"
    stat -c %s d/crawls/news/frontier.db >"$1.disk"
    grep -c . serve.err >"$1.lines"
}
comes_to $((hours / 3))
measure third
comes_to $hours
measure whole
change # it may have come there before the first one
waits_for '[ "$(counter changed)" -gt 0 ]' || fail "no change was seen"
for what in rss disk lines; do
    echo "$what: $(cat third.$what) after $((hours / 3)) rounds, $(cat whole.$what) after $hours"
done
[ "$(cat whole.lines)" = "$(cat third.lines)" ] || fail "log: $(tail -n 5 serve.err)"
[ "$(cat whole.rss)" -le $(($(cat third.rss) * 11 / 10 + 1024)) ] || fail "memory"
most=$(($(cat third.disk) * 5 / 4)) # a few KB more, before the first pass is over
[ "$most" -gt 1048576 ] || most=1048576
[ "$(cat whole.disk)" -le "$most" ] || fail "disk"
waits_for '[ "$(counter history_removed)" -gt 0 ]' || fail "no fetch was removed: $(cat answer)"
rows=$(sqlite3 -readonly d/crawls/news/frontier.db 'SELECT count(*) FROM fetch')
[ "$rows" -le $((1000 * 5 / 4 + 9 * 9 + 300)) ] || fail "$rows fetches are left"
python3 - "$http" <<'PYTHON' || fail "metrics"
import sys, urllib.request
text = urllib.request.urlopen("http://%s/metrics" % sys.argv[1]).read().decode()
for name in ("refreshed_total", "history_removed_total", "dated_urls", "overdue_urls"):
    assert 'urlweir_crawl_%s{crawl="news"}' % name in text, name
PYTHON
stop TERM 0
exits 0 "$URLWEIR" verify d/crawls/news
