# pip: Scrapy setuptools
"""Scrapy with its requests in `urlweir serve`: bindings/scrapy, docs/scrapy.md.

URLWEIR=build/release/urlweir SITE=build/release/tests/support/site tests/interop/scrapy_bridge.py

- Two Scrapy processes at once crawl the test web and are killed (SIGKILL) again
  and again, and the service once; the site's log against its truth: no page is
  missed, and no more are fetched twice than the killed processes had leases.
- What Scrapy makes of a request: retries, redirects, forms, dont_filter, errors.
- Requests as text and back; what is refused. Order by priority. The dupefilter.
- Bad settings, tokens, TLS. The commands of docs/scrapy.md.
"""
# Promise (The service): Scrapy on the service: two processes and the service
#   are killed again and again, and no page and no item is lost; no more
#   requests are repeated than the killed processes had leases; requests come
#   back whole, and one that cannot be kept is refused; the commands of its
#   page run as written.
# Promise (The service): new URLs with a date are served at that date, the
#   others in order of arrival, also after a restart. See also `make sim`.
import http.server
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [TOP + "/tests/support", TOP + "/bindings/scrapy"]
from background import free_port, own_address, wait_for, wait_until_said  # noqa: E402

import scrapy  # noqa: E402
from scrapy.utils.test import get_crawler  # noqa: E402

from urlweir_scrapy import request_text  # noqa: E402
from urlweir_scrapy.client import Client, Refused, Unreachable  # noqa: E402
from urlweir_scrapy.courier import item_of  # noqa: E402
from urlweir_scrapy.settings import Settings  # noqa: E402

BIN = os.path.abspath(os.environ.get("URLWEIR", TOP + "/build/release/urlweir"))
SITE = os.path.abspath(os.environ.get("SITE", TOP + "/build/release/tests/support/site"))
SPIDERS = TOP + "/tests/interop/scrapy_checks/"
HERE = own_address()
LEASES = 24
started = []


# ---- what runs beside ----

def start(args, out, **more):
    with open(out, "ab") as f:
        process = subprocess.Popen(args, stdout=f, stderr=subprocess.STDOUT, **more)
    started.append(process)
    return process


class Service:
    def __init__(self, folder, *options):
        self.folder, self.options = folder, options
        self.port = free_port(HERE)
        self.url = "http://%s:%d" % (HERE, self.port)
        self.starts = 0
        self.start()

    def start(self):
        self.starts += 1
        err = "%s.%d.err" % (self.folder, self.starts)
        self.process = start([BIN, "serve", self.folder, "--listen", HERE + ":0",
                              "--http", "%s:%d" % (HERE, self.port), *self.options], err)
        wait_until_said(err, r"HTTP on (\S+)", self.process)

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        return self.process.wait(120)


def crawler_of(spider=scrapy.Spider, **settings):
    crawler = get_crawler(spider, settings)
    crawler.spider = crawler.spidercls("unit")
    crawler.request_fingerprinter = scrapy.utils.request.RequestFingerprinter()
    return crawler


def client_of(service, **settings):
    return Client(Settings(crawler_of(URLWEIR_URL=service.url, **settings)))


def spider_command(name, service, *settings):
    command = [sys.executable, "-m", "scrapy", "runspider", SPIDERS + name + ".py",
               "-s", "SCHEDULER=urlweir_scrapy.Scheduler", "-s", "URLWEIR_URL=" + service.url,
               "-s", "TELNETCONSOLE_ENABLED=False"]
    for s in settings:
        command += ["-s", s]
    return command


def environment(**more):
    return {**os.environ, "PYTHONPATH": TOP + "/bindings/scrapy", **more}


# ---- requests as text ----

class TextSpider(scrapy.Spider):
    name = "text"

    def page(self, response):
        pass


class Thing(scrapy.Item):
    a = scrapy.Field()


