"""A network namespace of the script's own, where there is loopback and nothing
else: for what makes crawls of anything that comes to its mind."""
import fcntl
import os
import socket
import struct
import subprocess
import sys

SIOCSIFFLAGS, IFF_UP = 0x8914, 1
WAYS = (["unshare", "--net"], ["unshare", "--map-root-user", "--net"])


def enter():
    """The script anew, in one. False: none may be made here."""
    if "OWN_NETWORK" in os.environ:
        with socket.socket() as s:
            fcntl.ioctl(s, SIOCSIFFLAGS, struct.pack("16sh22x", b"lo", IFF_UP))
        return True
    for way in WAYS:
        try:
            done = subprocess.run([*way, "true"], stderr=subprocess.DEVNULL)
        except FileNotFoundError:
            return False
        if done.returncode == 0:
            os.environ["OWN_NETWORK"] = "1"
            os.execvp(way[0], [*way, sys.executable, *sys.argv])
    return False
