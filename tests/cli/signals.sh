#!/bin/sh
# A signal stops a crawl so that a resume asks for nothing twice; a second
# signal stops it at once. One directory belongs to one crawl, and to one
# process.
# Promise (Crashes): a signal stops a crawl so that a resume asks for nothing
#   twice; a finished crawl stays finished. See also `tests/cli/docs.sh`.
set -eu
. "$TOP/tests/cli/lib.sh"

# starts COMMAND OPTION...: in the background, as a terminal would start it:
# shells have background commands ignore SIGINT.
starts() {
    behind crawl.out crawl.err env --default-signal=INT,HUP "$URLWEIR" "$@"
    pid=$!
}
ends() {
    status=0
    wait "$pid" || status=$?
}
# asks N: since the last `mark` more than so many requests have arrived.
asks() {
    waits_for "[ \$(wc -l <log) -gt $((marked + $1)) ]" ||
        fail "it asks for nothing: $(cat crawl.err)"
}

# ---- stopped and resumed: nothing is lost, nothing asked again ---------------

# (With its delay it has a minute to go: it does not end before a signal comes.)
serve --hosts 10 --pages 3000 --size 1000 --latency 20 --seed 61
mark
# shellcheck disable=SC2086
starts crawl "$seed" -o d $quick --delay 200ms --max-delay 1s
asks 0

# While it runs: its state can be seen, and nobody else may have it.
exits 0 "$URLWEIR" status d --json
[ "$(json state <out)" = running ] || fail "not running: $(cat out)"
[ "$(json pid <out)" = $pid ] || fail "of another process: $(cat out)"
exits 2 "$URLWEIR" resume d
says err "process $pid"
# shellcheck disable=SC2086
exits 2 "$URLWEIR" crawl "$seed" -o d $quick
says err "process $pid"

kill -TERM $pid
ends
ended 4 SIGTERM
says crawl.err "urlweir resume d"
exits 0 "$URLWEIR" verify d
exits 0 "$URLWEIR" status d --json
[ "$(json state <out)" = stopped ] || fail "not stopped: $(cat out)"

for signal in INT HUP; do
    mark
    starts resume d
    asks 20
    kill -$signal $pid
    ends
    ended 4 SIG$signal
    is_whole d SIG$signal
done

# Killed before its first checkpoint, it is not as the clean stop left it.
mark
starts resume d --checkpoint 1h
asks 20
kill -KILL $pid
ends
exits 0 "$URLWEIR" status d --json
[ "$(json state <out)" = interrupted ] || fail "not interrupted: $(cat out)"
is_whole d SIGKILL

# A crawl that is to outlive its terminal, as nohup(1) starts it.
mark
behind crawl.out crawl.err env --ignore-signal=HUP "$URLWEIR" resume d
pid=$!
asks 20
kill -HUP $pid
mark
asks 20 # it ignores the signal
kill -TERM $pid
ends
ended 4

# A crawl into it is refused, and changes nothing.
mark
crawl d
ended 2
says crawl.err "resume d"
since_mark log.part
[ ! -s log.part ] || fail "a refused crawl sent requests"

# Suspended for longer than an answer may take, which is 2 s by the kernel's
# clock: what has arrived is read first.
mark
starts resume d --delay 50ms -T 2s --connect-timeout 2s
asks 20
kill -STOP $pid
sleep 2.5 # the time itself is what is tested
kill -CONT $pid
ends
ended 0 "after SIGSTOP and SIGCONT"
serve_no_more
judge --kills 1 --in-flight 64
agrees d

# ---- it is finished: nothing is sent, and it ends as it had ended -------------

serve --hosts 2 --pages 20
for run in 1 2; do
    mark
    resume d
    ended 0
    says crawl.err finished
    since_mark log.part
    [ ! -s log.part ] || fail "resuming a finished crawl sent requests"
done
crawl failed "${seed}nothing-here" -t 1
ended 5
mark
resume failed
ended 5
since_mark log.part
[ ! -s log.part ] || fail "resuming a finished crawl sent requests"

# ---- nothing to resume -------------------------------------------------------

exits 2 "$URLWEIR" resume nowhere
says err nowhere
[ ! -e nowhere ] || fail "resume made a directory"
mkdir empty
exits 2 "$URLWEIR" resume empty
exits 2 "$URLWEIR" verify empty
exits 2 "$URLWEIR" status empty
serve_no_more

# ---- the second signal does not wait for answers -----------------------------

serve --hosts 3 --pages 30 --size 500
hold
# shellcheck disable=SC2086
starts crawl "$held" "$seed" -o slow $quick -T 5m
waits_for '"$URLWEIR" unpause slow --json >out 2>err &&
    [ "$(json queued <out) $(json transfers <out)" = "1 1" ]' || fail "$(cat out err)"
kill -TERM $pid
waits_for 'grep -q "stopping: finishing" crawl.err' || fail "no stop: $(cat crawl.err)"
sleep 0.5 # a wrong end needs a moment; a right one is never late
kill -0 $pid || fail "it does not wait for what is under way: $(cat crawl.err)"
kill -TERM $pid
waits_for "! kill -0 $pid 2>/dev/null" 600 || fail "the second SIGTERM waits: $(cat crawl.err)"
ends
ended 4 "the second SIGTERM"
is_whole slow "the second SIGTERM"
release
resume slow
ended 0
serve_no_more
judge --kills 1 --in-flight 8
agrees slow

# ---- timeout(1) sends its signal to the process and to its group --------------------

# It is one wish, also where a process between passes the signal on: requests
# under way are finished.
serve --hosts 1 --pages 1
hold
behind crawl.out crawl.err setsid "$URLWEIR" crawl "$held" "$seed" \
    --allow-private --robots off --sitemap off --progress none
pid=$!
waits_for 'grep -q "^$seed" crawl.out' || fail "no page: $(cat crawl.err)"
python3 -c 'import os, sys, time
for to in int(sys.argv[1]), -int(sys.argv[1]):
    os.kill(to, 15)
    time.sleep(0.02) # timeout(1) sends them that close
' $pid
waits_for 'grep -q "stopping" crawl.err' || fail "no stop: $(cat crawl.err)"
release
ends
ended 4 "timeout(1)"
lacks crawl.err "stopping at once" "stopped at once"
grep -q "^$held" crawl.out || fail "what was under way is lost: $(cat crawl.out crawl.err)"

# ---- seeds that never end ------------------------------------------------------

# shellcheck disable=SC2086
(sleep 300 | exec env --default-signal=INT "$URLWEIR" crawl -i - -o piped $quick) \
    >crawl.out 2>crawl.err &
waits_for '[ -e piped/frontier.db ]' || fail "piped: $(cat crawl.err)"
pid=$(sed 's/ .*//' piped/lock)
kill -INT "$pid"
waits_for "! kill -0 $pid 2>/dev/null" || fail "it waits for its seeds' end"
exits 2 "$URLWEIR" resume piped
