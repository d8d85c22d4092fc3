#!/bin/sh
# serve --crawl and POST /v1/crawls: crawls that belong to a service. Side by
# side, each fetches its whole web, across kills; each can be paused, stopped,
# resumed, changed, seeded and deleted; all commands work on their directories.
# SEED=N repeats the moments of the kills.
# Promise (The service): crawls of a service run side by side: each fetches its
#   web whole and once, also after kills and restarts, and can be paused,
#   stopped, resumed, seeded, changed and deleted. See also `crawl_job`,
#   `crawl_job_callers`, `crawl_job_files`, `crawl_job_settings`.
# Promise (The service): scope, rate and limits of a running crawl can be
#   changed, apply to queued URLs, and outlive a restart. See also `scope`.
set -eu
. "$TOP/tests/cli/lib.sh"

in_flight=16

# start OPTION...: the service in ./d, $service; HTTP's address in $at.
start() {
    start_service 127.0.0.1:0 "$@"
    at=$http
}
# api METHOD PATH [JSON]: the answer in ./answer. refused DIGIT TEXT METHOD ...
api() {
    python3 "$TOP/tests/support/json_api.py" "$at" "$@" >answer || fail "$*: $(cat answer)"
}
refused() {
    digit=$1 text=$2
    shift 2
    code=0
    python3 "$TOP/tests/support/json_api.py" "$at" "$@" >answer || code=$?
    [ "$code" = "$digit" ] || fail "$*: $code: $(cat answer)"
    says answer "$text"
}
# field NAME: of the crawl in ./answer.
field() {
    python3 -c 'import json, sys; print(json.load(open("answer"))[sys.argv[1]])' "$1"
}
# is CRAWL STATE
is() {
    api GET "/v1/crawls/$1"
    [ "$(field state)" = "$2" ]
}
becomes() {
    waits_for "is $1 $2" 300 || fail "$1 is not $2: $(cat answer serve.err)"
}
# ends CRAWL: it says that it waits, and nothing since.
ends() {
    crawl=$1
    waits_for '[ "$(grep "crawl $crawl: " serve.err | tail -n 1 | grep -c ": waiting;")" = 1 ]' 1200 ||
        fail "$crawl does not end: $(cat serve.err)"
}
# web NAME OPTION...: a web of its own beside others; $port, NAME.log, NAME.truth.
web() {
    name=$1
    shift
    behind "$name.port" "$name.err" "$SITE" serve "$@" --log "$name.log" --max-time "$LIMIT"
    eval "web_$name=$!"
    waits_for 'grep -q "^port" $name.port' || fail "no server: $(cat "$name.err")"
    port=$(sed 's/port //' "$name.port")
    "$SITE" truth "$@" --port "$port" >"$name.truth"
}
# whole NAME CHECK...: what arrived at that web, which ends, is what should.
whole() {
    eval "kill \$web_$1; wait \$web_$1" || fail "the web $1: $(cat "$1.err")"
    name=$1
    shift
    "$SITE" check --truth "$name.truth" --log "$name.log" "$@" >check.out 2>check.err ||
        fail "$name: $(cat check.out check.err)"
}
# yaml NAME LINE...: NAME.yaml, of the web at $port.
yaml() {
    cat >"$1.yaml" <<END
seeds: [ http://127.0.0.1:$port/ ]
scope: any
allow-private: true
sitemap: off
delay: 0
retry-delay: 50ms
max-delay: 100ms
min-disk: 0
checkpoint: 1s
concurrency: $in_flight
END
    shift
    for line in "$@"; do echo "$line" >>"$name.yaml"; done
}
settings='"scope": "any", "allow-private": true, "sitemap": "off", "retry-delay": "50ms", "min-disk": 0'

# ---- two side by side, killed and started again ----------------------------------

web one --hosts 20 --pages 1000 --latency 20 --seed 31 --profile variants,redirects,robots,errors
yaml one "jsonl: one.jsonl"
web two --hosts 20 --pages 1000 --latency 20 --seed 32 --profile variants,redirects,robots,errors
yaml two "warc: true"
moments=${SEED:-$(date +%s)}
echo "moments: SEED=$moments"
kills=0
for requests in $(random "$moments" 2 0 400); do
    came=$(($(cat one.log two.log | wc -l) + ${requests%.*}))
    start --crawl one.yaml --crawl two.yaml
    waits_for '[ "$(cat one.log two.log | wc -l)" -ge "$came" ]' || fail "no requests: $(cat serve.err)"
    stop KILL 137
    kills=$((kills + 1))
done
start --crawl one.yaml --crawl two.yaml
exits 2 "$URLWEIR" resume d/crawls/one
says err "the crawl is "
exits 2 "$URLWEIR" resume d/crawls/one --delay 1s # by hand
says err "in use by process $service"
exits 0 "$URLWEIR" status d/crawls/one
grep -qE ": (running|waiting) \(process $service\)" out || fail "status: $(cat out)"
ends one
ends two
stop TERM 0
says serve.err "crawl one: waiting; "
says serve.err "crawl two: stopped; "
whole one --kills $kills --in-flight $in_flight
whole two --kills $kills --in-flight $in_flight
agrees d/crawls/one
agrees d/crawls/two
ls d/crawls/two/warc/*.warc.gz >/dev/null || fail "no WARC files"
exits 0 "$URLWEIR" export d/crawls/one
fetched=$(grep -c '"status": "fetched"' out)
lines=$(grep -c '"status": "fetched"' one.jsonl)
[ "$fetched" -le "$lines" ] || fail "$lines lines of $fetched pages"

# ---- as a crawl of its own, once the service is gone ----------------------------

exits 0 "$URLWEIR" resume d/crawls/one --progress none
says err "is finished"

# ---- one made over HTTP, and steered ---------------------------------------------

serve --hosts 5 --pages 600 --latency 5 --seed 33
start
api GET /v1/crawls
says answer '"one"'
api POST /v1/crawls "{\"name\": \"three\", \"seeds\": [\"http://127.0.0.1:$port/\"],
    \"settings\": {$settings, \"delay\": \"100ms\"}}"
says answer '"own"'
waits_for '[ "$(wc -l <log)" -gt 20 ]' || fail "nothing is fetched"
api POST /v1/crawls/three/pause
waits_for is_quiet 5 || fail "asked while paused"
waits_for 'api GET /v1/crawls/three && [ "$(field transfers)" = 0 ]' || fail "$(cat answer)"
is three paused || fail "$(cat answer)"
arrived=$(arrivals)
stop KILL 137
start
is three paused || fail "not paused over a kill: $(cat answer)"
is_quiet || fail "asked while paused, over a kill"
[ "$(arrivals)" = "$arrived" ] || fail "asked while paused, over a kill"
refused 4 "a crawl of this name exists already" POST /v1/crawls '{"name": "three"}'

# A longer delay holds from now on; of five hosts each waits for itself.
api PATCH /v1/crawls/three/settings '{"delay": "500ms"}'
mark
api POST /v1/crawls/three/unpause
waits_for '[ "$(gaps | wc -l)" -ge 15 ]' || fail "it does not go on"
gaps >between
awk '$1 < 500 { exit 1 }' between || fail "delay 500ms: $(sort -n between | head -n 3)"
api PATCH /v1/crawls/three/settings '{"delay": "0"}'
ends three
serve_no_more
judge --kills 1 --in-flight 64

# ---- seeds, exclude, stop, resume, delete -----------------------------------------

mkdir -p web
for i in 1 2 3 4 5 6; do echo "<title>$i</title>" >web/$i.html; done
serve_files web
# The test's server is named as what the lists say.
api POST /v1/crawls "{\"name\": \"four\", \"settings\": {$settings, \"delay\": 0, \"robots\": \"off\"}}"
becomes four waiting
api POST /v1/crawls/four/seeds "{\"urls\": [\"${seed}1.html\", \"${seed}1.html\", \"ftp://x/\"]}"
says answer '"ok"'
says answer '"skipped"'
says answer '"failed"'
becomes four waiting
[ "$(field pages)" = 1 ] || fail "$(cat answer)"
api PATCH /v1/crawls/four/settings '{"exclude": ["/2"]}'
api POST /v1/crawls/four/seeds "{\"urls\": [\"${seed}2.html\", \"${seed}3.html\"]}"
becomes four waiting
[ "$(field pages)-$(field skipped)" = 2-1 ] || fail "$(cat answer)"
logged
lacks log /2.html "what is excluded was asked for"
refused 4 "user-agent: it cannot change" PATCH /v1/crawls/four/settings '{"user-agent": "me/1"}'
refused 4 "delay: " PATCH /v1/crawls/four/settings '{"delay": "soon"}'
refused 4 "output: " PATCH /v1/crawls/four/settings '{"output": "x"}'
refused 4 "input: " POST /v1/crawls '{"name": "five", "settings": {"input": "../seeds"}}'
[ ! -e d/crawls/five ] || fail "a refused crawl left a directory"
api POST /v1/crawls/four/stop
is four stopped || fail "$(cat answer)"
api PATCH /v1/crawls/four/settings '{"user-agent": "me/1", "exclude": []}'
refused 4 "resume it" POST /v1/crawls/four/seeds "{\"urls\": [\"${seed}4.html\"]}"
stop KILL 137
start
is four stopped || fail "not stopped over a kill: $(cat answer)"
api POST /v1/crawls/four/resume
api POST /v1/crawls/four/seeds "{\"urls\": [\"${seed}4.html\"]}"
becomes four waiting
waits_for 'api GET /v1/crawls/four && [ "$(field pages)" = 4 ]' || fail "$(cat answer)"
logged
[ "$(grep -c /2.html log)" = 1 ] || fail "what may come back has not: $(cat log)"

exits 0 "$URLWEIR" explain d/crawls/four "${seed}1.html" --json
cp out explained
api POST /v1/crawls/four/explain "{\"url\": \"${seed}1.html\"}"
sed '$d' answer | cmp - explained || fail "explain over HTTP is another"
api GET "/v1/crawls/four/recent?size=1"
says answer 4.html

# A seed that was answered is there after a kill.
api POST /v1/crawls/four/pause
api POST /v1/crawls/four/seeds "{\"urls\": [\"${seed}2.html\", \"${seed}1.html?again\"]}"
stop KILL 137
start
is four paused || fail "$(cat answer)"
[ "$(field queued)" = 1 ] || fail "seeds lost by a kill: $(cat answer)"
api POST /v1/crawls/four/unpause
becomes four waiting

# A limit ends it; a higher one lets it go on.
api PATCH /v1/crawls/four/settings '{"limit": 6}'
api POST /v1/crawls/four/seeds "{\"urls\": [\"${seed}5.html\", \"${seed}6.html\"]}"
becomes four stopped
says answer "reached --limit"
api PATCH /v1/crawls/four/settings '{"limit": 100}'
api POST /v1/crawls/four/resume
becomes four waiting
[ "$(field pages)" = 7 ] || fail "$(cat answer)"

api DELETE /v1/crawls/four
[ ! -e d/crawls/four ] || fail "the directory is still there"
refused 4 "no such crawl" GET /v1/crawls/four
stop TERM 0

# ---- ended in the middle of a creation, and of a deletion --------------------------

# dies_at POINT METHOD PATH [JSON]
dies_at() {
    export URLWEIR_KILL_AT=$1
    start
    unset URLWEIR_KILL_AT
    shift
    python3 "$TOP/tests/support/json_api.py" "$at" "$@" >answer 2>&1 && fail "$*: $(cat answer)"
    stopped=0
    wait "$service" || stopped=$?
    [ $stopped = 137 ] || fail "$*: $stopped: $(cat serve.err)"
}
new="{\"name\": \"five\", \"seeds\": [\"${seed}1.html\"], \"settings\": {$settings, \"robots\": \"off\"}}"
dies_at service-crawl-begun POST /v1/crawls "$new"
start
says serve.err "no crawl in this directory"
refused 4 "no such crawl" GET /v1/crawls/five
api POST /v1/crawls "$new"
becomes five waiting
[ "$(field pages)" = 1 ] || fail "$(cat answer)"
stop TERM 0
dies_at service-crawl-gone DELETE /v1/crawls/five
start
refused 4 "no such crawl" GET /v1/crawls/five
[ -z "$(ls -A d/crawls | grep five)" ] || fail "left: $(ls -A d/crawls)"
stop TERM 0

# ---- files that cannot be ----------------------------------------------------------

echo 'delay: soon' >bad.yaml
exits 1 "$URLWEIR" serve e --listen 127.0.0.1:0 --http none --crawl bad.yaml
says err "bad.yaml:1:8: delay: "
exits 1 "$URLWEIR" serve e --listen 127.0.0.1:0 --http none --crawl missing.yaml
says err "missing.yaml"
for line in 'metrics: 127.0.0.1:0' 'progress: none' 'quiet: true' 'output: here' 'input: "-"'; do
    printf 'delay: 1s\n%s\n' "$line" >bad.yaml
    exits 1 "$URLWEIR" serve e --listen 127.0.0.1:0 --http none --crawl bad.yaml
    says err "bad.yaml:2:$((${#line} - $(printf %s "${line#*: }" | wc -c) + 1)): ${line%%:*}: "
done
printf 'seeds: [http://127.0.0.1:1/]\ninput: missing.txt\n' >bad.yaml
exits 2 "$URLWEIR" serve e --listen 127.0.0.1:0 --http none --crawl bad.yaml
says err "bad: input: missing.txt cannot be read"
[ ! -e e/crawls/bad ] || fail "a crawl was made of a bad file"
