#!/bin/sh
# Crawls and services whose shards are in Kafka, with faults: cluster_shards.py
# and cluster_served.py of tests/support, on a broker of our own on loopback, if
# Java is there. They mostly wait, so five run at a time. LONG=1: then
# cluster_brokers.py, on three brokers, which it ends and starts again.
# usage: tests/cluster.sh BUILD_DIR [SCENARIO...]
set -eu
build=$1
shift
dir=$(mktemp -d "${TMPDIR:-/tmp}/urlweir-cluster.XXXXXX")
tools=$(dirname "$0")/../tools
trap 'for k in kafka three; do "$tools/kafka.sh" stop "$dir/$k" 2>/dev/null || :; done; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
support=$(dirname "$0")/support
KAFKA=$dir/kafka
export build dir support KAFKA PYTHONDONTWRITEBYTECODE=1

# run PART.NAME: the scenario NAME of cluster_PART.py.
cat >"$dir/run" <<'END'
[ ! -e "$dir/bad" ] || exit 0 # one has failed: no other one begins
mkdir "$dir/$1"
python3 "$support/cluster_${1%.*}.py" "$build/urlweir" "$dir/$1" \
    "$(cat "$KAFKA/brokers")" "${1#*.}" >"$dir/$1.said" 2>&1 || echo "$1" >>"$dir/bad"
sed "s/^/${1%.*}: /" "$dir/$1.said"
END

# Without Java it says so.
"$tools/kafka.sh" start "$dir/kafka" 1 || {
    echo "check-cluster: skipped"
    exit 0
}
# names PART: of the scenarios that are to run.
names() {
    part=$1
    shift
    python3 "$support/cluster_$part.py" - - - list >"$dir/list"
    while read -r name; do
        case " ${*:-$name} " in *" $name "*) echo "$part.$name" ;; esac
    done <"$dir/list"
}
for part in shards served; do
    names $part "$@" >>"$dir/names"
done
xargs -P 5 -I {} sh "$dir/run" {} <"$dir/names"
if [ -n "${LONG:-}" ]; then
    "$tools/kafka.sh" stop "$dir/kafka"
    KAFKA=$dir/three
    "$tools/kafka.sh" start "$KAFKA" 3
    names brokers "$@" >"$dir/long"
    xargs -I {} sh "$dir/run" {} <"$dir/long"
    cat "$dir/long" >>"$dir/names"
fi
# What the others printed meanwhile may be long: what failed stands at the end.
if [ -e "$dir/bad" ]; then
    while read -r scenario; do
        echo "check-cluster: $scenario FAILED, the end of what it printed:"
        tail -n 20 "$dir/$scenario.said" | cut -c 1-400
    done <"$dir/bad"
    exit 1
fi
[ -s "$dir/names" ] || {
    echo "check-cluster: there is no such scenario"
    exit 1
}
echo "check-cluster: all passed"
