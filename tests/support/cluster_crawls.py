"""Crawls of `urlweir crawl --cluster` and `urlweir join`, with faults on the way.

usage: cluster_crawls.py URLWEIR DIR [SCENARIO...]

Workers are processes of their own, with a directory each, and crawl a web on
loopback whose pages are known and which notes each request. Afterwards every
page was fetched, no more repeats than there can be leases lost, and never two
requests to a host closer than its delay.

Host i has pages p0 .. pN, of which p0 is a seed; page j links to pages 2j+1 and
2j+2 of the next host. So each page is found from one other only, on another
host. Host 0 wants a Crawl-delay. One more seed redirects to a host that is in
scope by that alone, whose pages link to each other.
"""

import contextlib
import http.server
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time

from redis_servers import (LONGEST, Closing, Cluster, Failure, Single, end_with_us,
                           wait_for)

URLWEIR, DIR = sys.argv[1], sys.argv[2]
HOSTS, PAGES, MOVED = 10, 50, 30
DELAY, CRAWL_DELAY = 0.05, 0.15  # s
NET = "127.0.%d." % (10 + os.getpid() % 240)


# ---- the web -------------------------------------------------------------------


def address(i):
    return NET + str(i + 1)


class HostServer(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A worker that was killed."""


class Web:
    def __init__(self, pages=PAGES, slow=0):
        """`slow`: a Crawl-delay of all hosts."""
        self.most, self.slow = pages, slow
        self.requests, self.lock = [], threading.Lock()
        web = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                web.answer(self)

            def log_message(self, *_):
                pass

        self.port, self.servers = 0, []
        for i in range(HOSTS + 2):
            s = HostServer((address(i), self.port), Handler)
            self.port = s.server_address[1]
            self.servers.append(s)
            threading.Thread(target=s.serve_forever, daemon=True).start()

    def url(self, i, path):
        return f"http://{address(i)}:{self.port}{path}"

    def delay(self, i):
        return self.slow or (CRAWL_DELAY if i == 0 else DELAY)

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
        j, most = int(path[2:]), min(MOVED, self.most) if i > HOSTS else self.most
        to = i if i > HOSTS else (i + 1) % HOSTS
        links = "".join(f'<a href="{self.url(to, f"/p{k}")}">{k}</a>'
                        for k in (2 * j + 1, 2 * j + 2) if k < most)
        return 200, {"Content-Type": "text/html"}, f"<p>{i} {j} {links}"

    def answer(self, h):
        began = time.monotonic()
        i = int(h.server.server_address[0].rsplit(".", 1)[1]) - 1
        status, headers, body = self.page(i, h.path)
        time.sleep(0.005)
        h.send_response(status)
        for name, value in headers.items():
            h.send_header(name, value)
        h.send_header("Content-Length", str(len(body)))
        h.end_headers()
        # A response that its client has before we note it is noted too late,
        # and would make the next request look early.
        with self.lock:
            self.requests.append((i, h.path, began, time.monotonic()))
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

    def close(self):
        for s in self.servers:
            s.shutdown()
            s.server_close()


# ---- workers -------------------------------------------------------------------

OPTIONS = ["--allow-private", "--delay", str(DELAY), "--timeout", "2s", "--sitemap",
           "off", "--max-crawl-delay", "1s"]
OWN = ["--sandbox", "off", "--min-disk", "0", "--threads", "1", "--concurrency", "8"]


class Crawl:
    """A web, a crawl of it, and its workers."""

    def __init__(self, cluster, where, **web):
        self.where, self.workers, self.web = where, [], Web(**web)
        self.url = cluster.url() + "/crawl"

    def start(self, words):
        log = open(f"{self.where}/log{len(self.workers)}", "wb")
        p = subprocess.Popen([URLWEIR] + words + OWN, stderr=log, stdout=log,
                             preexec_fn=end_with_us)
        p.log = log.name
        self.workers.append(p)
        return p

    def directory(self, n):
        return f"{self.where}/dir{n}"

    def create(self, what=None):
        """Start a worker and wait for `what`, its first page by default."""
        p = self.start(["crawl", "--cluster", self.url, "-o", self.directory(0)] +
                       OPTIONS + self.web.seeds())
        what = what or self.web.pages
        wait_for(lambda: what() or p.poll() is not None, "the first requests")

    def join(self):
        n = len(self.workers)
        return self.start(["join", self.url, "-o", self.directory(n)])

    def resume(self, n):
        return self.start(["resume", self.directory(n)])

    def reach(self, part):
        wait_for(lambda: len(self.web.pages()) >= part * len(self.web.truth()),
                 f"{part} of the crawl")

    def finish(self, killed=(), repeats=0, fetching=1):
        for p in self.workers:
            p.wait(LONGEST)
            if p not in killed and p.returncode != 0:
                with open(p.log, encoding="utf-8") as f:
                    raise Failure(f"a worker ended with {p.returncode}: {f.read()}")
        self.judge(repeats)
        self.judge_rows(repeats)
        if sum(self.rows(n) > 0 for n in range(len(self.workers))) < fetching:
            raise Failure("not all workers have fetched something")
        self.web.close()

    def judge(self, repeats):
        rows, truth = self.web.pages(), self.web.truth()
        lost, again = len(truth - set(rows)), len(rows) - len(set(rows))
        soon, last = 0, {}
        for i, _, began, ended in sorted(self.web.requests, key=lambda r: r[2]):
            # The clusters' clocks and ours count in whole milliseconds.
            # robots.txt comes first
            soon += i in last and began - last[i] < self.web.delay(i) - 0.002
            last[i] = ended
        print(f"  fetched {len(set(rows))} of {len(truth)}, {again} again, {soon} too "
              f"early", flush=True)
        if lost or again > repeats or soon or set(rows) - truth:
            raise Failure(f"lost {lost}, again {again}, too early {soon}: "
                          f"{sorted(truth - set(rows))[:5]}")

    def rows(self, n):
        """Pages that a worker's directory has as fetched."""
        if not os.path.exists(self.directory(n) + "/frontier.db"):
            return 0
        out = subprocess.run([URLWEIR, "export", self.directory(n)], text=True,
                             stdout=subprocess.PIPE, check=True).stdout
        rows = [json.loads(x) for x in out.splitlines()]
        return sum(r["status"] in ("fetched", "redirect") for r in rows)

    def judge_rows(self, repeats):
        """The directories have all pages, and are whole."""
        total = sum(self.rows(n) for n in range(len(self.workers)))
        most = len(self.web.truth()) + repeats
        if not len(self.web.truth()) <= total + repeats <= most + repeats:
            raise Failure(f"the directories have {total} pages")
        for n in range(len(self.workers)):
            if os.path.exists(self.directory(n) + "/frontier.db"):
                got = subprocess.run([URLWEIR, "verify", self.directory(n)],
                                     stdout=subprocess.PIPE, text=True, check=False)
                if got.returncode not in (0, 3):
                    raise Failure(f"verify {n}: {got.stdout}")


# ---- scenarios -------------------------------------------------------------------


def alone(where):
    """Without a fault each page is fetched once, by one of two workers."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        crawl = Crawl(c.it, where)
        crawl.create()
        crawl.join()
        crawl.finish()


def kill_worker(where):
    """One of three is killed, and takes part again later."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        crawl = Crawl(c.it, where)
        crawl.create()
        crawl.join()
        crawl.join()
        crawl.reach(0.3)
        crawl.workers[0].kill()
        crawl.reach(0.5)
        crawl.resume(0)
        crawl.finish(killed=crawl.workers[:1], repeats=HOSTS + 2)


def stop_worker(where):
    """A worker stands still past its leases, and waits for hosts meanwhile.

    It has read robots.txt and waits for the Crawl-delay when it is stopped, and
    others ask these hosts when it goes on.
    """
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        crawl = Crawl(c.it, where, pages=8, slow=1)
        crawl.create(lambda: len(crawl.web.requests) > HOSTS)
        first = crawl.workers[0]
        first.send_signal(signal.SIGSTOP)
        crawl.join()
        crawl.reach(0.2)
        first.send_signal(signal.SIGCONT)
        crawl.finish(repeats=HOSTS + 2)


def end_worker(where):
    """A worker that is asked to stop leaves nothing behind."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        crawl = Crawl(c.it, where)
        crawl.create()
        crawl.join()
        crawl.reach(0.3)
        first = crawl.workers[0]
        first.send_signal(signal.SIGTERM)
        first.wait(LONGEST)
        if first.returncode != 4:
            raise Failure(f"a stopped worker ended with {first.returncode}")
        crawl.reach(0.5)
        crawl.resume(0)
        crawl.finish(killed=crawl.workers[:1])


def kill_master(where):
    with contextlib.closing(Closing(Cluster(where + "/redis", 2))) as c:
        crawl = Crawl(c.it, where)
        crawl.create()
        crawl.join()
        crawl.join()
        crawl.reach(0.3)
        crawl.workers[1].kill()
        c.it.masters[0].kill()
        crawl.finish(killed=crawl.workers[1:2], repeats=HOSTS + 2)


def run(*words):
    return subprocess.run([URLWEIR] + list(words), text=True, stderr=subprocess.STDOUT,
                          stdout=subprocess.PIPE, timeout=LONGEST, check=False)


def expect(got, code, text):
    if got.returncode != code or text not in got.stdout:
        raise Failure(f"{got.args}: {got.returncode}, not {code} and '{text}': "
                      f"{got.stdout}")


def refused(where):
    """What would not hold its promise is said so at the start."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        url, out = c.it.url() + "/crawl", ["-o", where + "/x"]
        crawl = ["crawl", "http://127.0.0.1:1/", "--cluster"]
        for option in (["--depth", "3"], ["--limit", "9"], ["--refresh", "1d"],
                       ["--order", "best"], ["--per-host", "5"],
                       ["--record", "links"], ["--cookie", "a=b"], ["--quota", "1M"],
                       ["--queue-key", "ip"], ["--traps", "skip"],
                       ["--near-dup", "skip"], ["--conns-per-host", "2"]):
            expect(run(*crawl, url, *out, *option), 1, "does not work with --cluster")
        expect(run(*crawl, c.it.url(), *out), 1, "the name of the crawl is missing")
        expect(run(*crawl, url), 1, "--cluster needs -o DIR")
        expect(run(*crawl, url + "?durability=safe", *out), 2, "has 0 replicas")
        expect(run("join", url, *out), 2, "there is no crawl named crawl")
        expect(run("join", url), 1, "-o DIR is missing")
        expect(run("join", url, *out, "--delay", "0"), 1, "is a setting of the crawl")
        c.it.servers[0].ask("CONFIG", "SET", "maxmemory", "100mb")
        c.it.servers[0].ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        expect(run(*crawl, url, *out), 2, "maxmemory-policy noeviction")
        c.it.servers[0].ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
        crawl[1:1] = ["--allow-private", "--tries", "1"]
        expect(run(*crawl, url, *out, *OWN), 5, "finished")
        expect(run(*crawl, url, "-o", where + "/y", *OWN), 2, "`urlweir join`")
        expect(run("resume", where + "/x", "--delay", "3s"), 1, "cannot change")
        expect(run("seed", where + "/x", "http://127.0.0.1:2/"), 2, "does not work there")
        expect(run("retry", where + "/x"), 2, "does not work there")
        expect(run("resume", where + "/x", *OWN), 5, "finished")
        c.it.servers[0].ask("FLUSHALL")
        expect(run("resume", where + "/x", *OWN), 2, "there is no crawl named crawl")


SCENARIOS = [refused, alone, kill_worker, end_worker, stop_worker, kill_master]


def main():
    names = sys.argv[3:] or [s.__name__ for s in SCENARIOS]
    for s in SCENARIOS:
        if s.__name__ not in names:
            continue
        where = f"{DIR}/{s.__name__}"
        shutil.rmtree(where, ignore_errors=True)
        os.makedirs(where)
        began = time.monotonic()
        print(f"crawl {s.__name__}:", flush=True)
        try:
            s(where)
        except (Failure, subprocess.SubprocessError, OSError, RuntimeError) as e:
            print(f"FAILED: {s.__name__}: {type(e).__name__}: {e}", flush=True)
            sys.exit(1)
        print(f"  {time.monotonic() - began:.1f} s", flush=True)
        shutil.rmtree(where)


main()
