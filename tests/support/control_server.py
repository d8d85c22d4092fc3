#!/usr/bin/env python3
"""A process that holds a directory and answers on its control socket, wrongly: control_server.py DIR MODE

With `tcp` for DIR it listens on loopback instead and prints its port. GET /v1/crawls is answered soundly, except in the
modes that say otherwise; every POST is answered as MODE has it. The requests' first lines and tokens go to `requests`.
"""
import fcntl
import json
import os
import socket
import sys
import time

where, mode = sys.argv[1:]

OWN = {"name": "news", "kind": "own", "state": "paused", "pages": 1200, "queued": 7, "transfers": 0}
SERVED = {"name": "DEFAULT", "kind": "served"}
LISTS = {
    "none": [SERVED],
    "two": [OWN, dict(OWN, name="shop"), SERVED],
    "odd": [dict(OWN, name="a\x1b[2J\n/%")],
}


def answer(status, body, kind="application/json"):
    if not isinstance(body, bytes):
        body = json.dumps(body).encode()
    return b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s" % (
        status.encode(), kind.encode(), len(body), body)


def problem(status, detail):
    return answer(status, {"type": "about:blank", "title": "x", "detail": detail}, "application/problem+json")


MODES = {
    "ok": lambda: answer("200 OK", OWN),
    "two": lambda: answer("200 OK", OWN),
    "none": lambda: answer("200 OK", OWN),
    "odd": lambda: answer("200 OK", dict(OWN, state="\x1b]0;x\x07")),
    "conflict": lambda: problem("409 Conflict", "the crawl is stopped"),
    "escape": lambda: problem("400 Bad Request", "\x1b[31mred\nline"),
    "token": lambda: problem("401 Unauthorized", "this needs a token"),
    "role": lambda: problem("403 Forbidden", "this needs a token with the role write"),
    "html": lambda: answer("404 Not Found", b"<h1>nginx</h1>", "text/html"),
    "garbage": lambda: answer("200 OK", b"\x00\xff{"),
    "array": lambda: answer("200 OK", []),
    "moved": lambda: b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
    "nothttp": lambda: b"220 mail.example ESMTP\r\n",
    "close": lambda: b"",
    "half": lambda: b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{",
    "seeds": lambda: answer("200 OK", {"results": [{"url": "http://a/", "status": "ok"},
                                                   {"url": "http://b/\t\x1b", "status": "what", "reason": "no\x07"}]}),
}


def listen():
    if where == "tcp":
        s = socket.create_server(("127.0.0.1", 0))
        print(s.getsockname()[1], flush=True)
        return s, None
    lock = open(os.path.join(where, "lock"), "w")
    fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    lock.write("%d %s\n" % (os.getpid(), "serve" if mode == "none" else "crawl"))
    lock.flush()
    s = socket.socket(socket.AF_UNIX)
    os.chdir(where)
    if os.path.exists("control"):
        os.unlink("control")
    s.bind("control")
    s.listen(16)
    print("ready", flush=True)
    return s, lock


def read_request(c):
    got = b""
    while b"\r\n\r\n" not in got:
        piece = c.recv(65536)
        if not piece:
            return None
        got += piece
    head, _, body = got.partition(b"\r\n\r\n")
    length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0)
    while len(body) < length:
        body += c.recv(65536)
    return head.decode(), body.decode()


def serve(c):
    while True:
        request = read_request(c)
        if request is None:
            return
        head, body = request
        with open(requests, "a") as f:
            token = next((line for line in head.split("\r\n") if line.startswith("Authorization")), "no token")
            f.write("%s; %s; %s\n" % (head.split("\r\n")[0], token, body))
        if head.startswith("GET /v1/stats"):
            c.sendall(answer("200 OK", {"queues": 0 if "nowhere" in head else 1}))
        elif head.startswith("GET"):
            c.sendall(answer("200 OK", {"crawls": LISTS.get(mode, [OWN])}))
        elif mode == "slow":
            time.sleep(5)
        elif mode == "endless":
            c.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                c.sendall(b"[" * 65536)
        else:
            c.sendall(MODES[mode]())
            if mode in ("close", "half", "nothttp"):
                return


requests = os.path.abspath("requests")
listener, held = listen()
while True:
    connection, _ = listener.accept()
    try:
        serve(connection)
    except OSError:
        pass
    connection.close()
