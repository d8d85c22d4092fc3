#!/usr/bin/env python3
"""A strict reader of WARC 1.1 (ISO 28500:2017): strict_warc.py [--cdxj INDEX] [--prove] FILE...

Written from the standard with nothing but Python's own library, so that what it accepts was not made to fit it. Every
rule that is broken is a line on stderr, with the file, the place and the section; exit status 1. --prove plants one
fault after another in the first file and ends with 1 if one is not seen.
"""
import base64
import datetime
import hashlib
import ipaddress
import json
import os
import re
import sys
import zlib

TOKEN = re.compile(rb"[!#$%&'*+\-.0-9A-Z^_`a-z|~]+\Z")
DATE = re.compile(r'(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?Z\Z')
UUID4 = re.compile(r'<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}>\Z')
NAME = re.compile(r'[\w.%-]+-\d{17}-\d{5}-[\w.-]+\.warc\.gz\Z')
SAME = 'http://netpreserve.org/warc/1.1/revisit/identical-payload-digest'
NOT_MODIFIED = 'http://netpreserve.org/warc/1.1/revisit/server-not-modified'
TYPES = {'warcinfo', 'response', 'resource', 'request', 'metadata', 'revisit', 'conversion', 'continuation'}
WITH_URI = TYPES - {'warcinfo', 'metadata'}
REPEATABLE = {'warc-concurrent-to'}
ONCE = ('warc-record-id', 'content-length', 'warc-date', 'warc-type')


class Fault(Exception):
    """The rule that was broken."""


def need(truth, rule):
    if not truth:
        raise Fault(rule)


# ---- members and records ----

def members(data):
    """(offset, length, plain) of each gzip member, nothing between them (Annex D.2)."""
    at = 0
    while at < len(data):
        need(data[at:at + 2] == b'\x1f\x8b', 'D: no gzip member begins at %d' % at)
        d = zlib.decompressobj(31)
        try:
            plain = d.decompress(data[at:])
        except zlib.error as e:
            raise Fault('D: the gzip member at %d is damaged: %s' % (at, e))
        need(d.eof, 'D: the gzip member at %d is torn' % at)
        length = len(data) - at - len(d.unused_data)
        yield at, length, plain
        at += length


class Record:
    def __init__(self, plain):
        end = plain.find(b'\r\n\r\n')
        need(end >= 0, '4: no end of the header')
        lines = plain[:end].split(b'\r\n')
        need(lines[0] == b'WARC/1.1', '4: no version line of WARC/1.1')
        self.fields = {}
        for line in lines[1:]:
            name, colon, value = line.partition(b':')
            need(colon and TOKEN.match(name), '4: no named field: %r' % line[:60])
            need(not re.search(rb'[\x00-\x08\x0a-\x1f\x7f]', value), '4: a control character in a value: %r' % line[:60])
            try:
                value = value.decode('utf-8').strip(' \t')
            except UnicodeDecodeError:
                raise Fault('4: a value is not UTF-8: %r' % line[:60])
            key = name.decode('ascii').lower()
            need(key not in self.fields or key in REPEATABLE, '5: %s twice' % key)
            self.fields.setdefault(key, []).append(value)
        for key in ONCE:
            need(key in self.fields, '5: no %s' % key)
        need(re.match(r'\d+\Z', self['content-length']), '5.3: Content-Length is no number')
        length = int(self['content-length'])
        self.block = plain[end + 4:end + 4 + length]
        need(len(self.block) == length, '5.3: the block is shorter than Content-Length')
        need(plain[end + 4 + length:] == b'\r\n\r\n', '4: the block is not followed by two line ends and nothing else')
        self.type = self['warc-type']
        self.id = self['warc-record-id']

    def __getitem__(self, key):
        return self.fields.get(key, [None])[0]


def digest_of(named, octets):
    algorithm, colon, value = named.partition(':')
    need(colon and algorithm in ('sha1', 'sha256'), '5.8: not a digest we know: %s' % named)
    need(value == base64.b32encode(hashlib.new(algorithm, octets).digest()).decode(), '5.8: the digest is another')


