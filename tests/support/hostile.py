"""Hostile clients of `urlweir serve`, many at once, for tests/cli/serve-stress.sh.

usage: hostile.py HTTP GRPC PID WEB ROUNDS SEED [CERTIFICATES]

HTTP and GRPC are its addresses, PID its process, WEB the seed of its crawls.
With CERTIFICATES, pairs NAME.pem and NAME.key joined by commas, it is asked over
TLS, and its files live.pem and live.key are changed and SIGHUP sent meanwhile.

Each kind of client below goes on until the service has gone. When each has had
its way ROUNDS times, "enough" is printed: whoever started this may then stop
the service while all of that goes on. Ends with 1 where it has gone before. On
SIGUSR1 it says how far each has come.
"""
import http.client
import json
import os
import random
import shutil
import signal
import socket
import ssl
import struct
import sys
import threading
import time

HTTP, GRPC = [(a.rsplit(":", 1)[0], int(a.rsplit(":", 1)[1])) for a in sys.argv[1:3]]
PID, WEB, ROUNDS, SEED = int(sys.argv[3]), sys.argv[4], int(sys.argv[5]), sys.argv[6]
CERTIFICATES = sys.argv[7].split(",") if len(sys.argv) > 7 else []

GONE = threading.Event()
done = {}  # times each kind had its way
lock = threading.Lock()

Trouble = (OSError, http.client.HTTPException, ValueError)  # ssl's are OSErrors


def wrapped(s, protocol):
    if not CERTIFICATES:
        return s
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    context.set_alpn_protocols([protocol])
    return context.wrap_socket(s)


def dial(to=HTTP, protocol="http/1.1", room=None, plain=False):
    """A connection; `room` octets of receive buffer."""
    s = socket.socket()
    try:
        if room:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        s.settimeout(30)  # also for the handshake, among all the others'
        s.connect(to)
        return s if plain else wrapped(s, protocol)
    except BaseException:
        s.close()
        raise


def leave(s, r):
    """In one of the ways in which callers do."""
    how = r.randrange(3)
    try:
        if how == 0:  # a reset
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        elif how == 1:  # half of it
            s.shutdown(socket.SHUT_WR)
            time.sleep(r.random() / 50)
    except OSError:
        pass
    s.close()


def request(method, path, body=None):
    head = "%s %s HTTP/1.1\r\nHost: localhost\r\n" % (method, path)
    if body is not None:
        head += "Content-Type: application/json\r\nContent-Length: %d\r\n" % len(body)
    return (head + "\r\n" + (body or "")).encode()


def url(r):
    return "http://h%d.test/%d%s" % (r.randrange(20), r.randrange(100000), "x" * r.randrange(600))


# ---- HTTP ----------------------------------------------------------------------


def half_requests(r):
    whole = request("POST", "/v1/urls", json.dumps([{"url": url(r)} for _ in range(40)]))
    s = dial(plain=r.random() < 0.1)
    cut = r.randrange(len(whole) + 1)
    s.sendall(whole[:cut])
    if r.random() < 0.5:
        time.sleep(r.random() / 10)
        s.sendall(whole[cut : cut + r.randrange(len(whole))])
    leave(s, r)


def nonsense(r):
    s = dial(plain=r.random() < 0.5)
    s.sendall(bytes(r.randrange(256) for _ in range(r.randrange(1, 300))))
    leave(s, r)


def answers_cut(r):
    """Much is asked for, a little is taken."""
    s = dial(room=r.choice([2048, 65536]))
    for _ in range(r.randrange(1, 4)):  # and behind one another
        path = r.choice(["/metrics", "/openapi.json", "/", "/v1/crawls", "/v1/stats",
                         "/v1/queues?size=1000", "/v1/crawls/%s" % crawl(r)])
        s.sendall(request("GET", path))
    s.recv(r.randrange(1, 5000))
    leave(s, r)


def slow_readers(r):
    s = dial(room=2048)
    s.sendall(request("GET", "/openapi.json") * 3)
    for _ in range(r.randrange(30)):
        if not s.recv(500):
            break
        time.sleep(0.01)
    leave(s, r)


