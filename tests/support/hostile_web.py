#!/usr/bin/env python3
"""A web server whose responses are wrong in every way: hostile_web.py PORT_FILE LOG WHAT [SEED COUNT]

WHAT is `blank`, `random` or `codings`; the response to a path is the same for the same SEED;
links lead to COUNT pages. It listens on one port of
127.0.0.1 to 127.0.0.16, writes the port to PORT_FILE and each request to LOG. Written with sockets, since http.server
would put much of it right.

blank    every second page begins its head with a folded line
random   heads, lengths, codings, chunks, cuts and redirects at random; robots.txt of 127.0.0.9 and up as well
codings  /NAME of the table CODINGS below
"""
import gzip
import random
import socket
import struct
import sys
import threading
import time
import zlib

HOSTS = ['127.0.0.%d' % i for i in range(1, 17)]
PLAIN_ROBOTS = 8  # so many hosts have none
BODY_MOST = 20000


# ---- codings: encoders of nothing but stored data -------------------------------

def gz(body):
    return gzip.compress(body, 1, mtime=0)


def deflate(body):
    c = zlib.compressobj(1, zlib.DEFLATED, -15)
    return c.compress(body) + c.flush()


def brotli(body):
    """Uncompressed meta-blocks (RFC 7932 section 9.2), window of 64 KiB."""
    out, first = b'', True
    for i in range(0, len(body), 65536):
        piece = body[i:i + 65536]
        bits = (len(piece) - 1) << 3 | 1 << 19
        out += (bits << 1 if first else bits).to_bytes(3, 'little') + piece
        first = False
    return out + (b'\x06' if first else b'\x03')


def zstd(body, window=0x68, rle=0):
    """One frame of raw blocks, or of `rle` blocks of 128 KiB of zeros; window 0x68: 8 MiB (RFC 8878 section 3.1.1.1)."""
    blocks = [(0, len(body[i:i + 131072]), body[i:i + 131072]) for i in range(0, len(body), 131072)]
    blocks += [(1, 131072, b'\0')] * rle
    blocks.append((0, 0, b''))
    out = b'\x28\xb5\x2f\xfd\0' + bytes([window])
    for i, (kind, size, data) in enumerate(blocks):
        out += (size << 3 | kind << 1 | (i == len(blocks) - 1)).to_bytes(3, 'little') + data
    return out


CODERS = {'gzip': gz, 'x-gzip': gz, 'deflate': zlib.compress, 'Deflate': deflate, 'br': brotli, 'zstd': zstd}


def empty_members(layers, n):
    """gzip in gzip ... of so many empty members: the innermost stream never gives an octet."""
    body = gz(b'') * n
    for _ in range(layers - 1):
        body = gzip.compress(body, 9, mtime=0)
    return body


def bomb(names, size):
    body = b'\0' * size
    for name in names:
        body = gzip.compress(body, 9) if name == 'gzip' else CODERS[name](body)
    return body


PAGE = b'<title>coded</title><a href=/end>end</a>'
CODINGS = {  # path: Content-Encoding, body
    '/one': ('gzip', lambda: gz(PAGE)),
    '/two': ('zstd, gzip', lambda: gz(zstd(PAGE))),
    '/three': ('br, zstd, gzip', lambda: gz(zstd(brotli(PAGE)))),
    '/members': ('gzip', lambda: gz(b'') * 300000),
    '/members-2': ('gzip, gzip', lambda: empty_members(2, 1000000)),
    '/members-3': ('gzip, gzip, gzip', lambda: empty_members(3, 200000)),
    '/frames': ('zstd, gzip', lambda: gzip.compress(zstd(b'') * 1000000, 9)),
    '/bomb': ('gzip', lambda: bomb(['gzip'], 20000000)),
    '/bomb-2': ('gzip, gzip', lambda: bomb(['gzip', 'gzip'], 20000000)),
    '/bomb-zstd': ('zstd', lambda: zstd(b'', rle=4000)),
    '/bomb-zstd-2': ('zstd, zstd', lambda: zstd(zstd(b'', rle=4000))),
    '/bomb-br': ('gzip, br', lambda: brotli(gzip.compress(b'\0' * 20000000, 9))),
    '/window': ('zstd', lambda: zstd(PAGE, window=0x70)),
    '/name': ('utf-8', lambda: PAGE),
    '/names': ('none, gzip', lambda: gz(PAGE)),
    '/end': ('', lambda: PAGE),
}
for i in range(24):  # what has to be held for the windows alone is 16 MiB
    CODINGS['/windows-%d' % i] = ('zstd, zstd', lambda i=i: zstd(zstd(b'', rle=65 + i)))


