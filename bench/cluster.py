#!/usr/bin/env python3
"""What a page of a crawl costs when its shards are in Kafka: CPU time of all processes of
urlweir, octets in Kafka, beside the same crawl on one machine, in turn.
usage: bench/cluster.py BUILD_DIR [PAGES] [HOSTS] [ROUNDS]
       bench/cluster.py BUILD_DIR restore [URLS]

With `restore`: the seconds until a worker that takes a shard over answers for it, from its own
disk and from Kafka alone; half of the shard's URLs are done, the others wait.

One broker and the web run on the same machine; what the broker takes stands apart, and the time
that a commit waits for it is wall time alone. Medians of the rounds. Skipped without Java.
"""

import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

from machine import machine

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
BUILD = sys.argv[1]
URLWEIR = BUILD + "/urlweir"
RESTORE = sys.argv[2:3] == ["restore"]
NUMBERS = sys.argv[3:] or ["1000000"] if RESTORE else sys.argv[2:] + ["20000", "100", "3"][len(sys.argv[2:]):]
PAGES, HOSTS, ROUNDS = [int(word) for word in (NUMBERS + ["1", "1"] if RESTORE else NUMBERS)]
OPTIONS = ["--scope", "any", "--allow-private", "--delay", "0", "--sitemap", "off", "--max-delay", "100ms"]
OWN = ["--min-disk", "0", "--progress", "none"]


