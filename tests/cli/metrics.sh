#!/bin/sh
# /metrics passes a strict reader, adds up, only rises, agrees with status, and
# matches docs/formats/metrics.md, the dashboard and the alerts.
# Promise (The service): the metrics page is accepted by a strict reader and by
#   Prometheus' own, also during a crawl; counters only rise, histograms add
#   up; its numbers agree with the store and with what the server of the web
#   saw. See also `tests/interop/prometheus.py`, `metrics_text`,
#   `frontier_stats`, `fetch_stats`, `histogram`.
# Promise (The service): the page on metrics, the Grafana dashboard and the
#   alerts name exactly the metrics there are; each alert fires when it should,
#   and not when all is well. See also `tests/interop/prometheus.py`.
set -eu
. "$TOP/tests/cli/lib.sh"

prom_check="python3 $TOP/tests/support/prom_check.py"
page() {
    $prom_check page "$1" >said 2>&1 || fail "$(cat said)"
}
# sum FILE NAME [LABEL=VALUE ...]
sum() {
    $prom_check sum "$@" || fail "sum $*"
}
# scrape FILE: what is at http://$at/metrics, which is right.
scrape() {
    python3 - "http://$at/metrics" >"$1" <<'END'
import sys, urllib.request
answer = urllib.request.urlopen(sys.argv[1], timeout=60)
assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
sys.stdout.buffer.write(answer.read())
END
    page "$1"
}

# ---- a service with a crawl of its own ---------------------------------------

serve --hosts 20 --pages 4000 --profile errors,robots,redirects,variants --seed 7
cat >one.yaml <<END
scope: any
allow-private: true
sitemap: off
delay: 0
retry-delay: 50ms
max-delay: 100ms
min-disk: 0
checkpoint: 1s
END
start_service 127.0.0.1:0 --crawl one.yaml
at=$http

# While it runs: pages are right, nothing ever falls, sums agree. (It is paused
# before it is given its seed, and again, so that it is not over before.)
rises() {
    scrape next
    $prom_check rise last next >said 2>&1 || fail "$(cat said)"
    mv next last
}
exits 0 "$URLWEIR" pause d --crawl one
exits 0 "$URLWEIR" seed d "$seed" --crawl one
scrape last
exits 0 "$URLWEIR" unpause d --crawl one
waits_for '[ "$(wc -l <log)" -gt 20 ]' || fail "nothing is fetched: $(cat serve.err)"
exits 0 "$URLWEIR" pause d --crawl one
rises
exits 0 "$URLWEIR" unpause d --crawl one
ends() {
    rises
    [ "$(sum last urlweir_crawl_state state=waiting)" = 1 ]
}
waits_for ends || fail "it does not end: $(cat serve.err)"

# A few calls of others, so that all labels are there, and answers that are none.
python3 - "http://$at" <<'END'
import sys, urllib.error, urllib.request
def post(path, body):
    return urllib.request.urlopen(urllib.request.Request(
        sys.argv[1] + path, body, {"Content-Type": "application/json"}), timeout=60)
post("/v1/urls", b'[{"url":"http://a.test/1"},{"url":"http://a.test/1"},{"url":"http://"}]')
post("/v1/lease", b"{}")
post("/v1/urls", b'[{"url":"http://b.test/1","kind":"known","refetch_at":"2001-01-01T00:00:00Z"}]')
try:
    urllib.request.urlopen(sys.argv[1] + "/nothing", timeout=60)
except urllib.error.HTTPError:
    pass
END
told() {
    scrape last
    [ "$(sum last urlweir_frontier_seen_checks_total answer=certainly_new)" = 2 ] &&
        [ "$(sum last urlweir_frontier_calls_total transport=http verb=get)" = 1 ] &&
        [ "$(sum last urlweir_frontier_overdue_urls)" = 1 ] &&
        [ "$(sum last urlweir_http_requests_total route=none)" = 1 ] &&
        [ "$(sum last urlweir_crawl_queued_urls)" = 0 ] &&
        [ "$(sum last urlweir_crawl_transfers)" = 0 ]
}
waits_for told || fail "the frontier's numbers do not come"

