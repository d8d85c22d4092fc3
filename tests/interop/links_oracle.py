#!/usr/bin/env python3
"""Our links beside lexbor's tree: URLWEIR=build/release/urlweir tests/interop/links_oracle.py [FOLDER ...]

Every .html and .htm below the folders (default: the documentation installed under /usr/share/doc) is read by lexbor,
a parser with HTML5 tree construction, through the Python package selectolax; the links of its tree by RULES L2 and
those of `urlweir links` must be the same set, but for links within <template>, which the rules leave open: on a page that
has one there may be more of ours. Skipped with a line where the package is not there. URLs are resolved by
`urlweir url --whatwg`, so what is compared is which links there are. COUNT=N reads N pages at most, evenly chosen; it is
300, or all when LONG is set.
"""
# pip: selectolax
import os
import re
import subprocess
import sys

try:
    from selectolax.lexbor import LexborHTMLParser
except ImportError:
    print('links: skipped, the Python package selectolax is not installed')
    sys.exit(77)

BIN = os.environ.get('URLWEIR', 'build/release/urlweir')
PAGE = 'http://docs.example/folder/page.html'
SPACE = ' \t\n\f\r'
FEEDS = ('rss+xml', 'atom+xml', 'feed+json')
OPEN = re.compile(rb'<template[\s/>]', re.I)
SOURCES = {'a': 'href', 'area': 'href', 'img': 'src', 'iframe': 'src', 'frame': 'src', 'script': 'src', 'form': 'action'}
KINDS = {'frame': 'iframe'}


def run(args, data):
    r = subprocess.run([BIN] + args, input=data, capture_output=True)
    if r.returncode != 0:
        sys.exit('links: %s ended with %d: %s' % (args[0], r.returncode, r.stderr.decode()))
    return r.stdout.decode()


def text_of(octets):
    """As the page's bytes are meant, or None where that is not UTF-8 or its subset."""
    m = re.search(rb'<meta[^>]*charset=["\' ]*([-\w]+)', octets[:1024], re.I)
    name = m.group(1).decode().lower() if m else 'windows-1252'
    try:
        return octets.decode('utf-8' if name == 'utf-8' else 'ascii')
    except UnicodeDecodeError:
        return None


def srcset(value):
    """The URLs of candidates, by the steps of the standard; None: a descriptor is in doubt."""
    urls, i = [], 0
    while True:
        while i < len(value) and value[i] in SPACE + ',':
            i += 1
        if i == len(value):
            return urls
        j = i
        while j < len(value) and value[j] not in SPACE:
            j += 1
        url = value[i:j]
        i = j
        if not url.endswith(','):
            j = value.find(',', i)
            j = len(value) if j < 0 else j
            if not re.fullmatch(r'\s*(\d+w|\d+(\.\d+)?x)?\s*', value[i:j]):
                return None
            i = j
        urls.append(url.rstrip(','))


# Of Debian's documentation; docs/rules.md, L2, has the whole table.
NO_DOCUMENT = {'search', 'dns-prefetch', 'preconnect', 'pingback', 'edituri', 'me', 'profile'}


def kind_of_rel(a):
    rel = (a.get('rel') or '').lower().split()
    if rel and NO_DOCUMENT.issuperset(rel):
        return None
    for word, kind in (('canonical', 'canonical'), ('stylesheet', 'css'), ('sitemap', 'sitemap')):
        if word in rel:
            return kind
    if 'alternate' in rel:
        media = (a.get('type') or '').split(';')[0].strip().lower()
        return 'feed' if media.split('/')[-1] in FEEDS else 'alternate'
    return 'link'


def in_foreign(node):
    node = node.parent
    while node is not None and node.tag not in ('foreignObject', 'foreignobject'):
        if node.tag in ('svg', 'math'):
            return True
        node = node.parent
    return False


def rows_of(text):
    """(kind, reference) of the tree, and the first base."""
    rows, base = [], None
    for n in LexborHTMLParser(text).root.traverse(include_text=False):
        a, tag = n.attributes, n.tag
        foreign = in_foreign(n)
        if tag == 'a' and foreign and not a.get('href'):
            rows.append(('a', a.get('xlink:href')))
        elif foreign and tag != 'a':
            continue
        elif tag in SOURCES:
            rows.append((KINDS.get(tag, tag), a.get(SOURCES[tag])))
        elif tag == 'link':
            kind = kind_of_rel(a)
            rows += [(kind, a.get('href'))] if kind else []
        elif tag == 'base' and base is None:
            base = a.get('href')
        elif tag == 'meta' and (a.get('http-equiv') or '').lower() == 'refresh':
            m = re.match(r'\s*[\d.]+\s*[;,\s]\s*(?:url\s*=\s*)?["\']?([^"\']*)', a.get('content') or '', re.I)
            rows.append(('meta-refresh', m and m.group(1)))
        if tag in ('img', 'source') and not foreign and a.get('srcset'):
            urls = srcset(a['srcset'])
            rows += [('srcset', u) for u in urls] if urls is not None else []
    return [(k, v.strip(SPACE)) for k, v in rows if v and v.strip(SPACE)], base


def resolve(rows, base):
    refs = [re.sub('[\t\n\r]', '', v) for _, v in rows]
    if base:
        base = run(['url', '--whatwg', '--base', PAGE], base.encode() + b'\n').rstrip('\n')
    if not base or base.startswith('!'):
        base = PAGE
    out = run(['url', '--whatwg', '--base', base], '\n'.join(refs + ['']).encode('utf-8', 'surrogatepass'))
    return {'%s\t%s' % (k, u) for (k, _), u in zip(rows, out.split('\n')) if not u.startswith('!')}


def pages(folders):
    found = []
    for folder in folders:
        for top, _, names in os.walk(folder):
            found += [os.path.join(top, n) for n in names if n.endswith(('.html', '.htm'))]
    found = sorted(p for p in found if os.path.isfile(p))  # no link to what another package would have
    count = int(os.environ.get('COUNT') or (0 if os.environ.get('LONG') else 300))
    return found[::max(1, len(found) // count)][:count] if count else found


def main():
    read = links = skipped = bad = 0
    paths = pages(sys.argv[1:] or ['/usr/share/doc'])
    if not paths:
        print('links: skipped, no HTML pages in the folders')
        sys.exit(77)
    for path in paths:
        with open(path, 'rb') as f:
            octets = f.read()
        text = text_of(octets)
        if text is None:
            skipped += 1
            continue
        rows, base = rows_of(text)
        want = resolve(rows, base)
        got = {r for r in run(['links', '--url', PAGE, '-'], octets).split('\n') if r}
        read += 1
        links += len(want)
        if want - got or (got - want and not OPEN.search(octets)):
            bad += 1
            print('%s: missing %s, too many %s' % (path, sorted(want - got)[:5], sorted(got - want)[:5]))
    print('links: %d pages, %d different links, %d pages differ, %d not in UTF-8 passed over' % (read, links, bad, skipped))
    sys.exit(1 if bad else 0)


main()
