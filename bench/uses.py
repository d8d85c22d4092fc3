#!/usr/bin/env python3
"""What the uses of filters in docs/filters.md cost: runs their commands as they stand there, and
prints for each the CPU time of all its commands, and the size of the filter that it made.
usage: bench/uses.py BUILD_DIR; USERS, ITEMS and WEAK as in the document."""

import glob
import os
import re
import subprocess
import sys
import tempfile

from users import machine

AFTER = """
echo '@ %s'
times
ls -l --time-style=+ *.filter | sed 's/^/@file /'
"""


def sections():
    """Title and commands of each use."""
    with open(os.path.dirname(__file__) + "/../docs/filters.md", encoding="utf-8") as f:
        uses = f.read().split("\n## Uses\n")[1].split("\n## ")[0]
    for part in uses.split("\n### ")[1:]:
        commands = re.findall(r"^```sh\n(.*?)^```$", part, re.M | re.S)
        if commands:
            yield part.split("\n")[0], "".join(commands)


def seconds(line):
    return sum(int(m) * 60 + float(s) for m, s in re.findall(r"(\d+)m([\d.]+)s", line))


def main():
    script = "set -eu\n" + "".join(commands + AFTER % title for title, commands in sections())
    script = script.replace("127.0.0.1:7072", "127.0.0.1:47072").replace(
        "urlweir serve guards ", "urlweir serve guards --listen 127.0.0.1:0 ")
    path = os.path.abspath(sys.argv[1]) + ":" + os.environ["PATH"]
    print(machine())
    print("%-52s %12s %10s %10s" % ("", "keys", "MiB", "CPU s"))
    with tempfile.TemporaryDirectory(prefix="urlweir-uses.") as where:
        p = subprocess.Popen(["sh", "-c", script], cwd=where, env={**os.environ, "PATH": path},
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        before, times, seen, title, made = 0.0, [], set(), None, None

        def end():
            nonlocal before
            now = seconds(times[-1])
            keys = size = "-"
            if made is not None:
                info = subprocess.run(["urlweir", "filter", "info", made, "--json"], cwd=where,
                                      env={**os.environ, "PATH": path}, capture_output=True,
                                      text=True, check=True).stdout
                keys = re.search(r'"count": (\d+)', info).group(1)
                size = "%.1f" % (os.path.getsize(where + "/" + made) / 2**20)
            print("%-52s %12s %10s %10.2f" % (title, keys, size, now - before), flush=True)
            before = now

        for line in p.stdout:
            if line.startswith("@ "):
                if title is not None:
                    end()
                title, made, times = line[2:].strip(), None, []
            elif line.startswith("@file "):
                name = line.split()[-1]
                if name not in seen and name != "empty.filter":
                    made = name
                seen.add(name)
            elif re.match(r"\d+m[\d.]+s \d+m", line) and len(times) < 2:
                times.append(line)
        if p.wait() != 0:
            sys.exit("the commands failed with %d" % p.returncode)
        end()
        assert glob.glob(where + "/*.filter")


main()
