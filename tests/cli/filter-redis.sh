#!/bin/sh
# `urlweir filter` with a Redis URL: a filter that processes share. No key is
# called new twice, whatever happens to the server; bitmaps of other programs
# can be read.
# Promise (Seen check and store): a bitmap of another program is refused if its
#   number of bits is wrong.
# Promise (Seen check and store): in a Redis Cluster a filter with a tag is
#   found through any node.
# Promise (Seen check and store): over TLS the root and the name in the
#   certificate of the Redis server are checked.
# Promise (Seen check and store): a filter with a time to live in Redis keeps
#   each key for that time, also while several clients start a new generation;
#   adding begins an expired filter anew, but not one that was deleted. See
#   also `redis_age`.
set -eu
. "$TOP/tests/cli/lib.sh"

filter() { "$URLWEIR" filter "$@"; }
refuses() {
    refuses_want=$1 refuses_text=$2
    shift 2
    exits "$refuses_want" "$URLWEIR" filter "$@"
    [ ! -s out ] || fail "an error on stdout: $*"
    says err "$refuses_text"
}

redis_up
f="$redis_url?key=seen"
seq 1 3000 | sed 's,^,http://example.com/page/,' >keys
seq 1 3000 | sed 's,^,http://example.org/page/,' >others

# ---- create, add, check, info -------------------------------------------------

filter create "$f" --kind redis --capacity 3000 --fpr 1e-3
filter add "$f" <keys
filter check "$f" <keys >got
sed 's/^/maybe\t/' keys | cmp - got || fail "a key is called new"
filter check "$f" <others >got
[ "$(grep -c '^new	' got)" -gt 2980 ] || fail "too many maybes"
cut -f 2- got | cmp - others || fail "keys changed on their way"
filter info "$f" --json >got
python3 - <<'PYTHON' || fail "info --json: $(cat got)"
import json
o = json.load(open("got"))
assert o["kind"] == "redis" and o["layout"] == "blocked", o
assert 2990 <= o["count"] <= 3000 and o["capacity"] == 3000, o
assert o["fpr_predicted"] < 0.0011 and not o["overfull"], o
assert 0.2 < o["fill"] < 0.6 and "ttl" not in o, o
PYTHON
exits 0 "$URLWEIR" filter info "$f"
says out "kind           redis, blocked layout"
printf 'a\nb\na\n' | filter add "$f" --tell >got
printf 'new\ta\nnew\tb\nmaybe\ta\n' | cmp - got || fail "--tell: $(cat got)"
filter add "$f" <others 2>err
exits 0 "$URLWEIR" filter info "$f"
says out "It is overfull"

# A file of the same seed has the same keys: its bits are the string's.
filter create file --kind bloom --capacity 3000 --fpr 1e-3
filter create "$redis_url?key=twin" --capacity 3000 --fpr 1e-3
filter add file <keys
filter add "$redis_url?key=twin" <keys
redis --raw get twin | head -c -1 >string
python3 - <<'PYTHON' || fail "file and string differ"
assert open("string", "rb").read() in open("file", "rb").read()
PYTHON

# ---- a source that fails must not empty a filter --------------------------------

s="$redis_url?key=source"
filter create "$s" --capacity 3000
filter add "$s" <keys
count=$(filter info "$s" --json | sed -n 's/.*"count": \([0-9]*\).*/\1/p')
: >empty
head -n 10 keys >few
for source in empty few; do
    exits 2 sh -c '"$1" filter rebuild "$2" --capacity 5000 <"$3"' sh "$URLWEIR" "$s" $source
    says err "where the old one has $count"
    says err "--allow-smaller"
    filter check "$s" <keys | grep -c '^maybe' >got
    [ "$(cat got)" = 3000 ] || fail "a rebuild from $source took keys away"
    filter info "$s" --json | grep -q '"rebuilding": false' || fail "a rebuild goes on"
done
filter rebuild "$s" --capacity 5000 --allow-smaller <few
[ "$(filter check "$s" <keys | grep -c '^maybe')" -lt 30 ] || fail "nothing was replaced"

# Bits that cannot keep the promise; what would.
refuses 1 "take 1437758 bits and k=10; with bits=1000" create \
    "$redis_url?key=small&layout=plain&bits=1000" --capacity 100000 --fpr 0.001

# ---- what is refused -----------------------------------------------------------

