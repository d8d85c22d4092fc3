#!/bin/sh
# A crawl killed at any named step of a commit, of a checkpoint or of the
# store's upkeep (base/fault.h) goes on as if nothing had happened: no URL is
# lost, at most --concurrency are asked again. It is killed at every name in
# the sources, at its first passage in a small crawl and at a later one in a
# larger crawl. Other tests cover the steps of dedupe (dedupe.sh), a change of
# settings (settings.sh), filters of a service (serve-filters.sh), of an import
# (import.sh), of the service itself (the suite frontier_crash) and the merge of
# two runs, which takes more URLs than there are here (the suite store_crash).
set -eu
. "$TOP/tests/cli/lib.sh"

in_flight=16
names=$(cd "$TOP" && grep -rhoE 'fault_point\("[a-z-]+"\)' --include='*.c' \
    base filter storage frontier crawler config cli service 2>/dev/null |
    sed 's/.*"\(.*\)".*/\1/' |
    grep -vE '^((dedupe|filter-log|filter-shelf|import|item|move|service|settings)-|exact-merge-old$)' | sort -u)
[ "$(echo "$names" | wc -l)" -ge 20 ] || fail "too few points: $names"
plain=$quick
quick="$quick --warc" # some of the points are in its writer

# killed POINT COMMAND...: run it until it stands there. False: it never did.
killed() {
    export URLWEIR_KILL_AT="$1"
    shift
    "$@"
    unset URLWEIR_KILL_AT
    [ "$status" = 137 ]
}

# Go on by what the commands themselves say.
to_the_end() {
    resume d -c $in_flight
    if [ "$status" = 2 ]; then
        grep -qE 'no crawl (to resume )?in|same .urlweir crawl. command' crawl.err ||
            ended 0 "after a kill at $1"
        crawl d -c $in_flight
    fi
    ended 0 "after a kill at $1"
}

# ---- the first passage, in a small crawl ------------------------------------

serve --hosts 5 --pages 80 --size 1000 --seed 31
mv truth truth.small
reached=
for name in $names; do
    case $name in
    queue-* | run-* | status-sweep) continue ;; # of many URLs, below
    esac
    rm -rf d
    mark
    killed "$name" crawl d -c $in_flight || ended 137 "at $name"
    is_whole d "$name"
    to_the_end "$name"
    reached="$reached $name"
    is_whole d "the end"
    since_mark log.part
    "$SITE" check --truth truth.small --log log.part --kills 1 \
        --in-flight $in_flight >check.out 2>check.err ||
        fail "after a kill at $name: $(cat check.out check.err)"
done
serve_no_more

# stand_at TIME POINT...: resume d again and again, killed at each in turn; a
# run that does not come there ends after TIME, with one more checkpoint.
stand_at() {
    most=$1
    shift
    for point; do
        killed "$point" resume d -c $in_flight --time "$most" || {
            case $status in # it ended by its limit of time, or for good
            0 | 3 | 5) echo "not at $point: $status"; continue ;;
            esac
            ended 3 "never at $point"
        }
        is_whole d "$point"
        echo "stood at $point"
        kills=$((kills + 1))
        reached="$reached ${point%:*}"
    done
}

# ---- later passages, one after the other in one crawl ------------------------

serve --hosts 20 --pages 5000 --size 1000 --latency 40 --seed 32
rm -rf d
kills=1
killed turn-after-commit:9 crawl d -c $in_flight || ended 137
for name in $names; do
    case $name in
    queue-* | run-* | exact-merge | status-sweep | seeds-read | store-made) ;;
    checkpoint-* | file-* | filter-* | wal-*) stand_at 1100ms "$name:2" ;;
    *) stand_at 1100ms "$name:12" ;;
    esac
done
resume d -c 64 --time none
ended 0
serve_no_more
judge --kills $kills --in-flight $in_flight
agrees d
echo "$kills kills, $(sed -n 's/^duplicate //p' check.out) asked again"

# ---- the store's upkeep, which begins with many URLs ---------------------------

# 200,000 more seeds on a port that browsers block: their queue is flushed and
# merged as it grows, and drained, without a request for any.
quick=$plain
serve --hosts 20 --pages 1000 --size 1000 --latency 5 --seed 33
awk 'BEGIN {
    for (i = 0; i < 200000; i++)
        printf "http://127.200.0.1:25/part-%d/page-%d\n", i % 100, i
}' >seeds
rm -rf d
for name in $names; do
    case $name in
    queue-flush | run-* | exact-merge | store-made | seeds-read)
        killed "$name" crawl d -c $in_flight -i seeds || ended 137 "at $name"
        is_whole d "$name"
        reached="$reached $name"
        ;;
    esac
done
crawl d -c $in_flight -i seeds --time 1ms
ended 3
kills=0
stand_at 5m status-sweep # 40,000 such seeds, however long they take
stand_at 5s exact-merge
for name in $names; do
    case $name in
    queue-flush) ;; # a flush needs many new URLs
    queue-*) stand_at 5s "$name" ;;
    esac
done
# The rest of the seeds is skipped by a rule, in seconds: one by one, each to a
# fetcher and back, they take a busy machine a quarter of an hour.
resume d -c 64 --time none -X /part-
ended 5 # the seeds that are not asked
# How far a merge of queues comes before that host's URLs are through is a
# matter of time; the suite store_crash stands at each of its steps for certain.
reached="$reached queue-merge queue-switch queue-drop"
serve_no_more
judge --kills $kills --in-flight $in_flight
agrees d

for name in $names; do
    case " $reached " in
    *" $name "*) ;;
    *) fail "no crawl here ever passes $name" ;;
    esac
done
