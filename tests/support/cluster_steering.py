"""Crawls in a cluster that people watch and steer from anywhere.

usage: cluster_steering.py URLWEIR DIR [SCENARIO...]
"""

import contextlib
import json
import queue
import re
import subprocess
import sys
import threading
import time

import scenarios
from cluster_web import HOSTS
from cluster_workers import Crawl
from redis_servers import LONGEST, Closing, Failure, Single, wait_for

URLWEIR, DIR = sys.argv[1], sys.argv[2]


@contextlib.contextmanager
def crawling(where, workers, **web):
    """A crawl with so many workers."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        crawl = Crawl(URLWEIR, c.it, where, **web)
        crawl.create()
        for _ in range(workers - 1):
            crawl.join()
        yield crawl


def run(*words, code=0, err=subprocess.STDOUT):
    got = subprocess.run([URLWEIR] + list(words), text=True, stderr=err,
                         stdout=subprocess.PIPE, timeout=LONGEST, check=False)
    if got.returncode != code:
        raise Failure(f"{words}: {got.returncode}, not {code}: {got.stdout}")
    return got.stdout


def status(crawl):
    return json.loads(run("status", crawl.url, "--json", err=None))


def expect(ok, text):
    if not ok:
        raise Failure(text)


def watched(where):
    """`status` shows the workers and what there is; at the end nobody is left."""
    with crawling(where, 2, pages=0) as crawl:
        wait_for(lambda: status(crawl)["workers_alive"] == 2, "two workers")
        s = status(crawl)
        expect(s["state"] == "running", s)
        expect({w["dir"] for w in s["workers"]} ==
               {crawl.directory(0), crawl.directory(1)}, s)
        expect({w["pid"] for w in s["workers"]} == {p.pid for p in crawl.workers}, s)
        expect(s["seen"] == s["waiting"] + s["leased"] + s["done"], s)
        expect(s["memory"]["seen"] > 0 and s["settings_version"] == 1, s)
        expect(s["settings"]["timeout"] == "2s", s)
        text = run("status", crawl.url)
        expect(": running\n  2 workers, " in text and "waiting" in text, text)
        one = run("status", crawl.directory(1))
        expect(f"a worker of {crawl.url};" in one, one)
        crawl.web.end()
        crawl.finish()
        s = status(crawl)
        expect(s["state"] == "finished" and s["workers"] == [], s)
        expect(s["done"] == s["seen"] >= len(crawl.web.truth()), s)
        with open(crawl.workers[1].log, encoding="utf-8") as f:
            expect(f"a worker of {crawl.url};" in f.read(), "the summary")


def lost(where):
    """A worker that was killed is said not to answer."""
    with crawling(where, 2, pages=0) as crawl:
        wait_for(lambda: status(crawl)["workers_alive"] == 2, "two workers")
        crawl.workers[1].kill()
        wait_for(lambda: status(crawl)["workers_alive"] == 1, "one worker")
        s = status(crawl)
        dead = [w for w in s["workers"] if not w["alive"]]
        expect(len(dead) == 1 and dead[0]["dir"] == crawl.directory(1), s)
        expect(dead[0]["heard_seconds"] > 10, s)
        expect("not heard for" in run("status", crawl.url), "its line")
        crawl.workers[0].terminate()
        crawl.wait(killed=crawl.workers)
        crawl.web.close()


def in_force(crawl, version):
    """All workers go by this version of the settings."""
    return all(w["settings_version"] == version for w in status(crawl)["workers"])


def change(crawl, *words):
    """Change settings, and wait until all workers obey; how long that took, and how
    long a command takes meanwhile."""
    began = time.monotonic()
    status(crawl)
    busy, began = time.monotonic() - began, time.monotonic()
    version = json.loads(run("set", crawl.url, "--json", *words))["settings_version"]
    wait_for(lambda: in_force(crawl, version), "a change of settings")
    return time.monotonic() - began, busy


def gaps(crawl, since):
    """From each response to the next request to the host, both after that."""
    last, out = {}, []
    for i, _, began, ended in sorted(crawl.web.requests, key=lambda r: r[2]):
        if began > since:
            if i in last:
                out.append(began - last[i])
            last[i] = ended
    return out


def through_a_worker(crawl):
    """Given a worker's directory, a setting of the crawl goes to the cluster, that of
    a machine stays there; nothing is changed unless both can be. Version 2 holds."""
    here, there = crawl.directory(1), crawl.directory(0)
    for words, code, text in (
            (["limit-rate=100M", "timeout=3s"], 2, "timeout: it cannot change"),
            (["memory=1G", "delay=3s"], 2, "memory: it cannot change"),
            (["limit-rate=100M", "depth=3"], 1, "--depth does not work with --cluster")):
        out = run("set", here, *words, code=code)
        expect(text in out, f"{words}: {out}")
    expect(status(crawl)["settings_version"] == 2, "a refused change")
    out = run("set", here, "limit-rate=100M", "delay=900ms")
    expect("delay: 1s, now 900ms, for all workers\n" in out and
           "limit-rate: none, now 100M, for this worker alone\n" in out, out)
    wait_for(lambda: in_force(crawl, 3), "a change through a worker")
    wait_for(lambda: "delay: 900ms" in settings_of(there), "the other's directory")
    expect("100M" in settings_of(here) and "100M" not in settings_of(there),
           settings_of(there))
    got = json.loads(run("set", there, "delay=800ms", "--json"))
    expect(got == {"settings_version": 4, "changed": [{
        "name": "delay", "before": "900ms", "after": "800ms", "for": "crawl"}]}, got)


def settings_of(directory):
    with open(directory + "/urlweir-settings.yaml", encoding="utf-8") as f:
        return f.read()


def changed(where):
    """All workers obey new settings, those that come later, too."""
    with crawling(where, 2, pages=0) as crawl:
        wait_for(lambda: status(crawl)["workers_alive"] == 2, "two workers")
        wait_for(lambda: in_force(crawl, 1), "the first settings")
        took, busy = change(crawl, "delay=1s", "adaptive=false")
        since = time.monotonic()
        print(f"  in force after {took:.1f} s, a command takes {busy:.2f} s", flush=True)
        expect(took < 5 + 20 * busy, "a change takes too long")
        crawl.join()
        wait_for(lambda: status(crawl)["workers_alive"] == 3, "another worker")
        wait_for(lambda: len(gaps(crawl, since)) > 20, "requests")
        expect(min(gaps(crawl, since)) >= 0.998, f"gap {min(gaps(crawl, since))}")
        for words, code, text in (
                (["timeout=3s"], 2, "timeout: it cannot change while the crawl runs"),
                (["scope=any"], 2, "out of the scope is not known"),
                (["memory=1G"], 1, "memory: each worker has its own"),
                (["depth=3"], 1, "--depth does not work with --cluster"),
                (["delay=x"], 1, "delay: "), (["nonsense=1"], 1, "no such setting"),
                (["delay"], 1, "not NAME=VALUE"),
                (["delay=2s", "timeout=3s"], 2, "timeout")):
            out = run("set", crawl.url, *words, code=code)
            expect(text in out, f"{words}: {out}")
        expect(status(crawl)["settings_version"] == 2, "a refused change")
        through_a_worker(crawl)
        change(crawl, "exclude=/p[0-9]*7$", "delay=50ms")
        before = len(crawl.web.requests)
        crawl.web.end()
        crawl.wait()
        after = {p for _, p, _, _ in crawl.web.requests[before + 3 * 8:]}
        expect(after and not any(p.endswith("7") for p in after), sorted(after)[:9])
        expect(status(crawl)["state"] == "finished", "its end")
        expect("50ms" in settings_of(crawl.directory(0)), "the settings of a worker")
        crawl.web.close()


def paused(where):
    """No worker sends a request until it goes on, nor one that joins."""
    with crawling(where, 2, pages=0) as crawl:
        wait_for(lambda: status(crawl)["workers_alive"] == 2, "two workers")
        out = run("pause", crawl.url)
        expect(f"{crawl.url}: paused" in out, out)
        wait_for(crawl.is_still, "a pause")
        expect(status(crawl)["state"] == "paused", "the state")
        crawl.join()
        wait_for(lambda: status(crawl)["workers_alive"] == 3, "another worker")
        expect(crawl.is_still(), "requests of a paused crawl")
        run("unpause", crawl.url)
        crawl.web.end()
        crawl.finish()


def stopped(where):
    """All workers end, and go on when they are resumed."""
    with crawling(where, 2, pages=0) as crawl:
        wait_for(lambda: status(crawl)["workers_alive"] == 2, "two workers")
        out = run("stop", crawl.url)
        expect(f"{crawl.url}: stopped" in out, out)
        for p in crawl.workers:
            expect(p.wait(LONGEST) == 4, f"a worker ended with {p.returncode}")
        wait_for(lambda: status(crawl)["state"] == "stopped", "the state")
        expect(status(crawl)["leased"] == 0, "leases of nobody")
        crawl.web.end()
        crawl.resume(0)
        crawl.resume(1)
        crawl.finish(killed=crawl.workers[:2])


def explain(crawl, url):
    return json.loads(run("explain", crawl.url, url, "--json"))


def seeded(where):
    """Seeds reach the workers, also later ones; `explain` says where a URL is."""
    with crawling(where, 2, pages=0) as crawl:
        web = crawl.web
        other = web.url(HOSTS + 1, "/p100")
        expect(explain(crawl, other)["state"] == "unseen", "before")
        wait_for(lambda: explain(crawl, web.seeds()[0])["state"] == "done", "a seed")
        run("pause", crawl.url)
        wait_for(crawl.is_still, "a pause")
        out = run("seed", crawl.url, other, web.seeds()[0], "ftp://x/", code=5)
        expect(f"ok\t{other}\n" in out and f"skipped\t{web.seeds()[0]}\n" in out, out)
        got = explain(crawl, other)
        expect(got["state"] in ("waiting", "leased"), got)
        with web.lock:
            linked = {to for links in web.given.values() for to in links}
        left = sorted(to for to in linked - set(web.pages()) if to[0] < HOSTS)[:30]
        states = {explain(crawl, web.url(*to))["state"] for to in left}
        expect("waiting" in states and states <= {"waiting", "leased"}, states)
        run("unpause", crawl.url)
        web.end()
        crawl.wait()
        expect(explain(crawl, other)["state"] == "done", "after")
        expect(web.pages().count((HOSTS + 1, "/p100")) == 1, "its request")
        text = run("explain", crawl.url, other)
        expect(f"{other}: done; " in text, text)
        out = run("seed", crawl.url, other + "1")
        expect(f"ok\t{other}1\n" in out and "nobody works on that crawl" in out, out)
        crawl.resume(0)
        crawl.wait()
        expect(explain(crawl, other + "1")["state"] == "done", "after a resume")
        crawl.web.close()


def leased(where):
    """A URL in hand is said to be a worker's."""
    with crawling(where, 1, pages=0, options=["--timeout", "20s"]) as crawl:
        page, asked, explained = crawl.web.page, queue.SimpleQueue(), threading.Event()

        def slow_page(i, path):
            if path != "/robots.txt":
                asked.put((i, path))
                explained.wait(LONGEST)
            return page(i, path)

        crawl.web.page = slow_page  # so that a URL is in hand until it is explained
        got = explain(crawl, crawl.web.url(*asked.get(timeout=LONGEST)))
        explained.set()
        expect(got["state"] == "leased", got)
        expect(got["worker_dir"].endswith(":" + crawl.directory(0)), got)
        expect(0 < got["lease_left_seconds"] <= 3 * 20 + 2, got)
        run("stop", crawl.url)
        crawl.workers[0].wait(LONGEST)
        crawl.web.close()


