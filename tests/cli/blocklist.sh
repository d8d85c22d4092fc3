#!/bin/sh
# --block-filter keeps URLs out before they are admitted; --block-exact lets a
# filter's false positives in. The crawl reports, counts and explains both.
set -eu
. "$TOP/tests/cli/lib.sh"

filter() { "$URLWEIR" filter "$@"; }
quick="$quick $small"

# fetched DIR: the pages that were, by their paths.
fetched() {
    "$URLWEIR" export "$1" --format jsonl |
        sed -n 's,.*"url": *"http://127.0.0.1:[0-9]*/\([^"]*\)".*"fetched".*,\1,p' |
        sort | tr '\n' ' '
}

small_web
site=http://127.0.0.1:$port
crawl all
ended 0
[ "$(fetched all)" = " a.html b.html c,omma.html " ] ||
    fail "without a blocklist: $(fetched all)"

# ---- a filter file, with and without its second check ------------------------------

filter create block --kind bloom --capacity 1000 --fpr 1e-6
printf 'HTTP://127.0.0.1:%s/x/../b.html\n%s/c,omma.html\n' "$port" "$site" |
    "$URLWEIR" url | filter add block
crawl one --block-filter block
ended 0
[ "$(fetched one)" = " a.html " ] || fail "blocked: $(fetched one)"
says crawl.err "a filter of 2 URLs and no second check"
exits 0 "$URLWEIR" status one --json
grep -q '"dropped.blocklist": 2' out || fail "not counted: $(cat out)"
exits 0 "$URLWEIR" export one --what examples
grep 'b.html' out | grep -q blocklist || fail "no example: $(cat out)"
exits 0 "$URLWEIR" explain one "$site/b.html" --json
[ "$(json reason <out)" = blocklist ] || fail "explain: $(cat out)"
[ "$(json blocked <out)" = true ] || fail "explain: $(cat out)"
says out "may be a false positive"
exits 0 "$URLWEIR" explain one "$site/else.html" --json
[ "$(json blocked <out)" = false ] || fail "explain: $(cat out)"

# The whole graph recorded, stored text compared: neither minds a URL that has
# no row.
crawl graph --block-filter block --record links --compare-text
ended 0
[ "$(fetched graph)" = " a.html " ] || fail "recorded: $(fetched graph)"
agrees graph

# A filter that calls nearly all "maybe": the list alone decides.
filter create half --kind bloom --capacity 1 --fpr 0.5
seq 1 5000 | filter add half 2>err
printf '%s/b.html\n' "$site" | filter add half 2>err
printf 'no URL\n\nHTTP://127.0.0.1:%s/./b.html\n%s/none\n' "$port" "$site" >list
crawl two --block-filter half --block-exact list
ended 0
[ "$(fetched two)" = " a.html c,omma.html " ] || fail "exact: $(fetched two)"
says crawl.err "2 URLs as its second check"
exits 0 "$URLWEIR" status two --json
[ "$(json blocklist_false_positives <out)" -ge 3 ] || fail "fp: $(cat out)"
grep -q '"dropped.blocklist": 1' out || fail "dropped: $(cat out)"
exits 0 "$URLWEIR" explain two "$site/b.html" --json
[ "$(json reason <out)" = blocklist ] || fail "explain: $(cat out)"
! grep -q block_check out || fail "explain: $(cat out)"
crawl three --block-filter half
says crawl.err "% of all other URLs"
says crawl.err "a seed is on the blocklist"
[ "$(fetched three)" = "" ] || fail "no second check: $(fetched three)"

# ---- what is made of the list is kept, and never believed when it should not -------

kept=two/block-exact
before=$(stat -c %i-%Y $kept)
exits 0 "$URLWEIR" explain two "$site/b.html" --json
[ "$(stat -c %i-%Y $kept)" = "$before" ] || fail "made again for nothing"
for damage in 'flip $kept 100' 'truncate -s 100 $kept' ': >$kept' \
    'flip $kept 40' 'rm $kept'; do
    eval "$damage"
    exits 0 "$URLWEIR" explain two "$site/b.html" --json
    [ "$(json blocked <out)" = true ] || fail "$damage: $(cat out)"
done
echo "$site/other.html" >list
exits 0 "$URLWEIR" explain two "$site/b.html" --json
[ "$(json blocked <out)" = false ] || fail "an old list is believed: $(cat out)"

# ---- in Redis ------------------------------------------------------------------------

redis_up
filter create "$redis_url?key=block" --capacity 1000
printf '%s/b.html\n' "$site" | filter add "$redis_url?key=block"
crawl redis --block-filter "$redis_url?key=block"
ended 0
[ "$(fetched redis)" = " a.html c,omma.html " ] || fail "redis: $(fetched redis)"
# A plain bitmap: its keys are the URLs themselves.
filter create "$redis_url?key=plain&layout=plain" --capacity 1000
printf '%s/a.html\n' "$site" | filter add "$redis_url?key=plain&layout=plain"
crawl plain --block-filter "$redis_url?key=plain&layout=plain"
[ "$(fetched plain)" = " c,omma.html " ] || fail "plain: $(fetched plain)"
[ "$(stat -c %a plain/urlweir-secrets.yaml)" = 600 ] || fail "a password others can read"

# ---- a blocklist that comes with a resume --------------------------------------------

crawl late --limit 1
ended 3
resume late --limit none --block-filter block
[ "$(fetched late)" = " a.html " ] || fail "late: $(fetched late)"
exits 0 "$URLWEIR" status late --json
grep -q '"skipped.blocklist": 1' out || fail "late: $(cat out)"

# ---- what cannot be used is refused ----------------------------------------------------

exits 2 "$URLWEIR" crawl "$seed" -o no $quick --block-filter nowhere
says err "no such file"
exits 1 "$URLWEIR" crawl "$seed" -o no $quick --block-filter list
says err "not a filter file"
exits 1 "$URLWEIR" crawl "$seed" -o no $quick --block-filter all/filter.ckpt
says err "this filter belongs to a crawl"
exits 2 "$URLWEIR" crawl "$seed" -o no $quick --block-filter block \
    --block-exact nowhere
says err "no such file"
exits 1 "$URLWEIR" crawl "$seed" -o no $quick --block-filter redis://x?k=5
says err "k is a multiple of 4"
exits 2 "$URLWEIR" crawl "$seed" -o no $quick \
    --block-filter "$redis_url?key=absent"
says err "no such filter"
serve_no_more