# is VALUE NAME [LABEL=VALUE ...]
is() {
    is_value=$1
    shift
    [ "$(sum last "$@")" = "$is_value" ] || fail "$* is $(sum last "$@"), not $is_value"
}
is 2 urlweir_frontier_calls_total transport=http verb=put
is 1 urlweir_frontier_calls_total transport=http verb=get
is 0 urlweir_frontier_calls_total transport=grpc
is 2 urlweir_frontier_call_duration_seconds transport=http verb=put
is 2 urlweir_frontier_put_answers_total answer=ok
is 2 urlweir_frontier_put_answers_total answer=skipped
is 1 urlweir_frontier_urls_leased_total
is 1 urlweir_frontier_leased_urls
is 1 urlweir_frontier_dated_urls
[ "$(sum last urlweir_frontier_oldest_overdue_seconds)" -gt 700000000 ] ||
    fail "overdue since 2001: $(sum last urlweir_frontier_oldest_overdue_seconds)"
is 1 urlweir_http_requests_total route=none code=4xx
is 2 urlweir_http_requests_total route=urls code=2xx
is 0 urlweir_grpc_connections_accepted_total
is 1 urlweir_build_info "version=$("$URLWEIR" --version | sed -n "1s/urlweir //p")"
is "$(sum last urlweir_frontier_commits_total)" urlweir_frontier_commit_duration_seconds

# What the service says of itself at its end is what it said last (counters.sh
# compares all counters).
stop TERM 0
exits 0 "$URLWEIR" status d/crawls/one --json
cp out status
is "$(json urls <status)" urlweir_crawl_urls_done_total
is "$(json pages <status)" urlweir_crawl_pages_total
is 0 urlweir_crawl_queued_urls
is 1 urlweir_crawl_seeds
[ "$(sum last urlweir_crawl_urls_done_total status=failed reason=http_4xx)" -gt 0 ] || fail "no 404"
[ "$(sum last urlweir_crawl_urls_done_total status=denied reason=robots)" -gt 0 ] || fail "none denied"
[ "$(sum last urlweir_crawl_retries_total)" -gt 0 ] || fail "none tried again"
[ "$(sum last urlweir_crawl_checkpoint_duration_seconds)" -gt 0 ] || fail "no checkpoint"

# Every request was seen by the server, and ended in one way.
serve_no_more
arrived=$(grep -c . log)
refused=$(($(sum last urlweir_crawl_requests_total result=connect) +
    $(sum last urlweir_crawl_requests_total result=port)))
is $((arrived + refused)) urlweir_crawl_requests_total
for class in 3 4 5; do
    is "$(cut -f6 log | grep -c "^$class..$")" urlweir_crawl_answers_total "code=${class}xx"
done
timed=0
for result in answered truncated_length truncated_time bad_encoding mime; do
    timed=$((timed + $(sum last urlweir_crawl_requests_total result=$result)))
done
robots=$(sum last urlweir_crawl_robots_duration_seconds)
pages=$(sum last urlweir_crawl_response_duration_seconds)
[ $((robots + pages)) = "$timed" ] || fail "$robots + $pages timed, $timed answered"

# ---- the document says what there is -----------------------------------------

$prom_check families last | sort >families
python3 - "$TOP/docs/formats" <<'END' | sort >documented || fail "cannot read the documents"
import re, sys
read = lambda page: open(f"{sys.argv[1]}/{page}.md", encoding="utf-8").read()
rows = re.findall(r"^\| (`urlweir_[^|]*) \|", read("metrics"), re.M)
labels = dict(re.findall(r"`(\w+)(?:\{([a-z,]+)\})?`", " ".join(rows)))
for name in re.findall(r"^\| `\w+` \| [^|]* \| [^|]* \| `(\w+)` \|", read("counters"), re.M):
    labels.setdefault("urlweir_crawl_" + name, "crawl")
