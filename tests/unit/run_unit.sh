#!/bin/sh
# Runs unit test suites side by side, two more than there are cores: most tests
# are of one thread, and some wait. Prints what failed, and one sum.
# usage: tests/unit/run_unit.sh UNIT SUITE...
set -eu
unit=$1
shift
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export unit out
# The longest first, so that none of them is left over at the end.
long="frontier_faults redis_bloom frontier_budget exact_set
 served_faults dedupe frontier_refresh rejudge checkpoint seen_store store_crash scalable
 seen_store_open redis store_faults host_memory robots_cache host_reach redis_bloom_race
 stacked cuckoo line_input fetcher_limits http_events"
for s in $long "$@"; do
    case " $* " in *" $s "*) echo "$s" ;; esac
done | awk '!seen[$0]++' | xargs -P "$(($(nproc) + 2))" -I {} sh -c \
    'CK_RUN_SUITE={} "$unit" >"$out/{}" 2>&1 || mv "$out/{}" "$out/{}.bad"'
bad=0
for f in "$out"/*.bad; do
    [ -e "$f" ] || continue
    bad=1
    echo "---- $(basename "$f" .bad) said:"
    tail -n 60 "$f"
done
cat "$out"/* | awk '/^unit: [0-9]+ passed, [0-9]+ failed$/ { p += $2; f += $4 }
    END { printf "unit: %d passed, %d failed\n", p, f }'
exit $bad
