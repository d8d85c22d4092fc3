#!/usr/bin/env python3
"""Each protection of a shard, switched off: the scenario that shows it must fail.

usage: cluster_faults.py DIR
In the environment are the commands that tests/sim/plant.py builds with. DIR is made, and removed.
Fencing, and the look at the clock before each lease, protect from the same worker that wakes too
late: while one of them is left, nothing is lost; so both are off. What depends on the moment of a
kill is tried three times. That the next owner of a host waits is shown by the simulator alone: here a
session is longer than any delay. Skipped without Java.
"""
import os
import shutil
import subprocess
import sys

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TRIES = 3
FAULTS = [
    (["two owners do not fence each other", "one that may have lost its shard leases on"], "pause_worker"),
    (["how far URLs of others were read is not kept"], "kill_often"),
    (["the database commits before Kafka"], "kill_often"),
    (["restoring stops one row early"], "lose_worker"),
]


def kafka(*words):
    return subprocess.run([TESTS + "/../tools/kafka.sh", *words], check=False).returncode


def fails(program, where, scenario):
    """What the scenario says with this program; empty if it passes."""
    with open(where + "/kafka/brokers", encoding="ascii") as f:
        brokers = f.read().strip()
    for n in range(TRIES):
        ran = subprocess.run([sys.executable, TESTS + "/support/cluster_shards.py", program,
                              f"{where}/{scenario}-{n}", brokers, scenario],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        shutil.rmtree(f"{where}/{scenario}-{n}", ignore_errors=True)
        if ran.returncode != 0:
            return ran.stdout.strip() or f"status {ran.returncode}"
    return ""


def main():
    where, missed = sys.argv[1], []
    os.makedirs(where)
    if kafka("start", where + "/kafka", "1") != 0:
        print("check-cluster-faults: skipped")
        return
    try:
        for names, scenario in FAULTS:
            name = "; ".join(names)
            built = subprocess.run([TESTS + "/sim/plant.py", "program", *("shards: " + n for n in names)],
                                   stdout=subprocess.PIPE, text=True, check=True)
            said = fails(built.stdout.strip(), where, scenario)
            print("| %s | %s | %s |" % (name, scenario, said.splitlines()[-1][:150] if said else "passes"), flush=True)
            if not said:
                missed.append(name)
    finally:
        kafka("stop", where + "/kafka")
        shutil.rmtree(where)
    if missed:
        sys.exit("check-cluster-faults: not seen: " + "; ".join(missed))


main()
