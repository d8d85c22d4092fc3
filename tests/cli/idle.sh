#!/bin/sh
# With more hosts than there may be connections, those kept are of use: hosts
# are asked in turn, and if the connection used longest ago made way for each
# new one, none would ever be used again.
set -eu
. "$TOP/tests/cli/lib.sh"

cat >server.py <<'END'
# A page for each request, on connections that stay open; logs each of them.
import asyncio
page = b"<a href=/2>2</a><a href=/3>3</a><a href=/4>4</a><a href=/5>5</a>"
async def serve(reader, writer):
    print("connection", flush=True)
    try:
        while await reader.readuntil(b"\r\n\r\n"):
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

behind server.log server.err python3 server.py
waits_for 'grep -q "^port" server.log' || fail "no server: $(cat server.err)"
port=$(sed -n 's/^port //p' server.log)

# Half of 256 descriptors are for connections.
hosts=200 pages=5 room=128
{
    echo "resolve:"
    for i in $(seq $hosts); do echo "  - h$i.test:$port:127.0.0.1"; done
} >hosts.yaml
for i in $(seq $hosts); do echo "http://h$i.test:$port/1"; done >seeds
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
