#!/bin/sh
# The guides for people who archive, index, evaluate and mend sites
# (docs/archive.md, docs/search.md, docs/data.md, docs/seo.md), and the uses of
# filters in docs/filters.md: their commands, run in order as written, give the
# promised results.
# Promise (Seen check and store): the uses of filters in docs/filters.md do
#   what is said there.
# Promise (Crashes): the guides for archives, search indexes, tables and the
#   health of a site give the results that they promise.
set -eu
. "$TOP/tests/cli/lib.sh"
PATH=$(dirname "$URLWEIR"):$PATH

web=web/127.0.0.1
mkdir -p $web web/127.0.0.2
cat >$web/index.html <<'END'
<title>Start</title><link rel=stylesheet href=/s.css><a href=/a.html>a</a><a href=/b.html>b</a>
END
echo '<title>Page A</title><p>You are welcome here<a href=/gone.html>gone</a>' >$web/a.html
echo '<title>Page B</title><meta name=robots content=noindex><p>welcome too' >$web/b.html
echo 'p { color: red }' >$web/s.css
plain_site 127.0.0.1 127.0.0.2

# guide NAME: its commands; options that a test needs are added to each crawl.

options="--allow-private --sitemap off --delay 0 --max-delay 100ms --min-disk 0 --progress none"
guide() {
    mkdir "$1.d"
    sed -n '/^```sh$/,/^```$/p' "$TOP/docs/$1.md" | grep -v '^```' |
        sed "s|https://example.org/|$seed|g; s|^urlweir crawl |urlweir crawl $options |
            s|^urlweir resume \([a-z]*\)|urlweir resume \1 --progress none|" >"$1.sh"
    [ "$(grep -c '^urlweir' "$1.sh")" -ge 2 ] || fail "$1 has lost its commands"
    (cd "$1.d" && timeout 300 sh -eu "../$1.sh") >"$1.out" 2>"$1.err" ||
        fail "$1: $(cat "$1.out" "$1.err")"
}

cp $web/a.html a.html
echo '<a href=http://127.0.0.2:@PORT@/x>out of scope</a>' >>$web/a.html
guide archive
mv a.html $web/a.html
cut -d '"' -f 4,12 archive.d/first/warc/index.cdxj | sed "s,$seed,," | sort >index
printf '%s\n' '"200' 'a.html"200' 'b.html"200' 'gone.html"404' 'robots.txt"404' 's.css"200' |
    diff - index || fail "in the archive: $(cat archive.d/first/warc/index.cdxj)"
[ "$(sed 1d archive.d/errors.csv | cut -d , -f 1-4)" = "${seed}gone.html,failed,http_404,404" ] ||
    fail "errors.csv: $(cat archive.d/errors.csv)"
[ "$(jq -r '[.host, .reason, .count] | join(" ")' archive.d/drops.jsonl)" = "127.0.0.2 scope 1" ] ||
    fail "drops.jsonl: $(cat archive.d/drops.jsonl)"
