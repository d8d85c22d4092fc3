#!/bin/sh
# A host that is asked again soon is asked over its open connection: with TLS,
# on more hosts than a fetcher once kept connections to, and one handshake
# each.
set -eu
. "$TOP/tests/cli/lib.sh"

PATH=$PATH:/usr/sbin

hosts=320
mkdir www
for i in 1 2 3 4; do
    echo "<a href=/$((i + 1)).html>next</a>" >www/$i.html
done
echo end >www/5.html
serve_http2
{
    echo "resolve:"
    for i in $(seq $hosts); do echo "  - h$i.test:$port:127.0.0.1"; done
} >hosts.yaml
for i in $(seq $hosts); do echo "https://h$i.test:$port/1.html"; done >seeds

exits 0 "$URLWEIR" crawl -C hosts.yaml -i seeds -o d --insecure --allow-private \
    --robots off --sitemap off --delay 100ms --threads 1 --conns-per-ip 0 --min-disk 0 \
    --progress json
exits 0 "$URLWEIR" status d --json
says out "\"fetched\": $((5 * hosts))"
opened=$(grep -c 'TLS handshake\|negotiated' server.log || :)
[ "$opened" -ge $hosts ] || opened=$(sed -n 's/.*\[id=\([0-9]*\)\].*/\1/p' server.log | sort -un | wc -l)
[ "$opened" -ge $hosts ] || fail "only $opened connections are in the server's log"
[ "$opened" -le $((hosts + hosts / 20)) ] || fail "$opened connections to $hosts hosts"
