#!/usr/bin/env python3
"""Writes crawler/charset/charset_tables.c.

usage: make-charset-tables.py ENCODING_JS ENCODING_INDEXES_JS

The two files are lib/encoding.js and lib/encoding-indexes.js of the npm
package text-encoding 0.7.0, which carries the labels and indexes of the
Encoding Standard (https://encoding.spec.whatwg.org/). The indexes are not
written out: glibc's iconv has them, and what it has otherwise than the
standard is written as a list of patches.
"""
import ctypes
import json
import re
import sys

# Labels that the standard gained since that package was made.
NEWER = {
    'utf-8': ['unicode11utf8', 'unicode20utf8', 'x-unicode20utf8'],
    'utf-16be': ['unicodefffe'],
    'utf-16le': ['csunicode', 'iso-10646-ucs-2', 'ucs-2', 'unicode',
                 'unicodefeff'],
    'replacement': ['replacement'],
}
KINDS = {
    'utf-8': 'UTF8', 'utf-16be': 'UTF16BE', 'utf-16le': 'UTF16LE',
    'replacement': 'REPLACEMENT', 'x-user-defined': 'USER_DEFINED',
    'gbk': 'GBK', 'gb18030': 'GB18030', 'big5': 'BIG5', 'euc-jp': 'EUC_JP',
    'iso-2022-jp': 'ISO_2022_JP', 'shift_jis': 'SHIFT_JIS',
    'euc-kr': 'EUC_KR',
}


def read(encoding_js, indexes_js):
    src = open(encoding_js).read()
    begin = src.index('var encodings = [') + len('var encodings = ')
    text = src[begin:src.index('];', begin) + 1]
    groups = json.loads(re.sub(r'//.*', '', text).replace("'", '"'))
    names = {}
    for group in groups:
        for e in group['encodings']:
            names[e['name']] = set(e['labels'])
            names[e['name']].update(NEWER.get(e['name'].lower(), []))
    src = open(indexes_js).read()
    begin = src.index('{', src.index('encoding-indexes"] ='))
    return names, json.loads(src[begin:src.rindex('};') + 1])


class Iconv:
    """Decodes one sequence to a code point, or None."""

    def __init__(self, name):
        self.c = ctypes.CDLL(None)
        self.c.iconv_open.restype = ctypes.c_void_p
        self.c.iconv_open.argtypes = [ctypes.c_char_p, ctypes.c_char_p]
        self.c.iconv.argtypes = [ctypes.c_void_p] * 5
        self.c.iconv.restype = ctypes.c_ssize_t
        self.cd = self.c.iconv_open(b'UTF-32LE', name)

    def decode(self, octets):
        self.c.iconv(self.cd, None, None, None, None)
        src = ctypes.create_string_buffer(octets, len(octets))
        out = ctypes.create_string_buffer(64)
        p, n = ctypes.c_void_p(ctypes.addressof(src)), ctypes.c_size_t(len(octets))
        q, m = ctypes.c_void_p(ctypes.addressof(out)), ctypes.c_size_t(64)
        r = self.c.iconv(self.cd, ctypes.byref(p), ctypes.byref(n),
                         ctypes.byref(q), ctypes.byref(m))
        if r != 0 or n.value != 0:
            return None
        self.c.iconv(self.cd, None, None, ctypes.byref(q), ctypes.byref(m))
        got = out.raw[:64 - m.value]
        return int.from_bytes(got, 'little') if len(got) == 4 else None


def two(width, low, gap_at, gap):
    """The octets of a pointer into an index of rows of `width`."""
    def octets(p):
        lead, trail = divmod(p, width)
        return bytes([lead + 0x81, trail + (low if trail < gap_at else gap)])
    return octets


