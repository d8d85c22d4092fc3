"""hostile_store.py CRAWL SERVED [--all | --sample N] [--jobs N] [--only TEXT]

Stores with one value changed. CRAWL is the directory of a stopped crawl, SERVED
that of a service that was stopped. In copies of them each column of each table,
in one row and in all of them, is set in turn to 0, -1, the least and the greatest integer, a long text, an
empty blob, 'x', NULL and the value of a row beside it; then every command that
opens a store runs on it. None may crash, hang, take memory without bound, or end
with a status that is not of the contract. Whether the change is found matters
to `verify` and its own tests, not here.

Prints the changes that did harm, and ends with 1 where there were any. --all
takes an hour with AddressSanitizer; --sample takes N of them, the same ones each
time. $URLWEIR is the binary; $SEED a URL of the crawl whose server is there.
"""

import argparse
import concurrent.futures
import http.client
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

URLWEIR = os.environ["URLWEIR"]
SEED = os.environ["SEED"]
# A sanitizer reserves terabytes and ends the process with a status of its own.
SANITIZED = "asan" in URLWEIR or "tsan" in URLWEIR
ADDRESS_SPACE = 6 << 30
SECONDS = 120 if SANITIZED else 60
GOOD = range(0, 7)

VALUES = {
    "0": 0,
    "1000": 1000,
    "-1": -1,
    "max": 2**63 - 1,
    "min": -(2**63),
    "long": "a" * 1000000,
    "empty": b"",
    "text": "x",
    "null": None,
    "neighbour": None,
}
# Each ended a process, or would not end. In place of how many rows: which.
KNOWN = [
    ("crawl", "seenpart", "count", "-1", "count = 0"),
    ("crawl", "qseg", "id", "max", "one"),
    ("served", "item_lease", "seq", "1000", "url = (SELECT url FROM item_update WHERE due = 0"
                                            " ORDER BY seq DESC)"),
    ("crawl", "queue_state", "blocked_until", "max", "all"),
    ("crawl", "queue_state", "delay", "max", "all"),
    ("crawl", "retry", "due", "max", "all"),
]


def key_of(db, table):
    """The column that names a row."""
    for _, name, _, _, _, primary in db.execute(f"PRAGMA table_info({table})"):
        if primary:
            return name
    return "rowid"


