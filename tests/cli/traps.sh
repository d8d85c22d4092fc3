#!/bin/sh
# A crawl of endless spaces of URLs ends by itself, with every real page and few
# requests more; --traps report and off follow them, and skipped URLs come back
# when a resume says so; status and explain name the rule.
# Promise (Archives): a crawl of endless spaces ends by itself with every real
#   page, and archives are fetched whole; skipped URLs can come back,
#   thresholds change while it runs, and evidence outlives kills; no rule fires
#   on real documentation (LONG=1: eleven packages); spaces whose pages name
#   their own address, and filters in any order and number, end within 5 % and
#   1,000 requests, and a shop of 4,000 products with five filters is whole.
#   See also `tests/cli/traps-endless.sh`, `tests/cli/traps-docs.sh`,
#   `trap_form`, `trap_table`, `trap_text`.
# Promise (Crashes): a crawl that is killed at random moments and resumed each
#   time loses nothing. See also `make sim`.
set -eu
. "$TOP/tests/cli/lib.sh"

# rows DIR: rule, owner and form of each trap that it knows.
rows() { sqlite3 -readonly "$1/frontier.db" "SELECT rule, owner, form, score >= 32 FROM trap"; }
# within MOST: the crawls so far have made no more requests than that.
within() {
    logged
    requests=$(grep -cv robots.txt log)
    [ "$requests" -le "$1" ] || fail "$requests requests, more than $1"
}

# ---- a calendar, a directory in itself and a shop with session numbers ----

pages=1000
most=$((pages * 105 / 100 + 1000))
serve --hosts 4 --pages $pages --size 400 --profile trap
crawl d
ended 0
within $most
judge
says crawl.err "a trap: its URLs bring nothing new, and are skipped rule=counter"
says crawl.err 'pattern="/calendar/month-N?year=N&month=N"'
says crawl.err "rule=repeat"
says crawl.err "of their URLs not asked for"
agrees d
exits 0 "$URLWEIR" status d --json
[ "$(json traps <out)" -ge 3 ] || fail "not three traps: $(cat out)"
says out '"trap.counter": '
says out '"skipped.trap": '
exits 0 "$URLWEIR" export d --what urls
trapped=$(sed -n 's/.*"url": "\([^"]*calendar[^"]*\)".*"reason": "trap".*/\1/p' out | head -1)
exits 0 "$URLWEIR" explain d "$trapped"
says out "detail=counter: /calendar/month-N?year=N&month=N"
exits 0 "$URLWEIR" explain d "http://127.0.0.6:$port/calendar/month-c0?year=99999&month=1"
says out "reason             trap"
says out "trap_rule          counter"
says out "trap_pages"
echo "an endless web of $pages pages ended after $requests requests"

# ---- what was skipped comes back ----

before=$requests
resume d --traps off --limit $((before + 400))
ended 3
within $((before + 400 + 64))
exits 0 "$URLWEIR" status d --json
lacks out '"skipped.trap": [1-9]' "URLs are still skipped"
[ "$(json queued <out)" -gt 0 ] || fail "nothing is queued: $(cat out)"
serve_no_more
agrees d

# ---- report: all are followed, and told ----

serve --hosts 2 --pages 20 --size 400 --profile trap
crawl r --traps report --trap counter=30 --limit 400
ended 3
says crawl.err "a trap: its URLs bring nothing new rule=counter"
exits 0 "$URLWEIR" status r --json
lacks out '"skipped.trap"' "report skips"
says out '"trap.counter": '
serve_no_more

# ---- the other rules: each web ends, with each page that differs ----

behind port site.err python3 "$TOP/tests/support/trap_web.py" asked.log
waits_for 'grep -q "^port" port' || fail "no server: $(cat site.err)"
port=$(sed 's/port //' port)
seed=http://127.0.0.1:$port/
crawl rules --trap growth=3,same-body=50
ended 0
for rule in order session growth same-body; do
    says crawl.err "rule=$rule"
done
[ "$(sed -n 's/.*order?.*d=\([0-9]*\).*/\1/p' asked.log | sort -u | wc -l)" = 12 ] ||
    fail "not all pages in all orders"
[ "$(sed -n 's/.*shop?p=\([ab][a-e]\).*/\1/p' asked.log | sort -u | wc -l)" = 10 ] ||
    fail "not all pages of the shop"
[ "$(grep -c /tag/ asked.log)" -lt 150 ] || fail "all tags are asked for"
[ "$(wc -l <asked.log)" -lt 1200 ] || fail "$(wc -l <asked.log) requests"
agrees rules
echo "four rules: $(wc -l <asked.log) requests"
: >asked.log
seed=http://h0.farm.example/
crawl farm --proxy "http://127.0.0.1:$port" --trap subdomain=20
ended 0
says crawl.err "rule=subdomain host=farm.example"
[ "$(wc -l <asked.log)" -lt 500 ] || fail "$(wc -l <asked.log) requests"
agrees farm
echo "a farm of hosts: $(wc -l <asked.log) requests"
