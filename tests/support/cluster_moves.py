"""Crawls that move from a directory into a cluster, and out of it.

usage: cluster_moves.py URLWEIR DIR [SCENARIO...]
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import scenarios
from cluster_workers import OWN, Crawl
from redis_servers import LONGEST, Closing, Cluster, Failure, Single, wait_for

URLWEIR, DIR = sys.argv[1], sys.argv[2]


def run(*words):
    return subprocess.run([URLWEIR] + list(words), text=True, stderr=subprocess.STDOUT,
                          stdout=subprocess.PIPE, timeout=LONGEST, check=False)


def expect(got, code, text):
    if got.returncode != code or text not in got.stdout:
        raise Failure(f"{got.args}: {got.returncode}, not {code} and '{text}': "
                      f"{got.stdout}")


def killed_at(point, *words):
    """Our command is killed at one of its steps."""
    env = dict(os.environ, URLWEIR_KILL_AT=point)
    got = subprocess.run([URLWEIR] + list(words), env=env, timeout=LONGEST, check=False,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if got.returncode != -signal.SIGKILL:
        raise Failure(f"not killed at {point}: {got.returncode}")


def stop(worker):
    worker.send_signal(signal.SIGTERM)
    worker.wait(LONGEST)
    if worker.returncode != 4:
        raise Failure(f"a stopped crawl ended with {worker.returncode}")


def begin(crawl):
    """A crawl in a directory, which is stopped on its way."""
    p = crawl.start(["crawl", "-o", crawl.directory(0)] + crawl.options +
                    crawl.web.seeds())
    crawl.reach(0.2)
    stop(p)


def move_in(where):
    """A crawl begins in a directory, moves into the cluster, and goes on there.

    The move is killed at each of its steps; after the first the directory goes on
    alone for a while, and so is ahead of what came to be in the cluster.
    """
    with contextlib.closing(Closing(Cluster(where + "/redis", 1))) as c:
        crawl = Crawl(URLWEIR, c.it, where)
        move = ("export-crawl", crawl.directory(0), crawl.url)
        begin(crawl)
        killed_at("move-in", *move)
        again = crawl.resume(0)
        crawl.reach(0.4)
        stop(again)
        killed_at("move-in-moved", *move)
        expect(run("join", crawl.url, "-o", where + "/x"), 2, "not all in the cluster")
        killed_at("move-in-marked", *move)
        expect(run("resume", crawl.directory(0), *OWN), 2, "not all in the cluster")
        got = run(*move)
        expect(got, 0, "URLs are done")
        done = int(got.stdout.split("URLs are done")[0].split()[-1])
        if done < len(set(crawl.web.pages())):
            raise Failure(f"{done} URLs are done, {len(set(crawl.web.pages()))} fetched")
        expect(run(*move), 2, "is in the cluster already")
        alone = crawl.workers[:]
        crawl.resume(0)
        crawl.join()
        crawl.finish(killed=alone, fetching=2)


def move_out(where):
    """A crawl of two workers moves into the directory of one of them.

    The move is killed at each of its steps; after the first the crawl goes on in the
    cluster for a while.
    """
    os.environ["URLWEIR_TIME"] = "move-hold:1500"
    with contextlib.closing(Closing(Cluster(where + "/redis", 1))) as c:
        crawl = Crawl(URLWEIR, c.it, where, pages=0)
        dirs = crawl.directory(0), crawl.directory(1)
        move = ("import-crawl", crawl.url, dirs[0], "--with", dirs[1])
        crawl.create()
        crawl.join()
        wait_for(lambda: crawl.rows(1) > 0, "a page of the second worker")
        for p in crawl.workers[:2]:
            stop(p)
        killed_at("move-out", *move)
        had = [crawl.rows(n) for n in (0, 1)]
        crawl.resume(0)
        crawl.resume(1)
        wait_for(lambda: all(crawl.rows(n) > had[n] for n in (0, 1)), "more pages of both")
        for p in crawl.workers[2:]:
            stop(p)
        crawl.web.end()
        killed_at("move-out-moved", *move)
        expect(run(*move[:3]), 2, "other workers have done")
        killed_at("move-out-marked", *move)
        expect(run(move[0], crawl.url, dirs[1], "--with", dirs[0]), 2,
               "moved into another directory")
        expect(run("join", crawl.url, "-o", where + "/x"), 2, "moved into a directory")
        expect(run("resume", dirs[0], *OWN), 2, "moved into a directory")
        expect(run(*move), 0, "were done by other workers")
        expect(run(*move), 2, "a crawl of its own")
        workers = crawl.workers[:]
        crawl.resume(0)
        crawl.wait(killed=workers)
        crawl.judge(0)
        crawl.web.close()
        expect(run("verify", dirs[0]), 0, "")


def steer(*words):
    expect(run(*words), 0, "")


def hosts_of(directory):
    """{host: (delay, limit)} that were set for it."""
    rows = json.loads(run("status", directory, "--hosts", "--json").stdout)["queues"]
    got = {r["host"]: (r.get("set_delay_seconds"), r.get("limit")) for r in rows}
    return {host: both for host, both in got.items() if both != (None, None)}


def host_settings(where):
    """The delay and the limit of a host move with the crawl, in and out."""
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        crawl = Crawl(URLWEIR, c.it, where, pages=0)
        slow, few = crawl.web.address(4).split(":")[0], crawl.web.address(5).split(":")[0]
        here = crawl.directory(0)

        def pages(i):
            return sum(host == i for host, _ in crawl.web.pages())

        def gaps(i, since):
            with crawl.web.lock:
                rows = sorted(r[2:] for r in crawl.web.requests if r[0] == i)
            return [b - a for (_, a), (b, _) in zip(rows, rows[1:]) if a > since]

        alone = crawl.start(["crawl", "-o", here] + crawl.options + crawl.web.seeds())
        wait_for(lambda: pages(5) >= 3 and pages(4) >= 3, "both hosts")
        steer("pause", here)  # so that the host is not past its limit before it has one
        wait_for(crawl.is_still, "a pause")
        steer("delay", here, slow, "0.7s")
        first = pages(5) + 25
        most = first + 15
        steer("limit", here, few, str(first))
        steer("unpause", here)
        wait_for(lambda: pages(5) >= first - 18, "some pages")
        stop(alone)
        steer("export-crawl", here, crawl.url)
        worker, since = crawl.resume(0), time.monotonic()
        wait_for(lambda: pages(5) >= first and len(gaps(4, since)) > 5, "the limit")
        if min(gaps(4, since)) < 0.698:
            raise Failure(f"too early: {gaps(4, since)}")
        steer("limit", crawl.url, few, str(most))  # also above what the directory had
        wait_for(lambda: pages(5) >= most, "the new limit")
        steer("delay", crawl.url, slow, "0.9s")
        steer("block", crawl.url, crawl.web.address(6), "--for", "1h")
        time.sleep(2)
        if pages(5) != most:
            raise Failure(f"{pages(5)} pages, not {most}")
        stop(worker)
        steer("import-crawl", crawl.url, here)
        if hosts_of(here) != {slow: (0.9, None), few: (None, most)}:
            raise Failure(f"the directory has {hosts_of(here)}")
        worker, since, blocked = crawl.resume(0), time.monotonic(), pages(6)
        wait_for(lambda: len(gaps(4, since)) > 3, "the slow host")
        if pages(5) != most or min(gaps(4, since)) < 0.898 or pages(6) != blocked:
            raise Failure(f"{pages(5)} pages; {gaps(4, since)}; {pages(6) - blocked}")
        stop(worker)
        crawl.web.close()


scenarios.run([move_out, move_in, host_settings], DIR, sys.argv[3:])
