#!/bin/sh
# --concurrency auto, the default, has a transfer for each host that is due, so
# a server that responds only when it holds a request of every host gets them
# all. Memory and descriptors (by the hard limit) bound it, `status` shows how
# many it is, and -c N is obeyed.
set -eu
. "$TOP/tests/cli/lib.sh"

cat >server.py <<'END'
# server.py HOSTS LEAST: responds when it holds LEAST requests at once, or all of
# HOSTS that are left, and no more come for half a second; a minute later at the
# latest. Logs the most that it held.
import asyncio, resource, sys
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
left, least, waiting, most, timer = int(sys.argv[1]), int(sys.argv[2]), [], 0, None
def let_go():
    global left
    left -= len(waiting)
    for one in waiting:
        one.set_result(None) if not one.done() else None
    waiting.clear()
async def serve(reader, writer):
    global most, timer
    loop = asyncio.get_running_loop()
    try:
        while await reader.readuntil(b"\r\n\r\n"):
            one = loop.create_future()
            waiting.append(one)
            if len(waiting) > most:
                most = len(waiting)
                print("most", most, flush=True)
            if timer is not None:
                timer.cancel()
            timer = loop.call_later(0.5 if len(waiting) >= min(least, left) else 60, let_go)
            await one
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 2\r\n\r\nhi")
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

hosts=300
# meets HOSTS LEAST DIR OPTION...: a crawl of that many hosts, on such a server; $most.
meets() {
    wanted=$1 least=$2 dir=$3
    shift 3
    behind server.log server.err python3 server.py "$wanted" "$least"
    server=$!
    waits_for 'grep -q "^port" server.log' || fail "no server: $(cat server.err)"
    port=$(sed -n 's/^port //p' server.log)
    {
        echo "resolve:"
        for i in $(seq $wanted); do echo "  - h$i.test:$port:127.0.0.1"; done
    } >hosts.yaml
    for i in $(seq $wanted); do echo "http://h$i.test:$port/"; done >seeds
    exits 0 "$URLWEIR" crawl -C hosts.yaml -i seeds -o "$dir" --allow-private --robots off \
        --sitemap off --conns-per-ip 0 --min-disk 0 --progress json "$@"
    kill "$server"
    wait "$server" 2>/dev/null || :
    most=$(sed -n 's/^most //p' server.log | tail -n 1)
    exits 0 "$URLWEIR" status "$dir" --json
    says out "\"fetched\": $wanted"
}

ulimit -n 4096
meets $hosts $hosts auto
[ "$most" = $hosts ] || fail "the server held $most requests of $hosts hosts at once"

meets 30 10 fixed -c 10
[ "$most" = 10 ] || fail "-c 10: the server held $most requests at once"

# A resume goes by what is stored, or by what it is told.
grep -q '^concurrency: 10$' fixed/urlweir-settings.yaml || fail "-c is not in the settings"
exits 0 "$URLWEIR" resume fixed -c auto
says err "concurrency"
grep -q '^concurrency: auto$' fixed/urlweir-settings.yaml || fail "auto is not in the settings"

# Half of 256 descriptors are for connections.
(
    ulimit -n 256
    meets $hosts 65 few
    [ "$most" -le 128 ] || fail "the server held $most requests with 256 descriptors"
    [ "$most" -gt 64 ] || fail "the server held only $most requests"
)

# The soft limit alone is no limit: it is raised to the hard one.
(
    ulimit -S -n 128
    meets $hosts $hosts raised
    [ "$most" = $hosts ] || fail "with a soft limit of 128 the server held $most requests at once"
)

# The number in force is that of `status`, while the crawl runs.
shows() {
    "$URLWEIR" status live --json >out 2>err && grep -q '"transfers_most"' out
}
mkdir -p web/127.0.0.1
echo page >web/127.0.0.1/index.html
plain_site 127.0.0.1
behind crawl.out crawl.err "$URLWEIR" crawl "$seed" "${seed}missing" -o live --allow-private \
    --robots off --sitemap off --delay 20s -c 77 --min-disk 0
crawler=$!
waits_for shows || fail "status of a running crawl: $(cat out err)"
says out '"transfers_most": 77'
exits 0 "$URLWEIR" status live
says out "of at most 77"
kill -TERM $crawler
wait $crawler || :