def check_text():
    import datetime
    import decimal
    spider = TextSpider()
    meta = {"t": (1, "zwei", None), "b": b"\x00\xff", "s": {1, 2}, "f": frozenset("a"),
            "k": {1: "one", "@bytes": "no bytes"}, "@x": 1, "n": -1.5, "u": "\u0000\ud800ä",
            "d": datetime.datetime(2026, 1, 2, 3, 4, 5, 6, datetime.timezone.utc),
            "day": datetime.date(2026, 1, 2), "m": decimal.Decimal("1.10"),
            "i": Thing(a=[b"x"]), "deep": [[{"x": ((),)}]]}
    r = scrapy.FormRequest(
        "http://a.test/p?q=1#f", formdata={"v": "ä"}, callback=spider.page, errback=spider.page,
        headers={"X": ["1", "2"]}, cookies=[{"name": "c", "value": "v"}], meta=meta,
        cb_kwargs={"x": (b"y",)}, priority=-7, dont_filter=True, encoding="latin-1", flags=["f"])
    again = request_text.from_text(request_text.to_text(r, spider), spider)
    assert type(again) is scrapy.FormRequest and again.to_dict(spider=spider) == r.to_dict(spider=spider)
    assert repr(again.meta) == repr(r.meta) and again.callback == spider.page
    for bad, where in (({"a": [object()]}, "meta['a'][0]"), ({"f": spider.page}, "meta['f']"),
                       ({"c": {("x", b"y"): {1: scrapy}}}, "module"), ({"x": "y" * (1 << 20)}, "octets")):
        refuses(request_text.CannotKeep, where, request_text.to_text,
                scrapy.Request("http://a.test/", meta=bad), spider)
    loop = []
    loop.append(loop)
    refuses(request_text.CannotKeep, "itself", request_text.to_text,
            scrapy.Request("http://a.test/", meta={"l": loop}), spider)
    refuses(request_text.CannotKeep, "", request_text.to_text,
            scrapy.Request("http://a.test/", callback=lambda r: r), spider)
    url = '"url":"http://a.test/"'
    for bad in ("", "[]", "{}", "null", "{%s,\"callback\":\"nothing\"}" % url, "[" * 100000,
                '{%s,"callback":"name"}' % url, '{%s,"_class":"os.system"}' % url,
                '{%s,"_class":"not_imported.Request"}' % url, '{%s,"_class":7}' % url,
                '{"url":"no-scheme"}', '{%s,"meta":{"@item":["os.system",{}]}}' % url,
                '{%s,"body":{"@bytes":"?"}}' % url, '{%s,"meta":{"@dict":[[[],1]]}}' % url,
                '{%s,"meta":{"@decimal":"x"}}' % url, '{%s,"meta":{"@set":5}}' % url):
        refuses(request_text.CannotRestore, "", request_text.from_text, bad, spider)


def refuses(kind, what, function, *args):
    try:
        function(*args)
    except kind as e:
        assert what in str(e), (what, e)
    else:
        raise AssertionError("%s was taken" % str(args)[:100])


def check_names():
    naming = request_text.Naming(crawler_of())
    name, get = naming.name, scrapy.Request
    assert name(get("http://a.test/?b=1&a=2#x")) == "http://a.test/?a=2&b=1"
    post = name(get("http://a.test/", method="POST", body=b"1"))
    assert post.startswith("http://a.test/#") and len(post) == 15 + 40
    assert post != name(get("http://a.test/", method="POST", body=b"2")) != name(get("http://a.test/"))
    free = get("http://a.test/", dont_filter=True)
    assert name(free) != name(free)
    first = get("http://a.test/", dont_filter=True, meta={"is_start_request": True})
    assert name(first) == "http://a.test/"
    first.meta[request_text.LEASED] = True  # as a retry of it has
    assert name(first) != name(first)
    naming.by_url = False
    assert name(get("http://a.test/?b=1&a=2")) == name(get("http://a.test/?a=2&b=1"))
    assert name(get("http://a.test/")).startswith("scrapy:")
    assert naming.queue_key(get("http://A.test:80/x")) == "a.test"
    assert naming.queue_key(get("data:,x")) == "data"


# ---- priorities ----

def check_order(service):
    """Of one queue, by whoever leases: the highest first, equal ones as they came."""
    client = client_of(service)
    for n, priority in enumerate((0, -1, 5, 0, 5, 10 ** 12, -(10 ** 12))):
        item = item_of("http://o.test/%d" % n, "o.test", "order", priority, "{}")
        assert client.post("/v1/urls", item)["results"][0]["status"] == "ok"
    got = client.post("/v1/lease", {"crawl": "order", "max_urls_per_queue": 10})["urls"]
    assert [u["url"][-1] for u in got] == list("5240316"), got
    assert [u["metadata"]["priority"][0] for u in got][:2] == ["1000000000000", "5"]


