"""The parts of the crawler urlweir that other programs use.

    canonical(url), whatwg(url), surt(url)   URLs
    Robots(body, agent)                      robots.txt
    links(body, url)                         the links of a page
    sitemap(body, url)                       sitemaps and feeds
    Filter(capacity)                         "certainly new" or "maybe seen"
    Dedupe(dir)                              exact, larger than memory

Text is str or bytes; str goes in as UTF-8. Threads may share an object; a child
process may not use its parent's Filter or Dedupe. What fails raises Error, or
NotAUrl. When the system has no memory left,
the library may end the process: see urlweir.h.
"""
from ._urlweir import lib as _lib
from ._text import Error, NotAUrl
from ._text import text_of as _text_of
from .pages import Entry, Link, Page, Robots, Sitemap, links, sitemap
from .sets import BEFORE, NEW, NO_URL, Dedupe, Filter
from .urls import canonical, surt, whatwg

__version__ = _text_of(_lib.urlweir_version())
__all__ = [
    "BEFORE", "Dedupe", "Entry", "Error", "Filter", "Link", "NEW", "NO_URL", "NotAUrl", "Page",
    "Robots", "Sitemap", "canonical", "links", "sitemap", "surt", "whatwg",
]
