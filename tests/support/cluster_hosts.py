"""Hosts and pages that trouble the workers of a crawl in a cluster.

usage: cluster_hosts.py URLWEIR DIR [SCENARIO...|list]

The web is one page on each host, with links to others of that host.
"""

import contextlib
import http.server
import json
import os
import signal
import subprocess
import sys
import threading
import time

import scenarios
from redis_servers import LONGEST, Closing, Failure, Single, end_with_us, wait_for

URLWEIR, DIR = sys.argv[1], sys.argv[2]
NET = "127.0.%d." % (10 + os.getpid() % 240)
PAGES = 12
OPTIONS = ["--allow-private", "--delay", "20ms", "--sitemap", "off", "--tries", "2",
           "--retry-delay", "20ms", "--max-delay", "200ms"]
OWN = ["--sandbox", "off", "--min-disk", "0", "--threads", "1", "--concurrency", "4"]


class Host:
    """A host with some pages; `port` of another one, or 0."""

    def __init__(self, number, port=0):
        self.at, self.requests, self.lock = NET + str(number), [], threading.Lock()
        host = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                with host.lock:
                    host.requests.append(self.path)
                status, body = host.page(self.path)
                self.send_response(status)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                with contextlib.suppress(OSError):
                    self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer((self.at, port), Handler, False)
        self.server.daemon_threads = True
        self.server.server_bind()
        self.port = self.server.server_address[1]

    def page(self, path):
        if path in ("/robots.txt", "/nothing"):
            return 404, b""
        links = "".join(f'<a href="/p{i}">{i}</a>' for i in range(1, PAGES))
        return 200, f"<p>{path} {links if path == '/' else ''}".encode()

    def listen(self):
        """Until then connections are refused."""
        self.server.server_activate()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def url(self, path="/"):
        return f"http://{self.at}:{self.port}{path}"


class Workers:
    def __init__(self, cluster, where):
        self.url, self.where, self.all = cluster.url() + "/crawl", where, []

    def start(self, words, **env):
        n = len(self.all)
        with open(f"{self.where}/log{n}", "wb") as log:
            p = subprocess.Popen([URLWEIR] + words + OWN, stderr=log, stdout=log,
                                 preexec_fn=end_with_us, env=dict(os.environ, **env))
        self.all.append(p)
        return p

    def directory(self, n):
        return f"{self.where}/dir{n}"

    def create(self, *words, **env):
        return self.start(["crawl", "--cluster", self.url, "-o", self.directory(0),
                           *OPTIONS, *words], **env)

    def join(self, **env):
        return self.start(["join", self.url, "-o", self.directory(len(self.all))], **env)

    def log(self, n):
        with open(f"{self.where}/log{n}", encoding="utf-8") as f:
            return f.read()

    def ended(self, n, code):
        got = self.all[n].wait(LONGEST)
        if got != code:
            raise Failure(f"worker {n} ended with {got}, not {code}: {self.log(n)}")

    def rows(self):
        """What the directories say of URLs that they have done."""
        out = []
        for n in range(len(self.all)):
            if os.path.exists(self.directory(n) + "/frontier.db"):
                text = subprocess.run([URLWEIR, "export", self.directory(n)], text=True,
                                      stdout=subprocess.PIPE, check=True).stdout
                out += [json.loads(x) for x in text.splitlines()]
        return [r for r in out if r["status"] not in ("queued", "skipped")]


def expect(what, got, wanted):
    if got != wanted:
        raise Failure(f"{what}: {got}, not {wanted}")


# ---- scenarios -------------------------------------------------------------------


