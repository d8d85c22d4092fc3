#!/bin/sh
# --record meta: what pages say of themselves is in export --what pages, --what
# fetches and --jsonl; a page that is found unchanged keeps it, also in the next
# crawl; without it nothing is kept.
set -eu
. "$TOP/tests/cli/lib.sh"

here=127.0.0.1
mkdir -p web/$here
cat >web/$here/index.html <<'END'
<title>T</title><meta name=description content="  What it   is about, in short">
<meta name=robots content="noarchive"><link rel=canonical href=/?utm_source=x>
<link rel=alternate hreflang=de href=/bare.html><h1>A <i>big</i> start</h1> three more words
<a href=/bare.html></a><a href=/doc.txt></a><a href=/gone.html></a>
END
printf '200\nContent-Type: text/html\nX-Robots-Tag: googlebot: noindex\nX-Robots-Tag: nosnippet\n' \
    >web/$here/index.html.head
echo '<h1>Bare</h1>' >web/$here/bare.html
printf '200\nContent-Type: text/html\nETag: "1"\n' >web/$here/bare.html.head # no links: a 304 loses none
echo 'some text' >web/$here/doc.txt
printf '200\nContent-Type: text/plain\nX-Robots-Tag: noindex\n' >web/$here/doc.txt.head
plain_site $here

sort >want <<'END'
/|What it is about, in short|A big start|/|googlebot: noindex, nosnippet, noarchive|1|6
/bare.html||Bare|||0|1
/doc.txt||||noindex||
/gone.html||||||
END
rows() {
    python3 -c "import json, sys
for line in sys.stdin:
    r = json.loads(line)
    print(*('' if r[k] is None else str(r[k]).replace('http://$here:$port', '') for k in
            ('url', 'description', 'h1', 'canonical', 'robots', 'hreflang', 'words')), sep='|')" <out | sort >got
}
# is WHAT DIR: the columns in question, page by page.
is() {
    exits 0 "$URLWEIR" export "$2" --what "$1"
    rows
    diff want got >difference || fail "$*: $(cat difference)"
}

crawl d --record meta --drop-tracking --jsonl lines.jsonl
ended 0
is pages d
is fetches d
cp lines.jsonl out
rows
diff want got >difference || fail "--jsonl: $(cat difference)"
exits 0 "$URLWEIR" export d --what pages --format csv
says out '"What it is about, in short",A big start,'
exits 1 "$URLWEIR" export d --what broken # no links with it
agrees d

# ---- unchanged: by a 304, and by the same body ------------------------------------

crawl next --record meta --drop-tracking --since d
ended 0
[ "$("$URLWEIR" export next --what pages | grep -c unchanged)" -ge 1 ] || fail "nothing was unchanged"
"$URLWEIR" export next --what pages | grep -q '"http_status": 304' || fail "no 304"
is pages next

# ---- not asked for, and later asked for --------------------------------------------

crawl bare --drop-tracking
ended 0
[ "$(sqlite3 bare/frontier.db 'SELECT count(meta) FROM fetch')" = 0 ] || fail "kept although not asked for"
sed 's/|.*/||||||/' want | sort >want.none
mv want.none want
is pages bare
