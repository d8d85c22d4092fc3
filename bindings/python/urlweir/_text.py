"""Text and errors between Python and the library."""
import re
from ._urlweir import ffi, lib

_SURROGATE = re.compile("[\ud800-\udc7f\udd00-\udfff]")


class Error(Exception):
    """`status` is a number of enum urlweir_status in urlweir.h."""

    def __init__(self, status, what=""):
        text = text_of(lib.urlweir_status_text(status))
        super().__init__("%s: %s" % (what, text) if what else text)
        self.status = status


class NotAUrl(Error, ValueError):
    """`reason`: empty, scheme, relative, host, host_ipv4, host_ipv6, host_idna,
    port or length."""

    def __init__(self, text, reason):
        super().__init__(lib.URLWEIR_FORMAT, "%.200r is no http(s) URL (%s)" % (text, reason))
        self.reason = reason


def need(status, what=""):
    if status != lib.URLWEIR_OK:
        raise Error(status, what)


def octets(text):
    """Those of str or bytes. bytes(5) would be five zero octets."""
    if isinstance(text, str):
        return text.encode("utf-8")
    if isinstance(text, bytes):
        return text
    raise TypeError("str or bytes, not %s" % type(text).__name__)


def body_octets(body):
    """As octets(), and of what shows its octets: a bytearray or a memoryview."""
    return bytes(body) if isinstance(body, (bytearray, memoryview)) else octets(body)


def c_text(raw):
    """For a parameter that ends at its first zero octet."""
    if b"\0" in raw:
        raise ValueError("embedded null byte")
    return raw


def each(keys):
    """The keys of a list of keys; one str or bytes is a key and not a list."""
    if isinstance(keys, (str, bytes, bytearray, memoryview)):
        raise TypeError("a list of str or bytes, not one %s" % type(keys).__name__)
    return keys


def url_octets(text):
    """A lone surrogate is U+FFFD, as the URL Standard has it, unless it stands for an
    octet that is not UTF-8 (surrogateescape), which stays what it is."""
    if not isinstance(text, str):
        return octets(text)
    return _SURROGATE.sub("\ufffd", text).encode("utf-8", "surrogateescape")


def given(raw):
    """A struct urlweir_bytes, and what keeps its octets alive."""
    at = ffi.from_buffer("char[]", raw)
    return ffi.new("struct urlweir_bytes *", (at, len(raw))), at


def many(raws):
    """An array of struct urlweir_bytes, and what keeps its octets alive."""
    keep = [ffi.from_buffer("char[]", raw) for raw in raws]
    array = ffi.new("struct urlweir_bytes[]", [(at, len(at)) for at in keep])
    return array, keep


def taken(b):
    """The text of a struct urlweir_bytes."""
    return bytes(ffi.buffer(b.at, b.len)).decode("utf-8", "replace")


def text_of(c_string):
    return ffi.string(c_string).decode("utf-8", "replace")

