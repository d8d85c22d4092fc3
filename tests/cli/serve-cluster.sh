#!/bin/sh
# `urlweir serve --cluster`: two processes without a directory over one frontier
# in a Redis server, over HTTP, as a user with the rights that the guide names.
# make check-cluster has whole clusters and what is lost; the interop tests have
# the API.
set -eu
. "$TOP/tests/cli/lib.sh"

# Below the ports that the system gives to clients.
free_port() {
    python3 -c 'import random, socket
while True:
    with socket.socket() as s:
        try:
            s.bind(("127.0.0.1", random.SystemRandom().randrange(10000, 32000)))
            print(s.getsockname()[1])
            break
        except OSError:
            pass'
}
redis_port=$(free_port)
redis_up --port "$redis_port" --bind 127.0.0.1
rights=$(sed -n 's/^    ACL SETUSER crawler on >PASSWORD //p' "$TOP/docs/cluster.md" |
    sed 's/{docs/{front/g')
[ -n "$rights" ] || fail "the guide names no rights"
# shellcheck disable=SC2086
redis ACL SETUSER crawler on '>secret' $rights >acl
says acl OK
redis ACL SETUSER default off >/dev/null || :
cluster=redis://crawler:secret@127.0.0.1:$redis_port/front

# up NAME: a service; its addresses are in NAME.http, and its number in NAME.pid.
up() {
    : >"$1.err" # the shell empties it later, in the child
    "$URLWEIR" serve --cluster "$cluster" --listen 127.0.0.1:0 --http 127.0.0.1:0 2>"$1.err" &
    echo $! >"$1.pid"
    waits_for "grep -q 'listening on' $1.err" || fail "no service: $(cat "$1.err")"
    sed -n 's/^urlweir serve: HTTP on //p' "$1.err" >"$1.http"
}
# api NAME PATH BODY: the answer, in ./answer.
api() {
    curl -sS -m 60 -H 'Content-Type: application/json' -d "$3" -o answer -w '%{http_code}' \
        "http://$(cat "$1.http")/v1/$2" >code || fail "no answer to $2"
}
get() {
    curl -sS -m 60 -o answer -w '%{http_code}' "http://$(cat "$1.http")$2" >code ||
        fail "no answer to $2"
}

up a
up b
says a.err sandbox

# ---- one frontier ---------------------------------------------------------------

api a urls '[{"url": "http://h/1", "metadata": {"x": ["y"]}}, {"url": "http://h/2"}, {"url": "http://i/3"}]'
[ "$(jq -c '[.results[].status]' answer)" = '["ok","ok","ok"]' ] || fail "put: $(cat answer)"
api b urls '{"url": "http://h/1"}'
says answer skipped
api b queues/delay '{"key": "h", "delay_seconds": 0}'
api b lease '{"max_urls_per_queue": 5, "lease_seconds": 600}'
[ "$(jq -r '.urls[].url' answer | sort | tr '\n' ' ')" = "http://h/1 http://h/2 http://i/3 " ] ||
    fail "lease: $(cat answer)"
cp answer leased
api a lease '{"max_urls_per_queue": 5}'
[ "$(jq '.urls | length' answer)" = 0 ] || fail "leased twice: $(cat answer)"
get a /v1/stats
[ "$(jq -c '[.size, .in_process, .completed, .queues]' answer)" = '[3,3,0,2]' ] ||
    fail "stats: $(cat answer)"

# ---- a process is killed, another settles what it gave out ----------------------

kill -KILL "$(cat b.pid)"
for lease in $(jq -r '.urls[].lease' leased); do
    api a ack "{\"lease\": \"$lease\"}"
    says answer '"ok"'
done
api a ack "{\"lease\": \"$(jq -r '.urls[0].lease' leased)\"}"
says answer gone
up b
get b "/v1/url?url=http://h/1"
[ "$(jq -r .state answer)" = completed ] || fail "url: $(cat answer)"
get b /metrics
says answer 'urlweir_frontier_completed_urls 3'
get b /healthz
says answer ok

# ---- what is not there says so --------------------------------------------------

get a /v1/filters
says code 404
api a crawls '{"name": "x", "seeds": ["http://h/"]}'
says code 404
exits 1 "$URLWEIR" serve --listen 127.0.0.1:0 --http none
says err "give a directory, or --cluster"
exits 1 "$URLWEIR" serve d --cluster "$cluster" --listen 127.0.0.1:0 --http none
says err "leave 'd' out"
for option in --memory=64M --filter-memory=64M --checkpoint=10s --crawl=x.yaml; do
    exits 1 "$URLWEIR" serve --cluster "$cluster" "$option" --listen 127.0.0.1:0 --http none
    says err "${option%=*} needs a directory"
done
exits 0 "$URLWEIR" status "$cluster"
says out "crawl DEFAULT: 0 queued, 0 leased, 3 completed"
exits 2 "$URLWEIR" verify "$cluster"
says err "it has the URLs of"
[ ! -e d ] || fail "a directory was made"

# ---- the end ----------------------------------------------------------------------

curl -sS -X DELETE -o answer "http://$(cat a.http)/v1/queues?key=h"
says answer '"deleted":2'
for name in a b; do
    service=$(cat $name.pid)
    kill -TERM "$service"
    code=0
    wait "$service" || code=$?
    [ "$code" = 0 ] || fail "$name ended with $code: $(cat $name.err)"
done
