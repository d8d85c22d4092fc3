"""The client in Go (tests/interop/grpc_go) against `urlweir serve`; skipped
where there is no Go or its modules cannot be had."""
import os
import shutil
import signal
import subprocess
import sys
import tempfile

here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "grpc_go")
if shutil.which("go") is None:
    print("no go")
    sys.exit(77)
with tempfile.TemporaryDirectory() as work:
    try:
        built = subprocess.run(["go", "build", "-o", work + "/client", "."],
                               cwd=here, capture_output=True, text=True,
                               timeout=240)
    except subprocess.TimeoutExpired:
        print("building a Go client takes too long here")
        sys.exit(77)
    if built.returncode != 0:
        lines = built.stderr.strip().splitlines() or ["?"]
        if any(".go:" in line and "main.go" in line for line in lines):
            print(built.stderr)
            sys.exit(1)  # ours does not compile
        print("cannot build a Go client:", lines[-1])
        sys.exit(77)
    server = subprocess.Popen(
        [os.environ["URLWEIR"], "serve", work + "/d", "--http", "none",
         "--listen",
         "127.0.0.1:0"], stderr=subprocess.PIPE, text=True)
    address = next(line.split("listening on ")[1].strip()
                   for line in server.stderr if "listening on " in line)
    code = subprocess.run([work + "/client", address], timeout=120).returncode
    server.send_signal(signal.SIGTERM)
    assert server.wait(20) == 0, "the server ended badly"
    sys.exit(code)