def events(r):
    s = dial()
    s.sendall(request("GET", "/v1/events"))
    if r.random() < 0.7:
        s.recv(1000)
    if r.random() < 0.1:
        for _ in range(3):
            s.recv(10000)
    leave(s, r)


def reports(r):
    s = dial(room=r.choice([2048, 65536]))
    s.settimeout(1)
    what, body = r.choice([("audit", {}), ("status", {}), ("export", {}),
                           ("export", {"what": "hosts"}), ("export", {"what": "pages"}),
                           ("explain", {"url": WEB})])
    s.sendall(request("POST", "/v1/crawls/%s/%s" % (crawl(r), what), json.dumps(body)))
    if r.random() < 0.6:
        time.sleep(r.random() / 4)
    else:
        if b" 200 " not in s.recv(2000):
            s.close()
            raise ValueError("no report")
        for _ in range(r.randrange(20)):
            if not s.recv(r.randrange(1, 4000)):
                break
    leave(s, r)


def leases(r):
    s = dial()
    s.settimeout(30)
    s.sendall(request("POST", "/v1/urls", json.dumps([{"url": url(r)} for _ in range(20)])))
    s.recv(10000)
    where = r.choice([{}, {"crawl": "DEFAULT"}, {"crawl": crawl(r)}])
    s.sendall(request("POST", "/v1/lease", json.dumps(
        dict(where, max_queues=r.randrange(10), lease_seconds=1))))
    if r.random() < 0.3:
        s.recv(1000)
    leave(s, r)


def crawl(r):
    return "c%d" % r.randrange(6)


def call(method, path, body=None):
    connection = http.client.HTTPConnection(*HTTP, timeout=120)
    connection.sock = dial()
    connection.sock.settimeout(120)
    try:
        connection.request(method, path, None if body is None else json.dumps(body),
                           {} if body is None else {"Content-Type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        if answer.status >= 300:
            raise ValueError(answer.status)
    finally:
        connection.close()


def crawls_made(r):
    """One is made, or the one that is there is taken away."""
    name = crawl(r)
    try:
        call("POST", "/v1/crawls", {"name": name, "seeds": [WEB], "settings": {
            "allow-private": True, "delay": "0", "sitemap": "off", "threads": 1,
            "min-disk": "0", "checkpoint": "1s"}})
    except ValueError:
        call("DELETE", "/v1/crawls/" + name)
        raise


def crawls_told(r):
    at = "/v1/crawls/" + crawl(r)
    verb = r.choice(["pause", "unpause", "stop", "resume", "seeds", "hosts", "recent", "settings"])
    if verb == "seeds":
        call("POST", at + "/seeds", {"urls": [WEB + "?%d" % r.randrange(1000)]})
    elif verb == "settings" and r.random() < 0.5:
        call("PATCH", at + "/settings", {"delay": "%dms" % r.randrange(3)})
    elif verb in ("hosts", "recent", "settings"):
        call("GET", at + "/" + verb)
    else:
        call("POST", at + "/" + verb, {})


# ---- gRPC, frame by frame (RFC 9113) -------------------------------------------

DATA, HEADERS, RST_STREAM, SETTINGS, WINDOW_UPDATE, END_STREAM, END_HEADERS = 0, 1, 3, 4, 8, 1, 4


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def field(name, value):
    """A literal that is not indexed, without Huffman code (RFC 7541 section 6.2.2)."""
    return (b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode())


def head(stream, method, timeout=None):
    block = (field(":method", "POST") + field(":scheme", "http") + field(":authority", "a") +
             field(":path", "/urlfrontier.URLFrontier/" + method) +
             field("content-type", "application/grpc") + field("te", "trailers"))
    if timeout:
        block += field("grpc-timeout", timeout)
    return frame(HEADERS, END_HEADERS, stream, block)


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def member(number, octets):
    return bytes([number << 3 | 2]) + varint(len(octets)) + octets


def message(octets):
    return b"\0" + struct.pack(">I", len(octets)) + octets


def put(r):
    info = member(1, url(r).encode())
    if r.random() < 0.3:  # a name that is theirs, unless a crawl has it first
        info += member(4, b"c%d" % r.randrange(2))
    return message(member(1, member(1, info)))


def preface(window):
    return (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" +
            frame(SETTINGS, 0, 0, struct.pack(">HI", 4, window)) +
            frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1 << 30)))


