"""A client of `urlweir serve --http` for tests/cli/serve-http.sh.

usage: http_client.py HOST:PORT PART [ARG...]; each part is a function below.
"""
import http.client
import json
import os
import re
import shutil
import signal
import ssl
import sys
import time
import urllib.parse

address = sys.argv[1]


def ask(method, path, body=None, headers=None, token=None, raw=False):
    """(status, headers, body); JSON is read, also that of problems."""
    connection = http.client.HTTPConnection(address, timeout=60)
    headers = dict(headers or {})
    if body is not None:
        headers.setdefault("Content-Type", "application/json")
        body = body if raw else json.dumps(body)
    if token:
        headers["Authorization"] = "Bearer " + token
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    kind = answer.getheader("Content-Type") or ""
    if "json" in kind:
        text = json.loads(text)
    if answer.status >= 400:
        assert kind == "application/problem+json", (path, kind)
        assert text["status"] == answer.status and text["title"], text
        assert set(text) == {"type", "title", "status", "detail"}, text
    assert answer.getheader("Access-Control-Allow-Origin") is None
    return answer.status, answer.headers, text


def ok(method, path, body=None, **more):
    status, _, answer = ask(method, path, body, **more)
    assert status == 200, (path, answer)
    return answer


def get(path, **query):
    return ok("GET", path + "?" + urllib.parse.urlencode(query))


def facts(url, **query):
    return get("/v1/url", url=url, **query)


def statuses(answer):
    return [r["status"] for r in answer["results"]]


def put():
    body = [{"url": "http://a.test/1", "metadata": {"depth": ["1", "\u00fc"]}},
            {"url": "http://a.test/2", "kind": "discovered"},
            {"url": "http://b.test/", "kind": "known",
             "refetch_at": "2020-01-01T00:00:00Z"},
            {"url": "http://c.test/", "kind": "known"},
            {"url": "http://"}]
    answer = ok("POST", "/v1/urls", body)
    assert statuses(answer) == ["ok"] * 4 + ["skipped"], answer
    assert answer["results"][1]["url"] == "http://a.test/2"
    assert statuses(ok("POST", "/v1/urls", body[0])) == ["skipped"]


def lease():
    urls = ok("POST", "/v1/lease", {"lease_seconds": 600.0, "max_queues": 1e2})
    assert urls["more"] is False
    urls = {u["url"]: u for u in urls["urls"]}
    assert set(urls) == {"http://a.test/1", "http://b.test/"}, urls
    one = urls["http://a.test/1"]
    assert one["metadata"] == {"depth": ["1", "\u00fc"]}, one
    assert one["key"] == "a.test" and one["crawl"] == "DEFAULT", one
    assert ok("POST", "/v1/lease", {})["urls"] == []
    answer = ok("POST", "/v1/ack", [
        {"lease": one["lease"]},
        {"lease": one["lease"]},
        {"lease": urls["http://b.test/"]["lease"],
         "refetch_at": "2098-12-31T16:00:00.5-08:00", "metadata": {"e": ["tag"]}}])
    assert statuses(answer) == ["ok", "gone", "ok"], answer
    time.sleep(1.1)
    (two,) = ok("POST", "/v1/lease", {"key": "a.test"})["urls"]
    assert two["url"] == "http://a.test/2", two
    lease_of = {"lease": two["lease"]}
    assert statuses(ok("POST", "/v1/extend",
                       {**lease_of, "lease_seconds": 900})) == ["ok"]
    assert statuses(ok("POST", "/v1/fail",
                       {**lease_of, "retry_seconds": 3600})) == ["ok"]
    assert statuses(ok("POST", "/v1/extend", lease_of)) == ["gone"]


def acknowledged():
    one = facts("http://a.test/1")
    assert one["state"] == "completed" and one["due_at"] is None, one
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z",
                        one["created_at"]), one
    b = facts("http://b.test/")
    assert b["state"] == "queued" and b["metadata"] == {"e": ["tag"]}, b
    assert b["due_at"].startswith("2099-01-01T00:00:00"), b
    two = facts("http://a.test/2")
    assert two["state"] == "queued" and two["leased_until"] is None, two
    assert facts("http://c.test/")["state"] == "completed"
    stats = get("/v1/stats")
    assert stats["size"] == 2 and stats["completed"] == 2, stats
    assert stats["in_process"] == 0, stats


