#!/bin/sh
# Failed URLs are tried again, by reason or host, in a stopped crawl, by a
# resume and in a running crawl; fetched pages are not requested again.
# Promise (Crashes): retry queues failed URLs again, by reason and host, while
#   the crawl runs and after, and no URL that was fetched; a kill at any step
#   leaves each URL failed or queued. See also `make sim`.
set -eu
. "$TOP/tests/cli/lib.sh"

here=127.0.0.1 there=127.0.0.2
mkdir -p web/$here web/$there
for page in bad gone other; do printf '503\n' >web/$here/$page.html.head; done
printf '404\n' >web/$here/gone.html.head
printf '404\n' >web/$there/far.html.head
plain_site $here $there
cat >web/$here/index.html <<END
<a href=/good.html>g</a><a href=/bad.html>b</a><a href=/gone.html>g</a>
<a href=/other.html>o</a><a href=http://$there:$port/far.html>f</a>
END
echo good >web/$here/good.html
crawl d --tries 1
ended 0
exits 0 "$URLWEIR" status d --json
[ "$(json failed <out)" = 4 ] || fail "four fail: $(cat out)"

exits 0 "$URLWEIR" seed d "${seed}bad.html"
says out skipped
says err 'those that failed are tried again by `urlweir retry d`'

exits 0 "$URLWEIR" resume d --progress none
says err '4 failed: `urlweir export d --what errors` shows why, `urlweir retry d` queues them again'

# ---- which ------------------------------------------------------------------------

exits 1 "$URLWEIR" retry d --reason nonsense
says err "no URL ends for the reason 'nonsense'"
exits 1 "$URLWEIR" retry d --reason kind # links alone are dropped for it
says err "no URL ends for the reason 'kind'"
exits 1 "$URLWEIR" resume d --retry http_5
says err "http_5"
exits 0 "$URLWEIR" retry d --reason timeout
says out '0 URLs queued again'
exits 0 "$URLWEIR" retry d --host nowhere.test
says out '0 URLs queued again'

# mend PAGE TEXT: the page is there from now on.
mend() {
    rm "web/$1.head"
    echo "$2" >"web/$1"
}
mend $here/bad.html '<a href=/behind.html>x</a>'
echo behind >web/$here/behind.html
mend $here/gone.html back
mend $there/far.html far

cp -r d before
exits 0 "$URLWEIR" retry d --reason http_503,timeout --host $here
says out '2 URLs queued again'
says err '`urlweir resume d` fetches what is queued, 2 URLs'
exits 0 "$URLWEIR" retry d --reason http_503
says out '0 URLs queued again' # they are queued, and not failed
exits 0 "$URLWEIR" status d --json
[ "$(json failed <out) $(json queued <out)" = "2 2" ] || fail "counters: $(cat out)"
: >log
exits 0 "$URLWEIR" resume d -q
sort log | uniq >asked
printf '%s\n' "$here /bad.html" "$here /behind.html" "$here /other.html" | sort >want
grep -v robots asked | diff want - || fail "asked for other URLs than failed ones"
[ "$(sort log | uniq -d | grep -vc robots)" = 0 ] || fail "asked twice: $(cat log)"
exits 0 "$URLWEIR" status d --json
[ "$(json failed <out) $(json fetched <out)" = "3 4" ] || fail "counters: $(cat out)"
agrees d
exits 0 "$URLWEIR" verify d

# ---- by a resume, and all of them ---------------------------------------------------

exits 0 "$URLWEIR" resume d --retry all
says err '3 failed URLs queued again'
exits 0 "$URLWEIR" verify d

# ---- a crawl that runs ----------------------------------------------------------------

rm -rf d
cp -r before d
for i in 1 2 3 4 5 6 7 8; do
    echo "<a href=/slow$((i + 1)).html>n</a>" >web/$here/slow$i.html
done
echo end >web/$here/slow9.html
exits 0 "$URLWEIR" seed d "${seed}slow1.html"
behind run.out run.err "$URLWEIR" resume d --delay 500ms --progress none
runs=$!
waits_for '[ -S d/control ]' || fail "it does not run: $(cat run.err)"
exits 0 "$URLWEIR" retry d --json
says out '"queued":4'
wait $runs || fail "the crawl: $(cat run.err)"
exits 0 "$URLWEIR" status d --json
[ "$(json failed <out)" = 1 ] || fail "one still fails: $(cat out)"
agrees d
