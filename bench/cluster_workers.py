"""What a page costs the workers of a crawl in a cluster, beside a crawl without.

usage: cluster_workers.py BUILD_DIR [PAGES]      (make bench-cluster-workers)

One test web, of PAGES pages (default 12000) with 60 links on 256 loopback
addresses, is crawled without delays: by one program alone, then with its
frontier in one Redis server by one worker, and by four. CPU is that of the
processes, user and system, as the kernel counts it, a page; each kind of crawl
has three turns, one after the other, and the least counts, as other programs
only add to it. One server without replicas: WAIT costs no CPU worth counting.
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
HOSTS, TURNS, WORKERS = 256, 3, 4
URLWEIR = BUILD + "/urlweir"
CRAWL = ["--allow-private", "--scope", "any", "--delay", "0", "--timeout", "5s",
         "--traps", "off", "--sitemap", "off"]
OWN = ["--threads", "1", "--min-disk", "0", "--sandbox", "off", "--progress", "none"]


class Site:
    def __init__(self):
        self.process = subprocess.Popen(
            [BUILD + "/tests/support/site", "serve", "--hosts", str(HOSTS), "--pages",
             str(PAGES), "--links", "60", "--max-time", "3600"], text=True,
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
    return cpu / PAGES, 0, PAGES / (time.monotonic() - began)


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
        return cpu / PAGES, server_cpu(server) / PAGES, PAGES / seconds


def main():
    rows = {"alone": [], "1 worker": [], f"{WORKERS} workers": []}
    with contextlib.closing(Site()) as site:
        for _ in range(TURNS):
            for name, out in rows.items():
                where = tempfile.mkdtemp(prefix="urlweir-bench-")
                out.append(alone(site, where) if name == "alone" else
                           together(site, where, int(name.split()[0])))
                shutil.rmtree(where)
    print(f"{PAGES} pages         worker us a page   of alone   server us a page   pages/s")
    base = min(r[0] for r in rows["alone"])
    for name, out in rows.items():
        cpu, server, _ = (min(r[i] for r in out) for i in range(3))
        print(f"  {name:16}{cpu:14.0f}{cpu / base:16.2f}{server:15.0f}"
              f"{max(r[2] for r in out):15.0f}")


main()
