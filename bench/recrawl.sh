#!/bin/bash
# What a recrawl of pages that have not changed costs, against the first crawl:
# octets received and CPU time, all in one run, from nginx with real pages. The
# first crawl keeps its links; `again` is the end of a chain, `chain` keeps them
# for a third crawl. `plain` is a first crawl that keeps none, so the difference
# is what they cost; their octets in the store are below.
#
# usage: bench/recrawl.sh URLWEIR   (make bench-recrawl)
#   DOCS=DIR[:START]  files to serve, and the page to begin at [those of rust-doc]
#   WARC=1            with --warc
#   PAGES=N           at most so many pages [20000]
set -euo pipefail
urlweir=$1
top=$(cd "$(dirname "$0")/.." && pwd)
docs=${DOCS:-$top/build/docs/rust-doc/usr/share/doc/rust-doc/html:index.html}
start=${docs#*:}
[ "$start" != "$docs" ] || start=
docs=${docs%%:*}
[ -d "$docs" ] || { echo "recrawl: skipped, there is no $docs"; exit 0; }
at=$(mktemp -d)
server=
trap 'kill $server 2>/dev/null || :; rm -rf "$at"' EXIT
"$top/tools/serve-docs.sh" "$at/nginx" "$docs" &
server=$!
for ((i = 0; i < 600; i++)); do
    kill -0 $server 2>/dev/null || { echo "recrawl: skipped, there is no nginx"; exit 0; }
    [ ! -s "$at/nginx/pid" ] || break
    sleep 0.1
done
port=$(cat "$at/nginx/port")
options=(--allow-private --delay 0 --sitemap off --robots off --record links --conns-per-host 4
    --limit "${PAGES:-20000}" --progress none --quiet)
[ -z "${WARC:-}" ] || options+=(--warc)

# run NAME OPTION...: its user and system CPU in ms to $at/NAME.cpu.
run() {
    local name=$1 status=0
    shift
    TIMEFORMAT='%U %S'
    { time "$urlweir" crawl "http://127.0.0.1:$port/$start" -o "$at/$name" "${options[@]}" "$@" \
        >"$at/$name.out" 2>&1 || status=$?; } 2>"$at/$name.time"
    [ $status = 0 ] || [ $status = 3 ] || { cat "$at/$name.out"; exit 1; }
    "$urlweir" status "$at/$name" --json >"$at/$name.json"
}
run plain --record none
run first
run again --since "$at/first" --record none
run chain --since "$at/first"
python3 - "$at" <<'END'
import json, sqlite3, sys
at = sys.argv[1]
def row(name):
    status = json.load(open(f'{at}/{name}.json'))
    cpu = sum(float(part) for part in open(f'{at}/{name}.time').read().split())
    db = sqlite3.connect(f'file:{at}/{name}/frontier.db?mode=ro', uri=True)
    fetches, unchanged = db.execute("SELECT count(*), sum(reason = 'unchanged') FROM fetches WHERE final"
                                    " AND status = 'fetched'").fetchone()
    return fetches, unchanged or 0, status['bytes'], cpu
first = row('first')
print('recrawl      pages  unchanged       octets   CPU s   us a page   octets    CPU')
for name in ('plain', 'first', 'again', 'chain'):
    r = row(name)
    print(f'{name:<8} {r[0]:>9} {r[1]:>10} {r[2]:>12} {r[3]:>7.2f} {r[3] / max(r[0], 1) * 1e6:>11.0f}'
          f' {100 * r[2] / first[2]:>6.1f} % {100 * r[3] / first[3]:>4.0f} %')
print('to reach, of the first                                       5.0 %   40 %')
db = sqlite3.connect(f'file:{at}/first/frontier.db?mode=ro', uri=True)
links, targets = db.execute('SELECT count(*), sum(length(value) + 1) FROM link_list l, json_each(l.links)').fetchone()
octets, = db.execute("SELECT sum(pgsize) FROM dbstat WHERE name = 'link_list'").fetchone()
print(f'links: {links}; octets a link: {targets / links:.1f}, with texts, rel and dropped URLs'
      f' {octets / links:.1f}')
END
