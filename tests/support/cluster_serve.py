"""Two `urlweir serve --cluster` over one frontier, with faults on the way.

usage: cluster_serve.py URLWEIR DIR [SCENARIO...|list]

Programs put URLs, lease them and acknowledge them over HTTP, each with one
process and then the other, and note what they were told. At the end every URL
whose put was acknowledged has been handed out and is completed, none was handed
out while another program held it, and none after it was completed.
"""

import contextlib
import http.client
import json
import random
import re
import subprocess
import sys
import threading
import time

import scenarios
from redis_servers import (HERE, LONGEST, Closing, Cluster, Failure, Single,
                           end_with_us, wait_for)

URLWEIR, DIR = sys.argv[1], sys.argv[2]
CALLERS, URLS, BATCH, HOSTS = 6, 6000, 20, 60
LEASE = 10  # s


class Service:
    """One process; it keeps its port when it is killed and started again."""

    def __init__(self, where, url):
        self.where, self.url, self.http = where, url, HERE + ":0"
        self.start()

    def start(self):
        with open(self.where, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                [URLWEIR, "serve", "--cluster", self.url, "--listen",
                 "127.0.0.1:0", "--http", self.http],
                stderr=log, preexec_fn=end_with_us)
        wait_for(lambda: "listening on" in self.log() or self.ended(), "a service")
        if self.ended():
            raise Failure("no service: " + self.log())
        self.http = re.search(r"HTTP on (\S+)", self.log()).group(1)

    def ended(self):
        return self.process.poll() is not None

    def log(self):
        with open(self.where, encoding="utf-8") as f:
            return f.read()

    def kill(self):
        self.process.kill()
        self.process.wait()


class Front:
    """A cluster and two services, as callers find them."""

    def __init__(self, where, cluster, settings=""):
        self.cluster = cluster
        self.url = cluster.url() + "/front" + settings
        self.services = [Service(f"{where}/service{i}", self.url) for i in range(2)]

    def call(self, at, path, body):
        """The answer of one of them; None: there was none, or it failed."""
        c = http.client.HTTPConnection(self.services[at % 2].http, timeout=LONGEST)
        try:
            c.request("POST", "/v1/" + path, json.dumps(body),
                      {"Content-Type": "application/json"})
            r = c.getresponse()
            text = r.read()
            return json.loads(text) if r.status == 200 else None
        except (OSError, http.client.HTTPException):
            return None
        finally:
            c.close()

    def sure(self, path, body):
        """Asks one and the other until there is an answer."""
        end, at = time.monotonic() + LONGEST, random.randrange(2)
        while time.monotonic() < end:
            answer = self.call(at, path, body)
            if answer is not None:
                return answer
            at += 1
            time.sleep(0.1)
        raise Failure("no answer to " + path)

    def stats(self):
        at = 0
        while True:
            c = http.client.HTTPConnection(self.services[at % 2].http, timeout=LONGEST)
            with contextlib.closing(c), contextlib.suppress(OSError,
                                                            http.client.HTTPException):
                c.request("GET", "/v1/stats?crawl=c")
                r = c.getresponse()
                text = r.read()
                if r.status == 200:
                    return json.loads(text)
            at += 1
            time.sleep(0.1)

    def end(self):
        for s in self.services:
            s.process.terminate()
        for s in self.services:
            if s.process.wait(LONGEST) != 0:
                raise Failure("a service ended badly: " + s.log())


