#!/bin/sh
# A proxy resolves names and gets whole URLs. It too gets no request for this
# machine, a private network or a cloud's metadata: not for a page, a sitemap
# or a robots.txt, nor for the target of a redirect.
set -eu
. "$TOP/tests/cli/lib.sh"

# proxy: logging_proxy.py with ./rules at $proxy; ./log says what it was asked for.
proxy() {
    : >log
    behind port proxy.err python3 "$TOP/tests/support/logging_proxy.py" rules log
    waits_for 'grep -q "^port" port' || fail "no proxy: $(cat proxy.err)"
    proxy=http://127.0.0.1:$(sed 's/port //' port)
}

# crawl_by_proxy DIR OPTION...
crawl_by_proxy() {
    dir=$1
    shift
    status=0
    "$URLWEIR" crawl http://start.test/ -o "$dir" --proxy "$proxy" --scope any \
        --delay 0 --retry-delay 20ms --max-delay 50ms --tries 2 --give-up 1s --min-disk 0 \
        --progress none "$@" >crawl.out 2>crawl.err </dev/null || status=$?
}

# Each of these is the seed's link, the target of a page's redirect, of a
# robots.txt's, after another hop, and a sitemap.
refused='http://169.254.169.254/latest/meta-data/
http://2852039166/latest/
http://[::ffff:a9fe:a9fe]/latest/
http://[64:ff9b::a9fe:a9fe]/latest/
http://[fd00:ec2::254]/latest/
http://100.100.100.200/latest/
http://168.63.129.16/machine/
http://metadata.google.internal/computeMetadata/v1/
http://metadata.google.internal./computeMetadata/v1/
http://instance-data/latest/
http://localhost/admin
http://a.localhost:8080/admin
http://127.0.0.1:8080/admin
http://intranet/admin
http://printer.local/admin
https://169.254.169.254/latest/'

n=0
{
    page= sitemaps=
    for url in $refused; do
        n=$((n + 1))
        page="$page<a href=$url>$n</a><a href=http://page$n.test/>p</a><a href=http://robots$n.test/>r</a><a href=http://hop$n.test/>h</a>"
        sitemaps="$sitemaps|Sitemap: ${url}sitemap.xml|Sitemap: http://start.test/sitemap$n.xml"
        echo "http://page$n.test/ 302 ${url}page"
        echo "http://start.test/sitemap$n.xml 302 ${url}redirected.xml"
        echo "http://robots$n.test/robots.txt 301 ${url}robots"
        echo "http://hop$n.test/robots.txt 307 http://hop$n.test/two"
        echo "http://hop$n.test/two 308 http://other$n.test/three"
        echo "http://other$n.test/three 302 ${url}hop"
        echo "http://page$n.test/robots.txt 404"
    done
    echo "http://start.test/robots.txt 200 User-agent: *|Disallow: /private$sitemaps"
    echo "http://start.test/ 200 <title>start</title>$page"
    echo "http://start.test/sitemap.xml 404"
} >rules
[ "$n" = 16 ] || fail "$n URLs"
proxy

crawl_by_proxy d --warc
ended 0
[ -z "$(sed 's/^[A-Z]* //' log | grep -v '^http://[a-z0-9]*\.test/')" ] ||
    fail "the proxy was asked for $(grep -v '^[A-Z]* http://[a-z0-9]*\.test/' log)"
# became URL REASON DETAIL: so `export` says, DETAIL at the beginning.
exits 0 "$URLWEIR" export d --what errors
mv out errors
became() {
    at=$(printf '%s' "$1" | sed 's,http://2852039166/,http://169.254.169.254/,; s,internal\.,internal,')
    grep -F "{\"url\": \"$at\"," errors | grep -F "\"reason\": \"$2\"" |
        grep -qF "\"detail\": \"$3" || fail "$1 is not $2: $(grep -F "$at" errors)"
}

n=0
for url in $refused; do
    n=$((n + 1))
    for asked in "http://page$n.test/" "http://robots$n.test/robots.txt" \
        "http://hop$n.test/two" "http://other$n.test/three" \
        "http://start.test/sitemap$n.xml"; do
        grep -qxF "GET $asked" log || fail "the proxy was not asked for $asked"
    done
    # What has no robots.txt that can be had is not asked for.
    lacks -E log "GET http://(robots|hop)$n\.test/$" "asked for a page of robots$n or hop$n"
    for host in robots hop; do
        became "http://$host$n.test/" robots_unreachable "robots.txt: nothing was sent: "
    done
    for skipped in "$url" "${url}page" "${url}sitemap.xml" "${url}redirected.xml"; do
        became "$skipped" address "nothing was sent: "
    done
