#!/usr/bin/env python3
"""Lists the requests that wait in a JOBDIR of Scrapy, for urlweir import.

usage: jobdir.py JOBDIR >waiting.txt    urlweir import --from list waiting.txt

    requests.queue/[SLOT/]PRIORITY[s]         a LIFO file
    requests.queue/[SLOT/]PRIORITY[s]/qNNNNN  FIFO files; info.json tells which
                                              request is the first
    requests.queue/active.json                priorities in use
    requests.seen                             fingerprints of all requests

The files are those of queuelib, numbers big-endian:

    LIFO  4 octets, how many there were when it was closed; then for each
          request its octets and, in 4 octets, how many they are
    FIFO  for each request 4 octets, how many it has, and its octets

A LIFO file is made to be read from its end. This reads from its start, since a
process that was killed left the end unwritten: a serialized request shows its
own end, and its length behind it confirms that. Fingerprints are SHA-1 and tell
no URLs, so that only what waits can be listed.

A request is a dictionary (Request.to_dict), as a pickle or by marshal. A pickle
can call any function of Python: here no class and no function is looked up, and
what is made of them is an object without a behaviour. Links are not followed,
and memory does not grow with the files.

Exit status: 0, 2 if JOBDIR cannot be read, 5 if something in it was refused.
"""
import io
import json
import os
import pickle
import re
import stat
import struct
import sys

REQUEST_MOST = 1 << 20  # octets of a request
BLOCK = 4 << 20  # octets of a file that are read at once
DEPTH_MOST = 3  # requests.queue, slot, FIFO
BAD_MOST = 100  # requests that cannot be read before a LIFO file is given up
NESTED_MOST = 100
CUT = "the queue is cut short or damaged from here"
NO_REQUEST = "not a request as Scrapy writes it"


class Refused(Exception):
    pass


# ---- a request ----


class Inert:
    """Whatever a pickle names: it takes all arguments and does nothing."""

    def __init__(self, *args, **kwargs):
        pass

    def __setstate__(self, state):
        pass

    def __call__(self, *args, **kwargs):
        return Inert()

    def __setitem__(self, key, value):
        pass

    def append(self, value):
        pass

    def extend(self, values):
        pass

    add = append


class Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        return Inert

    def persistent_load(self, pid):
        return None


class Marshal:
    """Marshal's versions 2 to 5, without code objects. The standard library's
    own reader is not made for octets of strangers."""

    def __init__(self, file):
        self.file = file
        self.refs = []

    def take(self, form):
        return struct.unpack(form, self.octets(struct.calcsize(form)))[0]

    def octets(self, n):
        if not 0 <= n <= REQUEST_MOST:
            raise Refused(NO_REQUEST)
        data = self.file.read(n)
        if len(data) < n:
            raise EOFError
        return data

    def sequence(self, count, nested):
        if not 0 <= count <= REQUEST_MOST:
            raise Refused(NO_REQUEST)
        return [self.value(nested + 1) for _ in range(count)]

    def value(self, nested=0):
        if nested > NESTED_MOST:
            raise Refused(NO_REQUEST)
        code = self.octets(1)[0]
        kind = chr(code & 0x7F)
        place = None
        if code & 0x80:  # it may be referred to
            place = len(self.refs)
            self.refs.append(None)
        value = self.plain(kind, nested)
        if place is not None:
            self.refs[place] = value
        return value

    def plain(self, kind, nested):
        if kind in "NSTF.":
            return {"T": True, "F": False}.get(kind)
        if kind == "i":
            return self.take("<i")
        if kind == "l":
            self.octets(2 * abs(self.take("<i")))
            return 0
        if kind in "gy":
            return self.octets(8 if kind == "g" else 16)
        if kind == "s":
            return self.octets(self.take("<i"))
        if kind in "ut":
            return self.octets(self.take("<i")).decode("utf-8", "surrogatepass")
        if kind in "aA":
            return self.octets(self.take("<i")).decode("latin-1")
        if kind in "zZ":
            return self.octets(self.take("B")).decode("latin-1")
        if kind == ")":
            return self.sequence(self.take("B"), nested)
        if kind in "([<>":
            return self.sequence(self.take("<i"), nested)
        if kind == "r":
            at = self.take("<I")
            if at >= len(self.refs):
                raise Refused(NO_REQUEST)
            return self.refs[at]
        if kind == "{":
            return self.dictionary(nested)
        raise Refused(NO_REQUEST)

    def dictionary(self, nested):
        out = {}
        while self.octets(1) != b"0":
            self.file.seek(-1, os.SEEK_CUR)
            key, value = self.value(nested + 1), self.value(nested + 1)
            if isinstance(key, str):
                out[key] = value
        return out


def read_request(file):
    """The request that begins here; the file is then behind it. EOFError: it
    goes on after the end."""
    first = file.read(1)
    if not first:
        raise EOFError
    file.seek(-1, os.SEEK_CUR)
    if first == b"\x80":
        try:
            request = Unpickler(file).load()
        except (EOFError, Refused):
            raise
        except Exception as e:  # a pickle that is none may raise anything
            if "truncated" in str(e) or "ran out" in str(e):
                raise EOFError
            raise Refused(NO_REQUEST)
    else:
        request = Marshal(file).value()
    if not isinstance(request, dict):
        raise Refused(NO_REQUEST)
    return request


# ---- a file ----


