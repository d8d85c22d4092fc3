#!/bin/sh
# The crawl reports correctly what became of a URL: network errors, also those
# met at robots.txt; where a redirect leads, followed or not; pages that say
# noindex; bodies in an unknown coding; a sitemap that was only a guess.
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

# ---- redirects, followed or not ----------------------------------------------------

rm -rf web
pages 127.0.0.1 /index.html
# moves PATH TO
moves() {
    : >"web/127.0.0.1$1"
    printf '302\nLocation: %s\n' "$2" >"web/127.0.0.1$1.head"
}
moves /to-a-page /page
moves /to-another-host http://127.0.0.2:@PORT@/there
moves /to-itself /to-itself
moves /loop-1 /loop-2
moves /loop-2 /loop-1
for n in 1 2 3 4; do
    moves /far-$n /far-$((n + 1))
done
moves /to-no-url http://[
for path in to-a-page to-another-host to-itself loop-1 far-1 to-no-url; do
    echo "<a href=/$path>.</a>"
done >>web/127.0.0.1/index.html
pages 127.0.0.1 /page
plain_site 127.0.0.1
at=http://127.0.0.1:$port
# shellcheck disable=SC2086
exits 0 "$URLWEIR" crawl "$at/" -o moved $quick --scope host --max-redirects 3 --jsonl moved.jsonl
sed 's/"seq": [0-9]*, //' moved.jsonl >lines
exits 0 "$URLWEIR" export moved
# leads PATH REASON TARGET
leads() {
    for file in out lines; do
        has "$at$1" status '"redirect"' $file
        has "$at$1" reason "$2" $file
        has "$at$1" redirect_to "$3" $file
    done
}
leads /to-a-page null "\"$at/page\""
leads /to-another-host '"redirect_scope"' "\"http://127.0.0.2:$port/there\""
leads /to-itself '"redirect_loop"' "\"$at/to-itself\""
leads /loop-1 null "\"$at/loop-2\""
leads /loop-2 '"redirect_loop"' "\"$at/loop-1\""
leads /far-1 null "\"$at/far-2\""
leads /far-4 '"redirect_limit"' "\"$at/far-5\""
# What leads nowhere is a page, with its status.
for file in out lines; do
    has "$at/to-no-url" status '"fetched"' $file
    has "$at/to-no-url" http_status 302 $file
    has "$at/to-no-url" redirect_to null $file
done
has "$at/to-no-url" detail '"http://[[]"' lines
has "$at/page" redirect_to null
exits 0 "$URLWEIR" explain moved "$at/to-another-host"
says out "http://127.0.0.2:$port/there"
exits 0 sqlite3 -readonly moved/frontier.db "SELECT redirect_to FROM fetches WHERE reason = 'redirect_limit'"
says out "$at/far-5"
agrees moved
kill "$server" && wait "$server" || :

# ---- content codings that nobody knows -----------------------------------------------

rm -rf web
n=0
long=$(printf 'x%.0s' $(seq 300))
for coding in utf-8 none binary "8bit, UTF-8" "$long" identity ""; do
    n=$((n + 1))
    host=127.0.0.$n
    pages $host /index.html /page /private
    echo '<a href=/page>.</a> <a href=/private>.</a>' >>web/$host/index.html
    printf 'User-agent: *\nDisallow: /private\n' >web/$host/robots.txt
    for file in index.html page robots.txt; do
        printf '200\nContent-Type: text/html\nContent-Encoding: %s\n' "$coding" >web/$host/$file.head
    done
done
# shellcheck disable=SC2046
plain_site $(seq -f '127.0.0.%g' $n)
for n in $(seq $n); do
    echo "http://127.0.0.$n:$port/"
