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
import sys
import threading
import time

TYPES = {".html": "text/html", ".xml": "application/xml", ".css": "text/css",
         ".txt": "text/plain", ".gz": "application/gzip",
         ".svg": "image/svg+xml", ".png": "image/png",
         ".js": "text/javascript", ".rss": "application/rss+xml"}
SMALL = 1 << 20  # larger bodies are sent as they are


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


def main():
    directory, log = sys.argv[1:3]
    addresses = sys.argv[3:] or ["127.0.0.1"]
    lock = threading.Lock()
    port, servers = 0, []
    with open(log, "a") as out, open(log + ".times", "a") as times:
        for address in addresses:
            server = http.server.ThreadingHTTPServer((address, port), Handler)
            server.daemon_threads = True
            server.site = ("%s/%s" % (directory, address), out, times, lock)
            port = server.server_address[1]
            servers.append(server)
        print("port %d" % port, flush=True)
        for server in servers[1:]:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        servers[0].serve_forever()


main()