refuses 2 "exists already" create "$f" --capacity 10
refuses 2 "no such filter" check "$redis_url?key=nowhere"
refuses 1 "cannot remove keys" remove "$f"
refuses 1 "offset 2^32-1" create "$redis_url?key=big" --capacity 1G
refuses 1 "needs a Redis URL" create here --kind redis --capacity 9
refuses 1 "leave --kind cuckoo out" create "$redis_url?key=c" --kind cuckoo \
    --capacity 9
refuses 1 "settings are key" check "$redis_url?colour=red"
refuses 1 "one server" check "redis://a.example,b.example/"
refuses 2 "no such filter" check "$redis_url?key=nowhere"
redis set plain x >/dev/null
refuses 1 "say layout=plain" check "$redis_url?key=plain"
refuses 2 "exists already" create "$redis_url?key=plain" --capacity 10
refuses 1 "belongs to another program and is not deleted" drop "$redis_url?key=plain&layout=plain&bits=8"
refuses 1 "not a Redis URL" drop keys
refuses 2 "No such file" info "redis+unix:///nowhere?timeout=1s"

# ---- shared: exactly one is told that a key is new ---------------------------

filter create "$redis_url?key=race" --capacity 20000
seq 1 10000 >numbers
for i in 1 2 3; do
    sort -R numbers | filter add "$redis_url?key=race" --tell >tell.$i &
    eval "racer$i=\$!"
done
for i in 1 2 3; do eval "wait \$racer$i" || fail "racer $i"; done
cat tell.* | sed -n 's/^new	//p' | sort | uniq -d >twice
[ ! -s twice ] || fail "told twice: $(head twice)"
[ "$(cat tell.* | grep -c '^new	')" -gt 9980 ] || fail "too few were told"

# ---- the server is killed mid-stream, and comes back ----------------------------

filter create "$redis_url?key=kill" --capacity 300000
seq 1 200000 >numbers
: >tell
filter add "$redis_url?key=kill&retry=3m" --tell <numbers >tell &
adder=$!
for i in 1 2 3; do
    # Each time it is found again first: together the outages may be too long.
    told=$(wc -c <tell)
    waits_for '[ "$(wc -c <tell)" -gt "$told" ] || ! kill -0 $adder 2>/dev/null' ||
        fail "the adder stands still"
    redis_kill
    redis_up
done
wait $adder || fail "the adder gave up: $(cat redis.log)"
[ "$(grep -c '^new	' tell)" -gt 199700 ] || fail "keys were told as seen"
filter check "$redis_url?key=kill" <numbers | grep -c '^maybe' >got
[ "$(cat got)" = 200000 ] || fail "lost: $(cat got)"

# ---- expiry, loss, deleting ------------------------------------------------------

filter create "$redis_url?key=ends&ttl=1h" --capacity 100
echo a | filter add "$redis_url?key=ends"
exits 0 "$URLWEIR" filter info "$redis_url?key=ends"
says out "ends in"
filter create "$redis_url?key=short&ttl=2s" --capacity 100
echo a | filter add "$redis_url?key=short" 2>err || # it may be over already
    says err "no such filter"
waits_for '[ "$(redis exists short)" = 0 ]' || fail "no expiry"
refuses 2 "no such filter" check "$redis_url?key=short"
# Adding begins it anew, with the settings it had.
echo b | filter add "$redis_url?key=short" --tell >got || fail "an ended filter is not begun anew"
printf 'new\tb\n' | cmp - got || fail "begun anew: $(cat got)"
[ "$(redis hget short:meta expect)" = 100 ] || fail "other settings"
waits_for '[ "$(redis exists short)" = 0 ]' || fail "no expiry of the second"
filter drop "$redis_url?key=short"
[ "$(redis exists short short:meta)" = 0 ] || fail "drop left the record of an ended filter"
redis del seen >/dev/null
refuses 2 "no such filter" check "$f"
refuses 2 "no such filter" add "$f"
filter drop "$redis_url?key=race"
[ "$(redis exists race race:meta)" = 0 ] || fail "drop left something"

