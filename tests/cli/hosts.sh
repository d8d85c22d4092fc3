#!/bin/sh
# status --hosts, export --what hosts and the summary show where the time of a
# crawl goes: the delay in force of each host and the rule that makes it. A
# Crawl-delay that is cut is marked.
set -eu
. "$TOP/tests/cli/lib.sh"

# host NAME KEY: its value in `status --hosts --json`, which export agrees with.
host() {
    exits 0 "$URLWEIR" status d --hosts --json
    mv out status.json
    exits 0 "$URLWEIR" export d --what hosts
    python3 - "$1" "$2" <<'END'
import json, sys
queues = {q["host"]: q for q in json.load(open("status.json"))["queues"]}
hosts = {h["host"]: h for h in map(json.loads, open("out"))}
for name, q in queues.items():
    # only the crawl that runs knows the connections of its run
    known = [(k, v) for k, v in q.items() if k not in ("connections", "handshakes", "kept")]
    assert list(hosts[name].items())[:len(known)] == known, (q, hosts[name])
print(hosts[sys.argv[1]][sys.argv[2]])
END
}
is() { # NAME KEY VALUE
    got=$(host "$1" "$2")
    [ "$got" = "$3" ] || fail "$2 of $1 is $got, not $3"
}

serve --hosts 16 --pages 480 --size 500 --profile robots --crawl-delay 60 --seed 93
crawl d --max-crawl-delay 50ms -n 150
ended 3
slow=$("$URLWEIR" export d --what hosts | python3 -c 'import json, sys
hosts = [h for h in map(json.loads, sys.stdin) if h["crawl_delay_seconds"] and h["queued"] > 1]
print(hosts[0]["host"])') || fail "no host has a Crawl-delay"
says crawl.err "a Crawl-delay is cut to --max-crawl-delay"
grep -q "cut to.*host=$slow crawl_delay=60s" crawl.err || fail "not of $slow: $(cat crawl.err)"
grep -qE "will take longest: [0-9]+ URLs?, one each 50ms \(max_crawl_delay\)" crawl.err ||
    fail "the summary: $(cat crawl.err)"
is "$slow" crawl_delay_seconds 60.0
is "$slow" delay_seconds 0.05
is "$slow" delay_why max_crawl_delay
is 127.0.0.1 delay_why delay
exits 0 "$URLWEIR" status d --hosts
grep -q "$slow, Crawl-delay 1m00s cut to 50ms" out || fail "$(cat out)"

# ---- what came of its URLs: as the other lists say -----------------------------------

for what in hosts pages errors fetches; do
    "$URLWEIR" export d --what $what >$what.jsonl || fail "export --what $what"
done
python3 - <<'END' || fail "the columns of hosts and the other lists differ"
import collections, json, urllib.parse
def rows(what):
    return [json.loads(l) for l in open(what + ".jsonl")]
def host(row):
    return urllib.parse.urlsplit(row["url"]).hostname
pages = collections.Counter(map(host, rows("pages")))
errors = collections.Counter(map(host, rows("errors")))
octets = collections.Counter()
for f in rows("fetches"):
    octets[host(f)] += f["wire_bytes"]
for h in rows("hosts"):
    name = h["host"]
    got = h["pages"], h["errors"], h["wire_bytes"]
    assert got == (pages[name], errors[name], octets[name]), h
assert len(pages) > 5 and sum(errors.values()) > 0, (pages, errors)
END

# ---- what people set, and other settings ---------------------------------------------

behind resume.out resume.err "$URLWEIR" resume d -n none --delay 700ms --progress none
waits_for '[ -S d/control ]' || fail "it does not run: $(cat resume.err)"
exits 0 "$URLWEIR" delay d 127.0.0.1 2s
exits 0 "$URLWEIR" block d 127.0.0.1 --for 1h
exits 0 "$URLWEIR" stop d
is 127.0.0.1 delay_why operator
is 127.0.0.1 delay_seconds 2.0
is 127.0.0.1 set_delay_seconds 2.0
is 127.0.0.1 why operator
[ "$(host 127.0.0.1 due_at)" != None ] || fail "no end of the block"
exits 0 "$URLWEIR" status d --hosts
grep -qE '127.0.0.1, delay 2.0s, blocked: waits (1h00|5.)m' out || fail "$(cat out)"
is 127.0.0.2 delay_why delay
is 127.0.0.2 delay_seconds 0.7
resume d --delay 0 --max-crawl-delay 5m -n 151 --time 2s
ended 3
is "$slow" delay_why crawl_delay
is "$slow" delay_seconds 60.0
resume d --per-host 1 --max-crawl-delay 50ms -n 160
ended 3
resume d -n none
ended 3
is "$slow" why per-host
exits 0 "$URLWEIR" status d --hosts
says out "over --per-host"
exits 0 "$URLWEIR" export d --what hosts --format csv
says out "delay_seconds,delay_why"
