"""Webs of traps that the test web does not have, and honest webs that look like
them; also as a proxy, for hosts.

    trap_web.py LOG        prints "port N"; each request's path in LOG
    trap_web.py --list     the webs under /trap/ and /honest/: path, real pages,
                           and how many requests it may take

/order  12 pages under all orders of four parameters
/shop   10 pages that ignore their session identifier, a new one in each link
/grow   a path that grows by a segment a page, and says so
/tags   320 tags without a page; one body for all
http://hN.farm.example/  a page that leads to three more such hosts
/trap/NAME, /honest/NAME  one endless space, or one web that ends: see WEBS
http://NAME.root.example/  the same at the root of a host
"""
import asyncio
import itertools
import sys
from html import escape

minted = itertools.count(1)

# ---- words without a digit --------------------------------------------------


def word(n):
    text = ""
    while True:
        text = chr(97 + n % 26) + text
        n //= 26
        if n == 0:
            return "w" + text


def said(n, count):
    """A sentence that no other number has."""
    return " ".join(word(n * k + k) for k in range(7919, 7919 + count))


# ---- pages ------------------------------------------------------------------


def anchors(targets):
    return "".join('<a href="%s">x</a>\n' % escape(t) for t in targets)


class Request:
    def __init__(self, host, target):
        self.url = "http://" + host + target
        self.path, _, self.query = target.partition("?")
        self.below = 1 if ".root.example" in host else 3  # where its own segments begin
        self.target = target
        self.params = [p for p in self.query.split("&") if p]

    def value(self, name, missing=""):
        for p in self.params:
            if p.startswith(name + "="):
                return p[len(name) + 1:]
        return missing

    def page(self, title, text, links, named=True):
        """A page that names its own address, as most of the web does. `links`:
        (address, words) each."""
        own = escape(self.url)
        head = ('<link rel="canonical" href="%s">\n<meta property="og:url" content="%s">\n'
                % (own, own)) if named else ""
        return "<!DOCTYPE html><title>%s</title>\n%s<h1>%s</h1>\n%s\n%s" % (
            title, head, title, text,
            "".join('<a href="%s">%s</a>\n' % (escape(a), w) for a, w in links))


# ---- endless spaces ---------------------------------------------------------
#
# A directory that contains itself: its link relative, with a canonical address,
# absolute, and with the way that led there.


def self_canonical(r):
    return r.page("Directory", "", [("d/", "down")])


# An address that any path has, with the menu of the site: relative links, which
# a base would have had to make right.


def soft_missing(r, relative=True):
    base = "" if relative else r.url.rsplit("/", 1)[0] + "/"
    names = "about news shop team jobs help press terms blog media".split()
    return r.page("Not found", "There is nothing here.", [(base + n + "/", n) for n in names])


# Filters: `adds` are those that a page leads to, each with one more.


def filters(adds, join=None, text=None, products=0):
    def answer(r):
        more = [(join(r, a) if join else r.url + ("&" if r.query else "?") + a, "with " + a)
                for a in adds(r)]
        shown = []
        if products:
            seed = sum(ord(c) * (i + 1) for i, c in enumerate("".join(sorted(set(r.params)))))
            shown = [("/trap/product?name=" + word((seed + k * 37) % products),
                      word((seed + k * 37) % products)) for k in range(8)]
        return r.page("Shop", text(r) if text else "All that we have", shown + more)
    return answer


COLOURS = ["color=red", "color=blue", "color=green"]
TWELVE = ["brand=acme", "color=red", "size=large", "shape=round", "stock=yes", "sale=now",
          "new=true", "gift=wrapped", "eco=fair", "made=here", "age=adult", "style=plain"]


def not_chosen(r):
    return [t for t in TWELVE if t not in r.params]


def chosen(r):
    return "Chosen: " + ", ".join(p.split("=")[1] for p in r.params)


def segments(r, name):
    """Filters as segments of the path in the order of clicks: /red/large, or
    /color/red/size/large."""
    parts = [p for p in r.path.split("/")[r.below:] if p]
    had = parts[1::2] if name else parts
    return [(r.url.rstrip("/") + ("/" + t.replace("=", "/") if name else "/" + t.split("=")[1]),
             t.split("=")[1]) for t in TWELVE if t.split("=")[1] not in had]


def path_clicks(name=False, named=True, products=0):
    def answer(r):
        more = segments(r, name)
        if not named:  # relative, to the page itself
            more = [(r.path.rsplit("/", 1)[1] + a[len(r.url):], w) for a, w in more]
        had = r.path.split("/")[r.below:]
        seed = sum(ord(c) * (i + 1) for i, c in enumerate("".join(sorted(had))))
        shown = [word((seed + k * 37) % products) for k in range(8)] if products else []
        return r.page("Shop", "Chosen: " + ", ".join(had), [
            ("/trap/product?name=" + w, w) for w in shown] + more, named=named)
    return answer


# Calendars.


