"""Crawls whose shards are in Kafka, while its three brokers fail.

usage: KAFKA=DIR_OF_BROKERS cluster_brokers.py URLWEIR DIR BROKERS [SCENARIO...]

As cluster_shards.py, whose crawl and judgement these are.
"""

import contextlib
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import scenarios
from cluster_shards import (DIR, HOSTS, IN_FLIGHT, SHARDS, URLWEIR, Crawl, children,
                            pages_of_hosts, say, wait_for)
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


class Link:
    """What lies between a worker and the brokers; it can be cut."""

    def __init__(self):
        self.pairs, self.whole, self.lock = [], True, threading.Lock()
        self.servers = []
        with open(f"{KAFKA}/linked", encoding="ascii") as f:
            self.addresses = f.read().strip()
        with open(f"{KAFKA}/behind", encoding="ascii") as f:
            behind = f.read().strip().split(",")
        for here, there in zip(self.addresses.split(","), behind):
            server = socket.create_server(("127.0.0.1", int(here.split(":")[1])))
            self.servers.append(server)
            threading.Thread(target=self.serve, args=(server, int(there.split(":")[1])),
                             daemon=True).start()

    def serve(self, server, port):
        while True:
            try:
                near, _ = server.accept()
                far = socket.create_connection(("127.0.0.1", port), 5)
            except OSError:
                return
            with self.lock:
                self.pairs.append((near, far))
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self.pass_on, args=(a, b), daemon=True).start()

    def pass_on(self, a, b):
        """Octets that come while it is cut are lost, as is what they belong to."""
        with contextlib.suppress(OSError):
            while octets := a.recv(65536):
                if self.whole:
                    b.sendall(octets)
        for s in (a, b):
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)

    def cut(self):
        """Nobody is told: connections stay open, and nothing comes."""
        self.whole = False

    def mend(self):
        """Connections that lack octets are of no more use."""
        with self.lock:
            for pair in self.pairs:
                for s in pair:
                    with contextlib.suppress(OSError):
                        s.shutdown(socket.SHUT_RDWR)
            self.pairs = []
        self.whole = True

    def close(self):
        for s in self.servers:
            s.close()


