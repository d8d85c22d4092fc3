#!/bin/sh
# --block-filter keeps URLs out before they are admitted; --block-exact lets a
# filter's false positives in. The crawl reports, counts and explains both.
# Promise (Seen check and store): a blocklist keeps URLs out before admission,
#   and its exact list lets false positives in; both are logged, counted and
#   explained. See also `blocklist`.
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
# A list of another system: a byte order mark, CRLF, a comment, other spellings.
printf '\357\273\277# blocked\r\n\r\nHTTP://127.0.0.1:%s/x/../b.html\r\n %s/c,omma.html # too \r\n' \
    "$port" "$site" >windows
filter add block --urls <windows
filter info block >out
says out "keys are       canonical URLs"
filter check block --urls <windows >out
[ "$(grep -c ^maybe out)" = 2 ] || fail "its own list: $(cat out)"
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
seq -f http://x/%.0f 1 5000 | filter add half 2>err
printf '%s/b.html\n' "$site" | filter add half 2>err
printf '# a comment\n\nHTTP://127.0.0.1:%s/./b.html\n%s/none\n' "$port" "$site" >list
crawl two --block-filter half --block-exact list
ended 0
[ "$(fetched two)" = " a.html c,omma.html " ] || fail "exact: $(fetched two)"
says crawl.err "2 URLs as its second check"
exits 0 "$URLWEIR" status two --json
[ "$(json blocklist_false_positives <out)" -ge 3 ] || fail "fp: $(cat out)"
grep -q '"dropped.blocklist": 1' out || fail "dropped: $(cat out)"
exits 0 "$URLWEIR" explain two "$site/b.html" --json
[ "$(json reason <out)" = blocklist ] || fail "explain: $(cat out)"
lacks out block_check "explain"
crawl three --block-filter half
says crawl.err "% of all other URLs"
says crawl.err "a seed is on the blocklist"
[ "$(fetched three)" = "" ] || fail "no second check: $(fetched three)"

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
says crawl.err "it is not known whether the blocklist's keys are canonical URLs"
# A list of URLs is one for a rebuild, too, and must be one.
filter create "$redis_url?key=list" --capacity 100
filter add "$redis_url?key=list" --urls <windows
filter rebuild "$redis_url?key=list" --capacity 1000 --urls <windows
crawl rebuilt --block-filter "$redis_url?key=list"
[ "$(fetched rebuilt)" = " a.html " ] || fail "rebuilt: $(fetched rebuilt)"
printf '%s/b.html\nb.example\n' "$site" >bad
redis_list=$redis_url?key=list
export redis_list
exits 2 sh -c '"$URLWEIR" filter rebuild "$redis_list" --capacity 1000 --urls <bad'
says err "stdin: line 2 is not an http(s) URL (relative)"
[ "$(stat -c %a plain/urlweir-secrets.yaml)" = 600 ] || fail "a password others can read"

# ---- a blocklist that comes with a resume --------------------------------------------

crawl late --limit 1
ended 3
resume late --limit none --block-filter block
[ "$(fetched late)" = " a.html " ] || fail "late: $(fetched late)"
exits 0 "$URLWEIR" status late --json
grep -q '"skipped.blocklist": 1' out || fail "late: $(cat out)"

# ---- a guard that blocks nothing is refused, before anything is fetched -------------

# opens_not WHY OPTION...: a crawl with such a blocklist does not start.
opens_not() {
    why=$1
    shift
    mark
    exits 1 "$URLWEIR" crawl "$seed" -o no $quick "$@"
    says err "the blocklist cannot be used: $why"
    since_mark since
    [ ! -s since ] || fail "something was fetched: $(cat since)"
}
filter create empty --capacity 10
opens_not "empty: it is empty" --block-filter empty
# What `urlweir url` prints needs no --urls, and two of a kind can be merged.
filter create also --kind bloom --capacity 1000 --fpr 1e-6
"$URLWEIR" url <windows | grep -v '^!' | filter add also
filter merge both block also
crawl merged --block-filter both
[ "$(fetched merged)" = " a.html " ] || fail "merged: $(fetched merged)"
crawl exact --block-filter block --block-exact windows
ended 0
[ "$(fetched exact)" = " a.html " ] || fail "a list of Windows: $(fetched exact)"

# Lines that are no URLs are left out, and said.
printf 'http://a.example/\nb.example\n' >bad
exits 5 sh -c '"$URLWEIR" filter add also --urls <bad'
says err "1 line is not an http(s) URL and was left out; the first is line 2 (relative)"
exits 1 "$URLWEIR" filter add also --urls --binary
says err "--urls goes with neither"

# ---- what cannot be used is refused ----------------------------------------------------

exits 2 "$URLWEIR" crawl "$seed" -o no $quick --block-filter nowhere
says err "no such file"
exits 1 "$URLWEIR" crawl "$seed" -o no $quick --block-filter list
says err "not a filter file"
exits 1 "$URLWEIR" crawl "$seed" -o no $quick --block-filter all/filter.ckpt
says err "this filter belongs to a crawl"
exits 2 "$URLWEIR" crawl "$seed" -o no $quick \
    --block-filter "$redis_url?key=absent"
says err "no such filter"
serve_no_more
