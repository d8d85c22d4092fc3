#!/bin/sh
# With more hosts than there may be connections, those kept are of use: hosts
# are asked in turn, and if the connection used longest ago made way for each
# new one, none would ever be used again. With --conns-per-host above 1, no host
# takes another connection while there is one to ask that has none in use.
set -eu
. "$TOP/tests/cli/lib.sh"

cat >server.py <<'END'
# server.py PAGES TICK: a page for each request, on connections that stay open;
# logs each of them. With TICK, responses are sent at multiples of it, together.
import asyncio, sys, time
page = b"".join(b"<a href=/%d>next</a>" % i for i in range(2, int(sys.argv[1]) + 1))
tick = float(sys.argv[2])
async def serve(reader, writer):
    print("connection", flush=True)
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            await asyncio.sleep(tick and tick - time.monotonic() % tick)
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(page) + page)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()
async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0, backlog=4096)
    print("port", server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()
asyncio.run(main())
END

# site_of HOSTS PAGES TICK: hosts.yaml and seeds of such a server.
site_of() {
    hosts=$1 pages=$2
    behind server.log server.err python3 server.py "$pages" "$3"
    waits_for 'grep -q "^port" server.log' || fail "no server: $(cat server.err)"
    port=$(sed -n 's/^port //p' server.log)
    {
        echo "resolve:"
        for i in $(seq "$hosts"); do echo "  - h$i.test:$port:127.0.0.1"; done
    } >hosts.yaml
    for i in $(seq "$hosts"); do echo "http://h$i.test:$port/1"; done >seeds
}

# Half of 256 descriptors are for connections.
site_of 200 5 0
room=128
(
    ulimit -n $((2 * room))
    exits 0 "$URLWEIR" crawl -C hosts.yaml -i seeds -o d --allow-private --robots off \
        --sitemap off --delay 500ms --threads 1 --conns-per-ip 0 --min-disk 0 -q
)
exits 0 "$URLWEIR" status d --json
says out "\"fetched\": $((pages * hosts))"

# Those without room are opened for each page, the others once; and some more,
# since hosts do not take turns exactly.
opened=$(grep -c '^connection' server.log)
ideal=$((room + pages * (hosts - room)))
[ "$opened" -le $((ideal + hosts / 2)) ] ||
    fail "$opened connections for $((pages * hosts)) pages, where $ideal would do"

# ---- several connections to a host ---------------------------------------------------

# All 16 requests end together, so there are 16 to begin, for 40 hosts.
site_of 40 20 0.05
exits 0 "$URLWEIR" crawl -C hosts.yaml -i seeds -o several --allow-private --robots off \
    --sitemap off --delay 0 -c 16 --conns-per-host 16 --threads 1 --conns-per-ip 0 --min-disk 0 -q
exits 0 "$URLWEIR" status several --json
says out "\"fetched\": $((pages * hosts))"
# At the end few hosts have URLs left, which may be asked for at once.
opened=$(grep -c '^connection' server.log)
echo "$opened connections to $hosts hosts, with 16 requests at once"
[ "$opened" -le $((hosts + 16)) ] || fail "$opened connections to $hosts hosts"
