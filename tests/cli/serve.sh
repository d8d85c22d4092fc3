#!/bin/sh
# serve says where it listens, stays on loopback unless callers must prove who
# they are, has a directory of its own, and stops in good order.
set -eu
. "$TOP/tests/cli/lib.sh"

# start OPTION...: $service; its address in $at.
start() {
    start_service none "$@"
    at=$grpc
}

# ---- it begins and ends -------------------------------------------------------

start
case $at in 127.0.0.1:[1-9]*) ;; *) fail "listens on '$at'" ;; esac
[ "$(cat d/lock)" != "" ] || fail "no lock"
exits 2 "$URLWEIR" serve d --listen 127.0.0.1:0 --http none
says err "in use by process $service"
exits 2 "$URLWEIR" serve e --listen "$at" --http none
says err "cannot listen"
says err "the address is in use; give another with --listen or --http"
for port in 65536 99999 123456 -1 http; do
    exits 1 "$URLWEIR" serve e --listen 127.0.0.1:$port --http none
    says err "--listen: '127.0.0.1:$port' is not a HOST:PORT of this machine"
done
: >file
exits 2 "$URLWEIR" serve file --listen 127.0.0.1:0 --http none
says err "cannot use file: it is not a directory"
stop TERM 0
[ ! -s serve.out ] || fail "data on stdout"
exits 0 "$URLWEIR" verify d
start --quiet
stop INT 0
start # what SIGKILL leaves is opened again
stop KILL 137
start
stop TERM 0

# What speaks another protocol is cut off, and the service goes on.
start
python3 - "$at" <<'PYTHON' || fail "the service and strangers"
import socket, sys
host, port = sys.argv[1].split(":")
PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"
for text in (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", b"\x16\x03\x01\x02\x00" * 50,
             b"\0" * 100, PREFACE + b"\0\0\x08\x06\0\0\0\0\0aaaaaaaa" * 5000):
    s = socket.create_connection((host, int(port)), 60)
    try:
        s.sendall(text)
        while s.recv(65536):
            pass
    except ConnectionError:
        pass
    s.close()
s = socket.create_connection((host, int(port)), 60)
s.sendall(PREFACE)
assert s.recv(9)[3] == 4, "no SETTINGS"
PYTHON
stop TERM 0

# ---- a start that takes long ----------------------------------------------------
# A pipe that nobody writes stands for the minutes that stores and seeds can take.

mkfifo pipe.yaml
for end in TERM:143 INT:130; do
    behind serve.out serve.err env --default-signal "$URLWEIR" serve d \
        --listen 127.0.0.1:0 --http none --crawl pipe.yaml
    service=$!
    waits_for '[ "$(cat d/lock)" = "$service serve" ]' || fail "no lock: $(cat d/lock serve.err)"
    stop "${end%:*}" "${end#*:}"
    says serve.err "ended while it was starting; everything on disk is kept"
done
start
stop TERM 0

# ---- a directory of its own ---------------------------------------------------

mkdir crawl
: >crawl/urlweir-settings.yaml
exits 2 "$URLWEIR" serve crawl --listen 127.0.0.1:0 --http none
says err "holds a crawl"

# ---- who may ------------------------------------------------------------------

for address in 0.0.0.0:0 '[::]:0'; do
    exits 1 "$URLWEIR" serve d --listen "$address" --http none
    says err "--token-file"
done
for address in nonsense 127.0.0.1 :7071 127.0.0.1:x ::1:7071 127.0.0.1:999999; do
    exits 1 "$URLWEIR" serve d --listen "$address" --http none
    says err "--listen"
done
exits 1 "$URLWEIR" serve d --tls-cert x.pem
says err "--tls-key"
exits 1 "$URLWEIR" serve d --client-ca x.pem
says err "--tls-cert"

exits 2 "$URLWEIR" serve d --listen 127.0.0.1:0 --http none --token-file missing
says err "cannot read the token file"
says err "urlweir serve: cannot start, see above"
echo "root 0123456789abcdef" >tokens
exits 2 "$URLWEIR" serve d --listen 127.0.0.1:0 --http none --token-file tokens
says err "line=1"
exits 2 "$URLWEIR" serve d --listen 127.0.0.1:0 --http none --tls-cert tokens --tls-key tokens
says err 'cannot use the TLS certificate path="tokens" why="no start line"'
exits 2 "$URLWEIR" serve d --listen 127.0.0.1:0 --http none --tls-cert missing --tls-key tokens
says err 'cannot use the TLS certificate path="missing" why="No such file or directory"'

# What a process of a cluster cannot have is refused by name, before any broker is asked.
exits 1 "$URLWEIR" serve c --shards 4
says err "needs --cluster"
exits 1 "$URLWEIR" serve c --cluster redis://127.0.0.1/name
says err "kafka://"
cluster="--cluster kafka://127.0.0.1:1/name"
exits 1 "$URLWEIR" serve c $cluster --http none
says err "other processes ask"
exits 1 "$URLWEIR" serve c $cluster --http 0.0.0.0:0 --allow-open
says err "the address by which other processes reach this one"
exits 1 "$URLWEIR" serve c $cluster --crawl c.yaml
says err "there are no crawls and no filters"
[ ! -e c ] || fail "something was written: $(ls c)"

echo "admin 0123456789abcdef" >tokens
start --listen 0.0.0.0:0 --token-file tokens --verbose
kill -HUP "$service"
waits_for 'grep -q "read again" serve.err' || fail "SIGHUP: $(cat serve.err)"
echo nonsense >tokens
kill -HUP "$service"
waits_for 'grep -q "the old values stay" serve.err' || fail "SIGHUP: $(cat serve.err)"
stop TERM 0
start --listen 0.0.0.0:0 --allow-open
stop TERM 0

# ---- standard files that whoever started it had closed --------------------------------
# No file or socket of its own takes their place, and with it what is printed.

"$URLWEIR" serve d --verbose --listen 127.0.0.1:0 --http none <&- >&- 2>&- &
service=$!
waits_for '[ -S d/control ]' || fail "no service: $(ls d)"
for n in 0 1 2; do
    [ "$(readlink "/proc/$service/fd/$n")" = /dev/null ] ||
        fail "descriptor $n is $(readlink "/proc/$service/fd/$n")"
done
: >serve.err
stop TERM 0
