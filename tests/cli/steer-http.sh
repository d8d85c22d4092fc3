#!/bin/sh
# docs/service.md, "Steering over HTTP": its commands do what it says, on a web
# of our own, with an admin's token.
set -eu
. "$TOP/tests/cli/lib.sh"

behind site.out site.err "$SITE" serve --hosts 2 --pages 100 --max-time 120
waits_for 'grep -q "^port " site.out' || fail "no web"
port=$(sed -n 's/^port //p' site.out)
echo "admin 0123456789abcdef-admin" >tokens
chmod 600 tokens
behind serve.out serve.err "$URLWEIR" serve d --listen 127.0.0.1:0 --http 127.0.0.1:0 \
    --token-file tokens
service=$!
waits_for 'grep -q "listening on" serve.err' || fail "no service: $(cat serve.err)"
at=$(sed -n 's/.*HTTP on //p' serve.err)

sed -n '/^## Steering over HTTP/,/^## Who may/p' "$TOP/docs/service.md" |
    sed -n '/^```sh/,/^```$/p' | grep -v '^```' |
    sed -e "s|127.0.0.1:7072|$at|g; s|https://example.com|http://127.0.0.1:$port|g" \
        -e 's|"depth": 3|"depth": 3, "allow-private": true|' >commands
[ "$(grep -c '^api ' commands)" = 11 ] || fail "the examples have changed"
# an answer a line, but for what is at length
TOKEN=0123456789abcdef-admin sh -eu ./commands >answers 2>errors ||
    fail "$(cat errors answers)"
says answers '"name":"shop","kind":"own","state":"running"'
says answers '"state":"paused"'
says answers '"changed":[{"name":"delay","before":"2s","after":"5s"}]'
says answers "{\"results\":[{\"url\":\"http://127.0.0.1:$port/new\",\"status\":\"ok\""
says answers '{"hosts":['
says answers '"admitted": true'
says urls.csv "url,status,"
says urls.csv "http://127.0.0.1:$port/new,"
says answers 'event: stats'
says answers '"state":"stopped","end":"stopped"'
says answers '{"deleted":'
[ ! -e d/crawls/shop ] || fail "it is still there"
kill "$service"
wait "$service" || fail "the service ended with $?: $(cat serve.err)"