class Listing:
    def __init__(self, out, err):
        self.out, self.err = out, err
        self.waiting = self.other = self.refused = 0

    def refuse(self, path, at, why):
        self.refused += 1
        name = os.fsencode(path).decode("utf-8", "backslashreplace")
        name = "".join(c if c.isprintable() else "\\x%02x" % ord(c) for c in name)
        self.err.write(f"jobdir: {name}:{at}: {why}\n")

    def take(self, path, at, request):
        url, method = request.get("url"), request.get("method", "GET")
        if not isinstance(url, str):
            self.refuse(path, at, "a request without a URL")
        elif method != "GET":
            self.other += 1
        elif re.search(r"[\x00-\x20\x7f]", url):
            self.refuse(path, at, "a URL with a blank or a control character")
        else:
            self.waiting += 1
            self.out.write(url.encode("utf-8", "surrogateescape")
                           + b"\twaiting\n")


def request_of_lifo(buffer):
    """A whole request with its length behind it."""
    begin = buffer.tell()
    request = read_request(buffer)
    size = buffer.tell() - begin
    behind = buffer.read(4)
    if len(behind) < 4:
        raise EOFError
    if size > REQUEST_MOST or struct.unpack(">L", behind)[0] != size:
        raise Refused(NO_REQUEST)
    return request


def search_end(data):
    """Behind the first request of these octets, one that cannot be read: its
    length follows, then the end or another one. None: nowhere."""
    for size in range(1, min(len(data), REQUEST_MOST) - 3):
        if struct.unpack_from(">L", data, size)[0] != size:
            continue
        if size + 4 == len(data) or data[size + 4] in b"\x80\xfb{":
            return size + 4
    return None


def list_lifo(listing, path, file):
    file.seek(4)
    buffer = io.BytesIO(file.read(BLOCK))
    at = bad = 0
    while True:
        begin = buffer.tell()
        try:
            request = request_of_lifo(buffer)
        except (EOFError, Refused) as e:
            rest = buffer.getvalue()[begin:]
            more = file.read(BLOCK) if len(rest) <= REQUEST_MOST + 4 else b""
            if more:
                buffer = io.BytesIO(rest + more)
                continue
            if not rest:
                return
            at += 1
            bad += 1
            end = search_end(rest) if bad <= BAD_MOST else None
            if end is None:
                listing.refuse(path, at, CUT)
                return
            listing.refuse(path, at, str(e) or NO_REQUEST)
            buffer.seek(begin + end)
            continue
        at += 1
        listing.take(path, at, request)


def list_fifo(listing, path, file, begin):
    file.seek(begin)
    at = 0
    while head := file.read(4):
        at += 1
        size = struct.unpack(">L", head)[0] if len(head) == 4 else 0
        data = file.read(size) if 0 < size <= REQUEST_MOST else b""
        if not data or len(data) < size:
            listing.refuse(path, at, CUT)
            return
        buffer = io.BytesIO(data)
        try:
            request = read_request(buffer)
            if buffer.tell() != size:
                raise Refused(NO_REQUEST)
        except (EOFError, Refused):
            listing.refuse(path, at, NO_REQUEST)
            continue
        listing.take(path, at, request)


# ---- directories ----


def first_of_fifo(directory):
    """{"chunksize": 100000, "size": 5, "tail": [0, 1, 373], "head": [0, 6]}: the
    tail is the file that is read, the requests and the octets taken of it. A
    process that was killed left none or an older one; then requests come that
    were taken already."""
    try:
        with open(os.path.join(directory, "info.json"), encoding="utf-8") as f:
            chunk, _, octets = json.loads(f.read(4096))["tail"]
        return max(int(chunk), 0), max(int(octets), 0)
    except (OSError, ValueError, KeyError, TypeError):
        return 0, 0


def list_file(listing, path, name, file, first):
    chunk = re.fullmatch(r"q([0-9]+)", name)
    if chunk:
        number = int(chunk[1])
        if number >= first[0]:
            list_fifo(listing, path, file,
                      first[1] if number == first[0] else 0)
    elif not re.fullmatch(r"-?[0-9]+s?", name):
        listing.refuse(path, 0, "not a file of a disk queue")
    elif file.peek(16).startswith(b"SQLite format 3\0"):
        listing.refuse(path, 0, "a queue in SQLite is not read")
    else:
        list_lifo(listing, path, file)


def list_entry(listing, path, name, depth, first):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        listing.refuse(path, 0, "it cannot be opened")
        return
    kind = os.fstat(fd).st_mode
    if stat.S_ISREG(kind):
        with open(fd, "rb") as file:
            list_file(listing, path, name, file, first)
        return
    os.close(fd)
    if stat.S_ISDIR(kind) and depth < DEPTH_MOST:
        list_directory(listing, path, depth + 1)
    else:
        listing.refuse(path, 0,
                       "neither a file nor a directory of a disk queue")


def list_directory(listing, path, depth):
    first = first_of_fifo(path)
    for name in sorted(os.listdir(path)):
        if name[0] != "." and name not in ("active.json", "info.json"):
            list_entry(listing, os.path.join(path, name), name, depth, first)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: jobdir.py JOBDIR >waiting.txt")
    top = sys.argv[1]
    queue = os.path.join(top, "requests.queue")
    listing = Listing(sys.stdout.buffer, sys.stderr)
    try:
        list_directory(listing, queue if os.path.isdir(queue) else top, 1)
        listing.out.flush()
    except OSError as e:
        print(f"jobdir: {e.strerror}: {e.filename}", file=sys.stderr)
        sys.exit(2)
    print(f"jobdir: {listing.waiting} requests wait, {listing.other} are not "
          f"for pages, {listing.refused} refused", file=sys.stderr)
    if os.path.exists(os.path.join(top, "requests.seen")):
        print("jobdir: what Scrapy has fetched is known only by fingerprints, "
              "which tell no URLs; pages of it that are found again will be "
              "fetched again", file=sys.stderr)
    sys.exit(5 if listing.refused else 0)


if __name__ == "__main__":
    main()
