#!/bin/sh
# --drop-params: URLs that differ only in dropped parameters are one URL, in
# links, seeds and sitemaps and for explain.
# Promise (Commands and options): parameters of queries are dropped and sorted
#   by the rules of the crawl. See also `url_form`.
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

# A sitemap that a robots.txt names, and one that a person names.
cat >web/robots.txt <<END
Sitemap: $at/s.xml?sid=1
Sitemap: $at/s.xml?sid=2
END
echo "<urlset><url><loc>$at/a.html?sid=3&amp;x=1</loc></url></urlset>" >web/s.xml
cp web/s.xml web/t.xml
exits 0 "$URLWEIR" crawl "$at/" -o s --allow-private --delay 0 --sitemap-url "$at/t.xml?sid=4" \
    --drop-params 'sid,utm_*' --progress none
exits 0 "$URLWEIR" export s --format csv
for url in "$at/s.xml" "$at/t.xml" "$at/a.html?x=1"; do
    [ "$(grep -c "^$url," out)" = 1 ] || fail "$url is not there once: $(cat out)"
done
lacks out sid= "dropped parameters are there"