# Keys that are forgotten one by one.
filter create "$redis_url?key=read" --capacity 1000 --ttl 2s --generations 4
began=$(date +%s%N)
filter add "$redis_url?key=read" --tell </dev/null
echo page | filter add "$redis_url?key=read" --tell >got
printf 'new\tpage\n' | cmp - got || fail "--ttl: $(cat got)"
echo page | filter check "$redis_url?key=read" >got
[ "$(date +%s%N)" -ge $((began + 2000000000)) ] || grep -q '^maybe' got || fail "forgotten too early"
waits_for 'echo page | filter check "$redis_url?key=read" | grep -q ^new' || fail "not forgotten"
echo page | filter add "$redis_url?key=read" --ttl 30d --tell >got
printf 'new\tpage\n' | cmp - got || fail "--ttl changed: $(cat got)"
filter info "$redis_url?key=read" --json | grep -q '"ttl": 2592000.0, "generations": 4' || fail "the time did not change"
exits 0 "$URLWEIR" filter info "$redis_url?key=read"
says out "forgets after  30d"
refuses 1 "keys stay" add "$redis_url?key=kill" --ttl 1d
refuses 1 "give one of them" create "$redis_url?key=both&ttl=1h" --capacity 10 --ttl 1h
refuses 1 "how old its keys are" rebuild "$redis_url?key=read" --capacity 10

# ---- bitmaps of other programs ---------------------------------------------------

# 14 hashes, the number behind the key, as go-zero's core/bloom sets them: the
# offsets of http://a.example/ in 20,000 bits, by Python's mmh3 5.3.1,
# hash64(key + bytes([i]), 0, signed=False)[0] % 20000.
for bit in 4696 15662 2805 13479 2418 14147 3138 17800 9261 10652 6570 16073 \
    15125 3684; do
    redis setbit theirs "$bit" 1 >/dev/null
done
h="$redis_url?key=theirs&layout=plain&hash=salted&bits=20000"
printf 'http://a.example/\nhttp://b.example/\n' | filter check "$h" >got
printf 'maybe\thttp://a.example/\nnew\thttp://b.example/\n' | cmp - got ||
    fail "their bitmap: $(cat got)"
printf 'http://b.example/\n' | filter add "$h" --tell >got
printf 'new\thttp://b.example/\n' | cmp - got || fail "add: $(cat got)"
[ "$(redis bitcount theirs)" -gt 14 ] || fail "nothing was set"
exits 0 "$URLWEIR" filter info "$h"
says out "another program's bitmap"

# With half of its bits, keys that are in it would be new.
refuses 1 "has 2226 octets" check "$redis_url?key=theirs&layout=plain&hash=salted&bits=10000"
filter info "$h" --json | grep -q '"fpr_predicted": [1-9]' || fail "no rate: $(filter info "$h" --json)"

# A plain layout of our own, with the hash most libraries use.
p="$redis_url?key=ours&layout=plain"
filter create "$p" --capacity 3000
filter add "$p" <keys
[ "$(filter check "$redis_url?key=ours" <keys | grep -c '^maybe	')" = 3000 ] ||
    fail "the record does not tell the layout"
[ "$(filter check "$p" <keys | grep -c '^maybe	')" = 3000 ] || fail "plain: a key is called new"
[ "$(filter check "$p" <others | grep -c '^new	')" -gt 2980 ] || fail "plain: many false positives"

# A password is used, and never told.
redis config set requirepass secret >/dev/null
refuses 1 "NOAUTH" check "$f"
exits 1 "$URLWEIR" filter check "redis+unix://:wrong-one@$redis_socket?key=ours"
lacks err "wrong-one" "a password is told"

# ---- a Redis Cluster: every node leads to the keys of a tag ----------------------

node() { "${redis_program%-server}-cli" -h 127.0.0.1 -p "$@"; }
free_port='import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])'
for n in a b; do
    p=$(python3 -c "$free_port") bus=$(python3 -c "$free_port")
    mkdir cluster-$n
    "$redis_program" --port "$p" --bind 127.0.0.1 --cluster-enabled yes \
        --cluster-port "$bus" --dir cluster-$n --save '' >>cluster-$n.log 2>&1 &
    eval "${n}_port=$p ${n}_bus=$bus"
    waits_for 'node $p ping 2>/dev/null | grep -q PONG' || fail "no node: $(cat cluster-$n.log)"
done
node "$a_port" cluster addslotsrange 0 8191 >/dev/null
node "$b_port" cluster addslotsrange 8192 16383 >/dev/null
node "$a_port" cluster meet 127.0.0.1 "$b_port" "$b_bus" >/dev/null
for p in $a_port $b_port; do
    waits_for 'node $p cluster info | grep -q cluster_state:ok &&
        [ "$(node $p cluster nodes | grep -c connected)" = 2 ]' || fail "no cluster"
