"""Crawls whose shards are in Kafka, with faults on the way.

usage: cluster_shards.py URLWEIR DIR BROKERS [SCENARIO...]

Workers crawl a web whose pages are known (cluster_web.py). Afterwards every page
was fetched, no more repeats than there were pages under way or not yet committed
when something was killed, and no request came sooner than its host's delay.
"""

# Promise (Cluster): when one of three brokers is lost or silent the crawl goes
#   on; when two are, it stands still and says so; each worker signs in with
#   TLS and a password; topics that would lose messages are refused at each
#   start.
# Promise (Cluster): any worker of a cluster shows the whole crawl, in JSON, as
#   metrics and on a page, with the numbers of the command status, and says
#   which worker has a shard.
# Promise (Cluster): a cluster is steered from anywhere: a pause and changed
#   settings apply to all shards, also those that begin later, a stop ends all
#   workers, seeds wait for their shards, a blocked host is not asked, and a
#   command that no worker could carry out fails.
# Promise (Cluster): a crawl of a cluster asks the shards of an earlier one
#   which pages have not changed, and loses no page, though a worker is lost
#   with its disk.
import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import socket
import sqlite3
import struct
import subprocess
import sys
import time
import urllib.request
from collections import Counter

import prom_check
import scenarios
from background import end_with_us
from cluster_web import DELAY, HOSTS, Web
from scenarios import LONGEST, Failure, wait_for

URLWEIR, DIR, BROKERS = sys.argv[1:4]
OPTIONS = ["--allow-private", "--delay", str(DELAY), "--timeout", "2s", "--sitemap",
           "off", "--max-crawl-delay", "1s"]
OWN = ["--sandbox", "off", "--min-disk", "0", "--threads", "1", "--concurrency", "8"]
METRICS = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "../../docs/formats/metrics.md")
SHARDS = 4
# Pages that may be under way or not yet committed: a commit is due after 0.2 s.
IN_FLIGHT = HOSTS * (2 + int(0.2 / DELAY))


