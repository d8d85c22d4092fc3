#!/usr/bin/env python3
"""What differs between two releases of a documentation, from their files alone.

usage: docs_truth.py publish FROM TO
           Makes TO the same as FROM. Files that do not differ stay as they are, so they keep their
           dates and a server their validators, as after rsync --checksum --delete.
       docs_truth.py truth OLD NEW START
           "KIND PATH", and of `moved` the new path, for all that <a>, <img> and <script> lead to from
           START: new, gone, changed (other octets), moved (what is gone is new elsewhere, by its
           octets or else by its visible text).

Python's own HTML parser and URL functions; nothing of urlweir."""
import filecmp
import os
import re
import shutil
import sys
from html.parser import HTMLParser
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

SITE = 'http://docs.invalid'


def files(top):
    return {os.path.relpath(os.path.join(at, name), top) for at, _, names in os.walk(top) for name in names}


def publish(source, target):
    for name in files(target) - files(source):
        os.remove(os.path.join(target, name))
    for name in files(source):
        here, there = os.path.join(source, name), os.path.join(target, name)
        os.makedirs(os.path.dirname(there), exist_ok=True)
        if not os.path.isfile(there) or not filecmp.cmp(here, there, shallow=False):
            shutil.copy2(here, there)


class Page(HTMLParser):
    def __init__(self, body):
        super().__init__()
        self.hrefs, self.words, self.hidden = [], [], 0
        self.feed(body.decode('utf-8', 'replace'))
        self.close()

    def handle_starttag(self, tag, attrs):
        wanted = {'a': 'href', 'img': 'src', 'script': 'src'}.get(tag)
        self.hrefs += [value for name, value in attrs if name == wanted and value is not None][:1]
        self.hidden += tag in ('script', 'style', 'title')

    def handle_endtag(self, tag):
        self.hidden -= tag in ('script', 'style', 'title')

    def handle_data(self, data):
        if self.hidden == 0:
            self.words += data.split()


def links(url, body):
    for href in Page(body).hrefs:
        target = urldefrag(urljoin(url, href.strip()))[0]
        if target.startswith(SITE + '/'):
            yield target


def pages(top, start):
    """The octets of each page, by its path; of a folder without its slash, where it redirects to."""
    found, waiting = {}, [SITE + '/' + start]
    while waiting:
        url = waiting.pop()
        path = urlsplit(url).path
        name = top + unquote(path)
        if path in found or re.search('%(?![0-9A-Fa-f]{2})', path):
            continue  # nginx answers 400 to a % that begins nothing
        if os.path.isdir(name) and not name.endswith('/'):
            found[path] = b'redirect'
            waiting.append(url + '/')
        name += 'index.html' if name.endswith('/') else ''
        if os.path.isfile(name):
            with open(name, 'rb') as f:
                found[path] = f.read()
            if name.endswith(('.html', '.htm')):
                waiting += links(url, found[path])
    return found


def pair(gone, fresh, key):
    """Those of the same key, in order."""
    places = {}
    for path in fresh:
        places.setdefault(key(path, 1), []).append(path)
    for path in gone:
        same = places.get(key(path, 0))
        if same:
            yield path, same.pop(0)


def truth(old, new):
    gone, fresh = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    moved = {}
    for key in (lambda path, n: (old, new)[n][path],
                lambda path, n: ' '.join(Page((old, new)[n][path]).words)):
        moved.update(pair([p for p in gone if p not in moved], [p for p in fresh if p not in moved.values()], key))
    yield from (f'moved {path} {to}' for path, to in moved.items())
    yield from (f'gone {path}' for path in gone if path not in moved)
    yield from (f'new {path}' for path in fresh if path not in moved.values())
    yield from (f'changed {path}' for path in old.keys() & new.keys() if old[path] != new[path])


if sys.argv[1] == 'publish':
    publish(*sys.argv[2:])
else:
    for line in sorted(truth(pages(sys.argv[2], sys.argv[4]), pages(sys.argv[3], sys.argv[4]))):
        print(line)
