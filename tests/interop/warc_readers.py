#!/usr/bin/env python3
# pip: warcio cdxj-indexer pywb surt setuptools<81
"""What --warc writes, read by others: tests/interop/warc_readers.py with URLWEIR and SITE set.

A crawl of the test web is read by `warcio check` (digests), by warcio's strict iterator (lengths, heads, pairs of
request and answer), by cdxj-indexer (our index is its index, line by line), and replayed over HTTP by pywb. The
revisit records of a crawl with --since an earlier one refer to records that warcio finds in the files of that one.
"""
# Promise (Archives): WARC files and indexes pass warcio, cdxj-indexer and
#   pywb.
import collections
import glob
import http.client
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
from background import free_port, own_address, wait_for  # noqa: E402

PROFILE = 'variants,redirects,robots,errors,types'
BIN = os.path.dirname(sys.executable)


def crawl(work):
    site = subprocess.Popen([os.environ['SITE'], 'serve', '--hosts', '6', '--pages', '300', '--profile', PROFILE, '--log', work + '/log',
                             '--max-time', '1800', '--stdin-guard'], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    port = site.stdout.readline().split()[1]
    subprocess.run([os.environ['URLWEIR'], 'crawl', 'http://127.0.0.1:%s/' % port, '-o', work + '/d', '--scope', 'any', '--allow-private', '--delay', '0',
                    '--retry-delay', '50ms', '--max-delay', '100ms', '--min-disk', '0', '-q', '--warc', '--warc-size', '1M', '--cdxj'], check=True)
    site.kill()
    site.wait()
    files = sorted(glob.glob(work + '/d/warc/*.warc.gz'))
    assert len(files) > 1, files
    return files


def check_digests(files):
    out = subprocess.run([BIN + '/warcio', 'check', '-v'] + files, stdout=subprocess.PIPE, text=True)
    assert out.returncode == 0, out.stdout[-2000:]
    assert 'digest pass' in out.stdout


def check_records(files):
    from warcio.archiveiterator import ArchiveIterator
    types, requests, answers, urls = {}, {}, {}, set()
    for name in files:
        with open(name, 'rb') as f:
            first = True
            for r in ArchiveIterator(f, check_digests='raise'):
                kind, head, body = r.rec_type, r.rec_headers, r.raw_stream.read()
                types[kind] = types.get(kind, 0) + 1
                assert head.protocol == 'WARC/1.1'
                assert (kind == 'warcinfo') == first, 'warcinfo comes first, once'
                first = False
                if kind == 'request':
                    requests[head['WARC-Concurrent-To']] = head['WARC-Target-URI']
                elif kind in ('response', 'revisit'):
                    answers[head['WARC-Record-ID']] = head['WARC-Target-URI']
                    check_answer(r, body, urls)
    assert requests == answers, 'each answer has its request'
    assert types['response'] > 200 and types['revisit'] > 0, types
    return types


def check_answer(r, body, urls):
    head, http_head = r.rec_headers, r.http_headers
    assert http_head.get_header('Transfer-Encoding') is None
    length = http_head.get_header('Content-Length')
    if r.rec_type == 'revisit':
        assert (head['WARC-Refers-To-Target-URI'], head['WARC-Refers-To-Date']) in urls, 'refers to a record before it'
        assert head['WARC-Profile'].endswith('/identical-payload-digest')
        return
    urls.add((head['WARC-Target-URI'], head['WARC-Date']))
    if length is not None:
        assert int(length) == len(body), (head['WARC-Target-URI'], length, len(body))
    if http_head.get_header('Content-Encoding') not in (None, 'identity'):
        assert 'Content-Encoding' not in (head['WARC-X-As-Received'] or '')


def check_index(work, files):
    theirs = subprocess.run([BIN + '/cdxj-indexer', '-s'] + files, stdout=subprocess.PIPE, check=True, text=True).stdout.split('\n')
    with open(work + '/d/warc/index.cdxj', encoding='ascii') as f:
        ours = f.read().split('\n')
    different = [(a, b) for a, b in zip(theirs, ours) if a != b]
    assert len(theirs) == len(ours) and not different, (len(theirs), len(ours), different[:3])
    return len(ours) - 1


def fetch(at, path):
    c = http.client.HTTPConnection(*at, timeout=120)
    c.request('GET', path)
    r = c.getresponse()
    return r.status, r.read()


def answers(at):
    try:
        return fetch(at, '/')
    except OSError:
        return None


def check_replay(work, files):
    """pywb gives the bytes of a page, and of a revisit the first's."""
    from surt import surt
    from warcio.archiveiterator import ArchiveIterator
    archive = work + '/collections/test/archive'
    os.makedirs(archive)
    os.makedirs(work + '/collections/test/indexes')
    for name in files:
        shutil.copy(name, archive)
    shutil.copy(work + '/d/warc/index.cdxj', work + '/collections/test/indexes')
    with open(work + '/d/warc/index.cdxj', encoding='ascii') as f:
        keys = collections.Counter(line.split(' ')[0] for line in f)
    at = own_address(), free_port(own_address())
    server = subprocess.Popen([BIN + '/wayback', '-b', at[0], '-p', str(at[1])], cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for('pywb', lambda: answers(at), server)
        bodies, wanted = {}, []
        for name in files:
            with open(name, 'rb') as f:
                for r in ArchiveIterator(f):
                    if r.rec_type not in ('response', 'revisit') or r.http_headers.get_statuscode() != '200':
                        continue
                    url, when = r.rec_headers['WARC-Target-URI'], ''.join(c for c in r.rec_headers['WARC-Date'][:19] if c.isdigit())
                    digest = r.rec_headers['WARC-Payload-Digest']
                    alone = keys[surt(url)] == 1  # else pywb may give another page of the same key and second
                    if r.rec_type == 'response':
                        bodies[digest] = r.raw_stream.read()
                        if len(wanted) < 20 and alone:
                            wanted.append((url, when, digest))
                    elif len(wanted) < 30 and alone:
                        wanted.append((url, when, digest))
        for url, when, digest in wanted:
            status, body = fetch(at, '/test/%sid_/%s' % (when, url))
            assert status == 200 and body == bodies[digest], (url, status, len(body), len(bodies[digest]))
        return len(wanted)
    finally:
        server.kill()
        server.wait()


def whole_records(d):
    """Payload digests by URL and date of what warcio reads as responses in the files of a crawl."""
    from warcio.archiveiterator import ArchiveIterator
    found = {}
    for name in sorted(glob.glob(d + '/warc/*.warc.gz')):
        with open(name, 'rb') as f:
            for r in ArchiveIterator(f, check_digests='raise'):
                if r.rec_type == 'response':
                    head = r.rec_headers
                    found[head['WARC-Target-URI'], head['WARC-Date']] = head['WARC-Payload-Digest']
    return found


def recrawl(work):
    """Two crawls of a site with validators, the second with --since the first."""
    epoch = work + '/epoch'
    support = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support')
    with open(epoch, 'w', encoding='ascii') as f:
        f.write('1')
    site = subprocess.Popen([sys.executable, support + '/validator_web.py', work + '/log', epoch], stdout=subprocess.PIPE, text=True)
    try:
        port = site.stdout.readline().split()[1]
        for name, more in (('old', []), ('new', ['--since', work + '/old'])):
            subprocess.run([os.environ['URLWEIR'], 'crawl', 'http://127.0.0.1:%s/' % port, '-o', work + '/' + name, '--allow-private', '--delay', '0',
                            '--sitemap', 'off', '--tries', '1', '--min-disk', '0', '-q', '--warc', '--record', 'links'] + more, check=True)
            with open(epoch, 'w', encoding='ascii') as f:
                f.write('2')
    finally:
        site.kill()
        site.wait()


def check_recrawl(work):
    from warcio.archiveiterator import ArchiveIterator
    recrawl(work)
    old, seen = whole_records(work + '/old'), collections.Counter()
    check_digests(sorted(glob.glob(work + '/new/warc/*.warc.gz')))
    for name in sorted(glob.glob(work + '/new/warc/*.warc.gz')):
        with open(name, 'rb') as f:
            for r in ArchiveIterator(f, check_digests='raise'):
                if r.rec_type != 'revisit':
                    continue
                head, profile = r.rec_headers, r.rec_headers['WARC-Profile'].rsplit('/', 1)[1]
                if 'WARC-Refers-To-Date' not in dict(head.headers):  # a 304 that nobody asked for refers to nothing
                    assert head['WARC-Target-URI'].endswith('/never.html'), head.headers
                    continue
                refers = head['WARC-Refers-To-Target-URI'], head['WARC-Refers-To-Date']
                assert refers in old, (head['WARC-Target-URI'], refers)
                assert refers[0] == head['WARC-Target-URI'], refers
                status = r.http_headers.get_statuscode()
                assert status == ('304' if profile == 'server-not-modified' else '200'), (profile, status)
                if profile == 'identical-payload-digest':
                    assert head['WARC-Payload-Digest'] == old[refers], head['WARC-Target-URI']
                assert r.raw_stream.read() == b'', 'a revisit has no body'
                seen[profile] += 1
    assert seen['server-not-modified'] > 3 and seen['identical-payload-digest'] > 0, seen
    return sum(seen.values())


def main():
    work = tempfile.mkdtemp(prefix='urlweir-warc-')
    try:
        files = crawl(work)
        check_digests(files)
        types = check_records(files)
        lines = check_index(work, files)
        replayed = check_replay(work, files)
        again = check_recrawl(work)
    finally:
        shutil.rmtree(work)
    print('warc: %d responses and %d revisits in %d files, %d index lines equal, %d pages replayed by pywb, %d revisits of another crawl'
          % (types['response'], types['revisit'], len(files), lines, replayed, again))


if __name__ == '__main__':
    main()
