#!/bin/sh
# Crawls in Redis clusters on loopback, with faults: of the store's workers
# (tests/support/cluster_faults.py) and of whole ones (cluster_crawls.py).
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
support=$(dirname "$0")/support
mkdir "$dir/crawls"
python3 "$support/cluster_crawls.py" "$build/urlweir" "$dir/crawls" "$@"
python3 "$support/cluster_faults.py" "$build/tests/support/cluster_worker" "$dir" "$@"
echo "check-cluster: all passed"
