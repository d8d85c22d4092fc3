#!/bin/sh
# Limits hold exactly; the crawl names the one it reached, ends with 3, and goes
# on with larger ones. Scope decides which URLs belong to it. Seeds that fail
# and seeds that are not URLs have statuses of their own.
# Promise (Commands and options): limits end a crawl where they say, and a
#   resume with larger ones goes on.
# Promise (Politeness): --limit-rate-per-host holds for each host, and slows
#   down no other.
set -eu
. "$TOP/tests/cli/lib.sh"

# pages_in LOG DIR: answers that count for --limit. A 3xx that leads nowhere is a
# page like another.
pages_in() {
    "$URLWEIR" export "$2" --what urls |
        jq -r 'select(.status == "fetched" and .http_status >= 300) | .url' |
        sed 's,^[a-z]*://[^/]*,,' >nowhere
    awk -F'\t' 'FILENAME == "nowhere" { nowhere[$1] = 1; next }
        $7 !~ /^\/robots[^\/]*\.txt$/ &&
        ($6 ~ /^[245]/ || ($6 ~ /^3/ && $7 in nowhere))' nowhere "$1" | wc -l
}

# ---- how much ------------------------------------------------------------------

serve --hosts 10 --pages 400 --size 2000 --profile redirects --seed 91
crawl n -n 50
ended 3
says crawl.err "--limit"
mark
[ "$(pages_in log n)" = 50 ] || fail "-n 50 gave $(pages_in log n) pages"
resume n # the same limit: nothing more
ended 3
since_mark log.part
[ "$(pages_in log.part n)" = 0 ] || fail "more pages than -n"
resume n -n 120
ended 3
says crawl.err "limit: 50 -> 120"
logged
[ "$(pages_in log n)" = 120 ] || fail "-n 120 gave $(pages_in log n) pages"
resume n -n none
ended 0
serve_no_more
judge

# The rate holds for all threads together, and waiting for it is no host's
# fault, however short its time is.
serve --hosts 8 --pages 80 --size 6000 --seed 94
began=$(date +%s%N)
crawl slowly --limit-rate 150K --threads 4 --timeout 5s --tries 1
ended 0
took=$((($(date +%s%N) - began) / 1000000))
serve_no_more
judge
received=$(awk -F'\t' '{ n += $8 } END { print n }' log)
least=$((received * 1000 / (150 * 1024) - 1000)) # a second's worth is free
[ "$least" -gt 1000 ] || fail "only $received octets came"
[ "$took" -ge "$least" ] || fail "$received octets in $took ms"

# The rate of each host: the one with the most octets takes its time, and all
# others pass meanwhile.
serve --hosts 8 --pages 80 --size 6000 --seed 94
began=$(date +%s%N)
crawl each --limit-rate-per-host 20K --timeout 5s --tries 1
ended 0
took=$((($(date +%s%N) - began) / 1000000))
serve_no_more
judge
most=$(awk -F'\t' '{ n[$4] += $8 } END { for (h in n) if (n[h] > m) m = n[h]; print m }' log)
[ "$took" -ge $((most * 1000 / (20 * 1024))) ] || fail "$most octets of a host in $took ms"

# ---- how long to wait ----------------------------------------------------------

serve --hosts 16 --pages 160 --size 500 --profile robots --crawl-delay 60 --seed 93
crawl patience --give-up 3s
ended 3
says crawl.err "--give-up"
says crawl.err 127.0.0.14
crawl time --time 300ms --delay 1s --max-delay 1s
ended 3
says crawl.err "--time"
resume patience --max-crawl-delay 50ms
ended 0
serve_no_more
judge --no-crawl-delay

# ---- what belongs to it --------------------------------------------------------

mkdir -p www/a www/b sub org
echo "<a href=/a/>a</a>" >www/index.html
: >www/b/two.html
: >sub/s.html
: >org/o.html
rm -f log
behind port site.err "$SITE" files www=127.0.0.1 sub=127.0.0.2 org=127.0.0.3 \
    --log log --max-time "${LIMIT:-600}"
server=$!
waits_for 'grep -q "^port" port' || fail "no server"
port=$(sed 's/port //' port)
cat >www/a/index.html <<END
<a href=one.html>1</a> <a href=../b/two.html>2</a> <a href=/gone>gone</a>
<a href=http://sub.example.com:$port/s.html>s</a>
<a href=http://example.org:$port/o.html>o</a>
END
{
    echo "<a href=/a/deep>deep</a>"
    head -c 5000 /dev/zero | tr '\0' x
    echo "<a href=/behind>behind</a>"
} >www/a/one.html
names="--resolve www.example.com:$port:127.0.0.1 --resolve
    sub.example.com:$port:127.0.0.2 --resolve example.org:$port:127.0.0.3
    --allow-private --sitemap off --delay 0 --min-disk 0 --progress none"

# asked_for PATHS OPTION...: a crawl from /a/ asks for these, and no others.
asked_for() {
    want=$1
    shift
    rm -rf scoped
    mark
    status=0
    # shellcheck disable=SC2086
    "$URLWEIR" crawl "http://www.example.com:$port/a/" -o scoped $names "$@" \
        >crawl.out 2>crawl.err || status=$?
    ended 0 "$*"
    since_mark log.part
    got=$(cut -f7 log.part | grep -v robots.txt | sort | tr '\n' ' ')
    [ "$got" = "$want " ] || fail "$*: asked for $got, not $want"
}
asked_for "/a/" --scope seed
asked_for "/a/ /a/deep /a/one.html" --scope prefix
asked_for "/a/ /a/deep /a/one.html /b/two.html /behind /gone"
asked_for "/a/ /a/deep /a/one.html /b/two.html /behind /gone /s.html" \
    --scope domain
asked_for "/a/ /a/deep /a/one.html /b/two.html /behind /gone /o.html /s.html" \
    --scope any
asked_for "/a/ /a/one.html /b/two.html /gone" --depth 1
asked_for "/a/" --depth 0
asked_for "/a/ /a/deep /a/one.html /b/two.html" -X 'behind' -X '^.*gone$'
asked_for "/a/ /b/two.html" -I '/a/$' -I two
asked_for "/a/ /a/deep /a/one.html /b/two.html /gone" --max-body 2K
exits 0 "$URLWEIR" status scoped --json
says out fetched.truncated_length
asked_for "/a/ /gone" --max-url-len 35

# ---- seeds -----------------------------------------------------------------------

to() { # DIR SEED...
    dir=$1
    shift
    status=0
    # shellcheck disable=SC2086
    "$URLWEIR" crawl "$@" -o "$dir" $names >crawl.out 2>crawl.err || status=$?
}
to failed "http://www.example.com:$port/gone" "http://www.example.com:$port/"
ended 5
to bad "not a url" ftp://www.example.com/
ended 2
says crawl.err "not a url"
[ ! -e bad/frontier.db ] || fail "a crawl without a seed was begun"
cat >seeds <<END
# a comment

http://www.example.com:$port/a/
http://[::1
http://www.example.com:$port/b/two.html
END
to listed -i seeds --depth 0
ended 0
says crawl.err "seeds:4"
exits 0 "$URLWEIR" status listed --json
[ "$(json fetched <out)" = 2 ] || fail "not two seeds: $(cat out)"
to missing -i nowhere
ended 2
: >empty
to none -i empty
ended 2
