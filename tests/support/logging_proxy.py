#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A proxy that is asked for anything and asks nobody.

    logging_proxy.py RULES LOG

Listens on 127.0.0.1 and prints its port ("port N"). Each request is a line
"METHOD URL" of LOG, written at once. RULES has lines "URL STATUS TEXT": TEXT is
the Location of a redirect, else the body, as text/html, but that of a robots.txt
as text/plain with `|` for new lines. Other URLs are answered 200 with "SECRET",
other methods 502. Ends with SIGTERM.
"""
import http.server
import socketserver
import sys
import threading


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def server_bind(self):
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def note(self):
        with self.server.lock:
            self.server.log.write("%s %s\n" % (self.command, self.path))
            self.server.log.flush()

    def answer(self, status, headers, body):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.note()
        status, text = self.server.rules.get(self.path, (200, "SECRET"))
        if 300 <= status < 400:
            self.answer(status, {"Location": text}, b"")
        elif self.path.endswith("/robots.txt"):
            self.answer(status, {"Content-Type": "text/plain"},
                        text.replace("|", "\n").encode())
        else:
            self.answer(status, {"Content-Type": "text/html"}, text.encode())

    def do_CONNECT(self):
        self.note()
        self.answer(502, {}, b"")


def main():
    rules = {}
    with open(sys.argv[1]) as f:
        for line in f:
            url, status, text = (line.rstrip("\n") + "  ").split(" ", 2)
            rules[url] = int(status), text.strip()
    server = Server(("127.0.0.1", 0), Handler)
    server.rules, server.lock = rules, threading.Lock()
    server.log = open(sys.argv[2], "a")
    print("port", server.server_port, flush=True)
    server.serve_forever()


main()