class Callers:
    def __init__(self, front):
        self.front, self.lock = front, threading.Lock()
        self.acked, self.done, self.until, self.wrong = set(), {}, {}, []
        self.failed = None
        self.threads = [threading.Thread(target=self.safe, args=(n,), daemon=True)
                        for n in range(CALLERS)]
        for t in self.threads:
            t.start()

    def safe(self, n):
        try:
            self.run(n)
        except Exception as e:  # told by finish()
            self.failed = e

    def put(self, n, i):
        urls = [f"http://h{j % HOSTS}/{j}"
                for j in range(i, i + BATCH)]
        items = [{"crawl": "c", "url": u} for u in urls]
        while items:
            answer = self.front.sure("urls", items)
            bad = {r["url"] for r in answer["results"] if r["status"] == "failed"}
            with self.lock:
                self.acked |= {r["url"] for r in answer["results"]} - bad
            items = [x for x in items if x["url"] in bad]

    def lease(self, n):
        begun = time.monotonic()
        answer = self.front.call(random.randrange(2), "lease", {
            "crawl": "c", "max_urls_per_queue": 5, "max_queues": 10,
            "lease_seconds": LEASE})
        if answer is None:
            time.sleep(0.1)
            return []
        now = time.monotonic()
        with self.lock:
            # Of a call that took long, the leases may have ended before another
            # program got its own, which we heard of first.
            late = now - begun >= LEASE - 0.05
            for u in answer["urls"]:
                if self.done.get(u["url"], now) < (begun if late else now):
                    self.wrong.append("again " + u["url"])
                if not late and now < self.until.get(u["url"], 0):
                    self.wrong.append("twice " + u["url"])
                # the servers' clock has begun later than this
                self.until[u["url"]] = max(begun + LEASE - 0.05,
                                           self.until.get(u["url"], 0))
        return answer["urls"]

    def ack(self, leased):
        answer = self.front.sure("ack", [{"lease": u["lease"]} for u in leased])
        with self.lock:
            for u, r in zip(leased, answer["results"]):
                if r["status"] == "ok":
                    self.done.setdefault(u["url"], time.monotonic())

    def run(self, n):
        mine = list(range(n * BATCH, URLS, CALLERS * BATCH))
        end = time.monotonic() + 3 * LONGEST
        while time.monotonic() < end:
            if mine:
                self.put(n, mine.pop(0))
            leased = self.lease(n)
            if leased:
                self.ack(leased)
            elif not mine:
                s = self.front.stats()
                if s["size"] == 0 and len(self.acked) == URLS:
                    return
                time.sleep(0.2)
        raise Failure("no end")

    def reach(self, part):
        wait_for(lambda: len(self.done) >= part * URLS or self.failed,
                 f"{part} of the URLs")

    def finish(self):
        for t in self.threads:
            t.join()
        if self.failed:
            raise Failure(f"a caller: {self.failed}")
        if self.wrong:
            raise Failure(f"{len(self.wrong)} handed out wrongly: {self.wrong[:5]}")
        s = self.front.stats()
        if s["completed"] != URLS or s["in_process"] != 0:
            raise Failure(f"{URLS} URLs, but {s}")
        self.front.end()


def two_services(where):
    """Without a fault."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        front = Front(where, c.it)
        front.sure("queues/delay", {"delay_seconds": 0})
        Callers(front).finish()


def kill_service(where):
    """Each is killed once, in the middle of its calls, and comes back."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        front = Front(where, c.it)
        front.sure("queues/delay", {"delay_seconds": 0})
        callers = Callers(front)
        for i, s in enumerate(front.services):
            callers.reach(0.2 + 0.3 * i)
            s.kill()
            callers.reach(0.3 + 0.3 * i)
            s.start()
        callers.finish()


def kill_served_master(where):
    """Slots are moved and scripts forgotten first, then a master is lost."""
    with contextlib.closing(Closing(Cluster(where + "/redis", 2))) as c:
        front = Front(where, c.it, "?durability=safe")
        front.sure("queues/delay", {"delay_seconds": 0})
        callers = Callers(front)
        callers.reach(0.1)
        for s in c.it.masters:
            s.ask("SCRIPT", "FLUSH")
        a, b = c.it.masters[:2]
        slots = [a.ask("CLUSTER", "KEYSLOT", "{front:%x}m" % i) for i in range(64)]
        for slot in [s for s in slots if c.it.owns(a, s)][:6]:
            c.it.move(slot, a, b)
        callers.reach(0.4)
        a.kill()
        callers.finish()


