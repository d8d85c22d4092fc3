#!/bin/sh
# audit --filters replays the stream through every kind of filter; --html puts
# the result on one page: well-formed, with the numbers of --json, no text from
# the web read as markup, nothing loaded from anywhere.
# Promise (Audit, progress and figures): an audit plays the same URLs through
#   every kind of filter, at any rate.
set -eu
. "$TOP/tests/cli/lib.sh"

# page FILE JSON: the page holds up, and its numbers are those of --json.
page() {
    python3 - "$1" "$2" <<'PYTHON' || fail "$1 is not what it should be"
import base64, hashlib, json, re, sys
from html.parser import HTMLParser

VOID = {"meta", "br"}

class Page(HTMLParser):
    """Checks nesting; gathers figures, tables and the lost URLs."""
    def __init__(self):
        super().__init__()
        self.stack, self.tables, self.lost, self.style = [], [], [], ""
        self.figures, self.plots, self.name, self.policy = {}, 0, "", ""
    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        assert tag not in ("script", "link", "img", "iframe", "a", "b"), tag
        assert not any(k.startswith("on") or k in ("style", "href", "src")
                       for k in a), a
        if a.get("http-equiv") == "Content-Security-Policy":
            self.policy = a["content"]
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append([])
        elif tag == "data":
            number = float(a["value"])
            if "dd" in self.stack:
                self.figures[self.name] = number
            elif self.tables and "table" in self.stack:
                self.tables[-1][-1][-1].append(number)
        elif tag == "svg":
            assert a["role"] == "img" and a["aria-label"]
            self.plots += 1
        elif tag == "li":
            self.lost.append("")
        elif tag == "dt":
            self.name = ""
        if tag not in VOID:
            self.stack.append(tag)
    def handle_startendtag(self, tag, attrs):
        assert tag in ("path", "rect"), tag
    def handle_endtag(self, tag):
        assert self.stack and self.stack[-1] == tag, (tag, self.stack)
        self.stack.pop()
    def handle_data(self, data):
        if not self.stack:
            return
        if self.stack[-1] == "style":
            self.style += data
        elif self.stack[-1] == "dt":
            self.name += data
        elif "li" in self.stack:
            self.lost[-1] += data

text = open(sys.argv[1], encoding="utf-8").read()
want = json.load(open(sys.argv[2]))
page = Page()
page.feed(text)
page.close()
assert page.stack == [], page.stack

digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
assert page.policy == ("default-src 'none'; style-src 'sha256-%s'; "
                       "base-uri 'none'; form-action 'none'" % digest)
assert "http" not in page.style and "@import" not in page.style

f = page.figures
assert f["new URLs checked"] == want["new"]
assert f["URLs a Bloom-only crawler would have lost"] == want["would_have_lost"]
assert f["false negatives (must be 0)"] == want["false_negatives"]
assert f["bits a URL"] == want["bits_per_key"]

# The crawl's own steps.
own = [[n for cell in row for n in cell] for row in page.tables[0][1:]]
assert own == [[s["upto"], s["fpr_measured"], s["fpr_low"], s["fpr_high"],
                s["fpr_promised"], s["fpr_predicted"]] for s in want["steps"]]
answers = [row[1][0] for row in page.tables[1][1:]]
assert answers == [want["answers"][k]
                   for k in ("repeats", "new", "maybe_known", "maybe_new")]

# All replays, then for each rate what its plots show.
kinds = [[n for cell in row for n in cell] for row in page.tables[2][1:]]
assert kinds == [[w["made_for"], w["would_have_lost"], w["fpr_measured"],
                  w["fpr_low"], w["fpr_high"], w["fpr_promised"],
                  w["fpr_predicted"], w["fill"], w["bits_per_key"],
                  w["add_ns"], w["check_ns"]] for w in want["what_if"]]
rates = sorted({w["fpr"] for w in want["what_if"]}, reverse=True)
assert page.plots == 2 + 4 * len(rates), page.plots
for i, rate in enumerate(rates):
    group = [w for w in want["what_if"] if w["fpr"] == rate]
    measured, fill, cost, size = page.tables[3 + 4 * i:7 + 4 * i]
    for j, step in enumerate(group[0]["steps"]):
        for k, w in enumerate(group):
            assert measured[j + 1][k + 1] == [w["steps"][j]["fpr_measured"]]
            assert fill[j + 1][k + 1] == [w["steps"][j]["fill"]]
    assert [r[1][0] for r in cost[1:]] == [w["check_ns"] for w in group]
    assert [r[1][0] for r in size[1:]] == [w["bits_per_key"] for w in group]

json.dump(page.lost, open("lost.json", "w"))
PYTHON
}

# ---- a list, all kinds, two rates ----------------------------------------------

awk 'BEGIN { for (i = 0; i < 100000; i++) print "http://a.example/" i }' >list
"$URLWEIR" audit --urls list --fpr 0.3 --what-if 0.3,0.01 --html page.html \
    --json >json 2>err
[ ! -s err ] || fail "a broken promise of a replay is news: $(cat err)"
page page.html json
python3 - <<'PYTHON' || fail "the replays are not what they should be"
import json
want = json.load(open("json"))
seen = {}
for w in want["what_if"]:
    seen[w["name"]] = w
    assert w["new"] == 100000 and w["check_ns"] > 0 and w["add_ns"] > 0
    assert w["fpr_promised"] == w["fpr"]
    if "tenth" not in w["name"]:
        assert w["fpr_low"] <= w["fpr"], w["name"]
assert len(seen) == 12
assert seen["bloom fpr=0.01"]["made_for"] == 100000
assert seen["cuckoo fpr=0.01"]["made_for"] == 100000
tenth = seen["bloom fpr=0.01 for a tenth"]
assert tenth["made_for"] == 10000 and tenth["fpr_low"] > 0.3
# --fpr and the replay of the same rate are the same filter.
assert seen["scalable fpr=0.3"]["false_positives"] == want["false_positives"]
PYTHON

# Named kinds alone, at the rate of the list.
exits 0 "$URLWEIR" audit --urls list --fpr 0.02 --filters cuckoo,bloom
says out "cuckoo fpr=0.02 "
says out "bloom fpr=0.02 for a tenth "
lacks out stacked "a kind nobody named"
exits 1 "$URLWEIR" audit --urls list --filters blom
says err "'blom'"
exits 2 "$URLWEIR" audit --urls list --html nowhere/page.html
says err "cannot write nowhere/page.html"

# No URL at all.
: >empty
exits 0 "$URLWEIR" audit --urls empty --html empty.html
says empty.html "No URL was checked yet."

# ---- a crawl with a hostile URL and a hostile name ------------------------------

small_web
name='d<b>&"1'
# shellcheck disable=SC2086
crawl "$name" $small
ended 0
serve_no_more
sqlite3 "$name/frontier.db" "UPDATE url SET flags = flags | 2,
    path = '/<script>window.hit=1</script>\"' || char(39) || '&amp;' || char(8238)
    WHERE id = 2"
exits 5 "$URLWEIR" audit "$name" --json --html page.html
page page.html out
python3 - <<'PYTHON' || fail "the lost URL: $(cat lost.json)"
import json
(lost,) = json.load(open("lost.json"))
assert lost.endswith("/<script>window.hit=1</script>\"'&amp;\\xe2\\x80\\xae"), lost
PYTHON
grep -q '<h1>Audit of d&lt;b&gt;&amp;&quot;1</h1>' page.html ||
    fail "the name of the directory is not escaped"
