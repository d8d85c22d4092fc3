"""The URLFrontier API as a client sees it: grpcio against `urlweir serve`.

Every sentence of the contract is a check in grpc_checks/, one file for each of
its sections; a check's name is the sentence. Six jobs run all of those that can
share a server side by side against one, each in crawls of its own; those that
touch what is shared by all (active flag, default delay, restarts) have servers
of their own.

usage: grpc_client.py [PART_OF_A_NAME...]
JOBS=N so many jobs; VERBOSE=1 whole traces and what took longest.
CLUSTER=kafka://HOST:PORT the same of `urlweir serve --cluster`, without what is
of a directory: two processes serve one frontier there, and the calls of a check
go to one and the other (grpc_cluster.py).
"""
# pip: grpcio grpcio-tools grpcio-health-checking grpcio-reflection
# Promise (Served frontier): an acknowledged change survives a kill: completed
#   stays completed, no lease is handed out twice before its time, and delays,
#   blocks, limits and the active flag stay. See also `make sim`.
# Promise (The service): the URLFrontier API holds, sentence by sentence, with
#   a real client, six of them side by side against one server, also after
#   restarts and kills. See also `tests/interop/grpc_checks`, `frontier_calls`,
#   `frontier_calls`, `make sim`.
# Promise (The service): clients that never read their acknowledgements or
#   lists cost bounded memory, and others are still served. See also `make
#   bench-grpc`.
# Promise (The service): an acknowledged URL survives a kill, and so do delays,
#   blocks, limits, holds and the active flag.
# Promise (The service): tokens and roles, TLS, client certificates and their
#   reload work; no port is open by mistake. See also `auth`,
#   `tests/cli/serve.sh`.
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import time
import traceback

from grpc_checks import (access, alone, better, control, get,  # noqa: F401
                         own, put, read, rig, wire)

THREADS = 8


def run(function, *args):
    begun = time.monotonic()
    try:
        function(*args)
        result = None
    except Exception:  # every check tells its own failure
        result = traceback.format_exc()
        if os.environ.get("VERBOSE") is None:
            result = re.sub(r"(?s)^.*\n(  File [^\n]*grpc_checks)", r"\1",
                            result)
    return (function.section, function.__name__, result,
            time.monotonic() - begun)


def chosen(kind, wanted):
    return [c for s in rig.Section.all for c in getattr(s, kind)
            if (not wanted or any(w in c.__name__ for w in wanted))
            and not (rig.CLUSTER and (s.of_directory or c in s.with_directory))]


def job(address, wanted):
    """One of those side by side: the results as JSON on stdout."""
    server = rig.Remote(address)
    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        running = [pool.submit(run, c, rig.Frontier(
            server, f"job{rig.JOB}-{i}-")) for i, c in
            enumerate(chosen("shared", wanted))]
        print(json.dumps([r.result() for r in running]), flush=True)
    os._exit(0)  # a check that failed may have left a stream open


def start_job(n, address, wanted):
    return subprocess.Popen(
        [sys.executable, os.path.abspath(__file__), "--job", address, *wanted],
        stdout=subprocess.PIPE, text=True,
        env={**os.environ, "GRPC_JOB": str(n), "GRPC_WORK": rig.WORK,
             "GRPC_VERBOSITY": "none"})


def report(results, jobs):
    for section, name, text, _, where in results:
        if text:
            print(f"FAILED [{section}] {name.replace('_', ' ')}, {where}\n"
                  f"{text}")
    if os.environ.get("VERBOSE"):
        for section, name, _, took, where in sorted(
                results, key=lambda r: -r[3])[:15]:
            print(f"{took:6.2f} s  [{section}] {name}, {where}")
    names = {(r[0], r[1]) for r in results}
    bad = {(r[0], r[1]) for r in results if r[2]}
    for s in rig.Section.all:
        print(f"  {s.name}: {sum(n[0] == s.name for n in names)} statements")
    print(f"{len(names) - len(bad)} of {len(names)} statements hold, "
          f"{jobs} jobs side by side")
    return len(bad)



def main():
    wanted = sys.argv[1:]
    if wanted[:1] == ["--job"]:
        return job(wanted[1], wanted[2:])
    jobs, server = int(os.environ.get("JOBS", "6")), rig.Server()
    other = rig.Server(name=server.name) if rig.CLUSTER else None
    if other:
        nodes = rig.stubs.URLFrontierStub(server.channel).ListNodes
        rig.waits(60, lambda: set(nodes(rig.pb.Local()).values) ==
                  {server.address, other.address})
    address = server.address + ("," + other.address if other else "")
    with server, concurrent.futures.ThreadPoolExecutor(4) as pool:
        running = [start_job(n, address, wanted) for n in range(jobs)]
        results = [(*r.result(), "alone") for r in [
            pool.submit(run, c) for c in chosen("alone", wanted)]]
        for n, process in enumerate(running):
            out, _ = process.communicate()
            results += [(*r, f"job {n}") for r in json.loads(out)]
        code = server.stop() or (other.stop() if other else 0)
    for line in server.lines:
        if "listening" not in line and "sandbox" not in line:
            print(line, end="")
    bad = report(results, jobs)
    shutil.rmtree(rig.WORK, ignore_errors=True)
    assert code == 0, f"the server ended with {code}"
    return 1 if bad else 0


sys.exit(main())