def days(r):
    """Months lead to days, and days to months."""
    at = r.url.split("?")[0]
    if r.value("day"):
        m, d = map(int, r.value("day").split("-"))
        return r.page("Day %d-%d" % (m, d), "No events on this day", [
            ("%s?month=%d" % (at, m), "month"),
            ("%s?day=%d-%d" % ((at, m, d + 1) if d < 28 else (at, m + 1, 1)), "next")])
    m = int(r.value("month", "24300"))
    return r.page("Month %d" % m, "No events in this month", [
        ("%s?month=%d" % (at, n), str(n)) for n in (m - 1, m + 1)] + [
        ("%s?day=%d-%d" % (at, m, d), str(d)) for d in range(1, 29)])


# Searches: results page by page for ever, and words that are added.


def search_words(r):
    q = [w for w in r.value("q").split("+") if w]
    return r.page("Results for " + " ".join(q), "Try these", [
        ("%s?q=%s" % (r.url.split("?")[0], "+".join(q + [w])), " ".join(q + [w]))
        for w in ("lamp", "desk", "chair", "light")])


# ---- honest webs ------------------------------------------------------------

KINDS = [("brand", 5), ("color", 5), ("size", 4), ("price", 4), ("stock", 2)]


def fits(n, chosen):
    for name, most in KINDS:
        if name in chosen and n % most != int(chosen[name][1:]):
            return False
        n //= most
    return True


def product(r):
    n = int(r.value("id") or r.path.rsplit("/", 1)[1])
    return r.page("Product " + word(n), said(n, 12), [
        (r.url.split("/product")[0] + ("/list" if r.below == 3 else "/"), "all")])


def shop(ordered, products):
    """Products with five filters; 200 on a page. The products are what must be
    whole, and all lists if their filters come in one order."""
    found = {}

    def answer(r):
        at = r.url.split("/honest/")[0] + "/honest/" + r.path.split("/")[2]
        if r.path.endswith("/product"):
            return product(r)
        chosen = dict(p.split("=") for p in r.params)
        page = int(chosen.pop("page", "1"))
        key = tuple(sorted(chosen.items()))
        if key not in found:
            found[key] = [n for n in range(products) if fits(n, chosen)]
        names = [n for n, _ in KINDS] if ordered else list(chosen)
        links = [("%s/product?id=%d" % (at, n), word(n))
                 for n in found[key][(page - 1) * 200:page * 200]]
        for name, most in KINDS:
            if name in chosen:
                continue
            for v in range(most):
                more = dict(chosen, **{name: "v%d" % v})
                inorder = [k for k in names if k in more] + (
                    [] if name in names else [name])
                links.append((at + "/list?" + "&".join("%s=%s" % (k, more[k]) for k in inorder),
                              "%s %s" % (name, word(v))))
        if page * 200 < len(found[key]):
            links.append((at + "/list?" + "&".join(
                ["%s=%s" % (k, chosen[k]) for k in names if k in chosen] +
                ["page=%d" % (page + 1)]), "next"))
        return r.page("Things", " ".join("%s %s" % c for c in chosen.items()), links)
    return answer


def path_shop(r):
    """2,000 products below three filters that are segments, in the order of
    clicks. Their pages compare two, and back."""
    at, most = "/honest/path" if r.below == 3 else "", 2000
    parts = r.path[len(at) + 1:].split("/")
    if r.below == 1:  # no name before the filters
        parts = parts if parts[0] in ("product", "compare") else ["list"] + [p for p in parts if p]
    if parts[0] == "product":
        return product(r)
    if parts[0] == "compare":
        a, b = map(int, parts[1:])
        return r.page("Compare", "%s is better than %s" % (word(a), word(b)), [
            ("%s/compare/%d/%d" % (at, b, a), "back")])
    chosen = dict(p.split("-") for p in parts[1:])
    left = [n for n in range(most) if fits(n, chosen)]
    page = int(r.value("page", "1"))
    here = r.path.rstrip("/")
    links = [("%s/product/%d" % (at, n), word(n)) for n in left[(page - 1) * 50:page * 50]]
    links += [("%s/compare/%d/%d" % (at, n, n + 1), "compare") for n in left[:1]]
    if page * 50 < len(left):
        links.append(("%s?page=%d" % (r.path, page + 1), "next"))
    return r.page("Things", " ".join("%s %s" % c for c in chosen.items()), links + [
        ("%s/%s-v%d" % (here, name, v), "%s %s" % (name, word(v)))
        for name, values in KINDS[:3] if name not in chosen for v in range(values)])


def archive(r):
    """Ten years, by month and by day; each day has a text, the next is a link."""
    at = "/honest/archive/"
    parts = [int(p) for p in r.path[len(at):].strip("/").split("/") if p]
    if len(parts) == 3:
        n = (parts[0] * 12 + parts[1]) * 28 + parts[2]
        return r.page("Notes", said(n, 20), [(at + "%d/%d/" % tuple(parts[:2]), "month")])
    if len(parts) == 2:
        return r.page("Month", "", [(at + "%d/%d/%d/" % (*parts, d), str(d)) for d in range(1, 29)])
    if len(parts) == 1:
        return r.page("Year", "", [(at + "%d/%d/" % (*parts, m), str(m)) for m in range(1, 13)])
    return r.page("Archive", "", [(at + "%d/" % y, str(y)) for y in range(2010, 2020)])


