"""The URLFrontier API of two processes whose shards are in Kafka.

The sentences of grpc_client.py against `urlweir serve --cluster`: the calls of a
check go to one process and to the other in turn. Those that need a store of the
process's own are left out: one that cannot be written, and crawls of its own.
"""
# pip: grpcio grpcio-tools grpcio-health-checking grpcio-reflection
# Promise (Cluster): served URLs whose shards are in Kafka: any process takes
#   any call; an acknowledged URL is there once, and leases come back at their
#   deadline and not before, though a process is killed, lost with its disk, or
#   stands still; the API is that of one process, except that shards take turns
#   where queues do. See also `make check-cluster T="kill_process lose_process
#   pause_process"`, `call_split`, `call_wire`.
import os
import subprocess
import sys
import tempfile

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))

with tempfile.TemporaryDirectory(prefix="urlweir-grpc-") as where:
    kafka = [TOP + "/tools/kafka.sh"]
    code = subprocess.call(kafka + ["start", where + "/kafka", "1"])
    if code == 0:
        try:
            with open(where + "/kafka/brokers", encoding="ascii") as f:
                cluster = "kafka://" + f.read().strip()
            code = subprocess.call(
                [sys.executable, TOP + "/tests/interop/grpc_client.py",
                 *sys.argv[1:]],
                env={**os.environ, "CLUSTER": cluster,
                     "JOBS": os.environ.get("JOBS", "1")})
        finally:
            subprocess.call(kafka + ["stop", where + "/kafka"])
sys.exit(code)
