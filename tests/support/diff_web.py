#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two versions of a site, and what differs between them.

    diff_web.py DIR SEED PAGES PORT

Makes DIR/old and DIR/new for plain_site.py (127.0.0.1), two pages of three with
an ETag, and the truth of what
`urlweir diff` has to say of them: DIR/truth.text and DIR/truth.body, for the two
ways to tell a change. A line is

    KIND URL TO BY WHAT LINKS_ADDED LINKS_REMOVED        `-` for what is absent
"""
import os
import random
import sys
import zlib

HOSTILE = '&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;&quot;&gt;&lt;img src=x onerror=alert(2)&gt;'


class Site:
    def __init__(self, root):
        self.root, self.linked = root, []

    def put(self, path, body, status=200, location=None, linked=True):
        name = self.root + "/127.0.0.1" + path
        os.makedirs(os.path.dirname(name), exist_ok=True)
        with open(name, "w") as f:
            f.write(body)
        etag = '"%08x"' % zlib.crc32(body.encode())
        validated = int(etag[-2], 16) % 3 > 0
        if status != 200 or validated:
            with open(name + ".head", "w") as f:
                f.write("%d\n%s" % (status, "Location: %s\n" % location if location else
                                    "ETag: %s\n" % etag if status == 200 else ""))
        if linked:
            self.linked.append(path)

    def index(self):
        self.put("/index.html", "<title>index</title>Index" +
                 "".join("<a href=%s></a>" % p for p in self.linked), linked=False)


def page(n, rng, title=None, token="", more="", links=()):
    words = " ".join("w%d" % (n * 7919 + i * i) for i in range(30))
    return "<title>%s</title><script>var t='%s'</script><body data-t='%s'><p>%s %s</p>%s" % (
        title or "Page %d" % n, token, token, words, more, "".join("<a href=%s></a>" % u for u in links))


def main():
    root, seed, count, port = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    rng = random.Random(seed)
    old, new = Site(root + "/old"), Site(root + "/new")
    base = "http://127.0.0.1:%s" % port
    truth = []  # what by text, what by body, line without it

    def says(kind, path, to="-", by="-", text="-", body="-", added=0, removed=0):
        url = base + path
        to = base + to if to != "-" else to
        for way, what in (("text", text), ("body", body)):
            if kind != "changed" or what:
                truth.append((way, "%s %s %s %s %s %d %d" % (kind, url, to, by, what, added, removed)))

    for t in range(3):  # targets that stay
        for s in (old, new):
            s.put("/t/%d.html" % t, page(900000 + t, rng))
    kinds = ["same", "token", "space", "text", "title", "links", "gone404", "gone", "new", "new404", "moved-body",
             "moved-text", "moved-redirect", "redirect", "forbidden", "gone410", "twins", "merged"]
    for n in range(count):
        kind = kinds[n % len(kinds)] if n < len(kinds) else rng.choice(kinds)
        at, to = "/d%d/%d.html" % (n % 7, n), "/moved/%d.html" % n
        was = page(n, rng, token="a%d" % n)
        if kind == "same":
            old.put(at, was), new.put(at, was)
        elif kind == "token":
            old.put(at, was), new.put(at, page(n, rng, token="b%d" % n))
            says("changed", at, text="", body="body")
        elif kind == "space":
            old.put(at, was), new.put(at, was.replace(" w", "\n \t w"))
            says("changed", at, text="", body="body")
        elif kind == "text":
            old.put(at, was), new.put(at, page(n, rng, token="a%d" % n, more="and more"))
            says("changed", at, text="body,text", body="body,text")
        elif kind == "title":
            old.put(at, was), new.put(at, page(n, rng, title=HOSTILE, token="a%d" % n))
            says("changed", at, text="title", body="title,body")
        elif kind == "links":
            old.put(at, page(n, rng, links=["/t/0.html", "/t/1.html", "/t/0.html", "http://other.example/old"]))
            new.put(at, page(n, rng, links=["/t/0.html", "/t/2.html", "/", "http://other.example/new"]))
            says("changed", at, text="links", body="body,links", added=2, removed=1)
        elif kind in ("gone404", "gone410"):
            old.put(at, was), new.put(at, "Not there", status=int(kind[4:]))
            says("gone", at)
        elif kind == "gone":
            old.put(at, was)
            says("gone", at)
        elif kind == "new":
            new.put(at, was)
            says("new", at)
        elif kind == "new404":
            old.put(at, "Not there", status=404), new.put(at, was)
            says("new", at)
        elif kind == "moved-body":
            old.put(at, was), new.put(to, was)
            says("moved", at, to=to, by="body")
        elif kind == "moved-text":
            old.put(at, was), new.put(to, page(n, rng, token="b%d" % n))
            says("moved", at, to=to, by="text")
        elif kind == "moved-redirect":
            old.put(at, was), new.put(at, "", status=301, location=to)
            new.put(to, page(n, rng, more="rewritten"), linked=False)
            says("moved", at, to=to, by="redirect", text="status,redirect", body="status,redirect")
        elif kind == "redirect":
            old.put(at, "", status=302, location="/t/0.html"), new.put(at, "", status=302, location="/t/1.html")
            says("changed", at, text="redirect", body="redirect")
        elif kind == "forbidden":
            old.put(at, was), new.put(at, "no", status=403)
            says("changed", at, text="status", body="status")
        elif kind == "merged":  # into a page that was there before
            old.put(at, was), new.put(at, "", status=301, location="/t/2.html")
            says("moved", at, to="/t/2.html", by="redirect", text="status,redirect", body="status,redirect")
        elif kind == "twins":  # two pages with one body, one of which moves
            for i, name in enumerate(("x", "y")):
                old.put("/d%d/%d%s.html" % (n % 7, n, name), was)
            new.put("/moved/%dx.html" % n, was)
            says("moved", "/d%d/%dx.html" % (n % 7, n), to="/moved/%dx.html" % n, by="body")
            says("gone", "/d%d/%dy.html" % (n % 7, n))
    old.index(), new.index()
    added = len(set(new.linked) - set(old.linked))
    removed = len(set(old.linked) - set(new.linked))
    if added + removed:
        says("changed", "/", text="links", body="body,links", added=added, removed=removed)
    for way in ("text", "body"):
        with open("%s/truth.%s" % (root, way), "w") as f:
            f.write("".join(sorted(line + "\n" for w, line in truth if w == way)))


main()
