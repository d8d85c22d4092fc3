#!/usr/bin/env python3
# pip: warcio pywb setuptools<81
# apt: chromium fonts-dejavu-core
"""A site crawled with --warc replays in a browser: tests/interop/replay_browser.py with URLWEIR and SITE set.

A small site with an image, a style sheet, a script, compressed and chunked pages is crawled, its server is ended, pywb
serves the archive, and Chromium without a window reads it: titles, the image's pixels, the colour the style sheet gives,
what the script wrote, a link that is clicked, a page behind a redirect, one that repeats another's body. A picture of the
page is taken, and holds the image's colour. Another page has its style sheet, a font that this names and an image from two
other hosts, which --assets has fetched.
"""
# Promise (Archives): a crawled site replays in a browser: title, images,
#   links.
import gzip
import http.server
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import urllib.request
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import browser  # noqa: E402
from background import free_port, own_address, wait_for  # noqa: E402

BIN = os.path.dirname(sys.executable)
RED = (220, 20, 60)
BLUE = (20, 60, 220)
FONT = '/usr/share/fonts/truetype/dejavu/DejaVuSansMono.ttf'


def png(colour, size=64):
    def chunk(kind, data):
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))
    rows = (b'\0' + bytes(colour) * size) * size
    return (b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', size, size, 8, 2, 0, 0, 0)) +
            chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b''))


TWIN = b'<!doctype html><title>twin</title><p id=p>the same</p>'
FILES = {
    '/': ('text/html; charset=utf-8', '''<!doctype html><title>Caf\u00e9 of the archive</title>
<link rel=stylesheet href=/style.css><body><h1 id=h>Welcome</h1><img id=i src=/red.png>
<a id=a href=/next.html>next</a> <a href=/styled.html>styled</a> <a href=/moved>moved</a> <a href=/one/>1</a> <a href=/two/>2</a>
<p id=s></p><script src=/script.js></script>'''.encode()),
    '/style.css': ('text/css', b'#h { color: rgb(1, 2, 3) }'),
    '/script.js': ('text/javascript', b'document.getElementById("s").textContent = "a script ran";'),
    '/red.png': ('image/png', png(RED)),
    '/next.html': ('text/html', b'<!doctype html><title>The next page</title><p>came over <a href=/>a link</a>'),
    '/target.html': ('text/html', b'<!doctype html><title>Behind a redirect</title>'),
    '/one/': ('text/html', TWIN),
    '/two/': ('text/html', TWIN),
    '/robots.txt': ('text/plain', b'User-agent: *\nDisallow:\n'),
}


def elsewhere(port):
    """A page whose style sheet and font are on one other host, its image on another, with a picture that the sheet names."""
    styles, images = 'http://127.0.0.2:%d' % port, 'http://127.0.0.3:%d' % port
    FILES['/styled.html'] = ('text/html', ('<!doctype html><title>styled</title><link rel=stylesheet href=%s/s.css>'
                                           '<h1 id=h>Styled</h1><img id=i src=%s/blue.png><p id=b>x' % (styles, images)).encode())
    FILES['/s.css'] = ('text/css', ('@font-face { font-family: archived; src: url(font.ttf) } #h { font-family: archived }'
                                    '#b { background: url(%s/red2.png); width: 64px; height: 64px }' % images).encode())
    with open(FONT, 'rb') as f:
        FILES['/font.ttf'] = ('font/ttf', f.read())
    FILES['/blue.png'] = ('image/png', png(BLUE))
    FILES['/red2.png'] = ('image/png', png(RED))


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        if self.path == '/moved':
            self.send_response(302)
            self.send_header('Location', '/target.html')
            self.send_header('Content-Length', '0')
            self.end_headers()
            return
        kind, body = FILES.get(self.path, ('text/html', b'nothing'))
        self.send_response(200 if self.path in FILES else 404)
        self.send_header('Content-Type', kind)
        if self.path in ('/', '/style.css') and 'gzip' in self.headers.get('Accept-Encoding', ''):
            body = gzip.compress(body)
            self.send_header('Content-Encoding', 'gzip')
        if self.path == '/next.html':
            self.send_header('Transfer-Encoding', 'chunked')
            self.end_headers()
            self.wfile.write(b'%x\r\n%s\r\n0\r\n\r\n' % (len(body), body))
            return
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass


def answers(url):
    try:
        return urllib.request.urlopen(url, timeout=60).read()
    except OSError:
        return None


