"""Crawls of whole workers in a cluster, with one fault at random after the other.

usage: cluster_chaos.py URLWEIR DIR [SCENARIO...]

    FAULTS=N  how many; 6 by default, 50 if LONG is set. Each kind has its turn
              before one comes again
    SEED=N    for the same faults in the same order; printed

A fault comes when the crawl has got further, whatever time that takes; the web
goes on until the last one.
"""

import contextlib
import os
import random
import signal
import sys
import time

import scenarios
from cluster_web import HOSTS
from cluster_workers import Crawl
from redis_servers import LONGEST, Closing, Cluster, Failure, wait_for

URLWEIR, DIR = sys.argv[1], sys.argv[2]
FAULTS = int(os.environ.get("FAULTS") or ("50" if os.environ.get("LONG") else "6"))
SEED = int(os.environ.get("SEED") or random.SystemRandom().randrange(10**6))
BRIEF, LEASE = ["--timeout", "1s"], 5  # s: three requests, and 2 s
WORKERS, PAGES = 3, 60  # PAGES: that are fetched between two faults


class Chaos:
    def __init__(self, cluster, crawl, rng):
        self.cluster, self.crawl, self.rng = cluster, crawl, rng
        self.killed, self.stopped = [], []  # stopped: worker, when it goes on
        self.directories = {}  # worker -> number of its directory

    def begin(self):
        self.crawl.create()
        self.directories[self.crawl.workers[0]] = 0
        while len(self.crawl.workers) < WORKERS:
            self.join()

    def join(self):
        n = len(self.crawl.workers)
        self.directories[self.crawl.join()] = n

    def resume(self, n):
        self.directories[self.crawl.resume(n)] = n

    def worker(self):
        """One that runs."""
        standing = [w for w, _ in self.stopped]
        return self.rng.choice([w for w in self.crawl.workers
                                if w.poll() is None and w not in standing])

    def master(self):
        return self.rng.choice(self.cluster.current())

    def go_on(self, all_of_them=False):
        for entry in list(self.stopped):
            if all_of_them or time.monotonic() > entry[1]:
                entry[0].send_signal(signal.SIGCONT)
                self.stopped.remove(entry)

    def go_further(self):
        had = len(self.crawl.web.pages())

        def is_further():
            self.go_on()
            return len(self.crawl.web.pages()) >= had + PAGES
        wait_for(is_further, f"{PAGES} more pages")

    def run(self, faults):
        self.begin()
        for fault in faults:
            self.go_further()
            print(f"  {len(self.crawl.web.pages())} pages: {fault.__name__}", flush=True)
            fault(self)
        self.go_further()
        self.go_on(all_of_them=True)
        self.crawl.web.end()

    # ---- faults ----

    def kill_worker(self):
        w = self.worker()
        w.kill()
        w.wait()
        self.killed.append(w)
        if self.rng.random() < 0.5:
            self.resume(self.directories[w])
        else:
            self.join()

    def kill_master(self):
        master = self.master()
        master.kill()
        self.cluster.mend(master)

    def cut_link(self):
        """The master with the most URLs goes on alone, and then is lost. If safe,
        workers soon wait for its replicas."""
        master = max(self.cluster.current(), key=lambda s: s.ask("DBSIZE"))
        self.cluster.cut(master)
        had, end = len(self.crawl.web.pages()), time.monotonic() + 2
        wait_for(lambda: len(self.crawl.web.pages()) >= had + 100 or
                 not self.crawl.fast and time.monotonic() > end, "pages of a master")
        master.kill()
        self.cluster.mend(master)

    def stop_worker(self):
        """It stands still past its leases, while other things go wrong."""
        if len(self.stopped) < WORKERS - 1:
            w = self.worker()
            w.send_signal(signal.SIGSTOP)
            self.stopped.append((w, time.monotonic() + 1.2 * LEASE))

    def move_slots(self):
        """Of some shards, to another master."""
        masters = self.cluster.current()
        a, b = self.rng.sample(masters, 2)
        owned = [s for s in self.slots() if self.cluster.owns(a, s)]
        for slot in self.rng.sample(owned, min(8, len(owned))):
            self.cluster.move(slot, a, b)

    def slots(self):
        ask = self.cluster.current()[0].ask
        return sorted({ask("CLUSTER", "KEYSLOT", "{crawl:%x}" % s) for s in range(64)})

    def flush_scripts(self):
        for s in self.cluster.current():
            s.ask("SCRIPT", "FLUSH", "SYNC")

    KINDS = [kill_worker, kill_master, cut_link, stop_worker, move_slots, flush_scripts]


def kinds(rng, count):
    out = []
    while len(out) < count:
        out += rng.sample(Chaos.KINDS, len(Chaos.KINDS))
    return out[:count]


def crawl_with_faults(where, fast):
    """The crawl, when its workers have ended."""
    print(f"{FAULTS} faults, SEED={SEED}", flush=True)
    rng = random.Random(SEED)
    with contextlib.closing(Closing(Cluster(where + "/redis", 2))) as c:
        crawl = Crawl(URLWEIR, c.it, where, pages=0, fast=fast, options=BRIEF)
        it = Chaos(c.it, crawl, rng)
        it.run(kinds(rng, FAULTS))
        # The host with a Crawl-delay has the more left, the longer it took.
        crawl.wait(it.killed, LONGEST + 10 * FAULTS)
        return crawl


def chaos(where):
    """Nothing is lost, and each fault costs at most one lease a host."""
    crawl = crawl_with_faults(where, fast=False)
    crawl.judge(repeats=FAULTS * (HOSTS + 2))
    crawl.judge_rows(repeats=FAULTS * (HOSTS + 2))


def chaos_unsafe(where):
    """The same without WAIT: links are lost, and the comparison says so."""
    crawl = crawl_with_faults(where, fast=True)
    if crawl.count()[0] == 0:
        raise Failure("nothing was lost without WAIT")


SCENARIOS = [chaos, chaos_unsafe]
scenarios.run(SCENARIOS, DIR, sys.argv[3:])
