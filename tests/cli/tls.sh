#!/bin/sh
# https: an untrusted certificate is refused, unless --insecure; HTTP/2 is used
# if the server supports it (nghttpd of nghttp2-server), and all pages of a
# host come over one connection.
set -eu
. "$TOP/tests/cli/lib.sh"

PATH=$PATH:/usr/sbin

mkdir www
echo '<a href=/b.html>b</a><a href=/c.html>c</a>' >www/index.html
echo '<a href=/index.html>i</a>' >www/b.html
echo '<p>c</p>' >www/c.html

serve_http2
crawl_it="--sitemap off --allow-private --delay 0 --retry-delay 20ms --min-disk 0 -q"

exits 0 "$URLWEIR" crawl "https://localhost:$port/" -o insecure --insecure $crawl_it
exits 0 "$URLWEIR" status insecure --json
says out '"fetched": 4'
grep ':path:' server.log | grep -vq 'id=1\]' &&
    fail "more than one connection: $(cat server.log)"
[ "$(grep -c ':path:' server.log)" = 5 ] ||
    fail "not five requests: $(cat server.log)"
# No server may push: the client's settings say so.
grep -q 'SETTINGS_ENABLE_PUSH(0x02):0' server.log || fail "push: $(cat server.log)"

# Streams of one connection wait for the rate each by itself, and none fails:
# seven seconds in all, where an answer may take five.
for i in 1 2 3 4; do
    { echo "<a href=/behind$i.html>x</a>"; head -c 100000 /dev/zero | tr '\0' ' '; } >www/long$i.html
    echo "<p>$i" >www/behind$i.html
    echo "<a href=/long$i.html>x</a>" >>www/slow.html
done
exits 0 "$URLWEIR" crawl "https://localhost:$port/slow.html" -o slow --insecure $crawl_it \
    --conns-per-host 4 --limit-rate 50K --timeout 5s --tries 1
exits 0 "$URLWEIR" status slow --json
says out '"fetched": 9'

exits 5 "$URLWEIR" crawl "https://localhost:$port/" -o secure --robots off $crawl_it
exits 0 "$URLWEIR" status secure --json
says out '"failed.tls": 1'
says out '"retries": 0' # a certificate does not get better by asking again