def names():
    """Any UTF-8, slashes and spaces in names; queues are set and removed."""
    crawl, key = "a/b c%\u00fc+\U0001f980", "k&=/\u00fc"
    ok("POST", "/v1/urls", {"url": "http://x.test/", "crawl": crawl, "key": key})
    assert {"name": crawl, "kind": "served"} in get("/v1/crawls")["crawls"]
    assert get("/v1/queues", crawl=crawl, include_inactive="true") == {
        "crawl": crawl, "queues": [key]}
    where = {"crawl": crawl, "key": key}
    assert ok("POST", "/v1/queues/delay", {**where, "delay_seconds": 7}) == {}
    ok("POST", "/v1/queues/limit", {**where, "limit": 5})
    ok("POST", "/v1/queues/block", {**where, "until": "2098-01-01T05:30:00+05:30"})
    # blocked to the end of that second, as the URLFrontier API has it
    queue = facts("http://x.test/", **where)["queue"]
    assert queue == {"blocked_until": "2098-01-01T00:00:01.000Z",
                     "served_at": None, "delay_seconds": 7.0, "limit": 5}, queue
    assert ok("POST", "/v1/lease", {"crawl": crawl})["urls"] == []
    ok("POST", "/v1/queues/block", {**where, "until": None})
    assert len(ok("POST", "/v1/lease", {"crawl": crawl})["urls"]) == 1
    query = urllib.parse.urlencode(where)
    assert ok("DELETE", "/v1/queues?" + query) == {"deleted": 1}
    ok("POST", "/v1/urls", {"url": "http://x.test/", "crawl": crawl})
    path = "/v1/crawls/" + urllib.parse.quote(crawl, safe="")
    assert ok("GET", path) == {"name": crawl, "kind": "served"}
    assert ok("DELETE", path) == {"deleted": 1}
    assert crawl not in [c["name"] for c in get("/v1/crawls")["crawls"]]


def refused(status, *args, **more):
    got, headers, answer = ask(*args, **more)
    assert got == status, (args, got, answer)
    return headers, answer


