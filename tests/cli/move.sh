#!/bin/sh
# A crawl is moved: `import --from urlweir` keeps all it knew, goes on, and ends
# as it would have; several crawls become one.
# Promise (Crashes): a crawl that is moved keeps each URL with outcome, depth,
#   kind and target, its kept drops, and blocks; it goes on and ends as it
#   would have; several crawls become one; crawls move between one machine and
#   many, with URLs on their way between shards, also after a kill. See also
#   `make check-cluster`.
set -eu
. "$TOP/tests/cli/lib.sh"

# state DIR: what is known of each URL, wherever it was fetched
state() {
    "$URLWEIR" export "$1" --format jsonl |
        jq -c '[.url, .status, .reason, .http_status, .depth, .kind, .seed, .redirect_to]' | sort
}

serve --hosts 10 --pages 400 --size 2000 --profile redirects --seed 17
crawl whole
ended 0
crawl half -n 150 --exclude '[02468]$'
ended 3
host=$("$URLWEIR" export half --format jsonl | jq -r 'select(.status == "queued") | .url' |
    sed 's,^[a-z]*://,,; s,[/:].*,,' | tail -1)
exits 0 "$URLWEIR" block half "$host" --for 1h

# ---- one -------------------------------------------------------------------

exits 0 "$URLWEIR" import --from urlweir half -o moved --json
jq -e '.refused == 0 and .dropped == 0 and .repeated == 0' out || fail "$(cat out)"
exits 0 "$URLWEIR" verify moved
state half >want
state moved >got
cmp want got || fail "$(diff want got | head)"
exits 0 "$URLWEIR" status moved --hosts
grep -F "$host" out | grep -q blocked || fail "$host is not blocked: $(cat out)"
exits 0 "$URLWEIR" block moved "$host" --off
"$URLWEIR" export half --what fetches | jq -r 'select(.final) | .url' | sort >before
mark
resume moved -n none --exclude '' # what was left out comes back
ended 0
since_mark log.part
"$URLWEIR" export whole --what pages | jq -r .url | sort >want
"$URLWEIR" export moved --what pages | jq -r .url | sort >got
cmp want got || fail "$(diff want got | head)"
awk -F'\t' '$7 !~ /robots/ { print $7 }' log.part | sort >again
sed 's,^[a-z]*://[^/]*,,' before | sort >paths
exits 0 "$URLWEIR" explain moved "$seed"
says out "mime=text/html"
comm -12 paths again >twice
[ ! -s twice ] || fail "asked again: $(head -3 twice)"

# ---- several ---------------------------------------------------------------

exits 0 "$URLWEIR" import --from urlweir half whole -o joined
exits 0 "$URLWEIR" verify joined
"$URLWEIR" export joined --what pages | jq -r .url | sort >got
cmp want got || fail "$(diff want got | head)"

# ---- what cannot be ----------------------------------------------------------

exits 2 "$URLWEIR" import --from urlweir nowhere -o x
says err "no crawl in nowhere"
exits 2 "$URLWEIR" import --from urlweir half -o moved
serve_no_more
