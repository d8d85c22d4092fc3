#!/bin/sh
# status tells the truth in the keys of docs/formats/status.md, after a crawl
# and while it runs.
# Promise (Audit, progress and figures): status, explain and export tell what a
#   crawl did and what became of a URL, as JSON Lines and CSV, while it runs
#   and after. See also `tests/cli/explain.sh`, `tests/cli/export.sh`.
set -eu
. "$TOP/tests/cli/lib.sh"

has() {
    [ "$(json "$1" <out)" = "$2" ] || {
        cat out
        fail "$1 is not $2"
    }
}

# ---- a crawl that is finished ----

small_web
# shellcheck disable=SC2086
crawl d $small
ended 0
serve_no_more
exits 0 "$URLWEIR" status d --json --hosts
for pair in dir=d state=finished urls=6 queued=0 hosts=1 pages=5 fetched=4 \
    redirects=0 failed=1 denied=1 skipped=0 retries=0 links=11 duplicates=3 \
    dropped=3 certainly_new=6 maybe_seen=0 false_positives=0 seeds=1 \
    seeds_failed=0 same_content=0 digest_collisions=0; do
    has "${pair%%=*}" "${pair#*=}"
done
for reason in denied.robots dropped.kind dropped.nofollow dropped.scope \
    failed.http_404; do
    says out "\"$reason\": 1"
done
says out '"queues": []'
grep -q '"checkpoint_at": "20..-..-..T..:..:..\....Z"' out || fail "no time"
lacks out '"pid"' "a process runs it"
[ "$(json bytes <out)" -gt 500 ] || fail "too few octets"

if [ -w /dev/full ]; then
    for report in "status d --json" "status d" "verify d" "audit d --json" \
        "explain d $seed" "explain d $seed --json"; do
        status=0
        # shellcheck disable=SC2086
        "$URLWEIR" $report >/dev/full 2>err || status=$?
        [ "$status" = 2 ] || fail "$report: status $status on a full disk"
        says err "cannot write the output"
    done
fi

exits 0 "$URLWEIR" status d
says out "d: finished"
says out "failed.http_404"

# ---- one that runs, then one that was stopped ----

# (With its delay it lasts for minutes.)
serve --hosts 3 --pages 3000 --latency 20
# shellcheck disable=SC2086
behind crawl.out crawl.err "$URLWEIR" crawl "$seed" -o slow $quick --delay 100ms
crawler=$!
waits_for '"$URLWEIR" status slow --json --hosts >out 2>err &&
    [ "$(json fetched <out)" -gt 2 ]' || fail "nothing is fetched: $(cat err)"
has state running
has pid "$crawler"
[ "$(json queued <out)" -gt 0 ] || fail "nothing is queued: $(cat out)"
says out '"host": "127.0.0.'
kill "$crawler"
status=0
wait "$crawler" || status=$?
ended 4
exits 0 "$URLWEIR" status slow --json
has state stopped
lacks out '"pid"' "a process runs it"

# ---- asked from the first moment on, while its files are being made ----

for i in 1 2 3 4 5; do
    # shellcheck disable=SC2086
    behind crawl.out crawl.err "$URLWEIR" crawl "$seed" -o "new$i" $quick --delay 100ms
    crawler=$!
    waits_for '[ -s "new$i/lock" ]' || fail "no crawl: $(cat crawl.err)"
    status=0
    "$URLWEIR" verify "new$i" >out 2>err || status=$?
    case $status in
    0 | 3) ;;
    *) fail "verify ends with $status: $(cat out err)" ;;
    esac
    kill "$crawler"
    wait "$crawler" || :
done
serve_no_more

# ---- what cannot be done ----

exits 2 "$URLWEIR" status elsewhere
exits 1 "$URLWEIR" status

# ---- a crawl that is only being made -----------------------------------------

behind young.out young.err env URLWEIR_HOLD_AT=filter-checkpoint-begin:1 "$URLWEIR" \
    crawl http://127.0.0.1:9/ --allow-private --min-disk 0 -o young
young=$!
waits_for '[ -e young/filter.ckpt.tmp ]' || fail "not made: $(cat young.err)"
exits 0 env URLWEIR_TIME=made:100 "$URLWEIR" verify young # not 30 s
says out "manifest: not written yet, the crawl has just begun"
kill -KILL $young
wait $young 2>/dev/null || :
exits 2 "$URLWEIR" verify young # nobody makes it any more
says err "ended before all of its seeds were stored"

# Before the first commit there is nothing to read.
for at in store-made commit-begin; do
    behind young.out young.err env URLWEIR_HOLD_AT=$at:1 "$URLWEIR" \
        crawl http://127.0.0.1:9/ --allow-private --min-disk 0 -o $at
    young=$!
    case $at in
    store-made) waits_for '[ -s $at/lock ]' ;;
    *) waits_for '[ -e $at/frontier.db ]' ;;
    esac || fail "not made: $(cat young.err)"
    for command in status audit verify export diff explain; do
        set -- "$command" $at
        case $command in
        diff) set -- "$@" $at ;;
        explain) set -- "$@" http://127.0.0.1:9/ ;;
        esac
        exits 2 env URLWEIR_TIME=made:100 "$URLWEIR" "$@"
        says err "is only being made"
    done
    kill -KILL $young
    wait $young 2>/dev/null || :
done
