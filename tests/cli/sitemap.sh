#!/bin/sh
# `urlweir sitemap`: loc, lastmod and priority of each entry, in file order.
# Promise (Links): sitemaps and feeds are read, also broken ones. See also
#   `sitemap`, `feed`, `xml_scan`.
set -eu
. "$TOP/tests/cli/lib.sh"

tab=$(printf '\t')

# rows WHAT WANT: the rows of ./in
rows() {
    got=$("$URLWEIR" sitemap --url http://base.example/dir/x in 2>err) ||
        fail "$1: exit status $?"
    [ "$2" = "$got" ] || fail "$1: expected
$2
got
$got"
}

cat >in <<'XML'
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
[ ! -s err ] || fail "a whole file needs no complaint"

gzip -c in >gz && mv gz in
rows "the same gzipped, whatever its name" "$want"

head -c $(($(wc -c <in) - 8)) in >cut && mv cut in
rows "a gzip file without its trailer" "$want"
[ -s err ] || fail "a damaged file needs a complaint"

printf 'http://h/1\r\nnothing\n\nhttp://h/2' >in
rows "a text file" "http://h/1${tab}${tab}
http://h/2${tab}${tab}"

printf '<sitemapindex><sitemap><loc>http://h/s.xml</loc></sitemap>' >in
rows "an index cut short" "http://h/s.xml${tab}${tab}"

printf '<rss><channel><item><link>1</link><pubDate>now</pubDate></item>' >in
rows "a feed, relative to --url" "http://base.example/dir/1${tab}now${tab}"

printf '<html><a href="http://h/">x</a></html>' >in
rows "a page" ""

: >in
rows "nothing" ""

printf '<!DOCTYPE u [<!ENTITY x SYSTEM "file://%s/secret">]><urlset><url><loc>http://h/1</loc><lastmod>&x;</lastmod></url></urlset>' "$PWD" >in
echo secret >secret
rows "no other file is read" "http://h/1${tab}${tab}"

# ends CODE ARGS...
ends() {
    ends_want=$1
    shift
    exits "$ends_want" "$URLWEIR" sitemap "$@"
    [ "$ends_want" = 0 ] || [ -s err ] || fail "sitemap $*: no message"
}
ends 0 --help
ends 0 in --url=http://h/
ends 1 in
ends 1 --url http://h/
ends 1 --url
ends 1 --url nothing in
ends 1 --urls http://h/ in
ends 1 --url http://h/ in more
ends 2 --url http://h/ none
ends 2 --url http://h/ .
