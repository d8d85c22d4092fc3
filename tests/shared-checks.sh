#!/bin/sh
# Conformance checks that live beside the checkout: tests/shared-checks.sh BIN DIR
set -eu
bin=$(readlink -f "$1")
dir=$2
if [ ! -d "$dir/checks" ]; then
    echo "shared checks: skipped, no $dir/checks here"
    exit 0
fi
export FRONTIER_BIN="$bin"
for c in "$dir"/checks/public_*.py; do
    min=0
    case $c in *toascii*) min=80 ;; esac
    echo "$(basename "$c"): $(PYTHONDONTWRITEBYTECODE=1 MIN_PASS=$min SHOW=${SHOW:-5} python3 "$c" | tail -n 6)"
    PYTHONDONTWRITEBYTECODE=1 MIN_PASS=$min python3 "$c" >/dev/null
done
