#!/bin/sh
# Crawls in Redis clusters on loopback, with faults: see
# tests/support/cluster_faults.py.
# usage: tests/cluster.sh BUILD_DIR [SCENARIO...]
set -eu
build=$1
shift
[ -n "$(command -v redis-server)" ] || {
    echo "check-cluster: skipped, no redis-server"
    exit 0
}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
python3 "$(dirname "$0")/support/cluster_faults.py" \
    "$build/tests/support/cluster_worker" "$dir" "$@"
echo "check-cluster: all passed"
