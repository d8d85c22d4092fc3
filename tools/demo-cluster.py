#!/usr/bin/env python3
"""One crawl by three workers, whose shards are in Kafka. On the way a worker is
killed and its disk lost, and then a broker is killed; at the end what was fetched
is compared with what one program alone finds.

usage: tools/demo-cluster.py BUILD_DIR
  DEMO_PACKAGES  Debian packages whose HTML is served on loopback addresses;
                 unpacked under build/demo, not installed
  DEMO_DIR       where it works; a new temporary directory by default

Brokers are those of tools/kafka.sh, which needs Java: three if there is memory
for them, else one, and then no broker is killed. All is on loopback, and ends
with this program.
"""

# Promise (Cluster): on real pages, with a worker killed and its disk lost, and
#   a broker killed, nothing is lost, and no more pages are fetched again than
#   were in flight.
import contextlib
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TOP + "/tests/support")
sys.dont_write_bytecode = True

from background import end_with_us  # noqa: E402
from scenarios import Failure, wait_for  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
URLWEIR, SITE, KAFKA = BUILD + "/urlweir", BUILD + "/tests/support/site", TOP + "/tools/kafka.sh"
PACKAGES = os.environ.get("DEMO_PACKAGES", "sqlite3-doc").split()
HOSTS, WORKERS, SHARDS = 6, 3, 6  # HOSTS: addresses for each package
TRANSFERS = 8  # of a shard, at most
BROKER = 600 << 20  # octets of memory, beside what the crawl needs
OPTIONS = ["--allow-private", "--delay", "5ms", "--timeout", "5s"]
OWN = ["--concurrency", str(TRANSFERS), "--threads", "1"]
UNSAID = ["--progress", "none", "--min-disk", "0"]


def say(text):
    print(f"\n\033[1m== {text}\033[0m", flush=True)


def told(words):
    """The command as a person would type it."""
    seeds = [w for w in words if w.startswith("http://")]
    words = [w for w in words if w not in seeds[1:]]
    print("$ urlweir " + " ".join("..." if w in seeds[:1] else w for w in words),
          flush=True)


# ---- a web of real pages -----------------------------------------------------


