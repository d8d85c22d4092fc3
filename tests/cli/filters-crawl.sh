#!/bin/sh
# The same crawl is exact with every kind of filter: every page once, also if a
# filter of fixed size gets far more URLs than it was made for, if the kind is
# changed, or if a Redis goes away, comes back empty or is shared by two crawls.
# Promise (Seen check and store): any kind of filter, also one in Redis, gives
#   the same crawl; when a fixed size is exceeded the log says so, and no URL
#   is lost.
set -eu
. "$TOP/tests/cli/lib.sh"

pages=200 in_flight=8
[ -z "${LONG:-}" ] || pages=6000
web="--hosts 20 --pages $pages --profile variants,redirects,robots --seed 31"
slow="$web --latency 40"

# whole CRAWL: it has finished, and was exact; the server ends with it.
whole() {
    ended 0 "$1"
    serve_no_more
    judge --kills "${2:-0}" --in-flight $in_flight
    agrees "$1"
}

# ---- each kind, in one go; those that cannot grow, made for far fewer URLs -------

for kind in stacked bloom counting cuckoo; do
    serve $web
    case $kind in
    bloom | counting) expect="--expect 100" ;;
    *) expect= ;;
    esac
    # shellcheck disable=SC2086
    crawl $kind --filter $kind $expect
    whole $kind
    [ -e $kind/filter.ckpt ] || fail "$kind: no checkpoint"
    exits 0 "$URLWEIR" status $kind --json
    over=false
    [ -z "$expect" ] || over=true
    grep -q "\"filter_overfull\": $over" out || fail "$kind: $(cat out)"
    if [ $over = true ]; then
        says crawl.err "filter is past its promise"
        exits 0 "$URLWEIR" status $kind
        says out "more URLs than it was made for"
    fi
done

# Another kind from a resume on: the filter is made anew. Of a finished crawl too.
serve $web
crawl change -n 50
ended 3
for kind in stacked cuckoo scalable; do
    resume change --filter $kind -n none
    ended 0
    head -c 64 change/filter.ckpt | grep -aq $kind || fail "the filter is no $kind filter"
done
whole change

# ---- in Redis ------------------------------------------------------------------------

redis_up
serve $web
crawl redis --filter redis --redis "$redis_url?key=one" --expect 20000
whole redis
exits 0 "$URLWEIR" status redis --json
[ "$(json filter_unsure <out)" -lt 50 ] || fail "unsure: $(cat out)"
[ "$(json certainly_new <out)" -gt $((pages / 2)) ] || fail "not asked: $(cat out)"
exits 0 "$URLWEIR" filter info "$redis_url?key=one"
[ ! -e redis/filter.ckpt ] || fail "a file of a filter that is in Redis"
exits 0 "$URLWEIR" verify redis
says out "none, as --filter redis asks"

# Our restart finds the filter as it was: it is not filled again.
serve $slow
"$URLWEIR" crawl "$seed" -o again $quick -c $in_flight --filter redis \
    --redis "$redis_url?key=again" >crawl.out 2>crawl.err &
pid=$!
waits_for '[ "$(redis hget again:meta adds)" -gt 1 ] 2>/dev/null' ||
    fail "nothing is added: $(cat crawl.err)"
kill -TERM $pid 2>/dev/null || :
wait $pid || :
resume again -v
whole again 1
exits 0 "$URLWEIR" status again --json
[ "$(json filter_unsure <out)" -lt 50 ] || fail "filled again: $(cat out)"

# It goes away in the middle of a crawl and comes back empty, twice: the first
# time while the web does not answer, so that all the rest is still to come.
serve $slow
kill -STOP "$server"
"$URLWEIR" crawl "$seed" -o away $quick -c $in_flight --filter redis \
    --redis "$redis_url?key=five" >crawl.out 2>crawl.err &
pid=$!
waits_for '[ "$(redis hget five:meta adds)" -gt 0 ] 2>/dev/null' ||
    fail "nothing is added: $(cat crawl.err)"
redis_kill
rm -rf redis-data
kill -CONT "$server"
waits_for 'grep -q "cannot be reached" crawl.err' || fail "it was not missed"
redis_up
# (The crawl may be through by then.)
comes_back='[ "$(redis hget five:meta adds)" -gt 0 ] || ! kill -0 "$pid"'
waits_for "{ $comes_back; } 2>/dev/null" || fail "it is not used again: $(cat crawl.err)"
redis_kill
rm -rf redis-data
redis_up
status=0
wait $pid || status=$?
whole away
says crawl.err "the Redis filter cannot be reached"
[ "$(grep -c 'cannot be reached' crawl.err)" -le 2 ] || fail "said too often"
exits 0 "$URLWEIR" status away --json
[ "$(json filter_unsure <out)" -gt 0 ] || fail "nothing unsure: $(cat out)"

# It is not there at all.
redis_kill
serve $web
crawl never --filter redis --redis "$redis_url?key=six"
whole never
exits 0 "$URLWEIR" status never
says out "filter out of reach"
redis_up

# Two crawls of one key: each is exact by its own exact set.
serve $web
"$URLWEIR" crawl "$seed" -o both1 $quick --filter redis --expect 20000 \
    --redis "$redis_url?key=both" >both.out 2>both.err &
pid=$!
waits_for '[ -e both1/frontier.db ]' || fail "both1: $(cat both.err)"
crawl both2 --filter redis --redis "$redis_url?key=both" --expect 20000
ended 0 both2
wait $pid || fail "both1: $(cat both.err)"
serve_no_more
agrees both1
agrees both2
for key in pages urls; do
    "$URLWEIR" status both1 --json | json $key >one
    "$URLWEIR" status both2 --json | json $key | cmp - one ||
        fail "two crawls of one web differ in $key"
done

# What cannot be is refused before anything is made.
exits 1 "$URLWEIR" crawl "$seed" -o no --filter redis
says err "--filter redis needs --redis"
exits 1 "$URLWEIR" crawl "$seed" -o no --redis "$redis_url"
says err "another filter was chosen"
exits 1 "$URLWEIR" crawl "$seed" -o no --filter redis --redis http://x/
says err "a Redis URL is"
exits 1 "$URLWEIR" crawl "$seed" -o no --expect 5
says err "cannot grow"
exits 1 "$URLWEIR" crawl "$seed" -o no --block-exact list
says err "second check"
[ ! -e no ] || fail "a directory was made"