def cut_served_master(where, durability="safe"):
    """The link to its replicas is lost some time before the master is."""
    with contextlib.closing(Closing(Cluster(where + "/redis", 2))) as c:
        front = Front(where, c.it, "?durability=" + durability)
        front.sure("queues/delay", {"delay_seconds": 0})
        callers = Callers(front)
        callers.reach(0.2)
        c.it.cut(c.it.masters[0])
        time.sleep(1)
        c.it.masters[0].kill()
        callers.finish()


def serve_unsafe(where):
    """The same without waiting for replicas: what was acknowledged is gone."""
    try:
        cut_served_master(where, "fast")
    except Failure as e:
        if "URLs, but" in str(e) or "handed out wrongly" in str(e):
            print(f"  without WAIT: {str(e)[:100]}")
            return
        raise
    raise Failure("nothing was lost without WAIT")


def full_served(where):
    """Puts fail when memory is full, the rest goes on."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        front, server = Front(where, c.it), c.it.servers[0]
        front.sure("queues/delay", {"delay_seconds": 0})
        urls = [{"crawl": "c", "url": f"http://h{i}/"} for i in range(50)]
        front.sure("urls", urls)
        server.ask("CONFIG", "SET", "maxmemory",
                   int(server.info("used_memory")) - 100000)
        got = front.call(0, "urls", {"crawl": "c", "url": "http://new/"})
        if got is None or got["results"][0]["status"] != "failed":
            raise Failure(f"a put into a full server: {got}")
        leased = front.call(1, "lease", {"crawl": "c", "lease_seconds": 600})["urls"]
        acks = front.call(0, "ack", [{"lease": u["lease"]} for u in leased])
        if len(leased) != 50 or any(r["status"] != "ok" for r in acks["results"]):
            raise Failure(f"{len(leased)} leased, {acks}")
        server.ask("CONFIG", "SET", "maxmemory", 0)
        got = front.call(0, "urls", {"crawl": "c", "url": "http://new/"})
        if got["results"][0]["status"] != "ok" or front.stats()["completed"] != 50:
            raise Failure(f"a put when there is room: {got}, {front.stats()}")
        front.end()


def serve_refuses(where):
    """What would not hold is said at the start."""

    def serve(*words, code, says):
        got = subprocess.run([URLWEIR, "serve", *words, "--listen", "127.0.0.1:0",
                              "--http", "none"], text=True, capture_output=True,
                             timeout=LONGEST, check=False)
        if got.returncode != code or says not in got.stderr:
            raise Failure(f"{words}: {got.returncode}, not {code} and '{says}': "
                          f"{got.stderr}")

    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        url = c.it.url()
        serve(code=1, says="--cluster")
        serve("--cluster", url, code=1, says="the name of the crawl is missing")
        serve(where + "/d", "--cluster", url + "/front", code=1, says="leave")
        serve("--cluster", url + "/front", "--memory", "64M", code=1,
              says="--memory needs a directory")
        serve("--cluster", url + "/front?durability=safe", code=2,
              says="has 0 replicas")
        c.it.servers[0].ask("HSET", "{crawl}", "format", "1")
        serve("--cluster", url + "/crawl", code=2, says="is a crawl's name")
        c.it.servers[0].ask("CONFIG", "SET", "maxmemory", "100mb")
        c.it.servers[0].ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        serve("--cluster", url + "/front", code=2, says="maxmemory-policy noeviction")
        c.it.servers[0].ask("CONFIG", "SET", "maxmemory", "0")
        Front(where, c.it).end()
        got = run("explain", url + "/front", "http://h/")
        if got.returncode == 0 or "front is no crawl" not in got.stderr:
            raise Failure(f"explain: {got}")


def run(*words):
    return subprocess.run([URLWEIR, *words], stdout=subprocess.PIPE, check=False,
                          stderr=subprocess.PIPE, text=True, timeout=LONGEST)


def read_outside(where):
    """`status` and `export` read what the services have; `verify` says what does."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        front = Front(where, c.it)
        for crawl in ("one", "two"):
            front.sure("urls", [{"url": f"http://h{i % 7}.test/{i}", "crawl": crawl,
                                 "metadata": {"n": [str(i)]}} for i in range(300)])
        urls = front.sure("lease", {"crawl": "one", "max_urls_per_queue": 5, "max_queues": 7,
                                    "lease_seconds": 600})["urls"]
        front.sure("ack", [{"lease": u["lease"]} for u in urls[:10]])
        held = len(urls) - 10
        got = json.loads(run("status", front.url, "--json").stdout)
        want = {"holds": "service", "urls": 600, "queued": 590 - held, "leased": held,
                "completed": 10, "queue_count": 14, "active": True}
        if {k: got[k] for k in want} != want or got["crawls"] != [
                {"crawl": "one", "queued": 290 - held, "leased": held, "completed": 10,
                 "queue_count": 7},
                {"crawl": "two", "queued": 300, "leased": 0, "completed": 0, "queue_count": 7}]:
            raise Failure(f"status: {got}")
        text = run("status", front.url).stdout
        if f"  crawl two: 300 queued, 0 leased, 0 completed\n" not in text:
            raise Failure(text)
        rows = [json.loads(x) for x in run("export", front.url).stdout.splitlines()]
        states = {s: sum(r["state"] == s for r in rows) for s in ("queued", "leased", "completed")}
        if len({(r["crawl"], r["url"]) for r in rows}) != 600 or len(rows) != 600 or \
                states != {"queued": 590 - held, "leased": held, "completed": 10}:
            raise Failure(f"export: {len(rows)} rows, {states}")
        if any(r["state"] != "completed" and r["metadata"] != {"n": [r["url"].split("/")[-1]]}
               for r in rows):
            raise Failure(f"metadata: {rows[:3]}")
        for words, text in ((["verify"], "`urlweir status` and `urlweir export` read"),
                            (["join", "-o", where + "/x"], "is no crawl"),
                            (["export", "--what", "queues"], "--what urls alone")):
            got = run(words[0], front.url, *words[1:])
            if got.returncode not in (1, 2) or text not in got.stderr:
                raise Failure(f"{words}: {got}")
        got = run("export", front.url + "x")
        if got.returncode != 2 or "no frontier named frontx" not in got.stderr:
            raise Failure(f"{got}")
        for s in front.services:
            s.kill()


