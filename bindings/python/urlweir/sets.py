"""Filters and exact dedupe."""
import os
import threading
from contextlib import contextmanager
from itertools import islice

from ._text import Error, c_text, each, many, need, octets, text_of, url_octets
from ._urlweir import ffi, lib

BEFORE, NEW, NO_URL = lib.URLWEIR_BEFORE, lib.URLWEIR_NEW, lib.URLWEIR_NO_URL
STATS = ("count", "capacity", "bits", "key_bits", "fpr_promised", "fpr_predicted", "overfull",
         "lost")


def _path(path):
    return c_text(os.fsencode(path))


class _Owned:
    """What a handle needs that threads share: calls leave the interpreter's lock,
    and the library has none. Reentrant, since a signal handler runs between two
    calls of its thread, which may hold it.

    After os.fork() a child's copy may have been made in the middle of a thread's
    call, with that thread's lock held; so it is the parent's."""

    def _own(self, handle):
        self._handle, self._lock, self._pid = handle, threading.RLock(), os.getpid()

    @contextmanager
    def _held(self):
        if os.getpid() != self._pid:
            raise Error(lib.URLWEIR_BUSY, "it belongs to process %d, which made it" % self._pid)
        with self._lock:
            if self._handle is None:
                raise Error(lib.URLWEIR_ARG, "the set is closed")
            yield self._handle


class Filter(_Owned):
    """A set of keys, each str or bytes, in a few bits each. `kind`: scalable,
    bloom, stacked, counting or cuckoo; the last two can remove. `ttl`: a key is
    forgotten between so many seconds and half as many more after it was added
    last; 0: never. Threads may share it; a child process may not."""

    def __init__(self, capacity, fpr=0.001, kind="scalable", memory=0, seed=None, fixed=False,
                 ttl=0):
        names = [ffi.new("char[]", c_text(octets(kind))),
                 ffi.NULL if seed is None else ffi.new("char[]", c_text(octets(seed)))]
        o = ffi.new("struct urlweir_filter_options *", {
            "size": ffi.sizeof("struct urlweir_filter_options"), "kind": names[0],
            "capacity": capacity, "fpr": fpr, "memory": memory, "seed": names[1],
            "fixed": fixed, "ttl": ttl})
        out = ffi.new("struct urlweir_filter **")
        need(lib.urlweir_filter_new(out, o), "a filter of that kind, size and rate")
        self._own(ffi.gc(out[0], lib.urlweir_filter_free))

    @classmethod
    def open(cls, path, memory=0):
        """Reads a file of save() or of `urlweir filter`."""
        out = ffi.new("struct urlweir_filter **")
        need(lib.urlweir_filter_open(out, _path(path), memory), path)
        f = cls.__new__(cls)
        f._own(ffi.gc(out[0], lib.urlweir_filter_free))
        return f

    def save(self, path):
        """Replaces the file whole."""
        raw = _path(path)
        with self._held() as handle:
            need(lib.urlweir_filter_save(handle, raw), path)

    def set_ttl(self, seconds):
        """From now on keys are kept for so long, those that are there, too."""
        with self._held() as handle:
            need(lib.urlweir_filter_set_ttl(handle, seconds), "it has no ttl, or not that one")

    def _ask(self, how, keys, of):
        raws = [octets(k) for k in each(keys)]
        array, _keep = many(raws)
        told = ffi.new("unsigned char[]", len(raws))
        raw = None if of is None else octets(of)
        name = ffi.NULL if raw is None else ffi.from_buffer(raw)
        with self._held() as handle:
            need(lib.urlweir_filter_set_name(handle, (name, len(raw or b""))), "of")
            status = how(handle, array, len(raws), told)
        return status, [bool(t) for t in told]

    def add(self, keys, of=None):
        """For each key: was it certainly new? An overfull filter takes them all,
        too; stats()["overfull"] says that its rate is no longer kept. `of`, here
        and below: the user or tenant whose keys they are; a key of one is no key
        of another."""
        status, fresh = self._ask(lib.urlweir_filter_add, keys, of)
        if status != lib.URLWEIR_LIMIT:
            need(status)
        return fresh

    def check(self, keys, of=None):
        """For each key: False, if it was certainly never added."""
        return self._ask(lib.urlweir_filter_check, keys, of)[1]

    def __contains__(self, key):
        return self.check([key])[0]

    def remove(self, keys, of=None):
        """For each key: was it taken out? Keys that were never added may take
        others with them."""
        status, removed = self._ask(lib.urlweir_filter_remove, keys, of)
        need(status, "remove")
        return removed

    def merge(self, other):
        """Adds all that `other` holds."""
        first, second = sorted((self, other), key=id) # two that merge each other
        with first._held(), second._held():
            need(lib.urlweir_filter_merge(self._handle, other._handle), "merge")

    def stats(self):
        with self._held() as handle:
            s = lib.urlweir_filter_stats(handle)
            return {"kind": text_of(s.kind), **{name: getattr(s, name) for name in STATS}}


class Dedupe(_Owned):
    """An exact set of URLs, or with octets=True of any lines, larger than memory.
    With `dir` it is kept: commit() after your new lines are written out. As a
    context manager it commits at the end, but not after an exception. Threads may
    share it; a child process may not, and closing it there changes nothing."""

    def __init__(self, dir=None, octets=False, memory=0):
        self._handle = None
        path = ffi.NULL if dir is None else ffi.new("char[]", _path(dir))
        o = ffi.new("struct urlweir_dedupe_options *", {
            "size": ffi.sizeof("struct urlweir_dedupe_options"), "dir": path, "octets": octets,
            "memory": memory})
        out = ffi.new("struct urlweir_dedupe **")
        need(lib.urlweir_dedupe_open(out, o), dir or "")
        self._own(out[0])
        self._octets = octets

    def take(self, lines):
        """For each line NEW, BEFORE or NO_URL; it is in the set afterwards. At most
        8192 lines. Calling it again says that the new lines of the call before
        are dealt with: threads that share a set and need that for commit() have
        to see to it together."""
        as_octets = octets if self._octets else url_octets
        raws = [as_octets(line) for line in each(lines)]
        array, _keep = many(raws)
        seen = ffi.new("unsigned char[]", len(raws))
        with self._held() as handle:
            need(lib.urlweir_dedupe_take(handle, array, len(raws), seen), "take")
        return list(seen)

    def new(self, lines):
        """Each line that is new, any number of them. One is dealt with when the next
        is asked for."""
        lines = iter(each(lines))
        while batch := list(islice(lines, lib.URLWEIR_DEDUPE_BATCH)):
            yield from (line for line, seen in zip(batch, self.take(batch)) if seen == NEW)

    def commit(self):
        with self._held() as handle:
            need(lib.urlweir_dedupe_commit(handle))

    def __len__(self):
        with self._held() as handle:
            return lib.urlweir_dedupe_stats(handle).count

    def close(self, commit=True):
        if self._handle is None:
            return
        # In a child another thread's lock is held for ever.
        with self._lock if os.getpid() == self._pid else threading.RLock():
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