# ---- kills ----

def completed(client):
    try:
        return client.get("/v1/stats", crawl="web")["completed"]
    except Unreachable:
        return 0


def kill_and_start(client, service, run, kills):
    """Two at once; each is killed when the crawl went on by some pages, then the
    next takes its place. The service is killed once between. Then both end."""
    running = [run(), run()]
    for k in range(kills):
        goal = completed(client) + 30
        wait_for("progress", lambda: completed(client) >= goal, running[k % 2], 300)
        running[k % 2].kill()
        running[k % 2].wait()
        if k == kills // 2:
            # A Scrapy that starts without a service ends at once, and rightly.
            other = running[1 - k % 2]
            wait_for("the other one's start", lambda: "Crawled 0 pages" in open(other.said).read(), other, 300)
            service.end(signal.SIGKILL)
            time.sleep(0.5)
            service.start()
        running[k % 2] = run()
    for process in running:
        assert process.wait(600) == 0, process.args


def check_kills(work, service, kills=6):
    web = ["--hosts", "7", "--pages", "700", "--leaves", "1", "--agent", "urlweir-test"]
    site = start([SITE, "serve", *web, "--latency", "5", "--log", work + "/web.log",
                  "--max-time", "1800"], work + "/site.out")
    port = wait_until_said(work + "/site.out", r"port (\d+)", site)
    env = environment(SEED="http://127.0.0.1:%s/" % port)
    command = spider_command("web_spider", service, "URLWEIR_LEASES=%d" % LEASES,
                             "URLWEIR_LEASE_SECONDS=10", "URLWEIR_ITEMS=" + work + "/items")
    client = client_of(service)
    outs = []

    def run():
        outs.append("%s/web.%d.out" % (work, len(outs)))
        process = start(command, outs[-1], env=env)
        process.said = outs[-1]
        return process

    kill_and_start(client, service, run, kills)
    said = "".join(open(out).read() for out in outs)
    assert "changed:" not in said and "Traceback" not in said and "ERROR" not in said, said[-4000:]
    assert said.count("Closing spider (finished)") >= 2
    left = client.get("/v1/stats", crawl="web")
    assert left["size"] == 0 and left["in_process"] == 0, left
    site.send_signal(signal.SIGTERM)
    site.wait(60)
    truth = subprocess.run([SITE, "truth", *web, "--port", port], capture_output=True, check=True).stdout
    open(work + "/truth", "wb").write(truth)
    judge(work, kills)


def judge(work, kills):
    """What the site saw, and what the pipelines kept, beside the truth."""
    checked = subprocess.run(
        [SITE, "check", "--truth", work + "/truth", "--log", work + "/web.log",
         "--kills", str(kills), "--in-flight", str(LEASES), "--tolerance", "1000000"],
        capture_output=True, text=True)
    counts = dict(re.findall(r"(\w+) (\d+)", checked.stdout))
    for fault in ("missed", "unknown", "disallowed", "torn_lines"):
        assert counts[fault] == "0", (checked.stdout, checked.stderr)
    repeated = int(counts["duplicate"])
    assert repeated <= kills * LEASES, checked.stdout
    pages = {line.split("\t")[0] for line in open(work + "/truth")
             if not line.startswith("#") and line.split("\t")[1] == "fetch"}
    lines = [json.loads(line)["url"] for line in open(work + "/items")]
    assert len(pages) >= 700 and pages <= set(lines), "items are lost"
    assert len(lines) - len(set(lines)) <= kills * LEASES
    print("kills: %d of Scrapy, 1 of the service; %s URLs, 0 missed, %d repeated"
          % (kills, counts["known"], repeated))


# ---- what Scrapy makes of requests ----

