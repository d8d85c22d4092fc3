#!/bin/sh
# Content codings cost no more than the pages they hold: the crawl decodes one
# or two of them and refuses a third, refuses streams of nothing in a stream,
# cuts bombs, counts decoder windows towards --memory, and ignores names that
# are not codings.
set -eu
. "$TOP/tests/cli/lib.sh"

# row PATH: of the export.
row() { grep -F "\"http://127.0.0.1:$port$1\"" out; }
# came_to PATH REASON: it was fetched, with this reason or null.
came_to() {
    row "$1" | grep -q "\"status\": \"fetched\", \"reason\": $2," || fail "$1: $(row "$1")"
}

serve_hostile codings
small="one two three members members-2 members-3 frames bomb bomb-2 bomb-zstd bomb-zstd-2
    bomb-br window name names end"
for path in $small; do
    echo "http://127.0.0.1:$port/$path"
done >seeds
# shellcheck disable=SC2086
crawl d -i seeds -c 4 --max-body 4M --timeout 60s
ended 0
exits 0 "$URLWEIR" export d
for path in one two members name names end; do
    came_to /$path null
done
for path in three members-2 members-3 frames window; do
    came_to /$path '"bad_encoding"'
done
for path in bomb bomb-2 bomb-zstd bomb-zstd-2 bomb-br; do
    came_to /$path '"truncated_length"'
done
exits 0 "$URLWEIR" explain d "http://127.0.0.1:$port/name"
says out "not known"
agrees d

# ---- windows of 8 MiB, twice in each of 24 responses that come together -------------

for i in $(seq 0 23); do
    echo "http://127.0.0.$((i % 16 + 1)):$port/windows-$i"
done >seeds
rm -rf d
# shellcheck disable=SC2086
peak "$URLWEIR" crawl -i seeds -o d $quick --robots off -c 24 --conns-per-host 2 --memory 96M \
    --max-body 4M --timeout 60s
ended 0
echo "24 responses with two windows of 8 MiB: $((rss / 1024)) MiB"
[ $((rss / 1024)) -lt 96 ] || fail "$((rss / 1024)) MiB"
exits 0 "$URLWEIR" export d
[ "$(grep -c '"reason": "truncated_length"' out)" = 24 ] || fail "$(cat out crawl.err)"
hostile_no_more
