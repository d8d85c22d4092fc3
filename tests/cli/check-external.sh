#!/bin/sh
# crawl --check-external: targets of links out of scope are requested by HEAD,
# like --check does, in the crawl that finds them: each once, politely, as
# robots.txt allows, one hop, at any depth. export --what broken has those that
# are missing. A resume can switch it on and off; archives get no responses
# without a body, and a URL that was only checked is fetched once it is in
# scope.
set -eu
. "$TOP/tests/cli/lib.sh"

in=127.0.0.1 out=127.0.0.2
mkdir -p web/$in/sub web/$out
cat >web/$in/index.html <<'END'
<a href=http://127.0.0.2:@PORT@/good.html>good</a> <a href=http://127.0.0.2:@PORT@/gone.html>gone</a>
<a href=http://127.0.0.2:@PORT@/refused.html>fine</a> <a href=http://127.0.0.2:@PORT@/moved.html>moved</a>
<a href=http://127.0.0.2:@PORT@/lost.html>moved, and gone</a> <a href=http://127.0.0.2:@PORT@/home.html>home</a>
<a href=http://127.0.0.2:@PORT@/denied/x.html>not asked for</a> <a href=http://127.0.0.2:@PORT@/secret.html>excluded</a>
<a rel=nofollow href=http://127.0.0.2:@PORT@/nofollow.html>nofollow</a>
<img src=http://127.0.0.2:@PORT@/broken.png alt='a picture'> <a href=/sub/>here</a> <a href=/away.html>away</a>
<a href=http://127.0.0.3:@PORT@/x>silent</a> <a href=http://127.0.0.3:@PORT@/y>silent, too</a>
<a href=http://127.0.0.1:65531/>a port without a server</a>
END
echo '<a href=http://127.0.0.2:@PORT@/gone.html>gone, too</a> <a href=http://127.0.0.2:@PORT@/late.html>late</a>
    <a href=/sub/deep.html>deep</a> <a href=http://127.0.0.2:@PORT@/good.html>again</a>' >web/$in/sub/index.html
echo deep >web/$in/sub/deep.html
echo '<title>Good</title><a href=/never.html>never</a>' >web/$out/good.html
echo never >web/$out/never.html
echo fine >web/$out/refused.html
echo 405 >web/$out/refused.html.nohead
echo 500 >web/$out/broken.png.head
: >web/$out/broken.png
for f in secret nofollow; do
    echo $f >web/$out/$f.html
done
# moved HOST PATH TARGET
moved() {
    : >"web/$1$2"
    printf '301\nLocation: %s\n' "$3" >"web/$1$2.head"
}
moved $out /moved.html /good.html
moved $out /lost.html /gone.html
moved $out /home.html "http://$in:@PORT@/found.html"
moved $in /away.html "http://$out:@PORT@/gone.html"
echo '<p>only from elsewhere' >web/$in/found.html
printf 'User-agent: *\nDisallow: /denied/\n' >web/$out/robots.txt
plain_site $in $out

# asked_for REQUEST TIMES
asked_for() {
    [ "$(grep -cxF "$out $1" log)" = "$2" ] || fail "$1 was not asked for $2 times: $(grep "^$out" log)"
}
# broken_is DIR: what ./want has.
broken_is() {
    exits 0 "$URLWEIR" export "$1" --what broken --format csv
    tr -d '\r' <out | sed "s,http://$in:$port,,g; s,http://$out:$port,OUT,g; s,http://127.0.0.3:$port,SILENT,g" | sort >got
    sort want | diff - got >difference || fail "broken in $1: $(cat difference)"
}
cat >want <<'END'
url,status,reason,http_status,redirect_to,src,kind,rel,text
OUT/gone.html,failed,http_404,404,,/,a,,gone
OUT/lost.html,failed,http_404,404,OUT/gone.html,/,a,,"moved, and gone"
/away.html,failed,http_404,404,OUT/gone.html,/,a,,away
OUT/gone.html,failed,http_404,404,,/sub/,a,,"gone, too"
OUT/late.html,failed,http_404,404,,/sub/,a,,late
OUT/broken.png,failed,http_500,500,,/,img,,a picture
SILENT/x,failed,connect,,,/,a,,silent
SILENT/y,failed,connect,,,/,a,,"silent, too"
http://127.0.0.1:65531/,failed,connect,,,/,a,,a port without a server
END

