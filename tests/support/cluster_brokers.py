"""Crawls whose shards are in Kafka, while its three brokers fail.

usage: KAFKA=DIR_OF_BROKERS cluster_brokers.py URLWEIR DIR BROKERS [SCENARIO...]

As cluster_shards.py, whose crawl and judgement these are.
"""

import os
import signal
import subprocess
import sys
import time

import scenarios
from cluster_shards import DIR, HOSTS, IN_FLIGHT, URLWEIR, Crawl, wait_for
from scenarios import Failure

KAFKA = os.environ.get("KAFKA", "")
TOOL = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tools/kafka.sh")
COUNT = 3


def kafka(*words):
    subprocess.run([TOOL, *words], check=True, stdout=subprocess.DEVNULL)


def down(n):
    kafka("kill", KAFKA, str(n))


def up(n):
    kafka("again", KAFKA, str(n))


def broker_pid(n):
    with open(f"{KAFKA}/{n}/pid", encoding="ascii") as f:
        return int(f.read())


def all_up():
    for n in range(1, COUNT + 1):
        if not os.path.exists(f"{KAFKA}/{n}/pid"):
            up(n)


def two_workers(where, **web):
    all_up()  # a scenario that failed may have left some down
    crawl = Crawl(where, **web)
    crawl.create()
    crawl.join()
    return crawl


def one_after_the_other(where):
    """Each broker is lost once, and with it leaders, the controller, coordinators."""
    crawl = two_workers(where, slow=0.1)
    for n in range(1, COUNT + 1):
        crawl.reach(0.2 * n)
        down(n)
        crawl.reach(0.2 * n + 0.1)
        up(n)
    crawl.finish(repeats=COUNT * IN_FLIGHT)


def two_at_once(where):
    """With one broker nothing can be committed: the crawl stands still, and goes on."""
    crawl = two_workers(where)
    crawl.reach(0.3)
    down(1)
    down(2)
    time.sleep(15)  # past the sessions of workers
    before = len(crawl.web.requests)
    time.sleep(5)
    if len(crawl.web.requests) > before + HOSTS:
        raise Failure(f"{len(crawl.web.requests) - before} requests without brokers")
    said = ""
    for p in crawl.workers:
        with open(p.log, encoding="utf-8") as f:
            said += f.read()
    if "until the brokers answer" not in said:
        raise Failure(f"nobody says what it waits for: {said}")
    up(1)
    up(2)
    crawl.finish(repeats=2 * IN_FLIGHT)


def silent(where):
    """A broker that does not answer for a while, and is not dead."""
    crawl = two_workers(where, slow=0.1)
    crawl.reach(0.2)
    for n in (1, 2):
        pid = broker_pid(n)
        os.kill(pid, signal.SIGSTOP)
        time.sleep(8)
        os.kill(pid, signal.SIGCONT)
        crawl.reach(0.2 + 0.2 * n)
    crawl.finish(repeats=2 * IN_FLIGHT)


def signed_in(where):
    """TLS and a password, for each worker; a wrong one is refused with a reason."""
    all_up()
    with open(f"{KAFKA}/secure", encoding="ascii") as f:
        secure = f.read().strip()
    crawl = Crawl(where)
    crawl.url = f"kafka://{secure}/{os.path.basename(where)}-{os.getpid()}"
    words = []
    for name in ("security.protocol=SASL_SSL", "sasl.mechanism=PLAIN",
                 "sasl.username=urlweir", f"ssl.ca.location={KAFKA}/ca.pem"):
        words += ["--kafka-property", name]
    right = words + ["--kafka-property", "sasl.password=weir"]
    wrong = words + ["--kafka-property", "sasl.password=wire"]
    crawl.own = lambda n: right
    crawl.create()
    got = subprocess.run([URLWEIR, "join", crawl.url, "-o", where + "/no", *wrong],
                         stderr=subprocess.PIPE, text=True, check=False, timeout=60)
    if got.returncode not in (1, 2) or "uthentication" not in got.stderr:
        raise Failure(f"a wrong password: {got.returncode} {got.stderr}")
    crawl.join()
    crawl.finish()


def spoiled(where):
    """Rows that would be forgotten: refused at the start, not noticed at a loss."""
    crawl = two_workers(where)
    crawl.reach(0.3)
    for p in crawl.workers:
        p.send_signal(signal.SIGTERM)
        p.wait(60)
    jars = os.path.join(os.path.dirname(TOOL), "../build/kafka/4.1.1/*")
    with open(f"{KAFKA}/brokers", encoding="ascii") as f:
        brokers = f.read().strip()
    topic = crawl.url.rsplit("/", 1)[1] + ".state"
    config = ["java", "-cp", jars, "kafka.admin.ConfigCommand", "--bootstrap-server",
              brokers, "--entity-type", "topics", "--entity-name", topic, "--alter"]
    subprocess.run([*config, "--add-config", "cleanup.policy=delete"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    got = subprocess.run([URLWEIR, "resume", crawl.directory(0)], text=True, timeout=60,
                         stderr=subprocess.PIPE, check=False)
    if got.returncode == 0 or "compact" not in got.stderr:
        raise Failure(f"it goes on: {got.returncode} {got.stderr}")
    subprocess.run([*config, "--add-config", "cleanup.policy=compact"], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    crawl.resume(0)
    crawl.finish(killed=(0, 1))


if __name__ == "__main__":
    scenarios.run([one_after_the_other, two_at_once, silent, signed_in, spoiled],
                  DIR, sys.argv[4:])
