"""URLs: the canonical form, that of the URL Standard, and SURTs."""
import threading

from ._text import NotAUrl, given, taken, text_of, url_octets
from ._urlweir import ffi, lib

_own = threading.local()


def new_url():
    return ffi.gc(lib.urlweir_url_new(), lib.urlweir_url_free)


def parse(handle, text, base=ffi.NULL, form=lib.URLWEIR_CANONICAL):
    b, _keep = given(url_octets(text))
    if lib.urlweir_url_parse(handle, b[0], base, form) != lib.URLWEIR_OK:
        raise NotAUrl(text, text_of(lib.urlweir_url_reason(handle)))
    return handle


def _parsed(text, base, form):
    if not hasattr(_own, "url"):
        _own.url, _own.base = new_url(), new_url()
    against = ffi.NULL
    if base is not None:
        against = parse(_own.base, base, form=lib.URLWEIR_WHATWG)
    return parse(_own.url, text, against, form)


def canonical(url, base=None):
    """The canonical form of a URL, in which two spellings of one URL are equal.
    `base`: what it is relative to. NotAUrl if it is not an http(s) URL."""
    return taken(lib.urlweir_url_text(_parsed(url, base, lib.URLWEIR_CANONICAL)))


def whatwg(url, base=None):
    """As the URL Standard serialises it, without the fragment."""
    return taken(lib.urlweir_url_text(_parsed(url, base, lib.URLWEIR_WHATWG)))


def surt(url, base=None):
    """The sort-friendly key of its canonical form: "org,example)/path"."""
    return taken(lib.urlweir_url_surt(_parsed(url, base, lib.URLWEIR_CANONICAL)))
