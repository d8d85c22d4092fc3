#!/bin/sh
# `urlweir filter` never calls a key of its file new, whatever the kind, and
# refuses what does not fit together.
# Promise (Seen check and store): one file holds a filter for each name; a key
#   of one name is unknown under another, also after kills.
set -eu
. "$TOP/tests/cli/lib.sh"

filter() { "$URLWEIR" filter "$@"; }

# refuses STATUS TEXT ARG...: nothing on stdout, TEXT on stderr.
refuses() {
    refuses_want=$1 refuses_text=$2
    shift 2
    exits "$refuses_want" "$URLWEIR" filter "$@"
    [ ! -s out ] || fail "an error on stdout: $*"
    says err "$refuses_text"
}

seq 1 3000 | sed 's,^,http://example.com/page/,' >keys
seq 1 3000 | sed 's,^,http://example.org/page/,' >others

# ---- every kind: add, tell, check, info --------------------------------------

for kind in scalable bloom stacked counting cuckoo; do
    filter create "$kind" --kind $kind --capacity 3000 --fpr 1e-3
    filter add "$kind" <keys
    filter check "$kind" <keys >got
    sed 's/^/maybe\t/' keys | cmp - got || fail "$kind: a key is called new"
    filter check "$kind" <others >got
    [ "$(grep -c '^new	' got)" -gt 2980 ] || fail "$kind: too many maybes"
    cut -f 2- got | cmp - others || fail "$kind: keys changed on their way"
    filter info "$kind" --json >got
    python3 - "$kind" <<'PYTHON' || fail "$kind: info --json: $(cat got)"
import json, sys
o = json.load(open("got"))
assert o["kind"] == sys.argv[1], o
assert 2990 <= o["count"] <= 3010, o
assert o["fpr_promised"] == 0.001 and o["fpr_predicted"] < 0.0012, o
assert abs(o["bits_per_key"] - o["bits"] / o["count"]) < 0.01, o
assert {"capacity", "bits", "segments"} <= o.keys(), o
PYTHON
    exits 0 "$URLWEIR" filter info "$kind"
    says out "kind           $kind"
done

# A count may have a unit, and a mistaken one is told what it may be.
filter create units --kind bloom --capacity 20K
exits 0 "$URLWEIR" filter info units --json
grep -q '"capacity": 200[0-9][0-9],' out || fail "20K keys: $(cat out)"
exits 1 "$URLWEIR" filter create units.m --capacity 10m
says err "--capacity: '10m' is not a count"

# Inside one stream too, and only the first time.
filter create tell --capacity 10
printf 'a\nb\na\n\nb\n' | filter add tell --tell >got
printf 'new\ta\nnew\tb\nmaybe\ta\nnew\t\nmaybe\tb\n' | cmp - got ||
    fail "add --tell: $(cat got)"
# A key at the end needs no line end; other octets are octets.
printf 'c\r\nd' | filter add tell
printf 'c\nc\r\nd\n' | filter check tell >got
printf 'new\tc\nmaybe\tc\r\nmaybe\td\n' | cmp - got || fail "octets: $(cat got)"

# A program may write a key and wait for its answer.
mkfifo ask answer
filter check tell <ask >answer &
exec 3>ask 4<answer
printf 'd\n' >&3
read -r line <&4
[ "$line" = "maybe	d" ] || fail "no answer before the end: $line"
exec 3>&- 4<&-
wait $!

# Behind its length, a key may hold anything.
printf '\003\000\000\000a\nb\000\000\000\000\003\000\000\000a\nb' >binary
filter add tell --binary --tell <binary >got
printf 'new\nmaybe\nmaybe\n' | cmp - got || fail "binary: $(cat got)"
printf '\003\000\000\000a' >cut
cp tell before
exits 1 sh -c '"$URLWEIR" filter add tell --binary <cut'
says err "ends inside a key"
cmp tell before || fail "a stream that was cut changed the file"

# ---- removing -----------------------------------------------------------------

