#!/bin/sh
# Our own fetchers and those of another program share one crawl: each page is
# fetched once by one of them, and no host is asked twice at once or sooner
# than its delay, whoever asks; also across kills of the service, and when one
# of those programs dies with URLs leased to it.
# SEED=N repeats the moments of a run.
# Promise (The service): other programs fetch for a running crawl beside its
#   own fetchers: each page is fetched once by somebody, no host twice at once
#   or sooner than its delay, and no leased URL is handed out again before its
#   lease ends, also after kills. See also `external`, `make sim`.
# Promise (The service): a call finds its crawl by name or lease; a batch for
#   several crawls is split and acknowledged in its order; a call for any crawl
#   gets an equal share of each; blocks, delays, limits and deletions of its
#   queues hold, also after kills. See also `router`, `removal`, `make sim`.
set -eu
. "$TOP/tests/cli/lib.sh"

# start: the service in the background, $service; its address in ./address.
start() {
    start_service 127.0.0.1:0
    echo "$http" >address.new
    mv address.new address
}
# call METHOD PATH [BODY]: the answer in ./answer, its status in $answered.
call() {
    answered=$(curl -s -o answer -w '%{http_code}' -X "$1" \
        ${3:+-H 'Content-Type: application/json' -d "$3"} "http://$(cat address)$2")
}
# create NAME SETTINGS
create() {
    call POST /v1/crawls '{"name": "'"$1"'", "seeds": ["'"$seed"'"], "settings":
        {"scope": "'"${scope:-any}"'", "allow-private": true, "sitemap": "off", "min-disk": "0",
         "retry-delay": "50ms", "checkpoint": "1s", '"$2"'}}'
    [ "$answered" = 201 ] || fail "no crawl: $answered $(cat answer)"
}
# wants STATUS TEXT: what the last call answered.
wants() {
    [ "$answered" = "$1" ] || fail "$answered instead of $1: $(cat answer)"
    grep -qF -- "$2" answer || fail "not '$2': $(cat answer)"
}
# create_paused NAME SETTINGS: and none of its pages is fetched yet, as the web
# does not answer until it is paused.
create_paused() {
    kill -STOP "$server"
    create "$@"
    call POST "/v1/crawls/$1/pause" '{}'
    wants 200 '"state":"paused"'
    kill -CONT "$server"
}
# is_through NAME: all that was found is done.
is_through() {
    call GET "/v1/crawls/$1" && grep -q '"queued":0,' answer &&
        grep -q '"pages":[1-9]' answer
}
# most_at_once: the most requests of one host that were under way together.
most_at_once() {
    awk -F'\t' '{ print $1, 1, $4; print $2, -1, $4 }' log |
        sort -n -k1,1 -k2,2 |
        awk '{ n[$3] += $2; if (n[$3] > most) most = n[$3] }
            END { print most + 0 }'
}
# external: pages of the crawl that another program fetched.
external() {
    exits 0 "$URLWEIR" export "d/crawls/$1" --what pages --format jsonl
    grep -c '"reason": *"external"' out || :
}

# ---- side by side --------------------------------------------------------------

serve --hosts 12 --pages 240 --size 1000 --seed 31 --profile plain --latency 20
start
create_paused both '"delay": "60ms", "concurrency": 3'
# The other program begins alone, and leaves some to ours: neither has it all.
behind program.out program.err python3 "$TOP/tests/support/external_fetcher.py" both 4 leave 200
program=$!
waits_for 'call GET "/v1/stats?crawl=both" &&
    [ "$(sed "s/.*\"completed\":\([0-9]*\).*/\1/" answer)" -gt 20 ]' ||
    fail "others fetch nothing: $(cat answer program.err)"
call POST /v1/crawls/both/unpause '{}'
wait $program || fail "the program: $(cat program.err serve.err)"
by_others=$(sed -n 's/^fetched //p' program.out)
says program.out "gone 0"
waits_for 'is_through both' || fail "not through: $(cat answer)"
stop TERM 0
serve_no_more
judge --delay 60
[ "$(most_at_once)" = 1 ] || fail "a host was asked twice at once"
[ "$by_others" -gt 10 ] && [ "$by_others" -lt 210 ] ||
    fail "not side by side: others fetched $by_others of 240"
[ "$(external both)" = "$by_others" ] ||
    fail "others fetched $by_others, the crawl says $(external both)"
agrees d/crawls/both
echo "$by_others of 240 pages by others"

