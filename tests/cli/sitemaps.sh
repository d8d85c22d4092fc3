#!/bin/sh
# A crawl finds sitemaps through robots.txt, /sitemap.xml and --sitemap-url,
# reads every form of them within their limits, and takes what they list into
# its queues. Whom a list may speak for: `sitemap_trust`.
set -eu
. "$TOP/tests/cli/lib.sh"

# urlset PATH...: a sitemap of these on 127.0.0.1.
urlset() {
    echo '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">'
    for path in "$@"; do
        echo "<url><loc>http://127.0.0.1:@PORT@$path</loc></url>"
    done
    echo '</urlset>'
}

# of DIR URL: its row of export, in part.
of() {
    "$URLWEIR" export "$1" | grep -F "\"url\": \"$2\"" >row ||
        fail "$2 is not known in $1"
}
dropped() {
    "$URLWEIR" export "$1" --what examples | grep -F "\"reason\": \"$2\"" |
        grep -qF "\"url\": \"$3\"" || {
        "$URLWEIR" export "$1" --what examples
        fail "$3 was not dropped as $2"
    }
}

here=127.0.0.1
there=127.0.0.2
third=127.0.0.3

# ---- what sitemaps list, however they are found and packed ----

mkdir -p web/$here/deep web/$there web/$third
cat >web/$here/robots.txt <<'END'
User-agent: *
Disallow: /denied
Sitemap: http://127.0.0.1:@PORT@/index.xml
Sitemap: http://127.0.0.2:@PORT@/of-127.0.0.1.xml
sitemap: /relative.txt
Sitemap: http://127.0.0.1:@PORT@/broken.xml
Sitemap: http://127.0.0.1:@PORT@/denied.xml
Sitemap: http://127.0.0.1:@PORT@/moved.xml
Sitemap: http://127.0.0.1:@PORT@/feed.rss
END
echo '<a href=/linked.html>l</a><link rel=sitemap href=/by-page.xml>' \
    >web/$here/index.html
pages $here /linked.html /guess.html /gz.html /part.html /relative.html \
    /whole.html /cut.html /moved.html /item.html /by-page.html /vouched.html \
    /never.html
cat >web/$here/index.xml <<'END'
<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<sitemap><loc>http://127.0.0.1:@PORT@/part.xml.gz</loc></sitemap>
<sitemap><loc>http://127.0.0.1:@PORT@/deep/part.xml</loc></sitemap>
<sitemap><loc>http://127.0.0.1:@PORT@/nested.xml</loc></sitemap>
</sitemapindex>
END
urlset /part.html >web/$here/deep/part.xml
# An index in an index, in an index; a fourth is too deep.
for level in 1 2 3; do
    cat >web/$here/nested$(echo $level | tr -d 1).xml <<END
<sitemapindex><sitemap><loc>http://127.0.0.1:@PORT@/nested$((level + 1)).xml</loc></sitemap>
<sitemap><loc>http://127.0.0.1:@PORT@/of-level-$level.xml</loc></sitemap></sitemapindex>
END
    urlset /listed-on-$level.html >web/$here/of-level-$level.xml
done
mv web/$here/nested3.xml web/$here/x
sed 's,nested4,never,; s,of-level-3,never,' web/$here/x >web/$here/nested3.xml
urlset /never.html >web/$here/never.xml
urlset /guess.html >web/$here/sitemap.xml
printf 'http://127.0.0.1:@PORT@/relative.html\r\nno URL\n' \
    >web/$here/relative.txt
printf '%s' "<urlset><url><loc>http://127.0.0.1:@PORT@/whole.html</loc></url>
<url><loc>http://127.0.0.1:@PORT@/cut.html</loc><lastmod>2020" \
    >web/$here/broken.xml
