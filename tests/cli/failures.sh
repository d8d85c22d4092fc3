#!/bin/sh
# The crawl reports correctly what became of a URL: network errors, also those
# met at robots.txt.
# Promise (Fetching): the outcome says where a redirect leads, followed or not,
#   which network errors were met at robots.txt, which pages say noindex, and
#   which content codings are unknown; bodies in these are read as they came.
#   See also `fetcher_responses`, `coding`, `tests/cli/codings.sh`, `make sim`.
set -eu
. "$TOP/tests/cli/lib.sh"

# row URL [FILE]: of an export in ./out, or FILE.
row() { grep -F "{\"url\": \"$1\"," "${2:-out}" || fail "no row of $1: $(cat "${2:-out}")"; }
# has URL COLUMN VALUE [FILE]: so the export says.
has() {
    row "$1" "${4:-out}" | grep -qE "\"$2\": $3(,|})" || fail "$1: not $2 $3: $(row "$1" "${4:-out}")"
}

# ---- hosts that do not respond, each in its way ----------------------------------

# 127.0.0.1 is late, 127.0.0.2 has no robots.txt to give, 127.0.0.3 has one that
# is not what it says and names no agent; 127.0.0.4 speaks no TLS, 127.0.0.5 closes each connection, at
# 127.0.0.6 nobody listens.
pages 127.0.0.1 /index.html
pages 127.0.0.2 /index.html
pages 127.0.0.3 /index.html
echo 'User-agent: *' | tee web/127.0.0.1/robots.txt >web/127.0.0.2/robots.txt
echo '<p>Not found' >web/127.0.0.3/robots.txt
echo never >web/127.0.0.1/robots.txt.after
cp web/127.0.0.1/robots.txt.after web/127.0.0.1/index.html.after
echo 500 >web/127.0.0.2/robots.txt.head
printf '200\nContent-Encoding: gzip\n' >web/127.0.0.3/robots.txt.head
mkdir web/127.0.0.4
plain_site 127.0.0.1 127.0.0.2 127.0.0.3 127.0.0.4
behind closing closing.err python3 -c 'import socket
closing = socket.create_server(("127.0.0.5", 0))
closed = socket.socket()
closed.bind(("127.0.0.6", 0))
print(closing.getsockname()[1], closed.getsockname()[1], flush=True)
while True:
    closing.accept()[0].close()'
waits_for 'grep -q " " closing' || fail "no server: $(cat closing.err)"
read -r closing closed <closing
cat >seeds <<END2
http://no-such-host.invalid/
http://127.0.0.6:$closed/
https://127.0.0.4:$port/
http://127.0.0.1:$port/
http://127.0.0.5:$closing/
http://127.0.0.2:$port/
http://127.0.0.3:$port/
END2
wants="dns connect tls timeout reset robots_unreachable robots_unreachable"
# A host that does not respond keeps its URLs, whose tries say why.
becomes="queued queued queued failed failed denied denied"

# told DIR WHERE: each seed has its reason, and where that was met.
told() {
    exits 0 "$URLWEIR" export "$1" --what errors
    cp out errors
    exits 0 "$URLWEIR" export "$1"
    cp out urls
    sed 's/"seq": [0-9]*, //' "$1.jsonl" >lines
    n=0
    while read -r url; do
        n=$((n + 1))
        reason=$(echo "$wants" | cut -d' ' -f$n)
        status=$(echo "$becomes" | cut -d' ' -f$n)
        [ "$2" = robots ] || [ "$status" != denied ] || continue # its page is there
        has "$url" status "\"$status\"" urls
        for file in errors urls lines; do
            [ "$status" != queued ] || continue
            has "$url" reason "\"$reason\"" $file
            has "$url" met_at "$([ "$2" = robots ] && echo '"robots"' || echo null)" $file
        done
        exits 0 "$URLWEIR" explain "$1" "$url"
        met=$([ "$2" = robots ] && echo 'met_at=robots' || echo 'links=0 noindex')
        grep -q "reason=$reason tries=.*$met" out || fail "explain: $(cat out)"
    done <seeds
}
# shellcheck disable=SC2086
exits 3 "$URLWEIR" crawl -i seeds -o d $quick --tries 2 --timeout 1s --give-up 2s --jsonl d.jsonl
cp err d.err
told d robots
says d.err "failed                  2   reset 1, timeout 1"
says d.err "denied                  2   robots_unreachable 2"
for reason in dns connect tls; do
    says d.err "did not respond ($reason), 1 URL stays queued"
done
# Two tries of each, and none of the page.
for host in 127.0.0.2 127.0.0.3; do
    [ "$(grep -cF "$host /robots.txt" log)" = 2 ] || fail "$host: $(cat log)"
    lacks -F log "$host /index.html" "$host"
done
exits 0 "$URLWEIR" status d --json
says out '"failed.timeout": 1'

# Of the URL itself, the same reasons.
# shellcheck disable=SC2086
exits 3 "$URLWEIR" crawl -i seeds -o off $quick --tries 2 --timeout 1s --give-up 2s --robots off --jsonl off.jsonl
told off page
kill "$server" && wait "$server" || :
