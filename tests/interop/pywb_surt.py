#!/usr/bin/env python3
# pip: surt pywb setuptools<81
"""Our SURT beside pywb's, over URLs made to differ: URLWEIR=build/release/urlweir tests/interop/pywb_surt.py [COUNT [FILE]]

FILE holds further URLs, one a line. Needs the packages surt and pywb (PyPI); skipped with a line where they are not
there. The key compared is that of our canonical form, since that is what an index holds.
"""
import os
import random
import subprocess
import sys

try:
    from pywb.utils.canonicalize import canonicalize
except ImportError:
    print('surt: skipped, the Python packages pywb and surt are not installed')
    sys.exit(77)

HOSTS = ['example.com', 'www.example.com', 'www12.example.co.uk', 'WWW.www.com', 'www.com', 'www2x.org', '1.2.3.4', '0x7f.1', '[::1]',
         '[2001:db8::1]', 'b\u00fccher.de', 'a..b', '..a', 'www.', 'a.', 'a..', '.www.a', 'www..a', 'x_y', "a!b\"c$&'()*+,;=~`{}",
         'www1www.com', 'www', '\u0645\u062b\u0627\u0644.com', 'wWw3.Example.com']
ID = '0123456789abcdefGHIJ9876543210zz'
PAREN = '(4hqa0555fwsecu455xqckv45)'
PATH = ['/', '/', '//', 'a', 'B', 'index.html', '.', '..', '/.', '/..', '/./', '/../', '%2e', '%252e', '%2F', '%252f', '%41', '%2541', '%25', '%', '%%',
        '%3f', '%23', '%20', '%00', '%7f', '%80', '%ff', '%C3%89', '\u00e9', ';', ';jsessionid=' + ID, '~', '|', '"', '&', '=', '@', ':', '+', "'",
        '/' + PAREN + '/', '/(S' + PAREN + ')/', '/(a' + PAREN + 's' + PAREN + ')/', 'x.aspx', '.ASPX', '/x.aspx', '(', ')', '\\', '^', '%5c', '%E2%82%AC', '%5', 'e']
QUERY = ['&', '&', '&', '=', '=', 'a', 'b', 'C', 'a=1', 'a=', 'b=2', 'A-b=3', 'sid=' + ID, 'jsessionid=' + ID, 'PHPSESSID=' + ID, 'phpsessid=' + ID[1:],
         'ASPSESSIONIDABCDEFGH=abcdefghijklmnopqrstuvwx', 'aspsessionid', 'cfid=1', 'cfid=', '&cftoken=2', 'CFTOKEN=', 'cftoken', 'cfid=x&cftoken=y', '?', '/', '%26', '%3d',
         '%2526', '%25', '%', '+', '%20', '%23', '\u20ac', '%80', '%41', '~', ';', 'j', 'phpses', 'jsession', 'id=' + ID, "'", '"', '<', '..', '%00']


def some(r, pieces, most):
    return ''.join(r.choice(pieces) for _ in range(r.randrange(most)))


def make(r):
    url = r.choice(['http://', 'https://', 'http://u:p@']) + r.choice(HOSTS) + r.choice(['', '', '', ':80', ':443', ':8080', ':0', ':'])
    url += '/' + some(r, PATH, 12)
    if r.random() < 0.6:
        url += '?' + some(r, QUERY, 12)
    return url


def ours(program, form, urls):
    out = subprocess.run([program, 'url'] + form, input='\n'.join(urls).encode() + b'\n', stdout=subprocess.PIPE, check=True).stdout
    return out.decode('utf-8', 'surrogateescape').split('\n')[:len(urls)]


def main():
    program = os.environ.get('URLWEIR', 'build/release/urlweir')
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    r = random.Random(1)
    urls = [make(r) for _ in range(count)]
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding='utf-8') as f:
            urls += [u for u in f.read().split('\n') if u]
    canonical = ours(program, [], urls)
    keys = ours(program, ['--surt'], urls)
    compared = different = 0
    for url, key in zip(canonical, keys):
        if url.startswith('!'):
            continue
        compared += 1
        try:
            want = canonicalize(url)
        except Exception as e:  # whatever its library raises is no key
            want = 'error: %s' % e
        if want != key:
            different += 1
            if different <= 20:
                print('%s\n  pywb %s\n  ours %s' % (url, want, key))
    print('surt: %d keys compared, %d differ' % (compared, different))
    sys.exit(1 if different else 0)


if __name__ == '__main__':
    main()