def cut_off(where):
    """Nothing passes between a worker and the brokers: others take its shards, it asks no
    host, and takes part again when the link is mended."""
    crawl = Crawl(where, slow=0.2)
    all_up()
    crawl.create()
    link = Link()
    direct, crawl.url = crawl.url, f"kafka://{link.addresses}/{crawl.url.rsplit('/', 1)[1]}"
    crawl.join()
    crawl.url = direct
    crawl.reach(0.3)
    link.cut()
    crawl.reach(0.7)
    link.mend()
    crawl.finish(repeats=2 * 8)  # its shards, --concurrency of each
    link.close()


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def small_disk(n, room):
    """The files of broker n on a disk with `room` octets more than they need; yields where
    they are."""
    data = f"{KAFKA}/{n}/data"
    down(n)
    os.rename(data, data + ".was")
    os.mkdir(data)
    used = int(subprocess.run(["du", "-sB1", data + ".was"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.split()[0])
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={used + room}", "tmpfs", data], check=True)
    subprocess.run(["cp", "-a", "--sparse=always", data + ".was/.", data], check=True)
    shutil.rmtree(data + ".was")
    up(n)
    try:
        yield data
    finally:
        down(n)
        subprocess.run(["cp", "-a", "--sparse=always", data, data + ".was"], check=True)
        wait_for(lambda: subprocess.run(["umount", data], check=False,
                                        stderr=subprocess.DEVNULL).returncode == 0,
                 "the end of what is open there")
        os.rmdir(data)
        os.rename(data + ".was", data)
        up(n)


def full_disk(where):
    """A broker whose disk is full is as good as lost; with room, it takes part again."""
    if os.geteuid() != 0:
        print("  full_disk: skipped, only root can mount a small disk", flush=True)
        return
    all_up()
    with small_disk(1, 64 << 20) as data:
        crawl = two_workers(where, slow=0.1)
        crawl.reach(0.2)
        with open(data + "/filler", "wb", buffering=0) as f, contextlib.suppress(OSError):
            while True:
                f.write(bytes(1 << 20))
        wait_for(lambda: not is_running(broker_pid(1)), "the end of the broker")
        crawl.reach(0.6)
        os.remove(data + "/filler")
        down(1)
        up(1)
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


class Faults:
    """What happens to the workers of a crawl, by chance; two at least are left to run."""

    SESSION = 10  # s, of a worker that is silent

    def __init__(self, crawl, chance):
        self.crawl, self.chance = crawl, chance
        self.live = {n: p for n, p in enumerate(crawl.workers)}  # by directory
        self.over = set()  # what of crawl.workers is not to end well
        self.kept = []  # directories of those that were killed or stopped
        self.asleep = {}  # processes, and until when, by directory
        self.count, self.struck = {}, []  # by name; lists of shards

    def strike(self):
        self.wake(time.monotonic())
        awake = [n for n in self.live if n not in self.asleep]
        may = [self.come_back] if self.kept else []
        if len(self.live) < 4:
            may += [self.join]
        if len(awake) > 2:
            may += [self.kill, self.lose, self.pause, self.stop] * 2
        may += [self.kill_shard] * 2
        act = self.chance.choice(may)
        if act(self.chance.choice(awake)) is not False:
            self.count[act.__name__] = self.count.get(act.__name__, 0) + 1

    def note(self, n):
        """Its shards are struck."""
        shards = say(self.crawl, "status")["shards"]
        ours = os.path.realpath(self.crawl.directory(n))
        self.struck.append([s["shard"] for s in shards
                            if s["worker"] and s["worker"].endswith(ours)])

    def end(self, n):
        p = self.live.pop(n)
        self.over.add(self.crawl.workers.index(p))
        return p

    def kill(self, n, lose=False):
        self.note(n)
        processes = children(self.live[n].pid)
        p = self.end(n)
        p.kill()
        p.wait()
        wait_for(lambda: not any(is_running(pid) for pid in processes), "their end")
        if lose:
            shutil.rmtree(self.crawl.directory(n))
        else:
            self.kept.append(n)

    def lose(self, n):
        self.kill(n, lose=True)

    def kill_shard(self, n):
        processes = children(self.live[n].pid)
        if not processes:
            return False
        self.note(n)
        os.kill(self.chance.choice(processes), signal.SIGKILL)
        return True

    def pause(self, n):
        self.note(n)
        processes = [self.live[n].pid] + children(self.live[n].pid)
        for pid in processes:
            os.kill(pid, signal.SIGSTOP)
        until = time.monotonic() + self.SESSION + self.chance.uniform(1, 6)
        self.asleep[n] = processes, until

    def wake(self, now):
        for n in [n for n, (_, until) in self.asleep.items() if until <= now]:
            for pid in reversed(self.asleep.pop(n)[0]):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGCONT)

    def stop(self, n):
        p = self.end(n)
        p.send_signal(signal.SIGTERM)
        p.wait(scenarios.LONGEST)
        if p.returncode != 4:
            raise Failure(f"a stopped worker ended with {p.returncode}")
        self.kept.append(n)

    def join(self, _):
        n = len(self.crawl.workers)
        self.live[n] = self.crawl.start(["join", self.crawl.url, "-o",
                                         self.crawl.directory(n)])

    def come_back(self, _):
        n = self.kept.pop(self.chance.randrange(len(self.kept)))
        self.live[n] = self.crawl.resume(n)


def random_faults(where, most=50):
    """Fifty faults of workers in one crawl, by chance. SEED=n repeats an order of them."""
    seed = int(os.environ.get("SEED") or random.randrange(1 << 32))
    print(f"  random_faults: SEED={seed}", flush=True)
    chance = random.Random(seed)
    crawl = two_workers(where, pages=200, slow=1)  # so that it lasts
    crawl.join()
    faults = Faults(crawl, chance)
    while sum(faults.count.values()) < most:
        time.sleep(chance.uniform(0.2, 5))
        faults.strike()
        gone = [n for n, p in faults.live.items() if p.poll() is not None]
        if gone:
            raise Failure(f"{gone} ended after {faults.count}")
    while faults.asleep:
        time.sleep(0.1)
        faults.wake(time.monotonic())
    print(f"  {faults.count}, {len(set(crawl.web.pages()))} pages so far", flush=True)
    for part in range(40, 101, 5):
        crawl.reach(part / 100)
    crawl.end(0, killed=faults.over)
    hosts = [len(pages_of_hosts(crawl.newest(n))) for n in range(SHARDS)]
    # Of a host one page may be under way, and one not yet committed.
    repeats = sum(2 * hosts[shard] for struck in faults.struck for shard in struck)
    print(f"  at most {repeats} may have been fetched again", flush=True)
    crawl.judge(repeats)
    crawl.judge_shards()
    crawl.web.close()


if __name__ == "__main__":
    scenarios.run([one_after_the_other, two_at_once, silent, cut_off, full_disk,
                   signed_in, spoiled, random_faults],
                  DIR, sys.argv[4:])
