#!/bin/sh
# `urlweir links`: the links of one file, KIND TAB absolute URL.
set -eu
. "$TOP/tests/cli/lib.sh"

reads links

base=http://h.example/dir/page.html

cat >in <<'PAGE'
<!DOCTYPE html><html lang=en><head><title><a href=no></title>
<link rel=canonical href="/c"><link rel="stylesheet" href=s.css>
<link rel=alternate type=application/rss+xml href=feed><link rel=sitemap href=m.xml>
<link rel=manifest href=w.json><base href="../sub/">
<style>@import "i.css"; p { background: url(b.png) }</style></head>
<body><!-- <a href=no> --><a href="x?a&amp;b#f">x</a><img src=i srcset="i 1x, j,k 2x">
<form action=f></form><iframe src=r><a href=no></iframe><noscript><a href=n></a></noscript>
<area href="//other.example"><script src=t.js>'<a href=no>'</script><a href="mailto:x">
<video src=v></video><img data-src=l></body></html><a href=after>
PAGE
cat >want <<'ROWS'
canonical	http://h.example/c
css	http://h.example/sub/s.css
feed	http://h.example/sub/feed
sitemap	http://h.example/sub/m.xml
link	http://h.example/sub/w.json
a	http://h.example/sub/x?a&b
img	http://h.example/sub/i
srcset	http://h.example/sub/i
srcset	http://h.example/sub/j,k
form	http://h.example/sub/f
iframe	http://h.example/sub/r
a	http://h.example/sub/n
area	http://other.example/
script	http://h.example/sub/t.js
a	http://h.example/sub/after
ROWS
check "a page on stdin" 0 --url $base -
check "a page in a file" 0 --url=$base in
check "options after the file" 0 in --url $base --content-type text/html

sed -e '/w.json/s/^link/manifest/' want >all
cat >>all <<'ROWS'
style	http://h.example/sub/i.css
style	http://h.example/sub/b.png
media	http://h.example/sub/v
lazy	http://h.example/sub/l
ROWS
sort all >want
"$URLWEIR" links --url $base --all in | sort >out
cmp -s want out || fail "--all prints the other kinds too"

printf '<meta charset=koi8-r><a href="\301?\301">' >in
printf 'a\thttp://h.example/dir/%%D0%%B0?%%C1\n' >want
check "the page's own encoding" 0 --url $base -
printf 'a\thttp://h.example/dir/%%C3%%81?%%C1\n' >want
check "--content-type wins over it" 0 --url $base --content-type 'text/html; charset=latin1' -

cat >in <<'PAGE'
<?xml version="1.0"?>
<html xmlns="http://www.w3.org/1999/xhtml"><script src="s"/><textarea/>
<a href="a"/></html>
PAGE
printf 'script\thttp://h.example/dir/s\na\thttp://h.example/dir/a\n' >want
for type in 'application/xhtml+xml; charset=utf-8' text/xml application/xml; do
    check "a page in XML: $type" 0 --url $base --content-type "$type" -
    [ ! -s err ] || fail "a page that is well formed: $(cat err)"
done
sed -e 's/"a"/a /' in >broken
check "it goes on as HTML where it breaks" 0 --url $base --content-type text/xml broken
grep -q "broken: not well-formed XML from line 3 on" err || fail "which is said: $(cat err)"
printf 'script\thttp://h.example/dir/s\n' >want
check "as HTML a script swallows the rest" 0 --url $base in

printf 'p{background:url("a\\"b")}/*url(c)*/@import url(d);' >in
printf 'style\thttp://h.example/dir/a%%22b\nstyle\thttp://h.example/dir/d\n' >want
check "a style sheet" 0 --all --url $base --content-type 'Text/CSS; charset=utf-8' -
: >want
check "a style sheet has links of kind style only" 0 --url $base --content-type text/css -
: >in
check "an empty file has none" 0 --url $base -
printf '<a href=x' >in
check "a tag cut short is none" 0 --url $base -

printf '<a href=http://u:p@H.example:80/%%7e/../x>' >in
printf 'a\thttp://u:p@h.example/x\n' >want
check "URLs are in the standard's form, not the canonical one" 0 --url $base -

refused "without --url" "--url is missing" -
refused "a base that is none" "--url is not an http(s) URL" --url mailto:x -
refused "without a file" "a file is missing" --url $base
refused "two files" "one operand too many" --url $base in in
refused "an unknown option" "--al1" --url $base --al1 -
refused "no such file" none --url $base none
exits 0 "$URLWEIR" links --help
says out --content-type
if [ -c /dev/full ]; then
    ! "$URLWEIR" links --url $base in >/dev/full 2>err || fail "a full disk is an error"
fi