options='--scope host --check-external --record all --exclude secret --tries 1 --retry-delay 50ms'

# Of the links of pages of depth 1, too, and whatever --include is about.
# shellcheck disable=SC2086
crawl d $options --depth 1 --include "^http://$in" --follow a,img
ended 0
broken_is d
for path in /good.html /moved.html /lost.html /home.html; do
    asked_for "HEAD $path" 1
    asked_for $path 0
done
for path in /gone.html /late.html /refused.html /broken.png; do
    asked_for "HEAD $path" 1
    asked_for $path 1
done
for path in /never.html /secret.html /nofollow.html /denied/x.html /sitemap.xml; do
    asked_for $path 0
    asked_for "HEAD $path" 0
done
asked_for /robots.txt 1
says log "$in /found.html" # what leads back is in scope
says log "$in /sub/"
grep -q "^$in HEAD\|^$in /sub/deep" log && fail "pages in scope: $(cat log)"
exits 0 "$URLWEIR" export d --format csv
tr -d '\r' <out | grep ",checked," | cut -d, -f1,2,3 | sed "s,http://$out:$port,OUT,g" | sort >got
printf 'OUT/%s.html,fetched,checked\n' good refused | diff - got >difference || fail "checked: $(cat difference)"
exits 0 "$URLWEIR" export d --what pages --format csv
grep -q ',checked,' out && fail "pages that nobody read: $(cat out)"
"$URLWEIR" status d --json >status.json
[ "$(json pages <status.json)" = "$(($(wc -l <out) - 1))" ] || fail "pages: $(cat status.json)"
[ "$(json checked <status.json)" = 2 ] || fail "checked: $(cat status.json)"
[ "$(($(json pages <status.json) + $(json sitemaps <status.json) + 2))" = \
    "$(($(json fetched <status.json) + $(json http_errors <status.json)))" ] || fail "the sum: $(cat status.json)"
[ "$("$URLWEIR" status d --json | json bytes)" -lt 20000 ] || fail "bodies were read"
exits 0 "$URLWEIR" explain d "http://$out:$port/unknown.html"
says out "check_external"
agrees d

# ---- it comes and goes with a resume ---------------------------------------------

crawl late --scope host --record all --exclude secret --tries 1 --retry-delay 50ms --follow a,img
ended 0
exits 0 "$URLWEIR" export late --what broken --format csv
grep OUT out && fail "nobody asked: $(cat out)"
: >log
resume late --check-external
ended 0
# Where away.html leads was no URL of the crawl when it was asked for.
sed -i '/^.away/d' want
broken_is late
asked_for 'HEAD /good.html' 1
grep -q "^$in /index\|^$in /$" log && fail "pages are fetched again: $(cat log)"
# What was checked, and comes into scope, is fetched; nothing else is.
: >log
resume late --scope any --no-check-external
ended 0
asked_for /good.html 1
asked_for /never.html 1
asked_for /gone.html 0
exits 0 "$URLWEIR" export late --what pages --format csv
says out "Good"
agrees late

# ---- an archive has nothing of it ---------------------------------------------------

# shellcheck disable=SC2086
crawl w $options --warc
ended 0
for f in w/warc/*.warc.gz; do
    gzip -dc "$f"
done >records
grep -qa "WARC-Target-URI: http://$in:$port/sub/" records || fail "no records"
grep -a "WARC-Target-URI: http://$out" records | grep -v robots.txt && fail "a check is recorded"
agrees w

# ---- refused ----------------------------------------------------------------------------

for other in '--assets' '--scope any' '--check'; do
    # shellcheck disable=SC2086
    exits 1 "$URLWEIR" crawl "$seed" -o no --check-external $other
    says err "--check"
done
