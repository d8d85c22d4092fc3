#!/usr/bin/env python3
"""One crawl by three workers, whose frontier is in a Redis cluster of three
masters with a replica each. On the way a worker and a master are killed; then
what was fetched is compared with what one program alone finds.

usage: tools/demo-cluster.py BUILD_DIR
  DEMO_PACKAGES  Debian packages whose HTML is served on loopback addresses;
                 unpacked under build/demo, not installed
  DEMO_DIR       where it works; a new temporary directory by default

All is on loopback, and ends with this program.
"""

import contextlib
import glob
import os
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TOP + "/tests/support")
sys.dont_write_bytecode = True

from redis_servers import Closing, Cluster, Failure, end_with_us, wait_for  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
URLWEIR, SITE = BUILD + "/urlweir", BUILD + "/tests/support/site"
PACKAGES = os.environ.get("DEMO_PACKAGES", "sqlite3-doc").split()
HOSTS, WORKERS = 4, 3  # HOSTS: addresses for each package
OPTIONS = ["--allow-private", "--delay", "5ms", "--timeout", "2s"]
OWN = ["--progress", "none"]


def say(text):
    print(f"\n\033[1m== {text}\033[0m", flush=True)


def told(words):
    """The command as a person would type it."""
    seeds = [w for w in words if w.startswith("http://")]
    words = [w for w in words if w not in seeds[1:] and w not in OWN]
    print("$ urlweir " + " ".join("..." if w in seeds[:1] else w for w in words),
          flush=True)


# ---- a web of real pages -----------------------------------------------------


class Site:
    def __init__(self, where):
        roots, self.log, self.addresses = [], where + "/arrivals.log", []
        for package in PACKAGES:
            root = f"{TOP}/build/demo/{package}"
            subprocess.run([TOP + "/tools/unpack-package.sh", package, root], check=True)
            index = min(glob.glob(root + "/**/index.html", recursive=True), key=len)
            own = [f"127.0.0.{2 + len(self.addresses) + i}" for i in range(HOSTS)]
            self.addresses += own
            roots.append(f"{os.path.dirname(index)}={','.join(own)}")
        self.process = subprocess.Popen(
            [SITE, "files", *roots, "--log", self.log, "--latency", "3",
             "--max-time", "900"], stdout=subprocess.PIPE, text=True,
            preexec_fn=end_with_us)
        self.port = int(self.process.stdout.readline().split()[1])

    def seeds(self):
        return [f"http://{a}:{self.port}/index.html" for a in self.addresses]

    def arrivals(self):
        """URLs in the order in which they were asked for."""
        with open(self.log, encoding="utf-8") as f:
            rows = [line.split("\t") for line in f if line.endswith("\n")]
        return [f"http://{r[3]}:{self.port}{r[6]}" for r in rows if r[6] != "/robots.txt"]

    def forget(self):
        """What came until now is not counted."""
        time.sleep(0.3)  # it writes its log every 100 ms
        self.before = len(self.arrivals())

    def since(self):
        return self.arrivals()[self.before:]

    def close(self):
        self.process.terminate()
        self.process.wait()


# ---- crawls ------------------------------------------------------------------


def pages(directory):
    """URLs of the pages that a directory has."""
    out = subprocess.run([URLWEIR, "export", directory, "--what", "pages", "--format",
                          "csv"], check=True, text=True, stdout=subprocess.PIPE).stdout
    return {line.split(",")[0] for line in out.splitlines()[1:]}


def crawl_alone(site, where):
    words = ["crawl", *site.seeds(), "-o", where, *OPTIONS]
    told(words)
    subprocess.run([URLWEIR, *words, *OWN], check=True)
    return pages(where)


class Workers:
    def __init__(self, url, where, site):
        self.where, self.processes = where, []
        self.start(["crawl", "--cluster", url, *site.seeds()], OPTIONS)
        first = self.processes[0]
        wait_for(lambda: site.since() or first.poll() is not None, "the first requests")
        while len(self.processes) < WORKERS:
            self.start(["join", url], [])

    def directory(self, n):
        return f"{self.where}/worker{n + 1}"

    def start(self, words, options):
        words = words + ["-o", self.directory(len(self.processes))] + options
        told(words)
        with open(words[words.index("-o") + 1] + ".log", "wb") as log:
            self.processes.append(subprocess.Popen([URLWEIR, *words, *OWN], stderr=log,
                                                   stdout=log, preexec_fn=end_with_us))

    def wait(self, killed):
        for n, p in enumerate(self.processes):
            if p.wait() != 0 and n != killed:
                with open(self.directory(n) + ".log", encoding="utf-8") as f:
                    raise Failure(f"worker {n + 1} ended with {p.returncode}: {f.read()}")


def crawl_together(cluster, site, where, most):
    """Answers the pages of each worker."""
    def reach(part):
        wait_for(lambda: len(site.since()) >= part * most, f"{part} of the crawl")

    workers = Workers(cluster.url() + "/docs", where, site)
    reach(0.3)
    say(f"A third is fetched: kill -9 of worker 2 (process {workers.processes[1].pid})")
    workers.processes[1].kill()
    print("Its leases are over in 8 s; others fetch those URLs then.", flush=True)
    reach(0.5)
    master = cluster.masters[0]
    say(f"Half is fetched: kill -9 of the master at port {master.port} "
        f"(process {master.process.pid})")
    master.kill()
    cluster.mend(master)
    now = ", ".join(str(s.port) for s in cluster.current())
    print(f"Its replica has taken over; masters are at ports {now} now.\n"
          "The server that was killed has come back as a replica.", flush=True)
    workers.wait(killed=1)
    return [pages(workers.directory(n)) for n in range(WORKERS)]


# ---- what a person wants to know ---------------------------------------------


def judge(truth, parts, site):
    found, arrivals = set().union(*parts), site.since()
    again, most = len(arrivals) - len(set(arrivals)), 2 * len(site.addresses)
    say("Summary")
    print(f"  pages of the truth                   {len(truth)}")
    for n, part in enumerate(parts):
        print(f"  fetched by worker {n + 1}                  {len(part)}"
              + (", until it was killed" if n == 1 else ""))
    print(f"  lost                                 {len(truth - found)}\n"
          f"  fetched again                        {again} (a lease for each of "
          f"{len(site.addresses)} hosts may have been lost, twice)")
    if found != truth or again > most:
        print(f"lost: {sorted(truth - found)[:5]}, unknown: {sorted(found - truth)[:5]}")
        sys.exit(1)


def demo(where):
    with contextlib.closing(Site(where)) as site:
        say(f"A crawl of {', '.join(PACKAGES)} on {len(site.addresses)} loopback "
            "addresses by one program, to know the truth")
        site.forget()
        truth = crawl_alone(site, where + "/whole")
        site.forget()
        say("Three masters and three replicas")
        with contextlib.closing(Closing(Cluster(where + "/redis", 1))) as c:
            for s in c.it.servers:
                kind = "master" if s in c.it.masters else "replica"
                print(f"{kind:8}127.0.0.1:{s.port}, process {s.process.pid}")
            say("The same crawl by three workers")
            judge(truth, crawl_together(c.it, site, where, len(truth)), site)
        print(f"  everything of this demo is in        {where}")


def main():
    where = os.environ.get("DEMO_DIR") or tempfile.mkdtemp(prefix="urlweir-demo-")
    os.makedirs(where, exist_ok=True)
    try:
        demo(where)
    except (Failure, subprocess.SubprocessError, OSError, RuntimeError) as e:
        sys.exit(f"demo-cluster: {e}")


main()
