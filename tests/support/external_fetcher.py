"""A fetcher of another program, for tests/cli/external.sh.

usage: external_fetcher.py CRAWL THREADS [leave AFTER | die AFTER]

Leases URLs of an own crawl of `urlweir serve` over HTTP, fetches them, puts the
links it found and acknowledges. Goes on over restarts of the service, whose
address is read from the file `address` each time, until nothing is left of the
crawl. How many it fetched is printed. With `leave` it goes once it has fetched so
many, a thread's last one more; with `die` without a word after so many leases, with
a URL in its hands that it has not asked for: printed, with the moment before which
nobody had it.

One request at a time to a host, as the service leases them; the time between is
the service's to keep.
"""
import html
import http.client
import json
import os
import re
import sys
import threading
import time
import urllib.parse

CRAWL = sys.argv[1]
THREADS = int(sys.argv[2])
AFTER = {"leave": 0, "die": 0}
if len(sys.argv) > 4:
    AFTER[sys.argv[3]] = int(sys.argv[4])
HOLD_S = 8

lock = threading.Lock()
fetched, gone, leases = [], [], 0


def ask(method, path, body=None):
    """JSON of the service, whenever it is there again."""
    return asked_at(method, path, body)[1]


def asked_at(method, path, body=None):
    """The same behind the moment before it was asked for."""
    while True:
        began = time.monotonic_ns()
        try:
            with open("address") as f:
                address = f.read().strip()
            c = http.client.HTTPConnection(address, timeout=20)
            c.request(method, path, json.dumps(body) if body is not None else None,
                      {"Content-Type": "application/json"} if body is not None else {})
            answer = c.getresponse()
            text = answer.read()
            c.close()
        except (OSError, http.client.HTTPException):
            time.sleep(0.05)
            continue
        if answer.status == 200:
            return began, json.loads(text)
        if answer.status != 503:  # stopping, or not all there yet
            raise SystemExit("%s %s: %d %s" % (method, path, answer.status, text))
        time.sleep(0.05)


def fetch(url):
    """(status, URLs it leads to); status 0: no answer."""
    at = urllib.parse.urlsplit(url)
    c = http.client.HTTPConnection(at.hostname, at.port, timeout=20)
    try:
        c.request("GET", at.path + ("?" + at.query if at.query else ""),
                  headers={"User-Agent": "external-fetcher"})
        answer = c.getresponse()
        body = answer.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException):
        return 0, []
    finally:
        c.close()
    if 300 <= answer.status < 400:
        return answer.status, [urllib.parse.urljoin(url, answer.getheader("Location") or "")]
    if answer.status != 200:
        return answer.status, []
    links = re.findall(r"""<a\s[^>]*?href\s*=\s*["']?([^"'\s>]+)""", body, re.I)
    return answer.status, [urllib.parse.urljoin(url, html.unescape(link)) for link in links]


def settle(url):
    """Links first: a kill in between makes nothing lost."""
    status, links = fetch(url["url"])
    depth = int(url["metadata"]["depth"][0]) + 1
    for i in range(0, len(links), 500):
        ask("POST", "/v1/urls", [{"url": link, "crawl": CRAWL, "metadata": {"depth": [str(depth)]}}
                                 for link in links[i:i + 500]])
    said = ask("POST", "/v1/ack", {"lease": url["lease"],
                                   "metadata": {"fetch.statusCode": [str(status)]}})
    with lock:
        fetched.append(url["url"])
        if said["results"][0]["status"] != "ok":
            gone.append(url["url"])


def is_over():
    n = ask("GET", "/v1/stats?crawl=" + CRAWL)
    return n["size"] == 0 and n["completed"] > 0


def work():
    global leases
    while not 0 < AFTER["leave"] <= len(fetched):
        began, got = asked_at("POST", "/v1/lease", {"crawl": CRAWL, "max_queues": 1,
                                                    "lease_seconds": HOLD_S})
        for url in got["urls"]:
            assert url["crawl"] == CRAWL and url["metadata"]["kind"], url
            with lock:
                leases += 1
                if 0 < AFTER["die"] <= leases:
                    print("died", began, url["url"], flush=True)
                    os._exit(3)
            settle(url)
        if not got["urls"]:
            if is_over():
                return
            time.sleep(0.02)


threads = [threading.Thread(target=work) for _ in range(THREADS)]
for t in threads:
    t.start()
for t in threads:
    t.join()
print("fetched", len(fetched))
print("gone", len(gone))