def check_date(text):
    m = DATE.match(text)
    need(m, '5.4: not a date: %s' % text)
    when = datetime.datetime(*map(int, m.groups()[:6]), tzinfo=datetime.timezone.utc)
    now = datetime.datetime.now(datetime.timezone.utc)
    need(when <= now + datetime.timedelta(seconds=2), '5.4: in the future: %s' % text)
    need(when.year >= 2020, '5.4: long ago: %s' % text)


def check_uri(text):
    need(text and re.match(r'https?://[!-;=?-~]+\Z', text), '5.12: not a URI: %r' % text)


def check_fields_block(block):
    """application/warc-fields: named fields, and no end line needed."""
    need(block.endswith(b'\r\n'), '8: warc-fields do not end in CRLF')
    out = []
    for line in block[:-2].split(b'\r\n'):
        name, colon, value = line.partition(b':')
        need(colon and TOKEN.match(name) and not re.search(rb'[\x00-\x1f\x7f]', value), '8: no named field: %r' % line[:60])
        out.append((name.decode(), value.decode('utf-8').strip()))
    return out


# ---- HTTP messages ----

def http_head(block, what):
    end = block.find(b'\r\n\r\n')
    need(end >= 0, '%s: no end of the HTTP head' % what)
    lines = block[:end].split(b'\r\n')
    fields = []
    for line in lines[1:]:
        name, colon, value = line.partition(b':')
        need(colon and name.strip() == name and b'\n' not in line and b'\r' not in line, '%s: no field: %r' % (what, line[:60]))
        fields.append((name.decode('latin-1').lower(), value.strip().decode('latin-1')))
    return lines[0], fields, block[end + 4:]


def check_response(r):
    first, fields, body = http_head(r.block, '6.3')
    m = re.match(rb'HTTP/1\.[01] (\d{3}) ?', first)
    need(m, '6.3: no status line of HTTP/1: %r' % first[:40])
    status = int(m.group(1))
    need(status >= 200, '6.3: an interim answer')
    get = dict(fields).get
    need(get('transfer-encoding') is None, '6.3: Transfer-Encoding over a body that is not chunked')
    lengths = {v for k, v in fields if k == 'content-length'}
    if r.type == 'response' and status not in (204, 304):
        need(lengths == {str(len(body))}, '6.3: Content-Length %s over %d octets' % (lengths, len(body)))
    if r.type == 'revisit':
        need(body == b'', '6.7: a payload in a revisit')
    coding = get('content-encoding')
    if r.type == 'response' and coding in ('gzip', 'x-gzip') and body and not r['warc-truncated']:
        need(body[:2] == b'\x1f\x8b', '6.3: Content-Encoding: gzip over a body that is none')
    need(not any(k.startswith(':') for k, v in fields), '6.3: a pseudo header of HTTP/2')
    return body


def check_request(r):
    first, fields, body = http_head(r.block, '6.5')
    need(re.match(rb'[A-Z]+ \S+ HTTP/1\.[01]\Z', first), '6.5: no request line: %r' % first[:60])
    need('host' in dict(fields), '6.5: no Host')
    need('proxy-authorization' not in dict(fields), '6.5: a secret of the crawler')
    need(body == b'', '6.5: a body')


def check_metadata(r):
    fields = check_fields_block(r.block)
    names = [k for k, v in fields]
    get = dict(fields).get
    need(names.count('fetchTimeMs') == 1 and re.match(r'\d+\Z', get('fetchTimeMs')), '6.6: fetchTimeMs')
    need(names.count('hopsFromSeed') == 1 and re.match(r'(\d+\+)?[LERMSPXI]*\Z', get('hopsFromSeed')), '6.6: hopsFromSeed')
    need((get('hopsFromSeed') == '') == ('via' not in names), '6.6: via is missing, or of a seed')
    for k, v in fields:
        if k == 'via':
            check_uri(v)
        if k == 'outlink':
            parts = v.split(' ')
            need(len(parts) == 3 and re.match(r'[LERMSXI]\Z', parts[1]), '6.6: outlink: %r' % v)
            check_uri(parts[0])