def silent_host(where):
    """A host does not respond for much longer than its URLs have tries for, and
    then does: each worker asks it meanwhile, and no URL has failed."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        good, w = Host(1), Workers(c.it, where)
        late = Host(2, good.port)
        good.listen()
        w.create(good.url(), late.url())
        wait_for(lambda: len(good.requests) > PAGES, "the other host")
        w.join()
        time.sleep(4)
        late.listen()
        w.ended(0, 0)
        w.ended(1, 0)
        expect("pages", sorted(set(late.requests)),
               sorted(["/", "/robots.txt"] + [f"/p{i}" for i in range(1, PAGES)]))
        expect("outcomes", {r["status"] for r in w.rows()}, {"fetched"})
        expect("rows", len(w.rows()), 2 * PAGES)


def given_up(where):
    """A host that does not respond for --give-up keeps its URLs for the next
    worker that begins; the others end."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        good, w = Host(1), Workers(c.it, where)
        late = Host(2, good.port)
        good.listen()
        w.create("--give-up", "2s", good.url(), late.url())
        w.ended(0, 3)
        late.listen()
        w.join()
        w.ended(1, 0)
        expect("rows", len(w.rows()), 2 * PAGES)


def killer(where):
    """A page that ends each worker which reads it fails in the end."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        host, w = Host(1), Workers(c.it, where)
        host.listen()
        w.create("--robots", "off", "--timeout", "1s", host.url(), URLWEIR_KILL_AT="page-in-hand")
        w.ended(0, -signal.SIGKILL)
        for n in range(1, 5):
            w.join(URLWEIR_KILL_AT="page-in-hand")
            w.ended(n, -signal.SIGKILL)
        w.join(URLWEIR_KILL_AT="page-in-hand")
        w.ended(5, 5)
        expect("requests", host.requests.count("/"), 5)
        expect("outcome", [(r["status"], r["reason"]) for r in w.rows()],
               [("failed", "stuck")])
        if "workers were lost with a URL" not in w.log(5):
            raise Failure(f"not said: {w.log(5)}")


def export(w, *words):
    got = subprocess.run([URLWEIR, "export", "--merge", *words], text=True, check=True,
                         stdout=subprocess.PIPE)
    return got.stdout.splitlines()


def merge(where):
    """The rows of all workers as one list, when some have fetched a page whose
    lease was lost before they could say so."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        host, w = Host(1), Workers(c.it, where)
        host.listen()
        words = ["--timeout", "1s", host.url(), host.url("/nothing")]
        w.create(*words, URLWEIR_KILL_AT="turn-after-commit:4")
        w.ended(0, -signal.SIGKILL)
        for n in range(1, 4):
            w.join(URLWEIR_KILL_AT="turn-after-commit:4")
            w.ended(n, -signal.SIGKILL)
        w.join()
        if w.all[4].wait(LONGEST) not in (0, 5): # the seed that fails
            raise Failure(w.log(4))
        dirs = [w.directory(n) for n in range(5)]
        truth = sorted([host.url(), host.url("/nothing")] +
                       [host.url(f"/p{i}") for i in range(1, PAGES)])
        rows = [json.loads(x) for x in export(w, *dirs)]
        expect("URLs", sorted(r["url"] for r in rows if not r["again"]), truth)
        expect("rows", len(rows), len(w.rows()))
        expect("workers", {r["worker"] for r in rows} <= set(dirs), True)
        asked = [host.url(r) for r in host.requests if r != "/robots.txt"]
        for url in truth:
            have = [r["again"] for r in rows if r["url"] == url]
            expect("marks of " + url, have, [False] + [True] * (len(have) - 1))
            if len(have) > asked.count(url):
                raise Failure(f"{url}: {len(have)} rows, {asked.count(url)} requests")
        if len(rows) == len(truth):
            raise Failure("no page was fetched again")
        pages = export(w, "--what", "pages", "--format", "csv", *dirs)
        expect("head", pages[0][:16], "worker,again,url")
        expect("pages", sum(",false," in p[:80] for p in pages[1:]), PAGES + 1)
        errors = [json.loads(x) for x in export(w, "--what", "errors", *dirs)]
        expect("errors", [r["url"] for r in errors if not r["again"]],
               [host.url("/nothing")])


SCENARIOS = [silent_host, given_up, killer, merge]

if __name__ == "__main__":
    scenarios.run(SCENARIOS, DIR, sys.argv[3:])
