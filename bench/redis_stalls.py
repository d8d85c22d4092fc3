#!/usr/bin/env python3
"""How long a Redis server stands still for others while a large filter is made, asked about,
rebuilt and dropped. usage: bench/redis_stalls.py BUILD_DIR [KEYS]

A second client asks PING without a pause; the longest it waited during each command is the
figure. Beside it, what one command for the whole string takes.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time


def connect(path):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    return s


def ask(s, *words):
    s.sendall(b"*%d\r\n" % len(words) + b"".join(
        b"$%d\r\n%s\r\n" % (len(w), w) for w in (str(x).encode() for x in words)))
    return s.recv(65536)


def longest_wait(path, work):
    """Seconds that another client waited at most for an answer while work() ran."""
    s, waits, done = connect(path), [0.0], threading.Event()

    def pings():
        while not done.is_set():
            t = time.monotonic()
            ask(s, "PING")
            waits.append(time.monotonic() - t)

    thread = threading.Thread(target=pings)
    thread.start()
    begin = time.monotonic()
    work()
    took = time.monotonic() - begin
    done.set()
    thread.join()
    return max(waits), took


def main():
    urlweir = sys.argv[1] + "/urlweir"
    keys = sys.argv[2] if len(sys.argv) > 2 else "200M"
    where = tempfile.mkdtemp(prefix="urlweir-stalls.")
    path = where + "/s"
    url = "redis+unix://" + path + "?key=large"
    server = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--save", "",
                               "--dir", where], stdout=subprocess.DEVNULL)
    try:
        while not os.path.exists(path):
            time.sleep(0.05)

        def urlweir_filter(*words, **options):
            return lambda: subprocess.run([urlweir, "filter", *words], check=True,
                                          stdout=subprocess.DEVNULL, **options)

        direct = connect(path)
        octets = 375 * 1024 * 1024
        rows = [
            ("nothing at all, for as long", lambda: time.sleep(2)),
            ("SETBIT of the last bit of 375 MiB", lambda: ask(direct, "SETBIT", "x", octets * 8 - 1, 0)),
            ("BITCOUNT of it", lambda: ask(direct, "BITCOUNT", "x")),
            ("DEL of it", lambda: ask(direct, "DEL", "x")),
            ("filter create --capacity " + keys, urlweir_filter("create", url, "--capacity", keys)),
            ("filter info", urlweir_filter("info", url)),
            ("filter rebuild, its source empty", urlweir_filter(
                "rebuild", url, "--capacity", keys, stdin=subprocess.DEVNULL)),
            ("filter drop", urlweir_filter("drop", url)),
        ]
        print("%-40s %12s %12s" % ("", "others wait", "it takes"))
        for name, work in rows:
            wait, took = longest_wait(path, work)
            print("%-40s %9.1f ms %10.2f s" % (name, wait * 1000, took))
    finally:
        server.kill()
        server.wait()
        shutil.rmtree(where)


main()
