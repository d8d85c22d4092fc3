"""Connections without a token, and a caller with one among them, for
tests/cli/serve-strangers.sh.

usage: strangers.py HTTP GRPC TOKEN MANY

HTTP and GRPC are the addresses of a service that knows TOKEN. A caller makes a
call on each port and keeps its connections. Then MANY strangers come to each
port and stay for as long as they are let, each in its way. Meanwhile the caller
calls again, on its connections and on new ones. Prints "served" if it was
answered each time; none of that depends on how long anything takes.
"""
import socket
import struct
import sys
import threading

HTTP, GRPC = [(a.rsplit(":", 1)[0], int(a.rsplit(":", 1)[1])) for a in sys.argv[1:3]]
TOKEN, MANY = sys.argv[3], int(sys.argv[4])
WAIT = 60  # for an answer, of a slow machine
GONE = threading.Event()


def frame(kind, flags, stream, payload=b""):
    return struct.pack(">I", len(payload))[1:] + struct.pack(">BBI", kind, flags, stream) + payload


def field(name, value):
    return b"\0" + bytes([len(name)]) + name.encode() + bytes([len(value)]) + value.encode()


HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0)
PING = frame(6, 0, 0, b"12345678")
EMPTY = b"\0" * 5


def head(stream, path, token=None):
    block = (field(":method", "POST") + field(":scheme", "http") + field(":authority", "a") +
             field(":path", path) + field("content-type", "application/grpc"))
    if token:
        block += field("authorization", "Bearer " + token)
    return frame(1, 4, stream, block)


WATCH = "/grpc.health.v1.Health/Watch"
WATCHES = b"".join(head(s, WATCH) + frame(0, 1, s, EMPTY) for s in range(1, 512, 2))

# What a stranger says at first, and what again and again.
HTTP_WAYS = [
    (b"", b""),
    (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n", b"X-Slow: yes\r\n"),
    (b"GET /v1/stats HTTP/1.1\r\nHost: localhost\r\n\r\n", b"G"),
    (b"POST /v1/urls HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n", b"X: y\r\n"),
]
GRPC_WAYS = [
    (b"", b""),
    (b"PRI", b""),
    (HELLO, PING),
    (HELLO + WATCHES, PING),
    (HELLO + frame(1, 0, 1, field(":method", "POST")), b""),
    (HELLO + head(1, "/urlfrontier.URLFrontier/GetStats"), PING),
]


def dial(to):
    s = socket.create_connection(to, WAIT)
    s.settimeout(WAIT)
    return s


def strangers(to, ways):
    there = []
    for i in range(MANY):
        try:
            s = dial(to)
            s.sendall(ways[i % len(ways)][0])
            there.append((s, ways[i % len(ways)][1]))
        except OSError:
            pass
    return there


def insist(there):
    while not GONE.wait(0.2):
        for s, again in there:
            try:
                s.send(again, socket.MSG_DONTWAIT)
            except OSError:
                pass


class Http:
    def __init__(self):
        self.s = dial(HTTP)

    def call(self):
        self.s.sendall(b"GET /v1/stats HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
                       TOKEN.encode() + b"\r\n\r\n")
        got = b""
        while not got.endswith(b"}"):
            more = self.s.recv(10000)
            if not more:
                raise OSError("HTTP: closed")
            got += more
        if not got.startswith(b"HTTP/1.1 200 "):
            raise OSError("HTTP: %r" % got)


class Grpc:
    def __init__(self):
        self.s = dial(GRPC)
        self.s.sendall(HELLO)
        self.stream, self.got = -1, b""

    def read(self, n):
        while len(self.got) < n:
            more = self.s.recv(10000)
            if not more:
                raise OSError("gRPC: closed")
            self.got += more
        out, self.got = self.got[:n], self.got[n:]
        return out

    def call(self):
        """Until the trailers that end it; a message of the answer came before them."""
        self.stream += 2
        self.s.sendall(head(self.stream, "/urlfrontier.URLFrontier/GetStats", TOKEN) +
                       frame(0, 1, self.stream, EMPTY))
        answered = False
        while True:
            h = self.read(9)
            length, kind, flags = int.from_bytes(h[:3], "big"), h[3], h[4]
            self.read(length)
            if int.from_bytes(h[5:], "big") != self.stream:
                continue
            answered = answered or (kind == 0 and length > 0)
            if kind == 3 or (kind == 1 and flags & 1):
                break
        if not answered:
            raise OSError("gRPC: refused")


def main():
    old = [Http(), Grpc()]
    for c in old:
        c.call()
    there = strangers(HTTP, HTTP_WAYS) + strangers(GRPC, GRPC_WAYS)
    threading.Thread(target=insist, args=(there,), daemon=True).start()
    for _ in range(3):
        for c in old + [Http(), Grpc()]:
            c.call()
    there = strangers(HTTP, HTTP_WAYS) + strangers(GRPC, GRPC_WAYS)
    for c in old:
        c.call()
    GONE.set()
    print("served", flush=True)


main()
