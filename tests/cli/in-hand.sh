#!/bin/sh
# A page that ends the process while it is parsed costs one try each time, and
# fails as `stuck` when its tries are used up: it cannot kill the crawl for
# ever.
set -eu
. "$TOP/tests/cli/lib.sh"

# The first page that comes is the one that kills (base/fault.h).
dies() {
    export URLWEIR_KILL_AT=page-in-hand
    "$@"
    unset URLWEIR_KILL_AT
    ended 137
}

# asked_for N: the seed, so far.
asked_for() {
    logged
    [ "$(grep -c . log)" = "$1" ] || fail "asked $(grep -c . log) times instead of $1"
}

mkdir web
echo '<title>killer</title><a href=other.html>o</a>' >web/index.html
echo '<title>other</title>' >web/other.html
serve_files web
one="--robots off --threads 1 -c 1"

# ---- it dies at every try, and then goes on without that page -----------------

# shellcheck disable=SC2086
dies crawl d $one
asked_for 1
dies resume d
dies resume d
asked_for 3
says crawl.err "tried again"
resume d
ended 5
asked_for 3
says crawl.err "which has failed"
exits 0 "$URLWEIR" export d
says out '"status": "failed", "reason": "stuck"'
exits 0 "$URLWEIR" explain d "$seed"
says out stuck
exits 0 "$URLWEIR" status d --json
[ "$(json retries <out)" = 2 ] || fail "retries: $(cat out)"
agrees d
[ ! -e d/in-hand ] || fail "the file is left after a clean end"
exits 5 "$URLWEIR" resume d

# ---- a single death is no proof: also with one try it is asked again ----------

# shellcheck disable=SC2086
dies crawl once $one --tries 1
resume once
ended 0
exits 0 "$URLWEIR" export once
says out '"status": "fetched"'
agrees once

# ---- it is known that the process could not get on: failed at once -------------

# shellcheck disable=SC2086
dies crawl known $one
python3 - known/in-hand <<'PYTHON'
import sys
with open(sys.argv[1], "r+b") as f:
    f.seek(64 + 8)
    steps = f.read(8)
    f.seek(64 + 16)
    f.write(steps)
PYTHON
mark
resume known
ended 5
[ "$(arrivals)" = "$marked" ] || fail "asked again"
agrees known
