"""The client in Go (tests/interop/grpc_go) against `urlweir serve`; skipped
where there is no Go or its modules cannot be had."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from background import wait_until_said  # noqa: E402

here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "grpc_go")


def go(*args, **environment):
    return subprocess.run(["go", *args], cwd=here, capture_output=True,
                          text=True, timeout=600,
                          env={**os.environ, **environment})


def get_modules():
    """What cannot be got is named beside the lines of ours that want it, as if
    these were wrong; so this comes first, and what fails later is ours."""
    for _ in range(2):
        got = go("mod", "download")
        if got.returncode == 0:
            return
    print("cannot get the modules of Go:", *got.stderr.strip().splitlines()[-1:])
    sys.exit(77)


if shutil.which("go") is None:
    print("no go")
    sys.exit(77)
with tempfile.TemporaryDirectory() as work:
    try:
        get_modules()
        built = go("build", "-o", work + "/client", ".", GOPROXY="off")
    except subprocess.TimeoutExpired:
        print("building a Go client takes too long here")
        sys.exit(77)
    if built.returncode != 0:
        print(built.stderr)
        sys.exit(1)
    with open(work + "/err", "w") as err:
        server = subprocess.Popen(
            [os.environ["URLWEIR"], "serve", work + "/d", "--http", "none",
             "--listen", "127.0.0.1:0"], stderr=err)
    try:
        address = wait_until_said(work + "/err", r"listening on (\S+)", server)
        code = subprocess.run([work + "/client", address], timeout=600).returncode
    finally:
        server.send_signal(signal.SIGTERM)
        ended = server.wait(120)
    assert ended == 0, "the server ended with %d" % ended
    sys.exit(code)
