#!/bin/sh
# A column of a URL has one name and one value wherever it is shown: this
# compares export, --jsonl, explain and HTTP for one crawl, URL by URL, also
# with docs/formats/columns.md.
set -eu
. "$TOP/tests/cli/lib.sh"

"$TOP/tools/doc-tables.sh" check "$(dirname "$SITE")/doc_tables" ||
    fail "the documents are not those of the program"

# ---- one crawl of a service's own -------------------------------------------------

serve --hosts 5 --pages 90 --profile errors,robots,redirects,variants --seed 7
start_service 127.0.0.1:0
api() {
    python3 "$TOP/tests/support/json_api.py" "$http" "$@" >answer || fail "$*: $(cat answer)"
}
api POST /v1/crawls "{\"name\": \"one\", \"seeds\": [\"$seed\"], \"settings\": {\"scope\": \"any\",
    \"allow-private\": true, \"delay\": \"0\", \"sitemap\": \"off\", \"retry-delay\": \"50ms\", \"max-delay\": \"100ms\",
    \"min-disk\": 0, \"jsonl\": \"one.jsonl\", \"record\": \"all\", \"warc\": true}}"
is_waiting() {
    api GET /v1/crawls/one && grep -q '"state":"waiting"' answer
}
waits_for is_waiting || fail "it does not end: $(cat answer serve.err)"
api GET "/v1/crawls/one/recent?size=200"
mv answer recent.json
for what in urls pages errors; do
    api POST /v1/crawls/one/export "{\"what\": \"$what\"}"
    mv answer $what.http
done
api POST /v1/crawls/one/stop
stop TERM 0
for what in urls pages errors fetches; do
    exits 0 "$URLWEIR" export d/crawls/one --what $what
    mv out $what.jsonl
    exits 0 "$URLWEIR" export d/crawls/one --what $what --format csv
    mv out $what.csv
done
cp d/crawls/one/one.jsonl jsonl.jsonl 2>/dev/null || cp d/one.jsonl jsonl.jsonl

# ---- all of it, URL by URL ---------------------------------------------------------

python3 - "$URLWEIR" "$TOP/docs/formats/columns.md" <<'END' || fail "they disagree"
import csv, json, re, subprocess, sys
rows = lambda name: [json.loads(line) for line in open(name, encoding="utf-8") if line.strip()]
views = {name: rows(name + ".jsonl") for name in ("urls", "pages", "errors", "jsonl", "fetches")}
views["recent"] = json.load(open("recent.json"))["recent"]

# As the document names them, in its order; CSV and HTTP are the same rows.
listed = dict(re.findall(r"^\| `(\w+)` \| (\w+(?:, \w+)+) \|$", open(sys.argv[2]).read(), re.M))
assert set(listed) == set(views) | {"explain", "history"}, listed.keys()
for name, all_rows in views.items():
    assert len(all_rows) > 5, (name, len(all_rows))
    for row in all_rows:
        assert list(row) == listed[name].split(", "), (name, row)
text = lambda v: "" if v is None else json.dumps(v) if isinstance(v, bool) else v
for name in "urls", "pages", "errors":
    assert rows(name + ".http") == views[name], name
    table = list(csv.reader(open(name + ".csv", newline="", encoding="utf-8")))
    assert table[0] == listed[name].split(", "), table[0]
    for cells, row in zip(table[1:], views[name], strict=True):
        for cell, value in zip(cells, row.values(), strict=True):
            assert cell == text(value) or float(cell) == value, (name, cell, value)

# What is known of each URL, column by column, from all views that have it.
known, seen = {}, {}
def learn(view, url, row):
    for column, value in row.items():
        before = known.setdefault(url, {}).setdefault(column, (view, value))
        assert before[1] == value, (url, column, before, (view, value))
        if before[0] != view:
            seen.setdefault(column, set()).update((before[0], view))
for name, all_rows in views.items():
    for row in all_rows:
        done = known.get(row["url"], {})
        if not row.get("final", True) or (name == "recent" and row["fetched_at"] != done["fetched_at"][1]):
            continue  # a try that was repeated
        learn(name, row["url"], row)
assert any(row["reason"] == "redirect_loop" for row in views["recent"])
ids = {row["url"]: row["id"] for row in views["urls"]}
for url in ids:
    told = json.loads(subprocess.run([sys.argv[1], "explain", "d/crawls/one", url, "--json"],
                                     stdout=subprocess.PIPE, check=True).stdout)
    # What is absent is left out; the rest has a place of its own.
    whole = {c: told.get(c) for c in listed["explain"].split(", ")}
    learn("explain", url, whole)
    rest = set(told) - set(whole)
    assert rest <= {"url", "reason", "admitted", "history", "filter", "seen_again", "robots_allows", "robots_line"}, rest
    for i, entry in enumerate(told["history"]):
        row = {c: entry.get(c) for c in listed["history"].split(", ")}
        assert set(entry) <= set(row), entry
        assert row["final"] == (i + 1 == len(told["history"])), told["history"]
        if row["final"]:
            learn("history", url, row)
    # via_id is the id of via.
    via = known[url].get("via", (None, None))[1]
    assert known[url]["via_id"][1] == (ids[via] if via else None), url

# Each column that more than one view has was compared, with values in it.
shared = [c for c in known[next(iter(known))] if sum(c in l.split(", ") for l in listed.values()) > 1]
assert len(shared) > 20 and set(shared) <= set(seen), set(shared) - set(seen)
empty = [c for c in shared if not any(known[u].get(c, (0, None))[1] for u in known)]
assert set(empty) <= {"etag", "last_modified", "lang", "priority", "lastmod", "changefreq", "false_positive",
                      "unknown_coding", "not_well_formed", "no_numbers", "description", "canonical"}, empty
for status in "fetched", "redirect", "failed", "denied":
    assert any(k["status"][1] == status for k in known.values()), status
END
