#!/bin/sh
# diff finds exactly the differences between two versions of a site, by bodies
# or by texts, in little memory, in each format; also in a crawl that asked only
# whether pages have changed, and between two moments of one crawl. Pages that
# an unfinished crawl lacks are no difference; the page of --html escapes
# hostile text.
# Promise (Archives): urlweir diff finds exactly the differences between two
#   versions of a site, or two moments of one crawl, in bounded memory; pages
#   that an unfinished crawl lacks are no difference; a URL that was fetched
#   again counts as it is now; hostile titles are escaped. See also
#   `tests/cli/diff-moments.sh`, `diff_row`, `diff_join`, `make bench-diff`.
set -eu
. "$TOP/tests/cli/lib.sh"

pages=${LONG:+3000}
plain_site 127.0.0.1
quick="$quick --scope host" # a page links elsewhere
python3 "$TOP/tests/support/diff_web.py" versions 5 "${pages:-72}" "$port"
show() { # VERSION: what the server has
    rm -rf web
    cp -r "versions/$1" web
}
show old
crawl old --record links
ended 0
crawl part --record links --limit 30
ended 3
show new
crawl new --record links
ended 0
crawl since --since old --record links
ended 0
exits 0 "$URLWEIR" export since --what urls --format csv
[ "$(grep -c ",unchanged," out)" -gt 10 ] || fail "not many pages were unchanged: $(cat out)"

# lines: ./out, lines of JSON, as the truth has them.
lines() {
    python3 -c 'import json, sys
for line in sys.stdin:
    r = json.loads(line)
    print(*(r[k] if r[k] not in (None, "") else "-" for k in
            ("kind", "url", "to", "by", "what", "links_added", "links_removed")))' <out | sort
}
# is_truth WAY OF...: is what diff says the truth?
is_truth() {
    way=$1
    shift
    exits 0 "$URLWEIR" diff "$@" --format jsonl --changed-by "$way"
    lines >found
    LC_ALL=C sort "versions/truth.$way" | diff - found >difference ||
        fail "$* by $way: $(head -n 20 difference)"
}
for way in text body; do
    is_truth $way old new
    is_truth $way old since
done
exits 0 "$URLWEIR" diff old new --format jsonl
cp out text.jsonl

# ---- a fault is seen ----

victim=$(sed -n 's,^moved http://[^/]*\(/[^ ]*\) .* body .*,\1,p' versions/truth.text | head -n 1)
to=$(sed -n "s,^moved http://[^/]*$victim http://[^/]*\([^ ]*\) .*,\1,p" versions/truth.text)
echo '<p>one word' >>"web/127.0.0.1$to"
crawl other --record links
ended 0
exits 0 "$URLWEIR" diff old other --format jsonl
lines >found
diff versions/truth.text found >difference && fail "nothing was seen"
grep -q "> gone .*$victim " difference || fail "not seen: $(cat difference)"
[ "$(grep -c '^[<>]' difference)" = 3 ] || fail "more than that: $(cat difference)"

# ---- the same in little memory, the other way, and of one crawl ----

exits 0 "$URLWEIR" diff old new --format jsonl --memory 1M --temp .
cmp -s out text.jsonl || fail "with --memory 1M it is another"
exits 0 "$URLWEIR" diff new old --format jsonl
jq -r 'select(.kind == "gone").url' text.jsonl | sort >want
[ -s want ] || fail "nothing is gone"
jq -r 'select(.kind == "new").url' out | sort | diff want - >difference ||
    fail "the other way what is gone is new: $(cat difference)"
exits 0 "$URLWEIR" diff old new
exits 0 "$URLWEIR" diff old old --exit-code
grep -q '^same' out || fail "no counts: $(cat out)"
exits 1 "$URLWEIR" diff old new --exit-code
for kind in new gone changed moved; do
    [ "$(awk -v k=$kind '$1 == k { print $2 }' out)" = "$(grep -c "^$kind " versions/truth.text)" ] ||
        fail "$kind: $(cat out)"
done
grep -q '^same .* ([1-9][0-9]* with another body)' out || fail "same texts in other bodies are not counted: $(cat out)"

# ---- formats ----

exits 0 "$URLWEIR" diff old new --format csv
python3 - text.jsonl out <<'PYTHON'
import csv, json, sys
rows = [json.loads(line) for line in open(sys.argv[1])]
table = list(csv.DictReader(open(sys.argv[2], newline="")))
assert len(rows) == len(table) > 0
for row, line in zip(rows, table):
    assert list(row) == list(line), (list(row), list(line))
    for k, v in row.items():
        assert str(v if v is not None else "") == line[k].lstrip("'"), (k, v, line[k])
assert any(r["simhash_distance"] for r in rows if r["kind"] == "changed"), "no distance"
assert any(r["added"] and "/t/2.html" in r["added"] for r in rows)
PYTHON
exits 0 "$URLWEIR" diff old new --html page.html
python3 - page.html <<'PYTHON'
import sys, html.parser
text = open(sys.argv[1]).read()
seen = []
class P(html.parser.HTMLParser):
    def handle_starttag(self, tag, attrs): seen.append((tag, dict(attrs)))
P().feed(text)
tags = {t for t, _ in seen}
assert not tags & {"script", "img", "a", "form", "iframe"}, tags
assert "alert(1)" in text and "<script" not in text
assert not any(k.startswith("on") or k in ("href", "src") for _, a in seen for k in a)
assert "/moved/" in text and "/d3/" in text
PYTHON

# ---- unfinished crawls ----

exits 0 "$URLWEIR" diff part new --format jsonl
says err "the crawl in part is stopped: what it has not fetched yet counts as unfetched"
grep -v '"kind": "unfetched"' out >known && mv known out
lines | cut -d' ' -f1-4 >found
[ "$(wc -l <found)" -gt 5 ] || fail "hardly a difference: $(cat found)"
cut -d' ' -f1-4 versions/truth.text | sort >truth
! comm -13 truth found | grep -v '^moved\|^gone' | grep . || fail "no difference of the site"
grep '"kind": "new"' out >new.rows || :
lacks -v new.rows '"http_status_before": 404' "what was not fetched yet is called new"
exits 0 "$URLWEIR" diff new part --format jsonl
grep '"kind": "gone"' out >gone.rows || :
lacks -v gone.rows '"http_status_after": 404' "what was not fetched yet is called gone"
exits 2 "$URLWEIR" diff old nothing
exits 1 "$URLWEIR" diff old
