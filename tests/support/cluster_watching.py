"""A crawl in a cluster over HTTP: from any machine, and on a worker's own page.

usage: cluster_watching.py URLWEIR DIR [SCENARIO...]
"""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import sys

import scenarios
from cluster_workers import Crawl
from redis_servers import LONGEST, Closing, Failure, Single, end_with_us, wait_for

URLWEIR, DIR = sys.argv[1], sys.argv[2]
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # a service keeps ignoring it, as under nohup
METRICS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/formats/metrics.md")
TOKENS = {"read": "0123456789abcdef-read", "admin": "0123456789abcdef-admin"}


def expect(ok, text):
    if not ok:
        raise Failure(text)


@contextlib.contextmanager
def crawling(where, workers, **web):
    with contextlib.closing(Closing(Single(where + "/redis"))) as c:
        crawl = Crawl(URLWEIR, c.it, where, **web)
        crawl.create()
        for _ in range(workers - 1):
            crawl.join()
        crawl.server = c.it
        yield crawl


def run(*words, code=0):
    got = subprocess.run([URLWEIR, *words], text=True, stderr=subprocess.STDOUT,
                         stdout=subprocess.PIPE, timeout=LONGEST, check=False)
    if got.returncode != code:
        raise Failure(f"{words}: {got.returncode}, not {code}: {got.stdout}")
    return got.stdout


class Page:
    """What serves HTTP, and whose log says where."""

    def __init__(self, log):
        self.log, self.at = log, None
        wait_for(self.find, "the address of HTTP")

    def find(self):
        with open(self.log, encoding="utf-8") as f:
            said = re.search(r"HTTP on (\S+)", f.read())
        self.at = said and said[1]
        return self.at

    def ask(self, method, path, body=None, role=None, code=200):
        link = http.client.HTTPConnection(self.at, timeout=LONGEST)
        heads = {"Content-Type": "application/json"} if body is not None else {}
        if role:
            heads["Authorization"] = "Bearer " + TOKENS[role]
        link.request(method, path, None if body is None else json.dumps(body), heads)
        answer = link.getresponse()
        text = answer.read().decode()
        expect(answer.status == code, f"{method} {path}: {answer.status} {text}")
        return json.loads(text) if "json" in answer.getheader("Content-Type") else text

    def crawl(self):
        return self.ask("GET", "/v1/crawls/crawl")

    def state(self):
        return self.crawl()["cluster"]

    def metrics(self):
        """{name and labels: value}, but for workers: {name: sum}."""
        rows = {}
        for line in self.ask("GET", "/metrics").splitlines():
            if line.startswith("urlweir_cluster_"):
                name, value = line.rsplit(" ", 1)
                name = re.sub(r"\{worker=.*", "", name)
                rows[name] = rows.get(name, 0) + float(value)
        return rows


@contextlib.contextmanager
def serving(url, where, *options):
    """`urlweir serve` of the crawl."""
    with open(where + "/serve.log", "wb") as log:
        p = subprocess.Popen([URLWEIR, "serve", url, "--http", "127.0.0.1:0", *options],
                             stderr=log, stdout=log, preexec_fn=end_with_us)
    try:
        page = Page(where + "/serve.log")
        page.process = p
        yield page
    finally:
        p.send_signal(signal.SIGTERM)
        expect(p.wait(LONGEST) == 0, "its end")


def adds_up(page):
    """All figures are there, of the whole crawl."""
    wait_for(lambda: (page.state() or {}).get("workers_alive") == 2, "two workers")
    one = page.crawl()
    expect(one["kind"] == "cluster" and one["state"] == "running", one)
    s = page.ask("POST", "/v1/crawls/crawl/status", {})
    expect(s["seen"] == s["waiting"] + s["leased"] + s["done"], s)
    expect(s["memory"]["seen"] > 0 and len(s["largest_shards"]) == 5, s)
    expect([c["name"] for c in page.ask("GET", "/v1/crawls")["crawls"]] == ["crawl"], "the list")
    for w in s["workers"]:
        expect({"repeats", "connections_lost", "holds"} <= set(w), w)
    m = page.metrics()
    expect(m["urlweir_cluster_workers"] == 2 and m["urlweir_cluster_worker_alive"] == 2, m)
    expect(m['urlweir_cluster_state{state="running"}'] == 1, m)
    expect(m['urlweir_cluster_urls{state="done"}'] > 0 and
           m['urlweir_cluster_memory_bytes{kind="seen"}'] > 0, m)
    expect("<title>urlweir</title>" in page.ask("GET", "/"), "the dashboard")