# ---- random responses -------------------------------------------------------------

def some(r, *choices):
    return r.choice(choices)


def octets(r, n):
    return bytes(r.randrange(256) for _ in range(n))


def word(r):
    return bytes(r.choice(b'abcxyzABC0189-_') for _ in range(r.randint(1, 12)))


def url(r, count):
    path = b'/%d' % r.randrange(count)
    return some(r, path, path, path, b'', b'?', b'//' + HOSTS[0].encode() + path, b'/robots.txt', b'ftp://127.0.0.1/x',
                b'javascript:alert(1)', b'file:///etc/passwd', b'data:text/html,x', b'http://169.254.169.254/latest',
                b'http://[::1]:9/', b'http://127.0.0.1:1/', b'../../../..' + path, b'/' + b'a' * 9000, b'/\xff\xfe%zz',
                b'http://' + b'x' * 300 + b'/', b'/a\0b', b'http://' + octets(r, 9) + b'/', b'\\\\h\\p', b'#', b' ', b'http:')


def markup(r, count):
    parts = [b'<title>', word(r), b'</title>']
    for _ in range(r.randint(0, 12)):
        parts.append(some(r, b'<a href="' + url(r, count) + b'">', b'<a href=' + url(r, count) + b'>', octets(r, 30), b'<!--',
                          b'-->', b'<script>', b'</script>', b'<b>' * 500, b'<p ' + b'a=b ' * 200 + b'>', word(r) * 50,
                          b'<base href=' + url(r, count) + b'>', b'&#x110000;&notit;', b'<meta charset=' + word(r) + b'>',
                          b'<meta http-equiv=refresh content="0;url=' + url(r, count) + b'">', b'<![CDATA[', b'\0' * 40))
    return b''.join(parts)


def sitemap(r, count):
    parts = [some(r, b'<?xml version="1.0"?>', b''), some(r, b'<urlset>', b'<sitemapindex>', b'<rss>', b'<!DOCTYPE x [<!ENTITY a "b">]>')]
    for _ in range(r.randint(0, 9)):
        parts.append(some(r, b'<url><loc>' + url(r, count) + b'</loc></url>', b'<sitemap><loc>' + url(r, count) + b'</loc>', b'&a;', octets(r, 9)))
    return b''.join(parts)


def robots(r):
    return b'\n'.join(some(r, b'User-agent: *', b'Disallow: /' + word(r), b'Allow: /*' + b'*' * 60 + b'$', b'Crawl-delay: 0', octets(r, 40),
                           b'Sitemap: /s', b'Disallow: ' + b'a*' * 900 + b'$', b'\0', word(r) * 200) for _ in range(r.randint(0, 20)))


def field(r, count):
    value = some(r, word(r), octets(r, 20).translate(None, b'\r\n\0'), b'"' + word(r), b'', b'a' * r.randint(0, 9000), b'1;2;3,4;=;')
    if r.random() < 0.01:
        value += b'\0'
    name = some(r, word(r), b'Content-Type', b'Link', b'X-Robots-Tag', b'Refresh', b'Set-Cookie', b'ETag', b'Last-Modified', b'Date', b'Connection',
                b'Content-Location', b'Content-Language', b'Cache-Control', b'Expires', b'Content-Range', b'Trailer', b'Upgrade', b'Alt-Svc',
                b'Strict-Transport-Security', b'Keep-Alive', b'Proxy-Authenticate', b'WWW-Authenticate', b'Location')
    if name == b'Link':
        value = b'<' + url(r, count) + b'>; rel=' + some(r, b'canonical', b'alternate', b'"next', word(r))
    if name == b'Content-Type':
        value = some(r, b'text/html', b'text/html; charset=' + word(r), b'text/html;charset="utf-16', b'text/xml', b'', value)
    if name == b'Location':
        value = url(r, count)
    if name == b'Refresh':
        value = b'0; url=' + url(r, count)
    line = name + some(r, b': ', b':', b' : ', b':\t', b':  ') + value
    folded = line + b'\r\n ' + word(r) + b'\r\n\t' + word(r)
    return some(r, *[line] * 250, *[folded] * 30, word(r), b' ' + line, b'\t' + word(r), b':' + value, b' ')


