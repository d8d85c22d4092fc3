#!/bin/sh
# --drop-params: URLs that differ in dropped parameters only are one, as links,
# as seeds and as what explain is asked for.
set -eu
. "$TOP/tests/cli/lib.sh"

mkdir web
cat >web/index.html <<'PAGE'
<a href="a.html?sid=1&x=1">a</a> <a href="a.html?x=1&sid=2">a</a>
<a href="a.html?utm_source=m&x=1">a</a> <a href="a.html?x=2">another</a>
PAGE
echo '<a href="/?sid=9">home</a>' >web/a.html
serve_files web 127.0.0.2
at=http://127.0.0.2:$port

exits 0 "$URLWEIR" crawl "$at/?sid=7" -o d --allow-private --delay 0 --sitemap off \
    --drop-params 'sid,utm_*' --progress none
exits 0 "$URLWEIR" export d --format csv
cut -d, -f1 out | tr -d '\r' | sort >got
printf '%s\n' url "$at/" "$at/a.html?x=1" "$at/a.html?x=2" | sort >want
cmp got want || {
    cat got
    fail "other URLs than the three"
}
exits 0 "$URLWEIR" explain d "$at/a.html?sid=5&x=1"
says out fetched