for kind in counting cuckoo; do
    head -n 1000 keys | filter remove $kind
    tail -n 2000 keys | filter check $kind >got
    [ "$(grep -c '^maybe	' got)" = 2000 ] || fail "$kind: removal took another key too"
    head -n 1000 keys | filter check $kind >got
    [ "$(grep -c '^new	' got)" -gt 990 ] || fail "$kind: nothing was removed"
done
printf '%s\n' http://example.com/page/2000 never | filter remove cuckoo --tell >got
printf 'removed\thttp://example.com/page/2000\nabsent\tnever\n' | cmp - got ||
    fail "remove --tell: $(cat got)"
# Both keep their keys: what was never added is refused, at any rate.
for kind in counting cuckoo; do
    filter create kept.$kind --kind $kind --capacity 3000 --fpr 0.05
    filter add kept.$kind <keys
    filter remove kept.$kind --tell <others >got
    [ "$(grep -c '^absent' got)" = 3000 ] ||
        fail "$kind: what was never added is removed"
    filter check kept.$kind <keys >got
    [ "$(grep -c '^maybe	' got)" = 3000 ] || fail "$kind: a key of others was removed"
done
# Without its keys, a key added nine times is there for nine removals.
filter create copies --kind cuckoo --capacity 100 --fixed
yes again | head -n 9 | filter add copies
yes again | head -n 8 | filter remove copies
echo again | filter check copies | grep -q '^maybe' || fail "it went too soon"
yes again | head -n 2 | filter remove copies --tell | cut -f 1 >got
printf 'removed\nabsent\n' | cmp - got || fail "copies: $(cat got)"
refuses 1 "cannot remove keys" remove bloom

# ---- many small ones in one file ------------------------------------------------

# A key of one name is no key of another, and the names share nothing but bits.
awk 'BEGIN { for (u = 0; u < 2000; u++) for (k = 0; k < 20; k++)
    print "user" u "\tpage" u % 7 * 1000 + k }' >named
filter create tenants --kind cuckoo --capacity 40000 --fpr 1e-3
filter add tenants --named <named
filter check tenants --named <named >got
sed 's/^/maybe\t/' named | cmp - got || fail "a name lost a key"
sed 's/page/other/' named | filter check tenants --named >got
[ "$(grep -c '^new	' got)" -gt 39900 ] || fail "names share their keys"
printf 'page0\npage1000\n' | filter check tenants --name user0 >got
printf 'maybe\tpage0\nnew\tpage1000\n' | cmp - got || fail "--name: $(cat got)"
printf 'page0\n' | filter check tenants >got
printf 'new\tpage0\n' | cmp - got || fail "a key without a name: $(cat got)"
printf 'page0\n' | filter remove tenants --name user0
printf 'user0\tpage0\nuser7\tpage0\n' | filter check tenants --named >got
printf 'new\tuser0\tpage0\nmaybe\tuser7\tpage0\n' | cmp - got ||
    fail "a name's key was removed for another: $(cat got)"
[ "$(($(wc -c <tenants) / 2000))" -lt 700 ] || fail "$(wc -c <tenants) octets"
exits 1 sh -c 'echo nameless | "$URLWEIR" filter add tenants --named'
says err "no tab behind a name"
refuses 1 "goes with neither" check tenants --named --name a
# Killed at any step of the writing, all names are as they were or as they are.
for point in filter-checkpoint-half file-written file-renamed; do
    cp tenants killed.tenants
    sed 's/page/later/' named | URLWEIR_KILL_AT=$point "$URLWEIR" filter add killed.tenants \
        --named 2>err && fail "$point was not passed"
    filter check killed.tenants --named <named >got
    [ "$(grep -c '^new	' got)" = 1 ] || fail "killed at $point: a name lost keys"
done

# ---- merging ------------------------------------------------------------------

for kind in scalable bloom stacked counting cuckoo; do
    filter create a.$kind --kind $kind --capacity 6000 --fpr 1e-3
    filter create b.$kind --kind $kind --capacity 6000 --fpr 1e-3
    filter add a.$kind <keys
    filter add b.$kind <others
    filter merge ab.$kind a.$kind b.$kind
    cat keys others | filter check ab.$kind >got
    [ "$(grep -c '^maybe	' got)" = 6000 ] || fail "$kind: merging lost a key"