def status(r):
    return some(r, *[b'HTTP/1.1 200 OK'] * 60, b'HTTP/1.0 200 OK', b'HTTP/1.1 200', b'HTTP/1.1 301 M', b'HTTP/1.1 302 M', b'HTTP/1.1 307 M',
                b'HTTP/1.1 308 M', b'HTTP/1.1 300 M', b'HTTP/1.1 404 N', b'HTTP/1.1 410 G', b'HTTP/1.1 500 E', b'HTTP/1.1 401 U',
                b'HTTP/1.1 407 P', b'HTTP/1.1 206 P', b'HTTP/1.1 204 N', b'HTTP/1.1 304 N', b'HTTP/1.1 999 X', b'HTTP/1.1 101 S',
                b'HTTP/2 200', b'HTTP/3.1 200', b'HTTP/1.1 20', b'HTTP/1.1 2000', b'ICY 200 OK', b'', b'\0', octets(r, 9),
                b'HTTP/1.1 200 ' + b'x' * r.randint(0, 70000), b' HTTP/1.1 200 OK')


def chunked(r, body):
    out = b''
    while body:
        n = r.randint(1, 4000)
        size = some(r, b'%x', b'%X', b'0000%x', b'%x;' + word(r), b'%x ') % len(body[:n])
        out += some(r, *[size] * 40, b'-1', b'ffffffffffffffff', b'10000000000000000', b'zz', b'', b'7fffffff') + some(r, *[b'\r\n'] * 30, b'\n', b'\r')
        out += body[:n] + some(r, *[b'\r\n'] * 30, b'', b'\n', b'xx')
        body = body[n:]
    trailers = some(r, b'', b'', b'X-T: 1\r\n', b' folded\r\n', b'X: ' + b'y' * 5000 + b'\r\n', b'Content-Length: 1\r\n')
    return out + some(r, b'0\r\n', b'0\r\n', b'0\r\n', b'0', b'', b'00;x\r\n') + trailers + some(r, b'\r\n', b'\r\n', b'')


def mutated(r, data):
    data = bytearray(data)
    for _ in range(r.randint(1, 4)):
        if data:
            data[r.randrange(len(data))] = r.randrange(256)
    return bytes(data)


def coded(r, body):
    names = [some(r, *CODERS) for _ in range(r.choice((1, 1, 1, 1, 2, 2, 3, 5)))]
    for name in names:
        body = CODERS[name](body)
    if r.random() < 0.1:
        body = some(r, zstd(b'', window=r.randrange(256)), zstd(b'', rle=r.randint(1, 300)), gz(b'') * 3000, bomb(['gzip'], 3000000))
    if r.random() < 0.3:
        body = mutated(r, body)
    if r.random() < 0.1:
        names = names + [some(r, 'utf-8', 'none', 'identity', 'compress', '', 'gzip ' * 90)]
    return some(r, ', ', ',', ' , ').join(names).encode(), body


