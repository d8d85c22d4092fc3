#!/usr/bin/env python3
"""Plants each fault of faults.txt in the simulator, alone, and counts the seeds
until one fails that does not fail without the fault.

usage: plant.py MOST [PART]
       plant.py check           are the lines of all faults where they should be?
       plant.py program NAME... builds urlweir itself with these faults, PARTS
                                and LIBS are then its own; prints its path
The environment has the commands:
    COMPILE   the compiler with its flags, for one file of the program
    LINK      links a program of the objects that follow
    CALLS     what objcopy renames
    WORK      where to build
    HEALTHY   the simulator without a fault
    PARTS     its objects, LIBS what they need
MOST: the seeds to try at most; those whose name begins with "shards:" are tried
with seeds of that kind. PART: a regular expression for the names of the
faults to plant.
"""
import os
import re
import shlex
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = os.environ.get("WORK", "build/fault")


def read_faults(path):
    faults, fault = [], None
    for line in open(path, encoding="utf-8"):
        line = line.rstrip("\n")
        if line.startswith("== "):
            fault = {"name": line[3:], "file": None, "old": [], "new": []}
            faults.append(fault)
        elif fault is None or not line or line.startswith("#"):
            continue
        elif line[0] == "-":
            fault["old"].append(line[1:])
        elif line[0] == "+":
            fault["new"].append(line[1:])
        else:
            fault["file"] = line
    return faults


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit("plant.py: %s\n%s" % (shlex.join(command), done.stdout))


def planted(fault):
    """The text of its file with the fault."""
    text = open(fault["file"], encoding="utf-8").read()
    old = "\n".join(fault["old"]) + "\n"
    if text.count(old) != 1:
        sys.exit("plant.py: %s: %d places in %s" %
                 (fault["name"], text.count(old), fault["file"]))
    return text.replace(old, "\n".join(fault["new"]) + "\n")


def compile_one(fault, number):
    """The path of an object that has the fault."""
    env = os.environ
    text = planted(fault)
    os.makedirs(WORK, exist_ok=True)
    source, thing = "%s/fault%d.c" % (WORK, number), "%s/fault%d.o" % (WORK, number)
    with open(source, "w", encoding="utf-8") as f:
        f.write('#line 1 "%s"\n' % fault["file"])
        f.write(text)
    include = ["-I", os.path.dirname(fault["file"])]
    run(shlex.split(env["COMPILE"]) + include +
        ["-w", "-c", "-o", thing, source])
    if "CALLS" in env:
        run(["objcopy", "--redefine-syms=" + env["CALLS"], thing])
    return thing


def build(faults, name):
    """The path of a program that has the faults."""
    program = WORK + "/" + name
    run(shlex.split(os.environ["LINK"]) + ["-o", program] +
        [compile_one(fault, n) for n, fault in enumerate(faults)] +
        shlex.split(os.environ["PARTS"]) + shlex.split(os.environ["LIBS"]))
    return program


def first_failure(program, most, begin, step):
    """The first seed that fails from `begin` on, with what it says; None."""
    out = subprocess.run([program, "-f", str((most - begin) // step + 1),
                          str(begin), str(step)],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                         text=True, check=False).stdout
    found = re.findall(r"^seed (\d+) fails after \d+ acts: (.*)$", out, re.M)
    return min((int(n), why) for n, why in found) if found else None


def is_healthy(seed):
    return subprocess.run([os.environ["HEALTHY"], str(seed)],
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          check=False).returncode == 0


def seeds_needed(program, most, step):
    begin = step
    while begin <= most:
        found = first_failure(program, most, begin, step)
        if found is None:
            return None
        if is_healthy(found[0]):
            return found
        begin = found[0] + step
    return None


def main():
    if sys.argv[1] == "check":
        for fault in read_faults(HERE + "/faults.txt"):
            planted(fault)
        return
    if sys.argv[1] == "program":
        known = {f["name"]: f for f in read_faults(HERE + "/faults.txt")}
        print(build([known[name] for name in sys.argv[2:]], "urlweir"))
        return
    most, part = int(sys.argv[1]), "".join(sys.argv[2:])
    missed = []
    for fault in read_faults(HERE + "/faults.txt"):
        if not re.search(part, fault["name"]):
            continue
        began = time.monotonic()
        step = 16 if fault["name"].startswith("shards:") else 1
        found = seeds_needed(build([fault], "sim"), most * step, step)
        if found is None:
            missed.append(fault["name"])
        print("| %s | %s | %s |" %
              (fault["name"], found[0] if found else "not within %d" % most,
               found[1][:100] if found else ""), flush=True)
        print("  %.0f s" % (time.monotonic() - began), file=sys.stderr,
              flush=True)
    if missed:
        sys.exit("%d faults are not found: %s" % (len(missed),
                                                  "; ".join(missed)))


main()
