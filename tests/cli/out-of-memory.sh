#!/bin/sh
# A crawl that runs out of memory, at whatever moment and in whichever library,
# ends with a message and status 2; committed work is whole, and a resume goes
# on as after any crash.
# Promise (Crashes): when the system refuses memory, in any library, the crawl
#   ends with a message and status 2; nothing is lost, and no page is blamed.
set -eu
. "$TOP/tests/cli/lib.sh"

# From this moment on the process gets $1 KiB more, and no more than that.
# RLIMIT_DATA counts what is allocated and written (getrlimit(2)).
starve() {
    now=$(sed -n 's/^VmData:[^0-9]*\([0-9]*\) kB/\1/p' /proc/$crawler/status 2>/dev/null) || :
    [ -n "$now" ] || return 0 # it has ended
    prlimit --pid $crawler --data=$(((now + $1) * 1024)) 2>prlimit.err ||
        ! kill -0 $crawler 2>/dev/null || skip "prlimit: $(cat prlimit.err)"
}

# ---- from the beginning: whatever fails for it, the last line says what to do -------

for limit in 65536 80000 120000; do
    status=0
    (
        ulimit -v $limit
        exec "$URLWEIR" crawl http://127.0.0.1:1/ -o small --allow-private -t 1
    ) >crawl.out 2>crawl.err </dev/null || status=$?
    rm -rf small
    [ $status != 127 ] || continue # the loader had no room for the libraries
    ended 2 "with $limit KiB"
    says crawl.err "memory is limited to $limit KiB (\`ulimit -v\`)"
done

# ---- while it runs -------------------------------------------------------------------

# (30 hosts of 20 ms give 1,500 pages a second at most: it is not through before.)
serve --hosts 30 --pages 6000 --latency 20 --profile variants,redirects,compress --seed 5
crawl d --limit 1 # so that there is something to resume
ended 3
ends=0
for more in 0 200 0 500 1000 50 300 2000 100 700; do
    behind crawl.out crawl.err "$URLWEIR" resume d --limit none --progress none
    crawler=$!
    something_arrives
    starve $more
    status=0
    wait $crawler || status=$?
    is_whole d "with $more KiB more"
    [ "$status" != 0 ] || break
    ended 2 "with $more KiB more"
    grep -q '^urlweir: out of memory' crawl.err || fail "it does not say why: $(cat crawl.err)"
    ends=$((ends + 1))
done
echo "$ends ends for want of memory"
[ $ends -ge 2 ] || fail "it ended $ends times"
resume d --limit none
ended 0
serve_no_more
judge --kills $ends --in-flight 64
agrees d
