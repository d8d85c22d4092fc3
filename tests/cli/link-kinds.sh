#!/bin/sh
# Every kind of link is followed if asked for, and only then: --follow,
# --ignore, --assets; links of style sheets, of header fields, of redirects;
# nofollow; more links on a page than the limit.
# Promise (Links): each link kind is followed only where it is asked for; the
#   number of a page's links is bounded. See also `make sim`.
set -eu
. "$TOP/tests/cli/lib.sh"

here=127.0.0.1
mkdir -p web/$here/base
cat >web/$here/index.html <<'END'
<!doctype html><html><head>
<link rel="alternate canonical" href=canonical>
<link rel="preload STYLESHEET" href=style.css>
<link rel=sitemap href=sitemap-of-page>
<link rel=alternate href=alternate>
<link rel=alternate type="application/atom+xml; x=y" href=feed>
<link rel=next href=link><link rel="dns-prefetch preconnect" href=host>
<link rel=pingback href=ping><link rel=EditURI href=rsd>
<link rel=manifest href=manifest>
<link rel=amphtml href=amphtml>
<meta property=og:url content=og>
<meta http-equiv=refresh content="0; url='meta-refresh'">
<script src=script></script>
<style>@import "import"; a { background: url( "url" ) }</style>
</head><body style="background:url('attribute')">
<a href=a>a</a><map><area href=area></map>
<svg><a xlink:href=svg></a><image href=svg-image /><use href="#local"/></svg>
<link rel=icon href=icon><input type=image src=input>
<img src=img data-src=lazy srcset="srcset-1 1x, srcset-2,3x 200w">
<picture><source srcset="srcset-4"></picture>
<iframe src=iframe></iframe><form action=form></form>
<object data=object></object><embed src=embed>
<video src=video poster=poster><track src=track></video>
<audio><source src=source></audio>
<blockquote cite=cite></blockquote>
<noscript><a href=noscript>n</a></noscript>
<!-- <a href=comment>c</a> --><textarea><a href=textarea></a></textarea>
<a href>empty</a><img src="">
<a rel=nofollow href=nofollow>n</a>
</body></html><a href=behind>b</a><base href=/base/>
END
cat >web/$here/index.html.head <<'END'
200
Content-Type: text/html
Link: </header-1>; rel="next", </header-2>, </header-5>; rel=preconnect
Link: </header-canonical>; rel="canonical"
Refresh: 5; url=/header-refresh
Content-Location: /header-4
END
cat >web/$here/base/style.css <<'END'
@charset "utf-8"; @import url(import-of-sheet);
b { content: "url(no)"; background: url("url-of-sheet\
") } /* url(comment) */
END
printf '302\nLocation: /base/moved\n' >web/$here/base/a.head
plain_site $here

quick="$quick --scope any"
# follows KINDS PATHS...: a crawl of these kinds asks for these, and no others.
n=0
follows() {
    kinds=$1
    shift
    n=$((n + 1))
    : >log
    # shellcheck disable=SC2086
    crawl "d$n" $kinds
    ended 0 "$kinds"
    grep -v ' /robots.txt$' log | cut -d' ' -f2 | sed -e 's,^/base/,,' |
        sort >got
    printf '%s\n' / "$@" | sort >want
    diff want got >difference || fail "$kinds: $(cat difference)"
}

follows "--follow a" a moved svg noscript behind
follows "--follow area" area
follows "--follow link" link manifest amphtml icon
follows "--follow resource" icon
follows "--follow manifest" manifest
follows "--follow amphtml" amphtml
follows "--follow canonical" canonical /header-canonical
follows "--follow css" style.css
follows "--follow css,style" style.css import url attribute import-of-sheet \
    url-of-sheet
follows "--follow alternate" alternate
follows "--follow feed" feed
follows "--follow img" img
follows "--follow srcset" srcset-1 srcset-2,3x srcset-4
follows "--follow iframe" iframe
follows "--follow script" script
follows "--follow meta-refresh" meta-refresh /header-refresh
follows "--follow style" import url attribute
follows "--follow header" /header-1 /header-2 /header-4
follows "--follow lazy" lazy
follows "--follow object" object
follows "--follow embed" embed
follows "--follow media" video poster track source svg-image input
follows "--follow cite" cite
follows "--follow og" og
follows "--follow sitemap --sitemap auto" sitemap-of-page /sitemap.xml
follows "--follow a,img,css --ignore a,css" img
shown="iframe img srcset-1 srcset-2,3x srcset-4 lazy script style.css import \
    url attribute import-of-sheet url-of-sheet object embed manifest icon"
# shellcheck disable=SC2086
follows "--follow iframe --assets" $shown video poster track source svg-image input
# shellcheck disable=SC2086
follows "--follow iframe --assets same-scope --ignore media" $shown
follows "--follow iframe --assets --no-assets" iframe
follows "--follow iframe --assets=all --ignore script,media,css,style" iframe \
    img srcset-1 srcset-2,3x srcset-4 lazy object embed manifest icon
follows "" a moved svg noscript behind area iframe link icon manifest amphtml \
    canonical alternate meta-refresh feed /header-canonical /header-refresh

# What was not followed is counted by its reason.
exits 0 "$URLWEIR" export d1 --what drops
says out '"reason": "kind"'
says out '"reason": "nofollow"'
lacks log '/form"' "a form was sent"

# ---- more links than are taken ----

awk 'BEGIN {
    for (i = 0; i < 30; i++)
        printf "<a href=/many-%d>x</a><a href=/many-0>again</a>\n", i
}' >web/$here/many.html
seed=http://$here:$port/many.html
: >log
crawl many --max-links 10 --follow a
ended 0
[ "$(grep -c ' /many-' log)" = 10 ] || fail "not ten links: $(cat log)"
"$URLWEIR" export many | head -n 1 >row
says row '"status": "fetched", "reason": "link_count"'
exits 0 "$URLWEIR" export many --what drops
says out '"reason": "link_count"'
# Repeats do not count, and none is a limit that nothing reaches.
crawl all --max-links 30 --follow a
ended 0
"$URLWEIR" export all | head -n 1 >row
says row '"status": "fetched", "reason": null'
crawl none --max-links none --follow a
ended 0

echo "link-kinds.sh: $n sets of kinds"