done
filter create seed --kind bloom --capacity 6000 --fpr 1e-3 --seed other
filter create rate --kind bloom --capacity 6000 --fpr 1e-2
filter create size --kind bloom --capacity 60000 --fpr 1e-3
refuses 1 "the seed of their hash" merge out.1 a.bloom seed
refuses 1 "size or rate" merge out.1 a.bloom rate
refuses 1 "size or rate" merge out.1 a.bloom size
refuses 1 "their kind" merge out.1 a.bloom a.cuckoo
filter create aged --kind bloom --capacity 3000 --ttl 1d
refuses 1 "how old its keys are" merge out.1 a.bloom aged
refuses 1 "how old its keys are" merge out.1 aged aged
refuses 2 "exists already" merge a.bloom b.bloom size
[ ! -e out.1 ] || fail "a refused merge left a file"

# A seed is needed once only.
printf 'k\n' | filter add seed
printf 'k\n' | filter check seed >got
printf 'maybe\tk\n' | cmp - got || fail "seed: $(cat got)"

# ---- options of single kinds ---------------------------------------------------

filter create fixed --capacity 1000 --fixed
filter add fixed <keys 2>err
filter check fixed <keys >got 2>err
[ "$(grep -c '^maybe	' got)" = 3000 ] || fail "--fixed: a key is called new"
filter info fixed --json >got
grep -q '"key_bits": 0,' got || fail "--fixed keeps keys: $(cat got)"
filter create grown --kind stacked --capacity 100 --growth 4 --tightening 0.8
filter add grown <keys
filter check grown <keys >got
[ "$(grep -c '^maybe	' got)" = 3000 ] || fail "--growth, --tightening: a key is called new"
filter create print --kind cuckoo --capacity 3000 --fingerprint 8
filter add print <keys
filter info print --json | grep -q '"k": 8,' || fail "--fingerprint"
filter info print --json | grep -q '"fpr_promised": 0.029' ||
    fail "what 8 bits promise: $(filter info print --json)"
refuses 1 "--fingerprint 8 cannot keep --fpr 0.001" create other --kind cuckoo \
    --capacity 1.5M --fingerprint 8 --fpr 0.001
refuses 1 "--fpr" create no --capacity 10 --fpr 2
for slots in 1 2 4 8; do
    filter create bucket.$slots --kind cuckoo --capacity 3000 --bucket $slots --fixed
    filter add bucket.$slots <keys
    filter check bucket.$slots <keys >got
    [ "$(grep -c '^maybe	' got)" = 3000 ] || fail "--bucket $slots: a key is called new"
    filter info bucket.$slots --json >got
    python3 -c 'import json, sys
o, load = json.load(open("got")), {1: 50, 2: 84, 4: 95, 8: 98}[int(sys.argv[1])]
assert abs(100 * o["fill"] - load) < 1 and o["stuck"] == 0, o' $slots ||
        fail "--bucket $slots: $(cat got)"
done
refuses 1 "--bucket" create other --kind cuckoo --capacity 10 --bucket 3
refuses 1 "do not fill with fingerprints" create other --kind cuckoo --capacity 1M \
    --bucket 1 --fingerprint 8

# ---- full, damaged, absent ----------------------------------------------------

filter create small --kind bloom --capacity 100 --fpr 1e-3
filter add small <keys 2>err
says err "past its promise"
exits 0 "$URLWEIR" filter info small
says out "It is overfull"
filter check small <keys >got 2>err
[ "$(grep -c '^maybe	' got)" = 3000 ] || fail "an overfull filter lost a key"