done
for tag in one two three four; do # the tags belong to both nodes
    filter create "redis://127.0.0.1:$a_port?key={$tag}seen" --capacity 3000
    filter add "redis://127.0.0.1:$b_port?key={$tag}seen" <keys
    for p in $a_port $b_port; do
        [ "$(filter check "redis://127.0.0.1:$p?key={$tag}seen" <keys | grep -c '^maybe')" = 3000 ] ||
            fail "node $p does not find the filter of $tag"
    done
done
[ "$(node "$a_port" dbsize)" -gt 0 ] && [ "$(node "$b_port" dbsize)" -gt 0 ] ||
    fail "all tags on one node"
filter rebuild "redis://127.0.0.1:$a_port?key={two}seen" --capacity 9000 <keys
for tag in one two; do # a generation begins on the node that has the tag
    filter create "redis://127.0.0.1:$a_port?key={$tag}read" --capacity 3000 --ttl 3000s
    filter add "redis://127.0.0.1:$b_port?key={$tag}read" <keys
    for p in $a_port $b_port; do
        node $p -c hincrby "{$tag}read:meta" born -1600000 >/dev/null
        echo another | filter add "redis://127.0.0.1:$p?key={$tag}read" --tell >got
        grep -q new got && break
    done
    [ "$(node $b_port -c exists "{$tag}read:old1")" = 1 ] || fail "$tag: no generation began"
    [ "$(filter check "redis://127.0.0.1:$b_port?key={$tag}read" <keys | grep -c '^maybe')" = 3000 ] ||
        fail "$tag: keys are lost"
done
refuses 1 "key={seen}" create "redis://127.0.0.1:$a_port?key=seen" --capacity 3000
# While a slot moves, a node sends a client on for one question (ASK).
slot=$(node "$a_port" cluster keyslot '{moving}')
from=$a_port to=$b_port
[ "$slot" -lt 8192 ] || from=$b_port to=$a_port
m="redis://127.0.0.1:$from?key={moving}seen"
filter create "$m" --capacity 3000
filter add "$m" <keys
node "$to" cluster setslot "$slot" importing "$(node "$from" cluster myid)" >/dev/null
node "$from" cluster setslot "$slot" migrating "$(node "$to" cluster myid)" >/dev/null
node "$from" --raw cluster getkeysinslot "$slot" 9 | while read -r key; do
    node "$from" migrate 127.0.0.1 "$to" "$key" 0 10000 >/dev/null
done
node "$from" exists '{moving}seen' 2>&1 | grep -q ASK || fail "it did not move"
[ "$(filter check "$m" <keys | grep -c '^maybe')" = 3000 ] || fail "ASK is not followed"
for p in $to $from; do node $p cluster setslot "$slot" node "$(node "$to" cluster myid)" >/dev/null; done
filter add "$m" <keys

# ---- TLS ------------------------------------------------------------------------

# The certificate is checked: its root, and the name that was asked for.
for name in localhost elsewhere.example; do
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \
        -subj "/CN=$name" -addext "subjectAltName=DNS:$name" \
        -keyout $name.key -out $name.pem 2>/dev/null
done
redis_kill
rm -rf redis-data
tls_port=$(python3 -c "$free_port")
tls_server() {
    redis_up --bind 127.0.0.1 --tls-port "$tls_port" --tls-auth-clients no \
        --tls-cert-file "$WORK/$1.pem" --tls-key-file "$WORK/$1.key" \
        --tls-ca-cert-file "$WORK/$1.pem"
}
tls_server localhost
t="rediss://localhost:$tls_port?key=tls"
export SSL_CERT_FILE="$WORK/localhost.pem"
filter create "$t" --capacity 3000
filter add "$t" <keys
filter check "$t" <keys >got
sed 's/^/maybe\t/' keys | cmp - got || fail "over TLS a key is called new"
[ "$(redis exists tls)" = 1 ] || fail "another server was asked"
SSL_CERT_FILE="$WORK/elsewhere.example.pem" exits 2 "$URLWEIR" filter check \
    "rediss://localhost:$tls_port?key=tls&retry=1s"
grep -q "certificate" err || fail "an unknown root: $(cat err)"
redis_kill
tls_server elsewhere.example
SSL_CERT_FILE="$WORK/elsewhere.example.pem" exits 2 "$URLWEIR" filter check \
    "rediss://localhost:$tls_port?key=tls&retry=1s"
grep -qi "hostname mismatch" err || fail "another name: $(cat err)"
