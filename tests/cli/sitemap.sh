#!/bin/sh
# `urlweir sitemap`: loc, lastmod and priority of each entry, in file order.
# URLWEIR names the binary.
# Promise (Links): sitemaps and feeds are read, also broken ones. See also
#   `sitemap`, `feed`, `xml_scan`.
set -eu
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
n=0
tab=$(printf '\t')

fail() {
    echo "sitemap.sh: $*" >&2
    exit 1
}

# rows WHAT WANT: the rows of $t/in
rows() {
    n=$((n + 1))
    got=$("$URLWEIR" sitemap --url http://base.example/dir/x "$t/in" 2>"$t/err") ||
        fail "$1: exit status $?"
    [ "$2" = "$got" ] || fail "$1: expected
$2
got
$got"
}

cat >"$t/in" <<'XML'
<?xml version="1.0" encoding="UTF-8"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
        xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
  <url>
    <loc>http://h/?a=1&b=2</loc>
    <lastmod> 2024-01-31 </lastmod>
    <priority>0.8</priority>
    <image:image><image:loc>http://h/i.png</image:loc></image:image>
  </url>
  <url><priority>1.0</priority><loc>https://H/x/../2</loc></url>
  <url><loc>ftp://h/3</loc></url>
  <url><loc>http://h/4</loc><lastmod>a
b</lastmod></url>
</urlset>
XML
want="http://h/?a=1&b=2${tab}2024-01-31${tab}0.8
https://h/2${tab}${tab}1.0
http://h/4${tab}a b${tab}"
rows "a urlset" "$want"
[ ! -s "$t/err" ] || fail "a whole file needs no complaint"

gzip -c "$t/in" >"$t/gz" && mv "$t/gz" "$t/in"
rows "the same gzipped, whatever its name" "$want"

head -c $(($(wc -c <"$t/in") - 8)) "$t/in" >"$t/cut" && mv "$t/cut" "$t/in"
rows "a gzip file without its trailer" "$want"
[ -s "$t/err" ] || fail "a damaged file needs a complaint"

printf 'http://h/1\r\nnothing\n\nhttp://h/2' >"$t/in"
rows "a text file" "http://h/1${tab}${tab}
http://h/2${tab}${tab}"

printf '<sitemapindex><sitemap><loc>http://h/s.xml</loc></sitemap>' >"$t/in"
rows "an index cut short" "http://h/s.xml${tab}${tab}"

printf '<rss><channel><item><link>1</link><pubDate>now</pubDate></item>' >"$t/in"
rows "a feed, relative to --url" "http://base.example/dir/1${tab}now${tab}"

printf '<html><a href="http://h/">x</a></html>' >"$t/in"
rows "a page" ""

: >"$t/in"
rows "nothing" ""

printf '<!DOCTYPE u [<!ENTITY x SYSTEM "file://%s/secret">]><urlset><url><loc>http://h/1</loc><lastmod>&x;</lastmod></url></urlset>' "$t" >"$t/in"
echo secret >"$t/secret"
rows "no other file is read" "http://h/1${tab}${tab}"

# exits CODE ARGS...
exits() {
    want=$1
    shift
    n=$((n + 1))
    got=0
    "$URLWEIR" sitemap "$@" >"$t/out" 2>"$t/err" || got=$?
    [ "$got" = "$want" ] || fail "sitemap $*: exit $got, not $want"
    [ "$want" = 0 ] || [ -s "$t/err" ] || fail "sitemap $*: no message"
}
exits 0 --help
exits 0 "$t/in" --url=http://h/
exits 1 "$t/in"
exits 1 --url http://h/
exits 1 --url
exits 1 --url nothing "$t/in"
exits 1 --urls http://h/ "$t/in"
exits 1 --url http://h/ "$t/in" more
exits 2 --url http://h/ "$t/none"
exits 2 --url http://h/ "$t"

echo "sitemap: $n checks"
