#!/bin/sh
# `urlweir refresh` of a stopped or running crawl, and the dates that a resume
# with --refresh gives and takes. The simulator shows what follows from dates,
# and that kills change nothing.
# Promise (Commands and options): --refresh: no page is lost, fetched before
#   its date or twice for one date, also after kills; a changed interval moves
#   all dates; new pages and refreshes share a host; a missing page is tried
#   twice more, then gone; a run that ends when idle first tries failed URLs
#   again. See also `make sim`, `frontier_refresh`.
# Promise (Archives): refresh --lost-archives fetches exactly the pages again
#   whose WARC record is lost, in full. See also
#   `tests/support/cluster_shards.py`.
set -eu
. "$TOP/tests/cli/lib.sh"

mkdir -p web
for i in 1 2 3 4 5 6 7 8; do
    echo "<a href=/p$i.html>$i</a>"
    echo "<title>$i</title>page $i" >web/p$i.html
done >web/index.html
serve_files web
once="--robots off --min-disk 0"

# counter NAME DIR
counter() {
    exits 0 "$URLWEIR" status "$2" --json
    json "$1" <out
}

# ---- off -----------------------------------------------------------------------

# shellcheck disable=SC2086
crawl d $once
ended 0
[ "$(counter dated d)" = 0 ] || fail "dates without --refresh"

# ---- urlweir refresh, of a crawl without --refresh --------------------------------

exits 1 "$URLWEIR" refresh d --match '('
says err "--match:"
exits 0 "$URLWEIR" refresh d --host nowhere.test --now
says out '0 URLs made due again'
exits 0 "$URLWEIR" refresh d --match '/p[12]\.html$' --now
says out '2 URLs made due again'
says err '`urlweir resume d` fetches what is due, 2 URLs'
exits 0 "$URLWEIR" refresh d --match 'p[12]' --now --json
says out '{"dated":0}' # they are due
cp -r d before
mark
exits 0 "$URLWEIR" resume d --progress none
since_mark asked
[ "$(grep -c . asked) $(grep -c '/p[12].html' asked)" = "2 2" ] ||
    fail "not the two pages: $(cat asked)"
[ "$(counter refreshed d) $(counter dated d)" = "2 0" ] || fail "$(cat out)"
exits 0 "$URLWEIR" verify d
exits 0 "$URLWEIR" resume d --progress none
says err 'nothing is left to fetch' # once

# Without --now, --refresh-min after the last fetch.
exits 0 "$URLWEIR" refresh d --host 127.0.0.1
says out '9 URLs made due again'
mark
exits 0 "$URLWEIR" resume d --until-idle --progress none
since_mark asked
[ ! -s asked ] || fail "sooner than an hour after its last fetch: $(cat asked)"

rm -rf d
cp -r before d
exits 0 "$URLWEIR" refresh d --now
[ "$(counter dated d)" = 9 ] || fail "$(cat out)"

# A crawl that runs: those that were fetched since are due once more; those that
# are due, or under way, stay so. (It is slow until it has been told.)
behind run.out run.err "$URLWEIR" resume d --delay 3s --progress none
runs=$!
waits_for '[ -S d/control ]' || fail "it does not run: $(cat run.err)"
waits_for '[ "$(counter refreshed d)" -ge 1 ]' || fail "no refresh: $(cat run.err)"
exits 1 "$URLWEIR" refresh d --match '(' --now
exits 0 "$URLWEIR" refresh d --now --json
once_more=$(sed 's/{"dated":\([0-9]*\)}/\1/' out)
[ "$once_more" -ge 1 ] || fail "what was fetched is not due: $(cat out)"
exits 0 "$URLWEIR" delay d 127.0.0.1 10ms
wait $runs || fail "the crawl: $(cat run.err)"
[ "$(counter refreshed d) $(counter dated d)" = "$((9 + once_more)) 0" ] ||
    fail "not each once, and $once_more again: $(cat out)"
exits 0 "$URLWEIR" verify d

# ---- --lost-archives: pages whose record is gone -------------------------------------

# Records of some 40 kB, so that each page has a file of its own; q.html and r.html are
# the same, so the record of the later one has no body.
rm -rf web
mkdir web
for i in p1 p2 p3 q r; do
    echo "<a href=/$i.html>$i</a>" >>web/index.html
    [ $i = r ] || head -c 30000 /dev/urandom | base64 >web/$i.html
done
cp web/q.html web/r.html

# of PAGE: the file that has its last record.
of() {
    exits 0 "$URLWEIR" export arch --what fetches
    python3 -c 'import json, sys
print([r["warc_file"] for r in map(json.loads, open("out")) if r["url"] == sys.argv[1]][-1])' "$seed$1"
}
# shellcheck disable=SC2086
crawl arch $once --warc --warc-size 16K --concurrency 1
ended 0
exits 0 "$URLWEIR" refresh arch --lost-archives --now
says out '0 URLs made due again'
rm "arch/$(of p2.html)" "arch/$(of q.html)"
exits 6 "$URLWEIR" verify arch
exits 0 "$URLWEIR" refresh arch --lost-archives --now --match p3
says out '0 URLs made due again'
exits 0 "$URLWEIR" verify arch # rows name no record that is not there
exits 0 "$URLWEIR" refresh arch --lost-archives --now --json
says out '{"dated":3}'
mark
exits 0 "$URLWEIR" resume arch --progress none
since_mark asked
[ "$(awk '{ print $7 }' asked | sort | tr '\n' ' ')" = "/p2.html /q.html /r.html " ] ||
    fail "asked for $(cat asked)"
for page in p1 p2 p3 q r; do
    gzip -dc arch/warc/*.warc.gz | grep -aFq "$(sed -n 5p web/$page.html)" ||
        fail "no record has the body of $page"
done
exits 0 "$URLWEIR" verify arch
exits 0 "$URLWEIR" refresh arch --lost-archives --now
says out '0 URLs made due again'
# shellcheck disable=SC2086
crawl plain $once
exits 1 "$URLWEIR" refresh plain --lost-archives
says err '--lost-archives: the crawl writes no WARC files'