def errors():
    refused(404, "GET", "/nothing")
    refused(404, "GET", "/v1/crawls/")
    headers, _ = refused(405, "PUT", "/v1/lease", {})
    assert headers["Allow"] == "POST"
    refused(404, "GET", "/v1/url?url=http%3A%2F%2Fa.test%2Fnever")
    for path in ("/v1/url", "/v1/url?url=%zz", "/v1/url?url=a&url=b",
                 "/v1/stats?nonsense=1", "/v1/url?url=%ff", "/v1/url?url=a%00b",
                 "/v1/queues?size=0", "/v1/queues?size=1e3",
                 "/v1/queues?include_inactive=1"):
        refused(400, "GET", path)
    refused(400, "DELETE", "/v1/crawls/a%00b")
    refused(400, "DELETE", "/v1/crawls/DEFAULT?sure=1")
    refused(400, "DELETE", "/v1/queues?crawl=DEFAULT&key=")
    for body in ("", "{", "[]", "[1]", "1", "{}", '{"url":1}', '{"url":"a","x":1}',
                 '{"url":"a","url":"b"}', '{"url":"a","metadata":{"a":"b"}}',
                 '{"url":"a","metadata":{"a":[1]}}', '{"url":"a","kind":"x"}',
                 '{"url":"\\u0000"}', '{"url":"a","refetch_at":"yesterday"}',
                 '{"url":"a","kind":"known","refetch_at":"2026-02-30T00:00:00Z"}',
                 '{"url":"a","refetch_at":"2026-02-30T00:00:00Z"}',
                 '{"url":"\xff"}'.encode("latin-1"), "[" * 100000):
        refused(400, "POST", "/v1/urls", body, raw=True)
    _, answer = refused(400, "POST", "/v1/urls", [{"url": "a"}, {"u\u00fc": 1}])
    assert answer["detail"] == "item 1: there is no 'u\u00fc'", answer
    for url in ({"url": ""}, [{"url": "a"}, {"url": "", "key": "k"}]):
        _, answer = refused(400, "POST", "/v1/urls", url)
        assert "'url' must be a string that is not empty" in answer["detail"], answer
    refused(400, "GET", "/v1/url?url=&key=k")
    for body in ({"lease": 1}, {"lease": "x"}, {"lease": "99999999999999999999"},
                 {"lease": ""}, {"lease": "1", "seconds": 1}):
        refused(400, "POST", "/v1/fail", body)
    assert statuses(ok("POST", "/v1/ack", {"lease": str(2**64 - 1)})) == ["gone"]
    refused(413, "POST", "/v1/urls", "", raw=True,
            headers={"Content-Length": str((4 << 20) + 1)})
    refused(413, "GET", "/v1/stats", "x", raw=True)
    refused(413, "POST", "/v1/urls", [{"url": "a"}] * 16385)
    assert len(ok("POST", "/v1/urls", [{"url": "a"}] * 16384)["results"]) == 16384
    refused(415, "POST", "/v1/urls", "{}", raw=True,
            headers={"Content-Type": "text/plain"})
    for host in ("evil.test", "evil.test:80", "127.0.0.1.evil.test", "10.0.0.1",
                 "localhost.evil.test", ""):
        refused(421, "GET", "/v1/stats", headers={"Host": host})
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1", "127.9.9.9:7072", "[::1]:7"):
        ask_status, _, _ = ask("GET", "/v1/stats", headers={"Host": host})
        assert ask_status == 200, host
    connection = http.client.HTTPConnection(address, timeout=60)
    connection.request("HEAD", "/metrics")
    answer = connection.getresponse()
    assert answer.status == 200 and answer.read() == b""


def metrics():
    """The whole page is metrics.sh's part; here only what a restart leaves."""
    _, headers, text = ask("GET", "/metrics")
    assert headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    values = dict(line.rsplit(" ", 1) for line in text.decode().splitlines()
                  if not line.startswith("#"))
    for name in ("frontier_urls", "frontier_commits_total", "http_connections",
                 "frontier_waiting_items", "frontier_memory_bytes",
                 'frontier_calls_total{transport="http",verb="put"}'):
        assert "urlweir_" + name in values, name
    assert float(values["urlweir_process_resident_memory_bytes"]) > 1e6
    assert values["urlweir_frontier_active"] == "1"
    assert ok("GET", "/healthz") == {"status": "ok"}


def tokens():
    """Each path wants its role: (role, status when it is enough, request)."""
    body = {"url": "http://t.test/"}
    crawl = "/v1/crawls/none"
    needs = [("read", 200, "GET", "/metrics", None), ("read", 200, "GET", "/v1/stats", None),
             ("write", 200, "POST", "/v1/urls", body), ("write", 200, "POST", "/v1/lease", {}),
             ("read", 200, "GET", "/v1/crawls", None), ("read", 404, "GET", crawl, None),
             ("admin", 400, "POST", "/v1/crawls", {}),
             ("write", 404, "POST", crawl + "/seeds", {"urls": []}),
             ("read", 404, "GET", crawl + "/settings", None),
             ("admin", 404, "PATCH", crawl + "/settings", {}),
             ("admin", 200, "DELETE", "/v1/crawls/DEFAULT", None)]
    needs += [("write", 404, "POST", f"{crawl}/{verb}", {})
              for verb in ("pause", "unpause", "stop", "resume")]
    needs += [("read", 404, "GET", f"{crawl}/{what}", None) for what in ("hosts", "recent")]
    needs += [("read", 404, "POST", f"{crawl}/{what}", body)
              for what, body in (("explain", {"url": "a"}), ("audit", {}), ("status", {}),
                                 ("export", {}))]
    order = ["read", "write", "admin"]
    for needed, status, *request in needs:
        headers, _ = refused(401, *request)
        assert headers["WWW-Authenticate"].startswith("Bearer")
        refused(401, *request, token="0123456789abcdef-nobody")
        for role in order:
            enough = order.index(role) >= order.index(needed)
            refused(status if enough else 403, *request, token="0123456789abcdef-" + role)
    refused(401, "GET", "/v1/events")
    assert ok("GET", "/healthz") == {"status": "ok"}
    assert ok("GET", "/openapi.json")["openapi"].startswith("3.1")