# ---- one record, its file, all files ----

def check_alone(r):
    need(r.type in TYPES, '5.5: no type we know: %s' % r.type)
    need(UUID4.match(r.id), '5.2: not a random UUID: %s' % r.id)
    check_date(r['warc-date'])
    if r.type in WITH_URI or r['warc-target-uri'] is not None:
        need(r.type != 'warcinfo', '5.12: a warcinfo record has no target')
        check_uri(r['warc-target-uri'])
    need((r.type == 'revisit') == (r['warc-profile'] is not None), '5.16: WARC-Profile')
    need(r.type == 'warcinfo' or r['warc-filename'] is None, '5.15: WARC-Filename outside warcinfo')
    need(r.type in ('warcinfo',) or r['warc-warcinfo-id'] is not None, '5.14: no WARC-Warcinfo-ID')
    need(not (r.type == 'warcinfo' and r['warc-warcinfo-id']), '5.14: a warcinfo record of a warcinfo record')
    need(r['warc-truncated'] in (None, 'length', 'time', 'disconnect', 'unspecified'), '5.13: WARC-Truncated')
    need(r['warc-segment-number'] is None, '7: segments')
    if r['warc-ip-address'] is not None:
        need(r.type in ('response', 'resource', 'request', 'metadata', 'revisit'), '5.10: WARC-IP-Address')
        ipaddress.ip_address(r['warc-ip-address'])
    need(r['content-type'], '5.6: no Content-Type')
    need(r['warc-block-digest'], '5.8: no block digest')
    digest_of(r['warc-block-digest'], r.block)


def check_kind(r):
    want = {'warcinfo': 'application/warc-fields', 'metadata': 'application/warc-fields',
            'request': 'application/http;msgtype=request', 'response': 'application/http;msgtype=response',
            'revisit': 'application/http;msgtype=response'}
    need(r['content-type'].replace(' ', '') == want.get(r.type), '5.6: Content-Type %s' % r['content-type'])
    if r.type == 'warcinfo':
        names = dict(check_fields_block(r.block))
        need('software' in names and names.get('format', '').lower() == 'warc file format 1.1', '6.2: software and format')
    elif r.type == 'request':
        check_request(r)
    elif r.type == 'metadata':
        check_metadata(r)
    elif r.type == 'response':
        body = check_response(r)
        need(r['warc-payload-digest'], '5.9: no payload digest')
        digest_of(r['warc-payload-digest'], body)
    elif r.type == 'revisit':
        check_response(r)
        need(r['warc-profile'] in (SAME, NOT_MODIFIED), '6.7: a profile nobody knows')


