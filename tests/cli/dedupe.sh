#!/bin/sh
# `urlweir dedupe` prints each new line once, in order, exactly, within
# --memory; a kept set is that of some commit, whatever happens, and no line is
# lost.
set -eu
. "$TOP/tests/cli/lib.sh"

dedupe() { "$URLWEIR" dedupe -q "$@"; }

# Lines N of which most repeat, popular ones often (Zipf); other seeds, other
# orders of the same names.
zipf() {
    awk -v seed="$1" -v n="$2" 'BEGIN {
        srand(seed)
        for (i = 0; i < n; i++) {
            if (known == 0 || rand() < 0.2)
                k = ++known
            else {
                k = int(exp(rand() * (log(known) + 0.577)) * 0.56) + 1
                if (k > known) k = known
            }
            printf "http://host%d.example/%d/page-%d\n", k % 997, k % 31, k
        }
    }'
}

# ---- the manual ------------------------------------------------------------------

"$URLWEIR" dedupe --help | sed -n 's/^ .*--\([a-z]*\).*/\1/p' | grep -v help |
    sort >options
sed -n 's/^\.It .*Fl -\([a-z]*\).*/\1/p' "$TOP/docs/man/urlweir-dedupe.1" |
    sort | diff options - || fail "the manual has other options than --help"

# ---- the same lines as awk prints ----------------------------------------------

zipf 1 250000 >urls
awk '!s[$0]++' urls >want
dedupe --raw urls >got
cmp want got || fail "--raw differs from awk"
dedupe <urls >got
cmp want got || fail "canonical URLs differ from awk"
for threads in 1 4; do
    dedupe --threads $threads - <urls >got
    cmp want got || fail "--threads $threads differs from awk"
done
split -n l/7 urls part.
gzip part.ab part.ae
dedupe part.* >got
cmp want got || fail "several files, some packed, differ from one"
cat urls | gzip | dedupe >got
cmp want got || fail "gzip on stdin differs"

# Octets of all kinds, against the plainest model there is.
python3 - <<'PYTHON'
import random
random.seed(3)
pool = [bytes(random.choice(b"\0\r\t \xff\xc3ab") for _ in range(random.randrange(9)))
        for _ in range(2000)]
with open("octets", "wb") as f:
    f.write(b"\n".join(random.choice(pool) for _ in range(50000)))
with open("octets", "rb") as f, open("want", "wb") as w:
    seen = set()
    for line in f.read().split(b"\n"):
        if line not in seen:
            seen.add(line)
            w.write(line + b"\n")
PYTHON
dedupe --raw octets >got
cmp want got || fail "octets differ from the model"

# ---- what makes two lines the same -----------------------------------------------

printf '%s\n' 'http://Example.com/%7ea' 'http://example.com:80/~a#x' 'no url' '' \
    '  http://example.com/b' 'ftp://example.com/' >forms
printf 'http://example.com/b\r\nHTTP://EXAMPLE.com/c' >>forms
dedupe forms >got
printf '%s\n' 'http://Example.com/%7ea' '  http://example.com/b' \
    'HTTP://EXAMPLE.com/c' | cmp - got || fail "canonical: $(cat got)"
dedupe --canonical forms >got
printf '%s\n' http://example.com/~a http://example.com/b http://example.com/c |
    cmp - got || fail "--canonical: $(cat got)"
dedupe --canonical --invalid keep forms >got
printf '%s\n' http://example.com/~a 'no url' '' http://example.com/b \
    ftp://example.com/ http://example.com/c | cmp - got ||
    fail "--invalid keep: $(cat got)"
"$URLWEIR" dedupe --json forms >got 2>err
[ "$(json lines <err) $(json unique <err) $(json duplicates <err) $(json invalid <err)" = \
    "8 3 2 3" ] || fail "counts: $(cat err)"
"$URLWEIR" dedupe forms >got 2>err
says err "unique                   3"
dedupe forms >got 2>err
[ ! -s err ] || fail "--quiet: $(cat err)"

# Octets of another encoding stay apart, and stay what they are.
printf 'http://h/\350\nhttp://h/\351\nhttp://h/%%e9\n' >latin
dedupe latin >got
head -n 2 latin | cmp - got || fail "Latin-1: $(cat got)"
dedupe --canonical latin >got
printf 'http://h/%%E8\nhttp://h/%%E9\n' | cmp - got || fail "Latin-1: $(cat got)"

