"""Redis servers on loopback, alone and as clusters, for the tests of cluster crawls."""

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import time

from background import own_address

HERE = own_address()  # of all servers, so that one that was killed finds its port free
LONGEST = 120  # s, for any wait


class Failure(Exception):
    pass


def wait_for(what, text):
    end = time.monotonic() + LONGEST
    while not what():
        if time.monotonic() > end:
            raise Failure("no end of waiting for " + text)
        time.sleep(0.02)


# ---- servers -----------------------------------------------------------------


def free_ports(n):
    """The sockets are open at once, so that all ports differ."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(n)]
        for s in sockets:
            s.bind((HERE, 0))
        return [s.getsockname()[1] for s in sockets]


def end_with_us():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Certificate:
    """Of HERE, by itself."""

    def __init__(self, where):
        self.path, self.key = where + "/server.pem", where + "/server.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                        "/CN=redis", "-addext", "subjectAltName=IP:" + HERE,
                        "-keyout", self.key, "-out", self.path],
                       check=True, stderr=subprocess.DEVNULL)

    def options(self, port):
        """Of a server that talks TLS on `port`, and with its like."""
        return ["--tls-port", str(port), "--tls-auth-clients", "no", "--tls-cluster",
                "yes", "--tls-replication", "yes", "--tls-cert-file", self.path,
                "--tls-key-file", self.key, "--tls-ca-cert-file", self.path]


PROGRAM = (os.environ.get("URLWEIR_REDIS") or shutil.which("redis-server") or
           shutil.which("valkey-server") or "redis-server")


class Server:
    def __init__(self, where, port, bus=None, options=(), tls=None):
        """`tls`: the port of crawlers; `port` is for us alone then."""
        self.where, self.port, self.bus = where, port, bus
        self.public = tls or port
        self.options = list(options)
        os.makedirs(where, exist_ok=True)
        self.start()

    def start(self):
        words = [PROGRAM, "--port", str(self.port), "--bind", HERE,
                 "--dir", self.where, "--save", "", "--appendonly", "no",
                 "--logfile", "log"]
        if self.bus is not None:
            words += ["--cluster-enabled", "yes", "--cluster-port", str(self.bus),
                      "--cluster-announce-ip", HERE,
                      "--cluster-node-timeout", "1500",
                      "--cluster-replica-validity-factor", "0",
                      "--repl-diskless-sync-delay", "0"]
        self.process = subprocess.Popen(words + self.options, preexec_fn=end_with_us)
        self.connection = None
        wait_for(self.answers, "a server")

    def answers(self):
        if self.process.poll() is not None:
            with open(self.where + "/log", encoding="utf-8") as f:
                raise Failure("a server has ended: " + f.read()[-500:])
        try:
            return self.ask("PING") == "PONG"
        except OSError:
            self.connection = None
            return False

    def ask(self, *words):
        """One command, its reply; an error reply is raised."""
        if self.connection is None:
            s = socket.create_connection((HERE, self.port), 10)
            s.settimeout(60)
            self.connection = s.makefile("rwb")
        out = b"*%d\r\n" % len(words)
        for w in words:
            b = w if isinstance(w, bytes) else str(w).encode()
            out += b"$%d\r\n%s\r\n" % (len(b), b)
        self.connection.write(out)
        self.connection.flush()
        return self.read()

    def read(self):
        line = self.connection.readline()
        if not line:
            raise OSError("closed")
        kind, rest = line[:1], line[1:-2]
        if kind == b"-":
            raise RuntimeError(rest.decode())
        if kind == b"+":
            return rest.decode()
        if kind == b":":
            return int(rest)
        n = int(rest)
        if kind == b"*":
            return [self.read() for _ in range(n)]
        if n < 0:
            return None
        return self.connection.read(n + 2)[:-2]

    def info(self, name):
        for line in self.ask("INFO").decode().splitlines():
            if line.startswith(name + ":"):
                return line.split(":", 1)[1]
        return None

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.connection = None


class Cluster:
    """Three masters, each with `replicas` replicas."""

    def __init__(self, where, replicas, certificate=None):
        self.replicas, count = replicas, 3 * (1 + replicas)
        ports, self.certificate = free_ports(3 * count), certificate
        self.servers = []
        for i in range(count):
            port, bus, tls = ports[3 * i:3 * i + 3]
            self.servers.append(
                Server(f"{where}/{i}", port, bus, certificate.options(tls), tls)
                if certificate else Server(f"{where}/{i}", port, bus))
        self.masters = self.servers[:3]
        for i, s in enumerate(self.servers):
            s.ask("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
        for s in self.servers[1:]:
            s.ask("CLUSTER", "MEET", HERE, self.servers[0].public,
                  self.servers[0].bus)
        for i, s in enumerate(self.masters):
            s.ask("CLUSTER", "ADDSLOTSRANGE", i * 5461 + (i > 0),
                  16383 if i == 2 else (i + 1) * 5461)
        wait_for(lambda: all(self.knows(s, count) for s in self.servers),
                 "a cluster")
        for i, s in enumerate(self.servers[3:]):
            s.ask("CLUSTER", "REPLICATE", self.masters[i % 3].ask("CLUSTER", "MYID"))
        wait_for(lambda: all(s.info("connected_slaves") == str(replicas)
                             for s in self.masters), "replicas")
        wait_for(lambda: all(s.info("master_link_status") == "up"
                             for s in self.servers[3:]), "replication")
        wait_for(lambda: all(b"cluster_state:ok" in s.ask("CLUSTER", "INFO")
                             for s in self.servers), "a cluster that is ok")

    @staticmethod
    def knows(server, count):
        return len(server.ask("CLUSTER", "NODES").splitlines()) == count

    @staticmethod
    def cut(master):
        """From now on its replicas get nothing more from it."""
        master.ask("ACL", "SETUSER", "default", "-psync", "-sync", "-replconf")
        master.ask("CLIENT", "KILL", "TYPE", "replica")

    @staticmethod
    def owns(master, slot):
        return any(first <= slot <= last and spot[1] == master.port
                   for first, last, spot, *_ in master.ask("CLUSTER", "SLOTS"))

    def move(self, slot, a, b, pause=0):
        """From master a to master b, key by key."""
        a_id, b_id = a.ask("CLUSTER", "MYID"), b.ask("CLUSTER", "MYID")
        b.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", a_id)
        a.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", b_id)
        while True:
            keys = a.ask("CLUSTER", "GETKEYSINSLOT", slot, 2)
            if not keys:
                break
            a.ask("MIGRATE", HERE, b.port, "", 0, 5000, "KEYS", *keys)
            time.sleep(pause)
        for s in [b, a] + [s for s in self.current() if s not in (a, b)]:
            s.ask("CLUSTER", "SETSLOT", slot, "NODE", b_id)

    def current(self):
        """The masters of now."""
        return [s for s in self.servers if s.process.poll() is None and
                s.info("role") == "master"]

    def mend(self, dead):
        """Another master takes over, and the dead one comes back as its replica."""
        wait_for(lambda: len(self.current()) == 3, "a failover")
        dead.start()
        wait_for(lambda: len(self.current()) == 3 and
                 all(s.info("connected_slaves") == str(self.replicas)
                     for s in self.current()),
                 "replicas")

    def url(self, user=""):
        """`user`: USER:PASSWORD@"""
        return ("rediss://" if self.certificate else "redis://") + user + ",".join(
            f"{HERE}:{s.public}" for s in self.masters)

    def end(self):
        for s in self.servers:
            if s.process.poll() is None:
                s.kill()


class Single:
    def __init__(self, where, *options):
        self.servers = self.masters = [Server(where, free_ports(1)[0],
                                              options=options)]

    def url(self, user=""):
        return f"redis://{user}{HERE}:{self.servers[0].port}"

    end = Cluster.end


class Closing:
    def __init__(self, it):
        self.it = it

    def close(self):
        self.it.end()
