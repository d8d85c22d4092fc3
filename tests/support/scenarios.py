"""Runs the scenarios of a script, each in a directory of its own."""

import os
import shutil
import subprocess
import sys
import time

LONGEST = 120  # s, for any wait
TRIES = 3  # of a scenario that shows what goes wrong without a protection


class Failure(Exception):
    pass


def wait_for(what, text):
    end = time.monotonic() + LONGEST
    while not what():
        if time.monotonic() > end:
            raise Failure("no end of waiting for " + text)
        time.sleep(0.02)


def run(scenarios, where, names):
    """Those that are named, or all; the first that fails ends the program. A
    single name `list` prints the names instead."""
    if names == ["list"]:
        print("\n".join(s.__name__ for s in scenarios))
        return
    for s in scenarios:
        if names and s.__name__ not in names:
            continue
        began = time.monotonic()
        tries = TRIES if s.__name__.endswith("_unsafe") else 1
        if not any(passes(s, f"{where}/{s.__name__}") for _ in range(tries)):
            sys.exit(1)
        print(f"  {s.__name__}: {time.monotonic() - began:.1f} s", flush=True)


def passes(scenario, where):
    shutil.rmtree(where, ignore_errors=True)
    os.makedirs(where)
    try:
        scenario(where)
    except (Failure, subprocess.SubprocessError, OSError, RuntimeError) as e:
        print(f"FAILED: {scenario.__name__}: {type(e).__name__}: {e}", flush=True)
        return False
    shutil.rmtree(where)
    return True
