#!/usr/bin/env python3
# apt: chromium
"""The dashboard of a crawl in a cluster in headless Chromium: `urlweir serve
redis://...` beside two workers, and the page of a worker.

It shows the workers, what each has and all together, and follows; its buttons
pause the crawl for all workers, change its settings, add seeds and block a host;
it says so when the servers are away, and goes on when they are back.
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, TOP + "/tests/support")
import browser  # noqa: E402
from background import wait_until_said  # noqa: E402
from cluster_workers import Crawl  # noqa: E402
from redis_servers import LONGEST, Single, wait_for  # noqa: E402

URLWEIR = os.path.abspath(os.environ["URLWEIR"])


def text(selector):
    return f"document.querySelector({selector!r})?.textContent ?? ''"


def says(selector, what):
    return f"({text(selector)}).includes({what!r})"


def number(selector):
    return f"Number(({text(selector)}).replaceAll(',', ''))"


def is_still(crawl):
    before = len(crawl.web.requests)
    time.sleep(1.2)
    return len(crawl.web.requests) == before


def picture(b, name):
    """Into the folder of PICTURES, for the guide."""
    where = os.environ.get("PICTURES")
    if where:
        with open(f"{where}/{name}.png", "wb") as f:
            f.write(b.picture(whole=True))


def shows(b, at):
    b.open(f"http://{at}/")
    b.wait(says("#connection", "live"))
    b.wait(says("#crawl-name", "crawl") + " && " + says("#crawl-state", "running"))
    b.wait(number("#cluster-figures [data-v=workers]") + " === 2")
    b.wait("document.querySelectorAll('#workers-table tbody tr').length === 2")
    b.wait(number("#cluster-figures [data-v=done]") + " > 0")
    before = b.value(number("#cluster-figures [data-v=done]"))
    b.wait(number("#cluster-figures [data-v=done]") + f" > {before}")
    b.wait(number("#cluster-figures [data-v=rate]") + " > 0")
    b.wait("document.querySelector('#cluster-rate-plot .line').getAttribute('d').includes('L')")
    b.wait("document.querySelectorAll('#shards-table tbody tr').length === 5")
    b.wait("['seen', 'queues', 'hosts'].every(k => document.querySelector(`#cluster-memory [data-v=${k}]`).textContent !== '–')")
    for id in ("here", "served", "new-crawl", "remove", "nothing"):
        assert b.value(f"!document.getElementById('{id}').checkVisibility()"), id
    picture(b, "dashboard-cluster")


def steers(b, crawl):
    b.click("#pause")
    b.wait(says("#crawl-state", "paused") + " && " + says("#pause", "Unpause"))
    wait_for(lambda: is_still(crawl), "a pause")
    b.click("#pause")
    b.wait(says("#crawl-state", "running"))
    wait_for(lambda: not is_still(crawl), "requests again")

    b.click("#settings")
    b.wait("document.querySelector('dialog[open] [name=delay]') !== null")
    b.value("document.querySelector('dialog [name=delay]').value = '45ms'")
    b.click("dialog [type=submit]")
    b.wait(says("#said", "45ms for all workers"))
    b.wait("document.querySelector('dialog') === null")
    b.wait("[...document.querySelectorAll('#workers-table tbody tr')].every(r => r.textContent.includes('version 2'))")

    b.click("#add-seeds")
    b.wait("document.querySelector('dialog[open] [name=urls]') !== null")
    b.value(f"document.querySelector('dialog [name=urls]').value = {crawl.web.seeds()[0]!r}")
    b.click("dialog [type=submit]")
    b.wait(says("#said", "1 known before"))
    b.wait("document.querySelector('dialog') === null")

    b.click("#cluster-host")
    b.wait("document.querySelector('dialog[open] [name=key]') !== null")
    assert b.value("document.querySelector('dialog [name=remove]') === null")
    b.value(f"document.querySelector('dialog [name=key]').value = {crawl.web.address(4).split(':')[0]!r}")
    b.value("document.querySelector('dialog [name=block]').value = '600'")
    b.click("dialog [type=submit]")
    b.wait(says("#said", "blocked"))


def explains(b, crawl):
    b.value(f"document.getElementById('explain-url').value = {crawl.web.seeds()[0]!r}")
    b.click("#explain-form [type=submit]")
    b.wait(says("#explained", "done") + " && " + says("#explained", "host queued"))
    b.value("document.getElementById('explain-url').value = 'nonsense'")
    b.click("#explain-form [type=submit]")
    b.wait(says("#explained", "not a URL"))
    assert all("400" in e and e.endswith("/explain") for e in b.errors), b.errors
    b.errors.clear()


def outlives_servers(b, server):
    server.process.send_signal(signal.SIGSTOP)
    b.wait(says("#crawl-state", "unreachable"), LONGEST)
    b.wait(says("#cluster-note", "not reached"))
    server.process.send_signal(signal.SIGCONT)
    b.wait(says("#crawl-state", "running"), LONGEST)


def of_a_worker(b, log, process):
    at = wait_until_said(log, r"HTTP on (\S+)", process)
    b.open(f"http://{at}/")
    b.wait(number("#cluster-figures [data-v=workers]") + " === 2", LONGEST)
    b.wait(number("#figures [data-v=pages]") + " > 0")
    assert b.value("document.getElementById('here').checkVisibility()")
    assert b.value("document.getElementById('pause').disabled && !document.getElementById('cluster-host').checkVisibility()")


def stops(b, at, crawl):
    b.open(f"http://{at}/")
    b.wait("document.getElementById('stop').checkVisibility()")
    b.click("#stop")
    b.wait("document.querySelector('dialog[open] [type=submit]') !== null")
    b.click("dialog [type=submit]")
    for p in crawl.workers:
        assert p.wait(LONGEST) == 4, p.returncode
    b.wait(says("#crawl-state", "stopped"))
    b.wait("!document.getElementById('stop').checkVisibility()")


def main():
    if browser.program() is None:
        print("no chromium is installed (apt-get install chromium)")
        sys.exit(77)
    if shutil.which("redis-server") is None:
        print("skipped, no redis-server")
        sys.exit(77)
    home = tempfile.mkdtemp(prefix="urlweir-dashboard.")
    servers, b, page, crawl = Single(home + "/redis"), None, None, None
    try:
        crawl = Crawl(URLWEIR, servers, home, pages=0)
        crawl.create()
        worker = crawl.join(["--metrics", "127.0.0.1:0"])
        with open(home + "/err", "w", encoding="utf-8") as err:
            page = subprocess.Popen([URLWEIR, "serve", crawl.url, "--http", "127.0.0.1:0"], stderr=err)
        at = wait_until_said(home + "/err", r"HTTP on (\S+)", page)
        b = browser.Browser(home + "/profile")
        b.look(1280, 900)
        shows(b, at)
        steers(b, crawl)
        explains(b, crawl)
        outlives_servers(b, servers.servers[0])
        of_a_worker(b, worker.log, worker)
        stops(b, at, crawl)
        assert b.errors == [], b.errors
        page.send_signal(signal.SIGTERM)
        assert page.wait(LONGEST) == 0
        crawl.web.close()
    finally:
        if b:
            b.close()
        for p in [page] + (crawl.workers if crawl else []):
            if p and p.poll() is None:
                p.kill()
                p.wait()
        servers.end()
        shutil.rmtree(home, ignore_errors=True)
    print("the dashboard shows and steers a crawl in a cluster, from any machine and beside a worker")


if __name__ == "__main__":
    main()