done >seeds
# shellcheck disable=SC2086
exits 0 "$URLWEIR" crawl -i seeds -o coded $quick --jsonl coded.jsonl --warc
exits 0 "$URLWEIR" export coded --what pages
cp out coded.pages
exits 0 "$URLWEIR" export coded
sed 's/"seq": [0-9]*, //' coded.jsonl >lines
for n in $(seq $n); do
    [ "$n" -le 5 ] && unknown=true || unknown=false
    for page in / /page; do
        for file in coded.pages lines; do
            has "http://127.0.0.$n:$port$page" reason null $file
            has "http://127.0.0.$n:$port$page" unknown_coding $unknown $file
        done
        has "http://127.0.0.$n:$port$page" title '"[^"]*"' coded.pages
    done
    has "http://127.0.0.$n:$port/private" reason '"robots"'
done
agrees coded
kill "$server" && wait "$server" || :

# ---- noindex -----------------------------------------------------------------------------

rm -rf web
pages 127.0.0.1 /index.html /a /b /c /d
echo '<a href=/marked>.</a> <a href=/field>.</a> <a href=/neither>.</a>' >>web/127.0.0.1/index.html
pages 127.0.0.1 /marked /field /neither
echo '<meta name=robots content=noindex><a href=/a>.</a>' >>web/127.0.0.1/marked
echo '<a href=/b>.</a>' >>web/127.0.0.1/field
printf '200\nContent-Type: text/html\nX-Robots-Tag: noindex\n' >web/127.0.0.1/field.head
echo '<meta name=robots content=none><a href=/c>.</a>' >>web/127.0.0.1/neither
for page in marked neither a b c d; do
    [ -e web/127.0.0.1/$page.head ] || printf '200\nContent-Type: text/html\n' >web/127.0.0.1/$page.head
done
plain_site 127.0.0.1
at=http://127.0.0.1:$port
# shellcheck disable=SC2086
exits 0 "$URLWEIR" crawl "$at/" -o marked $quick --jsonl marked.jsonl
sed 's/"seq": [0-9]*, //' marked.jsonl >lines
for what in urls pages; do
    exits 0 "$URLWEIR" export marked --what $what
    cp out $what
done
for page in marked field neither; do
    for file in urls pages lines; do
        has $at/$page status '"fetched"' $file
        has $at/$page reason null $file
        has $at/$page noindex true $file
    done
    has $at/$page title "\"/$page\"" pages
done
has $at/a noindex false pages
has $at/b noindex false pages
asked 127.0.0.1 /a
asked 127.0.0.1 /b
not_asked 127.0.0.1 /c
exits 0 "$URLWEIR" export marked --what errors
[ ! -s out ] || fail "errors: $(cat out)"
exits 0 "$URLWEIR" status marked --json
[ "$(json pages <out) $(json fetched <out) $(json skipped <out)" = "6 6 0" ] || fail "$(cat out)"

# shellcheck disable=SC2086
exits 0 "$URLWEIR" crawl "$at/" -o left $quick --noindex skip
exits 0 "$URLWEIR" export left
for page in marked field neither; do
    has $at/$page status '"skipped"'
    has $at/$page reason '"noindex"'
    has $at/$page noindex true
done
has $at/a status '"fetched"'
exits 0 "$URLWEIR" status left --json
[ "$(json pages <out) $(json fetched <out) $(json skipped <out)" = "3 3 3" ] || fail "$(cat out)"
kill "$server" && wait "$server" || :

# ---- a sitemap that was only a guess ---------------------------------------------------

rm -rf web
pages 127.0.0.1 /index.html
plain_site 127.0.0.1
at=http://127.0.0.1:$port
# shellcheck disable=SC2086
exits 0 "$URLWEIR" crawl "$at/" -o guess $quick --sitemap auto
asked 127.0.0.1 /sitemap.xml
lacks err failed "a guess is shown as failed"
exits 0 "$URLWEIR" export guess --what errors
[ ! -s out ] || fail "errors: $(cat out)"
exits 0 "$URLWEIR" status guess --json
[ "$(json pages <out) $(json failed <out) $(json denied <out)" = "1 0 0" ] || fail "$(cat out)"
exits 0 "$URLWEIR" explain guess "$at/sitemap.xml"
says out no_sitemap
