#!/bin/sh
# The store is the only source of truth. If it is missing, emptied, cut,
# overwritten or behind its manifest, the command refuses it with 6 and says
# how to go on; it sends no request and starts nothing anew. `verify --repair`
# can accept a store that is behind its manifest or has none; the crawl fetches
# again what is missing. A lost tail of its log is such a case, or costs some
# pages asked twice.
# Promise (Commands and options): a crawl whose exact set is gone or
#   overwritten, even by one octet, has lost nothing: verify finds the damage,
#   and --repair makes the set anew.
set -eu
. "$TOP/tests/cli/lib.sh"

serve --hosts 10 --pages 800 --size 1000 --seed 51
crawl other -n 50
ended 3
mark
crawl early -n 100
ended 3
since_mark log.early
cp -a early late
mark
resume late -n 300
ended 3
since_mark log.more

# d is a copy of the crawl; each damage is done to it in turn.
fresh() {
    rm -rf d
    cp -a late d
}
random_octets() { # FILE OFFSET COUNT
    dd if=/dev/urandom of="$1" bs="$3" seek="$2" count=1 oflag=seek_bytes conv=notrunc 2>dd.err
}
half_of() {
    truncate -s $(($(wc -c <"$1") / 2)) "$1"
}
put_back() { # the store of an earlier moment
    rm -f d/frontier.db*
    cp early/frontier.db d/
}
damage() {
    case $1 in
    "store gone, its log left") rm d/frontier.db ;;
    "store emptied") : >d/frontier.db ;;
    "store cut to half") half_of d/frontier.db ;;
    "first page overwritten") random_octets d/frontier.db 0 4096 ;;
    "store of another format") printf 'SQLite' >d/frontier.db ;;
    "store of another crawl") cp other/frontier.db d/ ;;
    "rows of the exact set gone") sqlite3 d/frontier.db "DELETE FROM seenpage" ;;
    "rows of the exact set overwritten")
        sqlite3 d/frontier.db "UPDATE seenpage SET entries = randomblob(4000)"
        ;;
    "one octet of the exact set changed") # the last of a digest's own
        sqlite3 d/frontier.db "UPDATE seenpage SET entries = CAST(substr(entries, 1, 14)
            || CASE hex(substr(entries, 15, 1)) WHEN '5A' THEN x'5B' ELSE x'5A' END
            || substr(entries, 16) AS BLOB) WHERE id = (SELECT min(id) FROM seenpage)"
        ;;
    "store behind its manifest") put_back ;;
    "manifest gone") rm d/manifest ;;
    "manifest with one bit flipped") flip d/manifest 70 ;;
    "manifest of another crawl") cp other/manifest d/ ;;
    esac
}

# refused HOW: resume and verify end with 6, say how to go on, touch nothing.
refused() {
    mark
    find d -type f ! -empty ! -name lock ! -name '*-shm' -exec md5sum {} + | sort >before
    resume d -n none
    [ "$status" = 6 ] || fail "$1: resume ended with $status: $(cat crawl.err)"
    grep -q "verify d" crawl.err || fail "$1: no way on: $(cat crawl.err)"
    crawl d
    [ "$status" = 2 ] || fail "$1: crawl ended with $status: $(cat crawl.err)"
    verified=0
    "$URLWEIR" verify d >verify.out 2>&1 || verified=$?
    [ "$verified" = 6 ] || fail "$1: verify says $verified: $(cat verify.out)"
    find d -type f ! -empty ! -name lock ! -name '*-shm' -exec md5sum {} + | sort >after
    cmp -s before after || fail "$1: something was changed:
$(diff before after)"
    since_mark log.part
    [ ! -s log.part ] || fail "$1: requests were sent: $(head -3 log.part)"
}

for how in "store gone, its log left" "store emptied" "store cut to half" \
    "first page overwritten" "store of another format" "store of another crawl"; do
    fresh
    damage "$how"
    refused "$how"
    case $how in # that one is sound, and might be taken
    "store of another crawl") continue ;;
    esac
    exits 6 "$URLWEIR" verify d --repair
    grep -qiE "restore|copy" out err ||
        fail "$how: verify --repair: $(cat out err)"
done

# What --repair can mend: the store is sound, the manifest disagrees, or the
# exact set is damaged, which follows from the rows of URLs.
for how in "manifest gone" "manifest with one bit flipped" "manifest of another crawl" \
    "rows of the exact set gone" "rows of the exact set overwritten" \
    "one octet of the exact set changed" "store behind its manifest"; do
    fresh
    damage "$how"
    case $how in
    *"of the exact set"*) # seen when that row is read
        [ "$(sqlite3 d/frontier.db "SELECT count(*) FROM seenpart WHERE count > 0")" -gt 0 ]
        exits 6 "$URLWEIR" verify d
        says out "URLs and fetches are intact"
        ;;
    *) refused "$how" ;;
    esac
    exits 0 "$URLWEIR" verify d --repair
    exits 3 "$URLWEIR" verify d # the filter's file is missing
    mark
    resume d -n none
    ended 0 "$how, repaired"
    since_mark log.part
    case $how in
    store*) logs=log.early ;; # what came later is not known to have been asked
    *) logs=log.early,log.more ;;
    esac
    "$SITE" check --truth truth --log $logs,log.part >check.out 2>check.err ||
        fail "$how, repaired: $(cat check.out check.err)"
    agrees d
done

# ---- the tail of the log is lost -----------------------------------------------

# Killed, so that the log holds what the database does not.
for how in whole "last octets" all; do
    rm -rf d
    mark
    URLWEIR_KILL_AT=turn-after-commit:30
    export URLWEIR_KILL_AT
    crawl d -c 16 --checkpoint 1h
    unset URLWEIR_KILL_AT
    ended 137
    [ -s d/frontier.db-wal ] || fail "no log to cut"
    case $how in
    "last octets") truncate -s -3000 d/frontier.db-wal ;;
    all) rm d/frontier.db-wal d/frontier.db-shm ;;
    esac
    resume d
    case $status in
    0) ;;
    6)
        grep -q "verify d" crawl.err || fail "$how: $(cat crawl.err)"
        exits 0 "$URLWEIR" verify d --repair
        resume d
        ended 0 "a log without $how, repaired"
        ;;
    *) ended 0 "a log without $how" ;;
    esac
    since_mark log.part
    # Nothing is lost; what the log held is asked again.
    "$SITE" check --truth truth --log log.part --kills 1 --in-flight 800 \
        >check.out 2>check.err || fail "$how: $(cat check.out check.err)"
    agrees d
    again=$(sed -n 's/^duplicate //p' check.out)
    [ "$how" != whole ] || [ "$again" -le 16 ] || fail "$again asked again"
done
