#!/bin/sh
# A crawl that is killed with SIGKILL at random moments, and resumed each time,
# loses no URL and asks again for at most what was in flight: --concurrency per
# kill.
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

# 40 ms an answer hold a crawl of 16 transfers below 400 pages a second, on any
# machine; half of the pages at most have come when the last kill does.
serve --hosts 60 --pages $pages --size 2000 --latency 40 --seed 21 \
    --profile variants,redirects,robots,errors

killed=0
for requests in $(random "$moments" $kills 0 $((pages / kills / 2))); do
    killed_when "arrive $requests" d -c $in_flight || break
    killed=$((killed + 1))
done
[ $killed -gt 0 ] || fail "it was never killed"

resume d -c 64
if [ "$status" = 2 ]; then # on a machine so slow that it had not begun
    crawl d -c $in_flight
fi
ended 0
serve_no_more
judge --kills $killed --in-flight $in_flight
agrees d
again=$(sed -n 's/^duplicate //p' check.out)
echo "$killed kills, $again pages fetched again"