urlset /never.html >web/$here/denied.xml
printf '301\nLocation: /moved-here.xml\n' >web/$here/moved.xml.head
urlset /moved.html >web/$here/moved-here.xml
cat >web/$here/feed.rss <<'END'
<rss><channel><item><link>/item.html</link></item></channel></rss>
END
urlset /by-page.html >web/$here/by-page.xml
# A host that the crawl is not about holds a sitemap that robots.txt names: it
# may list this host; its own pages are out of scope.
urlset /vouched.html >web/$there/of-127.0.0.1.xml
sed 's,</urlset>,<url><loc>http://127.0.0.2:@PORT@/own.html</loc></url>&,' \
    web/$there/of-127.0.0.1.xml >web/$there/x
mv web/$there/x web/$there/of-127.0.0.1.xml
echo 'Sitemap: http://127.0.0.2:@PORT@/far.xml' >web/$there/robots.txt
urlset /never.html >web/$there/far.xml

plain_site $here $there $third
# A gzipped file knows no @PORT@.
urlset /gz.html | sed "s/@PORT@/$port/" | gzip >web/$here/part.xml.gz

quick="$quick --scope host --sitemap auto"
crawl d --threads 1
ended 0
for path in /linked.html /guess.html /gz.html /part.html /relative.html \
    /whole.html /cut.html /moved.html /item.html /by-page.html /vouched.html \
    /listed-on-1.html /listed-on-2.html \
    /robots.txt /sitemap.xml /index.xml /part.xml.gz /deep/part.xml /nested.xml; do
    asked $here "$path"
done
for path in /never.html /never.xml /denied.xml; do
    not_asked $here $path
done
not_asked $there /own.html # out of scope
not_asked $there /far.xml  # named by the robots.txt of a host out of scope
asked $there /of-127.0.0.1.xml
dropped d nested_index "http://$here:$port/never.xml"
dropped d scope "http://$there:$port/own.html"
of d "http://$here:$port/gz.html"
says row '"kind": "listed"'
says row '"depth": 1'
of d "http://$here:$port/part.xml.gz"
says row '"kind": "sitemap-part"'
of d "http://$here:$port/by-page.html"
says row '"depth": 1'
of d "http://$here:$port/denied.xml"
says row '"status": "denied"'
agrees d

# ---- only, off, depth, ignore ----

kill "$server"
wait "$server" 2>/dev/null || :
plain_site $here $there $third
crawl only --sitemap only
ended 0
not_asked $here /
not_asked $here /linked.html
not_asked $here /by-page.xml
for path in /guess.html /part.html /item.html /vouched.html; do
    asked $here $path
done

: >log
crawl off --sitemap off
ended 0
asked $here /linked.html
not_asked $here /sitemap.xml
not_asked $here /by-page.xml
not_asked $here /part.html

: >log
crawl flat --depth 0
ended 0
not_asked $here /sitemap.xml
not_asked $here /index.xml

: >log
crawl ignoring --ignore sitemap
ended 0
not_asked $here /sitemap.xml
not_asked $here /index.xml

# A sitemap is no page: --mime, --include and a prefix do not keep it out, but
# hold for what it lists. --exclude does.
: >log
crawl pages --mime text/html --include 'part|guess' --exclude 'index'
ended 0
asked $here /sitemap.xml
asked $here /guess.html
not_asked $here /index.xml
not_asked $here /relative.html
asked $here /relative.txt
of pages "http://$here:$port/relative.txt"
says row '"status": "fetched"'
exits 0 "$URLWEIR" export pages --what pages
lacks out relative.txt "a sitemap is among the pages"

# --limit and --per-host count pages.
crawl limit --sitemap only -n 3
ended 3
[ "$("$URLWEIR" status limit --json | json pages)" = 3 ] || fail "not three pages"
[ "$("$URLWEIR" export limit --what pages | wc -l)" = 3 ] ||
    fail "not three pages: $("$URLWEIR" export limit --what pages)"

# A resume asks the scope again, of sitemaps as of sitemaps.
: >log
crawl again --sitemap only -n 1 --threads 1 --concurrency 1
ended 3
not_asked $here /deep/part.xml
resume again --include guess -n none
ended 0
asked $here /deep/part.xml
not_asked $here /part.html
dropped again include "http://$here:$port/part.html"

# ---- a person names it; no seed is needed ----

