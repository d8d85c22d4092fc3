#!/bin/sh
# Runs each fuzz target over its corpus: tests/replay.sh BUILD/fuzz
set -eu
for r in "$1"/replay_*; do
    case $r in *.[od]) continue ;; esac
    [ -x "$r" ] || continue
    name=${r##*/replay_}
    [ -d "fuzz/corpus/$name" ] || { echo "no corpus for $name" >&2; exit 1; }
    # What the targets log of bad input matters only when one of them fails.
    "$r" "fuzz/corpus/$name" 2>"$1/replay.err" || {
        cat "$1/replay.err" >&2
        exit 1
    }
done
