"""Filters and exact dedupe."""
import os
from itertools import islice

from ._text import Error, many, need, octets, text_of, url_octets
from ._urlweir import ffi, lib

BEFORE, NEW, NO_URL = lib.URLWEIR_BEFORE, lib.URLWEIR_NEW, lib.URLWEIR_NO_URL
STATS = ("count", "capacity", "bits", "key_bits", "fpr_promised", "fpr_predicted", "overfull",
         "lost")


class Filter:
    """A set of keys in a few bits each. `kind`: scalable, bloom, stacked,
    counting or cuckoo; the last two can remove."""

    def __init__(self, capacity, fpr=0.001, kind="scalable", memory=0, seed=None, fixed=False):
        names = [ffi.new("char[]", octets(kind)),
                 ffi.NULL if seed is None else ffi.new("char[]", octets(seed))]
        o = ffi.new("struct urlweir_filter_options *", {
            "size": ffi.sizeof("struct urlweir_filter_options"), "kind": names[0],
            "capacity": capacity, "fpr": fpr, "memory": memory, "seed": names[1],
            "fixed": fixed})
        out = ffi.new("struct urlweir_filter **")
        need(lib.urlweir_filter_new(out, o), "a filter of that kind, size and rate")
        self._handle = ffi.gc(out[0], lib.urlweir_filter_free)

    @classmethod
    def open(cls, path, memory=0):
        """Reads a file of save() or of `urlweir filter`."""
        out = ffi.new("struct urlweir_filter **")
        need(lib.urlweir_filter_open(out, os.fsencode(path), memory), path)
        f = cls.__new__(cls)
        f._handle = ffi.gc(out[0], lib.urlweir_filter_free)
        return f

    def save(self, path):
        """Replaces the file whole."""
        need(lib.urlweir_filter_save(self._handle, os.fsencode(path)), path)

    def _change(self, how, keys):
        raws = [octets(k) for k in keys]
        array, _keep = many(raws)
        told = ffi.new("unsigned char[]", len(raws))
        return how(self._handle, array, len(raws), told), [bool(t) for t in told]

    def add(self, keys):
        """For each key: was it certainly new? An overfull filter takes them all,
        too; stats()["overfull"] says that its rate is no longer kept."""
        status, fresh = self._change(lib.urlweir_filter_add, keys)
        if status != lib.URLWEIR_LIMIT:
            need(status)
        return fresh

    def check(self, keys):
        """For each key: False, if it was certainly never added."""
        raws = [octets(k) for k in keys]
        array, _keep = many(raws)
        maybe = ffi.new("unsigned char[]", len(raws))
        lib.urlweir_filter_check(self._handle, array, len(raws), maybe)
        return [bool(m) for m in maybe]

    def __contains__(self, key):
        return self.check([key])[0]

    def remove(self, keys):
        """For each key: was it taken out? Keys that were never added may take
        others with them."""
        status, removed = self._change(lib.urlweir_filter_remove, keys)
        need(status, "remove")
        return removed

    def merge(self, other):
        need(lib.urlweir_filter_merge(self._handle, other._handle), "merge")

    def stats(self):
        s = lib.urlweir_filter_stats(self._handle)
        return {"kind": text_of(s.kind), **{name: getattr(s, name) for name in STATS}}


class Dedupe:
    """An exact set of URLs, or with octets=True of any lines, larger than memory.
    With `dir` it is kept: commit() after your new lines are written out. As a
    context manager it commits at the end, but not after an exception."""

    def __init__(self, dir=None, octets=False, memory=0):
        path = ffi.NULL if dir is None else ffi.new("char[]", os.fsencode(dir))
        o = ffi.new("struct urlweir_dedupe_options *", {
            "size": ffi.sizeof("struct urlweir_dedupe_options"), "dir": path, "octets": octets,
            "memory": memory})
        out = ffi.new("struct urlweir_dedupe **")
        self._handle = None
        need(lib.urlweir_dedupe_open(out, o), dir or "")
        self._handle, self._octets = out[0], octets

    def _open(self):
        if self._handle is None:
            raise Error(lib.URLWEIR_ARG, "the set is closed")
        return self._handle

    def take(self, lines):
        """For each line NEW, BEFORE or NO_URL; it is in the set afterwards. At most
        8192 lines. Calling it again says that the new lines of the call before
        are dealt with."""
        as_octets = octets if self._octets else url_octets
        raws = [as_octets(line) for line in lines]
        array, _keep = many(raws)
        seen = ffi.new("unsigned char[]", len(raws))
        need(lib.urlweir_dedupe_take(self._open(), array, len(raws), seen), "take")
        return list(seen)

    def new(self, lines):
        """Each line that is new, any number of them. One is dealt with when the next
        is asked for."""
        lines = iter(lines)
        while batch := list(islice(lines, lib.URLWEIR_DEDUPE_BATCH)):
            yield from (line for line, seen in zip(batch, self.take(batch)) if seen == NEW)

    def commit(self):
        need(lib.urlweir_dedupe_commit(self._open()))

    def __len__(self):
        return lib.urlweir_dedupe_stats(self._open()).count

    def close(self, commit=True):
        handle, self._handle = self._handle, None
        if handle is not None:
            need(lib.urlweir_dedupe_close(handle, commit))

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        self.close(commit=kind is None)

    def __del__(self):
        if getattr(self, "_handle", None) is not None:
            lib.urlweir_dedupe_close(self._handle, 0)