class Odd(http.server.BaseHTTPRequestHandler):
    asked, lock = [], threading.Lock()

    def answer(self, body):
        with self.lock:
            earlier = [p for _, p, _ in self.asked]
            self.asked.append((self.command, self.path, body))
        status = {"/gone": 404, "/moved": 302}.get(self.path, 200)
        if self.path == "/flaky" and earlier.count("/flaky") < 2:
            status = 503
        if self.path == "/form" and self.headers["X-Kept"] != "yes":
            status = 500
        self.send_response(status)
        if status == 302:
            self.send_header("Location", "/landed")
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def do_GET(self):
        self.answer("")

    def do_POST(self):
        self.answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

    def log_message(self, *args):
        pass


def check_odd(work, service):
    server = http.server.ThreadingHTTPServer((HERE, 0), Odd)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    seed = "http://%s:%d" % server.server_address
    client = client_of(service)
    put = [{"crawl": "odd", "url": seed + "/from_outside"}, {"crawl": "odd", "url": "no URL at all", "key": "x"}]
    assert [r["status"] for r in client.post("/v1/urls", put)["results"]] == ["ok", "ok"]
    for _ in range(2):  # the second finds nothing to do
        process = start(spider_command("odd_spider", service), work + "/odd.out",
                        env=environment(SEED=seed + "/"))
        assert process.wait(300) == 0
    said = open(work + "/odd.out").read()
    asked = sorted(p + (" " + b if b else "") for _, p, b in Odd.asked)
    assert asked == sorted(["/", "/from_outside", "/form v=one", "/form v=two", "/flaky", "/flaky",
                            "/flaky", "/moved", "/landed", "/same", "/same", "/same?a=1&b=2",
                            "/gone", "/after"]), asked
    for line in ("/lambda> is not scheduled", "meta['a'][0] is of the type builtins.object",
                 "/huge> is not scheduled: its text has", "'urlweir/refused': 4",
                 "'no URL at all' in the crawl odd is no URL"):
        assert line in said, (line, said[-6000:])
    assert "Traceback" not in said and said.count("'finish_reason': 'finished'") == 2, said[-6000:]
    check_unreadable(work, service, client, seed)
    check_dupefilter(work, service, seed)
    server.shutdown()


def check_unreadable(work, service, client, seed):
    """Another spider's request stops this one, and stays."""
    text = json.dumps({"url": seed + "/strange", "callback": "of_another_spider"})
    client.post("/v1/urls", item_of(seed + "/strange", HERE, "odd", 0, text))
    process = start(spider_command("odd_spider", service), work + "/unreadable.out",
                    env=environment(SEED=seed + "/"))
    assert process.wait(300) == 0
    said = open(work + "/unreadable.out").read()
    assert "has no method of_another_spider" in said and "Closing spider (urlweir_unreadable)" in said, said
    assert client.get("/v1/stats", crawl="odd")["size"] == 1


def check_dupefilter(work, service, seed):
    """Scrapy's own scheduler: a second process fetches only what it starts with."""
    for _ in range(2):
        Odd.asked.clear()
        process = start([*spider_command("odd_spider", service), "-s", "URLWEIR_CRAWL=own queue",
                         "-s", "SCHEDULER=scrapy.core.scheduler.Scheduler",
                         "-s", "DUPEFILTER_CLASS=urlweir_scrapy.DupeFilter"],
                        work + "/dupefilter.out", env=environment(SEED=seed + "/"))
        assert process.wait(300) == 0
        paths = sorted(p for _, p, _ in Odd.asked)
        if _ == 0:
            assert paths.count("/form") == 2 and "/after" in paths, paths
    assert paths == ["/", "/same", "/same"], (paths, open(work + "/dupefilter.out").read()[-3000:])


# ---- who may ----