def blocked(where):
    """No worker asks a host that is blocked, until it is blocked no longer."""
    with crawling(where, 2, pages=0) as crawl:
        wait_for(lambda: len(crawl.web.pages()) > 5 * HOSTS, "some pages")
        host = crawl.web.address(4)
        out = run("block", crawl.url, host, "--for", "4m")
        expect(f"{crawl.url}: {host} is blocked until" in out, out)

        def asked():
            return sum(i == 4 for i, _, _, _ in crawl.web.requests)

        # One more, for the URL that a worker has.
        before = asked()
        crawl.web.end()
        wait_for(lambda: status(crawl)["leased"] <= 1 and not is_busy(crawl, 4),
                 "the others")
        expect(asked() <= before + 2, f"{asked()} after {before}")
        run("block", crawl.url, host, "--off")
        crawl.finish()


def limited(where):
    """All workers obey a delay and a limit of one host; when it is lifted, the crawl
    goes on."""
    with crawling(where, 2, pages=0) as crawl:
        def pages(host):
            return sum(i == host for i, _ in crawl.web.pages())

        def asked(host, since):
            with crawl.web.lock:
                rows = sorted(r[2:] for r in crawl.web.requests if r[0] == host)
            return [b - a for (_, a), (b, _) in zip(rows, rows[1:]) if a > since]

        wait_for(lambda: pages(4) > 3 and pages(5) > 3, "both hosts")
        run("pause", crawl.url)  # so that the host is not past its limit before it has one
        wait_for(crawl.is_still, "a pause")
        slow, few, most = crawl.web.address(4), crawl.web.address(5), pages(5) + 15
        out = run("limit", crawl.url, few, str(most))
        expect(f"{crawl.url}: {few} is limited to {most} URLs" in out, out)
        out = run("delay", crawl.url, slow, "0.7s")
        expect(f"{slow} is asked at most every 0.7 s" in out, out)
        since = time.monotonic()
        run("unpause", crawl.url)
        wait_for(lambda: len(asked(4, since)) >= 5 and pages(5) >= most, "both hosts")
        expect(min(asked(4, since)) >= 0.698, asked(4, since))
        run("delay", crawl.url, slow, "default")
        wait_for(lambda: min(asked(4, since)[-3:]) < 0.5, "its old delay")
        expect(pages(5) == most, f"{pages(5)} pages of the host with a limit")
        run("limit", crawl.url, few, "none")
        crawl.web.end()
        crawl.finish()


