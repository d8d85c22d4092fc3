#!/bin/sh
# audit counts what a Bloom-only crawler would have lost, names it, and finds a
# false negative (5). verify tells whether the parts agree.
set -eu
. "$TOP/tests/cli/lib.sh"

has() {
    [ "$(json "$1" <out)" = "$2" ] || {
        cat out
        fail "$1 is not $2"
    }
}

small_web
# shellcheck disable=SC2086
crawl d $small --record links
ended 0
# shellcheck disable=SC2086
crawl plain $small --filter none
ended 0
serve_no_more

# ---- a crawl with nothing to complain of ----

exits 0 "$URLWEIR" audit d --json
for pair in name=d new=6 upto=6 false_positives=0 would_have_lost=0 \
    fpr_measured=0.0 fpr_low=0.0 fpr_promised=0.001 false_negatives=0 \
    filter_checked=true filter_covers=6 missing=0 exact_count=6 fetched=4 \
    fetched_found_through_lost=0 fetched_only_through_lost=0; do
    has "${pair%%=*}" "${pair#*=}"
done
# Wilson, 0 of 6: 3.8415 / (6 + 3.8415)
case $(json fpr_high <out) in
0.39033*) ;;
*) fail "the upper bound is wrong: $(cat out)" ;;
esac
exits 0 "$URLWEIR" audit d --what-if 1e-2,0.5
says out "scalable fpr=0.01"
says out "scalable fpr=0.5"
says out "would have lost 0 of 6 URLs"
says out "0 of 4 fetched URLs cannot be reached without those."
says out "False negatives: 0"

# Without a filter there is no file to check, and no link graph here.
exits 0 "$URLWEIR" audit plain --json
has filter_checked false
has fetched_only_through_lost null
exits 0 "$URLWEIR" audit plain
says out "not checked, there is no filter file"
exits 0 "$URLWEIR" verify d
says out "links: 10 recorded"
exits 0 "$URLWEIR" verify plain

# ---- false positives and a false negative, planted ----

cp -r d planted
sqlite3 planted/frontier.db 'UPDATE url SET flags = flags | 2 WHERE id = 2'
exits 0 "$URLWEIR" audit planted --json --lost lost
has would_have_lost 1
has fetched_found_through_lost 2 # a.html, and b.html that it leads to
has fetched_only_through_lost 2
[ "$(cat lost)" = "${seed}a.html" ] || fail "lost: $(cat lost)"
exits 0 "$URLWEIR" explain planted "${seed}a.html"
says out "maybe seen: a false positive"
exits 0 "$URLWEIR" audit planted
says out "2 of 4 fetched URLs cannot be reached without those."

# The root leads to b.html as well, the page on which it is first found
# notwithstanding.
sqlite3 planted/frontier.db "INSERT INTO link_list
    SELECT max(first) + 1000, 1, '[192]', NULL FROM link_list"
exits 0 "$URLWEIR" audit planted --json
has fetched_found_through_lost 2
has fetched_only_through_lost 1

# A URL that the filter has never heard of: false negative.
cp -r d changed
sqlite3 changed/frontier.db "UPDATE url SET path = '/other' WHERE id = 3"
exits 5 "$URLWEIR" audit changed --json
has false_negatives 1
exits 6 "$URLWEIR" verify changed

# A link to nowhere.
cp -r d dangling
sqlite3 dangling/frontier.db "INSERT INTO link_list
    SELECT max(first) + 1000, 1, '[3168]', NULL FROM link_list"
exits 6 "$URLWEIR" verify dangling
says out "links: a row names no URL"
exits 6 "$URLWEIR" export dangling --what links

# Another crawl's filter file is not believed.
cp -r d mixed
# shellcheck disable=SC2086
small_web
crawl other $small
ended 0
serve_no_more
cp other/filter.ckpt mixed/filter.ckpt
exits 0 "$URLWEIR" audit mixed --json
has filter_checked false

# ---- a list of URLs ----

printf '%s\n' http://a.example/ 'HTTP://A.example:80/#x' http://b.example/ \
    nonsense "" http://a.example/%7ex http://a.example/~x >list
exits 0 "$URLWEIR" audit --urls list --json --fpr 0.01
for pair in name=list new=3 exact_count=3 false_negatives=0 fpr_promised=0.01; do
    has "${pair%%=*}" "${pair#*=}"
done
says err "1 lines are not http(s) URLs"
awk 'BEGIN { for (i = 0; i < 200000; i++) print "http://a.example/" i }' >long
"$URLWEIR" audit --urls - --fpr 0.5 --what-if 0.01 --lost lost --json \
    <long >out 2>err || fail "audit --urls -: $(cat err)"
has new 200000
lost=$(json would_have_lost <out)
[ "$lost" -gt 100 ] || fail "a filter of rate 0.5 was never wrong"
[ "$(wc -l <lost)" = "$lost" ] || fail "--lost names another number of URLs"
[ "$(sort -u lost | wc -l)" = "$lost" ] || fail "--lost names one twice"
awk -v rate="$(json fpr_low <out)" 'BEGIN { exit !(rate <= 0.5) }' ||
    fail "the rate is above the promise"

# Gzipped, and two of them in one file: the same figures.
figures() { grep -vE '"(ns|seconds|elapsed|cost)[a-z_]*"' out; }
exits 0 "$URLWEIR" audit --urls long --fpr 0.5 --json
figures | sed 's/"long"/NAME/' >plain.figures
{ head -n 70000 long | gzip && tail -n +70001 long | gzip; } >long.gz
exits 0 "$URLWEIR" audit --urls long.gz --fpr 0.5 --json
has new 200000
figures | sed 's/"long.gz"/NAME/' | cmp - plain.figures || fail "other figures: $(cat out)"
"$URLWEIR" audit --urls - --json <long.gz >out 2>err || fail "audit --urls -: $(cat err)"
has new 200000
head -c 30000 long.gz >cut.gz
exits 2 "$URLWEIR" audit --urls cut.gz --json
says err "cannot read cut.gz: its gzip data is cut short"
[ ! -s out ] || fail "figures of half a list"
exits 2 "$URLWEIR" audit --urls .
says err "cannot read .:"
# a line of two megabytes is no URL, and what stands behind it is one
{ printf 'http://a.example/' && head -c 2000000 /dev/zero | tr '\0' a && printf '\nhttp://b.example/'; } >wide
exits 2 "$URLWEIR" audit --urls wide --json
has new 1
says err "1 lines are over 1 MiB"
two_packed
printf '# comments, blanks\n\n http://b/ # and spellings\nno URL\n' >>two.mark
for list in two.gz two.bz2 two.zst two.mark; do
    exits 0 "$URLWEIR" audit --urls $list --json
    has new 2
done
says err "1 lines are not http(s) URLs"

# ---- what cannot be done ----

exits 1 "$URLWEIR" audit
exits 1 "$URLWEIR" audit d --urls list
exits 1 "$URLWEIR" audit d --what-if 2
exits 2 "$URLWEIR" audit elsewhere
exits 2 "$URLWEIR" audit --urls elsewhere
