#!/bin/sh
# export --what broken: each link that leads nowhere, with the page that has it.
# Promise (Links): broken links are listed with the pages that have them and
#   their texts, also if they lead there by redirects.
set -eu
. "$TOP/tests/cli/lib.sh"

here=127.0.0.1
mkdir -p web/$here
cat >web/$here/index.html <<'END'
<a href=/there.html>fine</a><a href=/gone.html>gone</a><img src=/gone.png alt='a picture'>
<a href=/old.html>moved, and fine</a><a href=/lost.html>moved, and gone</a>
<a href=/round.html rel=noopener>round
 <b>and</b> round</a><a href=/denied/x.html>not asked for</a>
<a href=http://other.example/>another host</a>
END
cat >web/$here/there.html <<'END'
<a href=/gone.html>once</a> <a href=/gone.html>again</a> <a href=/>home</a>
END
moved() {
    : >"web/$here$1"
    printf '301\nLocation: %s\n' "$2" >"web/$here$1.head"
}
moved /old.html /there.html
moved /lost.html /lost-2.html
moved /lost-2.html /gone.html
moved /round.html /round-2.html
moved /round-2.html /round.html
printf 'User-agent: *\nDisallow: /denied/\n' >web/$here/robots.txt
plain_site $here
crawl d --scope host --record links --assets
ended 0
exits 0 "$URLWEIR" export d --what broken --format csv
sed "s,http://$here:$port,,g" out >got
cat >want <<'END'
url,status,reason,http_status,redirect_to,src,kind,rel,text
/gone.html,failed,http_404,404,,/,a,,gone
/gone.png,failed,http_404,404,,/,img,,a picture
/lost.html,failed,http_404,404,/gone.html,/,a,,"moved, and gone"
/round.html,redirect,redirect_loop,301,/round-2.html,/,a,noopener,round and round
/gone.html,failed,http_404,404,,/there.html,a,,once
/gone.html,failed,http_404,404,,/there.html,a,,again
END
sort want >want.sorted
tr -d '\r' <got | sort | diff want.sorted - >difference || fail "$(cat difference)"
exits 0 "$URLWEIR" export d --what broken
says out '"url": "'
says out '"redirect_to": null'
crawl plain --scope host
exits 1 "$URLWEIR" export plain --what broken
says err "did not record its links"
"$URLWEIR" export d --what broken >/dev/full 2>err && fail "a full device is no error"
says err "cannot write"