def grpc_streams(r):
    """Several on one connection, some ended by a reset in the middle of a message."""
    s = dial(GRPC, "h2", room=r.choice([2048, 65536]))
    s.sendall(preface(r.choice([0, 100, 1 << 20])))
    for stream in range(1, 2 * r.randrange(2, 12), 2):
        method, body = r.choice([
            ("PutURLs", b"".join(put(r) for _ in range(r.randrange(1, 200)))),
            ("PutDiscovered", message(member(1, b"id") + member(2, member(1, url(r).encode())))),
            ("GetURLs", message(b"\x10" + varint(r.randrange(1, 50)) + b"\x20\x01")),
            ("GetURLs", message(member(6, crawl(r).encode()) + b"\x20\x01")),
            ("ListURLs", message(b"")), ("ListCrawls", message(b"")), ("GetStats", message(b"")),
        ])
        out = head(stream, method, r.choice([None, "1m", "50m"]))
        if r.random() < 0.4:
            body = body[: r.randrange(len(body) + 1)]
            out += frame(DATA, 0, stream, body[:16000])
            if r.random() < 0.7:
                out += frame(RST_STREAM, 0, stream, struct.pack(">I", 8))
        else:
            out += frame(DATA, END_STREAM if r.random() < 0.8 else 0, stream, body[:16000])
        s.sendall(out)
    for _ in range(r.randrange(4)):
        s.settimeout(0.3)
        if not s.recv(5000):
            break
    leave(s, r)


def grpc_deaf(r):
    """Lists, more than sockets hold; behind them acknowledgements that cannot be
    sent when their deadlines come, while more of them are on their way."""
    s = dial(GRPC, "h2", room=2048)
    s.settimeout(5)
    s.sendall(preface(1 << 30))
    puts = range(41, 61, 2)
    for stream in range(1, 41, 2):
        s.sendall(head(stream, "ListURLs") +
                  frame(DATA, END_STREAM, stream, message(b"\x10" + varint(100000))))
    for stream in puts:
        s.sendall(head(stream, "PutURLs", "%dm" % r.randrange(100, 500)))
    until = time.monotonic() + 0.5
    while time.monotonic() < until:
        for stream in puts:
            s.sendall(frame(DATA, 0, stream, put(r)))
    leave(s, r)
    time.sleep(2)  # without an end, nobody else would get through


def heads_dribbled(r):
    s = dial()
    s.sendall(b"GET /v1/stats HTTP/1.1\r\nHost: localhost\r\n")
    for _ in range(r.randrange(20)):
        s.sendall(b"X-Slow: yes\r\n")
        time.sleep(0.01)
    leave(s, r)


def read_in_two_ways(r):
    body = r.choice([b"Content-Length: 2\r\nContent-Length: 90", b"Host: other.test",
                     b"Content-Length: 2\r\nTransfer-Encoding: chunked", b"Transfer-Encoding : chunked",
                     b"Transfer-Encoding: chunked, chunked"])
    s = dial()
    s.sendall(b"POST /v1/lease HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
              body + b"\r\n\r\n2\r\n{}\r\n0\r\n\r\n")
    got = s.recv(100)
    if got and b" 400 " not in got:
        raise AssertionError(got)
    leave(s, r)


