#!/bin/sh
# A resume that widens a crawl fetches what a new crawl with its settings
# would, and nothing twice; the crawl records drops for this, and they can be
# exported. That the settings most used do so, also over kills, is shown by the
# simulator: scope, depth, patterns, lengths, kinds of links, robots.txt.
set -eu
. "$TOP/tests/cli/lib.sh"

# ---- a web with something to drop for each reason ---------------------------

# page ADDRESS PATH LINK...: an HTML page with these links.
page() {
    mkdir -p "web/$1$(dirname "$2")"
    at=web/$1$2
    echo "<title>$2</title>" >"$at"
    shift 2
    for link; do
        echo "<a href=\"$link\">x</a>" >>"$at"
    done
}
one=127.0.0.1 two=127.0.0.2
page $one /index.html a.html in/b.html "http://$two:@PORT@/far.html" "long.html?$(printf '%060d' 7)" \
    data.txt large.html
page $one /a.html deep.html in/c.html
page $one /deep.html deeper.html index.html
page $one /deeper.html deepest.html
page $one /deepest.html
page $one /in/b.html ../a.html d.html
page $one /in/c.html
page $one /in/d.html "http://$two:@PORT@/far.html"
page $one /long.html
page $one /behind.html
page $two /far.html farther.html "http://$one:@PORT@/in/c.html"
page $two /farther.html
page $two /index.html
echo text >web/$one/data.txt
{ cat web/$one/a.html && head -c 5000 /dev/zero | tr '\0' ' ' &&
    echo '<a href="behind.html">x</a>'; } >web/$one/large.html
echo 'User-agent: *' >web/$two/robots.txt
# Each of these pages is behind a setting of its own, and leads to another one.
page $one /gates.html walled/in.html unlisted.html hop.html twin/a.html twin/b/a.html \
    near1.html near/near2.html away.html lengthy.html
page $one /walled/in.html ../out1.html
page $one /unlisted.html out2.html
echo '<meta name=robots content=noindex>' >>web/$one/unlisted.html
printf '302\nLocation: /hop2.html\n' >web/$one/hop.html.head
printf '302\nLocation: /out3.html\n' >web/$one/hop2.html.head
printf '302\nLocation: http://%s:@PORT@/far.html\n' $two >web/$one/away.html.head
printf '302\nLocation: /long.html?%060d\n' 7 >web/$one/lengthy.html.head
touch web/$one/hop.html web/$one/hop2.html web/$one/away.html web/$one/lengthy.html
mkdir -p web/$one/twin/b web/$one/near
echo '<a href="only.html">x</a>' | tee web/$one/twin/a.html >web/$one/twin/b/a.html
text='one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
    sixteen seventeen eighteen nineteen twenty so many words that two of them do not matter much'
echo "<p>$text here <a href=out4.html>x</a>" >web/$one/near1.html
echo "<p>$text here <a href=out4.html>x</a> <!-- another body -->" >web/$one/near/near2.html
for name in out1 out2 out3 out4 near/out4 twin/only twin/b/only; do
    page $one /$name.html
done
# Links of many kinds.
page $one /kinds.html
cat >>web/$one/kinds.html <<'END'
<img src=pic.png><video src=clip.html></video><iframe src=frame.html></iframe>
<style>body { background: url(back.png) }</style><link rel=stylesheet href=a.css>
<link rel=sitemap href=linked.xml>
END
page $one /frame.html
page $one /clip.html
echo 'p { background: url(in-css.png) }' >web/$one/a.css
for name in pic back in-css; do
    echo picture >web/$one/$name.png
done
# Sitemaps that are guessed, named by robots.txt, and linked to.
printf 'User-agent: *\nDisallow: /walled/\nSitemap: /named.xml\n' >web/$one/robots.txt
for name in sitemap named linked; do
    echo "<urlset><url><loc>http://$one:@PORT@/of-$name.html</loc></url></urlset>" \
        >web/$one/$name.xml
    page $one /of-$name.html under-$name.html
    page $one /under-$name.html
done
echo "<urlset><url><loc>http://$two:@PORT@/farther.html</loc></url></urlset>" >web/$two/list.xml
plain_site $one $two
seed=http://$one:$port/index.html
quick="$quick --threads 1"

# fetched: what has arrived since the last `from_here`, sorted, robots.txt left out.
from_here() { since=$(wc -l <log); }
fetched() { tail -n +$((since + 1)) log | grep -v ' /robots.txt$' | sort; }

# widens NAME NARROW WIDE [AGAIN [STATUS]]: the crawl begins with the options
# NARROW, ends with STATUS, and goes on with WIDE; AGAIN are requests that have to
# be made once more, one a line.
widens() {
    rm -rf fresh d
    from_here
    # shellcheck disable=SC2086
    crawl fresh $3
    ended 0 "$1, fresh"
    fetched >fresh.log
    from_here
    # shellcheck disable=SC2086
    crawl d $2
    ended "${5:-0}" "$1, narrow"
    fetched >narrow.log
    [ -n "${4:-}" ] || [ "$(wc -l <narrow.log)" -lt "$(wc -l <fresh.log)" ] || fail "$1: nothing was narrow"
    # shellcheck disable=SC2086
    resume d $3
    ended 0 "$1, wide"
    fetched | uniq >wide.log
    fetched | uniq -d >twice
    { cat fresh.log narrow.log; } | sort -u | cmp -s - wide.log ||
        fail "$1: $(sort -u fresh.log narrow.log | diff - wide.log) $(cat crawl.err)"
    [ "$(cat twice)" = "${4:-}" ] || fail "$1: fetched twice: $(cat twice)"
    agrees d
    # Once more: nothing is left to do, and it says so.
    from_here
    resume d
    ended 0 "$1, again"
    [ -z "$(fetched)" ] || fail "$1: went on: $(fetched)"
    says crawl.err "is finished"
}

