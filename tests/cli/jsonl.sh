#!/bin/sh
# --jsonl writes one line for each finished URL, the same as the rows of the
# store. Standard output has nothing but lines; every line is JSON, whatever
# pages contain.
# Promise (Archives): --jsonl writes each final row once, never before the row
#   is durable, also after kills, torn ends and resumes; nothing else is
#   written to stdout. See also `make sim`, `jsonl_tail`, `make check-fuzz`.
# Promise (Archives): title and language are stored in the page's row, bounded.
set -eu
. "$TOP/tests/cli/lib.sh"

# rows DIR FILE: the lines of FILE are JSON and those of the store: each seq of a
# final row once, in order, with the URL and what became of it.
rows() {
    python3 - "$@" <<'END' || fail "the lines are not the rows of $1"
import json, sqlite3, sys
lines = open(sys.argv[2], encoding='utf-8', errors='strict').read()
assert lines == '' or lines.endswith('\n'), 'a torn end'
got = [json.loads(l) for l in lines.splitlines()]
assert all(list(l)[:3] == ['seq', 'url', 'status'] for l in got)
d = sqlite3.connect('file:%s/frontier.db?mode=ro' % sys.argv[1], uri=True)
want = d.execute('SELECT seq, url, status, reason, http_status, tries, title,'
                 ' (SELECT url FROM fetch WHERE seq = same_as AND url <> id), redirect_to, mime, warc_offset'
                 ' FROM fetches WHERE final ORDER BY seq').fetchall()
have = [(l['seq'], l['url'], l['status'], l['reason'], l['http_status'], l['tries'], l['title'], bool(l['same_as']),
         bool(l['redirect_to']), l['mime'], l['warc_offset']) for l in got]
want = [r[:7] + (bool(r[7]), bool(r[8])) + r[9:] for r in want]
assert have == want, (len(have), len(want), [p for p in zip(have, want) if p[0] != p[1]][:2])
print('%d lines' % len(got))
END
}

# ---- a crawl from start to end ------------------------------------------------

serve --hosts 10 --pages 400 --profile variants,redirects,robots,errors,types
crawl whole -j whole.jsonl --warc
ended 0
serve_no_more
[ ! -s crawl.out ] || fail "data on stdout without --jsonl -"
rows whole whole.jsonl
for field in '"via": "http' '"redirect_to": "http' '"first_byte": 0.0' '"depth": 3' \
    '"reason": "http_404"' '"status": "denied"' '"kind": "seed"'; do
    says whole.jsonl "$field"
done
# Nothing is left to do, but lines that were lost come back.
cp whole.jsonl before
head -c 100000 before >whole.jsonl
resume whole
ended 0
cmp before whole.jsonl || fail "lost lines did not come back"
# So they do in a new file.
resume whole -j other.jsonl
ended 0
cmp before other.jsonl || fail "a new file does not have all lines"

# ---- files of others are left alone ----------------------------------------------

echo '{"seq": 1, "url": "http://elsewhere/", "status": "fetched"}' >foreign
echo 'a line of text' >text
printf 'no line' >text2
for f in foreign text text2; do
    cp $f $f.before
    exits 2 "$URLWEIR" resume whole -j $f
    says err "not a file of this crawl's lines"
    cmp $f $f.before || fail "$f was changed"
    exits 2 "$URLWEIR" crawl "$seed" -o never -j $f
    says err "is not empty"
    [ ! -e never/frontier.db ] || fail "a crawl was begun"
done
exits 2 "$URLWEIR" resume whole -j /nonexistent/x
says err "cannot open"

# ---- standard output ----------------------------------------------------------------

serve --hosts 4 --pages 200
crawl out1 -j - --progress json
ended 0
rows out1 crawl.out
# What a run says is what the run did.
crawl out2 -j - --limit 30
ended 3
cp crawl.out all.out
resume out2 --limit none
ended 0
cat crawl.out >>all.out
rows out2 all.out
# A reader that goes ends the crawl, in order; one that sleeps holds up nothing.
# shellcheck disable=SC2086
{ status=0; "$URLWEIR" crawl "$seed" -o gone $quick --delay 500ms --max-delay 500ms -j - 2>crawl.err || status=$?
    echo $status >status; } | head -n 1 >first.out
[ "$(cat status)" = 4 ] || fail "status $(cat status) after the reader has gone: $(cat crawl.err)"
says crawl.err "the reader of the lines has gone"
is_whole gone
mkfifo slow.pipe
sleep 2000 <slow.pipe &
sleeper=$!
# shellcheck disable=SC2086
"$URLWEIR" crawl "$seed" -o slow $quick -j - >slow.pipe 2>crawl.err &
crawler=$!
waits_for '"$URLWEIR" status slow --json >out 2>err && [ "$(json queued <out)" = 0 ] &&
    [ "$(json fetched <out)" -gt 100 ]' ||
    fail "a reader that sleeps stops the crawl"
kill $crawler 2>/dev/null || :
status=0
wait $crawler || status=$?
case $status in # it may just have ended
0 | 4) ;;
*) fail "status $status: $(cat crawl.err)" ;;
esac
kill $sleeper
is_whole slow
serve_no_more

# A full disk.
if [ -c /dev/full ]; then
    serve --hosts 4 --pages 200
    # shellcheck disable=SC2086
    exits 3 "$URLWEIR" crawl "$seed" -o full $quick -j /dev/full
    says err "cannot write lines"
    serve_no_more
fi

# ---- what pages say ------------------------------------------------------------------

mkdir hostile
printf '<title>"}\n{"seq": 1}\\ \033[31m \302\205 \342\200\256 \377\376 &#0; &#10; \360\237\230\200</title>' >hostile/index.html
printf '<a href="a%%22%%0A.html">x</a><a href="q?%%00&#10;\303\251=%%ff">y</a>' >>hostile/index.html
python3 -c "print('<html lang=\"' + 'e\"<n' * 100 + '\"><title>' + '\u00e9' * 3000 + '</title>')" >'hostile/a"
.html'
serve_files hostile
crawl hostile-d -j hostile.jsonl
serve_no_more
rows hostile-d hostile.jsonl
python3 - <<'END' || fail "hostile words"
import json
for line in open('hostile.jsonl', encoding='utf-8'):
    assert not any(c < ' ' or c == '\x7f' or '\x80' <= c < '\xa0' for c in line[:-1]), line
    l = json.loads(line)
    if l['title']:
        assert len(l['title'].encode()) <= 512, len(l['title'])
        assert '\ufffd' not in l['title'][-1:], 'a title cut within a character'
END
