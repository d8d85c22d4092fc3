"""list_web.py - a web of lists that grow: sitemaps, feeds, link headers, redirects.

usage: list_web.py LOG EPOCH_FILE

All but redirects have an ETag, and answer 304 to it. A Link header is on a 304 as
well, as nginx's add_header has it, and no part of what the ETag is made of. The
file EPOCH_FILE holds the epoch; from 2 on the lists name more. Each response is a
line in LOG: PATH STATUS, and `conditional` if the request had conditions. Prints
`port N`.
"""
import gzip
import hashlib
import http.server
import sys

LOG, EPOCH = sys.argv[1:]
BIG = 1500  # entries: more than a part of a list that is read while it arrives


def entry(url, more=''):
    return f'<url><loc>{url}</loc>{more}</url>'


def urlset(*entries):
    return '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">' + ''.join(entries) + '</urlset>'


def page(title, *links):
    return f'<title>{title}</title>' + ''.join(links)


def resource(path, site, grown):
    """Status, media type, body and further fields of a path."""
    said = '<lastmod>2020-05-01</lastmod><changefreq>weekly</changefreq><priority>0.9</priority>'
    feed = '<rss version="2.0"><channel><item><link>%s/news1.html</link></item>%s</channel></rss>'
    lists = {
        '/index.xml': '<sitemapindex>' + ''.join(
            f'<sitemap><loc>{site}/{name}</loc></sitemap>'
            for name in ['big.xml', 'small.xml.gz'] + ['late.xml'] * grown) + '</sitemapindex>',
        '/big.xml': urlset(*(entry(f'{site}/big/{n}.html', '<priority>0.3</priority>') for n in range(BIG))),
        '/small.xml.gz': urlset(entry(f'{site}/listed1.html', said), *[entry(f'{site}/listed2.html')] * grown),
        '/late.xml': urlset(entry(f'{site}/late.html')) if grown else None,
        '/sitemap.xml': urlset(entry(f'{site}/guessed.html')) if grown else None,
        '/feed.xml': feed % (site, f'<item><link>{site}/news2.html</link></item>' * grown),
        '/atom.xml': '<feed xmlns="http://www.w3.org/2005/Atom"><entry><updated>2021-03-04T05:06:07Z</updated>'
                     f'<link href="{site}/entry.html"/></entry></feed>',
    }
    if path == '/robots.txt':
        return 200, 'text/plain', f'Sitemap: {site}/index.xml\nSitemap: {site}/text.txt\n', {}
    if path == '/text.txt':
        return 200, 'text/plain', f'{site}/text1.html\n', {}
    if path == '/moved':
        return 302, 'text/html', '', {'Location': '/target2.html' if grown else '/target1.html'}
    if path == '/head.html':
        return 200, 'text/html', page(path), {'Link': '</linked2.html>' if grown else '</linked1.html>'}
    if path == '/pictures.html':
        return 200, 'text/html', page(path, '<img src=picture.png>'), {}
    if path == '/':
        return 200, 'text/html', page(
            path, '<link rel=alternate type=application/rss+xml href=/feed.xml>',
            '<link rel=alternate type=application/atom+xml href=/atom.xml>', '<a href=moved>m</a>',
            '<a href=head.html>h</a>', '<a href=pictures.html>p</a>', '<a href=/index.xml>i</a>'), {}
    if path in lists:
        return (404, 'text/html', '', {}) if lists[path] is None else (200, 'application/xml', lists[path], {})
    return 200, 'text/html', page(path), {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    wbufsize = -1  # head and body together, or each waits for an acknowledgement

    def log_message(self, *args):
        pass

    def do_GET(self):
        with open(EPOCH) as file:
            grown = int(file.read()) > 1
        status, kind, body, fields = resource(self.path, 'http://' + self.headers['Host'], grown)
        body = body.encode()
        if self.path.endswith('.gz'):
            body = gzip.compress(body, mtime=0)
        named = self.headers.get('If-None-Match')
        if status == 200:
            fields['ETag'] = '"' + hashlib.sha1(body).hexdigest() + '"'
            status = 304 if named == fields['ETag'] else 200
        with open(LOG, 'a') as file:
            file.write(f'{self.path} {status}{" conditional" if named else ""}\n')
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header('Content-Type', kind)
            self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        if status != 304:
            self.wfile.write(body)


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print('port', server.server_address[1], flush=True)
server.serve_forever()