refuses 2 "exists already" create small --capacity 10
refuses 2 "no such file" check nowhere
refuses 2 "not a filter file" check keys
refuses 1 "--capacity is needed" create new
refuses 1 "did you mean 'check'" chek small
filter create wide --kind bloom --capacity 300000
filter add wide <keys
flip wide 3000
exits 6 sh -c '"$URLWEIR" filter check wide <keys'
[ "$(grep -c '^maybe	' out)" = 3000 ] || fail "a damaged filter lost a key"
says err "make the filter anew"
flip bloom 3000
refuses 6 "damaged beyond use" check bloom
# Kept keys mend what they can.
flip scalable 3000
filter check scalable <keys >got 2>err
says err "rebuilt=1"
[ "$(grep -c '^maybe	' got)" = 3000 ] || fail "a mended filter lost a key"

# Two at a time: one waits, none is lost.
filter create both --capacity 10
filter add both <keys &
filter add both <others
wait $!
cat keys others | filter check both >got
[ "$(grep -c '^maybe	' got)" = 6000 ] || fail "of two that add at once one was lost"

# ---- killed while writing -------------------------------------------------------

for point in filter-checkpoint-begin filter-checkpoint-half filter-checkpoint-end \
    file-written file-synced file-renamed; do
    rm -f kill
    filter create kill --capacity 10
    filter add kill <keys
    killed=0
    URLWEIR_KILL_AT=$point "$URLWEIR" filter add kill <others 2>err || killed=$?
    [ "$killed" = 137 ] || fail "$point was not passed: $killed"
    filter check kill <keys >got 2>err
    [ "$(grep -c '^maybe	' got)" = 3000 ] || fail "killed at $point: a key is called new"
    [ ! -s err ] || fail "killed at $point: $(cat err)"
    filter check kill <others | cut -f 1 | sort | uniq -c | sort -rn >got
    case $point in
    file-renamed) grep -q '3000 maybe' got || fail "$point: $(cat got)" ;;
    *) [ "$(sed -n 's/ new$//p' got)" -gt 2900 ] || fail "$point: half a change: $(cat got)" ;;
    esac
    filter add kill <others
    filter check kill <others >got
    [ "$(grep -c '^maybe	' got)" = 3000 ] || fail "after $point: a key is called new"
done

# ---- keys that are forgotten ---------------------------------------------------

exits 0 "$URLWEIR" filter create ages --kind cuckoo --capacity 1000 --ttl 1s
printf 'alice\tpage\n' | filter add ages --named
exits 0 "$URLWEIR" filter info ages
says out "forgets after  1.0s, in 2 generations"
waits_for 'echo page | filter check ages --name alice | grep -q "^new"' || fail "nothing is forgotten"
echo page | filter add ages --name alice --tell --ttl 1h >got
grep -q '^new' got || fail "a key that was forgotten is not new: $(cat got)"
echo page | filter check ages --name alice >got
grep -q '^maybe' got || fail "a new time to live is not kept"
filter info ages --json | grep -q '"ttl": 3600' || fail "no new time to live: $(filter info ages --json)"
exits 0 "$URLWEIR" filter create stays --capacity 100
exits 1 sh -c 'echo a | "$1" filter add stays --ttl 1h' sh "$URLWEIR"
says err "was made without --ttl"
exits 1 sh -c 'echo a | "$1" filter check ages --ttl 1h' sh "$URLWEIR"
says err "--ttl is for adding"

# ---- what does not go together --------------------------------------------------

for wrong in "bloom --bucket 4" "bloom --growth 3" "stacked --fixed" "scalable --fingerprint 16" \
    "counting --tightening 0.4"; do
    # shellcheck disable=SC2086
    exits 1 "$URLWEIR" filter create none --capacity 10 --kind $wrong
    says err "has no --"
done
exits 1 "$URLWEIR" filter create none --kind cuckoo --bucket 1 --fingerprint 8 --capacity 1M
says err "more than 65536 keys"
exits 1 "$URLWEIR" filter create none --kind cuckoo --fingerprint 9 --capacity 10
says err "is 8, 12, 16 or 32"
[ ! -e none ] || fail "a refused filter was made"
exits 0 "$URLWEIR" filter create sixteen --kind cuckoo --fingerprint 16 --capacity 1000
says err "of 16 bits call 0.00012 of new keys"

