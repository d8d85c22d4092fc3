#!/usr/bin/env python3
"""A server of answers an archive may get wrong, one a path: odd_server.py PORT_FILE

Chunked, coded (gzip, deflate, br), without length, cut short, too long, too slow, folded, with interim answers, twice the
same body, redirected (robots.txt too). Written with sockets, since http.server would put much of it right.
"""
import gzip
import socket
import sys
import threading
import time
import zlib

PAGE = b'<title>coded</title><a href=/coded>coded</a>'
BROTLI = bytes.fromhex('1b2b000014a1d2f385870c1c72c0fe3d0a34a38ae2ba99aa521cd8e15eda2a761600')
HTML = b'Content-Type: text/html\r\n'
SAME = b'<p>the same words</p>'


def chunked(body):
    return b''.join(b'%x;x=y\r\n%s\r\n' % (len(body[i:i + 7]), body[i:i + 7]) for i in range(0, len(body), 7)) + b'0\r\nX-Trailer: t\r\n\r\n'


def plain(body, head=HTML, status=b'200 OK'):
    return b'HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s' % (status, head, len(body), body)


CHUNKED = b'HTTP/1.1 200 OK\r\n' + HTML + b'Transfer-Encoding: chunked\r\n'
ANSWERS = {
    '/chunked': CHUNKED + b'Trailer: X-Trailer\r\n\r\n' + chunked(PAGE),
    '/chunked-gzip': CHUNKED + b'Content-Encoding: gzip\r\n\r\n' + chunked(gzip.compress(PAGE)),
    '/gzip': plain(gzip.compress(PAGE), HTML + b'Content-Encoding: gzip\r\n'),
    '/deflate': plain(zlib.compress(PAGE), HTML + b'content-encoding: Deflate\r\n'),
    '/br': plain(BROTLI, HTML + b'Content-Encoding: br\r\n'),
    '/not-gzip': plain(b'no gzip at all', HTML + b'Content-Encoding: gzip\r\n'),
    '/empty': plain(b''),
    '/none': b'HTTP/1.1 204 No Content\r\n\r\n',
    '/not-modified': b'HTTP/1.1 304 Not Modified\r\nETag: "x"\r\n\r\n',
    '/old': b'HTTP/1.0 200 OK\r\n' + HTML + b'\r\n<p>until the end</p>',
    '/no-phrase': b'HTTP/1.1 200\r\n' + HTML + b'Content-Length: 2\r\n\r\nhi',
    '/early': b'HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n' + plain(b'after hints'),
    '/folded': plain(b'folded', HTML + b'X-Long: one\r\n two\r\n'),
    '/latin1': plain(b'latin', HTML + b'X-Name: caf\xe9\r\n'),
    '/bare-lf': b'HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: 3\n\nlf\n',
    '/twice': plain(b'twice', HTML + b'Content-Length: 5\r\n'),
    '/long': plain(b'x' * 200000),
    '/gone': plain(b'x' * 20)[:-5],
    '/slow': plain(b'x' * 20)[:-5],
    '/same-1': plain(SAME),
    '/same-2': plain(SAME, HTML + b'X-Other: head\r\n'),
    '/moved': plain(b'moved', b'Location: /target\r\n', b'301 Moved'),
    '/target': plain(b'here'),
    '/error': plain(b'<p>no</p>', HTML, b'404 Not There'),
    '/robots.txt': plain(b'', b'Location: /robots-2\r\n', b'302 Found'),
    '/robots-2': plain(b'User-agent: *\r\nDisallow: /private\r\n', b'Content-Type: text/plain\r\n'),
}
LINKS = sorted(p for p in ANSWERS if not p.startswith('/robots') and p != '/target') + ['/private']
ANSWERS['/'] = plain(b'<title>odd</title>' + b''.join(b'<a href=%s>.</a>' % p.encode() for p in LINKS))
CLOSES = {'/old', '/gone', '/bare-lf'}


def serve(c):
    with c, c.makefile('rb') as f:
        while True:
            head = b''
            while not head.endswith(b'\r\n\r\n'):
                try:
                    line = f.readline()
                except OSError:
                    return
                if not line:
                    return
                head += line
            path = head.split(b' ')[1].decode()
            try:
                c.sendall(ANSWERS.get(path, plain(b'nothing', HTML, b'404 Not Found')))
                if path == '/slow':
                    time.sleep(30)
            except OSError:
                return
            if path in CLOSES:
                return


def main():
    s = socket.create_server(('127.0.0.1', 0))
    with open(sys.argv[1], 'w') as f:
        f.write('port %d\n' % s.getsockname()[1])
    while True:
        c, _ = s.accept()
        threading.Thread(target=serve, args=(c,), daemon=True).start()


if __name__ == '__main__':
    main()
