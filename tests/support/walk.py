#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A slow crawler to hold the test web's truth against.

usage: walk.py SEED-URL [MOST-URLS]

It knows nothing of how the web is made: it asks for pages one after the other,
reads robots.txt, follows links and redirects by the rules of a default crawl,
and prints how many URLs it asked for. `site check` then compares the server's
log with the truth; a web whose truth were wrong would not pass.

Parsing is done by html5lib and ada_url where they are installed (profiles
variants and types need them), else by the standard library.
"""
import html.parser
import re
import socket
import sys
import urllib.parse
import zlib

try:
    import ada_url
    import html5lib
except ImportError:
    ada_url = html5lib = None

AGENT = "urlweir"
MAX_REDIRECTS = 5
FOLLOWED = {"a": "href", "area": "href", "iframe": "src", "link": "href"}


# ---- URLs ------------------------------------------------------------------

def in_encoding(ref, encoding):
    """The query as a page of that encoding means it (URL Standard,
    percent-encode after encoding)."""
    m = re.match(r"([^?#]*\?)([^#]*)(.*)", ref, re.S)
    if not m or encoding.lower().startswith("utf"):
        return ref
    query = ""
    for c in m[2]:
        try:
            octets = c.encode(encoding)
        except UnicodeEncodeError:
            octets = b"%%26%%23%d%%3B" % ord(c)
        query += "".join(chr(o) if o < 128 else "%%%02X" % o for o in octets)
    return m[1] + query + m[3]


def canonical(ref, base, encoding="utf-8"):
    """The canonical form of RULES.md C1 to C6, or None."""
    if ada_url:
        ref = in_encoding(ref, encoding)
        try:
            url = ada_url.URL(ref, base=base) if base else ada_url.URL(ref)
        except ValueError:
            return None
        if url.protocol != "http:":
            return None
        origin, path, query = "http://" + url.host, url.pathname, url.search
        path = unescape(path)
        path = ada_url.URL(origin + path).pathname
        query = unescape(query)
        return origin + path + ("" if query == "?" else query)
    ref = ref.strip()
    url = urllib.parse.urldefrag(urllib.parse.urljoin(base, ref))[0]
    if not url.startswith("http://"):
        return None
    return url if "/" in url[7:] else url + "/"


def unescape(s):
    """C3: escapes of unreserved octets decoded, the others in capitals."""
    while True:
        before = s
        s = re.sub(r"%([0-9A-Fa-f]{2})", lambda m: chr(int(m[1], 16))
                   if re.match(r"[A-Za-z0-9._~-]", chr(int(m[1], 16)))
                   else "%" + m[1].upper(), s)
        if s == before:
            return s


# ---- pages -----------------------------------------------------------------

class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.elements = []

    def handle_starttag(self, tag, attrs):
        first = {}
        for name, value in attrs:
            first.setdefault(name, value or "")
        self.elements.append((tag, first))


def elements_of(body, charset):
    if html5lib:
        kwargs = {"transport_encoding": charset} if charset else {}
        parser = html5lib.HTMLParser(namespaceHTMLElements=False)
        tree = parser.parse(body, **kwargs)
        return [(e.tag, e.attrib) for e in tree.iter()
                if isinstance(e.tag, str)], parser.documentEncoding
    parser = Links()
    parser.feed(body.decode(charset or "utf-8", "replace"))
    return parser.elements, "utf-8"


def links_of(body, charset, url):
    """(links to follow, page says nofollow)"""
    elements, encoding = elements_of(body, charset)
    base, found, nofollow = url, [], False
    for tag, attrs in elements:
        if tag == "base" and "href" in attrs:
            base = canonical(attrs["href"], url) or url
            break
    for tag, attrs in elements:
        if tag == "meta":
            name = attrs.get("name", "").lower()
            content = attrs.get("content", "")
            if name in ("robots", AGENT):
                nofollow |= bool({"nofollow", "none"} & set(
                    re.split(r"[\s,]+", content.lower())))
            if attrs.get("http-equiv", "").lower() == "refresh":
                m = re.match(r"[\d.\s]*[;,]\s*url=(.*)", content, re.I)
                if m:
                    found.append(canonical(m[1], base, encoding))
        ref = attrs.get(FOLLOWED.get(tag, ""), "")
        rel = attrs.get("rel", "").lower().split()
        if tag == "link" and "stylesheet" in rel or "nofollow" in rel:
            continue
        if tag in FOLLOWED and ref:
            found.append(canonical(ref, base, encoding))
    return [u for u in found if u], nofollow


# ---- HTTP ------------------------------------------------------------------

class Host:
    """One kept connection, one request at a time."""

    def __init__(self, address, port):
        self.where, self.sock, self.left = (address, port), None, b""

    def close(self):
        if self.sock:
            self.sock.close()
        self.sock, self.left = None, b""

    def more(self):
        data = self.sock.recv(65536)
        if not data:
            raise OSError("closed")
        self.left += data

    def take(self, n):
        while len(self.left) < n:
            self.more()
        data, self.left = self.left[:n], self.left[n:]
        return data

    def line(self):
        while b"\n" not in self.left:
            if len(self.left) > 200000:
                raise OSError("long line")
            self.more()
        data, self.left = self.left.split(b"\n", 1)
        return data.rstrip(b"\r")

    def head(self):
        status = re.match(rb"HTTP/1\.([01]) (\d{3})", self.line())
        if not status:
            raise OSError("no status line")
        fields, size = {}, 0
        while line := self.line():
            size += len(line)
            name, _, value = line.partition(b":")
            key, value = name.decode().lower(), value.strip().decode("latin-1")
            if key == "content-length" and fields.get(key, value) != value:
                raise OSError("two lengths")
            old = fields.get(key)
            fields[key] = value if old is None else old + ", " + value
            if size > 100000 or len(fields) > 1000:
                raise OSError("long head")
        return status[1] == b"1", int(status[2]), fields

    def body(self, status, fields, keep):
        if status in (204, 304):
            return b"", keep
        if fields.get("transfer-encoding", "").lower() == "chunked":
            data = b""
            while (n := int(self.line().split(b";")[0], 16)) > 0:
                if n < 0 or n > 1 << 30:
                    raise OSError("chunk")
                data += self.take(n)
                if len(data) > 4 << 20:
                    raise OSError("long body")
                if self.take(2) != b"\r\n":
                    raise OSError("chunk")
            while self.line():
                pass
            return data, keep
        if "content-length" in fields:
            if not fields["content-length"].isdigit():
                raise OSError("length")
            return self.take(int(fields["content-length"])), keep
        data = self.left
        while piece := self.sock.recv(65536):
            data += piece
            if len(data) > 4 << 20:
                break
        return data, False

    def get(self, path):
        if not self.sock:
            self.sock = socket.create_connection(self.where, timeout=30)
        try:
            self.sock.sendall(
                b"GET %s HTTP/1.1\r\nHost: %s:%d\r\nUser-Agent: %s\r\n"
                b"Accept-Encoding: gzip, deflate\r\n\r\n"
                % (path.encode(), self.where[0].encode(), self.where[1],
                   AGENT.encode()))
            status = 100
            while 100 <= status < 200:
                keep, status, fields = self.head()
            body, keep = self.body(status, fields, keep)
            for coding in reversed(
                    fields.get("content-encoding", "").split(", ")):
                if coding in ("gzip", "deflate"):
                    body = zlib.decompressobj(47).decompress(body, 4 << 20)
        except (OSError, ValueError, zlib.error):
            self.close()
            raise OSError("failed") from None
        if not keep or fields.get("connection") == "close":
            self.close()
        return status, fields, body


# ---- robots ----------------------------------------------------------------

def parse_robots(text):
    groups, agents, fresh = {}, [], True
    for line in re.split(r"[\r\n]+", text.removeprefix("\ufeff")):
        key, colon, value = line.split("#")[0].partition(":")
        key, value = key.strip().lower(), value.strip()
        if not colon:
            continue
        if key == "user-agent":
            agents = agents if fresh else []
            fresh = True
            agents.append(re.match(r"[a-z_-]*", value.lower())[0] or "*")
            groups.setdefault(agents[-1], [])
        elif key in ("allow", "disallow"):
            fresh = False
            for agent in agents:
                if value:
                    groups[agent].append((key == "allow", value))
    return groups.get(AGENT, groups.get("*", []))


def may_ask(rules, path):
    best = (0, True)
    for allow, pattern in rules:
        end = "$" if pattern.endswith("$") else ""
        text = "".join(".*" if c == "*" else re.escape(c)
                       for c in unescape(pattern.removesuffix("$")))
        if re.match(text + end, path):
            best = max(best, (len(pattern), allow))
    return best[1]


# ---- the walk --------------------------------------------------------------

class Walk:
    tries = 3

    def __init__(self, most):
        self.most, self.hosts, self.rules, self.asked = most, {}, {}, 0

    def fetch(self, url, tries):
        """(status, fields, body), or None when all tries failed."""
        m = re.match(r"http://([^/:]+)(?::(\d+))?(/.*)", url)
        key = (m[1], int(m[2] or 80))
        host = self.hosts.setdefault(key, Host(*key))
        answer = None
        for _ in range(tries):
            try:
                answer = host.get(m[3])
            except OSError:
                answer = None
                continue
            if answer[0] != 429 and answer[0] < 500:
                break
        if len(self.hosts) > 500:
            host.close()
        return answer

    def robots(self, url):
        origin = re.match(r"http://[^/]+", url)[0]
        if origin not in self.rules:
            at = origin + "/robots.txt"
            for _ in range(6):
                answer = self.fetch(at, self.tries)
                if answer is None or answer[0] not in (301, 302, 307, 308):
                    break
                at = canonical(answer[1]["location"], at)
            if answer is None or answer[0] >= 500 or answer[0] == 429:
                self.rules[origin] = [(False, "/")]
            elif answer[0] >= 300:
                self.rules[origin] = []
            else:
                self.rules[origin] = parse_robots(answer[2].decode())
        return self.rules[origin]

    def read(self, url, hops):
        """Ask for one URL; the URLs it leads to, with their hops."""
        answer = self.fetch(url, self.tries)
        self.asked += 1
        if answer is None:
            return []
        status, fields, body = answer
        if status in (301, 302, 303, 307, 308) and "location" in fields:
            target = canonical(fields["location"], url)
            return [(target, hops + 1)] if target and hops < MAX_REDIRECTS \
                else []
        kind = fields.get("content-type", "")
        if status != 200 or not re.match(r"(text/html|application/xhtml)",
                                         kind):
            return []
        charset = re.search(r"charset=\"?([\w-]+)", kind)
        links, nofollow = links_of(body, charset and charset[1], url)
        for part in fields.get("x-robots-tag", "").lower().split(", "):
            agent, colon, rule = part.rpartition(":")
            nofollow |= (not colon or agent == AGENT) and \
                rule.strip() in ("nofollow", "none")
        return [] if nofollow else [(u, 0) for u in links]

    def run(self, seed):
        todo, seen = [(seed, 0)], {seed}
        for url, hops in todo:
            if self.asked == self.most:
                return
            path = re.sub(r"http://[^/]+", "", url)
            if not may_ask(self.robots(url), unescape(path)):
                continue
            for link in self.read(url, hops):
                if link[0] not in seen:
                    seen.add(link[0])
                    todo.append(link)


if __name__ == "__main__":
    walk = Walk(int(sys.argv[2]) if len(sys.argv) > 2 else -1)
    walk.run(sys.argv[1])
    print("asked", walk.asked)
