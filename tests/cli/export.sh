#!/bin/sh
# export writes what docs/formats/export.md says: fields, order, CSV quoting,
# absent values; and the link graph only if it was recorded.
# Promise (Links): with --record links each page has the number of other pages
#   that link to it. See also `tests/cli/guides.sh`.
set -eu
. "$TOP/tests/cli/lib.sh"

small_web
# shellcheck disable=SC2086
crawl d $small --record links
ended 0
# shellcheck disable=SC2086
crawl plain $small
ended 0
serve_no_more

# Ports, times and figures that differ from run to run have names.
plain() {
    sed -E -e "s,$seed,/,g" -e 's/[0-9-]{10}T[0-9:.]{12}Z/TIME/g' \
        -e 's/[0-9a-f]{32}/DIGEST/g' -e 's/("body_print": ")[0-9a-f]{16}/\1PRINT/' -e 's/("(elapsed|first_byte)": )[0-9.]+/\1SECONDS/g' \
        -e 's/TIME,[0-9.]+,127/TIME,SECONDS,127/' \
        -e 's/("wire_bytes": )[0-9]+/\1N/' -e 's/(delay,,,,,5,2,)[0-9]+,[0-9]+,0,[0-9]+/\1N,N,0,N/' -e 's/("(connections|kept)": )[0-9]+/\1N/g' -e 's/\r$/~/' <out
}
# writes WHAT FORMAT: stdin is what it writes, in full.
writes() {
    exits 0 "$URLWEIR" export d --what "$1" --format "$2"
    cat >want
    plain >got
    diff want got >difference || fail "export --what $1 --format $2:
$(cat difference)"
}

# ---- urls ----

writes urls csv <<'END'
url,status,reason,http_status,depth,kind,seed,false_positive,found_at,id,via_id,priority,lastmod,changefreq,redirect_to,met_at,noindex~
/,fetched,,200,0,seed,true,false,TIME,1,,,,,,,false~
/a.html,fetched,,200,1,a,false,false,TIME,2,1,,,,,,false~
"/c,omma.html",fetched,,200,1,a,false,false,TIME,3,1,,,,,,false~
/missing.html,failed,http_404,404,1,a,false,false,TIME,4,1,,,,,,false~
/private/x.html,denied,robots,,1,a,false,false,TIME,5,1,,,,,,false~
/b.html,fetched,,200,2,a,false,false,TIME,6,2,,,,,,false~
END
exits 0 "$URLWEIR" export d
plain >got
cat >want <<'END'
{"url": "/", "status": "fetched", "reason": null, "http_status": 200, "depth": 0, "kind": "seed", "seed": true, "false_positive": false, "found_at": "TIME", "id": 1, "via_id": null, "priority": null, "lastmod": null, "changefreq": null, "redirect_to": null, "met_at": null, "noindex": false}
END
head -n 1 got | diff want - || fail "export is not urls as JSON Lines"
[ "$(wc -l <got)" = 6 ] || fail "not six URLs: $(cat got)"

# ---- pages ----