class Site:
    def __init__(self, where):
        roots, self.log, self.addresses, self.before = [], where + "/arrivals.log", [], 0
        for package in PACKAGES:
            root = f"{TOP}/build/demo/{package}"
            subprocess.run([TOP + "/tools/unpack-package.sh", package, root], check=True)
            index = min(glob.glob(root + "/**/index.html", recursive=True), key=len)
            own = [f"127.0.0.{2 + len(self.addresses) + i}" for i in range(HOSTS)]
            self.addresses += own
            roots.append(f"{os.path.dirname(index)}={','.join(own)}")
        self.process = subprocess.Popen(
            [SITE, "files", *roots, "--log", self.log, "--latency", "3",
             "--max-time", "1800"], stdout=subprocess.PIPE, text=True,
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


class Brokers:
    def __init__(self, where):
        with open("/proc/meminfo", encoding="ascii") as f:
            free = [int(x.split()[1]) << 10 for x in f if x.startswith("MemAvailable")][0]
        self.where, self.count = where, 3 if free > 4 * BROKER else 1
        self.script("start", where, str(self.count))
        with open(where + "/brokers", encoding="ascii") as f:
            self.addresses = f.read().strip()

    def script(self, *words):
        if subprocess.run([KAFKA, *words], check=False).returncode != 0:
            raise Failure("no brokers; `make deps-kafka` installs what they need")

    def close(self):
        self.script("stop", self.where)


# ---- crawls ------------------------------------------------------------------


def pages(crawl):
    """URLs of the pages of a crawl, in a directory or in Kafka."""
    out = subprocess.run([URLWEIR, "export", crawl, "--what", "pages", "--format",
                          "csv"], check=True, text=True, stdout=subprocess.PIPE).stdout
    return {line.split(",")[0] for line in out.splitlines()[1:]}


def crawl_alone(site, where):
    words = ["crawl", *site.seeds(), "-o", where, *OPTIONS]
    told(words)
    subprocess.run([URLWEIR, *words, *UNSAID], check=True)
    return pages(where)


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return f.read().split()


class Workers:
    def __init__(self, url, where, site):
        self.where, self.processes = where, []
        self.start(["crawl", "--cluster", url, "--shards", str(SHARDS), *site.seeds()], OPTIONS)
        first = self.processes[0]
        wait_for(lambda: site.since() or first.poll() is not None, "the first requests")
        while len(self.processes) < WORKERS:
            self.start(["join", url], [])
        wait_for(lambda: all(children(p.pid) for p in self.processes), "shards for each worker")

    def directory(self, n):
        return f"{self.where}/worker{n + 1}"

    def log(self, n):
        return self.directory(n) + ".log"

    def start(self, words, options):
        n = len(self.processes)
        words = words + ["-o", self.directory(n)] + options + OWN
        told(words)
        with open(self.log(n), "wb") as log:
            self.processes.append(subprocess.Popen([URLWEIR, *words, *UNSAID], stderr=log,
                                                   stdout=log, preexec_fn=end_with_us))

    def lose(self, n):
        """A worker with its disk; answers how many shards it had."""
        shards = children(self.processes[n].pid)
        self.processes[n].kill()
        self.processes[n].wait()
        wait_for(lambda: not any(os.path.exists("/proc/" + pid) for pid in shards),
                 "the ends of its shards")
        shutil.rmtree(self.directory(n))
        return len(shards)

    def wait(self, lost):
        for n, p in enumerate(self.processes):
            if p.wait() != 0 and n != lost:
                with open(self.log(n), encoding="utf-8") as f:
                    raise Failure(f"worker {n + 1} ended with {p.returncode}: {f.read()[-2000:]}")


def crawl_together(brokers, site, where, most):
    """Answers the pages that the crawl has, and how many may have been fetched
    again."""
    def reach(part):
        wait_for(lambda: len(site.since()) >= part * most, f"{part} of the crawl")

    url = f"kafka://{brokers.addresses}/docs"
    workers = Workers(url, where, site)
    reach(0.3)
    say(f"A third is fetched: kill -9 of worker 2 (process {workers.processes[1].pid}), "
        "and its disk is lost")
    again = TRANSFERS * workers.lose(1)
    print("In ten seconds its shards go to the others, which read their rows from Kafka.",
          flush=True)
    reach(0.6)
    if brokers.count > 1:
        say("More than half is fetched: kill -9 of a broker")
        brokers.script("kill", brokers.where, "1")
        again += TRANSFERS * SHARDS
        reach(0.75)
        brokers.script("again", brokers.where, "1")
        print("The two others went on; it has come back.", flush=True)
    workers.wait(lost=1)
    say("What is in Kafka now")
    told(["verify", url])
    subprocess.run([URLWEIR, "verify", url], check=True)
    return pages(url), again


# ---- what a person wants to know ---------------------------------------------


def judge(truth, found, again, site):
    arrivals = site.since()
    repeats = len(arrivals) - len(set(arrivals))
    say("Summary")
    print(f"  pages of the truth                   {len(truth)}\n"
          f"  pages of the crawl in Kafka          {len(found)}\n"
          f"  lost                                 {len(truth - found)}\n"
          f"  fetched again                        {repeats} (at most {again} were under way "
          "when something was killed)")
    if found != truth or repeats > again:
        print(f"lost: {sorted(truth - found)[:5]}, unknown: {sorted(found - truth)[:5]}")
        sys.exit(1)


def demo(where):
    with contextlib.closing(Site(where)) as site:
        say(f"A crawl of {', '.join(PACKAGES)} on {len(site.addresses)} loopback "
            "addresses by one program, to know the truth")
        truth = crawl_alone(site, where + "/whole")
        site.forget()
        say("Brokers")
        with contextlib.closing(Brokers(where + "/kafka")) as brokers:
            print(f"{brokers.count} of Kafka: {brokers.addresses}")
            say(f"The same crawl by {WORKERS} workers, in {SHARDS} shards")
            found, again = crawl_together(brokers, site, where, len(truth))
        judge(truth, found, again, site)
        print(f"  everything of this demo is in        {where}")


def main():
    where = os.environ.get("DEMO_DIR") or tempfile.mkdtemp(prefix="urlweir-demo-")
    os.makedirs(where, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the brokers end
    try:
        demo(where)
    except (Failure, subprocess.SubprocessError, OSError, RuntimeError) as e:
        sys.exit(f"demo-cluster: {e}")


main()
