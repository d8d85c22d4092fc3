#!/bin/sh
# The settings of a crawl during its life: whatever changes one (a resume,
# HTTP, a person in the file, `delay`, `block` and `limit` for a host), it
# holds from then on, even if the process is killed at once; --once is for one
# run.
# Promise (Installing and checks): changed settings are kept, whether changed
#   by a resume, over HTTP, in the file or for a host, also if the process is
#   killed at any step; --once keeps nothing; status shows both. See also
#   `settings_applied`, `make sim`.
set -eu
. "$TOP/tests/cli/lib.sh"

file=d/urlweir-settings.yaml

# setting NAME: as `status --json` of ./d shows it.
setting() {
    "$URLWEIR" status d --json >status.json || fail "no status"
    python3 -c 'import json, sys
print(json.dumps(json.load(open("status.json"))["settings"][sys.argv[1]]))' "$1"
}
# kept NAME VALUE...: so `status` shows them.
kept() {
    while [ $# -gt 0 ]; do
        [ "$(setting "$1")" = "$2" ] || fail "$1 is $(setting "$1"), not $2"
        shift 2
    done
}
# api METHOD PATH [JSON]: asks the crawl that runs in ./d, by its socket; the
# answer in ./answer, its status printed.
api() {
    curl -s -o answer -w '%{http_code}\n' --unix-socket d/control -X "$1" \
        ${3:+-H 'Content-Type: application/json' -d "$3"} "http://localhost$2"
}
patch() {
    [ "$(api PATCH /v1/crawls/DEFAULT/settings "$1")" = 200 ] || fail "$1: $(cat answer)"
}
# runs OPTION...: `resume d` in the background, $crawler, until it takes commands.
# A time that an earlier run had would end this one before it is told anything.
runs() {
    behind crawl.out crawl.err "$URLWEIR" resume d --progress none --time none "$@"
    crawler=$!
    waits_for '"$URLWEIR" unpause d >out 2>err' || fail "it does not run: $(cat crawl.err err)"
}
# dies: it is killed, without a chance to write anything.
dies() {
    kill -KILL "$crawler"
    wait "$crawler" 2>/dev/null || :
}
# steer WORD...
steer() { exits 0 "$URLWEIR" "$@"; }

# ---- a web of two hosts: /p0.html ... and /library/b0.html ... -----------------------

# (At the shortest delay here it takes a minute: it is not through before it is
# told the next thing.)
mkdir -p web/library
python3 - <<'PYTHON'
with open("web/index.html", "w") as f:
    f.write("<title>start</title>")
    for n in range(1200):
        f.write("<a href=/p%d.html>p</a><a href=/library/b%d.html>b</a>" % (n, n))
        open("web/p%d.html" % n, "w").write("<title>p%d</title>" % n)
        open("web/library/b%d.html" % n, "w").write("<title>b%d</title>" % n)
PYTHON
serve_files web 127.0.0.1,127.0.0.2
other=http://127.0.0.2:$port/
# begins: a crawl of both hosts in ./d that has fetched three pages.
begins() {
    rm -rf d
    "$URLWEIR" crawl "$seed" "$other" -o d --scope host --allow-private --sitemap off \
        --delay 100ms --max-delay 5s --min-disk 0 --progress none --threads 1 -n 3 "$@" \
        >crawl.out 2>crawl.err || [ $? = 3 ] || fail "$(cat crawl.err)"
}
# more N: that many pages more, in a run that is told nothing else.
more() {
    mark
    pages=$("$URLWEIR" status d --json | json pages)
    status=0
    "$URLWEIR" resume d --once -n $((pages + $1)) --progress none >crawl.out 2>crawl.err || status=$?
    ended 3
}
# none_of PATH: since the mark nothing of that was asked for.
none_of() {
    since_mark log.since
    cut -f 7 log.since >asked
    lacks asked "^$1" "asked for $1"
}
# at_least MS [HOST]: apart are the requests since the mark.
at_least() {
    gaps ${2:-} >between
    [ -s between ] || fail "no two requests"
    awk -v least="$1" '$1 < least { exit 1 }' between || fail "not $1 ms apart: $(cat between)"
}

# ---- a resume: kept, and in force in the next one ---------------------------------------

begins
kept delay '"100ms"' exclude '[]' limit 3
exits 3 "$URLWEIR" resume d -X /library/ -w 400ms -n 5 --progress none
says err "exclude: none -> /library/"
says err "urlweir resume: kept in $file"
kept delay '"400ms"' exclude '["/library/"]' limit 5
more 4
none_of /library/
at_least 400
steer status d
says out "exclude: /library/"
says out "delay: 400ms"
says out "limit: 5 (last run: "
lacks out "timeout:" "status shows a default"

# A list replaces the one before; an empty one is none.
exits 3 "$URLWEIR" resume d -X /x -X /y -n 10 --progress none
kept exclude '["/x", "/y"]'
exits 3 "$URLWEIR" resume d -X '' -n 11 --progress none
kept exclude '[]'

# What changes nothing writes nothing, not even over a comment.
echo '# mine' >>$file
cp -p $file before
exits 3 "$URLWEIR" resume d --progress none
cmp -s before $file || fail "the file was written: $(diff before $file)"
chmod 640 $file
exits 3 "$URLWEIR" resume d -T 30 --progress none
[ "$(stat -c %a $file)" = 640 ] || fail "its mode was changed: $(ls -l $file)"
exits 3 "$URLWEIR" resume d --progress none
lacks err "kept in"

# ---- a person edits the file ------------------------------------------------------------------

begins
sed -i 's/^delay: .*/delay: 300ms/; s,^exclude: .*,exclude: [/library/],' $file
more 4
says crawl.err "exclude: none -> /library/"
says crawl.err "delay: 100ms -> 300ms"
none_of /library/
at_least 300

# While it runs: it stays beside what is changed otherwise, and holds from the next start.
begins
runs -n none
sed -i 's,^exclude: .*,exclude: [/library/],' $file
patch '{"delay": "250ms"}'
steer status d
says out "exclude: /library/ (this run: none)"
dies
kept exclude '["/library/"]' delay '"250ms"' limit '"none"'
more 4
none_of /library/
at_least 250

# What is fixed stays, and nothing else of that edit is taken.
cp -p $file before
for edit in 'queue-key s/^queue-key: .*/queue-key: domain/' 'input s/^input: .*/input: other/' \
    'seeds s/127.0.0.2/127.0.0.3/'; do
    sed -i "${edit#* }; s/^delay: .*/delay: 2s/" $file
    exits 1 "$URLWEIR" resume d --progress none
    says err "$file: ${edit%% *}: it is fixed when a crawl starts, and is another there"
    cp -p before $file
done
more 4
at_least 250

# What cannot be read is neither replaced nor passed over.
runs
echo 'dept: 3' >$file
[ "$(api PATCH /v1/crawls/DEFAULT/settings '{"delay": "1s"}')" = 400 ] || fail "$(cat answer)"
says answer "urlweir-settings.yaml:1:1: no setting 'dept'; did you mean 'depth'?"
dies
[ "$(cat $file)" = 'dept: 3' ] || fail "it was replaced"
steer status d
says out "settings cannot be read: d/urlweir-settings.yaml:1:1: no setting 'dept'"
exits 6 "$URLWEIR" resume d --progress none

# ---- for one run only --------------------------------------------------------------------------

begins
cp $file before
runs --once -X /library/ -w 1m --max-delay 1m -n none
says crawl.err "urlweir resume: for this run only"
steer status d
says out "delay: 100ms (this run: 1m)"
patch '{"time": "1h"}' # which is kept, and it alone
dies
kept delay '"100ms"' exclude '[]' limit 3 time '"1h"'
mark
exits 3 "$URLWEIR" resume d -n 8 --progress none
says err "delay: 1m -> 100ms"
gaps >between
awk '$1 < 60000 { found = 1 } END { exit !found }' between || fail "the delay stays: $(cat between)"
exits 1 "$URLWEIR" crawl "$seed" -o e --once
says err "it is for \`urlweir resume\`"
echo 'once: true' >once.yaml
exits 1 "$URLWEIR" resume d -C once.yaml
says err "'once' can be given on the command line only"