done
exits 0 "$URLWEIR" explain d "http://hop1.test/"
says out "robots.txt: nothing was sent: a private or special address"
exits 0 "$URLWEIR" explain d "http://localhost/admin"
says out "nothing was sent: a name for this machine"

# Nothing of them is in the archive.
cat d/warc/*.warc.gz | gzip -dc >records
lacks records SECRET "in the archive"
grep -a '^WARC-Target-URI: ' records | tr -d '\r' | grep -v ' http://[a-z0-9]*\.test/' >found &&
    fail "in the archive: $(cat found)"

# What a person allows is asked for, and no more.
: >log
crawl_by_proxy allowed --allow-net 169.254.169.254/32
grep -qxF 'GET http://169.254.169.254/latest/meta-data/robots' log ||
    fail "--allow-net 169.254.169.254/32: $(cat log)"
lacks -E log 'localhost|intranet|100\.100|168\.63|127\.0' "more was asked than was allowed"
: >log
crawl_by_proxy private --allow-private --deny-net 169.254.0.0/16
grep -qxF 'GET http://intranet/admin' log || fail "--allow-private: $(cat log)"
lacks -E log '169\.254|metadata|instance-data' "--deny-net does not win"

# ---- a proxy that a client of a service names, by a name that leads to 127.0.0.1 ----

# The operator's file may name any.
echo 'http://start.test/ 200 <title>start</title>' >rules
proxy
at=proxy.example:${proxy##*:}
cat >own.yaml <<END
seeds: [ http://start.test/ ]
proxy: http://$at
resolve: [ $at:127.0.0.1 ]
min-disk: 0
robots: off
sitemap: off
END
rm -rf d
start_service 127.0.0.1:0 --crawl own.yaml
waits_for 'grep -qxF "GET http://start.test/" log' || fail "the operator's proxy: $(cat serve.err log)"

# becomes CRAWL OUTCOME
becomes() {
    crawl=$1 outcome=$2
    waits_for '"$URLWEIR" status d/crawls/$crawl --json >out &&
        [ "$(json queued <out) $(json "$outcome" <out)" = "0 1" ]' ||
        fail "$crawl: $(cat out serve.err)"
}
made="\"seeds\": [\"http://start.test/\"], \"settings\": {\"min-disk\": 0, \"robots\": \"off\",
    \"sitemap\": \"off\", \"proxy\": \"http://$at\", \"resolve\": \"$at:127.0.0.1\""
: >log
python3 "$TOP/tests/support/json_api.py" "$http" POST /v1/crawls \
    "{\"name\": \"theirs\", $made}}" >answer || fail "$(cat answer)"
becomes theirs skipped
exits 0 "$URLWEIR" export d/crawls/theirs --what errors
says out '"reason": "address"'
[ ! -s log ] || fail "a client's proxy was asked: $(cat log)"
python3 "$TOP/tests/support/json_api.py" "$http" POST /v1/crawls \
    "{\"name\": \"allowed\", $made, \"allow-net\": \"127.0.0.1\"}}" >answer || fail "$(cat answer)"
becomes allowed fetched
says log "GET http://start.test/"

# A restart does not make it the operator's.
stop TERM 0
: >log
start_service 127.0.0.1:0
python3 "$TOP/tests/support/json_api.py" "$http" POST /v1/crawls/theirs/seeds \
    '{"urls": ["http://again.test/"]}' >answer || fail "$(cat answer)"
waits_for '"$URLWEIR" status d/crawls/theirs --json >out && [ "$(json skipped <out)" = 2 ]' ||
    fail "after a restart: $(cat out serve.err)"
python3 "$TOP/tests/support/json_api.py" "$http" POST /v1/crawls/own/seeds \
    '{"urls": ["http://again.test/"]}' >answer || fail "$(cat answer)"
waits_for 'grep -qxF "GET http://again.test/" log' || fail "the operator's, again: $(cat serve.err)"
[ "$(wc -l <log)" = 1 ] || fail "a client's proxy was asked: $(cat log)"
stop TERM 0