writes pages jsonl <<'END'
{"url": "/", "status": "fetched", "reason": null, "http_status": 200, "mime": "text/html", "charset": "windows-1252", "title": "He said \"hi\", twice", "lang": "en", "body_bytes": 290, "wire_bytes": N, "body_digest": "DIGEST", "links": 8, "depth": 0, "tries": 1, "fetched_at": "TIME", "elapsed": SECONDS, "ip": "127.0.0.1", "etag": null, "last_modified": null, "via": null, "first_byte": SECONDS, "same_as": null, "noindex": false, "unknown_coding": false, "not_well_formed": false, "simhash": null, "near_dup_of": null, "text_digest": "DIGEST", "no_numbers": false, "body_print": "PRINT", "in_links": 1, "description": null, "h1": null, "canonical": null, "robots": null, "hreflang": null, "words": null}
{"url": "/a.html", "status": "fetched", "reason": null, "http_status": 200, "mime": "text/html", "charset": "windows-1252", "title": "A", "lang": null, "body_bytes": 53, "wire_bytes": N, "body_digest": "DIGEST", "links": 2, "depth": 1, "tries": 1, "fetched_at": "TIME", "elapsed": SECONDS, "ip": "127.0.0.1", "etag": null, "last_modified": null, "via": "/", "first_byte": SECONDS, "same_as": null, "noindex": false, "unknown_coding": false, "not_well_formed": false, "simhash": null, "near_dup_of": null, "text_digest": "DIGEST", "no_numbers": false, "body_print": "PRINT", "in_links": 2, "description": null, "h1": null, "canonical": null, "robots": null, "hreflang": null, "words": null}
{"url": "/c,omma.html", "status": "fetched", "reason": null, "http_status": 200, "mime": "text/html", "charset": "windows-1252", "title": "=1+1", "lang": null, "body_bytes": 27, "wire_bytes": N, "body_digest": "DIGEST", "links": 0, "depth": 1, "tries": 1, "fetched_at": "TIME", "elapsed": SECONDS, "ip": "127.0.0.1", "etag": null, "last_modified": null, "via": "/", "first_byte": SECONDS, "same_as": null, "noindex": false, "unknown_coding": false, "not_well_formed": false, "simhash": null, "near_dup_of": null, "text_digest": "DIGEST", "no_numbers": false, "body_print": "PRINT", "in_links": 1, "description": null, "h1": null, "canonical": null, "robots": null, "hreflang": null, "words": null}
{"url": "/missing.html", "status": "failed", "reason": "http_404", "http_status": 404, "mime": "text/html", "charset": null, "title": null, "lang": null, "body_bytes": 17, "wire_bytes": N, "body_digest": null, "links": 0, "depth": 1, "tries": 1, "fetched_at": "TIME", "elapsed": SECONDS, "ip": "127.0.0.1", "etag": null, "last_modified": null, "via": "/", "first_byte": SECONDS, "same_as": null, "noindex": false, "unknown_coding": false, "not_well_formed": false, "simhash": null, "near_dup_of": null, "text_digest": null, "no_numbers": false, "body_print": null, "in_links": 1, "description": null, "h1": null, "canonical": null, "robots": null, "hreflang": null, "words": null}
{"url": "/b.html", "status": "fetched", "reason": null, "http_status": 200, "mime": "text/html", "charset": "windows-1252", "title": "B", "lang": null, "body_bytes": 37, "wire_bytes": N, "body_digest": "DIGEST", "links": 1, "depth": 2, "tries": 1, "fetched_at": "TIME", "elapsed": SECONDS, "ip": "127.0.0.1", "etag": null, "last_modified": null, "via": "/a.html", "first_byte": SECONDS, "same_as": null, "noindex": false, "unknown_coding": false, "not_well_formed": false, "simhash": null, "near_dup_of": null, "text_digest": "DIGEST", "no_numbers": false, "body_print": "PRINT", "in_links": 1, "description": null, "h1": null, "canonical": null, "robots": null, "hreflang": null, "words": null}
END
# Quotes are doubled, what holds a comma or a quote stands in quotes.
exits 0 "$URLWEIR" export d --what pages --format csv
says out ',windows-1252,"He said ""hi"", twice",en,290,'
says out "\"${seed}c,omma.html\",fetched,"

# ---- links ----

writes links csv <<'END'
src,dst,kind,rel,text,reason~
/,/a.html,a,,a,~
/,"/c,omma.html",a,,c,~
/,/missing.html,a,,m,~
/,/private/x.html,a,,p,~
/,/a.html,a,,again,~
/,http://other.invalid/,a,,out of scope,scope~
/,/b.html,a,nofollow,not followed here,nofollow~
/a.html,/,a,,up,~
/a.html,/b.html,a,,b,~
/b.html,/a.html,a,,a,~
END
exits 0 "$URLWEIR" export d --what links
plain >got
says got '{"src": "/", "dst": "/c,omma.html", "kind": "a", "rel": null, "text": "c", "reason": null}'
[ "$(wc -l <got)" = 10 ] || fail "not ten links"
exits 1 "$URLWEIR" export plain --what links
says err "did not record its links"
[ ! -s out ] || fail "links of a crawl that recorded none: $(cat out)"