class Archive:
    """What the records of all files say of each other."""

    def __init__(self):
        self.by_id, self.payloads, self.companions, self.revisits, self.links = {}, {}, {}, [], []
        self.kinds, self.places = {}, {}

    def add(self, r, name, offset, length, info):
        need(r.id not in self.by_id, '5.2: an id twice: %s' % r.id)
        self.by_id[r.id] = r
        self.kinds[r.type] = self.kinds.get(r.type, 0) + 1
        if r.type != 'warcinfo':
            need(r['warc-warcinfo-id'] == info, '5.14: the warcinfo record of another file')
        if r.type == 'response':
            self.payloads[(r['warc-target-uri'], r['warc-date'])] = r['warc-payload-digest']
        if r.type in ('response', 'revisit'):
            self.companions.setdefault(r.id, [])
            self.places[(name, offset)] = (r, length)
        if r.type == 'revisit' and r['warc-profile'] == SAME:
            self.revisits.append(r)
        for to in r.fields.get('warc-concurrent-to', []):
            need(r.type in ('request', 'metadata'), '5.7: WARC-Concurrent-To')
            self.links.append((r, to))

    def check(self):
        for r, to in self.links:
            other = self.by_id.get(to)
            need(other is not None and other is not r, '5.7: concurrent to what is not there: %s' % to)
            need(other['warc-target-uri'] == r['warc-target-uri'], '5.7: concurrent to another URI')
            need(other['warc-date'] == r['warc-date'], '5.7: concurrent at another moment')
            self.companions[to].append(r.type)
        for of, kinds in self.companions.items():
            need(sorted(kinds) == ['metadata', 'request'], 'ours: not one request and one metadata record for %s' % of)
        for r in self.revisits:
            to = (r['warc-refers-to-target-uri'], r['warc-refers-to-date'])
            need(all(to), '6.7.2: refers to nothing')
            need(to in self.payloads, '6.7.2: refers to what is not there: %s %s' % to)
            need(self.payloads[to] == r['warc-payload-digest'], '6.7.2: refers to another payload')
            need(to[1] <= r['warc-date'], '6.7.2: refers to what came later')

    def check_index(self, path):
        with open(path, 'rb') as f:
            lines = f.read().split(b'\n')
        need(lines.pop() == b'', 'cdxj: the last line has no end')
        need(lines == sorted(lines), 'cdxj: not in order')
        left = dict(self.places)
        for line in lines:
            key, when, fields = line.decode('ascii').split(' ', 2)
            j = json.loads(fields)
            r, length = left.pop((j['filename'], int(j['offset'])), (None, 0))
            need(r is not None, 'cdxj: no record there, or twice: %s' % line[:200])
            need(int(j['length']) == length and j['url'] == r['warc-target-uri'], 'cdxj: another record: %s' % line[:200])
            need(when == re.sub(r'\D', '', r['warc-date'][:19]), 'cdxj: another moment: %s' % line[:200])
            need(j.get('digest') == r['warc-payload-digest'], 'cdxj: another digest: %s' % line[:200])
        need(not left, 'cdxj: %d records are missing' % len(left))


def read_file(archive, name, data):
    """Whole or Fault: the records of one file, in its own bounds."""
    base, info, n = os.path.basename(name), None, 0
    need(NAME.match(base), 'ours: the name of the file: %s' % base)
    for offset, length, plain in members(data):
        try:
            r = Record(plain)
            check_alone(r)
            check_kind(r)
            need((n == 0) == (r.type == 'warcinfo'), 'C: warcinfo comes first, once')
            if r.type == 'warcinfo':
                info = r.id
                need(r['warc-filename'] == base, '5.15: the name of another file')
            archive.add(r, base, offset, length, info)
        except Fault as e:
            raise Fault('offset %d: %s' % (offset, e))
        n += 1
    need(n > 1, 'ours: a file without records')


def read(files, index=None):
    archive = Archive()
    for name, data in files:
        try:
            read_file(archive, name, data)
        except Fault as e:
            raise Fault('%s: %s' % (name, e))
    archive.check()
    if index:
        archive.check_index(index)
    return archive


# ---- the proof that faults are seen ----

def pack(plains):
    out = b''
    for p in plains:
        c = zlib.compressobj(1, zlib.DEFLATED, 31)
        out += c.compress(p) + c.flush()
    return out


def with_digests(plain):
    """The same with the digests its block has now."""
    r = Record(plain)
    new = 'sha1:' + base64.b32encode(hashlib.sha1(r.block).digest()).decode()
    return plain.replace(r['warc-block-digest'].encode(), new.encode(), 1)