def dates(where):
    """Metrics count URLs with a date, and those that are past it, of all processes."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        front = Front(where, c.it)

        def put(n, first, **more):
            front.sure("urls", [{"url": f"http://h{i % 40}.test/{i}", **more}
                                for i in range(first, first + n)])

        def metrics(at):
            link = http.client.HTTPConnection(front.services[at].http, timeout=LONGEST)
            link.request("GET", "/metrics")
            rows = re.findall(r"^urlweir_frontier_(dated|overdue)_urls (\d+)$|"
                              r"^urlweir_frontier_(oldest)_overdue_seconds (\d+)$",
                              link.getresponse().read().decode(), re.M)
            link.close()
            return {a or c: int(b or d) for a, b, c, d in rows}

        put(500, 0)  # without a date
        put(300, 1000, kind="known", refetch_at="2099-01-01T00:00:00Z")
        put(700, 2000, kind="known", refetch_at="2020-01-01T00:00:00Z", key="one")
        put(40, 3000, kind="known")  # completed
        for at in (0, 1):
            wait_for(lambda: metrics(at)["dated"] == 1000, "dates")
            got = metrics(at)
            if got["overdue"] != 700 or not 1e8 < got["oldest"] < 1e9:
                raise Failure(f"{got}")
        urls = front.sure("lease", {"key": "one", "max_urls_per_queue": 700})["urls"]
        front.sure("ack", [{"lease": u["lease"]} for u in urls])
        wait_for(lambda: metrics(0) == {"dated": 1000 - len(urls), "overdue": 700 - len(urls),
                                        "oldest": metrics(0)["oldest"]}, "fewer")
        for s in front.services:
            s.kill()


SCENARIOS = [dates, read_outside, full_served, kill_served_master, cut_served_master, serve_unsafe, kill_service,
             two_services, serve_refuses]

if __name__ == "__main__":
    scenarios.run(SCENARIOS, DIR, sys.argv[3:])
