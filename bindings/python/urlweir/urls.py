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


def _of(text, base, form, part):
    """A handle that runs in this call is no other call's: a signal handler or a
    finalizer may call in between."""
    free = _own.__dict__.setdefault("free", [])
    handle, against = free.pop() if free else (new_url(), new_url())
    try:
        parse(handle, text, ffi.NULL if base is None
              else parse(against, base, form=lib.URLWEIR_WHATWG), form)
        return taken(part(handle))
    finally:
        free.append((handle, against))


def canonical(url, base=None):
    """The canonical form of a URL, in which two spellings of one URL are equal.
    `base`: what it is relative to. NotAUrl if it is not an http(s) URL."""
    return _of(url, base, lib.URLWEIR_CANONICAL, lib.urlweir_url_text)


def whatwg(url, base=None):
    """As the URL Standard serialises it, without the fragment."""
    return _of(url, base, lib.URLWEIR_WHATWG, lib.urlweir_url_text)


def surt(url, base=None):
    """The sort-friendly key of its canonical form: "org,example)/path"."""
    return _of(url, base, lib.URLWEIR_CANONICAL, lib.urlweir_url_surt)