for name, of in labels.items():
    kind = "counter" if name.endswith("_total") else \
        "histogram" if name.endswith("_duration_seconds") else "gauge"
    if not re.match("urlweir_(cluster|shard)_", name):  # a worker's: cluster_shards.py
        print(name, kind, ",".join(sorted(of.split(","))) or "-")
END
diff documented families || fail "docs/formats/metrics.md and the page (right) differ"

# ---- a crawl without a service: the same, less what it has not ------------------

# (With its delay it lasts for minutes.)
serve --hosts 3 --pages 6000 --seed 8
# shellcheck disable=SC2086
behind crawl.out crawl.err "$URLWEIR" crawl "$seed" -o c $quick --delay 50ms --metrics 127.0.0.1:0
crawl=$!
waits_for 'grep -q "HTTP on" crawl.err' || fail "no HTTP: $(cat crawl.err)"
at=$(sed -n 's/.*HTTP on //p' crawl.err)
fetches() {
    scrape last
    grep -q '^urlweir_crawl_pages_total{crawl="DEFAULT"}' last &&
        [ "$(sum last urlweir_crawl_pages_total)" -gt 3 ]
}
waits_for fetches || fail "no page is fetched: $(cat crawl.err)"
is 1 urlweir_crawl_state crawl=DEFAULT state=running
is 3 urlweir_crawl_hosts
[ "$(sum last urlweir_crawl_queued_urls)" -gt 0 ] || fail "nothing is left"
scrape last # the times of the scrape before
$prom_check families last | sort >fewer
grep -v '^urlweir_frontier_\|^urlweir_grpc_\|^urlweir_filters_' families | diff - fewer || fail "families"
kill "$crawl"
wait "$crawl" || [ $? = 4 ] || fail "the crawl ended badly: $(cat crawl.err)"

# ---- dashboard and alerts ask for nothing else --------------------------------

while read -r name type labels; do
    echo "$name"
    [ "$type" != histogram ] || printf '%s\n' "${name}_bucket" "${name}_sum" "${name}_count"
done <families | sort -u >names
for file in grafana-urlweir.json prometheus-urlweir-alerts.yaml; do
    grep -oE 'urlweir_[a-z0-9_]+' "$TOP/packaging/$file" | sort -u >asked
    [ -s asked ] || fail "$file asks for nothing"
    comm -23 asked names >unknown
    [ ! -s unknown ] || fail "$file asks for what is not there: $(cat unknown)"
done
python3 - "$TOP/packaging/grafana-urlweir.json" families <<'END' || fail "the dashboard"
"""It is JSON of one dashboard; panels have what a reader needs; none lies on another; no family is forgotten."""
import json, sys
board = json.load(open(sys.argv[1]))
assert board["schemaVersion"] >= 38 and board["title"] and board["uid"]
names = [v["name"] for v in board["templating"]["list"]]
assert names == ["datasource", "instance", "crawl"], names
ids, cells, text = set(), set(), ""
for p in board["panels"]:
    assert p["id"] not in ids and p["title"], p["title"]
    ids.add(p["id"])
    at = p["gridPos"]
    assert at["x"] + at["w"] <= 24
    for x in range(at["x"], at["x"] + at["w"]):
        for y in range(at["y"], at["y"] + at["h"]):
            assert (x, y) not in cells, p["title"]
            cells.add((x, y))
    if p["type"] == "row":
        continue
    assert p["datasource"]["uid"] == "${datasource}" and p["targets"], p["title"]
    for t in p["targets"]:
        assert t["expr"].count("(") == t["expr"].count(")"), t["expr"]
        assert "instance=~\"$instance\"" in t["expr"], t["expr"]
        text += t["expr"] + "\n"
text += json.dumps(board["templating"])
known = [line.split()[0] for line in open(sys.argv[2])]
missing = [n for n in known if n not in text and n != "urlweir_process_virtual_memory_bytes"]
assert not missing, missing
END
