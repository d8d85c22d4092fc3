#!/bin/sh
# With --warc every row that has a response points at a whole record; files
# rotate, the index is sorted and complete.
set -eu
. "$TOP/tests/cli/lib.sh"

quick="$quick --warc --warc-size 2M --warc-prefix test --cdxj"

# Every page that was fetched has a record, and `verify` read each of them.
every_row_has_its_record() {
    agrees "$1"
    exits 0 "$URLWEIR" verify "$1"
    says out "each points at a whole record; all "
    exits 0 "$URLWEIR" export "$1" --what pages
    pages=$(wc -l <out)
    [ "$(sed -n 's/^ok *warc: \([0-9]*\) rows.*/\1/p' verify.out)" -ge "$pages" ] ||
        fail "fewer records than the $pages pages"
}

# ---- a crawl from start to end ------------------------------------------------

serve --hosts 10 --pages 600 --profile variants,redirects,robots,types
crawl whole
ended 0
"$URLWEIR" verify whole >verify.out
every_row_has_its_record whole
[ "$(ls whole/warc/test-*.warc.gz | wc -l)" -ge 2 ] || fail "no rotation"
for f in whole/warc/*.warc.gz; do
    gzip -t "$f" || fail "$f is no gzip"
    [ "$(stat -c %s "$f")" -le 2097152 ] || fail "$f is too large"
    gzip -dc "$f" | head -n 2 | tr -d '\r' >head.out
    says head.out "WARC-Type: warcinfo"
done
LC_ALL=C sort -c whole/warc/index.cdxj || fail "the index is not sorted"
answers=$(gzip -dc whole/warc/*.warc.gz | grep -acE '^WARC-Type: (response|revisit)')
[ "$(wc -l <whole/warc/index.cdxj)" = "$answers" ] || fail "the index lacks lines"
! ls whole/warc | grep -v -e '\.warc\.gz$' -e '^index\.cdxj$' || fail "left over"

# --no-warc wins over what the crawl had said of WARC files.
resume whole --no-warc
ended 0

# Damage is told, and where, whether a row names the record or, as of requests
# and robots.txt, none does; and the records behind it are found all the same.
# of.py FILE TYPE: offset and length of a record of that type. Of responses it
# is one that a row names: those of robots.txt have none.
cat >of.py <<'PYTHON'
import sqlite3, sys, zlib
name, kind = sys.argv[1:]
rows = sqlite3.connect("whole/frontier.db").execute(
    "SELECT warc_offset FROM fetches WHERE warc_file = ?", ["warc/" + name.split("/")[-1]])
named = {row[0] for row in rows}
data, at = open(name, "rb").read(), 0
while at < len(data):
    member = zlib.decompressobj(31)
    head = member.decompress(data[at:]).split(b"\r\n\r\n")[0]
    length = len(data) - at - len(member.unused_data)
    if b"WARC-Type: " + kind.encode() + b"\r\n" in head and (kind != "response" or at in named):
        print(at, length)
        break
    at += length
PYTHON
file=$(ls whole/warc/test-*-00001-*)
cp "$file" sound.gz
for type in response request metadata; do
    set -- $(python3 of.py "$file" $type)
    [ $# = 2 ] || fail "no $type record in $file"
    # Of the checksum, which any change makes wrong (RFC 1952 section 2.3.1).
    flip "$file" $(($1 + $2 - 6))
    exits 6 "$URLWEIR" verify whole
    says out "no whole record at octet $1 of warc/${file##*/}, one of 1 damaged"
    says out "the crawl itself is intact"
    case $type in
    response) says out "rows point at no whole record" ;;
    *) lacks out "rows point" "a row points at a $type record" ;;
    esac
    cp sound.gz "$file"
done
truncate -s -1 "$file"
exits 6 "$URLWEIR" verify whole
cp sound.gz "$file"
mv "$file" moved.gz
exits 6 "$URLWEIR" verify whole
says out "rows point at no whole record"
mv moved.gz "$file"
exits 0 "$URLWEIR" verify whole
serve_no_more
judge
