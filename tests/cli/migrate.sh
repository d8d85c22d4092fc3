#!/bin/sh
# Directories of older versions (tests/data/format-1): commands that only read
# show them and change nothing; commands that write migrate them to the current
# format, whole or not at all wherever they are killed, and go on from there; a
# newer format is refused.
set -eu
. "$TOP/tests/cli/lib.sh"

data=$TOP/tests/data/format-1
port=29417 # as in the crawls' URLs
web="--hosts 4 --pages 56 --size 600 --leaves 1 --leaf-pages --seed 31
    --profile plain,redirects,robots,errors --port $port"
today=$(sed -n 's/^#define DB_FORMAT \([0-9]*\) .*/\1/p' "$TOP/storage/db/db.h")
added="1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 37 38 39" # tables and columns that format 1 may lack

# take NAME: what was left, as ./d, and what its server had been asked, ./log.old.
take() {
    rm -rf taken d
    mkdir taken
    python3 -m tarfile -e "$data/$1.tar.xz" taken
    mv taken/d d
    [ ! -e taken/log ] || mv taken/log log.old
}
sql() { sqlite3 -readonly "$1/frontier.db" "$2"; }
format() { sql "$1" "SELECT value FROM meta WHERE name = 'format'"; }
# What is in the files; a log of no length is none.
sums() {
    (cd "$1" && find . -name 'frontier.db*' -size +0 ! -name '*-shm' -o -name manifest |
        sort | xargs sha256sum)
}

