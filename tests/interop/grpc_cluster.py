"""The URLFrontier API of two processes over one frontier in a cluster.

The sentences of grpc_client.py against `urlweir serve --cluster`: the calls of a
check go to one process and to the other in turn. Those that need a directory
are left out: a store that cannot be written, and crawls of the service's own.
"""
# pip: grpcio grpcio-tools grpcio-health-checking grpcio-reflection h2
import os
import shutil
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, TOP + "/tests/support")
from redis_servers import Single  # noqa: E402

if shutil.which("redis-server") is None:
    print("skipped, no redis-server")
    sys.exit(77)
with tempfile.TemporaryDirectory(prefix="urlweir-grpc-") as where:
    servers = Single(where + "/redis")
    try:
        code = subprocess.call(
            [sys.executable, TOP + "/tests/interop/grpc_client.py",
             *sys.argv[1:]],
            env={**os.environ, "CLUSTER": servers.url(),
                 "JOBS": os.environ.get("JOBS", "2")})
    finally:
        servers.end()
sys.exit(code)