def documented(page):
    """docs/formats/metrics.md has each family with its type and labels."""
    with open(METRICS, encoding="utf-8") as f:
        rows = re.findall(r"^\| `(urlweir_cluster_\w+)` \| (\w+) \| ([^|]*) \|", f.read(), re.M)
    there, types = {}, {}
    for line in page.ask("GET", "/metrics").splitlines():
        if line.startswith("# TYPE urlweir_cluster_"):
            _, _, name, kind = line.split()
            types[name] = kind
        elif line.startswith("urlweir_cluster_"):
            there[line.split("{")[0].split(" ")[0]] = sorted(re.findall(r'(\w+)="', line))
    expect({n: (types.get(n), there.get(n)) for n in types} ==
           {n: (kind, sorted(re.findall(r"\w+", labels))) for n, kind, labels in rows}, (types, there))


def in_force(page, version):
    return all(w["settings_version"] == version for w in page.state()["workers"])


def steers(page, crawl):
    """Settings, a pause, seeds, a host: for all workers."""
    base = "/v1/crawls/crawl"
    out = page.ask("PATCH", base + "/settings", {"delay": "60ms"})
    expect(out["settings_version"] == 2 and out["changed"][0]["for"] == "crawl", out)
    wait_for(lambda: in_force(page, 2), "new settings")
    expect(page.ask("GET", base + "/settings")["settings"]["delay"] == "60ms", "settings")
    page.ask("PATCH", base + "/settings", {"timeout": "9s"}, code=409)
    page.ask("PATCH", base + "/settings", {"depth": 2}, code=400)
    expect(page.ask("POST", base + "/pause", {})["state"] == "paused", "the answer to pause")
    wait_for(crawl.is_still, "a pause")
    got = page.ask("POST", base + "/seeds", {"urls": [crawl.web.seeds()[0], "ftp://x/"]})
    expect([r["status"] for r in got["results"]] == ["skipped", "failed"], got)
    host = {"crawl": "crawl", "key": crawl.web.address(4).split(":")[0]}
    page.ask("POST", "/v1/queues/delay", {**host, "delay_seconds": 0.25})
    page.ask("POST", "/v1/queues/limit", {**host, "limit": 5000})
    page.ask("POST", "/v1/queues/block", {**host, "until": "2099-01-01T00:00:00Z"})
    page.ask("POST", "/v1/queues/block", {**host, "until": None})
    page.ask("POST", "/v1/queues/delay", {**host, "crawl": "other", "delay_seconds": 1}, code=404)
    page.ask("POST", base + "/retry", {}, code=409)
    page.ask("DELETE", base, code=404)
    explains(page, crawl, base)
    page.ask("POST", base + "/export", {}, code=404)
    page.ask("POST", base + "/unpause", {})
    wait_for(lambda: not crawl.is_still(), "requests again")


def explains(page, crawl, base):
    """A URL as `urlweir explain` says it; the crawl is paused."""
    where = base + "/explain"
    for url in (crawl.web.seeds()[0], crawl.web.seeds()[0].replace("/p0", "/nothing")):
        got, said = page.ask("POST", where, {"url": url}), json.loads(run("explain", crawl.url, url, "--json"))
        expect({**got, "host_due_in_seconds": 0} == {**said, "host_due_in_seconds": 0}, (got, said))
        expect(got["state"] == ("done" if url == crawl.web.seeds()[0] else "unseen"), got)
    expect("not a URL" in page.ask("POST", where, {"url": "nonsense"}, code=400)["detail"], "nonsense")
    page.ask("POST", where, {}, code=400)
    page.ask("POST", "/v1/crawls/other/explain", {"url": crawl.web.seeds()[0]}, code=404)
    page.ask("POST", base + "/audit", {}, code=404)


def commands(page, crawl):
    """The commands, given the URL of the page."""
    url = f"http://{page.at}"
    expect("delay: 60ms, now 50ms, for all workers" in run("set", url, "delay=50ms"), "set")
    expect("crawl: " in run("pause", url), "pause")
    wait_for(crawl.is_still, "a pause by a command")
    run("unpause", url)
    expect(" is blocked until " in run("block", url, crawl.web.address(4), "--for", "1m"), "block")
    run("block", url, crawl.web.address(4), "--off")
    run("delay", url, crawl.web.address(4), "default")
    expect(" is limited to 7000" in run("limit", url, crawl.web.address(4), "7000"), "limit")
    run("limit", url, crawl.web.address(4), "none")
    expect("skipped\t" in run("seed", url, crawl.web.seeds()[0]), "seed")


