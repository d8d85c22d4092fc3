#!/bin/sh
# A counter of a crawl has one name and one value wherever it is shown: this
# compares summary, status --json, progress --json, HTTP and metrics of one
# crawl, counter by counter, and the documents with the program's table. The sums that
# counters.md names hold.
# Promise (The service): the counters add up as counters.md says, also while a
#   crawl runs, and agree with exports and audit, after kills and resumes. See
#   also `make sim`.
set -eu
. "$TOP/tests/cli/lib.sh"

tables=$(dirname "$SITE")/doc_tables
"$tables" names >names
[ "$(wc -l <names)" -gt 30 ] || fail "too few counters: $(cat names)"

"$tables" sums | sed -n 's/.*| `\(.*\)` |$/\1/p' >sums
[ "$(wc -l <sums)" -ge 3 ] || fail "too few sums: $(cat sums)"

"$TOP/tools/doc-tables.sh" check "$tables" || fail "the documents are not those of the program"

# ---- one crawl: what it says while it runs, at its end, and after ---------------

serve --hosts 20 --pages 400 --profile errors,robots,redirects,variants --seed 7
mkdir -p d/crawls
# shellcheck disable=SC2086
exits 0 "$URLWEIR" crawl "$seed" -o d/crawls/one $quick --progress json
cp err said
exits 0 "$URLWEIR" status d/crawls/one --json
cp out status.json

# The same directory in a service: stopped, then opened again.
echo stopped >d/crawls/one/service
start_service 127.0.0.1:0
# shows NAME: what HTTP and metrics say of the crawl.
shows() {
    curl -sS -o "$1.json" "http://$http/v1/crawls/one"
    curl -sS -o "$1.page" "http://$http/metrics"
}
shows stopped
curl -sS -o answer -H 'Content-Type: application/json' -d '{}' "http://$http/v1/crawls/one/resume"
opened() {
    shows opened
    grep -q '"state": *"waiting"' opened.json
}
waits_for opened || fail "it is not opened: $(cat opened.json)"
stop TERM 0

# ---- all of it, counter by counter ----------------------------------------------

# Of each counter the sum of its family, "NAME VALUE" in ./VIEW.sums.
while read -r name kind metric label; do
    [ "$label" != - ] || label=crawl=one
    echo "$name $metric $label"
done <names >metrics
for view in stopped opened; do
    python3 "$TOP/tests/support/prom_check.py" sums $view.page <metrics >$view.sums ||
        fail "$view: a metric is missing"
done
python3 - <<'END' || fail "they disagree"
import json, re
kinds = dict(line.split()[:2] for line in open("names"))
said = open("said").read()
views = {
    "progress": json.loads([l for l in said.splitlines() if l.startswith("{")][-1]),
    "status": json.load(open("status.json")),
    "stopped": json.load(open("stopped.json")),
    "opened": json.load(open("opened.json")),
}
for view in "stopped", "opened":
    views["metrics " + view] = {n: int(v) for n, v in map(str.split, open(view + ".sums"))}
stored = [n for n in kinds if kinds[n] in ("crawl", "state")]
for name, kind in kinds.items():
    shown = {v: o[name] for v, o in views.items() if name in o}
    if name in stored:
        assert len(shown) == len(views) and len(set(shown.values())) == 1, (name, shown)
    else:
        assert "status" not in shown and len(shown) == len(views) - 1, (name, shown)
        assert shown["stopped"] == shown["metrics stopped"] == 0, (name, shown)
        if not name.startswith("memory_"):  # changes as it is looked at
            assert shown["opened"] == shown["metrics opened"], (name, shown)
used = [n for n in stored if views["status"][n] > 0]
for name in "pages fetched redirects failed denied retries urls hosts links duplicates bytes " \
        "certainly_new seeds".split():
    assert name in used, (name, views["status"])
for name in "requests", "connections", "received_bytes", "memory_bytes", "memory_hot", "memory_exact", \
        "memory_queues", "memory_database":
    assert views["progress"][name] > 0, name

# No counter by another name: the rest of status and of progress is known.
rest = set(views["status"]) - set(stored)
assert rest == {"dir", "state", "reasons", "filter_overfull", "checkpoint_at", "generation", "memory",
                "settings", "secrets", "unresponsive"}, rest
rest = set(views["progress"]) - set(kinds)
assert rest == {"elapsed", "pages_per_second", "bytes_per_second", "eta", "paused", "waiting",
                "last"}, rest

# The summary has the same numbers, in words.
rows = {"pages": "pages", "fetched": "fetched", "redirects": "redirects", "failed": "failed",
        "denied": "denied", "skipped": "skipped", "links": "links", "unique URLs": "urls"}
told = dict(re.findall(r"^  ([A-Za-z ]+?) +([\d,]+)\b", said, re.M))
for title, name in rows.items():
    n = views["status"][name]
    assert int(told.get(title, "0").replace(",", "")) == n or (title == "fetched" and title not in told), \
        (title, n, said)
for words, name in (" seen before", "duplicates"), (" out of scope", "dropped"), \
        (" of which a Bloom", "false_positives"), (" with a body seen before", "same_content"):
    found = re.search(r"([\d,]+)" + words, said)
    n = int(found[1].replace(",", "")) if found else 0
    assert n == views["status"][name], (name, n, said)

# They add up, in each view that has all of them, also while it ran.
ran = [json.loads(l) for l in said.splitlines() if l.startswith("{")]
for view in [views["status"], views["stopped"], views["opened"], *ran]:
    for left, right in (line.split("=") for line in open("sums")):
        assert eval(left, {}, view) == eval(right, {}, view), (left, right, view)

# The reasons add up to what they are the reasons of.
reasons = views["status"]["reasons"]
for status in "failed", "denied", "skipped", "dropped":
    total = sum(n for r, n in reasons.items() if r.startswith(status + "."))
    assert total == views["status"][status], (status, total)
assert views["stopped"]["errors"] == views["opened"]["errors"], views["stopped"]["errors"]
END