# rows DIR: all that an old store holds, as far as it may not change; columns
# and tables by the names of today, those that only some layouts have left out.
rows() {
    python3 - "$1/frontier.db" <<'PYTHON'
import sqlite3, sys
d = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
d.text_factory = bytes
names = {"skip_reason": "drop_reason", "skip": "drop_count", "skip_example": "drop_example"}
new = {"first_byte", "same", "flags", "simhash", "text_print", "near", "text_digest", "body_print", "meta", "pages", "completed", "removed_count", "octets", "sources"}
tables = [t.decode() for (t,) in d.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
# The links, which had a row each.
links = {"link": "src, dst, kind FROM link ORDER BY rowid",
         "link_list": "src, value >> 5, value & 31 FROM link_list, json_each(links) ORDER BY first, key"}
for table in links.keys() & set(tables):
    for link in d.execute("SELECT " + links[table]):
        print("link", *link)
for table in sorted(set(tables) - links.keys(), key=lambda t: names.get(t, t)):
    columns = [c[1].decode() for c in d.execute("PRAGMA table_info(%s)" % table)]
    columns = [c for c in columns if c not in new]
    for row in d.execute("SELECT %s FROM %s ORDER BY 1, 2" % (", ".join(columns), table)):
        if row[0] not in (b"format", b"same_content"):
            print(names.get(table, table), dict(zip(columns, row)))
PYTHON
}
# layout DIR: tables, columns and views.
layout() {
    sql "$1" "SELECT m.name, c.cid, c.name, c.type, c.[notnull], c.dflt_value, c.pk
        FROM sqlite_master m, pragma_table_info(m.name) c WHERE m.type = 'table' ORDER BY 1, 2"
    sql "$1" "SELECT name, sql FROM sqlite_master WHERE type <> 'table' ORDER BY 1"
}

# is_new DIR: of today's format and layout, with every row of ./rows.old, and
# each repeated body names the first one.
is_new() {
    [ "$(format "$1")" = "$today" ] || fail "$2: of format $(format "$1")"
    layout "$1" | cmp -s - layout || fail "$2: $(layout "$1" | diff - layout)"
    rows "$1" | cmp -s - rows.old || fail "$2: $(rows "$1" | diff - rows.old)"
    [ -z "$(sql "$1" "SELECT f.seq FROM fetch f WHERE digest IS NOT NULL AND ifnull(same, seq) <>
        (SELECT min(seq) FROM fetch WHERE digest = f.digest)")" ] || fail "$2: bodies"
}
is_old() {
    [ "$(format "$1")" = 1 ] || fail "$2: of format $(format "$1")"
    rows "$1" | cmp -s - rows.old || fail "$2: $(rows "$1" | diff - rows.old)"
}

# read_it URL URLS WHAT...: each command that only reads shows ./d, with so many
# URLs, and leaves it as it was.
read_it() {
    sums d >sums.old
    exits 0 "$URLWEIR" status d --json
    exits 0 "$URLWEIR" status d --hosts
    exits 0 "$URLWEIR" explain d "$1"
    [ "$(wc -l <out)" -gt 3 ] || fail "explain says too little: $(cat out)"
    exits 0 "$URLWEIR" export d
    [ "$(wc -l <out)" = "$2" ] || fail "not $2 URLs: $(cat out)"
    shift 2
    for what; do
        exits 0 "$URLWEIR" export d --what "$what" --format csv
    done
    exits 0 "$URLWEIR" audit d --json
    [ "$(json false_negatives <out)" = 0 ] || fail "false negatives: $(cat out)"
    is_whole d "an older format"
    says verify.out "frontier.db: of format 1;"
    lacks verify.out BAD
    sums d | cmp -s - sums.old || fail "a reader changed the directory"
}

# killed_at POINT COMMAND...: a writer, killed there while it migrates ./k, a
# copy of ./d.
killed_at() {
    point=$1
    shift
    rm -rf k
    cp -a d k
    killed=0
    URLWEIR_KILL_AT=$point "$@" >k.out 2>k.err </dev/null || killed=$?
    [ "$killed" = 137 ] || fail "not killed at $point but $killed: $(cat k.out k.err)"
}
# migrated_by COMMAND...: killed at each step, it leaves what was there or all
# of the new; behind the commit nothing else has been done yet.
migrated_by() {
    rows d >rows.old
    for point in commit-begin $(printf 'migrate-added:%d ' $added) migrate-views commit-before; do
        killed_at "$point" "$@"
        is_old k "killed at $point"
        URLWEIR_KILL_AT=commit-after "$@" >k.out 2>k.err </dev/null && fail "went on" || :
        is_new k "again, after a kill at $point"
    done
    killed_at commit-after "$@"
    is_new k "migrated"
}

# ---- crawls of three layouts, which resume brings up to date --------------------

waits_for 'python3 -c "import socket
for n in range(1, 5):
    socket.create_server((\"127.0.0.%d\" % n, $port))" 2>bind.err' ||
    fail "port $port, which is in the URLs, is taken: $(cat bind.err)"
start_service none
stop TERM 0
layout d >layout

for name in first links items; do
    take $name
    read_it "http://127.0.0.1:$port/" "$(sql d 'SELECT count(*) FROM url')" pages errors drops hosts
    migrated_by "$URLWEIR" resume k --limit none --progress none
    cp log.old log.parts
    # shellcheck disable=SC2086
    serve $web
    resume d --limit none
    ended 0 "$name"
    [ "$(grep -c 'brought to a newer format.*was=1 is='"$today" crawl.err)" = 1 ] || fail "$(cat crawl.err)"
    logged
    cat log >>log.parts
    serve_no_more
    cp log.parts log
    judge --ignore /sitemap.xml --kills 1 --in-flight 4
    [ -e d/urlweir-settings.yaml ] && [ ! -e d/crawl.yaml ] || fail "the settings: $(ls d)"
    agrees d
    exits 0 "$URLWEIR" verify d
    lacks out "of format" "still old"
    [ "$(sql d "SELECT count(*) > 0 FROM fetch WHERE same > 0")" = 1 ] || fail "no repeat is known"
    resume d
    ended 0 "$name, finished"
    lacks crawl.err 'newer format' "migrated twice"
    added=39 # the last of them for the others
    echo "$name: $(sed -n 's/^duplicate //p' check.out) asked again"
done

# ---- a service, which serve brings up to date ------------------------------------

take service
read_it http://h0.example/p3 13 queues # and one that is deleted
migrated_by "$URLWEIR" serve k --listen 127.0.0.1:0 --http none
start_service 127.0.0.1:0
curl -sS "http://$http/v1/queues?crawl=news&include_inactive=true" >out
says out h2.example
curl -sS "http://$http/v1/url?url=http://h0.example/p3&crawl=news" >out
says out '"limit":5'
says out '"depth":["3"]'
curl -sS "http://$http/v1/url?url=http://h1.example/p1&crawl=news" >out
says out '"state":"completed"'
says out '"delay_seconds":7.0'
curl -sS -H 'Content-Type: application/json' -d '{"url": "http://new.example/"}' "http://$http/v1/urls" >out
says out '"status":"ok"'
grep -q 'brought to a newer format.*was=1 is='"$today" serve.err || fail "$(cat serve.err)"
stop TERM 0
exits 0 "$URLWEIR" verify d
says out "all agree"

# ---- a newer format ----------------------------------------------------------------

take links
sqlite3 d/frontier.db "UPDATE meta SET value = 99 WHERE name = 'format'"
sums d >sums.old
for command in status audit export verify "explain d http://127.0.0.1:$port/" resume; do
    set -- $command
    [ $# -gt 1 ] || set -- "$@" d
    exits 2 "$URLWEIR" "$@"
    says err "newer"
    says err "use that"
done
take service
sqlite3 d/frontier.db "UPDATE meta SET value = 99 WHERE name = 'format'"
exits 2 "$URLWEIR" serve d --listen 127.0.0.1:0 --http none
says err "newer"
says err "use that release"
