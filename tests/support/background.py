"""What scripts in Python run beside themselves: waited for, at an address where
nobody else listens, so that a port that is free stays so."""
import ctypes
import os
import re
import signal
import socket
import time


def own_address():
    """Of this process alone among those that run. No proxy is asked for it."""
    pid = os.getpid()
    address = "127.%d.%d.%d" % (64 + (pid >> 14 & 127), 1 + (pid >> 7 & 127), 1 + (pid & 127))
    for name in ("no_proxy", "NO_PROXY"):
        others = [a for a in os.environ.get(name, "").split(",") if a not in ("", address)]
        os.environ[name] = ",".join([*others, address])
    return address


def end_with_us():
    """For preexec_fn: the process is killed when this one ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def free_port(address):
    with socket.socket() as s:
        s.bind((address, 0))
        return s.getsockname()[1]


def wait_for(what, probe, process=None, seconds=120):
    """What `probe` finds, asked again until it is something, while `process` runs."""
    end = time.monotonic() + seconds
    while True:
        ended = process is not None and process.poll() is not None
        found = probe()
        if found and not ended:
            return found
        assert not ended, "%s: it ended with %d" % (what, process.returncode)
        assert time.monotonic() < end, "no %s within %d s" % (what, seconds)
        time.sleep(0.05)


def said(path, pattern):
    """The first group of `pattern` in the whole lines of a file that is written to."""
    with open(path, encoding="utf-8", errors="replace") as f:
        found = re.search(pattern, f.read().rpartition("\n")[0])
    return found and found[1]


def wait_until_said(path, pattern, process):
    try:
        return wait_for(pattern, lambda: said(path, pattern), process)
    except AssertionError:
        with open(path, encoding="utf-8", errors="replace") as f:
            print(f.read())
        raise
