"""validator_web.py - a web that knows what its pages were.

usage: validator_web.py LOG EPOCH_FILE

Serves a few pages with ETag, weak ETag or Last-Modified, some of which lie. The
file EPOCH_FILE holds the epoch: from 2 on /changed.html is another page. Each
response is a line in LOG: PATH STATUS, and `conditional` if the request had
conditions. Prints `port N`.
"""
import hashlib
import http.server
import sys

LOG, EPOCH = sys.argv[1:]
DATE = 'Sun, 06 Nov 1994 08:49:37 GMT'
LINKS = {
    '/': ['a.html', 'weak.html', 'dated.html', 'liar.html', 'plain.html', 'never.html', 'changed.html',
          'moved.html', 'cut.html'],
    '/a.html': ['deep.html', 'weak.html', 'http://other.example/'],
    '/deep.html': ['deeper.html'],
}


def epoch():
    with open(EPOCH) as file:
        return int(file.read())


def body_of(path):
    links = list(LINKS.get(path, []))
    if path == '/changed.html' and epoch() > 1:
        links.append('new.html')
    return (f'<title>{path}</title>' + ''.join(f'<a href="{link}">x</a>' for link in links)).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def log_message(self, *args):
        pass

    def answer(self, status, body=b'', **fields):
        asked = 'If-None-Match' in self.headers or 'If-Modified-Since' in self.headers
        with open(LOG, 'a') as file:
            file.write(f'{self.path} {status}{" conditional" if asked else ""}\n')
        self.send_response(status)
        for name, value in fields.items():
            self.send_header(name.replace('_', '-'), value)
        if status != 304:
            self.send_header('Content-Type', 'text/html')
            self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path, body = self.path, body_of(self.path)
        tag = '"' + hashlib.sha1(body).hexdigest() + '"'
        named = self.headers.get('If-None-Match')
        if path == '/robots.txt':
            self.answer(404)
        elif path == '/moved.html':
            self.answer(302, Location='/a.html', ETag=tag)
        elif path == '/liar.html':  # has a tag, and does not look at what is asked
            self.answer(200, body, ETag=tag)
        elif path == '/never.html' and epoch() > 1:  # nobody asked
            self.answer(304)
        elif path == '/never.html' or path == '/plain.html':
            self.answer(200, body)
        elif path == '/dated.html':
            same = self.headers.get('If-Modified-Since') == DATE
            self.answer(304 if same else 200, b'' if same else body, Last_Modified=DATE)
        elif path == '/weak.html':
            same = named == 'W/' + tag
            self.answer(304 if same else 200, b'' if same else body, ETag='W/' + tag)
        else:
            self.answer(304 if named == tag else 200, b'' if named == tag else body, ETag=tag)


server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
print('port', server.server_address[1], flush=True)
server.serve_forever()
