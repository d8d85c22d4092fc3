#!/bin/sh
# The files of a directory: only one process at a time has it, even if its lock
# file was removed meanwhile; and only the owner may read files that can hold
# secrets.
set -eu
. "$TOP/tests/cli/lib.sh"

# ---- the lock file is removed ---------------------------------------------------

# refuses PID DIR COMMAND...: before, without a lock file, and with a new one.
refuses() {
    by=$1 at=$2
    shift 2
    exits 2 "$@"
    says err "in use by process $by"
    rm -f "$at"
    exits 2 "$@"
    says err "in use by process $by"
    echo "1 nobody" >"$at"
    exits 2 "$@"
    says err "in use by process $by"
}

start_service none
refuses "$service" d/lock "$URLWEIR" serve d --listen 127.0.0.1:0 --http none
stop TERM 0
start_service none # it was not left locked
stop TERM 0

hold
behind crawl.out crawl.err "$URLWEIR" crawl "$held" -o c $quick --warc --cdxj
crawler=$!
# It has begun: before, there is no crawl to resume.
waits_for '! "$URLWEIR" resume c --progress none >out 2>err; grep -q "in use by" err' ||
    fail "no crawl: $(cat crawl.err)"
refuses "$crawler" c/lock "$URLWEIR" resume c --progress none
release
wait "$crawler" || fail "the crawl ended badly: $(cat crawl.err)"
exits 0 "$URLWEIR" resume c --progress none

mkfifo lines
behind dedupe.out dedupe.err sh -c 'exec "$1" dedupe lines --state s' sh "$URLWEIR"
deduper=$!
exec 3>lines
waits_for 'grep -qs "^$deduper" s/dedupe.lock' || fail "no dedupe: $(cat dedupe.err)"
refuses "$deduper" s/dedupe.lock "$URLWEIR" dedupe /dev/null --state s
exec 3>&-
wait "$deduper" || fail "dedupe ended badly: $(cat dedupe.err)"

# ---- modes --------------------------------------------------------------------------

# owner_alone FILE...
owner_alone() {
    for f in "$@"; do
        [ "$(stat -c %a "$f")" = 600 ] || fail "$f is for all: $(ls -l "$f")"
    done
}

owner_alone c/frontier.db c/manifest c/warc/*.warc.gz c/warc/index.cdxj s/dedupe.db
start_service none
owner_alone d/frontier.db d/frontier.db-wal d/frontier.db-shm d/manifest
stop TERM 0
# What somebody has opened for a group stays so.
chmod 640 c/frontier.db c/warc/*.warc.gz
"$URLWEIR" seed c "${held}other" >out 2>err || :
[ "$(stat -c %a c/frontier.db)" = 640 ] || fail "the mode was changed back"
