"""Crawls of `urlweir crawl --cluster` and `urlweir join`, with faults on the way.

usage: cluster_crawls.py URLWEIR DIR [SCENARIO...]

Workers (cluster_workers.py) crawl a web whose pages are known (cluster_web.py).
"""

import contextlib
import os
import signal
import subprocess
import sys
import time

import scenarios
from cluster_web import HOSTS
from cluster_workers import OWN, Crawl
from redis_servers import LONGEST, Certificate, Closing, Cluster, Failure, Single

URLWEIR, DIR = sys.argv[1], sys.argv[2]


def alone(where):
    """Without a fault each page is fetched once, by one of two workers."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        crawl = Crawl(URLWEIR, c.it, where)
        crawl.create()
        crawl.join()
        crawl.finish()


def kill_worker(where):
    """One of three is killed, and takes part again later."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        crawl = Crawl(URLWEIR, c.it, where)
        crawl.create()
        crawl.join()
        crawl.join()
        crawl.reach(0.3)
        crawl.workers[0].kill()
        crawl.reach(0.5)
        crawl.resume(0)
        crawl.finish(killed=crawl.workers[:1], repeats=HOSTS + 2)


def stop_worker(where):
    """A worker stands still past its leases, and waits for hosts meanwhile.

    It has read robots.txt and waits for the Crawl-delay when it is stopped, and
    others ask these hosts when it goes on.
    """
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        crawl = Crawl(URLWEIR, c.it, where, pages=8, slow=1)
        crawl.create(lambda: len(crawl.web.requests) > HOSTS)
        first = crawl.workers[0]
        first.send_signal(signal.SIGSTOP)
        crawl.join()
        crawl.reach(0.2)
        first.send_signal(signal.SIGCONT)
        crawl.finish(repeats=HOSTS + 2)


def end_worker(where):
    """A worker that is asked to stop leaves nothing behind."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        crawl = Crawl(URLWEIR, c.it, where)
        crawl.create()
        crawl.join()
        crawl.reach(0.3)
        first = crawl.workers[0]
        first.send_signal(signal.SIGTERM)
        first.wait(LONGEST)
        if first.returncode != 4:
            raise Failure(f"a stopped worker ended with {first.returncode}")
        crawl.reach(0.5)
        crawl.resume(0)
        crawl.finish(killed=crawl.workers[:1])


def kill_master(where):
    with contextlib.closing(Closing(Cluster(where + "/redis", 2))) as c:
        crawl = Crawl(URLWEIR, c.it, where)
        crawl.create()
        crawl.join()
        crawl.join()
        crawl.reach(0.3)
        crawl.workers[1].kill()
        c.it.masters[0].kill()
        crawl.finish(killed=crawl.workers[1:2], repeats=HOSTS + 2)


def one_robots(where):
    """Four workers ask a host for its robots.txt as often as one would: when what
    any of them has is stale. One is killed; a robots.txt that it had just read and
    not passed on is read once more."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        crawl = Crawl(URLWEIR, c.it, where, fresh=2)
        crawl.create()
        for _ in range(3):
            crawl.join()
        crawl.reach(0.4)
        killed = time.monotonic()
        crawl.workers[1].kill()
        crawl.finish(killed=crawl.workers[1:2], repeats=HOSTS + 2, fetching=2)
        asked = crawl.web.robots()
        print(f"  {sum(map(len, asked.values()))} robots.txt of {len(asked)} hosts")
        for host, times in asked.items():
            for one, two in zip(times, times[1:]):
                if two - one < 2 and not one < killed + 2 <= two + 2:
                    raise Failure(f"robots.txt of host {host} again after {two - one} s")


def run(*words, env=None):
    return subprocess.run([URLWEIR] + list(words), text=True, stderr=subprocess.STDOUT,
                          stdout=subprocess.PIPE, timeout=LONGEST, check=False, env=env)


def expect(got, code, text):
    if got.returncode != code or text not in got.stdout:
        raise Failure(f"{got.args}: {got.returncode}, not {code} and '{text}': "
                      f"{got.stdout}")


