"""A request as text and back, and its name for the seen check.

The text is JSON of what `Request.to_dict` says. JSON knows neither bytes nor
tuples, so what it lacks is an object with one member that begins with "@":
{"@bytes": "aGVsbG8="}. What is not in the table below is refused, with the
place where it was found: nothing is guessed, and nothing is pickled, since
whoever may write to the service could then run code in the spider. For the
same reason a request is only made of classes that the spider has imported.
"""
import base64
import datetime
import decimal
import json
import re
import sys
import uuid

import scrapy
from scrapy.utils.httpobj import urlparse_cached
from scrapy.utils.request import RequestFingerprinter, request_from_dict
from w3lib.url import canonicalize_url

BYTES_MOST = 1 << 20  # of a request's text: the service hands out about 1 MiB at once
LEASED = "urlweir_leased"  # in the meta of every request that came from the service

# name: class, to what JSON knows, back
TYPES = {
    "@bytes": (bytes, lambda v: base64.b64encode(v).decode(),
               lambda v: base64.b64decode(v, validate=True)),
    "@tuple": (tuple, list, tuple),
    "@set": (set, list, set),
    "@frozenset": (frozenset, list, frozenset),
    "@datetime": (datetime.datetime, datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    "@date": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "@decimal": (decimal.Decimal, str, decimal.Decimal),
}
NAME_OF = {entry[0]: name for name, entry in TYPES.items()}


class CannotKeep(ValueError):
    """A request that has something the service cannot keep; says what and where."""


class CannotRestore(ValueError):
    """A request in the service that this spider cannot make again; says why."""


# ---- values ----

def _plain(value, where):
    """`value` as JSON knows it."""
    kind = type(value)
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is list:
        return [_plain(v, "%s[%d]" % (where, i)) for i, v in enumerate(value)]
    if kind is dict:
        if all(type(k) is str and not k.startswith("@") for k in value):
            return {k: _plain(v, "%s[%r]" % (where, k)) for k, v in value.items()}
        return {"@dict": [[_plain(k, where), _plain(v, "%s[%r]" % (where, k))]
                          for k, v in value.items()]}
    if kind in NAME_OF:
        name = NAME_OF[kind]
        return {name: _plain(TYPES[name][1](value), where)}
    if isinstance(value, scrapy.Item):
        return {"@item": ["%s.%s" % (kind.__module__, kind.__qualname__),
                          _plain(dict(value), where)]}
    raise CannotKeep("%s is of the type %s.%s, which the service cannot keep"
                     % (where, kind.__module__, kind.__qualname__))


def _class_named(path, base):
    """A class that is imported already."""
    module, _, name = str(path).rpartition(".")
    found = getattr(sys.modules.get(module), name, None)
    if not (isinstance(found, type) and issubclass(found, base)):
        raise CannotRestore("the spider has imported no %s named %s" % (base.__name__, path))
    return found


def _value(plain):
    if isinstance(plain, list):
        return [_value(v) for v in plain]
    if not isinstance(plain, dict):
        return plain
    if len(plain) == 1:
        (name, inner), = plain.items()
        if name == "@dict":
            return {_value(k): _value(v) for k, v in inner}
        if name == "@item":
            path, fields = inner
            return _class_named(path, scrapy.Item)(_value(fields))
        if name in TYPES:
            return TYPES[name][2](_value(inner))
    return {k: _value(v) for k, v in plain.items()}


# ---- requests ----

def to_text(request, spider):
    """The text of a request. CannotKeep: nothing of it may be sent."""
    try:
        fields = request.to_dict(spider=spider)
        fields = {k: v for k, v in fields.items() if v is not None}
        text = json.dumps({k: _plain(v, k) for k, v in fields.items()}, separators=(",", ":"))
    except CannotKeep:
        raise
    except ValueError as e:  # a callback that is no method of the spider
        raise CannotKeep(str(e)) from None
    except RecursionError:
        raise CannotKeep("it is nested too deeply, or contains itself") from None
    if len(text) > BYTES_MOST:
        raise CannotKeep("its text has %d octets, more than %d" % (len(text), BYTES_MOST))
    return text


def from_text(text, spider):
    """The request again. CannotRestore: the text is not one, or not this spider's."""
    try:
        fields = _value(json.loads(text))
        if not isinstance(fields, dict):
            raise CannotRestore("it is not an object")
        if "_class" in fields:
            _class_named(fields["_class"], scrapy.Request)
        for name in ("callback", "errback"):
            method = fields.get(name)
            if method is not None and not callable(getattr(spider, str(method), None)):
                raise CannotRestore("the spider %s has no method %s" % (spider.name, method))
        return request_from_dict(fields, spider=spider)
    except CannotRestore:
        raise
    except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError) as e:
        raise CannotRestore("%s: %s" % (type(e).__name__, e)) from None


# ---- names ----

class Naming:
    """What a request is called in the service, where equal names are one URL.

    A plain GET is called by its canonical URL, so that `urlweir explain` knows
    it. Where the fingerprint says more than the URL (a method, a body) it
    follows behind a "#". Another fingerprinter than Scrapy's may leave out
    parts of the URL, so its fingerprints are the whole name. A request with
    dont_filter is like no other; but what `start` yields is named as if it
    had none, since a process that is started again yields it again.
    """

    def __init__(self, crawler):
        self.fingerprinter = crawler.request_fingerprinter
        self.by_url = type(self.fingerprinter) is RequestFingerprinter

    def is_unique(self, request):
        again = request.meta.get("is_start_request") and not request.meta.get(LEASED)
        return request.dont_filter and not again

    def name(self, request):
        if self.by_url:
            name = canonicalize_url(request.url)
            if request.method != "GET" or request.body or request.meta.get("verbatim_url"):
                name += "#" + self.fingerprinter.fingerprint(request).hex()
        else:
            name = "scrapy:" + self.fingerprinter.fingerprint(request).hex()
        if self.is_unique(request):
            name += "#" + uuid.uuid4().hex
        return name

    @staticmethod
    def queue_key(request):
        """The host, which is what politeness goes by; part of what is compared."""
        at = urlparse_cached(request)
        return re.sub(r"[^!-~]", "?", at.hostname or at.scheme)[:255]