# A fixed cuckoo filter that is flooded knows all its keys and can remove none.
exits 0 "$URLWEIR" filter create flooded --kind cuckoo --fixed --fingerprint 8 --capacity 100
seq 1 3000 | filter add flooded 2>/dev/null
exits 0 "$URLWEIR" filter info flooded
says out "which removal no longer"
filter info flooded --json | grep -q '"stuck": 0,' && fail "nothing is stuck: $(filter info flooded --json)"
echo 7 | filter remove flooded --tell >got
grep -qx 'stuck	7' got || fail "a key that is there: $(cat got)"
echo 7 | filter check flooded >got
grep -q '^maybe' got || fail "it was lost: $(cat got)"

# ---- before making one ---------------------------------------------------------

exits 0 "$URLWEIR" filter predict --capacity 1M --fpr 0.01
says out "plain      7        9.59  1.1 MiB"
says out "bloom      8       10.10"
exits 0 "$URLWEIR" filter predict --capacity 1G --fpr 1e-3 --json
python3 - <<'PYTHON' || fail "predict --json: $(cat out)"
import json
o = json.load(open("out"))
kinds = {k["kind"]: k for k in o["kinds"]}
assert kinds["plain"]["k"] == 10 and kinds["plain"]["bytes"] == 1797198446
assert abs(o["overfill"][1]["fpr_predicted"] - 0.001) < 1e-6
assert o["overfill"][-1]["fpr_predicted"] > 0.9
for t, row in zip((0.5, 1, 1.5, 2, 4, 10), o["overfill"]): # (1 - 0.5^t)^k
    assert abs(row["fpr_plain"] / (1 - 0.5 ** t) ** 10 - 1) < 0.05, row
PYTHON
# The other questions of the calculator, against the formulas themselves.
exits 0 "$URLWEIR" filter predict --bits 100M --capacity 10M --json
cp out rate
exits 0 "$URLWEIR" filter predict --bits 100M --hashes 5 --capacity 10M --json
cp out rate5
exits 0 "$URLWEIR" filter predict --bits 100M --hashes 7 --fpr 0.01 --json
cp out keys
exits 0 "$URLWEIR" filter predict --bits 100M --fpr 0.01
says out "bloom   8             9,901,643  0.01"
python3 - <<'PYTHON' || fail "predict --bits: $(cat rate rate5 keys)"
import json, math
rate = lambda m, n, k: (1 - math.exp(-k * n / m)) ** k
plain = lambda f: json.load(open(f))["kinds"][0]
assert plain("rate")["k"] == 7
assert abs(plain("rate")["fpr_predicted"] - rate(1e8, 1e7, 7)) < 1e-6
assert abs(plain("rate5")["fpr_predicted"] - rate(1e8, 1e7, 5)) < 1e-6
assert abs(rate(1e8, plain("keys")["count"], 7) - 0.01) < 1e-6
PYTHON
exits 1 "$URLWEIR" filter predict --bits 100M --capacity 10M --fpr 0.01
says err "leave --fpr out"
exits 1 "$URLWEIR" filter predict --hashes 3 --capacity 10
says err "needs --bits"
exits 0 "$URLWEIR" filter bench --keys 20000 --kind bloom,cuckoo
says out "bloom "
exits 0 "$URLWEIR" filter bench --keys 20000 --start 100 --kind scalable --json
python3 -c 'import json; o = json.load(open("out")); assert o["false_negatives"] == 0' ||
    fail "bench --json: $(cat out)"
exits 0 "$URLWEIR" filter bench --keys 20000 --plot plot.svg
python3 - <<'PYTHON' || fail "bench --plot: plot.svg is not what it should be"
import xml.dom.minidom
plots = xml.dom.minidom.parse("plot.svg").getElementsByTagName("svg")[1:]
assert len(plots) == 4
lines = [sum("line" in p.getAttribute("class").split()
             for p in plot.getElementsByTagName("path")) for plot in plots]
assert lines == [10, 10, 10, 10], lines # five kinds, and the legend
PYTHON
exits 2 "$URLWEIR" filter bench --keys 2000 --kind bloom --plot no/plot.svg
