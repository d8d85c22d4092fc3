#!/bin/sh
# Filters of `urlweir serve` over HTTP: batches, single flight, roles, limits;
# what was answered is there after kill -9.
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

# ---- many callers at once, and kill -9 -------------------------------------------

cat >client.py <<'END'
"""client.py ADDRESS build | load FILE | check FILE: threads that share a filter."""
import http.client, json, sys, threading

address, what = sys.argv[1:3]

def api(connection, path, body):
    connection.request("POST", "/v1/filters" + path, json.dumps(body),
                       {"Content-Type": "application/json"})
    response = connection.getresponse()
    answer = json.loads(response.read())
    assert response.status in (200, 201), (path, response.status, answer)
    return answer

def run(threads, work):
    failed = []
    def one(i):
        try:
            work(i, http.client.HTTPConnection(address, timeout=60))
        except Exception as e:
            failed.append(e)
    all = [threading.Thread(target=one, args=(i,)) for i in range(threads)]
    for t in all: t.start()
    for t in all: t.join()
    return failed

if what == "build":
    # As callers of a cache do: whoever may build does, the others use it.
    built, right = [], []
    api(http.client.HTTPConnection(address), "", {"name": "source", "capacity": 5000, "from_source": True})
    def work(i, c):
        token = api(c, "/source/build", {"wait_seconds": 60, "max_age_seconds": 3600})["build"]
        if token is not None:
            built.append(i)
            for first in range(0, 5000, 500):
                keys = [f"key{k}" for k in range(first, first + 500)]
                api(c, "/source/add", {"keys": keys, "build": token})
            api(c, "/source/finish", {"build": token})
        answer = api(c, "/source/check", {"keys": [f"key{k}" for k in range(10000)]})
        right.append(answer["ready"] and answer["results"][:5000] == ["maybe"] * 5000
                     and answer["results"][5000:].count("maybe") < 50)
    failed = run(30, work)
    assert not failed and len(built) == 1 and right == [True] * 30, (failed, built, right)
elif what == "load":
    # Until the server is gone; each key that was answered is noted.
    noted, alone = open(sys.argv[3], "w"), threading.Lock() # text files are not made for threads
    api(http.client.HTTPConnection(address), "", {"name": "load", "kind": "cuckoo", "capacity": 1000})
    def work(i, c):
        for n in range(10**6):
            keys = [f"{i}-{n}-{k}" for k in range(20)]
            api(c, "/load/add", {"keys": keys})
            with alone:
                noted.write("".join(k + "\n" for k in keys))
            if n == 40:
                print("under way", flush=True)
    run(4, work)
    noted.close()
elif what == "check":
    keys = open(sys.argv[3]).read().split()
    c = http.client.HTTPConnection(address, timeout=60)
    assert len(keys) > 3000, len(keys)
    for first in range(0, len(keys), 10000):
        part = keys[first:first + 10000]
        answer = api(c, "/load/check", {"keys": part})["results"]
        assert answer == ["maybe"] * len(part), [k for k, a in zip(part, answer) if a == "new"][:5]
END
python3 client.py "$http" build || fail "single flight"
python3 client.py "$http" load noted >under-way &
load=$!
waits_for '[ -s under-way ]' || fail "no load"
stop KILL 137
wait "$load" || fail "the load"
start
python3 client.py "$http" check noted || fail "a key that was answered is new after a kill"
curl -sS "http://$http/metrics" >page
grep -q '^urlweir_filters_loaded 8$' page || fail "metrics: $(grep urlweir_filters page)"
stop TERM 0
exits 0 "$URLWEIR" filter info d/filters/load.filter
says out "kind           cuckoo"

# ---- a stop answers what waits ----------------------------------------------------

start
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
