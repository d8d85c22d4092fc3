"""Crawls whose shards are in Kafka, with faults on the way.

usage: cluster_shards.py URLWEIR DIR BROKERS [SCENARIO...]

Workers crawl a web whose pages are known (cluster_web.py). Afterwards every page
was fetched, no more repeats than there were transfers under way when something
was killed, and no request came sooner than its host's delay.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time

import scenarios
from cluster_web import DELAY, HOSTS, Web
from redis_servers import LONGEST, Failure, end_with_us, wait_for

URLWEIR, DIR, BROKERS = sys.argv[1:4]
OPTIONS = ["--allow-private", "--delay", str(DELAY), "--timeout", "2s", "--sitemap",
           "off", "--max-crawl-delay", "1s"]
OWN = ["--sandbox", "off", "--min-disk", "0", "--threads", "1", "--concurrency", "8"]
SHARDS = 4
IN_FLIGHT = HOSTS + 2  # transfers that may be under way: one a host


class Crawl:
    """A web, a crawl of it, and its workers."""

    def __init__(self, where, options=(), shards=SHARDS, **web):
        self.where, self.options, self.shards = where, OPTIONS + list(options), shards
        self.web, self.workers = Web(**web), []
        self.url = f"kafka://{BROKERS}/{os.path.basename(where)}-{os.getpid()}"

    def start(self, words):
        name = f"{self.where}/log{len(self.workers)}"
        with open(name, "wb") as log:
            p = subprocess.Popen([URLWEIR] + words + OWN, stderr=log, stdout=log,
                                 preexec_fn=end_with_us)
        p.log = name
        self.workers.append(p)
        return p

    def directory(self, n):
        return f"{self.where}/dir{n}"

    def create(self):
        p = self.start(["crawl", "--cluster", self.url, "--shards", str(self.shards),
                        "-o", self.directory(0)] + self.options + self.web.seeds())
        wait_for(lambda: self.web.pages() or p.poll() is not None, "the first request")

    def join(self):
        """A worker that has a shard."""
        n = len(self.workers)
        p = self.start(["join", self.url, "-o", self.directory(n)])
        wait_for(lambda: self.has_shards(n) or p.poll() is not None, "a shard of its own")
        return p

    def has_shards(self, n):
        where = self.directory(n) + "/shards"
        return os.path.isdir(where) and len(os.listdir(where)) > 0

    def resume(self, n):
        return self.start(["resume", self.directory(n)])

    def reach(self, part):
        wait_for(lambda: len(set(self.web.pages())) >= part * len(self.web.truth()),
                 f"{part} of the crawl")

    def kill(self, n, lose=False):
        """`lose`: its disk, too."""
        self.workers[n].kill()
        self.workers[n].wait()
        if lose:
            time.sleep(0.5)  # its shards' processes are killed with it
            shutil.rmtree(self.directory(n))

    def finish(self, killed=(), repeats=0):
        for n, p in enumerate(self.workers):
            p.wait(LONGEST)
            if n not in killed and p.returncode != 0:
                with open(p.log, encoding="utf-8") as f:
                    raise Failure(f"worker {n} ended with {p.returncode}: {f.read()}")
        self.judge(repeats)
        self.judge_shards()
        self.web.close()

    def judge(self, repeats):
        rows, truth = self.web.pages(), self.web.truth()
        lost, again = truth - set(rows), len(rows) - len(set(rows))
        soon = self.web.too_early()
        print(f"  fetched {len(truth) - len(lost)} of {len(truth)}, {again} again, "
              f"{soon} too early", flush=True)
        if set(rows) - truth or lost or again > repeats or soon:
            raise Failure(f"lost {sorted(lost)[:5]}, again {again}, too early {soon}, "
                          f"unknown {sorted(set(rows) - truth)[:5]}")

    def judge_shards(self):
        """The newest directory of each shard has its pages, and is whole."""
        pages = set()
        for shard in range(self.shards):
            dirs = [f"{self.directory(n)}/shards/{shard}" for n in range(len(self.workers))]
            dirs = [d for d in dirs if os.path.exists(d + "/frontier.db")]
            newest = max(dirs, key=lambda d: os.path.getmtime(d + "/manifest"))
            got = subprocess.run([URLWEIR, "verify", newest], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, check=False)
            if got.returncode not in (0, 3):
                raise Failure(f"verify {newest}: {got.stdout}")
            out = subprocess.run([URLWEIR, "export", newest], text=True, check=True,
                                 stdout=subprocess.PIPE).stdout
            for row in map(json.loads, out.splitlines()):
                if row["status"] in ("fetched", "redirect"):
                    pages.add(row["url"])
        truth = {self.web.url(*page) for page in self.web.truth()}
        if pages != truth:
            raise Failure(f"the rows have {len(pages)} pages, not {len(truth)}: "
                          f"{sorted(truth - pages)[:5]} {sorted(pages - truth)[:5]}")


def alone(where):
    """One worker with all shards."""
    crawl = Crawl(where)
    crawl.create()
    crawl.finish()


def join(where):
    """Workers that come during the crawl take shards over."""
    crawl = Crawl(where)
    crawl.create()
    crawl.reach(0.1)
    crawl.join()
    crawl.join()
    crawl.finish()


def leave(where):
    """A worker that is asked to stop hands its shards over, and comes back."""
    crawl = Crawl(where)
    crawl.create()
    crawl.join()
    crawl.reach(0.3)
    crawl.workers[0].send_signal(signal.SIGTERM)
    crawl.workers[0].wait(LONGEST)
    if crawl.workers[0].returncode != 4:
        raise Failure(f"it ended with {crawl.workers[0].returncode}")
    crawl.reach(0.5)
    crawl.resume(0)
    crawl.finish(killed=(0,))


def kill_worker(where):
    """One of two is killed; the other takes over, and it comes back with its disk."""
    crawl = Crawl(where)
    crawl.create()
    crawl.join()
    crawl.reach(0.3)
    crawl.kill(0)
    crawl.reach(0.6)
    crawl.resume(0)
    crawl.finish(killed=(0,), repeats=IN_FLIGHT)


def lose_worker(where):
    """One of two is lost with its disk."""
    crawl = Crawl(where)
    crawl.create()
    crawl.join()
    crawl.reach(0.4)
    crawl.kill(0, lose=True)
    crawl.finish(killed=(0,), repeats=IN_FLIGHT)


def lose_all(where):
    """All are lost with their disks; another goes on."""
    crawl = Crawl(where)
    crawl.create()
    crawl.join()
    crawl.reach(0.5)
    crawl.kill(0, lose=True)
    crawl.kill(1, lose=True)
    crawl.join()
    crawl.finish(killed=(0, 1), repeats=IN_FLIGHT)


def kill_often(where):
    """A single worker is killed again and again, and resumed."""
    crawl = Crawl(where)
    crawl.create()
    for i in range(5):
        crawl.reach(0.15 * (i + 1))
        crawl.kill(i if i == 0 else len(crawl.workers) - 1)
        crawl.resume(0)
    crawl.finish(killed=range(5), repeats=5 * IN_FLIGHT)


def pause_worker(where):
    """A worker with its shards stands still past its session, and goes on."""
    crawl = Crawl(where)
    crawl.create()
    crawl.join()
    crawl.reach(0.3)
    pids = [crawl.workers[0].pid] + children(crawl.workers[0].pid)
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    crawl.reach(0.7)
    time.sleep(1)
    for pid in reversed(pids):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)
    crawl.finish(repeats=IN_FLIGHT)


def kill_shard(where):
    """The process of a shard is killed, and started again by its worker."""
    crawl = Crawl(where)
    crawl.create()
    for part in (0.2, 0.4, 0.6):
        crawl.reach(part)
        os.kill(children(crawl.workers[0].pid)[0], signal.SIGKILL)
    crawl.finish(repeats=3 * IN_FLIGHT)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


scenarios.run([alone, join, leave, kill_worker, lose_worker, lose_all, kill_often,
               pause_worker, kill_shard], DIR, sys.argv[4:])