# A line may be 1 MiB long; what is longer is no line to compare, but kept whole.
python3 - <<'PYTHON'
with open("long", "wb") as f:
    for n in (2**20, 2**20 + 1, 5 * 2**20, 2**20, 2**20 + 1):
        f.write(b"x" * n + b"\n")
PYTHON
exits 2 "$URLWEIR" dedupe --raw --json long
[ "$(wc -c <out) $(json invalid <err)" = "$((1048576 + 1)) 3" ] ||
    fail "long lines: $(wc -c <out) $(cat err)"
says err "3 lines over 1 MiB were left out"
exits 2 "$URLWEIR" dedupe -q long
says err "3 lines over 1 MiB were left out"
dedupe --raw --invalid keep long >got
awk 'NR != 4' long | cmp - got || fail "--invalid keep cut a long line"

# Packed lists, and those of Windows: no line is lost or kept twice.
two_packed
for list in two.gz two.bz2 two.zst two.mark; do
    dedupe --canonical $list two.mark >got
    printf 'http://a/\nhttp://b/\n' | cmp - got || fail "$list: $(cat got)"
done
head -c 50 two.bz2 >cut.bz2
for how in --raw --canonical; do
    exits 2 "$URLWEIR" dedupe -q $how cut.bz2
    says err "cannot read cut.bz2: its bzip2 data is cut short or damaged"
done

# A program may write a line and wait for what becomes of it.
mkfifo ask answer
dedupe <ask >answer &
exec 3>ask 4<answer
for i in 1 2 3; do
    printf 'http://a/%d\n' $i >&3
    read -r line <&4
    [ "$line" = "http://a/$i" ] || fail "no answer before the end: $line"
done
exec 3>&- 4<&-
wait $!

# ---- memory ------------------------------------------------------------------------

# More digests than four times the memory that is left for them; on a system that
# gives out huge pages for the heap, too.
peak() {
    GLIBC_TUNABLES=glibc.malloc.hugetlb=1 python3 - "$URLWEIR" dedupe -q "$@" <<'PYTHON'
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=open("got", "wb"))
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
PYTHON
}
# All numbers below the prime 1200077, by powers of its root 5; then some again.
awk 'BEGIN { n = 1200077; x = 1; for (i = 1; i < 1.3 * n; i++) {
    x = x * 5 % n; if (i == n - 1) x = 7; printf "http://h/%d\n", x } }' >many
awk '!s[$0]++' many >want
[ "$(wc -l <want)" = 1200076 ] || fail "lines: $(wc -l <want)"
for how in --raw "--state small"; do
    # shellcheck disable=SC2086
    kib=$(peak --memory 32M $how many)
    cmp want got || fail "--memory 32M $how differs"
    [ "$kib" -le 32768 ] || fail "--memory 32M $how: $kib KiB resident"
done
exits 0 "$URLWEIR" dedupe -q --memory 32M --state small --verify /dev/null
dedupe --memory 32M --state small many >got
[ ! -s got ] || fail "a second run prints what the first one printed"
exits 1 "$URLWEIR" dedupe --memory 31M
says err "32M"

# ---- several runs --------------------------------------------------------------------

awk '!s[$0]++' urls >want
gunzip part.ab.gz part.ae.gz
for how in "" --raw; do
    rm -rf set
    for part in part.*; do
        # shellcheck disable=SC2086
        dedupe --state set $how "$part"
    done >got
    cmp want got || fail "runs over parts differ from one over all: $how"
done
exits 2 "$URLWEIR" dedupe --state set urls
says err "compares lines by octets"
says err "give --raw"
[ ! -s out ] || fail "a refusal on stdout"
"$URLWEIR" dedupe --raw --json --state set urls >got 2>err
[ "$(json unique <err) $(json known_before <err) $(json state <err)" = \
    "0 $(wc -l <want) set" ] || fail "a run of nothing new: $(cat err)"

# ---- killed -----------------------------------------------------------------------------