class Crawl:
    """A web, a crawl of it, and its workers."""

    def __init__(self, where, options=(), shards=SHARDS, **web):
        self.where, self.options, self.shards = where, OPTIONS + list(options), shards
        self.web, self.workers = Web(**web), []
        self.url = f"kafka://{BROKERS}/{os.path.basename(where)}-{os.getpid()}"
        self.own = lambda n: []  # options of worker n

    def start(self, words):
        name = f"{self.where}/log{len(self.workers)}"
        with open(name, "wb") as log:
            own = OWN + (self.own(len(self.workers)) if words[0] != "resume" else [])
            p = subprocess.Popen([URLWEIR] + words + own, stderr=log, stdout=log,
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
        self.end(0, killed)
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

    def end(self, code, killed=()):
        """Waits until all workers that run have ended with `code`."""
        for n, p in enumerate(self.workers):
            p.wait(LONGEST)
            if n not in killed and p.returncode != code:
                with open(p.log, encoding="utf-8") as f:
                    raise Failure(f"worker {n} ended with {p.returncode}: {f.read()}")

    def judge_shards(self):
        pages = self.rows()
        truth = {self.web.url(*page) for page in self.web.truth()}
        if pages != truth:
            raise Failure(f"the rows have {len(pages)} pages, not {len(truth)}: "
                          f"{sorted(truth - pages)[:5]} {sorted(pages - truth)[:5]}")

    def newest(self, shard):
        """Its directory on the worker that had it last."""
        dirs = [f"{self.directory(n)}/shards/{shard}" for n in range(len(self.workers))]
        return max((d for d in dirs if os.path.exists(d + "/manifest")),
                   key=lambda d: os.path.getmtime(d + "/manifest"))

    def rows(self, what=("fetched", "redirect")):
        """The pages in the newest directory of each shard, which is whole."""
        pages = set()
        for shard in range(self.shards):
            newest = self.newest(shard)
            got = subprocess.run([URLWEIR, "verify", newest], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, check=False)
            if got.returncode not in (0, 3):
                raise Failure(f"verify {newest}: {got.stdout}")
            out = subprocess.run([URLWEIR, "export", newest], text=True, check=True,
                                 stdout=subprocess.PIPE).stdout
            for row in map(json.loads, out.splitlines()):
                if row["status"] in what:
                    pages.add(row["url"])
        return pages


def first_offset(topic, partition):
    """Of the messages that are still there: Kafka's ListOffsets, version 1."""
    host, port = BROKERS.split(",")[0].rsplit(":", 1)
    text = struct.pack(">h", len(topic)) + topic.encode()
    ask = (struct.pack(">hhih", 2, 1, 7, 0) + struct.pack(">ii", -1, 1) + text
           + struct.pack(">iiq", 1, partition, -2))
    with socket.create_connection((host, int(port)), 10) as s:
        s.sendall(struct.pack(">i", len(ask)) + ask)
        answer = s.makefile("rb").read(struct.calcsize(">iiih") + len(topic) + 26)
    return struct.unpack(">q", answer[-8:])[0]


def alone(where):
    """One worker with all shards. What was read is deleted."""
    crawl = Crawl(where)
    crawl.create()
    crawl.finish()
    topic = crawl.url.rsplit("/", 1)[1] + ".urls"
    first = [first_offset(topic, n) for n in range(SHARDS)]
    if sum(first) < 200:
        raise Failure(f"the URLs that were read begin at {first}")


def kill_restore(where):
    """A worker is killed while it reads its shards' rows."""
    crawl = Crawl(where)
    crawl.create()
    crawl.reach(0.5)
    crawl.kill(0)
    for n in range(SHARDS):
        shard = f"{crawl.directory(0)}/shards/{n}"
        for name in ("manifest", "filter.ckpt"):
            with contextlib.suppress(FileNotFoundError):
                os.remove(f"{shard}/{name}")
        with contextlib.closing(sqlite3.connect(f"{shard}/frontier.db")) as db:
            db.execute("DELETE FROM fetch WHERE seq % 3 = 0")
            db.execute("DELETE FROM meta WHERE name = 'state_offset'")
            db.commit()
    crawl.resume(0)
    crawl.finish(killed=(0,), repeats=3 * IN_FLIGHT)  # it had all hosts


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


def lose_archives(where):
    """One of two is lost with its WARC files; the pages that were in them are fetched
    again, in full, and all others are not."""
    crawl = Crawl(where, pages=30, slow=0.15)  # so that it lasts
    crawl.own = lambda n: ["--warc", "--warc-size", "16K"]
    crawl.create()
    crawl.join()
    crawl.reach(0.4)
    crawl.kill(0, lose=True)
    other = crawl.directory(1)  # which may have had no shard yet
    wait_for(lambda: all((s["worker"] or "").endswith(other) for s in say(crawl, "status")["shards"]),
             "the other to take all shards over")
    lost = say(crawl, "refresh", "--lost-archives", "--now")["dated"]
    if lost < 0.2 * len(crawl.web.truth()):
        raise Failure(f"{lost} records are lost")
    crawl.end(0, killed=(0,))
    crawl.judge(lost + IN_FLIGHT)
    crawl.judge_shards()
    again = len(crawl.web.pages()) - len(crawl.web.truth())
    if again < lost:
        raise Failure(f"{again} pages were fetched again, {lost} were lost")
    have_records(crawl)
    shutil.rmtree(crawl.directory(1) + "/shards/2/warc")  # of a crawl that has ended
    say(crawl, "pause")
    crawl.resume(1)
    lost = say(crawl, "refresh", "--lost-archives", "--now")["dated"]
    say(crawl, "unpause")
    crawl.end(0, killed=(0,))
    crawl.judge(again + lost)
    have_records(crawl)
    crawl.web.close()


def have_records(crawl):
    """Each page has a record in the WARC files of worker 1."""
    for shard in range(SHARDS):
        where = f"{crawl.directory(1)}/shards/{shard}"
        run("verify", where)
        rows = map(json.loads, run("export", where, "--what", "fetches").splitlines())
        last = {row["url"]: row["warc_file"] for row in rows}
        without = [url for url, name in last.items() if not name]
        if without:
            raise Failure(f"without a record: {without}")


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
    """The process of a shard is killed, and started again by its worker, with the
    options of the run."""
    crawl = Crawl(where)
    crawl.own = lambda n: ["-v"]
    crawl.create()
    for part in (0.2, 0.4, 0.6):
        crawl.reach(part)
        os.kill(children(crawl.workers[0].pid)[0], signal.SIGKILL)
    offsets = [int(state_offset(crawl, n)) for n in range(SHARDS)]
    crawl.finish(repeats=3 * IN_FLIGHT)
    if min(offsets) <= 0:
        raise Failure(f"a restart would read all rows: {offsets}")
    with open(crawl.workers[0].log, encoding="utf-8") as f:
        if f.read().count("rows were read from Kafka") < 3:
            raise Failure("a shard does not know that its worker is verbose")


def state_offset(crawl, shard):
    """Where a restart reads on in NAME.state."""
    path = f"{crawl.directory(0)}/shards/{shard}/frontier.db"
    with contextlib.closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as db:
        row = db.execute("SELECT value FROM meta WHERE name = 'state_offset'").fetchone()
    return row[0] if row else 0


def say(crawl, *words, code=0):
    """The answer of a command to the crawl, from anywhere."""
    got = subprocess.run([URLWEIR, words[0], crawl.url, *words[1:], "--json"], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if got.returncode != code:
        raise Failure(f"{words} ended with {got.returncode}: {got.stdout}{got.stderr}")
    return json.loads(got.stdout) if got.stdout else got.stderr


def resume_paused(crawl, n):
    """A worker whose shards take commands, and ask for nothing before `unpause`."""
    say(crawl, "pause")
    log = crawl.resume(n).log

    def have_begun():
        with open(log, encoding="utf-8") as f:
            return f.read().count("paused hint") >= SHARDS

    wait_for(have_begun, "the shards")


def is_still(crawl):
    time.sleep(0.5)  # what was under way
    before = len(crawl.web.requests)
    time.sleep(1)
    return len(crawl.web.requests) == before


def paused(where):
    """A pause holds for all shards, and for a worker that comes meanwhile."""
    crawl = Crawl(where)
    crawl.create()
    crawl.join()
    crawl.reach(0.2)
    say(crawl, "pause")
    if not is_still(crawl):
        raise Failure("a paused crawl sends requests")
    crawl.kill(0, lose=True)
    time.sleep(15)  # until its shards are others'
    if not is_still(crawl) or say(crawl, "status")["state"] != "paused":
        raise Failure("it goes on elsewhere")
    say(crawl, "unpause")
    crawl.finish(killed=(0,), repeats=IN_FLIGHT)


def stopped(where):
    """A stop ends all workers; a seed waits for them; they go on where they were."""
    crawl = Crawl(where)
    crawl.create()
    crawl.join()
    crawl.reach(0.3)
    say(crawl, "stop")
    for p in crawl.workers:
        p.wait(LONGEST)
        if p.returncode != 4:
            raise Failure(f"a stopped worker ended with {p.returncode}")
    got = subprocess.run([URLWEIR, "seed", crawl.url, crawl.web.url(3, "/more"), "nonsense:"],
                         text=True, stdout=subprocess.PIPE, check=False)
    if got.returncode != 5 or "ok\t" not in got.stdout:
        raise Failure(f"seed: {got.returncode} {got.stdout}")
    crawl.resume(0)
    crawl.resume(1)
    crawl.web.extra = {(3, "/more")}
    for n, p in enumerate(crawl.workers[2:]):
        p.wait(LONGEST)
        if p.returncode != 5:  # the seed is not there
            raise Failure(f"worker {n} ended with {p.returncode}")
    asked_all_once(crawl, 1)
    resume_paused(crawl, 1)
    again = [say(crawl, "retry", *words)["queued"]
             for words in (["--reason", "timeout"], ["--host", crawl.web.address(4)], [])]
    say(crawl, "unpause")
    if again != [0, 0, 1] or crawl.workers[-1].wait(LONGEST) != 5:
        raise Failure(f"queued again: {again}")
    asked_all_once(crawl, 2)
    crawl.web.close()


def asked_all_once(crawl, seed):
    """But for the seed, so often."""
    asked = [page for page in crawl.web.requests if page[1] == "/more"]
    rows = crawl.web.pages()
    if len(asked) != seed or crawl.web.truth() - set(rows) or len(rows) != len(set(rows)):
        raise Failure(f"asked for the seed {len(asked)} times, for {len(rows)} pages")


def is_excluded(page):
    return page[1].startswith("/p4") and len(page[1]) == 4


def changed(where):
    """Settings are for all shards, and for those that begin later."""
    crawl = Crawl(where, slow=0.25)  # so that it lasts
    crawl.create()
    crawl.join()
    got = say(crawl, "set", "exclude=/p4.$", "delay=100ms")
    names = sorted(c["name"] for c in got["changed"])
    if names != ["delay", "exclude"]:
        raise Failure(f"changed {names}")
    time.sleep(3)  # what was under way
    before = [page for page in crawl.web.pages() if is_excluded(page)]
    say(crawl, "set", "memory=1G", code=1)
    say(crawl, "set", "delya=1", code=1)
    crawl.kill(0)
    crawl.resume(0)
    for n, p in enumerate(crawl.workers):
        p.wait(LONGEST)
        if n > 0 and p.returncode != 0:
            raise Failure(f"worker {n} ended with {p.returncode}")
    if [page for page in crawl.web.pages() if is_excluded(page)] != before:
        raise Failure("an excluded page was fetched")
    crawl.web.close()


def hosts(where):
    """A blocked host is not asked, whichever worker has it."""
    crawl = Crawl(where, slow=1)  # so that it lasts
    crawl.create()
    crawl.join()
    host = crawl.web.address(2)
    say(crawl, "block", host, "--for", "10m")
    time.sleep(1.5)
    before = [r for r in crawl.web.requests if r[0] == 2]
    time.sleep(3)
    if [r for r in crawl.web.requests if r[0] == 2] != before:
        raise Failure("a blocked host was asked")
    say(crawl, "block", host, "--off")
    say(crawl, "delay", host, "0.2")
    say(crawl, "block", "127.9.9.9", "--for", "1m", code=2)
    say(crawl, "refresh", "--host", crawl.web.address(1))
    without_process(crawl)
    say(crawl, "stop")
    for p in crawl.workers:
        p.wait(LONGEST)
    crawl.web.close()


def without_process(crawl):
    """A command fails that a shard could not take, as its process did not begin."""
    worker = crawl.workers[0].pid
    before = children(worker)
    for pid in before:
        os.kill(pid, signal.SIGKILL)
    words, stopped_ones = [URLWEIR, "refresh", crawl.url], set()
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as p:
        while p.poll() is None:
            for pid in set(children(worker)) - stopped_ones - set(before):
                os.kill(pid, signal.SIGSTOP)
                stopped_ones.add(pid)
            time.sleep(0.001)
        said = p.stderr.read()
    for pid in stopped_ones:
        os.kill(pid, signal.SIGCONT)
    if p.returncode != 2 or "urlweir refresh: shard " not in said:
        raise Failure(f"without a shard, a command ended with {p.returncode}: {said}")


def has_fetched(crawl, most, repeats):
    """Exactly so many pages in the rows that Kafka has, and on the web no more than were
    under way when a worker was killed. (Of a directory that a worker got just before the
    end it may have had no time for all rows.)"""
    rows = [row for row in map(json.loads, run("export", crawl.url).splitlines())
            if row["status"] == "fetched"]
    asked = [page for page in crawl.web.pages() if page != (HOSTS, "/p0")]  # redirects
    print(f"  {len(rows)} rows, {len(set(asked))} pages, {len(asked)} requests", flush=True)
    if len(rows) != most or len(asked) > most + repeats:
        raise Failure(f"{len(rows)} rows, {len(set(asked))} pages were asked for, "
                      f"{len(asked)} times, with --limit {most}")


def limited(where):
    """All workers together fetch so many pages and not one more, though one is lost
    with its disk; then as many more as a person says."""
    crawl = Crawl(where, options=["--limit", "200"])
    crawl.create()
    crawl.join()
    crawl.join()
    crawl.reach(0.2)
    crawl.kill(1, lose=True)
    crawl.end(3, killed=(1,))
    has_fetched(crawl, 200, IN_FLIGHT)
    with open(crawl.workers[0].log, encoding="utf-8") as f:
        said = f.read()
    if "reached --limit: 200 pages" not in said:
        raise Failure(f"a worker ended with: {said}")
    if say(crawl, "status")["state"] != "reached --limit":
        raise Failure(f"status: {say(crawl, 'status')}")
    say(crawl, "set", "limit=230")
    crawl.resume(0)
    crawl.resume(2)
    crawl.end(3, killed=(1,))
    has_fetched(crawl, 230, IN_FLIGHT)
    say(crawl, "set", "limit=none")
    crawl.workers = crawl.workers[:3]
    crawl.resume(0)
    crawl.end(0, killed=(0, 1, 2))
    crawl.judge(IN_FLIGHT)
    crawl.web.close()


def quota(where):
    """The octets of all shards count; what is under way is finished."""
    crawl = Crawl(where, options=["--quota", "20K"])
    crawl.create()
    crawl.join()
    crawl.end(3)
    got = say(crawl, "status")["bytes"]
    if not 20480 <= got <= 20480 + IN_FLIGHT * 1024:
        raise Failure(f"received {got} octets")
    crawl.web.close()


def secrets(where):
    """Each worker has its own secrets, and needs those that the crawl has; Kafka has
    none."""
    secret = ["--header-host", "*=X-Token: open-sesame"]
    crawl = Crawl(where, options=secret, token="open-sesame")
    crawl.create()
    got = subprocess.run([URLWEIR, "join", crawl.url, "-o", crawl.directory(1)], text=True,
                         stderr=subprocess.PIPE, check=False)
    if got.returncode != 1 or "made with --header-host" not in got.stderr:
        raise Failure(f"without the secret: {got.returncode} {got.stderr}")
    crawl.start(["join", crawl.url, "-o", crawl.directory(1)] + secret)
    crawl.reach(0.3)
    crawl.kill(0)
    crawl.resume(0)
    with open(crawl.directory(1) + "/urlweir-settings.yaml", encoding="utf-8") as f:
        if "open-sesame" in f.read():
            raise Failure("the secret is among the settings")
    crawl.finish(killed=(0,), repeats=IN_FLIGHT)


def lines(where):
    """A file of lines a shard, continued where the shard goes on, has each URL once."""
    crawl = Crawl(where)
    crawl.own = lambda n: ["-j", f"{where}/lines{n}.jsonl"]
    crawl.create()
    crawl.join()
    crawl.reach(0.4)
    crawl.kill(0, lose=True)
    crawl.finish(killed=(0,), repeats=IN_FLIGHT)
    urls = []
    for shard in range(SHARDS):
        with open(f"{where}/lines1-{shard}.jsonl", encoding="utf-8") as f:
            rows = map(json.loads, f)
            urls += [r["url"] for r in rows if r["status"] in ("fetched", "redirect")]
    truth = {crawl.web.url(*page) for page in crawl.web.truth()}
    if len(urls) != len(set(urls)) or set(urls) != truth:
        raise Failure(f"{len(urls)} lines of {len(set(urls))} URLs, not {len(truth)}")
    if os.path.exists(f"{where}/lines0-0.jsonl") and os.path.exists(f"{where}/lines0.jsonl"):
        raise Failure("shards share a file")


def get(address, path):
    with urllib.request.urlopen(f"http://{address}{path}", timeout=LONGEST) as answer:
        return answer.read().decode()


def watched(where):
    """Any worker shows the whole crawl, as `status` does: in JSON, in metrics that are as
    documented, and on its page."""
    crawl = Crawl(where)
    crawl.own = lambda n: ["--metrics", "127.0.0.1:0"] if n == 1 else []
    crawl.create()
    crawl.join()
    crawl.reach(0.3)
    say(crawl, "pause")
    with open(crawl.workers[1].log, encoding="utf-8") as f:
        address = re.search(r"HTTP on (\S+)", f.read())[1]
    wait_for(lambda: json.loads(get(address, "/v1/cluster")) == say(crawl, "status"),
             "the figures of status")
    got = say(crawl, "status")
    if len({s["worker"] for s in got["shards"]}) != 2 or got["state"] != "paused":
        raise Failure(f"status: {got}")
    with open(where + "/page", "w", encoding="utf-8") as f:
        f.write(get(address, "/metrics"))
    page = prom_check.Page(where + "/page")
    for key, name in (("pages", "pages_total"), ("queued", "queued_urls"),
                      ("bytes", "received_bytes_total"), ("sent", "sent_urls_total")):
        sums = [page.sum(f"urlweir_{of}_{name}", ()) for of in ("cluster", "shard")]
        if sums != [str(got[key])] * 2 or got[key] == 0:
            raise Failure(f"{key}: {sums}, status {got[key]}")
    with open(METRICS, encoding="utf-8") as f:
        rows = re.findall(r"^\| (`urlweir_(?:cluster|shard)_[^|]*) \|", f.read(), re.M)
    told = {(name, "counter" if name.endswith("_total") else "gauge")
            for name in re.findall(r"urlweir_\w+", " ".join(rows))}
    shown = {(n, t) for n, (t, _) in page.families.items()
             if n.startswith(("urlweir_cluster_", "urlweir_shard_"))}
    if told != shown:
        raise Failure(f"metrics.md and the page differ: {sorted(told ^ shown)}")
    if 'id="shards-table"' not in get(address, "/"):
        raise Failure("the page")
    say(crawl, "unpause")
    crawl.finish()


def run(*words, code=0):
    got = subprocess.run([URLWEIR, *words], text=True, check=False, timeout=LONGEST,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if got.returncode != code:
        raise Failure(f"{words} ended with {got.returncode}: {got.stdout}")
    return got.stdout


def known(where):
    """What is known of each URL."""
    out = subprocess.run([URLWEIR, "export", where, "--format", "jsonl"], text=True,
                         check=True, stdout=subprocess.PIPE).stdout
    names = ("url", "status", "reason", "http_status", "depth", "kind", "redirect_to")
    return {tuple(row[n] for n in names) for row in map(json.loads, out.splitlines())}


def known_by_url(where):
    """URL, status, reason."""
    return {row[:3] for row in known(where)}


def moved(where):
    """Half a crawl of one machine goes on on two, and comes back: stopped, with what is
    on its way between shards, and whole; a move that is killed is done again."""
    crawl = Crawl(where, slow=0.25)  # so that it lasts
    one, back, whole, alone = (f"{where}/{name}" for name in ("one", "back", "whole", "alone"))
    run("crawl", "-n", "200", "-o", one, *crawl.options, *OWN, *crawl.web.seeds(), code=3)
    words = ["import", "--from", "urlweir", one, "-o", crawl.directory(0),
             "--cluster", crawl.url, "--shards", str(SHARDS)]
    with subprocess.Popen([URLWEIR, *words], env={**os.environ, "URLWEIR_KILL_AT":
                                                  "import-shard:3"}) as p:
        if p.wait(LONGEST) == 0:
            raise Failure("the first import was not killed")
    if "has 4 partitions; it must have 5" not in run(*words[:-1], str(SHARDS + 1), code=2):
        raise Failure("topics of another number of shards were taken")
    run(*words)
    run(*words, code=2)  # it is there
    got = set()
    for n in range(SHARDS):
        got |= known(f"{crawl.directory(0)}/shards/{n}")
    if got != known(one):
        raise Failure(f"moved {sorted(got ^ known(one), key=str)[:5]}")
    say(crawl, "set", "limit=none")
    crawl.workers = [crawl.start(["resume", crawl.directory(0)])]
    crawl.join()
    said = run("import", "--from", "urlweir", crawl.url, "-o", back, code=2)
    if "runs; stop it first" not in said:
        raise Failure(f"import of a crawl that runs: {said}")
    crawl.reach(0.6)
    say(crawl, "stop")
    crawl.end(4)
    more = crawl.web.url(3, "/more")
    run("seed", crawl.url, more)
    run("import", "--from", "urlweir", crawl.directory(1), "-o", back)
    shutil.rmtree(crawl.directory(1))
    crawl.workers = [crawl.resume(0)]
    crawl.end(5)  # the seed is not there
    crawl.judge(0)
    run("import", "--from", "urlweir", crawl.url, "-o", whole)
    run("verify", whole)
    run("resume", "-q", back, code=5)
    run("crawl", "-q", "-o", alone, *OPTIONS, *OWN, *crawl.web.seeds(), more, code=5)
    for came in (back, whole):
        if known_by_url(came) != known_by_url(alone):
            raise Failure(f"{came}: {sorted(known_by_url(came) ^ known_by_url(alone))[:5]}")
    crawl.web.close()


def since(where):
    """A crawl knows an earlier one, shard by shard: what has not changed is not sent
    again, where all links of a page are known. A worker is lost with its disk."""
    first = Crawl(where, ["--record", "links"], pages=12, tags=True)
    first.create()
    first.end(0)
    first.judge(0)
    web = first.web
    leaves = {page for page in web.truth() if not web.links(page[0], int(page[1][2:]))}
    inside = {page for page in web.truth() if page[0] > HOSTS}
    web.requests.clear()
    more = Crawl(where, ["--record", "links", "--since", first.url], pages=0)
    more.web.close()
    more.web, more.url = web, first.url + "-more"
    more.directory = lambda n: f"{where}/more{n}"
    for words, why in ((["--shards", "3"], "has 4 shards"),
                       (["--since", first.url + "-none"], "--since kafka:")):
        said = run("crawl", "--cluster", more.url + "-no", "-o", where + "/no", "--shards",
                   "4", *more.options, *words, *web.seeds(), code=2)
        if why not in said:
            raise Failure(f"{words} was answered with {said}")
    more.create()
    more.join()
    more.reach(0.3)
    more.kill(1, lose=True)
    more.finish(killed=(1,), repeats=IN_FLIGHT)
    lacking = (leaves | inside) - {(HOSTS, "/p0")} - set(web.unchanged)
    if lacking:
        raise Failure(f"asked for in full: {sorted(lacking)}")
    rows = [json.loads(row) for row in run("export", more.url).splitlines()]
    pages = {row["url"] for row in rows if row["reason"] == "unchanged"}
    if pages != {web.url(*page) for page in web.truth() if page != (HOSTS, "/p0")}:
        raise Failure(f"{len(pages)} are said to be unchanged")


def killed_copy(crawl, tmp):
    """What an export that is killed leaves, the next one removes, and not what another
    process holds."""
    env = {**os.environ, "TMPDIR": tmp}
    words = [URLWEIR, "export", crawl.url]
    os.makedirs(tmp + "/urlweir-shard.held")
    held = os.open(tmp + "/urlweir-shard.held", os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    while len(os.listdir(tmp)) < 2:
        with subprocess.Popen(words, env=env, stdout=subprocess.DEVNULL) as left:
            wait_for(lambda: len(os.listdir(tmp)) == 2 or left.poll() is not None, "a copy")
            left.kill()
    for count in (1, 0):
        subprocess.run(words, env=env, check=True, stdout=subprocess.DEVNULL)
        if len(os.listdir(tmp)) != count:
            raise Failure(f"copies: {os.listdir(tmp)}")
        if count == 1:
            os.close(held)


def anywhere(where):
    """What a crawl knows is read from Kafka, though no worker's disk is left, and is
    what one machine finds in the same web."""
    crawl = Crawl(where, pages=12)
    crawl.create()
    crawl.join()
    crawl.end(0)
    first = json.loads(run("export", crawl.directory(0)).splitlines()[0])
    if "no crawl by itself" not in run("resume", f"{crawl.directory(0)}/shards/0", code=2):
        raise Failure("a shard was resumed alone")
    shutil.rmtree(crawl.directory(0))
    shutil.rmtree(crawl.directory(1))
    rows = [json.loads(row) for row in run("export", crawl.url).splitlines()]
    urls = {row["url"] for row in rows if row["status"] in ("fetched", "redirect")}
    if urls != {crawl.web.url(*page) for page in crawl.web.truth()} or first not in rows:
        raise Failure(f"{len(rows)} rows, {len(urls)} URLs")
    table = run("export", crawl.url, "--what", "pages", "--format", "csv").splitlines()
    if len(table) != len(urls) or len([row for row in table if row.startswith("url")]) != 1:
        raise Failure(f"{len(table)} lines of CSV, {table[:2]}")
    if run("verify", crawl.url).count("all agree") != SHARDS:
        raise Failure("verify")
    killed_copy(crawl, where + "/tmp")
    page = crawl.web.url(3, "/p5")
    if "fetched" not in run("explain", crawl.url, page):
        raise Failure("explain")
    if run("audit", crawl.url).count("URLs sent to other shards") != SHARDS:
        raise Failure("audit")
    run("crawl", "-q", "-o", f"{where}/alone", *OPTIONS, *OWN, *crawl.web.seeds())
    if "same" not in run("diff", crawl.url, f"{where}/alone", "--exit-code"):
        raise Failure("diff")
    crawl.web.close()


def same(where):
    """With a limit of depth and by in-links, four workers, two of which are lost, find
    what one machine does, and as near to a seed; all is fetched once more when a person
    says so, and stays the same."""
    options = ["--depth", "3", "--order", "best"]
    crawl = Crawl(where, options)
    crawl.create()
    for _ in range(3):
        crawl.join()
    wait_for(lambda: len(crawl.web.pages()) > 40, "some pages")
    crawl.kill(1, lose=True)
    crawl.kill(2)
    crawl.end(0, killed=(1, 2))
    alone_dir = f"{where}/alone"
    run("crawl", "-q", "-o", alone_dir, *OPTIONS, *OWN, *options, *crawl.web.seeds())
    is_same(crawl, alone_dir)
    pages = set(crawl.web.pages())
    crawl.web.requests.clear()
    resume_paused(crawl, 0)
    dated = say(crawl, "refresh", "--now")["dated"]
    say(crawl, "unpause")
    crawl.end(0, killed=(1, 2))
    again = crawl.web.pages()
    if dated != len(pages) or sorted(again) != sorted(pages) or crawl.web.too_early():
        raise Failure(f"{len(pages)} pages, {dated} were made due, {len(set(again))} fetched "
                      f"by {len(again)} requests, {crawl.web.too_early()} too early, "
                      f"not {sorted(pages - set(again))[:20]}")
    run("refresh", alone_dir, "--now")
    run("resume", "-q", alone_dir)
    is_same(crawl, alone_dir)
    crawl.web.close()


def is_same(crawl, alone_dir):
    if known(crawl.url) != known(alone_dir):
        raise Failure(str(sorted(known(crawl.url) ^ known(alone_dir), key=str)[:5]))
    if "same" not in run("diff", crawl.url, alone_dir, "--exit-code"):
        raise Failure("diff")


def budgets(where):
    """Each host has as many pages as on one machine, and a URL as many in-links, though
    the pages with the links are in other shards. It waits behind a limit of its host."""
    options = ["--order", "best", "--per-host", "1"]
    hub = (HOSTS, "/hub")
    crawl = Crawl(where, options, pages=24, hub=hub)
    alone_dir, host, most = f"{where}/alone", crawl.web.address(hub[0]), 12
    crawl.create()
    crawl.end(3)
    resume_paused(crawl, 0)
    say(crawl, "set", f"per-host={most}")
    say(crawl, "limit", "127.9.9.9", "1", code=2)
    say(crawl, "limit", host, "1")  # which it has had
    say(crawl, "unpause")
    crawl.end(3)
    requests = crawl.web.requests.copy()
    run("crawl", "-q", "-o", alone_dir, *OPTIONS, *OWN, *options, *crawl.web.seeds(), code=3)
    run("limit", alone_dir, host, "1")
    run("resume", "-q", alone_dir, "--per-host", str(most), code=3)
    asked = Counter(i for i, path, _, _ in requests if path != "/robots.txt")
    got = [pages_of_hosts(crawl.url), pages_of_hosts(alone_dir)]
    if got[0] != got[1] or asked != {**dict.fromkeys(range(HOSTS + 2), most), HOSTS: 1}:
        raise Failure(f"pages {got}, requests {asked}")
    got = [in_links(where_, crawl.web.url(*hub)) for where_ in (crawl.url, alone_dir)]
    print(f"  in-links {got}", flush=True)
    if got[0] != got[1] or got[0] < 64:
        raise Failure(f"in-links: {got}")
    crawl.web.close()


def pages_of_hosts(where):
    rows = map(json.loads, run("export", where).splitlines())
    return Counter(row["url"].split("/")[2] for row in rows if row["status"] == "fetched")


def in_links(where, url):
    """So many as a doubling, the last of which is stored."""
    return json.loads(run("explain", where, url, "--json"))["in_links"]


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


if __name__ == "__main__":
    scenarios.run([alone, join, leave, kill_worker, kill_restore, lose_worker, lose_archives, lose_all,
                   kill_often,
                   pause_worker, kill_shard, paused, stopped, changed, hosts,
                   limited, quota, secrets, lines, watched, moved, since, anywhere, same,
                   budgets], DIR, sys.argv[4:])
