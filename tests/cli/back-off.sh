#!/bin/sh
# A host that does not respond: its URLs wait, others go on, and --give-up ends
# the crawl, which says what is left; when the host is back a resume, or the crawl
# that still runs, fetches it all. Judged by the arrivals at the servers. How long
# URLs and hosts wait is in the suite host_reach and in the simulator.
set -eu
. "$TOP/tests/cli/lib.sh"

polite="--scope any --allow-private --sitemap off --min-disk 0 --progress none
    --delay 20ms --retry-delay 100ms"

# site ADDRESS PAGES: a page that links to all the others.
site() {
    mkdir -p "web/$1"
    for i in $(seq "$2"); do
        echo "<title>$i</title>" >"web/$1/$i.html"
        echo "<a href=$i.html>$i</a>"
    done >"web/$1/index.html"
}
# comes_back ADDRESS...: the server, at the port it had.
comes_back() {
    kill "$server"
    wait "$server" 2>/dev/null || :
    behind port.again site.err python3 "$TOP/tests/support/plain_site.py" --port "$port" web log "$@"
    server=$!
    waits_for 'grep -q "^port" port.again' || fail "no server: $(cat site.err)"
}

site 127.0.0.1 5
for i in $(seq 30); do
    echo "<a href=http://127.0.0.9:@PORT@/$i.html>$i</a>"
done >>web/127.0.0.1/index.html
plain_site 127.0.0.1
# shellcheck disable=SC2086
exits 3 "$URLWEIR" crawl "$seed" -o gone $polite --robots off --give-up 3s
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

# A crawl that does not give up goes on when the host is back.
# shellcheck disable=SC2086
behind crawl.out crawl.err "$URLWEIR" crawl "$seed" -o waits $polite -v
pid=$!
waits_for 'grep -q "does not respond" crawl.err' || fail "it responds: $(cat crawl.err)"
site 127.0.0.9 30
comes_back 127.0.0.1 127.0.0.9
status=0
wait "$pid" || status=$?
ended 0
resume gone
ended 0
for d in gone waits; do
    exits 0 "$URLWEIR" status $d --json
    [ "$(json pages <out) $(json failed <out)" = "36 0" ] || fail "$d: $(cat out)"
    agrees $d
done
