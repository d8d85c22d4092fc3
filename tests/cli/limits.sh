#!/bin/sh
# Limits hold exactly; the crawl names the one it reached, ends with 3, and goes
# on with larger ones. Seeds that fail and seeds that are not URLs have statuses
# of their own.
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

# ---- seeds -----------------------------------------------------------------------

to() { # DIR SEED...
    dir=$1
    shift
    status=0
    # shellcheck disable=SC2086
    "$URLWEIR" crawl "$@" -o "$dir" $quick >crawl.out 2>crawl.err || status=$?
}
mkdir -p www/a www/b
echo a | tee www/a/index.html www/b/two.html >www/index.html
serve_files www
to failed "${seed}gone" "$seed"
ended 5
to bad "not a url" ftp://www.example.com/
ended 2
says crawl.err "not a url"
[ ! -e bad/frontier.db ] || fail "a crawl without a seed was begun"
cat >seeds <<END
# a comment

${seed}a/
http://[::1
${seed}b/two.html
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