def all_changes(kind, directory):
    db = sqlite3.connect(os.path.join(directory, "frontier.db"))
    tables = [r[0] for r in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    out = []
    for table in sorted(tables):
        if db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0:
            print(f"note: {kind}: table {table} is empty")
            continue
        for column in db.execute(f"PRAGMA table_info({table})").fetchall():
            rows = ("one",) if column[5] else ("one", "all")
            out += [(kind, table, column[1], value, row) for value in VALUES for row in rows
                    if (value, row) != ("long", "all")]
    db.close()
    return out


def change(path, table, column, value, rows):
    """False: SQLite does not take it."""
    db = sqlite3.connect(path)
    key = key_of(db, table)
    keys = [r[0] for r in db.execute(f"SELECT {key} FROM {table} ORDER BY {key}")]
    at = random.Random(f"{table} {column} {value}").randrange(len(keys))
    which = {"one": f"{key} = ?1", "all": "?1 = ?1"}.get(rows, rows + " AND ?1 = ?1")
    new = VALUES[value]
    if value == "neighbour":
        beside = keys[at - 1] if at > 0 else keys[min(1, len(keys) - 1)]
        new = db.execute(f"SELECT {column} FROM {table} WHERE {key} = ?", (beside,)).fetchone()[0]
    try:
        with db:
            db.execute(f"UPDATE {table} SET {column} = ?2 WHERE {which}", (keys[at], new))
        taken = True
    except sqlite3.IntegrityError:
        taken = False
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    return taken


def limits():
    if not SANITIZED:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def environment():
    more = {"ASAN_OPTIONS": "exitcode=99:hard_rss_limit_mb=3000:allocator_may_return_null=1",
            "UBSAN_OPTIONS": "print_stacktrace=1"}
    return {**os.environ, **(more if SANITIZED else {})}


def judge(name, status, said, harms):
    if status not in GOOD:
        harms.append(f"{name}: status {status}\n{said[-3000:]}")


def run(name, arguments, harms):
    try:
        done = subprocess.run([URLWEIR, *arguments], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              timeout=SECONDS, preexec_fn=limits, env=environment())
    except subprocess.TimeoutExpired:
        harms.append(f"{name}: does not end")
        return
    judge(name, done.returncode, done.stderr.decode(errors="replace"), harms)


def ask(address, method, path, body=None):
    try:
        server = http.client.HTTPConnection(address, timeout=SECONDS)
        server.request(method, path, body, {"Content-Type": "application/json"})
        server.getresponse().read()
    except (OSError, http.client.HTTPException):
        pass  # it has ended: its status tells


def serve(directory, harms):
    """Started, asked, stopped."""
    with open(directory + ".err", "wb") as err:
        service = subprocess.Popen([URLWEIR, "serve", directory, "--listen", "127.0.0.1:0",
                                    "--http", "127.0.0.1:0"], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=err, preexec_fn=limits,
                                   env=environment())
    end = time.monotonic() + SECONDS
    address = None
    while address is None and service.poll() is None and time.monotonic() < end:
        with open(directory + ".err", errors="replace") as err:
            for line in err:
                if "HTTP on " in line and line.endswith("\n"):
                    address = line.split("HTTP on ")[1].strip()
        time.sleep(0.01)
    if address is not None:
        ask(address, "POST", "/v1/lease", '{"max_queues": 100, "max_urls_per_queue": 100}')
        ask(address, "POST", "/v1/urls", '[{"url": "http://new.example/"}]')
        ask(address, "GET", "/v1/stats")
        ask(address, "GET", "/v1/queues")
        ask(address, "GET", "/v1/url?url=http%3A%2F%2Fa.example%2F1")
        ask(address, "GET", "/metrics")
        time.sleep(0.05)
    if service.poll() is None:
        service.send_signal(signal.SIGTERM)
    try:
        status = service.wait(SECONDS)
    except subprocess.TimeoutExpired:
        service.kill()
        service.wait()
        harms.append("serve: does not end")
        return
    with open(directory + ".err", errors="replace") as err:
        judge("serve", status, err.read(), harms)


READERS = [
    ["status"],
    ["status", "--hosts"],
    ["status", "--hosts", "--json"],
    ["audit", "--json"],
    ["audit", "--json", "--what-if", "1e-2"],
    ["verify"],
] + [["export", "--what", what] for what in
     ("urls", "pages", "links", "errors", "drops", "hosts")]


def with_directory(command, directory):
    return [command[0], directory, *command[1:]]


def one(work, template, kind, *changed):
    """What was done with the store, and the harm of it."""
    harms = []
    with tempfile.TemporaryDirectory(dir=work) as place:
        base = os.path.join(place, "base")
        shutil.copytree(template, base)
        if not change(os.path.join(base, "frontier.db"), *changed):
            return "not taken", harms

        def fresh(name):
            return shutil.copytree(base, os.path.join(place, name))

        for command in READERS:
            if kind == "served" and command[0] == "audit":
                continue
            run(" ".join(command), with_directory(command, base), harms)
        for url in (SEED, "http://a.example/1", "http://nobody.example/"):
            run("explain", ["explain", base, url], harms)
        repaired = fresh("repaired")
        run("verify --repair", ["verify", repaired, "--repair"], harms)
        if kind == "crawl":
            run("resume", ["resume", fresh("resumed"), "-n", "40", "--time", "2s",
                           "--give-up", "1s", "--progress", "none"], harms)
            run("resume repaired", ["resume", repaired, "-n", "40", "--time", "2s",
                                    "--give-up", "1s", "--progress", "none"], harms)
            with open(os.path.join(place, "seeds"), "w", encoding="ascii") as seeds:
                seeds.writelines(f"{SEED}more{i}\n" for i in range(300))
            run("seed", ["seed", fresh("seeded"), "-i", os.path.join(place, "seeds")], harms)
        else:
            serve(fresh("served"), harms)
            serve(repaired, harms)
    return "taken", harms


def choose(arguments, changes):
    if arguments.only:
        return [c for c in changes if arguments.only in " ".join(c)]
    if arguments.all:
        return changes
    rest = [c for c in changes if c not in KNOWN]
    return KNOWN + random.Random(arguments.seed).sample(rest, arguments.sample)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("crawl")
    parser.add_argument("served")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--sample", type=int, default=20)
    parser.add_argument("--seed", default="urlweir")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only")
    arguments = parser.parse_args()
    templates = {"crawl": arguments.crawl, "served": arguments.served}
    changes = choose(arguments, [c for kind in templates
                                 for c in all_changes(kind, templates[kind])])
    bad = taken = 0
    with tempfile.TemporaryDirectory() as work, \
            concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        ends = [pool.submit(one, work, templates[c[0]], *c) for c in changes]
        for c, end in zip(changes, ends):
            said, harms = end.result()
            taken += said == "taken"
            bad += len(harms) > 0
            for harm in harms:
                print(" ".join(c) + ": " + harm, flush=True)
    print(f"{len(changes)} changes, {taken} taken by SQLite, {bad} did harm")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