def refused(where):
    """What would not hold its promise is said so at the start."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        url, out = c.it.url() + "/crawl", ["-o", where + "/x"]
        crawl = ["crawl", "http://127.0.0.1:1/", "--cluster"]
        for option in (["--depth", "3"], ["--refresh", "1d"],
                       ["--order", "best"], ["--per-host", "5"],
                       ["--record", "links"], ["--cookie", "a=b"], ["--quota", "1M"],
                       ["--queue-key", "ip"], ["--traps", "skip"],
                       ["--near-dup", "skip"], ["--conns-per-host", "2"],
                       ["--keep-history", "3"], ["--until-idle"],
                       ["--per-domain", "5"], ["--per-host-bytes", "1M"],
                       ["--header", "A: b"], ["--header-host", "h=A: b"],
                       ["--cookies", "file"], ["--auth", "h=user:word"],
                       ["--bearer", "h=word"], ["--netrc", "file"],
                       ["--cert", "file"], ["--proxy", "http://h:1"],
                       ["--compare-text"], ["--dup-content", "skip"],
                       ["--trap", "counter=9"], ["--block-filter", "file"],
                       ["--rewrite", "file"], ["--since", "dir"], ["--check"],
                       ["--check-external"]):
            expect(run(*crawl, url, *out, *option), 1, "does not work with --cluster")
        expect(run(*crawl, c.it.url(), *out), 1, "the name of the crawl is missing")
        expect(run(*crawl, url), 1, "--cluster needs -o DIR")
        expect(run(*crawl, url + "?durability=safe", *out), 2, "has 0 replicas")
        expect(run("join", url, *out), 2, "there is no crawl named crawl")
        expect(run("join", url), 1, "-o DIR is missing")
        expect(run("join", url, *out, "--delay", "0"), 1, "is a setting of the crawl")
        c.it.servers[0].ask("CONFIG", "SET", "maxmemory", "100mb")
        c.it.servers[0].ask("CONFIG", "SET", "maxmemory-policy", "allkeys-lru")
        expect(run(*crawl, url, *out), 2, "maxmemory-policy noeviction")
        c.it.servers[0].ask("CONFIG", "SET", "maxmemory-policy", "noeviction")
        crawl[1:1] = ["--allow-private", "--tries", "1"]
        expect(run(*crawl, url, *out, *OWN), 5, "finished")
        expect(run(*crawl, url, "-o", where + "/y", *OWN), 2, "`urlweir join`")
        expect(run("resume", where + "/x", "--delay", "3s"), 1, "cannot change")
        expect(run("seed", where + "/x", "http://127.0.0.1:2/"), 2, "does not work there")
        expect(run("retry", where + "/x"), 2, "does not work there")
        expect(run("resume", where + "/x", *OWN), 5, "finished")
        c.it.servers[0].ask("FLUSHALL")
        expect(run("resume", where + "/x", *OWN), 2, "there is no crawl named crawl")


# What docs/cluster.md says that a crawler needs.
RIGHTS = ["~{crawl}*", "~{crawl:*", "+@read", "+@write", "+@scripting", "+time", "+info",
          "+wait", "+asking", "+cluster|slots", "+config|get"]


def tls(where):
    """Over TLS, as a user who may do what a crawler does and nothing else."""
    certificate = Certificate(where)
    with contextlib.closing(Closing(Cluster(where + "/redis", 1, certificate))) as c:
        for s in c.it.servers:
            s.ask("ACL", "SETUSER", "crawler", "on", ">se:cr@t/1", *RIGHTS)
            s.ask("ACL", "SETUSER", "default", "-evalsha")
        known = {"SSL_CERT_FILE": certificate.path}
        crawl = Crawl(URLWEIR, c.it, where, user="crawler:se%3Acr%40t%2F1@", env=known)
        for url, env, text in (
                (c.it.url("crawler:wrong@"), known, "WRONGPASS"),
                (c.it.url(), known, "NOPERM"),
                (crawl.url[:-6], {}, "certificate")):
            expect(run("join", url + "/crawl", "-o", where + "/x",
                       env={**os.environ, **env}), 2, text)
        crawl.create()
        crawl.join()
        crawl.reach(0.3)
        crawl.workers[0].terminate()
        crawl.workers[0].wait(LONGEST)
        crawl.resume(0)
        crawl.finish(killed=crawl.workers[:1])
        told = subprocess.run(["grep", "-rlaF", "-e", "se:cr@t", "-e", "se%3Acr", where],
                              text=True, stdout=subprocess.PIPE, check=False).stdout
        if {os.path.basename(f) for f in told.split()} != {"urlweir-secrets.yaml"}:
            raise Failure(f"the password is in {told}")


SCENARIOS = [refused, tls, alone, one_robots, kill_worker, end_worker, stop_worker, kill_master]

scenarios.run(SCENARIOS, DIR, sys.argv[3:])