def faults(plains):
    """(words, records) with one fault each; `plains` are those of a right file."""
    def at(kind):
        return next(i for i, p in enumerate(plains) if b'WARC-Type: ' + kind in p[:60])

    def changed(i, a, b, anew=False):
        assert a in plains[i], a
        p = plains[i].replace(a, b, 1)
        return plains[:i] + [with_digests(p) if anew else p] + plains[i + 1:]

    resp, req, meta = at(b'response'), at(b'request'), at(b'metadata')
    for field in (b'WARC-Record-ID', b'WARC-Date', b'WARC-Type', b'WARC-Block-Digest', b'Content-Type', b'WARC-Target-URI',
                  b'WARC-Payload-Digest', b'WARC-Warcinfo-ID'):
        yield 'no %s' % field.decode(), changed(resp, b'\r\n' + field + b': ', b'\r\nX-' + field + b': ')
    yield 'an old version', changed(resp, b'WARC/1.1', b'WARC/1.0')
    yield 'a bare LF', changed(resp, b'\r\nWARC-Date', b'\nWARC-Date')
    yield 'a field twice', changed(resp, b'\r\nWARC-Date', b'\r\nWARC-Type: response\r\nWARC-Date')
    yield 'a byte more', plains[:resp] + [plains[resp] + b'\n'] + plains[resp + 1:]
    yield 'a byte less', plains[:resp] + [plains[resp][:-1]] + plains[resp + 1:]
    yield 'another block', changed(resp, b'HTTP/1.1 ', b'HTTP/1.0 ')
    yield 'an id twice', changed(req, Record(plains[req]).id.encode(), Record(plains[resp]).id.encode())
    yield 'two records in a member', plains[:resp] + [plains[resp] + plains[req]] + plains[req + 1:]
    yield 'no request', plains[:req] + plains[req + 1:]
    yield 'no metadata', plains[:meta] + plains[meta + 1:]
    yield 'concurrent to nothing', changed(req, b'WARC-Concurrent-To: <urn:uuid:', b'WARC-Concurrent-To: <urn:uuid:0')
    yield 'no warcinfo', plains[1:]
    yield 'warcinfo later', plains[1:] + plains[:1]
    yield 'another name', changed(0, b'WARC-Filename: ', b'WARC-Filename: x')
    yield 'a local date', changed(resp, Record(plains[resp])['warc-date'].encode(), b'2026-01-01 00:00:00')
    yield 'a wrong digest', changed(resp, b'WARC-Payload-Digest: sha1:', b'WARC-Payload-Digest: sha1:A')
    head, _, block = plains[resp].partition(b'\r\n\r\n')
    block = block.replace(b'\r\nContent-Length: ', b'\r\nContent-Longth: ', 1)
    yield 'no length of the body', plains[:resp] + [with_digests(head + b'\r\n\r\n' + block)] + plains[resp + 1:]
    yield 'steps of no kind', changed(meta, b'hopsFromSeed: P', b'hopsFromSeed: Q', True)
    yield 'no fetch time', changed(meta, b'fetchTimeMs: ', b'fetchTimeXX: ', True)


def prove(name, data):
    plains = [p for _, _, p in members(data)]
    read([(name, pack(plains))])
    missed, n = [], 0
    for words, plains_now in faults(plains):
        n += 1
        try:
            read([(name, pack(plains_now))])
            missed.append(words)
        except Fault:
            pass
    for words, bad in (('torn', data[:-3]), ('octets between', data[:-1] + data[-1:] + b'\0'), ('empty', b'')):
        n += 1
        try:
            read([(name, bad)])
            missed.append(words)
        except Fault:
            pass
    return n, missed


def main():
    args, index, proof = sys.argv[1:], None, False
    while args and args[0].startswith('--'):
        option = args.pop(0)
        if option == '--cdxj':
            index = args.pop(0)
        proof |= option == '--prove'
    files = []
    for name in args:
        with open(name, 'rb') as f:
            files.append((name, f.read()))
    try:
        archive = read(files, index)
    except Fault as e:
        sys.exit('strict_warc: %s' % e)
    print(' '.join('%s=%d' % kv for kv in sorted(archive.kinds.items())))
    if proof:
        n, missed = prove(*files[0])
        if missed:
            sys.exit('strict_warc: not seen: %s' % ', '.join(missed))
        print('proved=%d' % n)


if __name__ == '__main__':
    main()
