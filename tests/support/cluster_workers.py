"""A crawl in a cluster and its workers, which are processes with a directory each.

Afterwards every page was fetched, no more repeats than there can be leases lost,
and never two requests to a host closer than its delay.
"""

import json
import os
import subprocess
import time

from cluster_web import DELAY, Web
from redis_servers import LONGEST, Failure, end_with_us, wait_for

OPTIONS = ["--allow-private", "--delay", str(DELAY), "--timeout", "2s", "--sitemap",
           "off", "--max-crawl-delay", "1s"]
OWN = ["--sandbox", "off", "--min-disk", "0", "--threads", "1", "--concurrency", "8"]


class Crawl:
    """A web, a crawl of it, and its workers."""

    def __init__(self, urlweir, cluster, where, fast=False, options=(), user="", env=None,
                 **web):
        """`fast`: nothing is waited for until it is replicated; `user`:
        USER:PASSWORD@ of the cluster; `env`: more variables of the workers."""
        self.fast, self.options = fast, OPTIONS + list(options)
        self.urlweir, self.where = urlweir, where
        self.workers, self.web = [], Web(**web)
        self.url = cluster.url(user) + "/crawl" + ("?durability=fast" if fast else "")
        self.env = {**os.environ, **(env or {})}

    def start(self, words):
        name = f"{self.where}/log{len(self.workers)}"
        with open(name, "wb") as log:
            p = subprocess.Popen([self.urlweir] + words + OWN, stderr=log, stdout=log,
                                 preexec_fn=end_with_us, env=self.env)
        p.log = name
        self.workers.append(p)
        return p

    def directory(self, n):
        return f"{self.where}/dir{n}"

    def create(self, what=None):
        """Start a worker and wait for `what`, its first page by default."""
        p = self.start(["crawl", "--cluster", self.url, "-o", self.directory(0)] +
                       self.options + self.web.seeds())
        what = what or self.web.pages
        wait_for(lambda: what() or p.poll() is not None, "the first requests")

    def join(self, options=()):
        n = len(self.workers)
        return self.start(["join", self.url, "-o", self.directory(n), *options])

    def resume(self, n):
        return self.start(["resume", self.directory(n)])

    def reach(self, part):
        wait_for(lambda: len(self.web.pages()) >= part * len(self.web.truth()),
                 f"{part} of the crawl")

    def finish(self, killed=(), repeats=0, fetching=1):
        self.wait(killed)
        self.judge(repeats)
        self.judge_rows(repeats)
        self.web.close()
        if sum(self.rows(n) > 0 for n in range(len(self.workers))) < fetching:
            raise Failure("not all workers have fetched something")

    def wait(self, killed=(), longest=LONGEST):
        """Until all workers have ended by themselves."""
        for p in self.workers:
            p.wait(longest)
            if p not in killed and p.returncode != 0:
                with open(p.log, encoding="utf-8") as f:
                    raise Failure(f"a worker ended with {p.returncode}: {f.read()}")

    def is_still(self):
        """No worker sends a request for a second."""
        before = len(self.web.requests)
        time.sleep(1)
        return len(self.web.requests) == before

    def count(self):
        """Pages lost, fetched again, too early."""
        rows, truth = self.web.pages(), self.web.truth()
        lost, again = len(truth - set(rows)), len(rows) - len(set(rows))
        soon = self.web.too_early()
        print(f"  fetched {len(truth) - lost} of {len(truth)}, {again} again, {soon} "
              f"too early", flush=True)
        if set(rows) - truth:
            raise Failure(f"requests nobody knows: {sorted(set(rows) - truth)[:5]}")
        return lost, again, soon

    def judge(self, repeats):
        lost, again, soon = self.count()
        if lost or again > repeats or soon:
            missing = self.web.truth() - set(self.web.pages())
            raise Failure(f"lost {lost}, again {again}, too early {soon}: "
                          f"{sorted(missing)[:5]}")

    def rows(self, n):
        """Pages that a worker's directory has as fetched."""
        if not os.path.exists(self.directory(n) + "/frontier.db"):
            return 0
        out = subprocess.run([self.urlweir, "export", self.directory(n)], text=True,
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
                got = subprocess.run([self.urlweir, "verify", self.directory(n)],
                                     stdout=subprocess.PIPE, text=True, check=False)
                if got.returncode not in (0, 3):
                    raise Failure(f"verify {n}: {got.stdout}")
