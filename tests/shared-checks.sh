#!/bin/sh
# Conformance checks that live beside the checkout: tests/shared-checks.sh BIN DIR
set -eu
bin=$(readlink -f "$1")
dir=$2
for part in checks testdata/wpt-url; do
    [ -d "$dir/$part" ] || {
        echo "shared checks: skipped, no $dir/$part here"
        exit 0
    }
done
export FRONTIER_BIN="$bin"
for c in "$dir"/checks/public_*.py; do
    min=0
    case $c in *toascii*) min=80 ;; esac
    result=0
    said=$(PYTHONDONTWRITEBYTECODE=1 MIN_PASS=$min SHOW=${SHOW:-5} python3 "$c") ||
        result=$?
    echo "$(basename "$c"): $(echo "$said" | tail -n 6)"
    [ $result = 0 ] || exit 1
done
