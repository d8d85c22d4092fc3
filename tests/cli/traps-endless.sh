#!/bin/sh
# Endless spaces whose pages name their own address, filters in any order and
# number, calendars, searches: each ends by itself within its real pages, 5 %
# and 1,000 requests, and explain names the rule. Similar webs that end are
# fetched whole: a shop of 4,000 products with five filters, archives,
# documentation.
set -eu
. "$TOP/tests/cli/lib.sh"

behind port site.err python3 "$TOP/tests/support/trap_web.py" asked.log
waits_for 'grep -q "^port" port' || fail "no server: $(cat site.err)"
port=$(sed 's/port //' port)
python3 "$TOP/tests/support/trap_web.py" --list >webs

# begin PATH: the next crawl is of this web.
begin() {
    seed=http://127.0.0.1:$port$1
    case $1 in */root-*) # of a host's root
        host=$(echo "${1#/}" | tr / -).root.example
        seed=http://$host:$port/
        quick="${quick%%--resolve*} --resolve $host:$port:127.0.0.1"
        ;;
    esac
    : >asked.log
}
# pages: how many of this web were asked for, each once.
pages() { grep -v robots.txt asked.log | sort -u | grep -c . || :; }

# ---- spaces without an end ----

grep '^/trap/' webs >traps
while read -r path real most; do
    begin "$path"
    rm -rf d
    crawl d --scope host
    ended 0 "$path"
    requests=$(grep -cv robots.txt asked.log)
    [ "$requests" -le "$most" ] || fail "$path: $requests requests, more than $most"
    says crawl.err "a trap: its URLs bring nothing new"
    case $path in
    *products) [ "$(grep /product asked.log | sort -u | wc -l)" = $((real - 1)) ] ||
        fail "$path: not all products" ;;
    *again) for text in red blue; do
        grep -q "color=$text$" asked.log || fail "$path: not $text"
    done ;;
    esac
    agrees d
    echo "$path: $real real pages, $requests requests, $(sed -n \
        's/.*a trap: .*rule=\([a-z-]*\) .*/\1/p' crawl.err | sort -u | tr '\n' ' ')"
done <traps

# ---- the rule is named, its threshold is set, and without it all comes back ----

begin /trap/twelve-named
crawl named --scope host --trap combination=40
ended 0
first=$(pages)
url="http://127.0.0.1:$port/trap/twelve-named?brand=acme&color=red"
exits 0 "$URLWEIR" explain named "$url&never=seen"
says out "trap_rule          combination"
says out "trap_pattern       /trap/twelve-named?..."
"$URLWEIR" export named --what urls >urls
trapped=$(sed -n 's/.*"url": "\([^"]*\)".*"reason": "trap".*/\1/p' urls | head -1)
exits 0 "$URLWEIR" explain named "$trapped"
says out "/trap/twelve-named?..."
exits 0 "$URLWEIR" status named --json
says out '"trap.order": '
says out '"trap.combination": '
resume named --trap combination=150
ended 0
[ "$(pages)" -gt $((first + 80)) ] || fail "a higher threshold asks for no more: $(pages)"
crawl off --scope host --trap combination=off --limit 1500
ended 3
says crawl.err "rule=order"
lacks crawl.err "rule=combination" "a rule that is off"
[ "$(sed 's/.*?//; s/&/\n/g' asked.log | sort -u | wc -l)" -ge 12 ] || fail "not all filters"

begin /trap/missing-absolute/
crawl spiral --scope host
ended 0
trapped=$(sqlite3 -readonly spiral/frontier.db "SELECT max(url) FROM drop_examples")
exits 0 "$URLWEIR" explain spiral "$trapped"
says out "trap_rule          spiral"

# ---- webs that end ----

grep '^/honest/' webs >honest
while read -r path real most; do
    begin "$path"
    rm -rf d
    crawl d --scope host
    ended 0 "$path"
    case $path in
    */clicks/* | */root-path)
        found=$(grep /product asked.log | sort -u | wc -l)
        lists=$(grep -v -e /product -e /compare -e robots.txt asked.log | sort -u | wc -l)
        ;;
    *) found=$(pages) ;;
    esac
    [ "$found" -ge "$real" ] || fail "$path: $found of $real pages: $(cat crawl.err)"
    case $path in
    */root-path)
        says crawl.err "rule=order"
        [ $((lists + $(grep -c /compare asked.log))) -le 800 ] || fail "$lists lists"
        [ "$(grep -c /compare/1/0 asked.log)" = 1 ] || fail "one order of two things"
        ;;
    */clicks/*) says crawl.err "rule=order" ;;
    *) lacks crawl.err "a trap" "$path is taken for a trap" ;;
    esac
    echo "$path: all $real pages, $(grep -cv robots.txt asked.log) requests${lists:+, $lists lists}"
    lists=
done <honest
