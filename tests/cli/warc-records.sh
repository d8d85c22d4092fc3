#!/bin/sh
# --warc writes WARC 1.1 to the letter: a strict reader
# (tests/support/strict_warc.py) finds no fault after a crawl of the test web,
# of responses that are hard to record, and over HTTP/2; and it does find
# thirty planted faults. Each response has its request and its metadata, and
# robots.txt is included.
set -eu
. "$TOP/tests/cli/lib.sh"

strict="python3 $TOP/tests/support/strict_warc.py"

# ---- the test web: redirects, robots, errors, codings, revisits, rotation ----

serve --hosts 8 --pages 400 --profile variants,redirects,robots,errors,types,compress
crawl web --warc --warc-size 16K --cdxj
ended 0
serve_no_more
judge
exits 0 $strict --prove --cdxj web/warc/index.cdxj web/warc/*.warc.gz
cat out
says out "proved="
says out "revisit="
[ "$(ls web/warc/*.warc.gz | wc -l)" -ge 20 ] || fail "no rotation"
gzip -dc web/warc/*.warc.gz >records
robots=$(grep -ac '^WARC-Target-URI: .*/robots.txt' records)
[ "$robots" -ge 12 ] || fail "robots.txt is not recorded ($robots)"
grep -aq '^hopsFromSeed: .*R' records || fail "no step by redirect"
grep -aq '^hopsFromSeed: LL' records || fail "no steps"
grep -aq '^outlink: http://127.* L a/@href' records || fail "no outlinks"
grep -aq "^via: $seed" records || fail "no via"

# ---- odd answers ---------------------------------------------------------------

behind odd.out odd.err python3 "$TOP/tests/support/odd_server.py" odd.port
waits_for 'grep -q "^port" odd.port 2>/dev/null' || fail "no server: $(cat odd.err)"
port=$(sed 's/port //' odd.port)
seed=http://127.0.0.1:$port/
crawl odd --warc --max-body 100K --timeout 5s --tries 1 --cdxj
ended 0
exits 0 $strict --cdxj odd/warc/index.cdxj odd/warc/*.warc.gz
gzip -dc odd/warc/*.warc.gz | tr -d '\r' >records

# of PATH FIELD: that field of its response's record head.
of() {
    awk -v uri="WARC-Target-URI: http://127.0.0.1:$port$1" -v field="$2: " '
        /^WARC\/1.1/ { head = 1; type = mine = "" }
        head && /^WARC-Type: (response|revisit)/ { type = $2 }
        head && $0 == uri && type { mine = 1; if (field == "WARC-Type: ") print type }
        head && mine && index($0, field) == 1 { print substr($0, length(field) + 1) }
        /^$/ { head = 0 }' records
}
is() {
    [ "$(of "$1" "$2")" = "$3" ] || fail "$1: $2 is \"$(of "$1" "$2")\", not \"$3\""
}
is /long WARC-Truncated length
is /gone WARC-Truncated disconnect
is /slow WARC-Truncated time
is /not-gzip WARC-Truncated ""
is /not-gzip WARC-X-As-Received "Content-Encoding: gzip"
grep -qa '^no gzip at all' records || fail "/not-gzip: its body is lost"
grep -qa '^fetchNote: ' records || fail "/not-gzip: nothing says so"
is /chunked WARC-X-As-Received "Transfer-Encoding: chunked"
is /chunked-gzip WARC-X-As-Received "Transfer-Encoding: chunked; Content-Encoding: gzip"
is /br WARC-X-As-Received "Content-Encoding: br; Content-Length: 34"
is /old WARC-X-As-Received ""
is /not-modified WARC-Profile http://netpreserve.org/warc/1.1/revisit/server-not-modified
is /error WARC-Type response
for path in /robots.txt /robots-2 /moved /target /empty /none /early /twice; do
    is $path WARC-Type response
done
# One of the two with the same body is a revisit of the other.
both="$(of /same-1 WARC-Refers-To-Target-URI)$(of /same-2 WARC-Refers-To-Target-URI)"
case $both in
"${seed}same-1" | "${seed}same-2") ;;
*) fail "the same body twice: \"$both\"" ;;
esac
grep -q '^via: .*/' records && grep -q '^hopsFromSeed: PR$' records ||
    fail "the redirect of robots.txt has no steps"
[ "$(of /private WARC-Type)" = "" ] || fail "/private was asked"

# ---- HTTP/2 ----------------------------------------------------------------------

PATH=$PATH:/usr/sbin
mkdir www
echo '<a href=/b.html>b</a>' >www/index.html
echo '<p>b</p>' >www/b.html
serve_http2
seed=https://localhost:$port/
crawl h2 --insecure --warc --cdxj
ended 0
exits 0 $strict --cdxj h2/warc/index.cdxj h2/warc/*.warc.gz
gzip -dc h2/warc/*.warc.gz | tr -d '\r' >records
says records "WARC-Protocol: h2"
says records "HTTP/1.1 200 OK"
says records "GET /b.html HTTP/1.1"
lacks -a records '^:status' "a pseudo header"
