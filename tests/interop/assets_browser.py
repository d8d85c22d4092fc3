#!/usr/bin/env python3
# apt: chromium
"""--assets asks for what a browser asks for: tests/interop/assets_browser.py with URLWEIR set.

A page with every way to name what it is shown with, in HTML and in XHTML, is opened in Chromium without a window and
crawled with --assets and --depth 0. Both must ask for the same URLs of the page's host: the parts, each once or more, and
nothing that a page only links to or that names no document. Image candidates have one candidate each, since a browser
chooses and a crawl takes all. Skipped with a line where there is no Chromium.
"""
import http.server
import os
import re
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'support'))
import browser  # noqa: E402
from background import own_address, wait_for  # noqa: E402

HEAD = '''
<link rel="stylesheet" href="link.css"/><link rel="alternate stylesheet" title="x" href="alternate.css"/>
<link rel="icon" href="icon.png"/><link rel="preload" as="image" href="preload.png"/>
<link rel="preload" as="image" imagesrcset="imagesrcset.png 1x"/><link rel="modulepreload" href="modulepreload.js"/>
<link rel="prefetch" href="prefetch.png"/>
<script src="script.js"></script><script type="module" src="module.js"></script>
<style>@import "import.css"; @font-face { font-family: f; src: url(font.woff) } .font { font-family: f }
.a { background: url(background.png) } .b { background: image-set("image-set.png" 1x) } .c::before { content: url(content.png) }
.d { border-image: url(border.png) 1 } .e { cursor: url(cursor.png), auto } .f { mask-image: url(mask.png) }
.g { filter: url(filter.svg#i) }</style>'''
BODY = '''
<p class="font a">x</p><p class="b">x</p><p class="c">x</p><p class="d">x</p><p class="e">x</p><p class="f">x</p>
<p class="g">x</p><p style="background: url(style.png)">x</p>
<img src="img.png"/><img srcset="srcset.png 1x"/><picture><source srcset="source.png"/><img/></picture>
<input type="image" src="input.png"/>
<iframe src="iframe.html"></iframe><iframe src="no-20" srcdoc="&lt;img src='srcdoc.png'>&lt;script src='srcdoc.js'>&lt;/script>
&lt;iframe srcdoc=&quot;&lt;img src='srcdoc-2.png'>&quot;>&lt;/iframe>&lt;a href='no-21'>x&lt;/a>"></iframe><object data="object.png"></object><embed src="embed.png"/>
<video src="video.mp4" poster="poster.png"><track default="" src="track.vtt"/></video><audio src="audio.mp3"></audio>
<video><source src="video-source.mp4"/></video>
<table background="table.png"><colgroup background="colgroup.png"><col background="col.png"/></colgroup>
<thead background="thead.png"><tr background="tr.png"><th background="th.png">x</th></tr></thead>
<tbody background="tbody.png"><tr><td background="td.png">x</td></tr></tbody>
<tfoot background="tfoot.png"><tr><td>x</td></tr></tfoot></table>
<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="50" height="50">
<style>@import "svg-import.css";</style><script href="svg-script.js"></script><script xlink:href="svg-script-2.js"></script>
<image href="image.png" width="9" height="9"/><image xlink:href="image-2.png" width="9" height="9"/>
<image href="image-3.png" xlink:href="no-1" width="9" height="9"/>
<use href="use.svg#i"/><use xlink:href="use-2.svg#i"/><g id="i"/><use href="#i"/>
<filter id="f"><feImage href="feimage.png"/></filter><rect filter="url(#f)" width="9" height="9"/>
<filter id="h"><feImage xlink:href="feimage-2.png"/><feImage href="#i"/></filter><rect filter="url(#h)" width="9" height="9"/>
<rect style="filter: url(svg-style.svg#i)" width="9" height="9"/>
<path d="M1 1L9 9L20 3Z" fill="url(fill.svg#i)" stroke="url(stroke.svg#i)" filter="blur(1px) url(filter-2.svg#i)"
mask="url(mask.svg#i)" clip-path="url(clip-path.svg#i)" marker-start="url(marker-start.svg#i)" marker-mid="url(marker-mid.svg#i)"
marker-end="url('marker-end.svg#i')" marker="url(no-19)" cursor="url(cursor-2.png), auto"/>
<a href="no-2"><text>x</text></a></svg>'''
NOT = '''
<link rel="dns-prefetch" href="no-3"/><link rel="preconnect" href="no-4"/><link rel="pingback" href="no-5"/>
<link rel="search" type="application/opensearchdescription+xml" href="no-6"/><link rel="EditURI" href="no-7"/>
<link rel="next" href="no-8"/><link rel="canonical" href="no-9"/><link rel="alternate" type="application/rss+xml" href="no-10"/>
<a href="no-11">x</a><form action="no-12"></form><blockquote cite="no-13"></blockquote><input src="no-14"/>
<div background="no-15">x</div><math><mi href="no-16">x</mi></math>'''
OPEN = '<html xmlns="http://www.w3.org/1999/xhtml">'
# In XML a tag may end at once, and an end in capitals is none.
TAIL = '<script src="empty.js"/><textarea/><title/><img src="behind.png"/><IMG src="no-17"/>'
PAGES = {
    '/html': ('text/html', '<!DOCTYPE html><html><head><title>x</title>%s</head><body background="body.png">%s%s</body></html>' %
              (HEAD, BODY, NOT)),
    '/xhtml': ('application/xhtml+xml', '<!DOCTYPE html>%s<head><title>x</title>%s</head><body background="body.png">%s%s%s</body></html>' %
               (OPEN, HEAD, BODY, NOT, TAIL)),
}
TYPES = {'.css': ('text/css', b''), '.js': ('text/javascript', b''), '.html': ('text/html', b'<title>x</title>'),
         '.svg': ('image/svg+xml', b'<svg xmlns="http://www.w3.org/2000/svg"><g id="i"/></svg>')}
