"""Served URLs whose shards are in Kafka, with faults on the way.

usage: cluster_served.py URLWEIR DIR BROKERS [SCENARIO...]

Two processes of `urlweir serve --cluster` share a service; every call goes to
one and the other in turn. What was acknowledged is there afterwards, once, and
a lease that was given out comes back at its deadline and not before.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

import scenarios
from background import end_with_us
from scenarios import LONGEST, Failure, wait_for

URLWEIR, DIR, BROKERS = sys.argv[1:4]
SHARDS, QUEUES = 6, 40
LEASE = 4  # s, of what nobody settles


class Process:
    """One `urlweir serve --cluster`, which can be killed and started again."""

    def __init__(self, service, number):
        self.service, self.dir = service, f"{service.where}/dir{number}"
        self.log, self.address, self.process = f"{service.where}/log{number}", None, None

    def start(self):
        with open(self.log, "ab") as log:
            begin = log.tell()
            self.process = subprocess.Popen(
                [URLWEIR, "serve", self.dir, "--cluster", self.service.url, "--shards",
                 str(SHARDS), "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0",
                 "--sandbox", "off", "--verbose"],
                stdout=log, stderr=log, preexec_fn=end_with_us)
        wait_for(lambda: "HTTP on " in self.said(begin) or self.process.poll() is not None,
                 "the port")
        self.address = self.said(begin).split("HTTP on ")[1].split()[0]
        self.begin = begin
        return self

    def said(self, begin=0):
        with open(self.log, "rb") as f:
            f.seek(begin)
            return f.read().decode("utf-8", "replace")

    def has_shards(self):
        return "has a shard" in self.said(self.begin)

    def kill(self, lose=False):
        """`lose`: its disk, too."""
        self.process.kill()
        self.process.wait()
        if lose:
            shutil.rmtree(self.dir)


class Service:
    def __init__(self, where):
        self.where = where
        self.url = f"kafka://{BROKERS}/served-{os.path.basename(where)}-{os.getpid()}"
        self.processes = [Process(self, n).start() for n in range(2)]
        self.turn, self.up = 0, list(self.processes)
        wait_for(lambda: all(p.has_shards() for p in self.processes), "shards of both")
        self.ask("POST", "/v1/queues/delay", {"delay_seconds": 0})
        self.acknowledged = set()
        self.lock = threading.Lock()

    def call(self, process, method, path, body=None):
        request = urllib.request.Request(
            f"http://{process.address}{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=LONGEST) as answer:
            return json.load(answer)

    def next(self):
        self.turn += 1
        return self.up[self.turn % len(self.up)]

    def ask(self, method, path, body=None):
        """By one process and the other in turn, until one of them answers."""
        end = time.monotonic() + LONGEST
        while True:
            try:
                return self.call(self.next(), method, path, body)
            except (OSError, urllib.error.URLError) as e:
                if isinstance(e, urllib.error.HTTPError) and e.code != 503:
                    raise Failure(f"{path}: {e.code} {e.read()}") from e
                if time.monotonic() > end:
                    raise Failure(f"{path}: no answer: {e}") from e
                time.sleep(0.05)

    def put(self, urls):
        """Until each URL is acknowledged; what was tried may be there already."""
        left = list(urls)
        while left:
            try:
                got = self.call(self.next(), "POST", "/v1/urls",
                                [{"url": u} for u in left])["results"]
            except (OSError, urllib.error.URLError):
                time.sleep(0.05)
                continue
            done = {r["url"] for r in got if r["status"] in ("ok", "skipped")}
            with self.lock:
                self.acknowledged |= done
            left = [u for u in left if u not in done]

    def lease(self, seconds, queues=QUEUES, urls=10):
        return self.ask("POST", "/v1/lease", {
            "max_queues": queues, "max_urls_per_queue": urls,
            "lease_seconds": seconds})["urls"]

    def ack(self, leased):
        """Those that were settled."""
        got = self.ask("POST", "/v1/ack", [{"lease": u["lease"]} for u in leased])
        status = [r["status"] for r in got["results"]]
        again = [u for u, s in zip(leased, status) if s == "failed"]
        return ([u["url"] for u, s in zip(leased, status) if s == "ok"] +
                (self.ack(again) if again else []))

    def end(self):
        for p in self.processes:
            p.process.send_signal(signal.SIGTERM)
        for p in self.processes:
            if p.process.wait(LONGEST) != 0:
                raise Failure(f"a process ended with {p.process.returncode}: {p.said()}")


def urls_of(name, n):
    return [f"http://{name}{i % QUEUES}.example/{i}" for i in range(n)]


class Writer(threading.Thread):
    """Puts URLs until it is told to end."""

    def __init__(self, service):
        super().__init__(daemon=True)
        self.service, self.over, self.batches = service, False, 0
        self.start()

    def run(self):
        while not self.over:
            self.service.put(urls_of(f"w{self.batches}-", 60))
            self.batches += 1
            time.sleep(0.05)

    def end(self):
        self.over = True
        self.join(LONGEST)
        if self.is_alive():
            raise Failure("a put is never acknowledged")


def judge(service, done, held, held_at):
    """All that was acknowledged is handed out once, but for what is done."""
    seen, early = [], []
    end = time.monotonic() + LONGEST
    while True:
        leased = service.lease(600)
        now = time.monotonic()
        early += [u["url"] for u in leased if u["url"] in held and now < held_at + LEASE]
        seen += [u["url"] for u in leased]
        if leased and len(service.ack(leased)) != len(leased):
            raise Failure("a lease that was just given is gone")
        stats = service.ask("GET", "/v1/stats")
        if stats["size"] == 0:
            break
        if time.monotonic() > end:
            raise Failure(f"not all URLs come: {stats}, {len(seen)} came")
    wanted = service.acknowledged - done
    print(f"  acknowledged {len(service.acknowledged)}, done before {len(done)}, came "
          f"{len(seen)}, {len(seen) - len(set(seen))} twice, {len(early)} too early",
          flush=True)
    if set(seen) != wanted or len(seen) != len(set(seen)) or early:
        raise Failure(f"lost {sorted(wanted - set(seen))[:5]}, too much "
                      f"{sorted(set(seen) - wanted)[:5]}, early {early[:5]}")
    if stats["completed"] != len(service.acknowledged):
        raise Failure(f"counts do not agree: {stats}")


def with_fault(where, fault, mend):
    """URLs are put, leased and settled; the fault; more of the same."""
    service = Service(where)
    service.put(urls_of("first", 400))
    leased = service.lease(600, urls=2)
    done = set(service.ack(leased))
    if len(done) != len(leased) or not done:
        raise Failure(f"settled {len(done)} of {len(leased)}")
    held_at = time.monotonic()
    held = {u["url"] for u in service.lease(LEASE, urls=3)}
    writer = Writer(service)
    wait_for(lambda: writer.batches > 1, "the first batches")
    fault(service.processes[0])
    began = time.monotonic()
    service.put(urls_of("second", 200))  # of all shards
    print(f"  all shards were there again after {time.monotonic() - began:.1f} s",
          flush=True)
    mend(service.processes[0])
    wait_for(service.processes[0].has_shards, "shards of its own again")
    service.put(urls_of("third", 200))
    writer.end()
    judge(service, done, held, held_at)
    service.end()


def kill_process(where):
    """One is killed, the other takes over, and it comes back with its disk."""
    with_fault(where, lambda p: p.kill(), lambda p: p.start())


def lose_process(where):
    """The same, but its disk is lost."""
    with_fault(where, lambda p: p.kill(lose=True), lambda p: p.start())


def pause_process(where):
    """One stands still past its session, and wakes up without its shards."""
    def stop(p):
        p.service.up.remove(p)
        p.process.send_signal(signal.SIGSTOP)
        p.begin = os.path.getsize(p.log)

    def wake(p):
        p.process.send_signal(signal.SIGCONT)
        p.service.up.append(p)

    with_fault(where, stop, wake)


if __name__ == "__main__":
    scenarios.run([kill_process, lose_process, pause_process], DIR, sys.argv[4:])
