"""Damage to the state of a crawl in a cluster: found and mended by urlweir verify.

usage: cluster_verify.py URLWEIR DIR [SCENARIO...|list]

A crawl is stopped on its way. Each kind of damage is planted by hand, found,
mended, and not found again. Then a worker ends the crawl.
"""

import contextlib
import signal
import subprocess
import sys
import time

import scenarios
from cluster_hosts import DIR, PAGES, URLWEIR, Host, Workers, expect
from redis_servers import LONGEST, Closing, Cluster, Failure, Single, wait_for


class State:
    """The keys of the crawl, wherever they are."""

    def __init__(self, cluster):
        self.servers = cluster.masters

    def ask(self, command, key, *words):
        for s in self.servers:
            try:
                return s.ask(command, key, *words)
            except RuntimeError as e:
                if not str(e).startswith("MOVED"):
                    raise
        raise Failure("no server has " + key)

    def keys(self, kind):
        found = [k.decode() for s in self.servers for k in s.ask("KEYS", "{crawl:*")]
        return sorted(k for k in found if k.split("}", 1)[1].startswith(kind))

    def queue(self):
        """A host that waits, with two URLs or more: the shard's prefix, host."""
        for key in self.keys("q:"):
            at, host = key.split("q:", 1)
            if self.ask("LLEN", key) > 1 and not self.ask("ZSCORE", at + "l", host):
                return at, host
        raise Failure("no host waits")

    def lease(self):
        """As a worker would that was lost."""
        at, host = self.queue()
        item = self.ask("LPOP", at + "q:" + host)
        self.ask("HSET", at + "t", host, b"7:" + item)
        self.ask("ZADD", at + "l", int((time.time() + 2) * 1000), host)
        self.ask("ZREM", at + "r", host)
        return at, host

    def bucket(self):
        return max(self.keys("s:"), key=lambda k: self.ask("SCARD", k))


# ---- damage: what it plants; it returns the finding ------------------------------


def nothing_due(s):
    at, host = s.queue()
    s.ask("ZREM", at + "r", host)
    return "hosts with waiting URLs, neither due nor leased"


def unknown_host(s):
    """Only a search of all keys finds it."""
    at, host = s.queue()
    s.ask("ZREM", at + "r", host)
    s.ask("HDEL", at + "h", host)
    return "hosts with waiting URLs, neither due nor leased"


def idle_host(s):
    s.ask("ZADD", s.queue()[0] + "r", 1, "nobody.example")
    return "hosts that are due and have no URL"


def due_and_leased(s):
    at, host = s.lease()
    s.ask("ZADD", at + "r", 1, host)
    return "hosts that are due and leased"


def no_end(s):
    at, host = s.lease()
    s.ask("ZREM", at + "l", host)
    return "leased URLs whose lease never ends"


def not_an_item(s):
    at, host = s.queue()
    s.ask("RPUSH", at + "q:" + host, "\0nonsense")
    return "items that are no URL of this crawl"


def twice(s):
    at, host = s.queue()
    s.ask("RPUSH", at + "q:" + host, s.ask("LINDEX", at + "q:" + host, 0))
    return "URLs in two places"


def other_bucket(s):
    key = s.bucket()
    s.ask("HSET", key.split("}")[0] + "}m", "buckets", 3)
    return "fingerprints in a bucket of others"


def wrong_seen(s):
    s.ask("HINCRBY", s.queue()[0] + "m", "seen", 3)
    return "shards with a wrong count of URLs seen"


def wrong_done(s):
    s.ask("HINCRBY", s.queue()[0] + "m", "done", 2)
    return "URLs too many that count as done"


def less_done(s):
    s.ask("HINCRBY", s.queue()[0] + "m", "done", -1)
    return "URLs that were seen, are not done and in no place"


DAMAGE = [nothing_due, unknown_host, idle_host, due_and_leased, no_end, not_an_item,
          twice, other_bucket, wrong_seen, wrong_done, less_done]


