#!/bin/sh
# Reports over HTTP that write nothing for a long time, as a large audit does:
# they end with their callers, and with the service. Here they wait for a file
# that never comes, so they end only if the service ends them.
set -eu
. "$TOP/tests/cli/lib.sh"

api() {
    python3 "$TOP/tests/support/json_api.py" "$http" "$@" >answer
}
# is CRAWL STATE
is() {
    api GET "/v1/crawls/$1" && grep -q "\"state\":\"$2\"" answer
}
# reports N: so many processes write reports: each is waited for by a child of
# the service's helper.
reports() {
    [ "$(pgrep -c -P "$(pgrep -P "$service")" || :)" = "$1" ]
}
# silent_report N: one more than N, in the background; its caller is $caller.
silent_report() {
    waits_for "reports $1" || fail "another report still runs"
    python3 "$TOP/tests/support/json_api.py" "$http" POST /v1/crawls/silent/audit \
        >silent.answer 2>&1 &
    caller=$!
    waits_for "reports $(($1 + 1))" || fail "no report: $(cat silent.answer serve.err)"
}

# Some leave SIGCHLD ignored to what they start, and no child's end would be known.
cat >ignoring <<END
#!/usr/bin/env python3
import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv("$URLWEIR", ["urlweir"] + sys.argv[1:])
END
chmod +x ignoring

small_web
urlweir=$URLWEIR
URLWEIR=./ignoring
start_service 127.0.0.1:0 --drain 200ms
URLWEIR=$urlweir
for name in silent other; do
    api POST /v1/crawls "{\"name\": \"$name\", \"seeds\": [\"$seed\"],
        \"settings\": {\"allow-private\": true, \"delay\": \"0\", \"sitemap\": \"off\"}}" || fail "$(cat answer)"
    waits_for "is $name waiting" || fail "$(cat answer serve.err)"
    api POST "/v1/crawls/$name/stop" || fail "$(cat answer)"
done
rm d/crawls/silent/manifest
mkfifo d/crawls/silent/manifest
api POST /v1/crawls/other/audit || fail "$(cat answer)"
says answer '"false_negatives": 0'

# ---- as many as may run, whose callers leave ------------------------------------

callers=
for i in 0 1 2 3; do
    silent_report $i
    callers="$callers $caller"
done
! api POST /v1/crawls/other/audit || fail "a fifth runs"
says answer 'reports are running already'
# shellcheck disable=SC2086
kill -KILL $callers
waits_for 'reports 0' || fail "reports of nobody still run"
api POST /v1/crawls/other/audit || fail "$(cat answer)"
says answer '"false_negatives": 0'

# ---- a stop, while a caller waits ------------------------------------------------

silent_report 0
report=$(pgrep -P "$(pgrep -P "$(pgrep -P "$service")")")
stop TERM 0
! kill -0 "$report" 2>/dev/null || fail "the report is still there"
wait "$caller" && fail "it was answered: $(cat silent.answer)"
rm d/crawls/silent/manifest
exits 0 "$URLWEIR" verify d
