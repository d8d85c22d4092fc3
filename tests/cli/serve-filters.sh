#!/bin/sh
# Filters of `urlweir serve` over HTTP: batches, one builder at a time, roles,
# limits; an answered change survives kill -9.
set -eu
. "$TOP/tests/cli/lib.sh"

# start OPTION...: $service; the address of HTTP in $http.
start() {
    start_service 127.0.0.1:0 "$@"
}
# api PATH [BODY [TOKEN]]: the answer.
api() {
    curl -sS --max-time 60 -H 'Content-Type: application/json' ${3:+-H "Authorization: Bearer $3"} \
        ${2:+-d "$2"} "http://$http/v1/filters$1"
}
# refuses STATUS PATH BODY TEXT [TOKEN]
refuses() {
    api "$2" "$3" "${5:-}" >out
    says out "\"status\":$1,"
    says out "$4"
}
answers() { # PATH BODY ANSWER
    api "$1" "$2" >out
    printf '%s' "$3" | cmp -s - out || fail "$1 $2: $(cat out)"
}

# ---- a guard before a database, with curl --------------------------------------

start
api "" '{"name": "users", "kind": "cuckoo", "capacity": 1000, "from_source": true}' >out
says out '"ready":false'
answers /users/check '{"keys": ["alice"]}' '{"results":["maybe"],"ready":false}'
api /users/build '{"lease_seconds": 60}' >out
build=$(sed -n 's/.*"build":"\([0-9]*\)".*/\1/p' out)
[ -n "$build" ] || fail "no build: $(cat out)"
# On a busy machine it may ask when the build is over: it has its fruits then.
api /users/build '{"wait_seconds": 60, "max_age_seconds": 60}' >waited &
waiting=$!
api /users/add "{\"keys\": [\"alice\", \"bob\"], \"build\": \"$build\"}" >out
api /users/add '{"keys": ["carol"]}' >out
[ ! -s waited ] || fail "a second builder did not wait: $(cat waited)"
api /users/finish "{\"build\": \"$build\"}" >out
says out '"ready":true'
wait "$waiting"
says waited '"build":null'
answers /users/check '{"keys": ["alice", "bob", "carol", "nobody"]}' \
    '{"results":["maybe","maybe","maybe","new"],"ready":true}'
answers /users/remove '{"keys": ["bob", "nobody"]}' '{"results":["removed","absent"]}'
stop KILL 137
start
answers /users/check '{"keys": ["alice", "bob", "carol", "nobody"]}' \
    '{"results":["maybe","new","maybe","new"],"ready":true}'
refuses 409 /users/add "{\"keys\": [\"x\"], \"build\": \"$build\"}" "this build is over"
build=$(api /users/build '{"lease_seconds": 60}' | sed -n 's/.*"build":"\([0-9]*\)".*/\1/p')
refuses 409 /users/finish "{\"build\": \"$build\"}" "the new filter has 0 keys where the old one has 2"
answers /users/check '{"keys": ["alice", "carol"]}' '{"results":["maybe","maybe"],"ready":true}'
# ---- one asker of a key at a time -------------------------------------------

api /users/check '{"keys": ["alice", "nobody"], "lock_seconds": 60}' >out
lock=$(sed -n 's/.*"locks":\["\([0-9]*\)",null\].*/\1/p' out)
[ -n "$lock" ] || fail "no lock: $(cat out)"
api /users/check '{"keys": ["alice", "carol"], "lock_seconds": 60}' >out
says out '"results":["wait","maybe"]'
answers /users/check '{"keys": ["alice"]}' '{"results":["maybe"],"ready":true}' # who does not lock does not wait
answers /users/unlock '{"keys": ["alice", "carol"], "locks": ["1", "1"]}' '{"results":["absent","absent"]}'
answers /users/unlock "{\"keys\": [\"alice\"], \"locks\": [\"$lock\"]}" '{"results":["unlocked"]}'
api /users/check '{"keys": ["alice"], "lock_seconds": 60}' >out
says out '"results":["maybe"]'
refuses 400 /users/unlock '{"keys": ["alice"], "locks": []}' "one token for each"
refuses 400 /users/unlock '{"keys": ["alice"], "locks": [7]}' "is not a token"

# ---- one filter for many users, that forgets ----------------------------------

api "" '{"name": "read", "kind": "cuckoo", "capacity": 1000, "ttl_seconds": 86400}' >out
says out '"ttl_seconds":86400'
answers /read/alice/add '{"keys": ["page", "other"]}' '{"results":["new","new"]}'
answers /read/bob/check '{"keys": ["page"]}' '{"results":["new"],"ready":true}'
answers /read/alice/check '{"keys": ["page", "x"]}' '{"results":["maybe","new"],"ready":true}'
answers /read/alice/remove '{"keys": ["other"]}' '{"results":["removed"]}'
api /read/ttl '{"ttl_seconds": 1}' >out
says out '"ttl_seconds":1'
waits_for 'api /read/alice/check "{\"keys\": [\"page\"]}" | grep -q "\"new\""' || fail "nothing is forgotten"
refuses 409 /users/ttl '{"ttl_seconds": 5}' "made without 'ttl_seconds'"
refuses 404 /read//check '{"keys": []}' "nothing at this path"

# ---- filters that keep no keys ----------------------------------------------------