def euc(prefix):
    def octets(p):
        return prefix + bytes([p // 94 + 0xa1, p % 94 + 0xa1])
    return octets


def shift_jis(p):
    lead, trail = divmod(p, 188)
    return bytes([lead + (0x81 if lead < 0x1f else 0xc1),
                  trail + (0x40 if trail < 0x3f else 0x41)])


MULTI = [
    ('big5', b'BIG5-HKSCS', two(157, 0x40, 0x3f, 0x62), 19782),
    ('euc_kr', b'UHC', two(190, 0x41, 190, 0), 23940),
    ('gb18030', b'GB18030', two(190, 0x40, 0x3f, 0x41), 23940),
    ('jis0208', b'CP932', shift_jis, 11280),
    ('jis0212', b'EUC-JP-MS', euc(b'\x8f'), 8836),
]


def patches(index, name, octets, count):
    ic = Iconv(name)
    out = []
    for p in range(count):
        want = index[p] or 0
        if (ic.decode(octets(p)) or 0) == want:
            continue
        if want == 0 and out and out[-1][2] == 0 and out[-1][1] == p - 1:
            out[-1] = (out[-1][0], p, 0)
        else:
            out.append((p, p, want))
    return out


def single_patches(index, name):
    """Octets that iconv has otherwise; below 0xA0 one that it lacks is itself."""
    ic = Iconv(name.encode())
    out = []
    for octet in range(0x80, 0x100):
        got = ic.decode(bytes([octet])) or (octet if octet < 0xa0 else 0)
        if got != (index[octet - 0x80] or 0):
            out.append((octet, index[octet - 0x80] or 0))
    return out


def filled(words, begin, end, between):
    """The words in lines of at most 80 columns."""
    lines = []
    for w in words:
        if lines and len(begin.strip('\n') + lines[-1] + between + w + end) <= 79:
            lines[-1] += between + w
        else:
            lines.append(w)
    return ''.join(begin + line + end for line in lines)


def main():
    names, indexes = read(sys.argv[1], sys.argv[2])
    f = open('crawler/charset/charset_tables.c', 'w')
    f.write("""/* SPDX-License-Identifier: MIT */
/*
 * charset_tables.c - labels and indexes of the Encoding Standard.
 *
 * Written by tools/make-charset-tables.py. A zero in an index: no code point.
 */
#include "crawler/charset/charset_tables.h"

/* clang-format off */
""")
    order = sorted(names, key=str.lower)
    f.write('\nconst struct charset charsets[CHARSET_COUNT] = {\n')
    for n in order:
        kind = KINDS.get(n.lower(), 'SINGLE')
        known, differs = 'NULL', '{0, 0}'
        if kind == 'SINGLE':
            key = 'iso-8859-8' if n == 'ISO-8859-8-I' else n.lower()
            name = re.sub('windows-', 'CP', {'x-mac-cyrillic': 'MAC-UK'}.get(key, key.upper()),
                          flags=re.I)
            known = '"%s"' % name
            pat = single_patches(indexes[key], name)
            differs = ', '.join('{0x%x, 0x%x}' % p for p in pat) or differs
        f.write('    {"%s", CHARSET_%s, %s, {%s}},\n' % (n, kind, known, differs))
    f.write('};\n\nconst struct charset *const charset_of_utf8 = &charsets[%d];\n'
            % order.index('UTF-8'))
    f.write('\nconst struct charset_label charset_labels[CHARSET_LABEL_COUNT] = {')
    labels = sorted((l, i) for i, n in enumerate(order) for l in names[n])
    f.write(filled(['{"%s", %d},' % (l, i) for l, i in labels], '\n    ', '', ' '))
    f.write('\n};\n\nconst struct gb18030_range gb18030_ranges[GB18030_RANGE_COUNT] = {')
    for i, (p, cp) in enumerate(indexes['gb18030-ranges']):
        f.write('%s{%d, 0x%x},' % ('\n    ' if i % 4 == 0 else ' ', p, cp))
    f.write('\n};\n')
    for name, ic, octets, count in MULTI:
        index = indexes[name.replace('_', '-')][:count]
        pat = patches(index, ic, octets, count)
        f.write('\nconst struct charset_patch patches_%s[] = {' % name)
        for i, p in enumerate(pat):
            f.write('%s{%d, %d, 0x%x},' % (('\n    ' if i % 4 == 0 else ' ',) + p))
        f.write('\n    {UINT16_MAX, 0, 0}\n};\n')
        sys.stderr.write('%s: %d patches\n' % (name, len(pat)))
    f.write('/* clang-format on */\n')
    sys.stderr.write('%d charsets, %d labels\n' % (len(order), len(labels)))


main()
