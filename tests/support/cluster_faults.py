"""Crawls in a Redis Cluster on loopback, with faults on the way.

usage: cluster_faults.py WORKER DIR [SCENARIO...]

WORKER is tests/support/cluster_worker, whose workers work on one crawl and
append each request to a log. A scenario starts a cluster and workers, does
something to them, and compares the log with the truth: every page fetched,
no more repeats than there can be leases lost, and never two requests to a host
closer than its delay. The scenarios whose names end in _unsafe switch a
protection off, and fail if nothing goes wrong then, three times: a check that
cannot fail shows nothing.
"""

import contextlib
import os
import signal
import subprocess
import sys
import time

import scenarios
from redis_servers import (LONGEST, Closing, Cluster, Failure, Single, end_with_us,
                           wait_for)

WORKER, DIR = sys.argv[1], sys.argv[2]
HOSTS, PAGES = 30, 120
DELAY, FETCH, LEASE = 20, 5, 3000  # ms

# ---- crawls --------------------------------------------------------------------


class Crawl:
    def __init__(self, cluster, name, replicas=0, pages=PAGES, **more):
        self.cluster, self.name, self.pages = cluster, name, pages
        self.log = f"{DIR}/{name}.log"
        settings = dict(hosts=HOSTS, pages=pages, shards=64, delay=DELAY, lease=LEASE,
                        hold=LEASE, fetch=FETCH, replicas=replicas,
                        concurrency=HOSTS // 3 + 1, log=self.log)
        settings.update(more)
        self.gap = settings["delay"] + settings["fetch"]
        self.options = [x for k, v in settings.items() for x in (f"--{k}", str(v))]
        open(self.log, "w").close()
        subprocess.run([WORKER, "create", cluster.url(), name] + self.options,
                       check=True, timeout=LONGEST)
        self.workers = []

    def join(self, n=3, **more):
        options = self.options + [x for k, v in more.items() for x in (f"--{k}", str(v))]
        for _ in range(n):
            self.workers.append(subprocess.Popen(
                [WORKER, "work", self.cluster.url(), self.name] + options,
                stdout=subprocess.PIPE, text=True, preexec_fn=end_with_us))

    def requests(self):
        rows = []
        with open(self.log) as f:
            for line in f:
                if line.endswith("\n"):
                    host, page, start, pid = line.split()
                    rows.append((host, int(page), int(start), int(pid)))
        return rows

    def reach(self, part):
        wait_for(lambda: len(self.requests()) >= part * HOSTS * self.pages,
                 f"{part} of the crawl")

    def end(self, killed=()):
        said = []
        for w in self.workers:
            out, _ = w.communicate(timeout=LONGEST)
            if w not in killed:
                said.append(out)
                if w.returncode != 0:
                    raise Failure(f"a worker ended with {w.returncode}: {out}")
        return said

    def judge(self, repeats=0, early=0, lost=0):
        """Bounds of what may be wrong; a range for what has to be."""
        rows = self.requests()
        fetched = {(h, p) for h, p, _, _ in rows}
        missing = HOSTS * self.pages - len(fetched)
        again = len(rows) - len(fetched)
        soon, last = 0, {}
        for host, _, start, _ in sorted(rows, key=lambda r: r[2]):
            # The servers count in whole milliseconds.
            soon += start - last.get(host, -10**12) < (self.gap - 1) * 10**6
            last[host] = start
        print(f"{self.name}: fetched {len(fetched)} of {HOSTS * self.pages}, "
              f"{again} again, {soon} too early", flush=True)
        for name, n, most in (("lost", missing, lost), ("repeats", again, repeats),
                              ("too early", soon, early)):
            least, most = most if isinstance(most, tuple) else (0, most)
            if not least <= n <= most:
                raise Failure(f"{name}: {n}, not from {least} to {most}")


MANY = 10**9


def finish(crawl, killed=(), **bounds):
    said = crawl.end(killed)
    crawl.judge(**bounds)
    return said


# ---- scenarios -------------------------------------------------------------------


def nothing(where):
    """Without a fault every page is fetched exactly once."""
    with contextlib.closing(Closing(Cluster(where, 1))) as c:
        crawl = Crawl(c.it, "nothing", replicas=1, lease=60000)
        crawl.join()
        finish(crawl)


def single(where):
    """One server without cluster mode, and the scripts forgotten on the way."""
    with contextlib.closing(Closing(Single(where))) as c:
        crawl = Crawl(c.it, "single", lease=60000)
        crawl.join()
        for part in (0.2, 0.4, 0.6):
            crawl.reach(part)
            c.it.servers[0].ask("SCRIPT", "FLUSH", "SYNC")
        said = finish(crawl)
        if all(" noscript 0 " in s for s in said):
            raise Failure("no script was forgotten")


def kill_worker(where):
    with contextlib.closing(Closing(Single(where))) as c:
        crawl = Crawl(c.it, "kill_worker")
        crawl.join()
        crawl.reach(0.4)
        crawl.workers[0].kill()
        finish(crawl, killed=crawl.workers[:1], repeats=HOSTS)


def kill_worker_unsafe(where):
    """A page is acknowledged before its links are in."""
    with contextlib.closing(Closing(Single(where))) as c:
        crawl = Crawl(c.it, "kill_worker_unsafe", order=0)
        crawl.join()
        crawl.reach(0.2)
        for w in crawl.workers[:2]:
            w.kill()
        finish(crawl, killed=crawl.workers[:2], repeats=HOSTS, lost=(1, MANY))


def stop_worker(where, fence=1):
    """A worker stands still past its leases, with URLs it has not asked for. Others
    ask each host every 140 ms, so a request at whatever time is within 80 of another."""
    with contextlib.closing(Closing(Single(where))) as c:
        crawl = Crawl(c.it, "stop_worker" + ("" if fence else "_unsafe"), pages=2 * PAGES,
                      queue=60, fetch=40, delay=40, fence=fence)
        crawl.join(1)
        crawl.reach(0.01)
        crawl.join(2, concurrency=HOSTS)  # they have room for its hosts, too
        crawl.reach(0.2)
        crawl.workers[0].send_signal(signal.SIGUSR1)
        wait_for(lambda: os.waitid(os.P_PID, crawl.workers[0].pid,
                                   os.WSTOPPED | os.WNOHANG | os.WNOWAIT), "a stop")
        time.sleep(LEASE / 1000 + 2)  # others work on its hosts again
        crawl.workers[0].send_signal(signal.SIGCONT)
        finish(crawl, repeats=HOSTS, early=0 if fence else (1, MANY))


def stop_worker_unsafe(where):
    stop_worker(where, fence=0)


def kill_master(where):
    with contextlib.closing(Closing(Cluster(where, 2))) as c:
        crawl = Crawl(c.it, "kill_master", replicas=1)
        crawl.join()
        crawl.reach(0.4)
        c.it.masters[0].kill()
        finish(crawl, repeats=HOSTS)


def cut(where, replicas):
    """A master goes on alone for a while, and then is lost."""
    name = "cut_master" if replicas else "cut_master_unsafe"
    with contextlib.closing(Closing(Cluster(where, 2))) as c:
        crawl = Crawl(c.it, name, replicas=replicas, pages=2 * PAGES)
        crawl.join()
        crawl.reach(0.3)
        c.it.cut(c.it.masters[0])
        time.sleep(1)
        c.it.masters[0].kill()
        if replicas:
            finish(crawl, repeats=HOSTS)
        else:
            finish(crawl, repeats=MANY, lost=(1, MANY))


def cut_master(where):
    cut(where, 1)


def cut_master_unsafe(where):
    cut(where, 0)


def hold(where, ms=12000):
    """The new master has not heard of leases that still run. It has until the
    fetches end to be chosen and asked, which a busy machine makes long."""
    with contextlib.closing(Closing(Cluster(where, 2))) as c:
        crawl = Crawl(c.it, "hold" if ms else "hold_unsafe", pages=2, fetch=10000,
                      lease=12000, hold=ms)
        crawl.join()
        crawl.reach(0.5)
        time.sleep(3)
        c.it.cut(c.it.masters[0])
        crawl.reach(0.7)
        time.sleep(1)
        c.it.masters[0].kill()
        finish(crawl, repeats=HOSTS, lost=MANY, early=0 if ms else (1, MANY))


def hold_unsafe(where):
    hold(where, 0)


def move_slots(where):
    """The slots of the crawl go to another master, one by one."""
    with contextlib.closing(Closing(Cluster(where, 1))) as c:
        crawl = Crawl(c.it, "move_slots", replicas=1, pages=2 * PAGES)
        crawl.join()
        crawl.reach(0.2)
        a, b = c.it.masters[0], c.it.masters[1]
        moved = 0
        for shard in range(64):
            slot = a.ask("CLUSTER", "KEYSLOT", "{move_slots:%x}" % shard)
            if slot > 5461:
                continue
            c.it.move(slot, a, b, pause=0.005)
            moved += 1
        said = finish(crawl, repeats=HOSTS)
        if moved < 10 or all(" moved 0 ask 0 " in s for s in said):
            raise Failure(f"{moved} slots were moved, and nobody noticed: {said}")


def full(where):
    """A server at its maxmemory takes nothing new, and loses nothing."""
    with contextlib.closing(Closing(Single(where))) as c:
        crawl = Crawl(c.it, "full")
        crawl.join()
        crawl.reach(0.2)
        c.it.servers[0].ask("CONFIG", "SET", "maxmemory", "1000000")
        wait_for(lambda: b"errorstat_OOM" in c.it.servers[0].ask("INFO", "errorstats"),
                 "a server that is full")
        if crawl.workers[0].poll() is not None:
            raise Failure("it ended with a full server")
        c.it.servers[0].ask("CONFIG", "SET", "maxmemory", "0")
        said = finish(crawl, repeats=HOSTS)
        if all(" full 0 " in s for s in said):
            raise Failure(f"the server was not full: {said}")


def refused(where):
    """Servers that evict, or have too few replicas, are refused at the start."""
    with contextlib.closing(Closing(Single(where, "--maxmemory", "100mb",
                                           "--maxmemory-policy", "allkeys-lru"))) as c:
        words = [WORKER, "create", c.it.url(), "refused"]
        got = subprocess.run(words, stderr=subprocess.PIPE, text=True, timeout=LONGEST)
        if got.returncode != 2 or "maxmemory-policy noeviction" not in got.stderr:
            raise Failure(f"{got.returncode}: {got.stderr}")
        c.it.servers[0].ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
        got = subprocess.run(words + ["--replicas", "1"], stderr=subprocess.PIPE,
                             text=True, timeout=LONGEST)
        if got.returncode != 2 or "has 0 replicas" not in got.stderr:
            raise Failure(f"{got.returncode}: {got.stderr}")
        subprocess.run(words, check=True, timeout=LONGEST)
        print("refused: evicting servers, too few replicas", flush=True)


SCENARIOS = [hold, hold_unsafe, stop_worker, stop_worker_unsafe, refused, nothing, single,
             kill_worker, kill_worker_unsafe, kill_master, cut_master, cut_master_unsafe,
             move_slots, full]

scenarios.run(SCENARIOS, DIR, sys.argv[3:])