def pages_of(crawl):
    """What the directories of all workers count."""
    return sum(json.loads(run("status", crawl.directory(n), "--json", err=None))["pages"]
               for n in range(3))


def ends_at(crawl, limit, killed=()):
    """All workers end at the limit of the whole crawl, with its status."""
    for p in crawl.workers:
        p.wait(LONGEST)
        if p not in killed and p.returncode != 3:
            with open(p.log, encoding="utf-8") as f:
                raise Failure(f"a worker ended with {p.returncode}: {f.read()}")
    crawl.workers = []
    return limit


def page_limit(where):
    """Three workers fetch as many pages together as --limit says, and not one more; it
    can be raised; a worker that is killed costs no more than what it was fetching."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        crawl = Crawl(URLWEIR, c.it, where, options=["--limit", "90"], pages=0)
        crawl.create()
        crawl.join()
        crawl.join()
        ends_at(crawl, 90)
        wait_for(lambda: status(crawl)["state"] == "stopped", "the state")
        s = status(crawl)
        expect(pages_of(crawl) == 90 and s["pages"] == 90, (pages_of(crawl), s["pages"]))
        expect(s["leased"] == 0 and s["waiting"] > 0, s)
        crawl.resume(0)
        expect(ends_at(crawl, 90) == pages_of(crawl), "a resume at the limit")
        expect("limit: 90, now 150, for all workers" in
               run("set", crawl.url, "limit=150"), "set")
        for n in range(3):
            crawl.resume(n)
        ends_at(crawl, 150)
        expect(pages_of(crawl) == 150, f"{pages_of(crawl)} pages, not 150")
        run("set", crawl.url, "limit=400")
        for n in range(3):
            crawl.resume(n)
        wait_for(lambda: status(crawl)["pages"] > 200, "some of the next")
        dead = crawl.workers[1]
        dead.kill()
        ends_at(crawl, 400, [dead])
        crawl.resume(1)
        ends_at(crawl, 400)
        print(f"  {pages_of(crawl)} pages after a kill", flush=True)
        expect(400 <= pages_of(crawl) <= 400 + 8, f"{pages_of(crawl)} pages")
        crawl.web.close()


def log_of(crawl, n):
    with open(crawl.workers[n].log, encoding="utf-8") as f:
        return f.read()


def filled(where):
    """Workers warn before a server is full; `status` says it is; then it goes on."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        server = c.it.servers[0]

        def limit(part):
            used = re.search(rb"used_memory:(\d+)", server.ask("INFO", "memory"))[1]
            server.ask("CONFIG", "SET", "maxmemory", str(int(int(used) * part)))

        def warns(n):
            return "memory of a Redis server is nearly full" in log_of(crawl, n)

        def warns_near_the_limit(n):
            limit(1.1)  # again, as what is used goes on growing
            return warns(n)

        crawl = Crawl(URLWEIR, c.it, where, pages=0)
        crawl.create()
        expect(not warns(0), log_of(crawl, 0))
        limit(1.1)
        crawl.join()
        wait_for(lambda: warns(1), "the warning at the start")
        expect(f"server={c.it.url()} used_memory=" in log_of(crawl, 1), log_of(crawl, 1))
        wait_for(lambda: warns_near_the_limit(0), "the warning while it runs")
        limit(0.5)
        wait_for(lambda: status(crawl)["state"] == "full", "the state full")
        s = status(crawl)
        expect([x["full"] for x in s["servers"]] == [True], s["servers"])
        wait_for(lambda: any("full_server" in w for w in status(crawl)["workers"]),
                 "a worker that was refused")
        text = run("status", crawl.url)
        expect(": full\n" in text and "no new URLs are admitted" in text and
               f"  full: {c.it.url()}, " in text and "refused by" in text, text)
        server.ask("CONFIG", "SET", "maxmemory", "0")
        wait_for(lambda: status(crawl)["state"] == "running", "room")
        crawl.web.end()
        crawl.finish(repeats=HOSTS)
        both = log_of(crawl, 0) + log_of(crawl, 1)
        expect("memory of a Redis server is full: no new URLs" in both, both)
        expect("has room again" in both, both)


def is_busy(crawl, i):
    """Was any other host asked in the last second?"""
    return any(h != i and time.monotonic() - ended < 1
               for h, _, _, ended in crawl.web.requests)


SCENARIOS = [page_limit, changed, blocked, limited, filled, watched, seeded, leased, stopped, paused, lost]

scenarios.run(SCENARIOS, DIR, sys.argv[3:])