: >log
status=0
# shellcheck disable=SC2086
"$URLWEIR" crawl --sitemap-url "http://$here:$port/deep/part.xml" -o named \
    $quick >crawl.out 2>crawl.err </dev/null || status=$?
ended 0
asked $here /deep/part.xml
asked $here /part.html
of named "http://$here:$port/deep/part.xml"
says row '"seed": true'
status=0
# shellcheck disable=SC2086
"$URLWEIR" crawl --sitemap-url "http://$here:$port/none.xml" -o missing \
    $quick >crawl.out 2>crawl.err </dev/null || status=$?
ended 5 "a sitemap that was asked for is missing"
# A resume may add one.
: >log
resume named --sitemap-url "http://$here:$port/by-page.xml"
ended 0
asked $here /by-page.html
: >log
resume named
ended 0
[ ! -s log ] || fail "a finished crawl asks again: $(cat log)"

# The sitemap stands for the seed: it may redirect to where the site is.
mkdir -p web/$third
printf '301\nLocation: http://127.0.0.1:@PORT@/by-page.xml\n' \
    >web/$third/sitemap.xml.head
seed=http://$third:$port/
: >log
crawl moved --sitemap only
ended 0
asked $here /by-page.html
asked $third /sitemap.xml
not_asked $third /
seed=http://127.0.0.9:$port/
crawl nobody --sitemap only --tries 1 --give-up 1s
ended 3 "no such host"
[ "$(grep -c "did not respond" crawl.err)" = 1 ] || fail "it does not say so: $(cat crawl.err)"

# ---- one that was only guessed, and is not there ----

kill "$server"
wait "$server" 2>/dev/null || :
rm -r web
mkdir -p web/$here web/$there web/$third
echo '<a href=/a.html>a</a>' >web/$here/index.html
pages $here /a.html
plain_site $here $there $third
crawl guess -n 3 # two pages
ended 0 "a guess that is wrong counts for nothing"
asked $here /sitemap.xml
of guess "http://$here:$port/sitemap.xml"
says row '"status": "skipped", "reason": "no_sitemap", "http_status": 404'
echo '<p>Not here, but said with 200. <a href=/never.html>' >web/$here/sitemap.xml
printf '200\nContent-Type: text/html\n' >web/$here/sitemap.xml.head
: >log
crawl soft
ended 0
of soft "http://$here:$port/sitemap.xml"
says row '"status": "skipped", "reason": "no_sitemap", "http_status": 200'
not_asked $here /never.html

# ---- hints: explain, export ----

rm web/$here/sitemap.xml*
printf 'User-agent: *\nSitemap: http://127.0.0.1:@PORT@/all.xml\n' >web/$here/robots.txt
cat >web/$here/all.xml <<'END'
<urlset>
<url><loc>http://127.0.0.1:@PORT@/p1.html</loc><priority>0.1</priority></url>
<url><loc>http://127.0.0.1:@PORT@/p5-old.html</loc>
     <lastmod>2001-02-03</lastmod></url>
<url><loc>http://127.0.0.1:@PORT@/p5-new.html</loc>
     <lastmod>2024-05-06T07:08:09+02:00</lastmod>
     <changefreq>Daily</changefreq></url>
<url><loc>http://127.0.0.1:@PORT@/p9.html</loc><priority> 0.9 </priority></url>
<url><loc>http://127.0.0.1:@PORT@/x.html</loc></url>
</urlset>
END
pages $here /x.html /p1.html /p5-old.html /p5-new.html /p9.html
: >log
crawl hints --sitemap only
ended 0
of hints "http://$here:$port/p5-new.html"
says row '"priority": null, "lastmod": "2024-05-06T05:08:09.000Z", "changefreq": "daily"'
of hints "http://$here:$port/p9.html"
says row '"priority": 0.9, "lastmod": null, "changefreq": null'
exits 0 "$URLWEIR" explain hints "http://$here:$port/p9.html"
says out 'priority           0.9'
exits 0 "$URLWEIR" explain hints "http://$here:$port/p9.html" --json
says out '"priority": 0.9,'
