#!/bin/sh
# A directory of serve, read by status, export, explain and verify: while the
# service runs, after a kill, and after a stop; damage is found.
# Promise (The service): status, export, explain and verify read a service's
#   directory while it runs, after a kill and after a stop; verify finds
#   damage. See also `make sim`.
# Promise (The service): export, explain, status and the HTTP API agree on a
#   URL that a program put, and on its queue, column by column.
set -eu
. "$TOP/tests/cli/lib.sh"

# start OPTION...: $service; the address of HTTP in $at.
start() {
    start_service 127.0.0.1:0 "$@"
    at=$http
}
# post PATH JSON: the answer in `answer`.
post() {
    curl -sS --fail-with-body -o answer -H 'Content-Type: application/json' \
        -d "$2" "http://$at/v1/$1" || fail "POST $1: $(cat answer)"
}
# is FILE EXPRESSION...: all hold of JSON Lines or one object; j is the list of
# objects, `by` has them by crawl and URL.
is() {
    python3 - "$@" <<'PYTHON' || fail "$1 is: $(cat "$1")"
import json, sys
text = open(sys.argv[1]).read()
try:
    j = [json.loads(text)]
except ValueError:
    j = [json.loads(line) for line in text.splitlines()]
by = {}
for o in j:
    by.setdefault((o.get("crawl"), o.get("url", o.get("key"))), o)
for expression in sys.argv[2:]:
    if not eval("(" + expression + ")"):
        sys.exit("not so: " + expression)
PYTHON
}

# ---- an empty one ---------------------------------------------------------------

start
exits 0 "$URLWEIR" status d --json
is out 'j[0]["holds"] == "service" and j[0]["state"] == "running" and j[0]["urls"] == 0'
exits 0 "$URLWEIR" export d
[ ! -s out ] || fail "URLs in an empty frontier"
exits 0 "$URLWEIR" explain d http://a.test/1
says out "was never put into this frontier"

# ---- URLs in each state, while the service runs ------------------------------------

post urls '[
 {"url": "http://a.test/1", "metadata": {"depth": ["1", "\u00fc"], "\u001b[1m": [""]}},
 {"url": "http://a.test/2"},
 {"url": "http://a.test/3", "kind": "known", "refetch_at": "2100-01-01T00:00:00Z", "metadata": {"n": ["3"]}},
 {"url": "http://a.test/4", "kind": "known"},
 {"url": "http://a.test/1", "crawl": "news", "key": "k"},
 {"url": "http://b.test/", "crawl": "news"},
 {"url": "http://b.test/", "crawl": "gone"},
 {"url": "http://d.test/", "crawl": "gone", "key": "left"}]'
post queues/block '{"crawl": "news", "key": "b.test", "until": "2100-01-01T00:00:00Z"}'
post queues/delay '{"crawl": "news", "key": "k", "delay_seconds": 7}'
post queues/limit '{"crawl": "DEFAULT", "key": "a.test", "limit": 5}'
post lease '{"crawl": "DEFAULT", "key": "a.test", "lease_seconds": 3600}'
lease=$(sed 's/.*"lease":"\([0-9]*\)".*/\1/' answer)
post lease '{"crawl": "DEFAULT", "key": "a.test", "max_urls_per_queue": 2}'
curl -sS --fail-with-body -X DELETE "http://$at/v1/queues?crawl=gone&key=b.test" -o answer
post urls '{"url": "http://b.test/", "crawl": "gone"}'
curl -sS --fail-with-body -X DELETE "http://$at/v1/queues?crawl=gone&key=b.test" -o answer

