"""A crawl in Java with the API's own classes (tests/interop/grpc_java) against
`urlweir serve`; skipped where there is no Java, no Maven, or the classes cannot
be had."""
# Promise (The service): StormCrawler's clients work: a crawl in Java with the
#   API's own classes, through a kill, with 100,000 puts in flight; and a
#   client in Go. See also `tests/interop/grpc_go.py`.
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from background import own_address, wait_until_said  # noqa: E402

here = os.path.join(os.path.dirname(os.path.abspath(__file__)), "grpc_java")
for tool in ("java", "mvn"):
    if shutil.which(tool) is None:
        print("no " + tool)
        sys.exit(77)


def start(work, listen):
    with open(work + "/err", "w") as err:
        server = subprocess.Popen(
            [os.environ["URLWEIR"], "serve", work + "/d", "--http", "none",
             "--listen", listen], stderr=err)
    return server, wait_until_said(work + "/err", r"listening on (\S+)", server)


def get_classes(work):
    """Their path; a repository that does not answer may a little later."""
    for again in ([], ["-U"]):
        found = subprocess.run(
            ["mvn", "-B", "-q", *again, "-f", here, "dependency:build-classpath",
             "-Dmdep.outputFile=" + work + "/classpath"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=240)
        if found.returncode == 0:
            with open(work + "/classpath") as f:
                return f.read().strip()
    print("cannot get the API's classes:", *[
        line for line in found.stdout.splitlines() if "ERROR" in line][:1])
    sys.exit(77)


with tempfile.TemporaryDirectory() as work:
    try:
        classpath = get_classes(work)
    except subprocess.TimeoutExpired:
        print("getting the API's classes takes too long here")
        sys.exit(77)
    # javac beside java, or else the launcher that compiles by itself
    built = subprocess.run(["javac", "-cp", classpath, "-d", work,
                            here + "/Crawl.java"], capture_output=True,
                           text=True, timeout=600) \
        if shutil.which("javac") else None
    if built is not None and built.returncode != 0:
        print(built.stderr)
        sys.exit(1)
    program = ["-cp", classpath + ":" + work, "Crawl"] if built \
        else ["-cp", classpath, here + "/Crawl.java"]
    server, address = start(work, own_address() + ":0")
    client = subprocess.Popen(["java", *program, address],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True)
    try:
        for line in client.stdout:
            if line == "RESTART\n":
                server.kill()
                server.wait()
                server, address = start(work, address)
                client.stdin.write("\n")
                client.stdin.flush()
            else:
                print(line, end="")
        code = client.wait(120)
    finally:
        client.kill()
        server.send_signal(signal.SIGTERM)
    assert server.wait(120) == 0, "the server ended badly"
    sys.exit(code)