def dashboard(where):
    """`serve redis://...` shows a crawl and steers it, and goes on when the servers
    are away and when the crawl is stopped."""
    with crawling(where, 2, pages=0) as crawl, serving(crawl.url, where) as page:
        adds_up(page)
        documented(page)
        wait_for(lambda: '"done"' in run("explain", crawl.url, crawl.web.seeds()[0], "--json"), "a seed")
        steers(page, crawl)
        commands(page, crawl)
        page.ask("POST", "/v1/crawls/crawl/stop", {})
        for p in crawl.workers:
            expect(p.wait(LONGEST) == 4, f"a worker ended with {p.returncode}")
        wait_for(lambda: page.crawl()["state"] == "stopped", "the state")
        crawl.server.servers[0].process.send_signal(signal.SIGSTOP)
        wait_for(lambda: page.crawl()["state"] == "unreachable", "servers away")
        expect(page.state()["seen"] > 0 and page.state()["why"], page.state())
        expect(page.metrics()['urlweir_cluster_state{state="unreachable"}'] == 1, "metrics")
        crawl.server.servers[0].process.send_signal(signal.SIGCONT)
        wait_for(lambda: page.crawl()["state"] == "stopped", "servers back")
        crawl.web.close()


def forgets_a_token(page, tokens):
    """After SIGHUP; the others are known as before."""
    def knows(role):
        try:
            page.ask("GET", "/v1/crawls", role=role)
        except Failure:
            return False
        return True

    with open(tokens, "w", encoding="utf-8") as f:
        f.write(f"admin {TOKENS['admin']}\n")
    expect(knows("read"), "tokens are read again when that is asked for")
    page.process.send_signal(signal.SIGHUP)
    wait_for(lambda: not knows("read"), "the new tokens")
    expect(knows("admin"), "the admin")


def roles(where):
    """Tokens say who may look and who may steer; what cannot be served is said."""
    with open(where + "/tokens", "w", encoding="utf-8") as f:
        f.writelines(f"{role} {token}\n" for role, token in TOKENS.items())
    with crawling(where, 1, pages=0) as crawl, \
            serving(crawl.url, where, "--token-file", where + "/tokens") as page:
        page.ask("GET", "/v1/crawls", code=401)
        page.ask("GET", "/v1/crawls", role="read")
        page.ask("POST", "/v1/crawls/crawl/pause", {}, role="read", code=403)
        page.ask("POST", "/v1/crawls/crawl/pause", {}, role="admin")
        for words, code, text in (
                (["--listen", "127.0.0.1:0"], 1, "--listen is of a frontier"),
                (["--memory", "1G"], 1, "--memory is of a frontier"),
                (["--http", "none"], 1, "leaves nothing to serve"),
                (["--http", "0.0.0.0:0"], 1, "without any check")):
            out = run("serve", crawl.url, *words, code=code)
            expect(text in out, f"{words}: {out}")
        forgets_a_token(page, where + "/tokens")
        out = run("serve", crawl.url + "x", code=2)
        expect("no crawl" in out, out)
        page.ask("POST", "/v1/crawls/crawl/stop", {}, role="admin")
        expect(crawl.workers[0].wait(LONGEST) == 4, "a worker")
        crawl.web.close()


def own_page(where):
    """A worker's page shows the whole crawl beside itself."""
    with crawling(where, 1, pages=0) as crawl:
        p = crawl.join(["--metrics", "127.0.0.1:0"])
        page = Page(p.log)
        name = wait_for_crawl(page)

        def state():
            return page.ask("GET", "/v1/crawls/" + name)["cluster"]

        wait_for(lambda: (state() or {}).get("workers_alive") == 2, "both workers")
        s = state()
        expect(s["seen"] == s["waiting"] + s["leased"] + s["done"], s)
        wait_for(lambda: page.ask("GET", "/v1/crawls/" + name)["pages"] > 0, "a page")
        own = page.ask("GET", "/v1/crawls/" + name)
        expect(own["kind"] == "own", own)
        wait_for(lambda: state()["done"] > own["pages"], "pages of the other")
        expect(page.metrics()["urlweir_cluster_workers"] == 2, "metrics")
        page.ask("POST", f"/v1/crawls/{name}/pause", {}, code=403)
        run("stop", crawl.url)
        for w in crawl.workers:
            expect(w.wait(LONGEST) == 4, "a worker")
        crawl.web.close()


def wait_for_crawl(page):
    found = []

    def look():
        found[:] = [c["name"] for c in page.ask("GET", "/v1/crawls")["crawls"]]
        return found
    wait_for(look, "the crawl of a worker")
    return found[0]


SCENARIOS = [dashboard, own_page, roles]

scenarios.run(SCENARIOS, DIR, sys.argv[3:])