asked = []


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        path = self.path.split('?')[0]
        asked.append(path)
        kind, body = TYPES.get(os.path.splitext(path)[1], ('image/png', b'no picture'))
        if path in PAGES:
            kind, body = PAGES[path][0], PAGES[path][1].encode()
        self.send_response(404 if path == '/robots.txt' else 200)
        self.send_header('Content-Type', kind)
        if path in PAGES:
            self.send_header('Link', '</header.png>; rel=preload; as=image, </no-18>; rel=preconnect')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *a):
        pass


def parts():
    """What was asked for since it was cleared, without the page itself."""
    return {p[1:] for p in asked} - {'robots.txt', 'favicon.ico'} - {p[1:] for p in PAGES}


def wanted(page):
    """Every name in the page that looks like a file: what there is to load."""
    return {'header.png'} | set(re.findall(r'[-\w]+\.(?:png|css|js|svg|html|mp4|mp3|vtt|woff)\b', PAGES[page][1]))


def main():
    if browser.program() is None:
        print('assets: skipped, no Chromium here')
        sys.exit(77)
    address = own_address()
    server = http.server.ThreadingHTTPServer((address, 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    compared = 0
    with tempfile.TemporaryDirectory(prefix='urlweir-assets-') as work:
        for page in PAGES:
            url = 'http://%s:%d%s' % (address, server.server_port, page)
            want = wanted(page)
            asked.clear()
            tab = browser.Browser(work + '/profile' + page.replace('/', '-'))
            try:
                tab.open(url)
                wait_for('request for every part', lambda: parts() >= want)
            finally:
                tab.close()
            by_browser = parts()
            asked.clear()
            subprocess.run([os.environ['URLWEIR'], 'crawl', url, '-o', work + '/d' + page.replace('/', '-'), '--allow-private', '--delay', '0',
                            '--min-disk', '0', '-q', '--sitemap', 'off', '--depth', '0', '--assets'], check=True)
            by_us = parts()
            assert by_us == by_browser, '%s: not by us: %s; by us alone: %s' % (
                page, sorted(by_browser - by_us), sorted(by_us - by_browser))
            compared += len(by_us)
    print('assets: %d parts of %d pages, the same that Chromium asks for' % (compared, len(PAGES)))


main()