# ---- errors, drops, hosts ----

writes errors csv <<'END'
url,status,reason,http_status,detail,depth,tries,fetched_at,via,met_at~
/missing.html,failed,http_404,404,,1,1,TIME,/,~
/private/x.html,denied,robots,,Disallow: /private/,1,1,TIME,/,~
END
writes errors jsonl <<'END'
{"url": "/missing.html", "status": "failed", "reason": "http_404", "http_status": 404, "detail": null, "depth": 1, "tries": 1, "fetched_at": "TIME", "via": "/", "met_at": null}
{"url": "/private/x.html", "status": "denied", "reason": "robots", "http_status": null, "detail": "Disallow: /private/", "depth": 1, "tries": 1, "fetched_at": "TIME", "via": "/", "met_at": null}
END
writes drops csv <<'END'
reason,host,count~
scope,other.invalid,1~
nofollow,127.0.0.1,1~
kind,127.0.0.1,1~
END
exits 0 "$URLWEIR" export d --what drops
says out '{"reason": "scope", "host": "other.invalid", "count": 1}'
writes examples csv <<'END'
reason,host,url,via,via_id,at~
scope,other.invalid,http://other.invalid/,/,1,TIME~
nofollow,127.0.0.1,/b.html,/,1,TIME~
kind,127.0.0.1,/p.png,/,1,TIME~
END
writes hosts csv <<'END'
host,address,queued,why,due_at,failures,delay_seconds,delay_why,crawl_delay_seconds,set_delay_seconds,limit,completed,pages,errors,wire_bytes,connections,handshakes,kept~
127.0.0.1,,0,,,0,0.000,delay,,,,,5,2,N,N,0,N~
END
writes hosts jsonl <<'END'
{"host": "127.0.0.1", "address": null, "queued": 0, "why": null, "due_at": null, "failures": 0, "delay_seconds": 0.000, "delay_why": "delay", "crawl_delay_seconds": null, "set_delay_seconds": null, "limit": null, "completed": null, "pages": 5, "errors": 2, "wire_bytes": N, "connections": N, "handshakes": 0, "kept": N}
END

# ---- nothing to write: the head line alone ----

exits 0 "$URLWEIR" import --from list /dev/null -o none
exits 5 "$URLWEIR" crawl "$seed" -o no-links --min-disk 0 --progress none --record links # not asked: a private address
for what in urls pages fetches links broken errors drops examples dropped hosts queues; do
    case $what in links | broken) bare=no-links ;; *) bare=none ;; esac
    exits 0 "$URLWEIR" export d --what $what --format csv
    head -n 1 out >head
    [ "$(wc -l <out)" -gt 1 ] || fail "no rows of $what"
    exits 0 "$URLWEIR" export $bare --what $what --format csv
    cmp head out || fail "the head of $what without rows: $(cat out)"
    exits 0 "$URLWEIR" export $bare --what $what
    [ ! -s out ] || fail "lines of $what: $(cat out)"
done

# ---- what cannot be done ----

exits 1 "$URLWEIR" export d --what nothing
exits 2 "$URLWEIR" export elsewhere
[ ! -s out ] || fail "a crawl that is not there: $(cat out)"
if [ -c /dev/full ]; then
    "$URLWEIR" export d >/dev/full 2>err && fail "a full disk is no failure"
    says err "cannot write the output"
fi

# ---- a link graph in part ----

# Recording that a resume switches on leaves a part of the graph, and says so.
small_web
# shellcheck disable=SC2086
crawl part $small --limit 1
ended 3
resume part --record links --limit none
ended 0
serve_no_more
exits 0 "$URLWEIR" export part --what links
says err "a part of the crawl ran without --record links"
says out "/a.html\", \"dst\": \"$seed\""
exits 0 "$URLWEIR" audit part --json
says out '"fetched_only_through_lost": null'
