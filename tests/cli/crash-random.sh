#!/bin/sh
# Killed with SIGKILL at random moments and resumed each time, a crawl loses
# no URL and asks again for at most what was in flight: --concurrency a kill.
# SEED=N repeats the moments of a run. LONG: 50 kills, more pages.
set -eu
. "$TOP/tests/cli/lib.sh"

in_flight=16
if [ -n "${LONG:-}" ]; then
    kills=50 pages=24000
else
    kills=15 pages=4000
fi
moments=${SEED:-$(date +%s)}
echo "moments: SEED=$moments"

# 20 ms an answer hold a crawl of 16 transfers below 800 pages a second, on any
# machine; so it does not end before the kills do.
serve --hosts 60 --pages $pages --size 2000 --latency 20 --seed 21 \
    --profile variants,redirects,robots,errors

# The command that goes on, whatever was there when the last one was killed.
go_on() {
    if "$URLWEIR" status d >/dev/null 2>&1 &&
        ! grep -q 'same `urlweir crawl` command' crawl.err; then
        exec "$URLWEIR" resume d --progress none
    else
        # shellcheck disable=SC2086
        exec "$URLWEIR" crawl "$seed" -o d $quick -c $in_flight
    fi
}

: >crawl.err
killed=0
for moment in $(random "$moments" $kills 0.02 0.5); do
    (go_on) >crawl.out 2>crawl.err &
    pid=$!
    sleep "$moment"
    kill -KILL $pid 2>/dev/null || :
    status=0
    wait $pid || status=$?
    [ $status = 137 ] || { # it had started before its seeds were stored
        [ $status = 2 ] || ended 137 "it ended before it was killed"
        continue
    }
    killed=$((killed + 1))
    is_whole d "kill $killed"
done
[ $killed -gt $((kills * 3 / 4)) ] || fail "only $killed kills"

status=0
(go_on) >crawl.out 2>crawl.err || status=$?
ended 0
serve_no_more
judge --kills $killed --in-flight $in_flight
agrees d
again=$(sed -n 's/^duplicate //p' check.out)
echo "$killed kills, $again pages fetched again"