def kafka(*words):
    return subprocess.run([TOP + "/tools/kafka.sh", *words], check=False).returncode


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def broker_cpu(where):
    with open(where + "/1/pid", encoding="ascii") as f:
        pid = f.read().strip()
    with open("/proc/" + pid + "/stat", encoding="ascii") as f:
        words = f.read().rpartition(")")[2].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def run_all(kafka_at, first, others=(), made=lambda p: None):
    """CPU of workers that end together, of the broker meanwhile, and wall seconds."""
    before, broker, began = cpu(), broker_cpu(kafka_at), time.monotonic()
    workers = []
    for words in (first, *others):
        workers.append(subprocess.Popen([URLWEIR, *words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True))
        made(workers[0])
    for p in workers:
        said = p.communicate()[1]
        if p.returncode != 0:
            sys.exit("%s: status %d: %s" % (p.args, p.returncode, said))
    return cpu() - before, broker_cpu(kafka_at) - broker, time.monotonic() - began


def octets(where, topic):
    """Of the segments of a topic, as the brokers have them."""
    total = 0
    for at, _, files in os.walk(where):
        if os.path.basename(at).startswith(topic + "-"):
            total += sum(os.path.getsize(at + "/" + f) for f in files if f.endswith(".log"))
    return total


class Bench:
    def __init__(self, work, seed):
        self.work, self.seed, self.number = work, seed, 0
        with open(work + "/kafka/brokers", encoding="ascii") as f:
            self.brokers = f.read().strip()

    def alone(self):
        self.number += 1
        return run_all(self.work + "/kafka", ["crawl", self.seed, "-o", "%s/%d" % (self.work, self.number), *OPTIONS, *OWN])

    def cluster(self, shards, workers):
        self.number += 1
        self.name = "c%d" % self.number
        url = "kafka://%s/%s" % (self.brokers, self.name)
        where = "%s/%d" % (self.work, self.number)
        first = ["crawl", "--cluster", url, "--shards", str(shards), self.seed, "-o", where + "-0", *OPTIONS, *OWN]
        others = [["join", url, "-o", "%s-%d" % (where, n), *OWN] for n in range(1, workers)]

        def made(p):
            while p.poll() is None and not os.path.isdir(where + "-0/shards/0"):
                time.sleep(0.1)

        return run_all(self.work + "/kafka", first, others, made)

    def again(self):
        """Seconds in which a worker with an empty disk has a shard whole that is done."""
        url = "kafka://%s/%s" % (self.brokers, self.name)
        began = time.monotonic()
        subprocess.run([URLWEIR, "verify", url], check=True, stdout=subprocess.DEVNULL)
        return time.monotonic() - began


def run(*words):
    subprocess.run([URLWEIR, *words], check=True, stdout=subprocess.DEVNULL)


def answers(words, where):
    """Seconds and CPU of a worker until its shard answers, and it stands still then."""
    before, began = cpu(), time.monotonic()
    p = subprocess.Popen([URLWEIR, *words, *OWN], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not os.path.exists(where + "/shards/0/control"):
        if p.poll() is not None:
            sys.exit("%s: status %d" % (words, p.returncode))
        time.sleep(0.02)
    took = time.monotonic() - began
    p.terminate()
    p.wait()
    return took, cpu() - before


def measure_restore(work):
    with open(work + "/kafka/brokers", encoding="ascii") as f:
        url = "kafka://%s/restore" % f.read().strip()
    with open(work + "/list", "w", encoding="ascii") as f:
        for n in range(PAGES):
            f.write("http://host-%d.example/folder/page-%d.html\t%s\n" % (n % 1000, n, "done" if n % 2 else "waiting"))
    run("import", "--from", "list", work + "/list", "-o", work + "/one", "--cluster", url, "--shards", "1")
    run("pause", url)
    print(machine())
    print("a shard of %d URLs, %d octets in NAME.state" % (PAGES, octets(work + "/kafka", "restore.state")))
    for name, words, where in (("own disk", ["resume", work + "/one"], "/one"),
                               ("nothing", ["join", url, "-o", work + "/two"], "/two"),
                               ("own disk", ["resume", work + "/two"], "/two"),
                               ("own disk, again", ["resume", work + "/two"], "/two")):
        print("from %-16s %6.1f s until it answers, %5.1f s of CPU with the stop" % (name, *answers(words, work + where)))


def main():
    work = tempfile.mkdtemp(prefix="urlweir-bench-cluster.")
    if kafka("start", work + "/kafka", "1") != 0:
        print("bench-cluster: skipped")
        return
    if RESTORE:
        try:
            measure_restore(work)
        finally:
            kafka("stop", work + "/kafka")
            shutil.rmtree(work)
        return
    site = subprocess.Popen([BUILD + "/tests/support/site", "serve", "--hosts", str(HOSTS), "--pages", str(PAGES), "--size", "4000",
                             "--seed", "5", "--max-time", "3600", "--stdin-guard"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        port = site.stdout.readline().split()[1]
        b = Bench(work, "http://127.0.0.1:%s/" % port)
        rows = [("one machine", b.alone), ("1 shard, 1 worker", lambda: b.cluster(1, 1)),
                ("4 shards, 1 worker", lambda: b.cluster(4, 1)), ("4 shards, 4 workers", lambda: b.cluster(4, 4))]
        found = {name: [] for name, _ in rows}
        for _ in range(ROUNDS):
            for name, crawl in rows:
                found[name].append(crawl())
                if name == "1 shard, 1 worker":
                    state = octets(work + "/kafka", b.name + ".state") / PAGES
                    restore = b.again()
        print(machine())
        print("%d pages of 4,000 octets on %d hosts, medians of %d" % (PAGES, HOSTS, ROUNDS))
        print("%-22s %14s %8s %14s %10s" % ("", "CPU us a page", "ratio", "broker's", "wall s"))
        base = statistics.median(row[0] for row in found["one machine"])
        for name, _ in rows:
            used, broker, wall = (statistics.median(row[i] for row in found[name]) for i in range(3))
            print("%-22s %14.1f %8.2f %14.1f %10.1f" % (name, used / PAGES * 1e6, used / base, broker / PAGES * 1e6, wall))
        print("NAME.state: %.0f octets a page; read into an empty directory and verified in %.1f s" % (state, restore))
    finally:
        site.kill()
        kafka("stop", work + "/kafka")
        shutil.rmtree(work)


main()
