"""What a page costs the workers of a crawl in a cluster, beside a crawl without.

usage: cluster_workers.py BUILD_DIR [PAGES]      (make bench-cluster-workers)

One test web, of PAGES pages (default 12000) with 60 links on 256 loopback
addresses, is crawled without delays: by one program alone, then with its
frontier in one Redis server by one worker, and by four. Four workers are for a
larger crawl, so they also crawl a web of four times the pages and hosts. CPU is
that of the processes, user and system, as the kernel counts it, a page; each kind
of crawl has three turns (TURNS), one after the other, and the least counts, as
other programs only add to it. One server without replicas: WAIT costs no CPU worth
counting.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TOP + "/tests/support")
sys.dont_write_bytecode = True

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
        self.pages = times * PAGES
        self.process = subprocess.Popen(
            [BUILD + "/tests/support/site", "serve", "--hosts", str(times * HOSTS),
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


def alone(site, where):
    began = time.monotonic()
    cpu = Program(["crawl", site.seed, *CRAWL], where + "/alone", 64).end()
    return cpu / site.pages, 0, site.pages / (time.monotonic() - began)


def together(site, where, count):
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        server = c.it.servers[0]
        url, began = c.it.url() + "/bench", time.monotonic()
        workers = [Program(["crawl", "--cluster", url, site.seed, *CRAWL],
                           where + "/w0", 64 // count)]
        for n in range(1, count):
            wait_for(lambda: server.ask("HGET", "{bench}", "state") == b"begun", "a crawl")
            workers.append(Program(["join", url], f"{where}/w{n}", 64 // count))
        cpu = sum(w.end() for w in workers)
        seconds = time.monotonic() - began
        return cpu / site.pages, server_cpu(server) / site.pages, site.pages / seconds


def main():
    # name: workers, 0 for none; times of the web
    kinds = {"alone": (0, 1), "1 worker": (1, 1), f"{WORKERS} workers": (WORKERS, 1),
             f"{WORKERS} workers, web x {WORKERS}": (WORKERS, WORKERS)}
    rows = {name: [] for name in kinds}
    with contextlib.closing(Site(1)) as one, contextlib.closing(Site(WORKERS)) as large:
        for _ in range(TURNS):
            for name, (workers, times) in kinds.items():
                where = tempfile.mkdtemp(prefix="urlweir-bench-")
                site = one if times == 1 else large
                rows[name].append(together(site, where, workers) if workers else
                                  alone(site, where))
                shutil.rmtree(where)
    print(f"{PAGES} pages              worker us a page   of alone   of 1 worker   "
          "server us a page   pages/s")
    base, single = (min(r[0] for r in rows[name]) for name in ("alone", "1 worker"))
    for name, out in rows.items():
        cpu, server, _ = (min(r[i] for r in out) for i in range(3))
        print(f"  {name:22}{cpu:14.0f}{cpu / base:11.2f}{cpu / single:14.2f}{server:19.0f}"
              f"{max(r[2] for r in out):10.0f}")

main()
