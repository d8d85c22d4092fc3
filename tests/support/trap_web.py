"""A web of traps that the test web does not have; also as a proxy, for hosts.

    trap_web.py LOG        prints "port N"; each request's path in LOG

/order  12 pages under all orders of four parameters
/shop   10 pages that ignore their session identifier, a new one in each link
/grow   a path that grows by a segment a page, and says so
/tags   320 tags without a page; one body for all
http://hN.farm.example/  a page that leads to three more such hosts
"""
import http.server
import itertools
import sys

log = open(sys.argv[1], "a", buffering=1)
minted = itertools.count(1)


def links(targets):
    return "".join('<a href="%s">x</a>\n' % t.replace("&", "&amp;") for t in targets)


def order(query):
    n = int(dict(p.split("=") for p in query.split("&")).get("d", 0)) if query else -1
    if n >= 11:
        return "The last of words"
    parts = ["a=x", "b=y", "c=z", "d=%d" % (n + 1)]
    return "Word %s " % chr(97 + n) + links(
        "/order?" + "&".join(p) for p in itertools.permutations(parts))


def shop(query):
    page = next((p[2:] for p in query.split("&") if p.startswith("p=")), "a")
    return "Page %s " % page + links(
        "/shop?p=%s%s&sid=%08x" % (a, b, next(minted)) for a in "ab" for b in "abcde")


def answer(host, path, query):
    if host.endswith("farm.example"):
        return "A farm " + links("http://h%d.farm.example/" % next(minted) for _ in range(3))
    if path == "/":
        return links(["/order", "/shop?p=aa", "/grow/", "/tags"])
    if path == "/order":
        return order(query)
    if path == "/shop":
        return shop(query)
    if path.startswith("/grow/"):
        return "At " + path + links(["and/"])
    if path == "/tags":
        return links("/tag/" + a + b + c for a in "abcdefgh" for b in "abcd"
                     for c in "abcdefghij")
    if path.startswith("/tag/"):
        return "Nothing has this tag"
    return None


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        target, host = self.path, self.headers.get("Host", "").split(":")[0]
        if target.startswith("http://"):
            target = "/" + target.split("/", 3)[3]
        log.write(host + target + "\n")
        path, _, query = target.partition("?")
        body = answer(host, path, query)
        data = (body or "not here").encode()
        self.send_response(200 if body is not None else 404)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_address[1], flush=True)
server.serve_forever()