looks() { # STATE: of the process
    exits 0 "$URLWEIR" status d --json --hosts
    is out "j[0]['state'] == '$1' and j[0]['holds'] == 'service'" \
        'j[0]["urls"] == 9 and j[0]["removed"] == 2 and j[0]["queued"] == 5' \
        'j[0]["leased"] == 1 and j[0]["completed"] == 1 and j[0]["due"] == 4' \
        'j[0]["queue_count"] == 4 and j[0]["blocked_queues"] == 1' \
        'j[0]["active"] is True and j[0]["default_delay_seconds"] == 1.0' \
        '[(c["crawl"], c["queued"], c["leased"], c["completed"], c["queue_count"])
            for c in j[0]["crawls"]] ==
            [("DEFAULT", 2, 1, 1, 1), ("news", 2, 0, 0, 2), ("gone", 1, 0, 0, 1)]' \
        '[(q["key"], q["delay_seconds"], q.get("limit"), q.get("blocked_until"), "served_at" in q)
            for q in j[0]["queues"]] ==
            [("a.test", 1.0, 5, None, True), ("k", 7.0, None, None, False),
             ("b.test", 1.0, None, "2100-01-01T00:00:01.000Z", False),
             ("left", 1.0, None, None, False)]'
    exits 0 "$URLWEIR" status d --hosts
    says out "a service's frontier, $1"
    says out "b.test of news, blocked for"

    exits 0 "$URLWEIR" export d
    is out 'len(j) == 7 and all(o["created_at"] for o in j)' \
        'by["DEFAULT", "http://a.test/1"]["state"] == "leased"' \
        'by["DEFAULT", "http://a.test/1"]["leased_until"] is not None' \
        'by["DEFAULT", "http://a.test/1"]["metadata"] ==
            {"depth": ["1", "\u00fc"], "\x1b[1m": [""]}' \
        'by["DEFAULT", "http://a.test/2"]["state"] == "queued"' \
        'by["DEFAULT", "http://a.test/3"]["due_at"] == "2100-01-01T00:00:00.000Z"' \
        'by["DEFAULT", "http://a.test/4"]["state"] == "completed"' \
        'by["DEFAULT", "http://a.test/4"]["due_at"] is None' \
        'by["news", "http://a.test/1"]["key"] == "k" and ("gone", "http://b.test/") not in by'
    exits 0 "$URLWEIR" export d --format csv
    [ "$(wc -l <out)" = 8 ] || fail "lines of CSV"
    says out 'url,crawl,key,state,due_at,created_at,leased_until,metadata,id'
    exits 0 "$URLWEIR" export d --what queues
    is out '[(o["crawl"], o["key"], o["delay_seconds"], o["limit"]) for o in j] ==
            [("DEFAULT", "a.test", 1.0, 5), ("news", "k", 7.0, None),
             ("news", "b.test", 1.0, None), ("gone", "left", 1.0, None)]'
    exits 1 "$URLWEIR" export d --what pages
    says err "fetches nothing itself"

    exits 0 "$URLWEIR" explain d http://a.test/1 --json
    is out 'j[0]["put"] and [(f["crawl"], f["key"], f["state"]) for f in j[0]["found"]] ==
            [("DEFAULT", "a.test", "leased"), ("news", "k", "queued")]' \
        '[e["event"] for e in j[0]["found"][0]["history"]] == ["put", "updated", "leased"]' \
        '"leased_until" in j[0]["found"][0]' \
        'j[0]["found"][0]["metadata"]["depth"] == ["1", "\u00fc"]'
    exits 0 "$URLWEIR" explain d http://a.test/1
    says out "crawl=news key=k state=queued"
    says out 'metadata: depth=1'
    if grep -q "$(printf '\033')" out; then fail "a control character on the terminal"; fi
    exits 0 "$URLWEIR" explain d http://a.test/4
    says out "event=completed"
    exits 0 "$URLWEIR" explain d HTTP://A.test:80/2 --json # by its canonical form
    is out 'j[0]["found"][0]["url"] == "http://a.test/2"'
    exits 0 "$URLWEIR" explain d http://b.test/ --json
    is out '[(f["crawl"], f["state"], [e["event"] for e in f["history"]])
            for f in j[0]["found"]] ==
            [("news", "queued", ["put"]),
             ("gone", "removed", ["put", "removed", "put", "removed"])]'

    exits 0 "$URLWEIR" verify d
    says out "service: 5 URLs queued, 1 leased, 1 completed, 2 removed, in 4 queues"
    says out "all agree"
}
looks running

# ---- export, explain, status and HTTP tell the same, column by column ---------------

python3 - "$URLWEIR" "$TOP/docs/formats/served.md" "http://$at" <<'END' || fail "they disagree"
import json, re, subprocess, sys, urllib.parse, urllib.request
def out(*args):
    return subprocess.run([sys.argv[1], *args], stdout=subprocess.PIPE, check=True).stdout
rows = lambda text: [json.loads(line) for line in text.splitlines()]
listed = {name: columns.split(", ") for name, columns in re.findall(
    r"^\| `(\w+)` \| (\w+(?:, \w+)+) \|$", open(sys.argv[2]).read(), re.M)}
