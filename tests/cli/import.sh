#!/bin/sh
# The state of other crawlers becomes a crawl: files that the tools themselves
# wrote (tests/data/import), a list of half a crawl that a resume completes
# without repeating requests, an import that is killed and repeated, bad lines,
# a file that is cut off.
# Promise (Crashes): another crawler's state becomes a crawl: what it had
#   fetched is not fetched again, what waited is fetched once; files that the
#   tools wrote themselves are read, pickles are not run, bad lines are named
#   and bounded, memory stays under its limit; an import that was killed can be
#   repeated; the commands of importing.md work. See also
#   `tests/cli/importing-docs.sh`, `tests/cli/import-memory.sh`,
#   `import_format`, `frontier_import`, `make fuzz T=import`.
set -eu
. "$TOP/tests/cli/lib.sh"
data=$TOP/tests/data/import

# state DIR: URL, status, reason, HTTP status, depth, kind of all URLs
state() {
    "$URLWEIR" export "$1" --format csv | cut -d, -f1-6 | tail -n +2 | sort
}

# imports NAME FORMAT FILE COUNTS: into a directory of that name
imports() {
    exits 0 "$URLWEIR" import --from "$2" "$3" -o "$1" --json
    says out "$4"
    exits 0 "$URLWEIR" verify "$1"
}

imports nutch nutch-dump "$data/crawldb.txt" \
    '{"waiting":1,"done":6,"failed":1,"known":1,"repeated":0,"dropped":0,"other":0,"refused":0}'
state nutch >got
says got http://site.example/a,queued,,,0,import
says got http://site.example/b,fetched,imported,,1,import
says got http://site.example/c,failed,imported,,1,import
says got http://site.example/d,redirect,imported,,1,import
says got "http://site.example/g?x=1&y=2,fetched,imported,,1,import"
says got https://other.example/h,skipped,imported,,1,import

imports heritrix heritrix-recover "$data/frontier.recover.gz" \
    '{"waiting":3,"done":4,"failed":1,"known":2,"repeated":0,"dropped":0,"other":4,"refused":0}'
state heritrix >got
says got http://site.example/a,fetched,imported,,0,import
says got http://site.example/b,failed,imported,,0,import
says got http://site.example/c,skipped,imported,,0,import
says got http://site.example/d%20d,queued,,,0,import
says got http://cdn.example/style.css,queued,,,1,import
lacks got 'robots.txt\|dns:' "a prerequisite is no page"
exits 0 "$URLWEIR" explain heritrix http://site.example/b
says out "status=failed reason=imported"
says out "detail=heritrix-recover: Ff, frontier.recover.gz line 20"
exits 0 "$URLWEIR" explain heritrix http://site.example/e
grep -q '^  kind  *import$' out || fail "no word of the import: $(cat out)"
exits 0 "$URLWEIR" export heritrix --what pages
[ ! -s out ] || fail "nothing was fetched here: $(cat out)"
exits 0 "$URLWEIR" export heritrix --what errors
says out '"http://site.example/b", "status": "failed", "reason": "imported"'

imports wget2 wget2-log "$data/wget2.log" \
    '{"waiting":1,"done":9,"failed":2,"known":0,"repeated":8,"dropped":0,"other":3,"refused":0}'
state wget2 >got
says got http://127.0.0.7:18398/dir,redirect,imported,301,0,import
says got http://127.0.0.7:18398/none.html,failed,imported,404,0,import
says got http://127.0.0.8:18399/x,queued,,,0,import

for list in jsonl json txt; do
    imports uf.$list urlfrontier "$data/urlfrontier.$list" \
        '{"waiting":5,"done":2,"failed":0,"known":0,"repeated":0,"dropped":0,"other":0,"refused":0}'
    state uf.$list >got
    says got http://site.example/,fetched,imported,,1,import
    says got http://site.example/a,fetched,imported,,1,import
    says got "http://site.example/c;d,queued,,,0,import"
    says got "http://site.example/e?x=1&y=%C3%A9,queued,,,0,import"
done

