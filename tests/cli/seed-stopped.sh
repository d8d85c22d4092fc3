#!/bin/sh
# Seeds that are added to a stopped crawl widen its scope; a resume fetches them
# and what they link to.
# Promise (Commands and options): seeds can be added to a crawl that has ended,
#   durably, also if it is killed at any step; a resume fetches them; a known
#   URL that becomes a seed also opens the scope. See also `make sim`.
set -eu
. "$TOP/tests/cli/lib.sh"

here=127.0.0.1 there=127.0.0.2
mkdir -p web/$here web/$there
echo '<a href=/a.html>a</a>' >web/$here/index.html
echo 'a' >web/$here/a.html
echo '<a href=/linked.html>not linked from the seed</a>' >web/$here/new.html
echo 'l' >web/$here/linked.html
echo '<a href=/b.html>b</a>' >web/$there/index.html
echo 'b' >web/$there/b.html
plain_site $here $there
crawl d --scope host
ended 0
not_asked $here /new.html
exits 0 "$URLWEIR" resume d --progress none
says err "nothing is left to fetch"
says err "urlweir seed d"

# ---- added ---------------------------------------------------------------------------

cat >more <<END
http://$here:$port/new.html
mailto:nobody
END
exits 5 "$URLWEIR" seed d "$seed" -i more
printf 'failed\tmailto:nobody\tonly http and https are crawled\nskipped\t%s\nok\t%snew.html\n' \
    "$seed" "$seed" >want
diff want out || fail "these lines, not those"
says err "\`urlweir resume d\` fetches what is queued, 1 URL"
exits 0 "$URLWEIR" status d --json
[ "$(json state <out)" = stopped ] || fail "state: $(cat out)"
agrees d
exits 0 "$URLWEIR" seed d "$seed" "${seed}new.html" --json
[ "$(grep -c '"status":"skipped"' out)" = 2 ] || fail "not seen before: $(cat out)"

exits 0 "$URLWEIR" seed d "http://$there:$port/"

# ---- fetched, and what they link to ----------------------------------------------------

resume d
ended 0
for page in new linked; do asked $here /$page.html; done
for page in "" b.html; do asked $there "/$page"; done
agrees d
exits 0 "$URLWEIR" seed d "$seed"
exits 0 "$URLWEIR" status d --json
[ "$(json state <out)" = finished ] || fail "state: $(cat out)"

# ---- delays, limits and blocks of its hosts -------------------------------------------

exits 0 "$URLWEIR" limit d $here 3
says out "d: $here is limited to 3 URLs"
exits 0 "$URLWEIR" delay d $here 200ms --json
says out '"delay_seconds": 0.2'
exits 0 "$URLWEIR" block d $here --off --json
says out '"until": null'
exits 2 "$URLWEIR" limit d nowhere.test 1
says err "d has no URL of nowhere.test"
echo late >web/$here/late.html
exits 0 "$URLWEIR" seed d "http://$here:$port/late.html"
exits 3 "$URLWEIR" resume d --progress none # three were done before
not_asked $here /late.html
exits 0 "$URLWEIR" limit d $here none
exits 0 "$URLWEIR" resume d --progress none
asked $here /late.html

# ---- where there is none -----------------------------------------------------------------

exits 2 "$URLWEIR" seed nowhere "$seed"
says err "no directory nowhere"
exits 2 "$URLWEIR" seed web "$seed"
says err "no crawl in web"
