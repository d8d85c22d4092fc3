#!/bin/sh
# What waits when something fails: the URL that failed; its host, only with
# good reason; the whole queue of a host that does not respond, until
# --give-up. Judged by the arrivals at the servers.
set -eu
. "$TOP/tests/cli/lib.sh"

polite="--scope any --allow-private --sitemap off --min-disk 0 --progress none"

# took: how long the last crawl lasted, in ms, by the arrivals.
took() {
    sort -n log.times | awk 'NR == 1 { first = $1 } END { print int($1 - first) }'
}
# passes PAGE: others were asked for between two tries of that page.
passes() {
    sed 's,.*/,,' log | awk -v page="$1" '$0 == page { tries++; n += between; between = 0; next }
        tries { between++ }
        END { exit !(tries == 3 && n > 0) }' || fail "$1 held others up: $(cat log)"
}

# site ADDRESS PAGES: a page that links to all the others.
site() {
    mkdir -p "web/$1"
    for i in $(seq "$2"); do
        echo "<title>$i</title>" >"web/$1/$i.html"
        echo "<a href=$i.html>$i</a>"
    done >"web/$1/index.html"
}

# ends: waits for the crawl in the background.
ends() {
    status=0
    wait "$pid" || status=$?
}

# ---- two pages of a healthy host always fail ---------------------------------------

site 127.0.0.1 100
for page in 3 50; do
    echo 500 >web/127.0.0.1/$page.html.head
done
plain_site 127.0.0.1
# shellcheck disable=SC2086
exits 0 "$URLWEIR" crawl "$seed" -o broken $polite --delay 20ms --retry-delay 1s
[ "$(grep -c html log)" = 104 ] || fail "not 98 pages and twice 3 tries: $(cat log)"
passes 3.html
passes 50.html
exits 0 "$URLWEIR" status broken --json
[ "$(json failed <out)" = 2 ] || fail "$(cat out)"
kill "$server"

# ---- --max-delay bounds what a host that only says 429 or 503 is left alone ----------

for says in 429 503; do
    rm -rf web
    site 127.0.0.1 3
    echo $says >web/127.0.0.1/2.html.head
    plain_site 127.0.0.1
    # shellcheck disable=SC2086
    exits 0 "$URLWEIR" crawl "$seed" -o busy$says $polite --delay 10ms --retry-delay 10ms --max-delay 1s
    [ "$(took)" -ge 1400 ] || fail "$says was not heeded: $(took) ms"
    # Without that bound each wait is a minute.
    [ "$(took)" -lt 60000 ] || fail "longer than --max-delay each time: $(took) ms"
    kill "$server"
done

# ---- a server restarts ---------------------------------------------------------------

# (Its port is kept, so that nobody else has it meanwhile.)
rm -rf web
site 127.0.0.1 60
plain_site 127.0.0.1
# shellcheck disable=SC2086
behind crawl.out crawl.err "$URLWEIR" crawl "$seed" -o again $polite --delay 20ms --retry-delay 100ms -v
pid=$!
waits_for '[ "$(wc -l <log)" -ge 10 ]' || fail "no requests: $(cat crawl.err)"
kill "$server"
wait "$server" 2>/dev/null || :
mv log log.before
waits_for 'grep -q "does not respond" crawl.err' || fail "it is not missed: $(cat crawl.err)"
behind port.again site.err python3 "$TOP/tests/support/plain_site.py" --port "$port" web log 127.0.0.1
server=$!
ends
ended 0
cat log.before log >log.all
[ "$(grep -c html log.all)" -ge 60 ] || fail "pages are missing: $(wc -l <log.all)"
exits 0 "$URLWEIR" status again --json
[ "$(json pages <out)" = 61 ] && [ "$(json failed <out)" = 0 ] ||
    fail "the restart cost URLs: $(cat out crawl.err)"
says crawl.err "does not respond"
kill "$server"
wait "$server" 2>/dev/null || :

# ---- one host is down for good, others finish -----------------------------------------

rm -rf web
site 127.0.0.1 5
for i in $(seq 30); do
    echo "<a href=http://127.0.0.9:@PORT@/$i.html>$i</a>"
done >>web/127.0.0.1/index.html
plain_site 127.0.0.1
# shellcheck disable=SC2086
exits 3 "$URLWEIR" crawl "$seed" -o gone $polite --robots off --delay 20ms --retry-delay 100ms --give-up 3s
says err "stopped by --give-up"
says err "127.0.0.9 did not respond (connect), 30 URLs stay queued"
[ "$(grep -c html log)" = 5 ] || fail "the others: $(cat log)"
exits 0 "$URLWEIR" status gone
says out "127.0.0.9 did not respond (connect), 30 URLs queued"
exits 0 "$URLWEIR" status gone --json
python3 -c 'import json, sys
assert json.load(open("out"))["unresponsive"] == [
    {"host": "127.0.0.9", "reason": "connect", "given_up": True, "queued": 30}], sys.exit(1)' ||
    fail "$(cat out)"
agrees gone

# Killed while it waits, and resumed when the host is back: nothing is missing.
rm -rf killed
# shellcheck disable=SC2086
behind crawl.out crawl.err "$URLWEIR" crawl "$seed" -o killed $polite --delay 20ms --retry-delay 100ms -v
pid=$!
waits_for 'grep -q "does not respond" crawl.err' || fail "it responds: $(cat crawl.err)"
kill -KILL $pid
wait $pid 2>/dev/null || :
site 127.0.0.9 30
kill "$server"
wait "$server" 2>/dev/null || :
behind port.again site.err python3 "$TOP/tests/support/plain_site.py" --port "$port" web log 127.0.0.1 127.0.0.9
server=$!
waits_for 'grep -q "^port" port.again' || fail "no server: $(cat site.err)"
for d in gone killed; do
    resume $d
    ended 0
    exits 0 "$URLWEIR" status $d --json
    [ "$(json pages <out)" = 36 ] || fail "$d: $(cat out)"
    agrees $d
done

# ---- what a person blocks is not given up, and unblocked on a stopped crawl -------------

: >log
# shellcheck disable=SC2086
behind crawl.out crawl.err "$URLWEIR" crawl "$seed" -o held $polite --delay 1s --give-up 2s
pid=$!
waits_for 'grep -q html log' || fail "no requests: $(cat crawl.err)"
exits 0 "$URLWEIR" block held 127.0.0.1 --for 1h
exits 0 "$URLWEIR" block held 127.0.0.9 --for 1h
# Twice its --give-up, by its own clock.
waits_for 'kill -0 $pid && "$URLWEIR" status held --json >out && [ "$(json elapsed <out | cut -d. -f1)" -ge 4 ]' 2400 ||
    fail "it does not go on: $(cat crawl.err)"
kill -0 $pid || fail "a blocked crawl gave up: $(cat crawl.err)"
kill -TERM $pid
ends
ended 4
exits 0 "$URLWEIR" block held 127.0.0.1 --off
says out "127.0.0.1 is blocked no longer"
exits 0 "$URLWEIR" block held 127.0.0.9 --off
exits 0 "$URLWEIR" resume held --delay 10ms --progress none
agrees held