def check_access(work, service):
    with open(work + "/tokens", "w") as f:
        f.write("write 0123456789abcdef-write\nread 0123456789abcdef-read\n")
    os.chmod(work + "/tokens", 0o600)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", work + "/key.pem",
                    "-out", work + "/cert.pem", "-days", "2", "-subj", "/CN=urlweir",
                    "-addext", "subjectAltName=IP:" + HERE], check=True, capture_output=True)
    closed = Service(work + "/closed", "--token-file", work + "/tokens", "--tls-cert", work + "/cert.pem",
                     "--tls-key", work + "/key.pem")
    closed.url = closed.url.replace("http:", "https:")
    ca = {"URLWEIR_CA_FILE": work + "/cert.pem"}
    refuses(Refused, "certificate", client_of(closed).get, "/v1/stats")
    refuses(Refused, "401", client_of(closed, **ca).get, "/v1/stats")
    reader = client_of(closed, URLWEIR_TOKEN="0123456789abcdef-read", **ca)
    assert reader.get("/v1/stats", crawl="a b/ä")["size"] == 0
    refuses(Refused, "403", reader.post, "/v1/urls", [])
    writer = client_of(closed, URLWEIR_TOKEN="0123456789abcdef-write", **ca)
    assert writer.post("/v1/urls", {"url": "http://a.test/"})["results"][0]["status"] == "ok"
    assert closed.end() == 0
    refuses(Unreachable, "refused", writer.get, "/v1/stats")
    away = start(spider_command("odd_spider", closed), work + "/away.out", env=environment(SEED="http://a.test/"))
    away.wait(120)
    assert "no urlweir service: https://%s" % HERE in open(work + "/away.out").read()


# ---- docs/scrapy.md ----

def check_docs(work, site_pages=60):
    """Its commands in order, the first crawl killed on its way."""
    site = start([SITE, "serve", "--hosts", "1", "--pages", str(site_pages), "--log", work + "/docs.log",
                  "--max-time", "1800"], work + "/docs-site.out")
    seed = "http://127.0.0.1:%s/" % wait_until_said(work + "/docs-site.out", r"port (\d+)", site)
    port = free_port(HERE)
    http_at = "%s:%d" % (HERE, port)
    page = open(TOP + "/docs/scrapy.md").read().replace("https://example.com/", seed)
    page = page.replace("127.0.0.1:7072", http_at).replace("serve frontier &", "serve frontier --listen %s:0 --http %s 2>err &\n"
                        "until grep -q 'HTTP on' err; do sleep 0.1; done" % (HERE, http_at))
    page = page.replace("./bindings/scrapy", TOP + "/bindings/scrapy").replace('"DOWNLOAD_DELAY": 1.0', '"DOWNLOAD_DELAY": 0.05')
    page = page.replace("scrapy runspider", "scrapy runspider -s URLWEIR_URL=http://%s -s URLWEIR_LEASE_SECONDS=5" % http_at)
    blocks = re.findall(r"```sh\n(.*?)```", page, re.S)
    assert len(blocks) == 5, len(blocks)
    first, both, asks, delete, put = blocks
    started_first = first.rstrip().rpartition("\n")[2]
    assert started_first.startswith("scrapy runspider"), first
    first = first.rstrip() + " &\nuntil [ \"$(cat pages.jsonl 2>/dev/null | wc -l)\" -ge 10 ]; do sleep 0.1; done\nkill -9 $!\n"
    env = {**os.environ, "PATH": "%s:%s:%s" % (os.path.dirname(sys.executable), os.path.dirname(BIN), os.environ["PATH"])}
    os.mkdir(work + "/docs")
    script = "set -eu\n" + "\n".join([first, both.replace("wait %2", "wait $!"), put.replace("/new", "/?new"), asks, delete, "kill %1"])
    done = subprocess.run(["bash", "-c", "set -m\n" + script], cwd=work + "/docs", env=env, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, (script, done.stdout, done.stderr[-4000:])
    assert '"completed":%d' % site_pages in done.stdout.replace(" ", ""), done.stdout
    assert "deleted" in done.stdout, done.stdout
    urls = {json.loads(line)["url"] for line in open(work + "/docs/pages.jsonl")}
    assert len(urls) == site_pages, len(urls)


def main():
    check_text()
    check_names()
    work = tempfile.mkdtemp(prefix="urlweir-scrapy.")
    try:
        service = Service(work + "/frontier")
        check_order(service)
        check_odd(work, service)
        check_access(work, service)
        check_docs(work)
        check_kills(work, service)
        assert service.end() == 0
        subprocess.run([BIN, "verify", work + "/frontier"], check=True, capture_output=True)
    except BaseException:
        for name in sorted(os.listdir(work)):
            if name.endswith((".out", ".err")):
                print("---- %s: %s" % (name, open(work + "/" + name, errors="replace").read()[-1500:]))
        raise
    finally:
        for process in started:
            if process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(work, ignore_errors=True)
    print("ok")


if __name__ == "__main__":
    main()
