#!/bin/sh
# The filter file is only a cache. If it is damaged, cut, emptied, missing, out
# of date, from another crawl or ahead of the store, resume says so in one
# line, rebuilds it from the store, and the crawl ends exact.
set -eu
. "$TOP/tests/cli/lib.sh"

serve --hosts 10 --pages 800 --size 1000 --seed 41
crawl other -n 300
ended 3
mark

# One crawl, stopped at three moments; `log.N` is what arrived until then.
crawl early -n 100
ended 3
since_mark log.early
cp -a early late
mark
resume late -n 200
ended 3
since_mark log.more
cp -a late whole
flip_at=$(($(wc -c <late/filter.ckpt) / 2))

# goes_on HOW LOGS: resume ends exact, given what had arrived before.
goes_on() {
    mark
    resume d -n none
    ended 0 "$1"
    since_mark log.part
    "$SITE" check --truth truth --log "$2,log.part" >check.out 2>check.err ||
        fail "$1: $(cat check.out check.err)"
    lines=$(grep -c "filter" crawl.err) || :
    case $1 in
    untouched | *header*) [ "$lines" = 0 ] || fail "$1: $(cat crawl.err)" ;;
    *) [ "$lines" -ge 1 ] && [ "$lines" -le 2 ] || # why, and what is done
        fail "$1: $(cat crawl.err)" ;;
    esac
    agrees d
}

damage() {
    case $1 in
    untouched) ;;
    "one bit flipped") flip d/filter.ckpt "$flip_at" ;;
    "one bit of a header flipped") flip d/filter.ckpt 40 ;; # there are two
    "one bit of the other header flipped") flip d/filter.ckpt -1 ;;
    cut) truncate -s -1000 d/filter.ckpt ;;
    emptied) : >d/filter.ckpt ;;
    gone) rm d/filter.ckpt ;;
    "random octets") head -c 300000 /dev/urandom >d/filter.ckpt ;;
    "of another crawl") cp other/filter.ckpt d/filter.ckpt ;;
    esac
}

for how in untouched "one bit flipped" "one bit of a header flipped" \
    "one bit of the other header flipped" cut emptied gone "random octets" \
    "of another crawl"; do
    rm -rf d
    cp -a late d
    damage "$how"
    # verify sees it, and that it is no harm.
    verified=0
    "$URLWEIR" verify d >verify.out 2>&1 || verified=$?
    case $how in
    untouched | *header*) want=0 ;;
    *) want=3 ;;
    esac
    [ $verified = $want ] || fail "$how: verify: $(cat verify.out)"
    goes_on "$how" log.early,log.more
done

# An older one of the same crawl is sound: the URLs since are added, in silence.
rm -rf d
cp -a late d
cp early/filter.ckpt d/filter.ckpt
goes_on untouched log.early,log.more

# One that runs ahead: the store was put back from a copy, its manifest too.
# What it lacks, it will give to other URLs, and must ask for again.
rm -rf d
cp -a early d
cp whole/filter.ckpt d/filter.ckpt
goes_on "ahead of the store" log.early

# The same, and killed before the next filter file: by then the store has more
# URLs than the file knows of, but not the same ones.
rm -rf d
cp -a early d
cp whole/filter.ckpt d/filter.ckpt
mark
URLWEIR_KILL_AT=checkpoint-begin
export URLWEIR_KILL_AT
resume d -n none --checkpoint 1h
unset URLWEIR_KILL_AT
ended 137
is_whole d "killed before its last checkpoint"
resume d
ended 0
since_mark log.part
"$SITE" check --truth truth --log log.early,log.part --kills 1 --in-flight 64 \
    >check.out 2>check.err || fail "ahead, killed: $(cat check.out check.err)"
agrees d