def token_is(token, status):
    refused(int(status), "GET", "/v1/stats", token=token)


def idle():
    """Connections that are open when the service stops are closed."""
    first = http.client.HTTPConnection(address, timeout=40)  # before it is idle for too long
    first.connect()
    second = http.client.HTTPConnection(address, timeout=60)
    second.request("GET", "/healthz")
    second.getresponse().read()
    open("idle", "w").close()
    assert first.sock.recv(1) == b""


def half():
    """Half a request, and no more of it; the service's end cuts it off."""
    connection = http.client.HTTPConnection(address, timeout=60)
    connection.putrequest("POST", "/v1/urls")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", "24")
    connection.endheaders(b"{")
    ok("GET", "/healthz")  # it was read by then
    open("half", "w").close()
    connection.sock.settimeout(None)
    assert connection.sock.recv(1) == b""


def tls(certificate):
    context = ssl.create_default_context(cafile="server.pem")
    if certificate == "shown":
        context.load_cert_chain("client.pem", "client.key")
    connection = http.client.HTTPSConnection(address, timeout=60, context=context)
    connection.request("GET", "/healthz")
    answer = connection.getresponse()
    assert answer.status == (403 if certificate == "refused" else 200), answer.status
    assert connection.sock is None or connection.sock.version() in ("TLSv1.2", "TLSv1.3")


def shown(connection):
    """The certificate the server shows, and that it answers."""
    certificate = connection.sock.getpeercert(binary_form=True)
    connection.request("GET", "/healthz")
    answer = connection.getresponse()
    answer.read()
    return certificate, answer.status


def connect(certificate=None):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if certificate:
        context.load_cert_chain(certificate + ".pem", certificate + ".key")
    connection = http.client.HTTPSConnection(address, timeout=60, context=context)
    connection.connect()
    return connection


def der(name):
    return ssl.PEM_cert_to_DER_cert(open(name + ".pem").read())


def reload_until(server, expected, certificate, status=200):
    """SIGHUP, then connections until one is shown `expected`."""
    os.kill(int(server), signal.SIGHUP)
    for _ in range(600):
        if shown(connect(certificate)) == (expected, status):
            return
        time.sleep(0.05)
    raise AssertionError("the old certificate is still shown")


def reloads(server):
    """`first` and `second` are certificates of the server, `client` and `other`
    of callers; the server began with copies of `first` and `client`."""
    first, second = der("first"), der("second")
    old = connect("client")
    assert shown(old) == (first, 200)
    assert shown(connect("other")) == (first, 403)

    for kind in ("pem", "key"):
        shutil.copy("second." + kind, "live." + kind)
    reload_until(server, second, "client")
    assert shown(old) == (first, 200), "an old connection"

    shutil.copy("other.pem", "ca.pem")
    reload_until(server, second, "other")
    assert shown(connect("client")) == (second, 403), "a CA that is no more"
    assert shown(old) == (first, 200), "a caller who was there before"

    for broken in ("first", "nonsense"):  # of another key; no certificate
        shutil.copy(broken + ".pem", "live.pem")
        before = open("serve.err").read().count("the old values stay")
        os.kill(int(server), signal.SIGHUP)
        for _ in range(600):
            if open("serve.err").read().count("the old values stay") > before:
                break
            time.sleep(0.05)
        else:
            raise AssertionError("nothing was said of the broken file")
        assert shown(connect("other")) == (second, 200), broken
    assert shown(old) == (first, 200)
    shutil.copy("first.pem", "live.pem")
    shutil.copy("first.key", "live.key")
    reload_until(server, first, "other")


globals()[sys.argv[2]](*sys.argv[3:])
