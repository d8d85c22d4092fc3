"""robots.txt, the links of a page, sitemaps and feeds."""
from collections import namedtuple

from ._text import Error, body_octets, c_text, given, need, octets, taken, text_of
from ._urlweir import ffi, lib
from .urls import new_url, parse

FORMS = {"canonical": lib.URLWEIR_CANONICAL, "whatwg": lib.URLWEIR_WHATWG}
KINDS = {lib.URLWEIR_PAGE: "page", lib.URLWEIR_SITEMAP: "sitemap", lib.URLWEIR_ITEM: "item"}
# Most octets of the URLs of one page or sitemap: short links of a page with a
# long base may be much larger than the page.
MOST_OCTETS = 64 << 20

Link = namedtuple("Link", "kind url nofollow")
Entry = namedtuple("Entry", "kind url lastmod priority changefreq")
Page = namedtuple("Page", "links title lang charset noindex nofollow whole")
Sitemap = namedtuple("Sitemap", "entries format passed_over whole")


class Robots:
    """The rules of a robots.txt for one crawler. Threads may share it."""

    def __init__(self, body, agent):
        b, _keep = given(body_octets(body))
        a, _keep_too = given(octets(agent))
        self._handle = ffi.gc(lib.urlweir_robots_new(b[0], a[0]), lib.urlweir_robots_free)

    def decides(self, url):
        """May it be fetched, and the line that says so, as written, or ""."""
        line = ffi.new("struct urlweir_bytes *")
        u = parse(new_url(), url, form=lib.URLWEIR_WHATWG)
        allowed = lib.urlweir_robots_allows(self._handle, u, line)
        return bool(allowed), taken(line[0])

    def allows(self, url):
        return self.decides(url)[0]

    @property
    def crawl_delay(self):
        """In seconds; None: there is none."""
        delay = lib.urlweir_robots_crawl_delay(self._handle)
        return None if delay < 0 else delay

    @property
    def sitemaps(self):
        return [taken(lib.urlweir_robots_sitemap(self._handle, i))
                for i in range(lib.urlweir_robots_sitemap_count(self._handle))]


class _Found:
    """What a visitor has collected."""

    def __init__(self, most):
        self.items, self.room = [], most

    def add(self, item, size):
        """Returns what the visitor returns: not 0, no more."""
        self.room -= size
        if self.room < 0:
            return 1
        self.items.append(item)
        return 0


@ffi.def_extern(onerror=None, error=1)
def urlweir_py_link(ctx, link):
    item = Link(text_of(link.kind), taken(link.url), bool(link.nofollow))
    return ffi.from_handle(ctx).add(item, link.url.len)


@ffi.def_extern(onerror=None, error=1)
def urlweir_py_entry(ctx, e):
    item = Entry(KINDS[e.kind], taken(e.url), taken(e.lastmod), taken(e.priority),
                 taken(e.changefreq))
    size = e.url.len + e.lastmod.len + e.priority.len + e.changefreq.len
    return ffi.from_handle(ctx).add(item, size)


def _is_whole(status, what):
    """True: all was visited; False: up to a limit. Else it raises."""
    if status in (lib.URLWEIR_STOPPED, lib.URLWEIR_LIMIT):
        return False
    need(status, what)
    return True


def links(body, url, content_type="", kinds=None, form="canonical", agent="", most=0,
          most_octets=MOST_OCTETS):
    """A Page: the links of `body`, an HTML page that came from `url`, or with
    content_type text/css a style sheet. `kinds`: names with commas, or "all".
    `whole` is false if a limit was reached; the links until then are there."""
    raw, _keep = given(body_octets(body))
    content, _keep_too = given(octets(content_type))
    token, _keep_token = given(octets(agent))
    names = ffi.NULL if kinds is None else ffi.new("char[]", c_text(octets(kinds)))
    o = ffi.new("struct urlweir_links_options *", {
        "size": ffi.sizeof("struct urlweir_links_options"), "content_type": content[0],
        "kinds": names, "most": most, "form": FORMS[form]})
    handle = ffi.gc(lib.urlweir_links_new(token[0]), lib.urlweir_links_free)
    found = _Found(most_octets)
    ctx = ffi.new_handle(found)
    at = parse(new_url(), url, form=lib.URLWEIR_WHATWG)
    whole = _is_whole(lib.urlweir_links_read(handle, raw[0], at, o, lib.urlweir_py_link, ctx), url)
    p = lib.urlweir_links_page(handle)
    return Page(found.items, taken(p.title), taken(p.lang), text_of(p.charset), bool(p.noindex),
                bool(p.nofollow), whole)


def sitemap(body, url, content_type="", form="canonical", most=0, most_octets=MOST_OCTETS):
    """A Sitemap: the entries of what came from `url`, an XML or text sitemap, an
    index or a feed, gzipped or not. `body` may be an iterable of pieces. Of
    what is damaged or over a limit there are the entries until then, and
    `whole` is false."""
    content, _keep = given(octets(content_type))
    o = ffi.new("struct urlweir_sitemap_options *", {
        "size": ffi.sizeof("struct urlweir_sitemap_options"), "content_type": content[0],
        "entries_most": most, "form": FORMS[form]})
    found = _Found(most_octets)
    ctx = ffi.new_handle(found)
    at = parse(new_url(), url, form=lib.URLWEIR_WHATWG)
    out = ffi.new("struct urlweir_sitemap **")
    need(lib.urlweir_sitemap_new(out, at, o, lib.urlweir_py_entry, ctx), url)
    handle = ffi.gc(out[0], lib.urlweir_sitemap_free)
    for piece in [body] if isinstance(body, (str, bytes, bytearray, memoryview)) else body:
        raw, _keep_piece = given(body_octets(piece))
        if not _is_whole(lib.urlweir_sitemap_push(handle, raw[0]), url):
            break
    try:
        whole = _is_whole(lib.urlweir_sitemap_finish(handle), url)
    except Error as e:
        if e.status != lib.URLWEIR_FORMAT:
            raise
        whole = False
    return Sitemap(found.items, text_of(lib.urlweir_sitemap_format(handle)),
                   lib.urlweir_sitemap_passed_over(handle), whole)
