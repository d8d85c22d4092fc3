"""A web on loopback whose pages are known and which notes each request.

Host i has pages p0 .. pN, of which p0 is a seed; page j links to pages 2j+1 and
2j+2 of the next host. So each page is found from one other only, on another
host, and a link that is lost loses what comes after it. Host 0 wants a
Crawl-delay. One more seed redirects to a host that is in scope by that alone,
whose pages link to each other.
"""

import contextlib
import http.server
import os
import threading
import time
import zlib

HOSTS, PAGES, MOVED = 10, 50, 30
DELAY, CRAWL_DELAY = 0.05, 0.15  # s


class HostServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A worker that was killed."""


class Web:
    def __init__(self, pages=PAGES, slow=0, token=None, tags=False, hub=None):
        """`pages` of a host. `slow`: a Crawl-delay of all hosts. `token`: what X-Token
        has to be. `tags`: pages have ETags, and a 304 has no body. `hub`: host and path
        of what all pages but the first of each host link to, which is not there."""
        self.most, self.slow, self.token, self.tags = pages, slow, token, tags
        self.hub = hub
        self.unchanged = []
        self.requests, self.lock = [], threading.Lock()
        self.net = f"127.0.{10 + os.getpid() % 240}."
        self.servers = []
        while not self.listen():
            self.close()

    def listen(self):
        """All hosts on one port; False: another program has it on one of them."""
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                web.answer(self)

            def log_message(self, *_):
                pass

        self.port = 0
        for i in range(HOSTS + 2):
            try:
                s = HostServer((self.address(i), self.port), Handler)
            except OSError:
                return False
            self.port = s.server_address[1]
            self.servers.append(s)
            threading.Thread(target=s.serve_forever, daemon=True).start()
        return True

    def address(self, i):
        return self.net + str(i + 1)

    def url(self, i, path):
        return f"http://{self.address(i)}:{self.port}{path}"

    def delay(self, i):
        return self.slow or (CRAWL_DELAY if i == 0 else DELAY)

    def links(self, i, j):
        """The pages that a page links to."""
        to, most = (i, min(MOVED, self.most)) if i > HOSTS else ((i + 1) % HOSTS, self.most)
        return [(to, f"/p{k}") for k in (2 * j + 1, 2 * j + 2) if k < most]

    def page(self, i, path):
        """Status, headers, body."""
        if path == "/robots.txt":
            delay = self.delay(i)
            more = f"Crawl-delay: {delay}\n" if delay != DELAY else ""
            return 200, {"Content-Type": "text/plain"}, "User-agent: *\n" + more
        if i == HOSTS and path == "/p0":
            return 301, {"Location": self.url(HOSTS + 1, "/p0")}, ""
        if not path.startswith("/p"):
            return 404, {}, ""
        links = "".join(f'<a href="{self.url(*to)}">next</a>'
                        for to in self.links(i, int(path[2:])))
        if self.hub and path != "/p0":
            links += f'<a href="{self.url(*self.hub)}">hub</a>'
        return 200, {"Content-Type": "text/html"}, f"<p>{i} {path} {links}"

    def answer(self, h):
        began = time.monotonic()
        i = int(h.server.server_address[0].rsplit(".", 1)[1]) - 1
        status, headers, body = self.page(i, h.path)
        if status == 200 and self.tags:
            headers["ETag"] = '"%s"' % zlib.crc32(body.encode())
            if h.headers.get("If-None-Match") == headers["ETag"]:
                status, body = 304, ""
                self.unchanged.append((i, h.path))
        if self.token not in (None, h.headers.get("X-Token")):
            status, headers, body = 401, {}, ""
        time.sleep(0.005)
        h.send_response(status)
        for name, value in headers.items():
            h.send_header(name, value)
        h.send_header("Content-Length", str(len(body)))
        # A response that its client has before we note it is noted too late,
        # and would make the next request look early.
        with self.lock:
            self.requests.append((i, h.path, began, time.monotonic()))
        h.end_headers()
        with contextlib.suppress(OSError):
            h.wfile.write(body.encode())

    def seeds(self):
        return [self.url(i, "/p0") for i in range(HOSTS + 1)]

    def truth(self):
        pages = {(i, f"/p{j}") for i in range(HOSTS) for j in range(self.most)}
        return pages | {(HOSTS, "/p0")} | {(HOSTS + 1, f"/p{j}")
                                           for j in range(min(MOVED, self.most))}

    def pages(self):
        with self.lock:
            return [(i, p) for i, p, _, _ in self.requests if p.startswith("/p")]

    def too_early(self):
        """Requests that came sooner after the one before than the host's delay."""
        soon, last = 0, {}
        with self.lock:
            requests = sorted(self.requests, key=lambda r: r[2])
        for i, _, began, ended in requests:
            # The clusters' clocks and ours count in whole milliseconds.
            soon += i in last and began - last[i] < self.delay(i) - 0.002
            last[i] = ended  # robots.txt comes first
        return soon

    def close(self):
        for s in self.servers:
            s.shutdown()
            s.server_close()
        self.servers = []
