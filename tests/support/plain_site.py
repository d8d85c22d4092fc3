#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small sites with answers of one's own: status, headers, bodies of any size.

    plain_site.py [--port N] DIR LOG [ADDRESS...]

Serves DIR/ADDRESS/ at each loopback address ([127.0.0.1]), all on one port,
which is printed ("port N") once it listens. A file NAME.head beside NAME holds
its status ("404"), then header lines; without it a file is 200 with a type by
its name. A head with an ETag is answered with 304 if the request has that one
(If-None-Match). A file NAME.nohead holds the status that HEAD is answered with
instead. A file NAME.after holds lines of LOG: NAME is answered once they are
there. In heads and in text bodies @PORT@ is the port. Each request is a line
"ADDRESS PATH" of LOG ("ADDRESS HEAD PATH"), written at once, and "MILLISECONDS ADDRESS" of LOG.times,
its arrival, and its headers are lines "ADDRESS PATH Name: value" of LOG.headers.
With CERT and KEY in the environment, files in PEM, it is a site of https; with
CA too, clients are asked for a certificate, and "Client-Certificate: CN" stands
among the headers of those that show one. Ends with SIGTERM.
"""
import http.server
import os
import socketserver
import ssl
import sys
import threading
import time

TYPES = {".html": "text/html", ".xml": "application/xml", ".css": "text/css",
         ".txt": "text/plain", ".gz": "application/gzip",
         ".svg": "image/svg+xml", ".png": "image/png",
         ".js": "text/javascript", ".rss": "application/rss+xml"}
SMALL = 1 << 20  # larger bodies are sent as they are


def tls():
    if "CERT" not in os.environ:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.environ["CERT"], os.environ["KEY"])
    if "CA" in os.environ:
        context.load_verify_locations(os.environ["CA"])
        context.verify_mode = ssl.CERT_OPTIONAL
    return context


TLS = tls()


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def server_bind(self):
        """Without asking a name server for the address's name, as HTTPServer's does."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def get_request(self):
        sock, peer = super().get_request()
        if TLS is not None:
            sock = TLS.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
        return sock, peer

    def handle_error(self, request, client_address):
        """A client that gives up, or does not trust us, is no news."""


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def body(self, path, port):
        if os.path.getsize(path) > SMALL or path.endswith((".gz", ".png")):
            return None
        with open(path, "rb") as f:
            return f.read().replace(b"@PORT@", str(port).encode())

    def head(self, path):
        status, headers = 200, {}
        if os.path.exists(path + ".head"):
            with open(path + ".head") as f:
                lines = f.read().split("\n")
            status = int(lines[0])
            for line in lines[1:]:
                if ":" in line:
                    name, value = line.split(":", 1)
                    headers.setdefault(name, []).append(value.strip())
        return status, headers

    def wait_for_others(self, path):
        if not os.path.exists(path + ".after"):
            return
        with open(path + ".after") as f:
            wanted = set(f.read().splitlines())
        while True:
            with open(self.server.site[1].name) as log:
                if wanted <= set(log.read().splitlines()):
                    return
            time.sleep(0.02)

    def log_headers(self, out):
        request = "%s %s" % (self.server.server_address[0], self.path)
        for name, value in self.headers.items():
            out.write("%s %s: %s\n" % (request, name, value))
        shown = TLS is not None and self.connection.getpeercert()
        if shown:
            names = dict(pair for rdn in shown["subject"] for pair in rdn)
            out.write("%s Client-Certificate: %s\n" % (request, names["commonName"]))
        out.flush()

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        root, log, times, heads, lock = self.server.site
        arrived = time.monotonic() * 1000
        port = self.server.server_address[1]
        name = self.path.split("?")[0]
        path = root + (name + "index.html" if name.endswith("/") else name)
        with lock:
            self.log_headers(heads)
            log.write("%s %s%s\n" % (self.server.server_address[0],
                                     "HEAD " if self.command == "HEAD" else "", self.path))
            log.flush()
            times.write("%.3f %s\n" % (arrived, self.server.server_address[0]))
            times.flush()
        self.wait_for_others(path)
        status, headers = self.head(path)
        if not os.path.isfile(path) and status == 200:
            status = 404
        if self.command == "HEAD" and os.path.exists(path + ".nohead"):
            with open(path + ".nohead") as f:
                status = int(f.read())
        data = self.body(path, port) if os.path.isfile(path) else b""
        if status == 200 and self.headers.get("If-None-Match") in headers.get("ETag", []):
            status, data = 304, b""
        size = os.path.getsize(path) if data is None else len(data)
        self.send_response(status)
        suffix = os.path.splitext(path)[1]
        if "Content-Type" not in headers:
            self.send_header("Content-Type", TYPES.get(suffix, "text/plain"))
        for field, values in headers.items():
            for value in values:
                self.send_header(field, value.replace("@PORT@", str(port)))
        self.send_header("Content-Length", str(size))
        self.end_headers()
        if self.command == "HEAD":
            return
        if data is not None:
            self.wfile.write(data)
        else:
            with open(path, "rb") as f:
                while chunk := f.read(1 << 16):
                    self.wfile.write(chunk)


def listen(addresses, wanted):
    """A server at each, all on one port, `wanted` if it is not 0: what is free on the first may be taken on
    another, so it is tried a few times."""
    for tries_left in range(19, -1, -1):
        servers, port = [], wanted
        try:
            for address in addresses:
                servers.append(Server((address, port), Handler))
                port = servers[0].server_port
            return servers
        except OSError:
            for server in servers:
                server.server_close()
            if tries_left == 0:
                raise


def main():
    args = sys.argv[1:]
    port = int(args[1]) if args[0] == "--port" else 0
    directory, log = args[2:4] if port else args[0:2]
    lock = threading.Lock()
    servers = listen(args[4 if port else 2:] or ["127.0.0.1"], port)
    with open(log, "a") as out, open(log + ".times", "a") as times, \
            open(log + ".headers", "a") as heads:
        for server in servers:
            server.site = ("%s/%s" % (directory, server.server_name), out, times, heads, lock)
        print("port %d" % servers[0].server_port, flush=True)
        for server in servers[1:]:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        servers[0].serve_forever()


main()
