#!/bin/sh
# The log names a fetcher that does not come back from a URL, with that URL.
# The crawl goes on with the other fetchers and ends by itself, a service ends
# with an error; the next start fails the URL as `stuck` and goes on. A
# suspended process, or a fetcher that is only slow, loses nothing.
# Promise (Fetching): a fetcher that does not come back is named with its URL,
#   which fails at the next start; the others go on, the crawl ends, and a
#   service ends to be started again; a suspended process or a slow disk is not
#   mistaken for one. See also `watchdog`.
set -eu
. "$TOP/tests/cli/lib.sh"

# holds FAULT MS COMMAND ARG...: a page keeps its fetcher as FAULT says
# (base/fault.h), which is found after MS instead of 30 s. What hangs all the
# same is killed.
holds() {
    fault=$1 patience=$2
    shift 2
    exec env URLWEIR_HOLD_AT="page-in-hand:$fault" URLWEIR_TIME="stuck:$patience" \
        timeout --foreground -s KILL 60 "$@"
}
# keeps DIR FAULT MS OPTION...: such a crawl.
keeps() {
    dir=$1 fault=$2 patience=$3
    shift 3
    status=0
    # shellcheck disable=SC2086
    (holds "$fault" "$patience" "$URLWEIR" crawl $seeds -o "$dir" $quick --robots off "$@") \
        >crawl.out 2>crawl.err </dev/null || status=$?
}
# is_held DIR: a fetcher parses a page, as its slot says (crawler/transfer/in_hand.h).
is_held() {
    python3 - "$1/in-hand" 2>/dev/null <<'PYTHON'
import struct, sys
at = open(sys.argv[1], "rb").read()
slots = [struct.unpack_from("QQQI", at, n) for n in range(64, len(at), 64)]
sys.exit(not any(id and doing == 4 for id, _, _, doing in slots))
PYTHON
}
# names_it FILE: the log line, once; $stuck, its URL, as $address and $path.
names_it() {
    [ "$(grep -c 'error: a fetcher is stuck' "$1")" = 1 ] ||
        fail "not said once: $(cat "$1")"
    says "$1" 'doing="parsing its response"'
    stuck=$(sed -n 's/.*error: a fetcher is stuck.* url=//p' "$1")
    address=$(echo "$stuck" | sed 's,^http://\([0-9.]*\):.*,\1,')
    path=$(echo "$stuck" | sed 's,^http://[^/]*,,')
    grep -qxF "$address $path" log || fail "not the URL of a request: $stuck"
}
# fails_it DIR: that URL and no other has failed, in every report.
fails_it() {
    exits 0 "$URLWEIR" explain "$1" "$stuck"
    says out stuck
    exits 0 "$URLWEIR" export "$1" --what errors
    [ "$(grep -c '"reason": "stuck"' out)" = 1 ] || fail "not failed: $(cat out)"
    grep -F "\"$stuck\"" out | grep -q '"reason": "stuck"' || fail "another: $(cat out)"
    exits 0 "$URLWEIR" status "$1" --json
    [ "$(json failed <out)" = 1 ] || fail "not one failed: $(cat out)"
    agrees "$1"
}
# all_asked: each page behind the two first ones, once.
all_asked() {
    for n in 3 4 5 6; do
        asked 127.0.0.$n /page.html
    done
}

# Two pages that link to four hosts: the one that comes first is kept.
for n in 1 2; do
    mkdir -p web/127.0.0.$n
    for to in 3 4 5 6; do
        echo "<a href=http://127.0.0.$to:@PORT@/page.html>$to</a>"
    done >web/127.0.0.$n/first.html
    pages 127.0.0.$((n + 2)) /page.html
    pages 127.0.0.$((n + 4)) /page.html
done
plain_site 127.0.0.1 127.0.0.2 127.0.0.3 127.0.0.4 127.0.0.5 127.0.0.6
seeds="http://127.0.0.1:$port/first.html http://127.0.0.2:$port/first.html"

# ---- the others go on; the crawl ends, and a resume fails the URL ---------------

keeps many 1 1500 --threads 2
ended 7
names_it crawl.err
says crawl.err "others=1"
says crawl.err "exit status 7; to go on: urlweir resume many"
all_asked
[ -e many/in-hand ] || fail "nothing says which URL it was"
is_whole many
resume many
ended 5
says crawl.err "which has failed"
all_asked
asked "$address" "$path"
fails_it many
[ ! -e many/in-hand ] || fail "the file is left after a clean end"

# ---- a service ends, with all on disk, and goes on when it is started again -------

api() {
    python3 "$TOP/tests/support/json_api.py" "$http" "$@" >answer || fail "$*: $(cat answer)"
}
: >log
(holds 1 1500 "$URLWEIR" serve d --listen 127.0.0.1:0 --http 127.0.0.1:0) \
    >serve.out 2>serve.err </dev/null &
service=$!
waits_for 'grep -q "listening on" serve.err' || fail "no service: $(cat serve.err)"
http=$(sed -n 's/.*HTTP on //p' serve.err)
api POST /v1/crawls "{\"name\": \"one\", \"seeds\": [\"$(echo "$seeds" | sed 's/ /", "/')\"],
    \"settings\": {\"scope\": \"any\", \"allow-private\": true, \"sitemap\": \"off\",
    \"delay\": \"0\", \"min-disk\": \"0\", \"robots\": \"off\", \"threads\": 2}}"
stopped=0
wait $service || stopped=$?
[ $stopped = 7 ] || fail "ended with $stopped: $(cat serve.err)"
names_it serve.err
says serve.err "crawl one: failed: a fetcher is stuck"
says serve.err "urlweir serve: ended because a fetcher is stuck"

# Its unit starts it again after that status, as after any but 0.
unit=$TOP/packaging/urlweir.service
grep -qx 'Restart=on-failure' "$unit" || fail "the unit does not start it again"
lacks "$unit" 'ExitStatus=' "the unit takes some statuses for others"

start_service 127.0.0.1:0
is_done() {
    api GET /v1/crawls/one
    grep -q '"state": *"waiting"' answer
}
waits_for is_done || fail "it does not go on: $(cat answer serve.err)"
stop TERM 0
all_asked
asked "$address" "$path"
fails_it d/crawls/one
