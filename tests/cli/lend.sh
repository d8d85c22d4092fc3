#!/bin/sh
# One crawl, our own fetchers and those of another program at the same time:
# every page is fetched once by somebody, no host is asked twice at once or
# sooner than its delay, whoever asks; also over kills of the service, and where
# a borrower dies with URLs in its hands.
# SEED=N repeats the moments of a run.
set -eu
. "$TOP/tests/cli/lib.sh"

# start: the service in the background, $service; its address in ./address.
start() {
    : >serve.err
    "$URLWEIR" serve d --listen 127.0.0.1:0 --http 127.0.0.1:0 \
        >serve.out 2>serve.err &
    service=$!
    at_exit="$at_exit; kill -KILL $service"
    waits_for 'grep -q "listening on" serve.err' || fail "no service: $(cat serve.err)"
    sed -n 's/.*HTTP on //p' serve.err >address.new
    mv address.new address
}
stop() {
    stopped=0
    kill "-$1" "$service"
    wait "$service" || stopped=$?
    [ "$stopped" = "$2" ] || fail "the service ended with $stopped: $(cat serve.err)"
}
# call METHOD PATH [BODY]: the answer in ./answer, its status in $answered.
call() {
    answered=$(curl -s -o answer -w '%{http_code}' -X "$1" \
        ${3:+-H 'Content-Type: application/json' -d "$3"} "http://$(cat address)$2")
}
# create NAME SETTINGS
create() {
    call POST /v1/crawls '{"name": "'"$1"'", "seeds": ["'"$seed"'"], "settings":
        {"scope": "any", "allow-private": true, "sitemap": "off", "min-disk": "0",
         "retry-delay": "50ms", "checkpoint": "1s", '"$2"'}}'
    [ "$answered" = 201 ] || fail "no crawl: $answered $(cat answer)"
}
# most_at_once: the most requests of one host that were under way together.
most_at_once() {
    awk -F'\t' '{ print $1, 1, $4; print $2, -1, $4 }' log |
        sort -n -k1,1 -k2,2 |
        awk '{ n[$3] += $2; if (n[$3] > most) most = n[$3] }
            END { print most + 0 }'
}
# lent: pages of the crawl that another program fetched.
lent() {
    exits 0 "$URLWEIR" export "d/crawls/$1" --what pages --format jsonl
    grep -c '"reason": *"lent"' out || :
}

# ---- side by side --------------------------------------------------------------

serve --hosts 12 --pages 240 --size 1000 --seed 31 --profile plain --latency 20
start
create both '"delay": "60ms", "concurrency": 3'
python3 "$TOP/tests/support/borrower.py" both 4 >borrower.out 2>&1 ||
    fail "the borrower: $(cat borrower.out serve.err)"
by_others=$(sed -n 's/^fetched //p' borrower.out)
says borrower.out "gone 0"
call GET "/v1/crawls/both"
says answer '"queued":0,'
stop TERM 0
serve_no_more
judge --delay 60
[ "$(most_at_once)" = 1 ] || fail "a host was asked twice at once"
[ "$by_others" -gt 10 ] && [ "$by_others" -lt 230 ] ||
    fail "not side by side: others fetched $by_others of 240"
[ "$(lent both)" = "$by_others" ] ||
    fail "others fetched $by_others, the crawl says $(lent both)"
agrees d/crawls/both
echo "$by_others of 240 pages by others"

# ---- over kills, and the death of a borrower -------------------------------------

rm -rf d
serve --hosts 30 --pages 900 --size 1000 --seed 32 --profile plain --latency 20
start
create both '"delay": "40ms", "concurrency": 8'
python3 "$TOP/tests/support/borrower.py" both 2 25 >dies.out 2>&1 &
dies=$!
python3 "$TOP/tests/support/borrower.py" both 4 >borrower.out 2>&1 &
borrower=$!
at_exit="$at_exit; kill $borrower"
kills=0
for moment in $(random "${SEED:-$(date +%s)}" 4 0.3 0.9); do
    sleep "$moment"
    stop KILL 137
    kills=$((kills + 1))
    start
done
died=0
wait $dies || died=$?
[ $died = 3 ] || fail "the borrower that was to die: $(cat dies.out)"
wait $borrower || fail "the borrower: $(cat borrower.out serve.err)"
stop TERM 0
serve_no_more
# What ours had under way at a kill is asked for again, and the one page that
# the dead borrower may have fetched; nothing that was lent is.
judge --delay 40 --kills $kills --in-flight 8
[ "$(most_at_once)" = 1 ] || fail "a host was asked twice at once"
agrees d/crawls/both
again=$(sed -n 's/^duplicate //p' check.out)
echo "$kills kills: $(sed -n 's/^fetched //p' borrower.out) of 900 pages by others, $again again"
