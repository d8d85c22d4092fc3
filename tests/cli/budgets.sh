#!/bin/sh
# URLs over the budget of their host wait: the crawl goes on without them, ends
# with 3, says how many wait and for which budget, and fetches them once the
# budget is larger.
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

exits 1 "$URLWEIR" crawl "$seed" -o none --budget inlinks
says err "--per-host"
