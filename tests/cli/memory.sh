#!/bin/sh
# Resident memory stays below --memory, however many URLs are known and however
# large the bodies are, also after a resume, and `status` says how it is
# divided. LONG: a million URLs, ten million, and a million on half a million
# hosts under the default of 512M, and 300,000 under 96M, the least. A smaller
# setting is refused, with the least that would do. Where a control group can be
# made, as root, the kernel holds the crawl to that limit as well, with the page
# cache and sockets that it uses.
set -eu
. "$TOP/tests/cli/lib.sh"

# enters MEGABYTES: $inside is a command that runs another one in a control group
# with that limit; nothing, if none can be made.
group="" inside=""
enters() {
    for group in /sys/fs/cgroup/memory /sys/fs/cgroup; do
        group=$group/urlweir-test-$$
        mkdir "$group" 2>/dev/null || continue
        for limit in memory.limit_in_bytes memory.max; do
            # shellcheck disable=SC2016
            [ ! -e "$group/$limit" ] || ! echo $(($1 << 20)) 2>/dev/null >"$group/$limit" || {
                echo 'echo $$ >"$1/cgroup.procs" && shift && exec "$@"' >inside.sh
                inside="sh inside.sh $group"
                return
            }
        done
        rmdir "$group"
    done
    group="" inside=""
    leaves_out "a control group of $1 MiB, since none can be made here"
}
leaves() {
    [ -z "$group" ] || rmdir "$group"
    group="" inside=""
}

# stays_below MEGABYTES URLS HOSTS: a crawl that knows so many on so many hosts,
# of which nearly all are dead, beside a web of large pages and bombs.
stays_below() {
    serve --hosts 40 --pages 400 --size 200000 --profile bombs,compress --seed 111
    awk -v urls="$2" -v hosts="$3" -v port="$port" 'BEGIN {
        for (i = 0; i < urls; i++) {
            h = i % hosts
            printf "http://127.%d.%d.%d:%d/a/longer/path/to/page-%d\n",
                200 + h / 62500, h / 250 % 250, h % 250 + 1, port, i
        }
    }' >seeds
    rm -rf d
    enters "$1"
    # shellcheck disable=SC2086
    peak $inside "$URLWEIR" crawl "$seed" -i seeds -o d $quick --memory "$1M" -n 200
    ended 3
    echo "$2 URLs on $3 hosts, --memory $1M: $((rss / 1024)) MiB"
    [ $((rss / 1024)) -lt "$1" ] || fail "$((rss / 1024)) MiB"
    rm d/filter.ckpt # to be made anew
    # shellcheck disable=SC2086
    peak $inside "$URLWEIR" resume d -n none --give-up 1s --progress none
    ended 3 # hosts that do not respond
    echo "resumed: $((rss / 1024)) MiB"
    [ $((rss / 1024)) -lt "$1" ] || fail "resumed: $((rss / 1024)) MiB"
    leaves
    serve_no_more
    judge
    agrees d
}

# too_small SAYS OPTIONS...: is refused.
too_small() {
    words=$1
    shift
    rm -rf refused
    exits 1 "$URLWEIR" crawl http://127.0.0.1:9/ -o refused "$@"
    says err "$words"
    [ ! -e refused ] || fail "it was made: $*"
}
too_small "96M" --memory 95M
too_small "512 MiB would do" --memory 256M --max-body 128M

# Of a crawl that runs: no part uses more than its share, all shares together no
# more than the limit, the parts of the frontier are what it says it holds.
serve --hosts 3 --pages 3000 --latency 20
# shellcheck disable=SC2086
behind crawl.out crawl.err "$URLWEIR" crawl "$seed" -o slow $quick --delay 100ms --memory 160M
crawler=$!
waits_for '"$URLWEIR" status slow --json >out 2>err &&
    grep -q "\"used\"" out && [ "$(json fetched <out)" -gt 2 ]' || fail "$(cat out err)"
python3 - <<'END' || fail "$(cat out)"
import json
m = json.load(open("out"))["memory"]
limit = m.pop("limit")
assert limit == 160 << 20, limit
assert set(m) == {"filter", "hot_cache", "exact_set", "database", "queues", "connections",
                  "bodies", "rest"}, m
for name, part in m.items():
    assert part.get("used", 0) <= part["share"], (name, part)
    assert ("used" in part) == (name not in ("connections", "rest")), (name, part)
assert m["exact_set"]["used"] > 0 and m["database"]["used"] > 0 and m["hot_cache"]["used"] > 0, m
fixed = sum(p["share"] for n, p in m.items() if n not in ("filter", "connections"))
assert fixed + m["filter"]["used"] == limit, (fixed, limit)
END
exits 0 "$URLWEIR" status slow
says out "memory: at most 160"
kill -TERM $crawler
wait $crawler || true
exits 0 "$URLWEIR" status slow --json
lacks out '"used"' "nobody runs it"
serve_no_more

if [ -n "${LONG:-}" ]; then
    stays_below 512 1000000 20000
    stays_below 512 10000000 20000
    stays_below 512 1000000 500000
    stays_below 96 300000 5000
else
    stays_below 96 200000 2000
fi
