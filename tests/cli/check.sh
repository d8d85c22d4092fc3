#!/bin/sh
# crawl --check: each URL is requested by HEAD, and once more by GET if that
# fails, politely and as robots.txt allows; no body is read, and only redirects
# are followed. export --what broken --checked joins the results to the links of
# another crawl. A kill loses nothing, and no finished URL is requested again.
set -eu
. "$TOP/tests/cli/lib.sh"

in=127.0.0.1 out=127.0.0.2
mkdir -p web/$in web/$out
cat >web/$in/index.html <<'END'
<a href=http://127.0.0.2:@PORT@/good.html>good</a> <a href=http://127.0.0.2:@PORT@/gone.html>gone</a>
<a href=http://127.0.0.2:@PORT@/refused.html>fine</a> <img src=http://127.0.0.2:@PORT@/broken.png alt='a picture'>
<a href=http://127.0.0.2:@PORT@/moved.html>moved</a> <a href=http://127.0.0.2:@PORT@/lost.html>moved, and gone</a>
<a href=http://127.0.0.2:@PORT@/denied/x.html>not asked for</a> <a href=http://127.0.0.2:@PORT@/big.bin>big</a>
<a href=/here.html>here</a>
END
echo '<a href=http://127.0.0.2:@PORT@/gone.html rel=nofollow>gone, too</a>' >web/$in/here.html
echo '<a href=/never.html>never</a><link rel=sitemap href=/sitemap.xml>' >web/$out/good.html
echo fine >web/$out/refused.html
echo 405 >web/$out/refused.html.nohead
echo 500 >web/$out/broken.png.head
: >web/$out/broken.png
head -c 3000000 /dev/zero >web/$out/big.bin
echo 404 >web/$out/big.bin.nohead # of a page that is there
moved() {
    : >"web/$out$1"
    printf '301\nLocation: %s\n' "$2" >"web/$out$1.head"
}
moved /moved.html /good.html
moved /lost.html /gone.html
printf 'User-agent: *\nDisallow: /denied/\n' >web/$out/robots.txt
plain_site $in $out

crawl d --scope host --record links --follow a,img
ended 0
exits 0 "$URLWEIR" export d --what links
grep -o "\"dst\": \"http://$out[^\"]*\"" out | cut -d '"' -f 4 | sort -u >outside.txt
[ "$(wc -l <outside.txt)" = 8 ] || fail "not 8 links: $(cat outside.txt)"
grep -q "^$out " log && fail "the other host was asked"

# check DIR OPTION...: the links to the other host.
check() {
    check_dir=$1
    shift
    "$URLWEIR" crawl -i outside.txt -o "$check_dir" --check --allow-private --delay 50ms --retry-delay 50ms \
        --max-delay 100ms --min-disk 0 --progress none "$@" >crawl.out 2>crawl.err || [ $? = 5 ] || fail "$(cat crawl.err)"
}
# asked METHOD-AND-PATH TIMES
asked_for() {
    [ "$(grep -cxF "$out $1" log)" = "$2" ] || fail "$1 was not asked for $2 times: $(grep "^$out" log)"
}

check c --tries 1
asked_for /robots.txt 1
asked_for 'HEAD /good.html' 1
asked_for /good.html 0
for path in /gone.html /refused.html /big.bin /broken.png; do
    asked_for "HEAD $path" 1
    asked_for $path 1
done
for path in /never.html /sitemap.xml /denied/x.html; do
    asked_for $path 0
    asked_for "HEAD $path" 0
done
exits 0 "$URLWEIR" export c
sed -n "s|.*\"url\": \"http://$out:$port\([^\"]*\)\", \"status\": \"\([a-z]*\)\", \"reason\": \([^,]*\),.*|\1 \2 \3|p" out |
    sort >got
sort >want <<'END'
/good.html fetched "checked"
/gone.html failed "http_404"
/refused.html fetched "checked"
/broken.png failed "http_500"
/moved.html redirect null
/lost.html redirect null
/denied/x.html denied "robots"
/big.bin fetched "checked"
END
diff want got >difference || fail "$(cat difference)"
[ "$("$URLWEIR" status c --json | json bytes)" -lt 1000000 ] || fail "a body was read"
agrees c
exits 1 "$URLWEIR" crawl "http://$out:$port/" -o w --check --warc
says err "--check"

# ---- joined to the links of the crawl --------------------------------------------

exits 0 "$URLWEIR" export d --what broken --checked c --format csv
tr -d '\r' <out | sed "s,http://$in:$port,,g; s,http://$out:$port,OUT,g" | sort >got
sort >want <<'END'
url,status,reason,http_status,redirect_to,src,kind,rel,text
OUT/gone.html,failed,http_404,404,,/,a,,gone
OUT/broken.png,failed,http_500,500,,/,img,,a picture
OUT/lost.html,failed,http_404,404,OUT/gone.html,/,a,,"moved, and gone"
OUT/gone.html,failed,http_404,404,,/here.html,a,nofollow,"gone, too"
END
diff want got >difference || fail "$(cat difference)"
exits 0 "$URLWEIR" export d --what broken --format csv
[ "$(wc -l <out)" -le 1 ] || fail "broken without a check: $(cat out)"
exits 1 "$URLWEIR" export d --what links --checked c
says err "--what broken"

# ---- killed, and gone on with --------------------------------------------------------

heads() { grep -c "^$out HEAD" log; }
before=$(heads)
"$URLWEIR" crawl -i outside.txt -o k --check --allow-private --delay 300ms --max-delay 300ms --retry-delay 50ms \
    --min-disk 0 --progress none >k.out 2>&1 &
crawler=$!
waits_for '[ "$(heads)" -ge $((before + 3)) ]' || fail "nothing is checked: $(cat k.out)"
kill -KILL $crawler
wait $crawler 2>/dev/null || :
resume k
[ "$(heads)" -le $((before + 9)) ] || fail "asked again for what was done: $(grep HEAD log)"
exits 0 "$URLWEIR" export d --what broken --checked k --format csv
tr -d '\r' <out | sed "s,http://$in:$port,,g; s,http://$out:$port,OUT,g" | sort | diff want - >difference ||
    fail "after a kill: $(cat difference)"