api "" '{"name": "flooded", "kind": "cuckoo", "capacity": 300, "fixed": true}' >out
python3 -c 'import json; print(json.dumps({"keys": [str(i + 1) for i in range(3000)]}))' >many
api /flooded/add @many >out
answers /flooded/remove '{"keys": ["7"]}' '{"results":["stuck"]}'
answers /flooded/check '{"keys": ["7"]}' '{"results":["maybe"],"ready":true}'
# A build of a file that was made with options of its own makes one as it is.
"$URLWEIR" filter create plain.filter --kind cuckoo --capacity 10000 --fixed --bucket 2 --fingerprint 32
seq 1 10000 | "$URLWEIR" filter add plain.filter
curl -sS -T plain.filter "http://$http/v1/filters/plain" >out
was=$(sed -n 's/.*"bytes":\([0-9]*\),.*/\1/p' out)
build=$(api /plain/build '{"lease_seconds": 60}' | sed -n 's/.*"build":"\([0-9]*\)".*/\1/p')
api /plain/finish "{\"build\": \"$build\", \"allow_smaller\": true}" >out
says out "\"bytes\":$was,"

# ---- filters that were made elsewhere ----------------------------------------

seq 1 5000 >numbers
"$URLWEIR" filter create ready.filter --capacity 5000
"$URLWEIR" filter add ready.filter <numbers
cp ready.filter d/filters/placed.filter
answers /placed/check '{"keys": ["4711", "nobody"]}' '{"results":["maybe","new"],"ready":true}'
answers /placed/add '{"keys": ["x"]}' '{"results":["new"]}'
put() { curl -sS -T "$1" "http://$http/v1/filters/$2"; }
put ready.filter sent >out
says out '"keys":5000'
answers /sent/check '{"keys": ["4711", "nobody"]}' '{"results":["maybe","new"],"ready":true}'
"$URLWEIR" filter create few.filter --capacity 5000
echo one | "$URLWEIR" filter add few.filter
put few.filter sent >out
says out "the new filter has 1 keys where the old one has 5000"
answers /sent/check '{"keys": ["4711"]}' '{"results":["maybe"],"ready":true}'
put few.filter "sent?allow_smaller=true" >out
says out '"keys":1'
answers /sent/check '{"keys": ["4711", "one"]}' '{"results":["new","maybe"],"ready":true}'
put numbers sent >out
says out "not a whole file of"
head -c 3000 ready.filter >cut
put cut other >out
says out "not a whole file of"
put ready.filter .hidden >out
says out "cannot have this name"
[ -z "$(find d/filters -name '.upload*')" ] || fail "uploads are left"
stop KILL 137
: >d/filters/.upload.left
start
answers /sent/check '{"keys": ["4711", "one"]}' '{"results":["new","maybe"],"ready":true}'
answers /placed/check '{"keys": ["4711", "x", "nobody"]}' '{"results":["maybe","maybe","new"],"ready":true}'
[ ! -e d/filters/.upload.left ] || fail "what a kill left of an upload is there"
refuses 404 /nobody/check '{"keys": []}' "no such filter"
refuses 409 "" '{"name": "users", "capacity": 10}' "one of that name"
refuses 400 "" '{"name": "../users", "capacity": 10}' "letters, digits"
refuses 400 "" '{"name": "a", "kind": "sieve", "capacity": 10}' "scalable, bloom"
refuses 400 "" '{"name": "a", "capacity": 10, "fpr": 0.0000000001}' "size and rate"
refuses 400 /users/check '{"keys": [1]}' "item 0 is not a string"
python3 -c 'import json; print(json.dumps({"keys": ["k"] * 16385}))' >many
refuses 413 /users/check @many "at most 16384 keys"

# ---- a stop answers what waits ----------------------------------------------------

curl -sS "http://$http/metrics" >page
grep -q '^urlweir_filters_loaded [1-9]' page || fail "metrics: $(grep urlweir_filters page)"
api "" '{"name": "load", "kind": "cuckoo", "capacity": 1000}' >out
api /users/build '{"lease_seconds": 3600}' >out
open_fds() { curl -sS "http://$http/metrics" | sed -n 's/^[a-z_]*open_fds //p'; }
before=$(open_fds)
api /users/build '{"wait_seconds": 60}' >waited &
waiting=$!
waits_for '[ "$(open_fds)" -gt "$before" ]' || fail "it has not come"
stop TERM 0
wait "$waiting" || fail "a build that waited was not answered"

# ---- who may, and how much --------------------------------------------------------

printf 'read reads-0123456789abcdef\nwrite writes-0123456789abcdef\nadmin rules-0123456789abcdef\n' >tokens
chmod 600 tokens
start --token-file tokens --filter-memory 1M
refuses 401 /users/check '{"keys": ["alice"]}' "" none
api /users/check '{"keys": ["alice"]}' reads-0123456789abcdef >out
says out '"results"'
refuses 403 /users/add '{"keys": ["x"]}' "" reads-0123456789abcdef
refuses 403 "" '{"name": "b", "capacity": 10}' "" writes-0123456789abcdef
python3 -c 'import json; print(json.dumps({"keys": [f"m{k}" for k in range(16000)]}))' >many
for i in 1 2 3 4 5 6 7 8 9; do
    sed "s/m/m$i/g" many >more
    api /load/add @more writes-0123456789abcdef >out
    ! grep -q '"status":409' out || break
done
says out "--filter-memory"
stop TERM 0
