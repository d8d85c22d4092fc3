#!/bin/sh
# A crawl requests every URL of a web once, and none that it may not: spelling
# variants, redirects, robots.txt, errors, broken responses, coded bodies,
# types, bombs. LONG: a web of 200,000 pages on 1,000 hosts.
# Promise 2: No URL is fetched twice, except what was in flight at a crash.
#   See also `make sim`, `tests/cli/traps.sh`.
# Promise (Audit, progress and figures): a crawl of a web that knows the truth
#   is exact: no page is missed, none fetched twice, none fetched against
#   robots.txt.
set -eu
. "$TOP/tests/cli/lib.sh"

profiles=variants,redirects,robots,errors,bombs,compress,types
if [ -n "${LONG:-}" ]; then
    hosts=1000 pages=200000
else
    hosts=60 pages=3000
fi

# ---- one crawl of everything that answers in good time ----------------------

serve --hosts $hosts --pages $pages --profile $profiles --seed 11
crawl d
ended 0
serve_no_more
judge
agrees d

# What status counts is what there was to fetch; of what breaks HTTP, something
# may count as fetched, such as a body that was cut.
exits 0 "$URLWEIR" status d --json
[ "$(json state <out)" = finished ] || fail "not finished: $(cat out)"
[ "$(json queued <out)" = 0 ] || fail "something is queued: $(cat out)"
got=$(json fetched <out)
awk -F'\t' -v got="$got" '
    $2 == "fetch" { fetch++ }
    $2 ~ /^tries/ { broken++ }
    END { exit !(got >= fetch && got <= fetch + broken) }' truth ||
    fail "status counts $got pages fetched"
grep -q "^finished: " crawl.err || fail "no summary: $(cat crawl.err)"

# ---- answers that are slow, and those that never end -------------------------

# One page comes octet by octet: 2,000 moments of the server, of a millisecond or,
# on a busy machine, of many.
serve --hosts 10 --pages 200 --size 1500 --profile slow --tries 1 --slow-ms 1500
crawl slow -T 5m --connect-timeout 1m -t 1
ended 0
serve_no_more
judge
agrees slow
serve --hosts 10 --pages 200 --size 1500 --profile endless --tries 1
crawl endless -T 8s --connect-timeout 8s -t 1
ended 0
serve_no_more
judge
agrees endless
