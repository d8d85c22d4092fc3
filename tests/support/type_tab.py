#!/usr/bin/env python3
"""Types a line into an interactive shell, as a person at a terminal does.

usage: type_tab.py SETUP LINE SHELL [ARG...]

SETUP is a file that the shell reads first; it must set the prompt to
READY followed by "> " and end the shell in the end. LINE may hold \\t. What the
shell writes goes to stdout. A shell that does not answer is ended.
"""

import os
import pty
import select
import sys
import time

DEADLINE = time.monotonic() + 120


def read_until(fd: int, text: bytes) -> None:
    seen = b""
    while text not in seen:
        ready, _, _ = select.select([fd], [], [], DEADLINE - time.monotonic())
        if not ready:
            sys.exit("type_tab: the shell does not answer")
        try:
            chunk = os.read(fd, 65536)
        except OSError:  # its end closed the terminal
            chunk = b""
        if not chunk:
            return
        seen += chunk
        sys.stdout.buffer.write(chunk)
        sys.stdout.flush()


def main() -> None:
    setup, line, *shell = sys.argv[1:]
    child, fd = pty.fork()
    if child == 0:
        os.execvp(shell[0], shell)
    os.write(fd, f"source {setup}\n".encode())
    read_until(fd, b"READY> ")
    os.write(fd, line.replace("\\t", "\t").encode())
    os.write(fd, b"\nexit\n")
    read_until(fd, b"no such text")
    os.waitpid(child, 0)


main()
