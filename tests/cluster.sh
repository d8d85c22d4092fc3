#!/bin/sh
# Crawls in Redis clusters on loopback, with faults: of the store's workers
# (tests/support/cluster_faults.py), of whole ones (cluster_crawls.py,
# cluster_hosts.py, cluster_verify.py), of ones that are steered
# (cluster_steering.py, cluster_watching.py), of ones that move (cluster_moves.py), of
# services (cluster_serve.py), and with faults at random (cluster_chaos.py), and
# with shards in Kafka (cluster_shards.py), if Java is there. They
# mostly wait, so five run at a time. The servers are redis-server, else valkey-server, or what URLWEIR_REDIS
# names.
# usage: tests/cluster.sh BUILD_DIR [SCENARIO...]
set -eu
: "${URLWEIR_REDIS:=$(command -v redis-server || command -v valkey-server || :)}"
[ -n "$URLWEIR_REDIS" ] || {
    echo "check-cluster: skipped, neither redis-server nor valkey-server"
    exit 0
}
echo "check-cluster: with $("$URLWEIR_REDIS" --version | cut -d ' ' -f 1-3)"
build=$1
shift
dir=$(mktemp -d "${TMPDIR:-/tmp}/urlweir-cluster.XXXXXX")
tools=$(dirname "$0")/../tools
trap '"$tools/kafka.sh" stop "$dir/kafka" 2>/dev/null || :; rm -rf "$dir"' EXIT
trap 'exit 130' INT TERM
support=$(dirname "$0")/support
export build dir support URLWEIR_REDIS PYTHONDONTWRITEBYTECODE=1

# run PART.NAME: the scenario NAME of cluster_PART.py.
cat >"$dir/run" <<'END'
[ ! -e "$dir/bad" ] || exit 0 # one has failed: no other one begins
part=${1%.*} name=${1#*.}
case $part in
faults) program="$build/tests/support/cluster_worker" ;;
*) program="$build/urlweir" ;;
esac
mkdir "$dir/$1"
[ "$part" != shards ] || set -- "$1" "$(cat "$dir/kafka/brokers")"
if python3 "$support/cluster_$part.py" "$program" "$dir/$1" ${2:+"$2"} "$name" >"$dir/$1.said" 2>&1
then sed "s/^/$part: /" "$dir/$1.said"
else
    sed "s/^/$part: /" "$dir/$1.said"
    echo "$1" >>"$dir/bad"
fi
END

# Without Java it says so, and the other scenarios run.
parts="chaos crawls steering watching hosts moves serve verify faults"
if "$tools/kafka.sh" start "$dir/kafka" 1; then
    parts="shards $parts"
fi

# The longest first, so that none of them is left over at the end.
for part in $parts; do
    none=""
    [ "$part" != shards ] || none=-
    for name in $(python3 "$support/cluster_$part.py" - - $none list); do
        case " ${*:-$name} " in *" $name "*) echo "$part.$name" ;; esac
    done
done | xargs -P 5 -I {} sh "$dir/run" {}
# What the others printed meanwhile may be long: what failed stands at the end.
if [ -e "$dir/bad" ]; then
    while read -r scenario; do
        echo "check-cluster: $scenario FAILED, the end of what it printed:"
        tail -n 20 "$dir/$scenario.said" | cut -c 1-400
    done <"$dir/bad"
    exit 1
fi
echo "check-cluster: all passed"