def no_fingerprints(s):
    """What was done is not known any more, and may be fetched again."""
    s.ask("DEL", s.bucket())
    return "URLs that wait or are leased, but were not seen"


def no_url(s):
    """The URL is lost for good."""
    at, host = s.lease()
    s.ask("HDEL", at + "t", host)
    return "leases without a URL"


# ---- scenarios -------------------------------------------------------------------


def verify(w, code, *text, repair=False):
    got = subprocess.run([URLWEIR, "verify", w.url] + ["--repair"] * repair, text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         timeout=LONGEST, check=False)
    if got.returncode != code or not all(t in got.stdout for t in text):
        raise Failure(f"verify: {got.returncode}, not {code} and {text}: {got.stdout}")


def stopped_crawl(cluster, where):
    hosts, w = [Host(1)], Workers(cluster, where)
    hosts += [Host(i, hosts[0].port) for i in (2, 3)]
    for h in hosts:
        h.listen()
    p = w.create("--delay", "1s", "--max-delay", "1s", *[h.url() for h in hosts])
    wait_for(lambda: all(len(h.requests) > 2 for h in hosts), "some pages")
    verify(w, 2, "stop them first")
    p.send_signal(signal.SIGTERM)
    w.ended(0, 4)
    subprocess.run([URLWEIR, "set", w.url, "delay=20ms"], stdout=subprocess.DEVNULL,
                   timeout=LONGEST, check=True)
    return hosts, w, State(cluster)


def plant(w, state, damage):
    finding = damage(state)
    verify(w, 6, finding, "--repair")
    verify(w, 0, finding, "repaired", repair=True)
    verify(w, 0, "all agree")


def mends(where):
    """Nothing is lost by damage that can be mended as a whole."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        hosts, w, state = stopped_crawl(c.it, where)
        verify(w, 0, "all agree")
        verify(w, 0, "all agree", repair=True)
        for damage in DAMAGE:
            plant(w, state, damage)
        w.join()
        w.ended(1, 0)
        for h in hosts:
            pages = [r for r in h.requests if r != "/robots.txt"]
            expect("pages", sorted(set(pages)),
                   sorted(["/"] + [f"/p{i}" for i in range(1, PAGES)]))
            expect("fetched again", len(pages) - len(set(pages)), 0)


def loses(where):
    """What is gone is said, and the crawl comes to its end without it."""
    with contextlib.closing(Closing(Cluster(where + "/redis", 1))) as c:
        hosts, w, state = stopped_crawl(c.it, where)
        verify(w, 0, "all agree")
        for damage in (unknown_host, no_fingerprints, no_url):
            plant(w, state, damage)
        w.join()
        w.ended(1, 0)
        pages = {(h.at, r) for h in hosts for r in h.requests if r != "/robots.txt"}
        expect("pages", len(pages), len(hosts) * PAGES - 1)


def audit(where):
    """The bound of collisions, and what the URLs of a worker show of it."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        _, w, _ = stopped_crawl(c.it, where)
        got = subprocess.run([URLWEIR, "audit", w.url, w.directory(0)], text=True,
                             stdout=subprocess.PIPE, timeout=LONGEST, check=True).stdout
        for text in ("URLs seen, 63 bits of each in one of 64 shards",
                     "lost to collisions so far", "with a chance of", "sample of ",
                     "pairs with equal 63 bits   0\n"):
            if text not in got:
                raise Failure(f"audit: no '{text}': {got}")
        other = subprocess.run([URLWEIR, "audit", w.url, where], text=True, check=False,
                               stderr=subprocess.PIPE, timeout=LONGEST)
        expect("audit of no directory", other.returncode, 2)


SCENARIOS = [mends, loses, audit]

if __name__ == "__main__":
    scenarios.run(SCENARIOS, DIR, sys.argv[3:])
