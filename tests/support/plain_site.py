#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small sites with answers of one's own: status, headers, bodies of any size.

    plain_site.py DIR LOG [ADDRESS...]

Serves DIR/ADDRESS/ at each loopback address ([127.0.0.1]), all on one port,
which is printed ("port N") once it listens. A file NAME.head beside NAME holds
its status ("404"), then header lines; without it a file is 200 with a type by
its name. In heads and in text bodies @PORT@ is the port. Each request is a line
"ADDRESS PATH" of LOG, written at once, and "MILLISECONDS ADDRESS" of LOG.times,
its arrival. Ends with SIGTERM.
"""
import http.server
import os
import socketserver
import sys
import threading
import time

TYPES = {".html": "text/html", ".xml": "application/xml", ".css": "text/css",
         ".txt": "text/plain", ".gz": "application/gzip",
         ".svg": "image/svg+xml", ".png": "image/png",
         ".js": "text/javascript", ".rss": "application/rss+xml"}
SMALL = 1 << 20  # larger bodies are sent as they are


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def server_bind(self):
        """Without asking a name server for the address's name, as HTTPServer's does."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]


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

    def do_GET(self):
        root, log, times, lock = self.server.site
        arrived = time.monotonic() * 1000
        port = self.server.server_address[1]
        name = self.path.split("?")[0]
        path = root + (name + "index.html" if name.endswith("/") else name)
        with lock:
            log.write("%s %s\n" % (self.server.server_address[0], self.path))
            log.flush()
            times.write("%.3f %s\n" % (arrived, self.server.server_address[0]))
            times.flush()
        status, headers = self.head(path)
        if not os.path.isfile(path) and status == 200:
            status = 404
        data = self.body(path, port) if os.path.isfile(path) else b""
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
        if data is not None:
            self.wfile.write(data)
        else:
            with open(path, "rb") as f:
                while chunk := f.read(1 << 16):
                    self.wfile.write(chunk)


def listen(addresses):
    """A server at each, all on one port: what is free on the first may be taken on
    another, so it is tried a few times."""
    for tries_left in range(19, -1, -1):
        servers, port = [], 0
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
    directory, log = sys.argv[1:3]
    lock = threading.Lock()
    servers = listen(sys.argv[3:] or ["127.0.0.1"])
    with open(log, "a") as out, open(log + ".times", "a") as times:
        for server in servers:
            server.site = ("%s/%s" % (directory, server.server_name), out, times, lock)
        print("port %d" % servers[0].server_port, flush=True)
        for server in servers[1:]:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        servers[0].serve_forever()


main()