# Scrapy's four disk queues. What it took of a FIFO stays in the file until the
# file ends, and counts no more.
jobdir() { # STATUS DIR: into `waiting`
    status=0
    python3 "$TOP/bindings/scrapy/urlweir_scrapy/jobdir.py" "$2" >waiting 2>err || status=$?
    [ "$status" = "$1" ] || fail "jobdir.py $2: status $status: $(cat err)"
}
tar -xJf "$data/scrapy.tar.xz"
for queue in PickleLifo:5:1 MarshalLifo:5:1 PickleFifo:4:2 MarshalFifo:4:2; do
    name=${queue%%:*}
    waiting=${queue#*:}
    jobdir 0 $name
    says err "${waiting%:*} requests wait, ${queue##*:} are not for pages, 0 refused"
    says err "what Scrapy has fetched is known only by fingerprints"
    imports scrapy.$name list waiting \
        '{"waiting":'${waiting%:*}',"done":0,"failed":0,"known":0,"repeated":0,"dropped":0,"other":0,"refused":0}'
    state scrapy.$name >got
    says got http://127.0.0.7:18398/dir,queued,,,0,import
    says got http://127.0.0.8:18399/x,queued,,,0,import
    says got "http://127.0.0.7:18398/caf%C3%A9?x=1,queued,,,0,import"
    lacks got 'not.example\|/post' "no request of a page"
done
grep -q '/a.html,queued' got && fail "it was taken: $(cat got)"

# A kill cut a queue; a link, a file and a directory are none; names of a file
# reach the screen as text.
slot=PickleLifo/requests.queue/127.0.0.7-1bb722a06732d0c7506a8d761a8457c4
size=$(wc -c <$slot/0)
head -c $((size - 100)) $slot/0 >$slot/1
ln -s "$PWD/PickleLifo" $slot/2
echo x >"$slot/$(printf 'bad\033[31m')"
printf 'SQLite format 3\0' >$slot/3
mkdir -p $slot/4/5/6/7
jobdir 5 PickleLifo
says err "8 requests wait, 2 are not for pages, 5 refused"
lacks err "$(printf '\033')" "an escape got through"
says err "/1:5: the queue is cut short or damaged from here"
says err "/2:0: it cannot be opened"
says err "/3:0: a queue in SQLite is not read"
says err "bad\x1b[31m:0: not a file of a disk queue"
says err "/4/5:0: neither a file nor a directory of a disk queue"
jobdir 0 MarshalLifo/requests.queue
says err "5 requests wait"
jobdir 2 nowhere
says err "No such file or directory: nowhere"

# A pickle is not run; whatever the octets, it ends, and says what it refused.
python3 - "$TOP/bindings/scrapy/urlweir_scrapy" PickleLifo MarshalLifo <<'PYTHON'
import io, os, pickle, random, struct, subprocess, sys
sys.path.insert(0, sys.argv[1])
import jobdir
class Evil:
    def __reduce__(self):
        return os.mkdir, ("it-was-run",)
def listed(data, fifo=False):
    listing = jobdir.Listing(io.BytesIO(), io.StringIO())
    with open("queue", "wb") as f:
        f.write(data)
    with open("queue", "rb") as f:
        (jobdir.list_fifo(listing, "q", f, 0) if fifo else
         jobdir.list_lifo(listing, "q", f))
    assert bool(listing.refused) == bool(listing.err.getvalue())
    return listing
def lifo(*requests):
    return b"\0\0\0\0" + b"".join(r + struct.pack(">L", len(r)) for r in requests)
evil = pickle.dumps({"url": "http://a/", "method": "GET", "meta": {"x": Evil()}})
one = listed(lifo(evil))
assert one.waiting == 1 and not os.path.exists("it-was-run"), one.err.getvalue()
bad = listed(lifo(evil, b"\x80\x04nonsense", evil))
assert (bad.waiting, bad.refused) == (2, 1), bad.err.getvalue()
dice = random.Random(7)
for top in sys.argv[2:]:
    for folder, _, names in os.walk(os.path.join(top, "requests.queue")):
        for name in names:
            if name != "0":
                continue
            whole = open(os.path.join(folder, name), "rb").read()
            for _ in range(150):
                data = bytearray(whole)
                for _ in range(dice.randrange(1, 6)):
                    data[dice.randrange(len(data))] = dice.randrange(256)
                listed(bytes(data[:dice.randrange(len(data)) + 1]), dice.random() < .3)
PYTHON

for cdx in wget.cdx indexer.cdx indexer.cdxj; do
    exits 0 "$URLWEIR" import --from cdx "$data/$cdx" -o $cdx --json
    says out '"waiting":0,"done":5,"failed":3,"known":0,"repeated":0'
    state $cdx >got.$cdx
    says got.$cdx http://127.0.0.1:18377/none.html,failed,imported,404,1,import
    cmp got.$cdx got.wget.cdx
    exits 0 "$URLWEIR" explain $cdx http://127.0.0.1:18377/a.html
    says out "fetched_at=2026-11-24T00:02:24"
done
exits 0 "$URLWEIR" resume indexer.cdxj --allow-private --min-disk 0 -q

# Half of a crawl of the test web: the rest is fetched, and no page twice.
serve --hosts 3 --pages 60 --seed 5
go="--scope any --allow-private --sitemap off -w 0 --min-disk 0 --progress none"
# shellcheck disable=SC2086
exits 0 "$URLWEIR" crawl "$seed" -o whole $go -q --warc --cdxj
state whole | cut -d, -f1,2 >whole.state
n=$(wc -l <whole.state)
sort -R --random-source="$data/crawldb.txt" whole.state | head -n $((n / 2)) |
    sed 's/,fetched$/\tdone/; s/,[a-z]*$/\tknown/' >half
cut -f1 half | sort >half.urls
cut -d, -f1 whole.state | comm -23 - half.urls >waits
cat waits half | gzip >list.gz
printf 'scope: any\nallow-private: true\nsitemap: off\ndelay: 0s\nmin-disk: 0\nprogress: none\n' >conf.yaml
exits 0 "$URLWEIR" import --from list list.gz -o part -C conf.yaml --json
says out "{\"waiting\":$(wc -l <waits),"
mark
exits 0 "$URLWEIR" resume part -q
since_mark part.log
awk -F'\t' -v port="$port" '$7 != "/robots.txt" {print "http://" $4 ":" port $7}' part.log |
    sort >asked
state part | cut -d, -f1 | sort >part.urls
cut -d, -f1 whole.state | cmp - part.urls
cmp waits asked

# What our own archive has is done.
exits 0 "$URLWEIR" import --from cdx whole/warc/index.cdxj -o archive --json
says out '"waiting":0,'
state archive | cut -d, -f1 >archive.urls
grep ',fetched,' whole.state | cut -d, -f1 | comm -23 - archive.urls >lost
[ ! -s lost ] || fail "not in the archive: $(cat lost)"

# Killed at any batch, and repeated, it is as if it had not been.
i=0
while [ $i -lt 3000 ]; do
    i=$((i + 1))
    echo "http://site.example/$i"
done >many
awk 'NR % 3 == 0 {print $0 "\tdone"}' many >many.done
cat many many.done >many.list
exits 0 "$URLWEIR" import --from list many.list -o once --json
says out '{"waiting":2000,"done":1000,"failed":0,"known":0,"repeated":0,'
state once >once.state
for at in import-batch:2 import-batch:9 import-read; do
    rm -rf twice
    URLWEIR_KILL_AT=$at exits 137 "$URLWEIR" import --from list many.list -o twice
    exits 2 "$URLWEIR" resume twice
    says err '(or `urlweir import`) again'
    exits 0 "$URLWEIR" import --from list many.list -o twice --json
    says out '{"waiting":2000,"done":1000,"failed":0,"known":0,"repeated":0,'
    state twice | cmp - once.state
    exits 0 "$URLWEIR" verify twice
done
exits 2 "$URLWEIR" import --from list many.list -o once
says err "once holds a crawl already"

# Bad lines have their number; all of them are in the file, 20 on the screen.
{
    i=0
    while [ $i -lt 30 ]; do
        i=$((i + 1))
        printf 'bad\033[31m%s\n' $i
    done
    echo http://good.example/
    printf 'http://good.example/\377\nhttp://good.example/\376\n'
    head -c 1100000 /dev/zero | tr '\0' x
} >bad
exits 5 "$URLWEIR" import --from list bad -o bad.d --refused refused
says out "3  wait to be fetched"
says out "31  lines were refused"
says err 'urlweir import: bad:1: no http:// or https:// before it'
says err 'the file of --refused has them all'
[ "$(grep -c '^urlweir import: bad:' err)" = 20 ] || fail "shown: $(cat err)"
[ "$(wc -l <refused)" = 31 ] || fail "refused: $(wc -l <refused)"
lacks err "$(printf '\033')" "an escape got through"
lacks refused "$(printf '\033')" "an escape got through"
tail -n 1 refused | cut -f1-3 >tail
says tail "$(printf 'bad\t34\tthe line is too long')"
state bad.d >got
says got "http://good.example/%FF,queued"
says got "http://good.example/%FE,queued"

# A journal that a crash cut off is taken as far as it goes.
size=$(wc -c <list.gz)
head -c $((size - 20)) list.gz >cut.gz
exits 5 "$URLWEIR" import --from list cut.gz -o cut.d
says err "the gzip data is cut short or damaged from here"
exits 0 "$URLWEIR" verify cut.d

# Lists as people have them.
two_packed
for list in two.gz two.bz2 two.zst two.mark; do
    imports $list.d list $list \
        '{"waiting":2,"done":0,"failed":0,"known":0,"repeated":0,"dropped":0,"other":0,"refused":0}'
done

# The crawl's own rules hold for what waits, and for that alone.
printf 'http://a.example/x\nhttp://a.example/y\nhttp://a.example/x2\tdone\n' >rules
printf 'exclude: [/x]\nseeds: [http://seed.example/]\nsitemap: off\n' >rules.yaml
exits 0 "$URLWEIR" import --from list rules -o rules.d -C rules.yaml --json
says out '{"waiting":2,"done":1,"failed":0,"known":0,"repeated":0,"dropped":1,'
exits 0 "$URLWEIR" explain rules.d http://a.example/x
says out exclude

exits 1 "$URLWEIR" import list -o none
says err "--from FORMAT is missing"
exits 1 "$URLWEIR" import --from list many
says err "-o DIR is missing"
exits 1 "$URLWEIR" import --from lists many -o none
says err list
exits 2 "$URLWEIR" import --from list nowhere -o none
says err "cannot read nowhere"
[ ! -e none ] || fail "a directory was left"
