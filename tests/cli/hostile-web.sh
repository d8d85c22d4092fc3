#!/bin/sh
# No web server can take the crawl down: heads that begin with a folded line,
# and 500 randomly broken responses (LONG: 10,000), from a seed that is
# printed. The crawl ends, and its directory is sound.
set -eu
. "$TOP/tests/cli/lib.sh"

# ---- a head that begins with a folded line, on a handle used before ------------

serve_hostile blank
for warc in "" --warc; do
    rm -rf d
    # shellcheck disable=SC2086
    crawl d -c 1 --threads 1 -t 1 $warc
    ended 0 "heads that begin with a folded line"
    says crawl.err "unique URLs            61"
    agrees d
done
rm -rf d
crawl d -n 1 -v
says crawl.err libcurl # what it works around
hostile_no_more

# ---- at random -----------------------------------------------------------------

count=500
[ -z "${LONG:-}" ] || count=10000
count=${COUNT:-$count}
number=${SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}
echo "$count responses, SEED=$number"
serve_hostile random "$number" "$count"
# Most hosts have no robots.txt; those of the others are random as well, and few.
awk -v count="$count" -v port="$port" 'BEGIN {
    for (i = 0; i < count; i++)
        printf "http://127.0.0.%d:%d/%d\n", i % 50 == 0 ? i / 50 % 8 + 9 : i % 8 + 1, port, i
}' >seeds
rm -rf d
# shellcheck disable=SC2086
crawl d -i seeds $loopback_only --conns-per-host 4 -t 2 -T 1s --max-body 200K --memory 96M --warc \
    --max-redirects 3 --give-up 5s --sitemap auto
# Redirects at random lead to hosts that do not respond, which keep their URLs.
case $status in
0 | 3 | 5) ;;
*) ended 5 "responses at random, SEED=$number" ;;
esac
kill -0 "$server" || fail "the server ended: $(cat site.err)"
hostile_no_more
agrees d
arrived=$(wc -l <log)
[ "$arrived" -ge $((count * 9 / 10)) ] || fail "$arrived requests for $count URLs"
exits 0 "$URLWEIR" export d
grep '"http_status": [0-9]' out >answered || :
lacks -v answered '"url": "https\{0,1\}://127\.' "a host that is not of this machine was asked"
left=$("$URLWEIR" export d --what hosts |
    sed -n 's/.*"queued": \([0-9]*\), "why": "\(connect\|dns\|tls\)".*/\1/p' |
    awk '{ n += $1 } END { print n + 0 }')
[ "$(grep -c '"status": "queued"' out)" = "$left" ] ||
    fail "URLs are left, and not of hosts that did not respond: $(cat crawl.err)"
echo "$arrived requests; $(sed -n 's/^  pages */pages /p' crawl.err)"