def framed(r, lines, body):
    """Header lines, and the body as it goes out, with a length that may be a lie."""
    n = len(body)
    kind = r.random()
    if kind < 0.5:
        return lines + [b'Content-Length: %d' % n], body
    if kind < 0.6:
        return lines, body
    if kind < 0.8:
        return lines + [some(r, b'Transfer-Encoding: chunked', b'Transfer-Encoding:  Chunked')], chunked(r, body)
    lie = some(r, b'%d' % (n + 9), b'%d' % (n // 2), b'-1', b'18446744073709551616', b'9223372036854775807', b'0x10', b'', b'%d, %d' % (n, n), b'+%d' % n)
    more = some(r, [], [b'Content-Length: %d' % n], [b'Transfer-Encoding: chunked'], [b'Transfer-Encoding: gzip, chunked'], [b'Transfer-Encoding : chunked'],
                [b'Transfer-Encoding: chunked, chunked'], [b'Transfer-Encoding: ' + word(r)])
    return lines + [b'Content-Length: ' + lie] + more, some(r, body, chunked(r, body))


def random_response(seed, path, count):
    r = random.Random('%s %s' % (seed, path))
    if path.endswith('/robots.txt'):
        body = robots(r)
    else:
        body = some(r, markup, markup, markup, sitemap)(r, count) if r.random() < 0.9 else octets(r, r.randint(0, 600))
    body = body[:BODY_MOST]
    lines = [field(r, count) for _ in range(r.choice((0, 1, 2, 3, 5, 8, 40)))]
    if r.random() < 0.7:
        lines.append(b'Content-Type: text/html')
    if r.random() < 0.4:
        names, body = coded(r, body)
        lines.append(b'Content-Encoding: ' + names)
    if r.random() < 0.2:
        lines.append(b'Location: ' + url(r, count))
    if r.random() < 0.02:
        lines += [b'X-%d: %s' % (i, word(r)) for i in range(2000)]
    r.shuffle(lines)
    lines, body = framed(r, lines, body)
    if r.random() < 0.1:
        lines.insert(0, some(r, b' first', b'\tfirst: x', b' ', b'\t', b' a\r\n b'))
    out = b''
    for _ in range(r.choice((0, 0, 0, 0, 0, 0, 1, 2, 30))):
        out += some(r, b'HTTP/1.1 103 E\r\nLink: </x>\r\n\r\n', b'HTTP/1.1 100 C\r\n\r\n', b'HTTP/1.1 102 P\r\n folded\r\n\r\n')
    end = some(r, *[b'\r\n'] * 40, b'\n', b'\n', b'\r', b'\n\r')
    out += status(r) + end + b''.join(line + end for line in lines) + end + body
    if r.random() < 0.1:
        out = mutated(r, out)
    if r.random() < 0.15:
        out = out[:r.randrange(len(out) + 1)]
    return out, r


def send_at_random(c, out, r):
    """In pieces; False: the connection is over, by a reset or an orderly end."""
    for _ in range(r.choice((0, 0, 0, 1, 3))):
        n = r.randint(0, len(out))
        c.sendall(out[:n])
        out = out[n:]
    c.sendall(out)
    if r.random() < 0.01:
        time.sleep(1.5)  # longer than anybody should wait
    how = r.random()
    if how < 0.2:
        c.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
    return how > 0.8


# ---- the server ---------------------------------------------------------------------

def plain(body, lines=b'Content-Type: text/html\r\n', first=b'', status=b'200 OK'):
    return b'HTTP/1.1 %s\r\n%s%sContent-Length: %d\r\n\r\n%s' % (status, first, lines, len(body), body)


NOTHING = plain(b'', status=b'404 Not Found')
made = {}
lock = threading.Lock()


def coding_response(path):
    with lock:
        if path not in made:
            name, body = CODINGS.get(path, ('', lambda: b''))
            made[path] = plain(body(), b'Content-Type: text/html\r\nContent-Encoding: %s\r\n' % name.encode())
        return made[path]


def answer(c, host, path):
    """False: the connection is over."""
    if WHAT == 'random' and (path != '/robots.txt' or HOSTS.index(host) >= PLAIN_ROBOTS):
        return send_at_random(c, *random_response(SEED, path if path != '/robots.txt' else host + path, COUNT))
    if path == '/robots.txt':
        c.sendall(NOTHING)
    elif WHAT == 'blank':
        n = int(path[1:] or 0)
        links = b''.join(b'<a href=/%d>.</a>' % i for i in range(60))
        c.sendall(plain(links, first=b' folded: before any field\r\n' if n % 2 else b''))
    else:
        c.sendall(coding_response(path))
    return True


def serve(c, host):
    with c, c.makefile('rb') as f:
        try:
            while True:
                head = b''
                while not head.endswith(b'\r\n\r\n'):
                    line = f.readline()
                    if not line:
                        return
                    head += line
                path = head.split(b' ')[1].decode()
                with lock:
                    LOG.write('%s %s\n' % (host, path))
                if not answer(c, host, path):
                    return
        except OSError:
            pass


def listen(host, port):
    s = socket.create_server((host, port), backlog=128)
    threading.Thread(target=accept, args=(s, host), daemon=True).start()
    return s.getsockname()[1]


def accept(s, host):
    while True:
        c, _ = s.accept()
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(c, host), daemon=True).start()


def free_port():
    """One that no host of ours uses; who takes it meanwhile makes us try again."""
    while True:
        port = listen(HOSTS[0], 0)
        try:
            for host in HOSTS[1:]:
                listen(host, port)
            return port
        except OSError:
            continue


if __name__ == '__main__':
    WHAT, SEED, COUNT = sys.argv[3], ''.join(sys.argv[4:5]), int(''.join(sys.argv[5:6]) or 0)
    LOG = open(sys.argv[2], 'w', buffering=1)
    PORT = free_port()
    with open(sys.argv[1], 'w') as f:
        f.write('port %d\n' % PORT)
    threading.Event().wait()