any="--scope any"
widens depth "-d 1" "-d 2"
widens mime "--mime text/html" "--mime text/" "$one /data.txt"
# What was skipped and has come back is no error of its host.
exits 0 "$URLWEIR" export d --what hosts
lacks -v out '"errors": 0' "errors of hosts"
widens body "--max-body 1K" "--max-body 1M" "$one /large.html"
widens network "--no-allow-private --allow-net $one" "--allow-net $two"

seed=http://$one:$port/gates.html
widens noindex "--noindex skip" "--noindex report" "$one /unlisted.html"
widens redirects "--max-redirects 0" "--max-redirects 1" "$one /away.html
$one /hop.html
$one /lengthy.html"
widens redirects "--max-redirects 1" "--max-redirects 5" "$one /hop2.html"
# A redirect whose target was kept out stays one, and the target comes back.
widens "redirect too long" "--max-url-len 70" "--max-url-len 200"
widens "redirect out of scope" "--scope host" "$any"
widens twins "--dup-content skip" "--dup-content report"
widens near "--near-dup skip" "--near-dup report"
exits 0 "$URLWEIR" filter create blocked --kind bloom --capacity 1000 --fpr 1e-6
printf 'http://%s:%s/%s\n' $one "$port" hop.html $one "$port" out4.html |
    "$URLWEIR" filter add blocked >out
widens blocked "--block-filter blocked" "--block-filter="

seed=http://$one:$port/kinds.html
widens follow "--follow a" "--follow a,iframe,img" "$one /kinds.html"
widens assets "--assets off" "--assets all" "$one /frame.html
$one /kinds.html"
widens sitemap "--sitemap off" "--sitemap auto" "$one /kinds.html"
widens guess "-d 0 --sitemap auto" "-d 2 --sitemap auto"
widens guess "--scope seed --sitemap auto" "--scope host --sitemap auto"
widens "robots.txt" "--robots off --sitemap auto" "--robots obey --sitemap auto" "$one /sitemap.xml"
rm web/$one/sitemap.xml
widens "no sitemap" "--robots off --sitemap auto" "--robots report --sitemap auto" "$one /sitemap.xml"
echo "<urlset><url><loc>http://$one:$port/of-sitemap.html</loc></url></urlset>" >web/$one/sitemap.xml
widens only "--sitemap only" "--sitemap auto" "$one /of-named.html
$one /of-sitemap.html"
seed=http://$one:$port/in/b.html
widens "only, below a directory" "--scope prefix --sitemap only" "--scope prefix --sitemap auto"

# A sitemap of another host that was given beside a seed opens no host, in the
# first run or in a later one.
seed=http://$one:$port/gates.html
widens "a sitemap beside" "-d 1 --sitemap auto --sitemap-url http://$two:$port/list.xml" \
    "-d 2 --sitemap auto --sitemap-url http://$two:$port/list.xml"
seed=http://$one:$port/index.html

# ---- parameters that are dropped from what is queued ------------------------------

page $one /params.html "q.html?sid=1" "q.html?sid=2" "r.html?sid=3&x=1"
page $one /q.html
page $one /r.html
from_here
seed=http://$one:$port/params.html
crawl params -n 1
ended 3
resume params -n none --drop-params sid
ended 0
fetched >got
printf '%s\n' "$one /params.html" "$one /q.html" "$one /r.html?x=1" | cmp -s - got ||
    fail "drop-params: $(cat got)"
agrees params

# ---- no room ----------------------------------------------------------------------

seed=http://$one:$port/index.html
crawl room -d 1 --keep-dropped 0
ended 0
says crawl.err "no room for more drops"
says crawl.err "--keep-dropped"
exits 0 "$URLWEIR" status room --json
[ "$(json drops_lost <out)" -gt 0 ] || fail "$(cat out)"
resume room -d 2
says crawl.err "may stay incomplete"

# ---- a seed that opens a host to which links were dropped before -----------------

rm -rf d
from_here
crawl d --scope host
ended 0
exits 0 "$URLWEIR" seed d "http://$two:$port/"
resume d
ended 0
fetched >got
grep -qxF "$two /far.html" got || fail "what was dropped has not come back: $(cat got)"
[ -z "$(uniq -d got)" ] || fail "fetched twice: $(uniq -d got)"

# ---- links to other sites -------------------------------------------------------

crawl links --scope host
exits 0 "$URLWEIR" export links --what dropped
says out "\"url\": \"http://$two:$port/far.html\", \"reason\": \"scope\""
says out "\"via\": \"$seed\""
hostile_no_more