# ---- each call, of a crawl that is paused and one that is stopped ------------------

rm -rf d
serve --hosts 2 --pages 20 --size 500 --seed 33 --profile plain
start
scope=host create both '"delay": "0"'
waits_for 'is_through both' || fail "$(cat answer)"
call POST /v1/crawls/both/pause '{}'
url() {
    echo "http://127.0.0.1:$port/$1"
}
put() {
    call POST /v1/urls '{"crawl": "both", "url": "'"$1"'"'"${2:-}"'}'
}

# Found by others: canonical, in scope, once, at the depth they say.
put "$(url x)"
wants 200 '"status":"ok"'
put "http://127.0.0.1:$port/./%78#there"
wants 200 '"status":"skipped"'
put "http://elsewhere.invalid/"
wants 200 '"status":"skipped"'
put "$(url dated)" ', "refetch_at": "2001-01-01T00:00:00Z"' # the crawl decides when
wants 200 '"status":"skipped"'
put "mailto:nobody@elsewhere.invalid"
wants 200 '"status":"skipped"'
put "$(url x/7)" ', "metadata": {"depth": ["7"]}'
wants 200 '"status":"ok"'
call GET "/v1/url?crawl=both&url=$(url x/7)"
wants 200 '"depth":["7"]'
wants 200 '"state":"queued"'
call GET "/v1/url?crawl=both&url=$(url never)"
wants 404 "never"

# Leased, leased to one program, settled.
call POST /v1/lease '{"crawl": "both", "lease_seconds": 600}'
wants 200 "$(url x)"
lease=$(sed 's/.*"lease":"\([0-9]*\)".*/\1/' answer)
call POST /v1/lease '{}'
wants 200 '"urls":[]'
call GET "/v1/url?crawl=both&url=$(url x)"
wants 200 '"state":"leased"'
call POST /v1/extend '{"lease": "'"$lease"'", "lease_seconds": 1200}'
wants 200 '"status":"ok"'
call GET "/v1/stats?crawl=both"
wants 200 '"in_process":1'
call POST /v1/fail '{"lease": "'"$lease"'", "retry_seconds": 0}'
wants 200 '"status":"ok"'
call POST /v1/ack '{"lease": "'"$lease"'"}'
wants 200 '"status":"gone"'
# The host's delay is 0: it may be asked for at once, and is due before the other.
call POST /v1/lease '{}'
wants 200 "$(url x)"
lease=$(sed 's/.*"lease":"\([0-9]*\)".*/\1/' answer)
call POST /v1/ack '{"lease": "'"$lease"'", "metadata": {"fetch.statusCode": ["404"]}}'
wants 200 '"status":"ok"'
call POST /v1/crawls/both/explain '{"url": "'"$(url x)"'"}'
wants 200 '"reason": "http_404"'
wants 200 'fetched by another program'
put "$(url x/7)" ', "kind": "known"'
wants 200 '"status":"ok"'
call POST /v1/crawls/both/explain '{"url": "'"$(url x/7)"'"}'
wants 200 '"reason": "external"'
put "$(url x/7)" ', "kind": "known", "refetch_at": "2099-01-01T00:00:00Z"'
wants 200 '"status":"skipped"'
put "$(url x/8)" ', "kind": "known", "refetch_at": "2099-06-01T12:00:00Z"'
wants 200 '"status":"ok"'
call POST /v1/lease '{}'
wants 200 '"urls":[]'
call GET "/v1/url?crawl=both&url=$(url x/8)"
wants 200 '"due_at":"2099-06-01T1' # two clocks, read one after the other

# What cannot be done with a crawl that is run here says so.
call POST /v1/queues/delay '{"crawl": "both", "delay_seconds": 3}'
wants 409 'settings'

# Stopped: nothing to be had, and nothing is taken.
call GET "/v1/stats?crawl=both"
completed=$(sed 's/.*"completed":\([0-9]*\).*/\1/' answer)
call POST /v1/crawls/both/stop '{}'
call POST /v1/lease '{"crawl": "both"}'
wants 200 '"urls":[]'
put "$(url z)"
wants 200 '"status":"failed"'
call GET "/v1/stats?crawl=both"
wants 200 '"completed":'$completed,
call GET "/v1/url?crawl=both&url=$(url x)"
wants 409 'stopped'
stop TERM 0
start
call GET "/v1/stats?crawl=both"
wants 200 '"completed":'$completed,
stop TERM 0
agrees d/crawls/both
serve_no_more
