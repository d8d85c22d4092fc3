"""What a page costs the workers of a crawl in a cluster, beside a crawl without.

usage: cluster_workers.py BUILD_DIR [PAGES]      (make bench-cluster-workers)

One test web, of PAGES pages (default 12000) with 60 links on 256 loopback
addresses, is crawled without delays: by one program alone, then with its
frontier in one Redis server by one worker, and by four. Four workers are for a
larger crawl, so they also crawl a web of four times the pages and hosts. Four
programs at once cost more a page than one does, whatever they do: each wakes up for
fewer pages at a time, and finds its caches cold. So four programs that know nothing
of each other crawl four webs, which are as large together.

CPU is that of the processes, user and system, as the kernel counts it, a page; each
kind of crawl has three turns (TURNS), one after the other, and the least counts, as
other programs only add to it. Calls are those of scripts that the server counted, a
page. Instructions are those in user space, thousands a page, which do not depend on
caches and on other programs; `-` where the machine does not count them. One server without replicas: WAIT costs no CPU worth counting.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [TOP + "/tests/support", TOP + "/bench/support"]
sys.dont_write_bytecode = True

from instructions import Instructions  # noqa: E402
from redis_servers import Closing, Failure, Single, end_with_us, wait_for  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
PAGES = int(sys.argv[2]) if len(sys.argv) > 2 else 12000
HOSTS, WORKERS = 256, 4
TURNS = int(os.environ.get("TURNS", "3"))
URLWEIR = BUILD + "/urlweir"
CRAWL = ["--allow-private", "--scope", "any", "--delay", "0", "--timeout", "5s",
         "--traps", "off", "--sitemap", "off"]
OWN = ["--threads", "1", "--min-disk", "0", "--sandbox", "off", "--progress", "none"]


class Site:
    def __init__(self, times):
        self.pages = int(times * PAGES)
        self.process = subprocess.Popen(
            [BUILD + "/tests/support/site", "serve", "--hosts", str(int(times * HOSTS)),
             "--pages", str(self.pages), "--links", "60", "--max-time", "3600"], text=True,
            stdout=subprocess.PIPE, preexec_fn=end_with_us)
        port = self.process.stdout.readline().split()[1]
        self.seed = f"http://127.0.0.1:{port}/"

    def close(self):
        self.process.kill()
        self.process.wait()


class Program:
    def __init__(self, words, where, concurrency):
        self.log = open(where + ".log", "wb")
        self.process = subprocess.Popen(
            [URLWEIR, *words, "-o", where, *OWN, "--concurrency", str(concurrency)],
            stdout=self.log, stderr=self.log, preexec_fn=end_with_us)

    def end(self):
        """CPU in us."""
        _, status, usage = os.wait4(self.process.pid, 0)
        self.log.close()
        if status != 0:
            with open(self.log.name, encoding="utf-8") as f:
                raise Failure(f"a crawl ended with {status >> 8}: {f.read()}")
        return (usage.ru_utime + usage.ru_stime) * 1e6


def server_cpu(server):
    return sum(float(server.info("used_cpu_" + kind)) for kind in ("user", "sys")) * 1e6


def calls(server):
    stats = server.ask("INFO", "commandstats").decode()
    return int(re.search(r"cmdstat_evalsha:calls=(\d+)", stats)[1])


class Cost:
    """Of one turn, a page."""

    def __init__(self, pages, began, cpu, count, calls=0, server_cpu=0, server_count=None):
        self.cpu, self.calls, self.server_cpu = cpu / pages, calls / pages, server_cpu / pages
        self.rate = pages / (time.monotonic() - began)
        self.count, self.server_count = (n and n / pages / 1000 for n in (count, server_count))


def alone(sites, where):
    began, count = time.monotonic(), Instructions()
    programs = [Program(["crawl", site.seed, *CRAWL], f"{where}/a{n}", 64 // len(sites))
                for n, site in enumerate(sites)]
    cpu = sum(p.end() for p in programs)
    return Cost(sum(site.pages for site in sites), began, cpu, count.end())


def together(site, where, count):
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        server = c.it.servers[0]
        url, began = c.it.url() + "/bench", time.monotonic()
        of_workers, of_server = Instructions(), Instructions(server.process.pid)
        workers = [Program(["crawl", "--cluster", url, site.seed, *CRAWL],
                           where + "/w0", 64 // count)]
        for n in range(1, count):
            wait_for(lambda: server.ask("HGET", "{bench}", "state") == b"begun", "a crawl")
            workers.append(Program(["join", url], f"{where}/w{n}", 64 // count))
        cpu = sum(w.end() for w in workers)
        return Cost(site.pages, began, cpu, of_workers.end(), calls(server),
                    server_cpu(server), of_server.end())


def main():
    rows = {}

    def turn(name, crawl, *what):
        where = tempfile.mkdtemp(prefix="urlweir-bench-")
        rows.setdefault(name, []).append(crawl(*what[:1], where, *what[1:]))
        shutil.rmtree(where)

    with contextlib.ExitStack() as stack:
        def webs(n, times):
            return [stack.enter_context(contextlib.closing(Site(times))) for _ in range(n)]

        one, large = webs(1, 1), webs(1, WORKERS)
        quarters, ones = webs(WORKERS, 1 / WORKERS), webs(WORKERS, 1)
        for _ in range(TURNS):
            turn("alone", alone, one)
            turn("1 worker", together, one[0], 1)
            turn(f"{WORKERS} alone, web / {WORKERS} each", alone, quarters)
            turn(f"{WORKERS} workers", together, one[0], WORKERS)
            turn(f"{WORKERS} alone, a web each", alone, ones)
            turn(f"{WORKERS} workers, web x {WORKERS}", together, large[0], WORKERS)
    print_table(rows)


def print_table(rows):
    def least(name, field):
        return min((getattr(r, field) or 0) for r in rows[name])

    def counted(name, field):
        return f"{least(name, field):.0f}" if least(name, field) else "-"

    print(f"{PAGES} pages              worker us a page   of alone   of 1 worker   "
          "calls a page   server us a page   instructions (k): worker   server   pages/s")
    base, single = least("alone", "cpu"), least("1 worker", "cpu")
    for name, out in rows.items():
        cpu = least(name, "cpu")
        print(f"  {name:22}{cpu:14.0f}{cpu / base:11.2f}{cpu / single:14.2f}"
              f"{least(name, 'calls'):15.1f}{least(name, 'server_cpu'):19.0f}"
              f"{counted(name, 'count'):>27}{counted(name, 'server_count'):>9}"
              f"{max(r.rate for r in out):10.0f}")


main()
