"""Contract, section 3, point 10: TLS, tokens; and the documentation."""
import http.server
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from grpc_checks.rig import (CODE, LATE, OK, Section, Server, TOP, WORK, fails, is_,
                             pb, waits)

section = Section("3 access")
check, check_alone = section.check, section.check_alone


TOKENS = {"read": "reader-0123456789", "write": "writer-0123456789",
          "admin": "admin-01234567890"}


def token_file(*roles):
    path = tempfile.mktemp(dir=WORK)
    with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        for r in roles:
            file.write(f"{r} {TOKENS[r]}\n")
    return path


def bearer(token):
    return [("authorization", "Bearer " + token)]


@check_alone
def tokens_say_who_may_what():
    path = token_file("read", "write", "admin")
    server = Server("--token-file", path)
    with server as f:
        empty = pb.QueueWithinCrawlParams(crawlID="c")
        for metadata in (None, bearer("wrong-0123456789"), bearer("x"),
                         [("authorization", TOKENS["admin"])]):
            fails(CODE.UNAUTHENTICATED, f.stub.GetStats, empty,
                  metadata=metadata)
            fails(CODE.UNAUTHENTICATED, f.stub.PutURLs, iter([]),
                  metadata=metadata)
        fails(CODE.UNAUTHENTICATED, server.channel.unary_unary("/a/b"), b"")
        item = f.new("u", crawl="c")
        for role in TOKENS:
            m = bearer(TOKENS[role])
            f.stub.GetStats(empty, metadata=m)
            if role == "read":
                is_(fails(CODE.PERMISSION_DENIED, f.stub.PutURLs, iter([item]),
                          metadata=m), "this needs a token with the role write")
                fails(CODE.PERMISSION_DENIED, f.stub.GetURLs, pb.GetParams(),
                      metadata=m)
            else:
                is_(len(list(f.stub.PutURLs(iter([item]), metadata=m))), 1)
            if role != "admin":
                is_(fails(CODE.PERMISSION_DENIED, f.stub.DeleteQueue, empty,
                          metadata=m), "this needs a token with the role admin")
                fails(CODE.PERMISSION_DENIED, f.stub.SetActive, pb.Active(),
                      metadata=m)
        m = bearer(TOKENS["admin"])
        is_(f.stub.DeleteCrawl(pb.DeleteCrawlMessage(value="c"),
                               metadata=m).value, 1)
        health = health_pb2_grpc.HealthStub(server.channel)
        health.Check(health_pb2.HealthCheckRequest())  # a probe has no token


@check_alone
def tokens_are_read_anew_on_sighup():
    path = token_file("read")
    server = Server("--token-file", path)
    with server as f:
        call = f.stub.GetActive
        call(pb.Local(), metadata=bearer(TOKENS["read"]))
        shutil.copyfile(token_file("admin"), path)
        server.process.send_signal(signal.SIGHUP)

        def taken():
            try:
                return call(pb.Local(), metadata=bearer(TOKENS["admin"])).state
            except grpc.RpcError:
                return False

        waits(5 + LATE, taken)
        fails(CODE.UNAUTHENTICATED, call, pb.Local(),
              metadata=bearer(TOKENS["read"]))


def certificates():
    """A CA, a certificate for localhost and one for a client."""
    d = tempfile.mkdtemp(dir=WORK)

    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=d, check=True,
                       capture_output=True)

    openssl("req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout",
            "ca.key", "-out", "ca.pem", "-subj", "/CN=test CA", "-days", "2")
    with open(d + "/ext", "w") as f:
        f.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
    for name in ("server", "client"):
        openssl("req", "-newkey", "rsa:2048", "-nodes", "-keyout",
                name + ".key", "-out", name + ".csr", "-subj", "/CN=" + name)
        openssl("x509", "-req", "-in", name + ".csr", "-CA", "ca.pem",
                "-CAkey", "ca.key", "-CAcreateserial", "-out", name + ".pem",
                "-days", "2", "-extfile", "ext")
    return d


def read(path):
    with open(path, "rb") as f:
        return f.read()


@check_alone
def the_fetcher_of_the_documentation_fetches():
    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"x" * 99)

        def log_message(self, *args):
            pass

    web = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=web.serve_forever, daemon=True).start()
    with open(TOP + "/docs/service.md") as file:
        code = re.search("(?s)```python\n(.*?)```", file.read()).group(1)
    with Server() as f:
        urls = [f"http://127.0.0.1:{web.server_port}/{i}" for i in range(3)]
        is_(f.put(*(f.new(u, f"q{i}") for i, u in enumerate(urls))), [OK] * 3)
        out = subprocess.run(
            [sys.executable, "-c", code.replace("127.0.0.1:7071",
                                                f.server.address)],
            cwd=WORK, capture_output=True, text=True, timeout=300,
            env={**os.environ, "GRPC_VERBOSITY": "none"})
        is_((sorted(out.stdout.splitlines()), out.stderr),
            ([f"{u} 99" for u in urls], ""))
        is_(f.figures()[:3], (0, 0, 3))
    web.shutdown()


@check_alone
def tls_and_client_certificates():
    d = certificates()
    ca = read(d + "/ca.pem")
    with Server("--tls-cert", d + "/server.pem", "--tls-key",
                d + "/server.key") as f:
        server = f.server
        fails(CODE.UNAVAILABLE, f.stub.GetActive, pb.Local())
        server.channel = grpc.secure_channel(
            server.address, grpc.ssl_channel_credentials(ca))
        is_(f.stub.GetActive(pb.Local()).state, True)
        is_(f.put(*(f.new(f"u{i}" + "x" * 500, crawl="c")
                    for i in range(5000))), [OK] * 5000)
        is_(len(f.list(crawl="c", size=5000)), 5000)
        server.process.send_signal(signal.SIGHUP)
        time.sleep(0.2)
        server.channel = grpc.secure_channel(
            server.address, grpc.ssl_channel_credentials(ca))
        is_(f.stub.GetActive(pb.Local()).state, True)
    with Server("--tls-cert", d + "/server.pem", "--tls-key",
                d + "/server.key", "--client-ca", d + "/ca.pem") as f:
        server = f.server
        server.channel = grpc.secure_channel(
            server.address, grpc.ssl_channel_credentials(ca))
        fails(CODE.UNAVAILABLE, f.stub.GetActive, pb.Local())
        server.channel = grpc.secure_channel(
            server.address, grpc.ssl_channel_credentials(
                ca, read(d + "/client.key"), read(d + "/client.pem")))
        is_(f.stub.GetActive(pb.Local()).state, True)