def crawl(work):
    server = http.server.ThreadingHTTPServer(('', 0), Site)  # at every address of the loopback network
    elsewhere(server.server_port)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    seed = 'http://127.0.0.1:%d/' % server.server_port
    subprocess.run([os.environ['URLWEIR'], 'crawl', seed, '-o', work + '/d', '--allow-private', '--delay', '0', '--min-disk', '0', '-q',
                    '--assets', '--threads', '1', '--concurrency', '1', '--warc', '--cdxj'], check=True)
    server.shutdown()
    server.server_close()  # from here on only the archive knows the site
    collection = work + '/collections/site'
    os.makedirs(collection + '/archive')
    os.makedirs(collection + '/indexes')
    with open(work + '/config.yaml', 'w', encoding='ascii') as f:
        f.write('framed_replay: false\n')  # the page itself, without a frame around it
    for name in os.listdir(work + '/d/warc'):
        shutil.copy(work + '/d/warc/' + name, collection + ('/indexes' if name.endswith('.cdxj') else '/archive'))
    return seed


def has_colour(picture, colour):
    """Does a PNG (8 bits, RGB or RGBA) have a run of it?"""
    at, data, width, depth = 8, b'', 0, 0
    while at < len(picture):
        n, kind = struct.unpack('>I4s', picture[at:at + 8])
        body = picture[at + 8:at + 8 + n]
        if kind == b'IHDR':
            width, _, bits, kind_of = struct.unpack('>IIBB', body[:10])
            assert bits == 8 and kind_of in (2, 6)
            depth = 3 if kind_of == 2 else 4
        elif kind == b'IDAT':
            data += body
        at += 12 + n
    raw, stride, before, most = zlib.decompress(data), width * depth, bytes(width * depth), 0
    for row in range(0, len(raw), stride + 1):
        kind, line = raw[row], bytearray(raw[row + 1:row + 1 + stride])
        for i in range(stride):
            a = line[i - depth] if i >= depth else 0
            b = before[i]
            c = before[i - depth] if i >= depth else 0
            p = a + b - c
            paeth = a if abs(p - a) <= abs(p - b) and abs(p - a) <= abs(p - c) else b if abs(p - b) <= abs(p - c) else c
            line[i] = (line[i] + (0, a, b, (a + b) // 2, paeth)[kind]) & 255
        before = line
        most = max(most, sum(bytes(line[i:i + 3]) == bytes(colour) for i in range(0, stride, depth)))
    return most >= 48  # of an image 64 pixels wide


def check(b, base, seed):
    b.open(base + seed)
    assert b.value('document.title') == 'Caf\u00e9 of the archive'
    b.wait('document.getElementById("i").complete')
    assert b.value('document.getElementById("i").naturalWidth') == 64, 'the image is not there'
    assert b.value('getComputedStyle(document.getElementById("h")).color') == 'rgb(1, 2, 3)', 'the style sheet is not there'
    b.wait('document.getElementById("s").textContent == "a script ran"')
    assert base + seed + 'red.png' in [u.replace('im_/', '/') for u in b.asked], 'the image came from elsewhere'
    picture = b.picture()
    assert has_colour(picture, RED), 'the image cannot be seen'
    b.value('document.getElementById("a").click()')
    b.wait('document.title == "The next page" && document.readyState == "complete"')
    b.open(base + seed + 'one/')
    assert b.value('document.title') == 'twin'
    b.open(base + seed + 'two/')
    assert b.value('document.getElementById("p").textContent') == 'the same', 'a revisit does not replay'
    b.call('Page.navigate', url=base + seed + 'moved')
    b.wait('document.title == "Behind a redirect"')
    b.open(base + seed + 'styled.html')
    b.wait('document.getElementById("i").complete')
    assert b.value('document.getElementById("i").naturalWidth') == 64, 'the image of another host is not there'
    b.wait('document.fonts.status == "loaded"')
    assert b.value('[...document.fonts].map(f => f.family + " " + f.status).join()') == 'archived loaded', 'the font is not there'
    picture = b.picture()
    assert has_colour(picture, BLUE), 'the image of another host cannot be seen'
    assert has_colour(picture, RED), 'what the style sheet names cannot be seen'
    archive = base[:base.index('/site/')]
    assert all(u.startswith((archive, 'about:', 'data:')) for u in b.asked), b.asked


def main():
    if browser.program() is None:
        print('chromium is not installed')
        sys.exit(77)
    work = tempfile.mkdtemp(prefix='urlweir-replay-')
    pywb = b = None
    try:
        seed = crawl(work)
        host = own_address()
        port = free_port(host)
        archive = 'http://%s:%d/' % (host, port)
        pywb = subprocess.Popen([BIN + '/wayback', '-b', host, '-p', str(port)], cwd=work, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for('pywb', lambda: answers(archive), pywb)
        with open(work + '/d/warc/index.cdxj', encoding='ascii') as f:
            when = f.readline().split(' ')[1]
        b = browser.Browser(work + '/profile')
        b.look(800, 600)
        check(b, '%ssite/%s/' % (archive, when), seed)
    finally:
        if b:
            b.close()
        if pywb:
            pywb.kill()
            pywb.wait()
        shutil.rmtree(work, ignore_errors=True)
    print('replay: title, image, style, script, link, redirect and revisit of an archived site are right in Chromium')


if __name__ == '__main__':
    main()
