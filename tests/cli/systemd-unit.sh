#!/bin/sh
# packaging/urlweir.service and urlweir-crawl@.service: systemd reads them
# without a warning and rates both as well confined; their commands start a
# service and a crawl, which goes on after a stop with the settings as they are
# then; reload and stop work, and a unit permits what its process asks of the
# kernel.
# Promise (The service): the systemd units have no warning and an exposure
#   below 1.5; their commands start, reload and stop the service, begin a crawl
#   and resume it, and the filter allows what the service calls.
set -eu
. "$TOP/tests/cli/lib.sh"
unit=$TOP/packaging/urlweir.service

sed "s|/usr/local/bin/urlweir|$URLWEIR|" "$unit" >urlweir.service
grep -q "^ExecStart=$URLWEIR serve " urlweir.service || fail "no ExecStart"

# ---- as systemd reads it ------------------------------------------------------

sed "s|/usr/local/bin/urlweir|$URLWEIR|g; s|/etc/urlweir/crawls|$WORK|g" \
    "$TOP/packaging/urlweir-crawl@.service" >urlweir-crawl@.service
for file in urlweir.service urlweir-crawl@.service; do
    exits 0 systemd-analyze verify --man=no ./$file
    [ ! -s out ] && [ ! -s err ] || fail "complaints: $(cat out err)"
    if systemd-analyze security --help 2>&1 | grep -q -- --offline; then
        # Ten times the exposure it may have; 92 is what a bare unit has.
        exits 0 systemd-analyze security --offline=yes --threshold=15 \
            --no-pager ./$file
        says out "Overall exposure level"
    fi
done
# What confines one confines the other.
for file in urlweir.service urlweir-crawl@.service; do
    sed -n '/^User=/,/^\[Install\]/p' $file | grep -v '^#\|^StateDirectory=' >confined.$file
done
diff confined.urlweir.service confined.urlweir-crawl@.service || fail "confined in two ways"

# ---- a crawl --------------------------------------------------------------------

crawls() { # STATUS
    sed -n 's/^ExecStart=//p' urlweir-crawl@.service | sed 's/%i/web/g' >command
    STATE_DIRECTORY=$WORK/state-of-web exits "$1" sh -c "exec $(cat command)"
}
serve --hosts 1 --pages 40
cat >web.yaml <<END
seeds: [$seed]
allow-private: true
delay: 0
sitemap: off
limit: 5
END
mkdir state-of-web
crawls 3
sed -i 's/limit: 5/limit: none/' web.yaml
crawls 0
says err "limit: 5 -> none"
judge
crawls 0 # it has finished
sed -i 's/^limit.*/limit: few/' web.yaml
crawls 1
for status in SuccessExitStatus='3 4 5' RestartPreventExitStatus='1 2 6'; do
    grep -qx "$status" urlweir-crawl@.service || fail "the unit lacks $status"
done
kill "$server"

# ---- its command --------------------------------------------------------------

# The options that the unit's comment gives as an example, on a free port.
options=$(sed -n 's/^#  *URLWEIR_OPTIONS="\(.*\)"$/\1/p' "$unit")
[ "$options" != "" ] || fail "no example of URLWEIR_OPTIONS"
(umask 077 && echo "admin 0123456789abcdef" >tokens)
options=$(echo "$options" | sed "s|0.0.0.0:7071|127.0.0.1:0|; s|/etc/urlweir/tokens|tokens|")

mkdir state
start() { # TRACER...
    : >serve.err
    sed -n 's/^ExecStart=//p' urlweir.service >command
    STATE_DIRECTORY=state URLWEIR_OPTIONS="$options --http 127.0.0.1:0 --verbose" \
        "$@" sh -c "exec $(cat command)" >serve.out 2>serve.err &
    server=$!
    waits_for 'grep -q "listening on" serve.err' || fail "no server: $(cat serve.err)"
    at=$(sed -n 's/.*HTTP on //p' serve.err)
}
# The process that serves, beneath a tracer or not.
served() {
    child=$(pgrep -P "$server" || :)
    echo "${child:-$server}"
}
use() {
    python3 - "$at" <<'PYTHON' || fail "the service does not answer"
import json, sys, urllib.request
def call(path, body):
    return json.load(urllib.request.urlopen(urllib.request.Request(
        "http://" + sys.argv[1] + "/v1/" + path, json.dumps(body).encode(),
        {"Content-Type": "application/json",
         "Authorization": "Bearer 0123456789abcdef"}), timeout=60))
call("urls", [{"url": f"http://h{i % 9}/{i}"} for i in range(5000)])
for url in call("lease", {"max_queues": 9})["urls"]:
    call("ack", {"lease": url["lease"]})
PYTHON
}

start
grep -q '^ExecReload=/bin/kill -HUP \$MAINPID$' "$unit" || fail "reload is no SIGHUP"
use
kill -HUP "$server"
waits_for 'grep -q "read again" serve.err' || fail "reload: $(cat serve.err)"
kill -TERM "$server"
stopped=0
wait "$server" || stopped=$?
[ $stopped = 0 ] || fail "stop: $stopped $(cat serve.err)"

# ---- system calls ---------------------------------------------------------------

# All that a group lets through, groups in it included.
calls_of() {
    systemd-analyze syscall-filter "$1" | sed 1d | while read -r word; do
        case $word in
        "#"*) ;;
        @*) calls_of "$word" ;;
        ?*) echo "$word" ;;
        esac
    done
}
strace -qq -o probe true 2>probe.err || {
    leaves_out "the system calls that are made: $(cat probe.err)"
    exit 0
}
start strace -f -qq -o trace
use
kill -HUP "$(served)"
waits_for 'grep -q "read again" serve.err' || fail "reload: $(cat serve.err)"
kill -TERM "$(served)"
wait "$server" || :
# SQLite of a root sees to it that its files are the database's owner's, and a
# root gives capabilities up; the unit's user is none.
sed -n 's/^[0-9]* *\([a-z_0-9]*\)(.*/\1/p' trace |
    if [ "$(id -u)" = 0 ]; then grep -vxE "fchown|capset"; else cat; fi | sort -u >made
[ "$(wc -l <made)" -gt 20 ] || fail "few system calls: $(cat made)"
{ calls_of @system-service; sed -n 's/^SystemCallFilter=\(landlock_.*\)/\1/p' "$unit" |
    tr ' ' '\n'; } | sort -u >allowed
{ calls_of @privileged; calls_of @resources; } | sort -u >denied
grep -q '^SystemCallFilter=@system-service$' "$unit" || fail "another filter"
grep -q '^SystemCallFilter=~@privileged @resources$' "$unit" || fail "another filter"
comm -23 allowed denied >left
{ calls_of @default; cat left; } | sort -u >may
comm -23 made may >refused
[ ! -s refused ] || fail "the unit refuses: $(cat refused)"
