#!/bin/sh
# Runs each fuzz target over its corpus: tests/replay.sh BUILD/fuzz
set -eu
for r in "$1"/replay_*; do
    case $r in *.[od]) continue ;; esac
    [ -x "$r" ] || continue
    name=${r##*/replay_}
    [ -d "fuzz/corpus/$name" ] || { echo "no corpus for $name" >&2; exit 1; }
    "$r" "fuzz/corpus/$name"
done