# What was printed is all there is, each line whole; over all runs nothing is
# missing.
sort want >want.sorted
after_kills() {
    dedupe --state killed --memory 32M --raw urls >>printed 2>err ||
        fail "$1: $(cat err)"
    sort -u printed >printed.sorted
    # A line that a kill has cut is a line of its own.
    comm -13 printed.sorted want.sorted >missing
    [ ! -s missing ] || fail "$1: never printed: $(head -n 3 missing)"
    comm -23 printed.sorted want.sorted >cut
    [ "$(wc -l <cut)" -le "$2" ] || fail "$1: not lines of the input: $(head cut)"
    exits 0 "$URLWEIR" dedupe -q --raw --memory 32M --state killed --verify urls
    [ ! -s out ] || fail "$1: printed although nothing was new"
}
for point in file-renamed:1 dedupe-written:9 commit-before:2; do
    rm -rf killed printed
    status=0
    URLWEIR_KILL_AT=$point dedupe --state killed --memory 32M --raw urls \
        >printed 2>err || status=$?
    [ "$status" = 137 ] || fail "$point was not passed: $status"
    after_kills "$point" 0
done

# ---- stopped -----------------------------------------------------------------------------

awk '!s[$0]++' urls >want
mkfifo slow
# Shells have background commands ignore SIGINT.
env --default-signal=INT "$URLWEIR" dedupe --state stopped slow >got 2>err &
pid=$!
exec 3>slow
head -n 1000 urls >&3
head -n 1000 urls | awk '!s[$0]++' >first
waits_for 'cmp -s first got' || fail "not printed: $(cat err)"
# Meanwhile nobody else.
exits 2 "$URLWEIR" dedupe --state stopped urls
says err "in use by process $pid"
kill -INT $pid
status=0
wait $pid || status=$?
exec 3>&-
[ "$status" = 4 ] || fail "interrupted: status $status"
says err "interrupted"
cmp first got || fail "interrupted: lines differ"
dedupe --state stopped urls >>got
cmp want got || fail "interrupted and gone on: lines differ"

# Nobody reads: as any filter ends, without a word, and what was not read is
# printed again.
(
    status=0
    dedupe --state piped urls 2>err || status=$?
    echo $status >status
) | head -n 1 >got
[ "$(cat status)" = 141 ] || fail "| head: status $(cat status)"
[ ! -s err ] || fail "| head: $(cat err)"
dedupe --state piped urls >>got
sort -u got >got.sorted
sort want | cmp - got.sorted || fail "| head: lines were lost"

# ---- what cannot be read or written ---------------------------------------------------------

exits 2 "$URLWEIR" dedupe urls nowhere
says err "cannot read nowhere: No such file"
[ ! -s out ] || fail "printed although a file is missing"
exits 2 "$URLWEIR" dedupe urls .
says err "cannot read .: Is a directory"
cp urls same
status=0
dedupe same >>same 2>err || status=$?
[ "$status" = 2 ] || fail "reading what is written: $status"
says err "it is the file that is being written"
head -c 300000 many | gzip | head -c 20000 >cut.gz
exits 2 "$URLWEIR" dedupe -q cut.gz
says err "cannot read cut.gz: its gzip data is cut short"
[ "$(wc -l <out)" -gt 1000 ] || fail "a cut file gave nothing"
if [ -c /dev/full ]; then
    status=0
    dedupe --state full urls 2>err >/dev/full || status=$?
    [ "$status" = 2 ] || fail "full disk: status $status"
    says err "cannot write to stdout: No space left"
    dedupe --state full urls >got
    cmp want got || fail "what a full disk took is not printed again"
fi
exits 2 "$URLWEIR" dedupe --state urls urls # a file
exits 1 "$URLWEIR" dedupe --raw --canonical urls
exits 1 "$URLWEIR" dedupe --verify urls

# ---- damage -----------------------------------------------------------------------------------

damaged() {
    exits 6 "$URLWEIR" dedupe -q --raw --state broken urls
    [ ! -s out ] || fail "$1: printed from a damaged set"
    says err "the set in broken is damaged"
    rm -rf broken
    cp -r set broken
}
cp -r set broken
rm broken/dedupe.db
damaged "no database"
rm broken/dedupe.manifest
damaged "no manifest"
truncate -s 4096 broken/dedupe.db
damaged "cut database"
: >broken/dedupe.db
damaged "empty database"
python3 - <<'PYTHON'
import sqlite3
db = sqlite3.connect("broken/dedupe.db")
blob = bytearray(db.execute("SELECT digests FROM batch").fetchone()[0])
blob[100] ^= 4
db.execute("UPDATE batch SET digests = ? WHERE first = 1", (bytes(blob),))
db.commit()
PYTHON
exits 6 "$URLWEIR" dedupe -q --raw --state broken --verify urls
says err "the set in broken is damaged"