assert set(listed) == {"urls", "queues", "found", "leased", "url", "queue"}, listed.keys()
urls, queues = rows(out("export", "d")), rows(out("export", "d", "--what", "queues"))
assert all(list(row) == listed["urls"] for row in urls)
assert all(list(row) == listed["queues"] for row in queues)
of = {(q["crawl"], q["key"]): q for q in queues}
shown = json.loads(out("status", "d", "--json", "--hosts"))["queues"]
assert len(shown) == len(queues)
for q in shown:
    whole = {c: q.get(c) for c in listed["queues"]}
    assert set(q) <= set(whole) and whole == of[q["crawl"], q["key"]], (q, queues)
for row in urls:
    name = {c: row[c] for c in ("url", "crawl", "key")}
    at = sys.argv[3] + "/v1/url?" + urllib.parse.urlencode(name)
    told = json.load(urllib.request.urlopen(at))
    queue = told.pop("queue")
    assert list(told) == listed["url"] and list(queue) == listed["queue"], (told, queue)
    assert told == {c: row[c] for c in listed["url"]}, (told, row)
    assert queue == {c: of[row["crawl"], row["key"]][c] for c in listed["queue"]}, queue
    found = [f for f in json.loads(out("explain", "d", row["url"], "--json"))["found"]
             if (f["crawl"], f["key"]) == (row["crawl"], row["key"])]
    assert len(found) == 1, found
    queue = found[0].pop("queue")
    del found[0]["history"]
    assert {c: found[0].get(c) for c in listed["found"]} == {c: row[c] for c in listed["found"]}
    assert {c: queue.get(c) for c in listed["queue"]} == {
        c: of[row["crawl"], row["key"]][c] for c in listed["queue"]}
    assert set(found[0]) <= set(listed["found"]) and set(queue) <= set(listed["queue"])
END
stop KILL 137
looks interrupted
start
stop TERM 0
looks stopped

# ---- crawls of its own are named -----------------------------------------------------

mkdir -p d/crawls/b d/crawls/a
exits 0 "$URLWEIR" status d --json
is out 'j[0]["own_crawls"] == ["a", "b"]'
exits 0 "$URLWEIR" status d
says out "urlweir status d/crawls/a"
rm -r d/crawls

# ---- damage -----------------------------------------------------------------------

# damaged WORDS SQL: verify ends with 6 and says so.
damaged() {
    rm -rf whole
    cp -a d whole
    sqlite3 d/frontier.db "$2" || fail "sqlite3 $2"
    exits 6 "$URLWEIR" verify d
    says err "$1"
    rm -rf d
    mv whole d
}
damaged "of no URL" "INSERT INTO item_lease VALUES(900, 77, 1, 2)"
damaged "of a URL that was not put" "INSERT INTO item_update VALUES(900, 77, 1, NULL, NULL)"
damaged "of no queue" "INSERT INTO item_queue VALUES(77, 0, 0, -1, 0, 0, 0, 0, 0)"
damaged "ahead of the URLs" "UPDATE item_queue SET removed = 1000"
damaged "a setting cannot be" "UPDATE item_queue SET delay = -2"
damaged "metadata cannot be read" \
    "UPDATE item_update SET metadata = x'ffff' WHERE metadata IS NOT NULL"
damaged "name=item_delay_ms" "INSERT INTO meta VALUES('item_delay_ms', '-5')"
damaged "ids have a gap" "DELETE FROM url WHERE id = 2"
exits 0 "$URLWEIR" verify d

# ---- other commands ------------------------------------------------------------------

exits 0 "$URLWEIR" audit d
exits 2 "$URLWEIR" resume d
says err "holds the frontier of a service"
exits 2 "$URLWEIR" crawl http://a.test/ -o d
says err "holds the frontier of a service"

# ---- what is not there --------------------------------------------------------------

exits 2 "$URLWEIR" status nowhere
says err "no crawl in nowhere; there is no such directory"
"$URLWEIR" dedupe -q --state set </dev/null
for command in status verify export; do
    exits 2 "$URLWEIR" $command set
    says err "no crawl in set; \`urlweir dedupe\` keeps a set there"
done
rm d/filter.ckpt
exits 3 "$URLWEIR" verify d
says out "serve will repair it"
[ ! -s err ] || fail "said: $(cat err)"
start
stop TERM 0
exits 0 "$URLWEIR" verify d
