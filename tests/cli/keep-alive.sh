#!/bin/sh
# Servers keep connections as they please: for long, for a moment, for one
# response, or until GOAWAY. All pages come, no URL fails for it, each is asked
# for once, and hosts are shown with the connections, TLS handshakes and kept
# ones that the server saw. A certificate for another name is refused.
set -eu
. "$TOP/tests/cli/lib.sh"

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout key.pem \
    -out cert.pem -days 2 -subj /CN=test -addext "subjectAltName=DNS:*.hosts.test" 2>openssl.err ||
    fail "openssl: $(cat openssl.err)"
cat >server.py <<'END'
# Six pages a host, with TLS if its name is sent. What happens to a connection
# is said by the host's name:
#   keep    it stays open
#   close   one response, with "Connection: close"
#   drop    one response, and an end that no header announces
#   short   closed a tenth of a second after a response
#   goaway  HTTP/2, GOAWAY after two streams
import os, socket, ssl, struct, threading
pages = 6
page = b"".join(b"<a href=/%d>next</a>" % i for i in range(1, pages + 1))
def context(protocols):
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    c.load_cert_chain("cert.pem", "key.pem")
    c.set_alpn_protocols(protocols)
    return c
old, new, names = context(["http/1.1"]), context(["h2"]), {}
def named(s, name, _):
    s.context = new if (name or "").startswith("goaway") else old
    names[threading.get_ident()] = name or "-"
old.sni_callback = named
def log(*words):
    os.write(1, (" ".join(words) + "\n").encode())
def http1(s, host):
    while True:
        head = b""
        while b"\r\n\r\n" not in head:
            got = s.recv(4096)
            if not got:
                return
            head += got
        if host is None:
            host = [l[6:].split(":")[0] for l in head.decode().split("\r\n") if l.lower().startswith("host:")][0]
            log("connection", host)
        log("request", host, head.split()[1].decode())
        closes = b"Connection: close\r\n" if host.startswith("close") else b""
        s.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n%sContent-Length: %d\r\n\r\n" % (closes, len(page)) + page)
        if host.startswith(("close", "drop")):
            return
        s.settimeout(0.1 if host.startswith("short") else None)
def frame(kind, flags, stream, body):
    return struct.pack(">I", len(body))[1:] + bytes([kind, flags]) + struct.pack(">I", stream) + body
def http2(s, host):
    log("connection", host)
    data, streams = b"", 0
    s.sendall(frame(4, 0, 0, b""))
    def more(n):
        nonlocal data
        while len(data) < n:
            got = s.recv(4096)
            if not got:
                raise OSError
            data += got
        taken, data = data[:n], data[n:]
        return taken
    more(24) # the preface
    while True:
        head = more(9)
        body = more(int.from_bytes(head[:3], "big"))
        kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big")
        if kind == 4 and not flags & 1:
            s.sendall(frame(4, 1, 0, b""))
        if kind != 1:
            continue
        log("request", host, "stream")
        # :status 200; content-type: text/html, a literal with static name 31
        s.sendall(frame(1, 4, stream, b"\x88\x0f\x10\x09text/html") + frame(0, 1, stream, page))
        streams += 1
        if streams == 2:
            s.sendall(frame(7, 0, 0, struct.pack(">II", stream, 0)))
            s.recv(4096)
            return
def serve(raw):
    try:
        raw.settimeout(20)
        if raw.recv(1, socket.MSG_PEEK) != b"\x16": # no TLS
            http1(raw, None)
            raw.close()
            return
        with old.wrap_socket(raw, server_side=True) as s:
            host = names[threading.get_ident()]
            if s.selected_alpn_protocol() == "h2":
                http2(s, host)
            else:
                log("connection", host)
                http1(s, host)
            if not host.startswith("drop"):
                s.unwrap()
    except OSError:
        pass
listener = socket.create_server(("127.0.0.1", 0), backlog=256)
log("port", str(listener.getsockname()[1]))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
END
behind server.log server.err python3 server.py
waits_for 'grep -q "^port" server.log' || fail "no server: $(cat server.err)"
port=$(sed -n 's/^port //p' server.log)

kinds="keep close drop short"
{
    echo "resolve:"
    for kind in $kinds goaway; do echo "  - $kind.hosts.test:$port:127.0.0.1"; done
    for kind in $kinds; do echo "  - $kind.plain.test:$port:127.0.0.1"; done
    echo "  - wrong.test:$port:127.0.0.1"
} >hosts.yaml
{
    for kind in $kinds goaway; do echo "https://$kind.hosts.test:$port/1"; done
    for kind in $kinds; do echo "http://$kind.plain.test:$port/1"; done
    echo "https://wrong.test:$port/1"
} >seeds
exits 5 "$URLWEIR" crawl -C hosts.yaml -i seeds -o d --cacert cert.pem --allow-private --robots off \
    --sitemap off --delay 1s --conns-per-ip 0 --min-disk 0 --progress none
mv err crawl.err
for what in hosts errors fetches; do
    "$URLWEIR" export d --what $what >$what.jsonl || fail "export --what $what"
done
python3 - <<'END' || fail "the hosts are not as the server saw them"
import collections, json
rows = lambda what: [json.loads(l) for l in open(what + ".jsonl")]
seen, asked = collections.Counter(), collections.Counter()
for line in open("server.log"):
    what, host = line.split()[:2]
    seen[host] += what == "connection"
    asked[host] += what == "request"
hosts = {h["host"].split(":")[0]: h for h in rows("hosts")}
assert len(hosts) == 10, hosts
for name, h in hosts.items():
    got = h["pages"], h["connections"], h["handshakes"], h["kept"]
    if name == "wrong.test":
        assert got == (0, 0, 0, 0) and h["errors"] == 1, h
        continue
    wanted = {"keep": 1, "goaway": 3}.get(name.split(".")[0], 6)
    assert (asked[name], seen[name]) == (6, wanted), (name, asked[name], seen[name])
    tls = wanted if name.endswith("hosts.test") else 0
    assert got == (6, wanted, tls, 6 - wanted), (name, got)
assert [(e["status"], e["reason"]) for e in rows("errors")] == [("failed", "tls")], rows("errors")
assert len(rows("fetches")) == 9 * 6 + 1, len(rows("fetches"))
END
grep -qE "connections +[0-9]+   opened for 5[5-9] requests, 2[23] with TLS \([0-9]+ resumed\)" crawl.err ||
    fail "the summary: $(cat crawl.err)"

# ---- while it runs -------------------------------------------------------------------

echo "http://keep.plain.test:$port/1" >seeds
behind run.out run.err "$URLWEIR" crawl -C hosts.yaml -i seeds -o live --allow-private --robots off \
    --sitemap off --delay 2s --conns-per-ip 0 --min-disk 0 --progress none
shows_kept() {
    "$URLWEIR" status live --hosts >out 2>err && grep -q "keep.plain.test.*, 1 connection, kept for [1-9]" out
}
waits_for shows_kept || fail "status of a running crawl: $(cat out err run.err)"
exits 0 "$URLWEIR" status live --hosts --json
says out '"connections": 1'
exits 0 "$URLWEIR" stop live
exits 0 "$URLWEIR" status live --hosts --json
says out '"connections": null'
