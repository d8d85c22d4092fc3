#!/bin/sh
# URLs over the budget of their host or registrable domain wait: the crawl goes
# on without them, ends with 3, says how many wait and for which budget, and
# fetches them once the budget is larger.
# Promise (Commands and options): a URL over the budget of its host or
#   registrable domain waits and is not dropped, and goes on when the budget is
#   raised; pages in flight and kills never pass a budget; status, summary and
#   explain show it; with --budget inlinks it grows with the domains that link
#   there. See also `budget`, `frontier_budget`, `make sim`.
set -eu
. "$TOP/tests/cli/lib.sh"

# ---- pages of a host -------------------------------------------------------------

# within N: no host gave more than N pages.
within() {
    logged
    awk -F'\t' -v most="$1" '$6 ~ /^[245]/ && $7 != "/robots.txt" && !seen[$4 $7]++ { n[$4]++ }
        END { for (h in n) if (n[h] > most) exit 1 }' log || fail "more than $1 of a host"
}
# waits DIR BUDGET: all that is queued waits for it, as every command says.
waits() {
    says crawl.err "over a budget"
    says crawl.err "($2)"
    exits 0 "$URLWEIR" status "$1" --json
    [ "$(json queued <out)" -gt 0 ] || fail "nothing is queued: $(cat out)"
    [ "$(json over_budget <out)" = "$(json queued <out)" ] || fail "not all waits: $(cat out)"
    lacks out '"skipped.budget"' "dropped"
    exits 0 "$URLWEIR" status "$1"
    says out "over a budget"
    url=$("$URLWEIR" export "$1" | python3 -c 'import json, sys
print(next(o["url"] for o in map(json.loads, sys.stdin) if o["status"] == "queued"))')
    exits 0 "$URLWEIR" explain "$1" "$url" --json
    [ "$(json over_budget <out)" = "$2" ] || fail "explain $url: $(cat out)"
}

serve --hosts 10 --pages 300 --size 500 --seed 92
crawl host --per-host 7
ended 3
within 7
waits host per-host
says crawl.err "resume host --per-host none"
resume host # nothing more
ended 3
within 7
resume host --per-host 12
ended 3
within 12
waits host per-host
resume host --per-host none
ended 0
exits 0 "$URLWEIR" status host --json
[ "$(json over_budget <out)" = 0 ] || fail "some still wait: $(cat out)"
exits 0 "$URLWEIR" explain host "$url" --json
lacks out over_budget "explain"
exits 0 "$URLWEIR" verify host
serve_no_more
awk -F'\t' '$7 != "/robots.txt" { print $4 $7 }' log | sort -u | wc -l >urls
[ "$(cat urls)" -ge 300 ] || fail "only $(cat urls) URLs were asked for"

# ---- octets of a host; pages of a domain; links from other domains -------------------

mkdir -p big img org net
for n in 1 2 3 4 5 6 7 8 9; do
    head -c 2000 /dev/zero | tr '\0' x >big/$n.txt
    : >img/$n.txt
done
rm -f log
behind port site.err "$SITE" files big=127.0.0.1 img=127.0.0.2 org=127.0.0.3 net=127.0.0.4 \
    --log log --max-time "${LIMIT:-600}"
server=$!
waits_for 'grep -q "^port" port' || fail "no server"
port=$(sed 's/port //' port)
big=http://www.big.com:$port img=http://img.big.com:$port
for n in 1 2 3 4 5 6 7 8 9; do
    echo "<a href=$n.txt>x</a>"
done | tee big/index.html >img/index.html
echo "<a href=$big/>b</a>" | tee org/index.html >net/index.html
names="--resolve www.big.com:$port:127.0.0.1 --resolve img.big.com:$port:127.0.0.2
    --resolve one.org:$port:127.0.0.3 --resolve two.net:$port:127.0.0.4
    --allow-private --sitemap off --delay 0 --min-disk 0 --progress none --scope any"

# begins DIR OPTION... -- SEED...; its log is ./log.part.
begins() {
    rm -rf "$1"
    mark
    status=0
    # shellcheck disable=SC2086
    "$URLWEIR" crawl -o "$@" $names >crawl.out 2>crawl.err || status=$?
    since_mark log.part
}
# pages HOST: of ./log.part
pages() { awk -F'\t' -v a="$1" '$4 == a && $6 == 200' log.part | grep -vc robots.txt || true; }

begins octets --per-host-bytes 5K "$big/" "$img/"
ended 3
waits octets per-host-bytes
got=$(pages 127.0.0.1)
[ "$got" -ge 2 ] && [ "$got" -le 4 ] || fail "--per-host-bytes 5K: $got pages"
[ "$(pages 127.0.0.2)" = 10 ] || fail "the other host: $(cat log.part)"

begins domain --per-domain 6 "$big/" "$img/" "http://one.org:$port/"
ended 3
waits domain per-domain
[ $(($(pages 127.0.0.1) + $(pages 127.0.0.2))) = 6 ] || fail "--per-domain 6: $(cat log.part)"
[ "$(pages 127.0.0.3)" = 1 ] || fail "the other domain: $(cat log.part)"

begins links --per-host 2 --budget inlinks "$img/" "http://one.org:$port/" "http://two.net:$port/"
ended 3
waits links per-host
[ "$(pages 127.0.0.1)" = 6 ] || fail "two domains link there: $(cat log.part)"
[ "$(pages 127.0.0.2)" = 2 ] || fail "none links there: $(cat log.part)"

exits 1 "$URLWEIR" crawl "$big/" -o none --budget inlinks
says err "--per-host"