zcat archive.d/second/warc/*.warc.gz | tr -d '\r' >records
[ "$(sed -n '/^WARC-Type: revisit/,/^$/s/^WARC-Target-URI: //p' records | sort | tr '\n' ' ')" = \
    "$seed ${seed}a.html ${seed}b.html ${seed}s.css " ] || fail "other revisit records: $(grep -a WARC records)"

guide search
grep -q "^${seed}a.html|Page A$" search.out || fail "not found in the index: $(cat search.out)"
lacks search.out "b.html|" "indexed although it asks not to be"
[ "$(sqlite3 search.d/index.db 'SELECT count(*) FROM page')" = 2 ] || fail "the index has other pages"

guide data
[ "$(sqlite3 data.d/web.db 'SELECT count(*) FROM pages WHERE status = "fetched"')" = 3 ] || fail "pages: $(cat data.d/pages.csv)"
[ "$(grep '|' data.out | sort | tr '\n' ' ')" = "${seed}a.html|1 ${seed}b.html|1 ${seed}gone.html|1 " ] ||
    fail "in-links: $(cat data.out)"
grep -qx ' *1 http_404' data.out || fail "reasons: $(cat data.out)"
printf '%s\n' "${seed}a" "${seed}b" | cmp - data.d/new.txt || fail "new.txt: $(cat data.d/new.txt)"
[ ! -s data.d/none.txt ] || fail "seen before, and new: $(cat data.d/none.txt)"
printf '%s\n' "${seed}a" "${seed}a" "${seed}b" | cmp - data.d/canonical.txt ||
    fail "canonical.txt: $(cat data.d/canonical.txt)"
says data.out "A Bloom-only crawler would have lost 0 of 4 URLs"

cp $web/b.html $web/copy.html
echo '<title>Page A</title><meta name=description content="On C."><h1>C</h1>
<link rel=alternate hreflang=de href=/a.html><a href=/a.html>another</a>
<a href=http://127.0.0.2:@PORT@/x rel=noopener>x</a><a href=http://127.0.0.2:@PORT@/y rel=nofollow>y</a><a href=/old.html>old</a>
<link rel=canonical href=/a.html>' >$web/c.html
echo 'no title<img src=/gone.png alt="a picture">' >$web/bare.html
printf '301\nLocation: /a.html\n' >$web/old.html.head
: >$web/old.html
echo '<a href=/c.html>c</a><a href=/copy.html>copy</a><a href=/bare.html>bare</a>' >>$web/index.html
guide seo
at=${seed%/}
is() { # FILE: its rows, sorted, are those of stdin
    sort >want
    tr -d '\r' <"seo.d/$1" | sed "s,$at,,g; s,:$port/,:PORT/," | sort | diff want - >difference ||
        fail "$1: $(cat difference)"
}
is broken.csv <<'END'
url,status,reason,http_status,redirect_to,src,kind,rel,text
/gone.html,failed,http_404,404,,/a.html,a,,gone
/gone.png,failed,http_404,404,,/bare.html,img,,a picture
http://127.0.0.2:PORT/x,failed,http_404,404,,/c.html,a,noopener,x
END
is redirects.csv <<'END'
/c.html,/old.html,/a.html,""
END
is untitled.csv <<'END'
/bare.html
END
is titles.csv <<'END'
"Page A",2,"/a.html /c.html"
END
is canonical.csv <<'END'
/c.html,/a.html
END
is descriptions.csv <<'END'
/,5,0
/a.html,6,0
/b.html,6,0
/bare.html,0,0
/c.html,6,5
/copy.html,6,0
END
is headings.csv <<'END'
/,Start,""
/a.html,"Page A",""
/b.html,"Page B",""
/bare.html,"",""
/copy.html,"Page B",""
END
is thin.csv <<'END'
/,5
/a.html,5
/b.html,2
/bare.html,2
/c.html,5
/copy.html,2
END
is languages.csv <<'END'
/c.html,1
END
is duplicates.csv <<'END'
/copy.html,/b.html,""
END
is outside.csv <<'END'
http://127.0.0.2:PORT/x,1,noopener
http://127.0.0.2:PORT/y,1,nofollow
END
is broken-all.csv <<'END'
url,status,reason,http_status,redirect_to,src,kind,rel,text
/gone.html,failed,http_404,404,,/a.html,a,,gone
/gone.png,failed,http_404,404,,/bare.html,img,,a picture
http://127.0.0.2:PORT/x,failed,http_404,404,,/c.html,a,noopener,x
http://127.0.0.2:PORT/y,failed,http_404,404,,/c.html,a,nofollow,y
END
is noindex.csv <<'END'
/b.html,1,noindex
/copy.html,1,noindex
END
is lonely.csv <<'END'
/,0,0
/a.html,1,2
/b.html,1,1
/bare.html,1,1
/c.html,1,1
/copy.html,1,1
/s.css,1,1
END
grep -q '<html' seo.d/changes.html || fail "no page of changes"

# ---- the uses of filters ------------------------------------------------------

# Fewer keys than there, and a port that is free.
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
mkdir filters.d
sed -n '/^## Uses/,/^## How large/p' "$TOP/docs/filters.md" | sed -n '/^```sh$/,/^```$/p' | grep -v '^```' |
    sed "s|127.0.0.1:7072|127.0.0.1:$port|g; s|urlweir serve guards |&--listen 127.0.0.1:0 |" >filters.sh
(cd filters.d && USERS=20000 ITEMS=3000 WEAK=3000 timeout 300 sh -eu ../filters.sh) >filters.out 2>filters.err ||
    fail "filters: $(cat filters.out filters.err)"
sed 's/"locks":\["[0-9]*"\]/"locks":["N"]/
    s/.*where the old one has \([0-9]*\).*/refused, old \1/; s/^{"name":"items".*/sent/' filters.out | tr '\t' ' ' >got
cat >want <<'END'
maybe user7
new zaphod
maybe 17
new nobody
maybe nobody
sent
{"results":["maybe","new"],"ready":true}
{"results":["new"]}
refused, old 2999
{"results":["maybe"],"locks":["N"],"ready":true}
{"results":["wait"],"locks":[null],"ready":true}
{"results":["unlocked"]}
http://bad.example/
maybe page 1
new page 2
2
2
maybe password7
new xkPq-77-lmN
END
diff want got || fail "filters: $(cat filters.out filters.err)"
grep -q "^urlweir serve: listening" filters.err || fail "no service: $(cat filters.err)"
