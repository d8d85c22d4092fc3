#!/usr/bin/env python3
"""What a small filter for each of many users takes, such as what they have read in the last days:
memory and octets on disk a user, and time. usage: bench/users.py BUILD_DIR [USERS] [KEYS]

Time is CPU time of the command or server, which other programs on the machine disturb little. One file with names, the same behind `urlweir serve`, a file for each user, and Redis with a key
for each user. Rows that are too slow for all users are measured on a share of them.
"""

import concurrent.futures
import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from machine import machine

URLWEIR = sys.argv[1] + "/urlweir"
USERS = int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
KEYS = int(sys.argv[3]) if len(sys.argv) > 3 else 100
HEAD = "%-34s %9s %12s %12s %14s %14s"


def keys_of(user):
    return ["page/%d" % (user % 64 * KEYS + i) for i in range(KEYS)]


def pairs(users):
    """The lines NAME, tab, key of each user."""
    lines = ["".join("@\t%s\n" % k for k in keys_of(u)).encode() for u in range(64)]
    for u in range(users):
        yield lines[u % 64].replace(b"@", b"user%d" % u)


def run(args, lines=()):
    """CPU seconds and most resident octets of a command that is fed lines."""
    p = subprocess.Popen(args, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    for text in lines:
        p.stdin.write(text)
    p.stdin.close()
    _, status, usage = os.wait4(p.pid, 0)
    p.returncode = status
    if status != 0:
        sys.exit("%s: status %d" % (args, status))
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def resident(pid):
    with open("/proc/%d/status" % pid, encoding="utf-8") as f:
        return [int(x.split()[1]) * 1024 for x in f if x.startswith("VmRSS")][0]


def cpu_of(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
        user, system = f.read().rsplit(")", 1)[1].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def size_of(where):
    return sum(os.path.getsize(os.path.join(at, f)) for at, _, files in os.walk(where)
               for f in files)


def row(what, users, memory, disk, add_s, check_s):
    def us(s):
        return "-" if s is None else "%.1f us" % (s * 1e6)
    print(HEAD % (what, users, "-" if memory is None else "%.0f" % memory,
                  "-" if disk is None else "%.0f" % disk, us(add_s), us(check_s)), flush=True)


def files(where):
    """One file with names; gives it for the service."""
    made = None
    for what, options in (("one file, cuckoo --fixed", ["--kind", "cuckoo", "--fixed"]),
                          ("one file, cuckoo", ["--kind", "cuckoo"]),
                          ("one file, cuckoo --ttl 30d", ["--kind", "cuckoo", "--ttl", "30d"])):
        made = where + "/read"
        if os.path.exists(made):
            os.unlink(made)
        run([URLWEIR, "filter", "create", made, "--capacity", str(USERS * KEYS)] + options)
        took, memory = run([URLWEIR, "filter", "add", made, "--named"], pairs(USERS))
        checked, _ = run([URLWEIR, "filter", "check", made, "--name", "user7"],
                         ["\n".join(keys_of(7)).encode()])
        row(what, USERS, memory / USERS, os.path.getsize(made) / USERS, took / USERS, checked)
    return made


class Asker:
    def __init__(self, address):
        self.connection = http.client.HTTPConnection(address)

    def ask(self, path, body):
        self.connection.request("POST", "/v1/filters" + path, json.dumps(body),
                                {"Content-Type": "application/json"})
        r = self.connection.getresponse()
        answer = json.loads(r.read())
        if r.status != 200:
            raise RuntimeError("%s: %s" % (path, answer))
        return answer


class Service(Asker):
    def __init__(self, where):
        self.p = subprocess.Popen([URLWEIR, "serve", where + "/service", "--listen", "127.0.0.1:0",
                                   "--http", "127.0.0.1:0", "--filter-memory", "16G"],
                                  stderr=subprocess.PIPE, text=True)
        self.address = None
        while self.address is None:
            line = self.p.stderr.readline()
            if not line:
                sys.exit("the service does not start")
            if " HTTP on " in line:
                self.address = line.split(" HTTP on ")[1].strip()
        super().__init__(self.address)

    def all_users(self, n, what):
        """CPU seconds a user; 32 callers at a time, as changes share the disk's sync."""
        before = cpu_of(self.p.pid)

        def some(first):
            asker = Asker(self.address)
            for u in range(first, n, 32):
                what(u, asker)

        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            for done in [pool.submit(some, i) for i in range(32)]:
                done.result()
        return (cpu_of(self.p.pid) - before) / n


def service(where, made):
    s = Service(where)
    os.makedirs(where + "/service/filters", exist_ok=True)
    shutil.move(made, where + "/service/filters/read.filter")
    n = min(USERS, 4000)
    s.ask("/read/user0/check", {"keys": ["x"]})

    def check(u, asker):
        if "new" in asker.ask("/read/user%d/check" % u, {"keys": keys_of(u)})["results"]:
            raise RuntimeError("a key is lost")

    checked = s.all_users(n, check)
    added = s.all_users(n, lambda u, asker: asker.ask("/read/new%d/add" % u, {"keys": keys_of(u)}))
    memory = resident(s.p.pid)
    s.p.terminate()
    s.p.wait()
    row("urlweir serve, that file", USERS, memory / USERS,
        size_of(where + "/service/filters") / USERS, added, checked)


def file_each(where):
    n = min(USERS, 100)
    os.mkdir(where + "/each")
    added = checked = 0
    for u in range(n):
        path = where + "/each/%d" % u
        t, memory = run([URLWEIR, "filter", "create", path, "--kind", "cuckoo", "--capacity",
                         str(KEYS)])
        added += t + run([URLWEIR, "filter", "add", path], ["\n".join(keys_of(u)).encode()])[0]
        checked += run([URLWEIR, "filter", "check", path], ["\n".join(keys_of(u)).encode()])[0]
    row("a file for each user", n, None, size_of(where + "/each") / n, added / n, checked / n)


def marks(user):
    """The offsets of a plain bitmap of its own: 10 marks a key, at a rate of 0.001."""
    bits = int(14.38 * KEYS)
    for k in keys_of(user):
        h = hash((user, k)) & (2**64 - 1)
        yield [(h % bits + i * (h >> 32)) % bits for i in range(10)]


def resp(*words):
    return b"*%d\r\n" % len(words) + b"".join(
        b"$%d\r\n%s\r\n" % (len(w), w) for w in (str(x).encode() for x in words))


def redis(where, what, add, check):
    n = min(USERS, 20_000)
    os.makedirs(where + "/redis", exist_ok=True)
    path = where + "/redis/s"
    server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--save", "",
                               "--dir", where + "/redis"], stdout=subprocess.DEVNULL)
    try:
        while not os.path.exists(path):
            time.sleep(0.01)
        s = socket.socket(socket.AF_UNIX)
        s.connect(path)
        f = s.makefile("rb")

        def ask(calls):
            """Sends them at once; passes over the answers, of one line or one array."""
            s.sendall(b"".join(calls))
            for _ in calls:
                head = f.readline()
                for _ in range(int(head[1:]) if head[:1] == b"*" else 0):
                    f.readline()

        def used():
            s.sendall(resp("INFO", "memory"))
            text = f.read(int(f.readline()[1:]) + 2)
            return int(text.split(b"used_memory:")[1].split()[0])

        empty = used()
        calls = [add(u) for u in range(n)]
        before = cpu_of(server.pid)
        for c in calls:
            ask(c)
        added = (cpu_of(server.pid) - before) / n
        memory = used() - empty
        calls = [check(u) for u in range(0, n, 4)]
        before = cpu_of(server.pid)
        for c in calls:
            ask(c)
        checked = (cpu_of(server.pid) - before) / len(calls)
        ask([resp("SAVE")])
        row(what, n, memory / n, os.path.getsize(where + "/redis/dump.rdb") / n, added, checked)
    finally:
        server.kill()
        server.wait()
        shutil.rmtree(where + "/redis")


def main():
    print(machine())
    print("%d users, %d keys each; octets and time are those of one user, memory is what is "
          "resident" % (USERS, KEYS))
    print(HEAD % ("", "users", "in memory", "on disk", "adding", "asking"))
    where = tempfile.mkdtemp(prefix="urlweir-users.")
    try:
        service(where, files(where))
        file_each(where)
        if shutil.which("redis-server") is None:
            print("redis-server is not there: its rows are left out")
            return
        redis(where, "Redis, a set for each user",
              lambda u: [resp("SADD", "user%d" % u, *keys_of(u))],
              lambda u: [resp("SMISMEMBER", "user%d" % u, *keys_of(u))])
        redis(where, "Redis, a bitmap for each user",
              lambda u: [resp("BITFIELD", "user%d" % u, *[w for m in marks(u) for at in m
                                                       for w in ("SET", "u1", at, 1)])],
              lambda u: [resp("BITFIELD", "user%d" % u, *[w for m in marks(u) for at in m
                                                       for w in ("GET", "u1", at)])])
    finally:
        shutil.rmtree(where)


if __name__ == "__main__":
    main()