def documentation(r):
    """A tree of words, each page with all its neighbours and the way up."""
    at = "/honest/docs/" if r.below == 3 else "/"
    parts = [p for p in r.path[len(at):].split("/") if p]
    names = ["install", "use", "api", "types", "errors"]
    links = [("../" * i + (parts[-i - 1] if i else "./"), "up") for i in range(len(parts))]
    if len(parts) < 4:
        links += [(n + "/", n) for n in names]
    return r.page(" ".join(parts) or "Docs", said(sum(
        (names.index(p) + 1) * 6 ** i for i, p in enumerate(parts)), 60), links)


# path -> (answer, real pages)
WEBS = {
    "trap/self-canonical/": (self_canonical, 1),
    "trap/missing-absolute/": (lambda r: soft_missing(r, False), 1),
    "trap/three-again": (filters(lambda r: COLOURS), 7),
    "trap/twelve-named": (filters(not_chosen, text=chosen), 1),
    "trap/twelve-products": (filters(not_chosen, text=chosen, products=300), 301),
    "trap/path-named": (path_clicks(name=True), 1),
    "trap/days": (days, 1),
    "trap/search-words": (search_words, 1),
    "honest/clicks/list": (shop(False, 4000), 4000),
    "honest/archive/": (archive, 1 + 10 + 120 + 3360),
    "honest/docs/": (documentation, 1 + 5 + 25 + 125 + 625),
}
ROOTS = {
    "honest/root-path": (path_shop, 2000),
}


def find_web(path):
    for start, (answer, _) in WEBS.items():
        if path[1:] == start.rstrip("/") or path.startswith("/" + start.rstrip("/") + "/"):
            return answer
        if start.endswith("/list") and path.startswith(
                ("/" + start[:-4] + "product", "/" + start[:-4] + "compare")):
            return answer
    return None


# ---- the webs at the root ---------------------------------------------------


def order(query):
    n = int(dict(p.split("=") for p in query.split("&")).get("d", 0)) if query else -1
    if n >= 11:
        return "The last of words"
    parts = ["a=x", "b=y", "c=z", "d=%d" % (n + 1)]
    return "Word %s " % chr(97 + n) + anchors(
        "/order?" + "&".join(p) for p in itertools.permutations(parts))


def plain_shop(query):
    page = next((p[2:] for p in query.split("&") if p.startswith("p=")), "a")
    return "Page %s " % page + anchors(
        "/shop?p=%s%s&sid=%08x" % (a, b, next(minted)) for a in "ab" for b in "abcde")


def answer(host, target):
    r = Request(host, target)
    path, query = r.path, r.query
    kind, _, rest = host.partition(".")
    if rest.startswith("root.example") and path != "/robots.txt" and not path.startswith("/trap/"):
        return ROOTS[kind.replace("-", "/", 1)][0](r)
    web = find_web(path)
    if web is not None:
        return web(r)
    if host.split(":")[0].endswith("farm.example"):
        return "A farm " + anchors("http://h%d.farm.example/" % next(minted) for _ in range(3))
    if path == "/":
        return anchors(["/order", "/shop?p=aa", "/grow/", "/tags"])
    if path == "/order":
        return order(query)
    if path == "/shop":
        return plain_shop(query)
    if path.startswith("/grow/"):
        return "At " + path + anchors(["and/"])
    if path == "/tags":
        return anchors("/tag/" + a + b + c for a in "abcdefgh" for b in "abcd"
                       for c in "abcdefghij")
    if path.startswith("/tag/"):
        return "Nothing has this tag"
    if path == "/trap/product":
        return r.page("Product " + r.value("name"), "It is good", [])
    return None


# ---- the server -------------------------------------------------------------


class Server(asyncio.Protocol):
    def __init__(self, log):
        self.log, self.had = log, b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.had += data
        while b"\r\n\r\n" in self.had:
            head, _, self.had = self.had.partition(b"\r\n\r\n")
            self.respond(head.decode("latin-1").split("\r\n"))

    def respond(self, lines):
        target = lines[0].split(" ")[1]
        host = next((l[5:].strip() for l in lines if l.lower().startswith("host:")), "")
        if target.startswith("http://"):
            target = "/" + target.split("/", 3)[3]
        self.log.write(host.split(":")[0] + target + "\n")
        body = answer(host, target)
        data = (body or "not here").encode()
        self.transport.write((
            "HTTP/1.1 %s\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n"
            % ("200 OK" if body is not None else "404 Not Found", len(data))).encode() + data)


async def serve(log):
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Server(log), "127.0.0.1", 0)
    print("port", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    if sys.argv[1] == "--list":
        for start, (_, real) in [*WEBS.items(), *ROOTS.items()]:
            print("/" + start, real, real * 105 // 100 + 1000)
    else:
        asyncio.run(serve(open(sys.argv[1], "a", buffering=1)))