def grpc_floods(r):
    """Frames that say nothing, until GOAWAY or the end of the connection."""
    s = dial(GRPC, "h2")
    s.sendall(preface(65535) + head(1, "PutURLs"))
    stream = r.choice([0, 1])
    s.sendall(r.choice([
        frame(WINDOW_UPDATE, 0, stream, b"\0\0\0\1"), frame(0xbb, 3, stream, b"what"),
        frame(2, 0, 3, b"\0\0\0\0\1"), frame(6, r.choice([0, 1]), 0, b"12345678"), frame(SETTINGS, 0, 0),
        frame(DATA, 0, 1), frame(HEADERS, 0, 3) + frame(9, 0, 3) * 20,
        frame(7, 0, 0, b"\0" * 8),
    ]) * 4000)
    while s.recv(5000):
        pass
    leave(s, r)


def grpc_watches(r):
    """Of its health, on many streams; some never say for what."""
    s = dial(GRPC, "h2")
    s.sendall(preface(65535))
    for stream in range(1, 2 * r.randrange(2, 200), 2):
        out = head(stream, "Watch").replace(
            field(":path", "/urlfrontier.URLFrontier/Watch"), field(":path", "/grpc.health.v1.Health/Watch"))
        out = struct.pack(">I", len(out) - 9)[1:] + out[3:]
        s.sendall(out + (frame(DATA, END_STREAM, stream, message(b"")) if r.random() < 0.9 else b""))
    s.recv(r.randrange(1, 5000))
    leave(s, r)


def grpc_nonsense(r):
    s = dial(GRPC, "h2")
    s.sendall(preface(65535) + head(1, "PutURLs"))
    s.sendall(bytes(r.randrange(256) for _ in range(r.randrange(1, 200))))
    leave(s, r)


# ---- certificates --------------------------------------------------------------


def reloads(r):
    name = r.choice(CERTIFICATES)
    for ending in (".pem", ".key"):  # a pair that does not fit, for a while
        shutil.copy(name + ending, "new" + ending)
        os.rename("new" + ending, "live" + ending)
        if r.random() < 0.3:
            os.kill(PID, signal.SIGHUP)
    os.kill(PID, signal.SIGHUP)
    time.sleep(0.02)


def handshakes(r):
    s = dial(plain=True, to=r.choice([HTTP, GRPC]))
    if r.random() < 0.5:  # the beginning of one
        s.sendall(b"\x16\x03\x01" + struct.pack(">H", r.randrange(600)) + b"\x01")
    leave(s, r)


# ---- all of them ---------------------------------------------------------------

KINDS = [half_requests, half_requests, nonsense, answers_cut, slow_readers, events, events,
         reports, reports, leases, leases, crawls_made, crawls_told, crawls_told, grpc_streams, grpc_streams,
         grpc_streams, grpc_deaf, grpc_nonsense, heads_dribbled, read_in_two_ways, grpc_floods,
         grpc_watches]
if CERTIFICATES:
    KINDS += [reloads, handshakes]


def go_on(kind, r):
    while not GONE.is_set():
        try:
            kind(r)
            with lock:
                done[kind.__name__] += 1
            time.sleep(0.005)
        except ProcessLookupError:
            GONE.set()
        except ConnectionRefusedError:
            time.sleep(0.02)  # it stops
        except Trouble:
            time.sleep(0.001)


def enough():
    with lock:
        return all(n >= ROUNDS for n in done.values())


def is_there():
    try:
        os.kill(PID, 0)
        return True
    except ProcessLookupError:
        return False


def main():
    for kind in KINDS:
        done[kind.__name__] = 0
    signal.signal(signal.SIGUSR1, lambda *_: print(done, flush=True))
    threads = [threading.Thread(target=go_on, args=(k, random.Random("%s %d" % (SEED, i))),
                                daemon=True) for i, k in enumerate(KINDS)]
    for t in threads:
        t.start()
    while is_there() and not enough():
        time.sleep(0.05)
    print("enough" if enough() else "the service has gone", done, flush=True)
    while is_there():
        time.sleep(0.05)
    GONE.set()
    # Not by way of the interpreter's end: threads are still within OpenSSL.
    os._exit(0 if enough() else 1)


if __name__ == "__main__":
    main()
