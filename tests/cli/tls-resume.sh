#!/bin/sh
# If a server closes its connections, the next one resumes the TLS session: one
# full handshake for each host, with TLS 1.3 and 1.2, also if the server has no
# cache of sessions and relies on tickets, with certificates that are checked. A
# session is never used for another host, and a certificate that is not valid
# for a host is refused whatever was resumed before.
# Promise (Fetching): a connection resumes the TLS session of the last
#   connection to its origin, never another's; untrusted certificates stay
#   refused; the authorities are read once. See also `tls_sessions`.
set -eu
. "$TOP/tests/cli/lib.sh"

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem \
    -out cert.pem -days 2 -subj /CN=test -addext "subjectAltName=DNS:*.hosts.test" 2>openssl.err ||
    fail "openssl: $(cat openssl.err)"
cat >server.py <<'END'
# server.py VERSION [forgets]: a page for each connection, which it then closes.
# Logs the host, and whether its handshake was resumed. Each connection has a
# thread or, if the server forgets, a process, whose sessions go with it.
import os, signal, socket, ssl, sys, threading
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain("cert.pem", "key.pem")
context.maximum_version = context.minimum_version = getattr(ssl.TLSVersion, sys.argv[1])
def serve(raw):
    try:
        with context.wrap_socket(raw, server_side=True) as s:
            head = b""
            while b"\r\n\r\n" not in head:
                got = s.recv(4096)
                if not got:
                    return
                head += got
            path = head.split()[1].decode()
            host = [x[6:] for x in head.decode().split("\r\n") if x.lower().startswith("host:")][0]
            how = "resumed" if s.session_reused else "full"
            os.write(1, f"{host.split(':')[0]} {how}\n".encode()) # whole lines, from any thread
            body = b"<a href=/%d>next</a>" % (int(path[1:] or 0) + 1) if len(path) < 2 or int(path[1:]) < 3 else b"end"
            s.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
                      b"Content-Length: %d\r\n\r\n" % len(body) + body)
            s.unwrap()
    except OSError:
        pass
listener = socket.create_server(("127.0.0.1", 0), backlog=256)
print("port", listener.getsockname()[1], flush=True)
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
while True:
    raw = listener.accept()[0]
    if len(sys.argv) == 2:
        threading.Thread(target=serve, args=(raw,), daemon=True).start()
    elif os.fork() == 0:
        serve(raw)
        os._exit(0)
    else:
        raw.close()
END

hosts=8
# resumes VERSION DIR OPTION...: $hosts hosts of 4 pages each.
resumes() {
    version=$1 dir=$2
    shift 2
    # shellcheck disable=SC2086
    behind server.log server.err python3 server.py $version
    server=$!
    waits_for 'grep -q "^port" server.log' || fail "no server: $(cat server.err)"
    port=$(sed -n 's/^port //p' server.log)
    {
        echo "resolve:"
        for i in $(seq $hosts); do echo "  - h$i.hosts.test:$port:127.0.0.1"; done
        echo "  - other.test:$port:127.0.0.1"
    } >hosts.yaml
    for i in $(seq $hosts); do echo "https://h$i.hosts.test:$port/"; done >seeds
    # shellcheck disable=SC2086
    exits "${status_wanted:-0}" ${trace:-} "$URLWEIR" crawl -C hosts.yaml -i seeds -o "$dir" --allow-private \
        --robots off --sitemap off --delay 50ms --conns-per-ip 0 --min-disk 0 --threads 2 \
        --progress json "$@"
    cp err said
    kill "$server"
    wait "$server" 2>/dev/null || :
    exits 0 "$URLWEIR" status "$dir" --json
    says out "\"fetched\": $((4 * hosts))"
}

for version in TLSv1_3 TLSv1_2 "TLSv1_2 forgets"; do
    resumes "$version" "$version" --cacert cert.pem
    full=$(grep -c ' full' server.log || :)
    [ "$full" = $hosts ] || fail "$version: $full full handshakes with $hosts hosts"
    [ "$(grep -c ' resumed' server.log)" = $((3 * hosts)) ] || fail "$version: $(cat server.log)"
    [ "$(grep ' full' server.log | sort -u | wc -l)" = $hosts ] ||
        fail "$version: a session of another host was resumed"
    grep -q "\"handshakes\": *$((4 * hosts))[,}]" said || fail "not counted: $(tail -n 1 said)"
    grep -q "\"handshakes_resumed\": *$((3 * hosts))[,}]" said || fail "not counted: $(tail -n 1 said)"
done

# Nobody vouches for it: no handshake, so no session either.
status_wanted=5
if (resumes TLSv1_3 refused) 2>/dev/null; then fail "a certificate nobody vouches for passed"; fi
grep -q 'resumed' server.log && fail "resumed: $(cat server.log)"
exits 0 "$URLWEIR" export refused --what errors
[ "$(grep -c '"reason": *"tls"' out)" = $hosts ] || fail "other errors: $(cat out)"

# Each fetcher reads the authorities once, not once for each connection.
status_wanted=0
if strace -qq -o /dev/null true 2>/dev/null; then
    trace="strace -f -qq -e trace=openat -o opened"
    resumes TLSv1_3 traced --cacert cert.pem --sandbox off
    read=$(grep -c cert.pem opened || :)
    [ "$read" -ge 1 ] || fail "the file of authorities was not seen"
    [ "$read" -le 4 ] || fail "the file of authorities was read $read times"
fi
