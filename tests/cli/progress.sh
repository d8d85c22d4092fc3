#!/bin/sh
# Progress on stderr: a live line on a terminal, JSON on request, nothing with
# -q; the summary at the end says what to do next.
# Promise (Audit, progress and figures): progress is a live line on a terminal,
#   lines or JSON elsewhere, and the summary says what to do next. See also
#   `progress`, `summary`.
set -eu
. "$TOP/tests/cli/lib.sh"

serve --hosts 3 --pages 30
go="http://127.0.0.1:$port/ --scope any --allow-private -w 20ms --min-disk 0"

exits 0 "$URLWEIR" crawl $go -o json --progress json
grep '^{' err | tail -n 1 | python3 -c '
import json, sys
o = json.load(sys.stdin)
assert o["last"] is True and o["queued"] == 0 and o["eta"] is None, o
assert o["pages"] == 30 and o["elapsed"] > 0 and o["bytes"] > 0, o
documented = {k for page in sys.argv[1:] for l in open(page) if l.startswith("| `")
              for k in l.split("|")[1].split("`")[1::2]} - {"crawl", "run", "state", "live"}
assert documented == set(o), documented ^ set(o)
' "$TOP/docs/formats/counters.md" || fail "the JSON is not as documented"
says err "finished: every URL in scope was fetched, or has a reason why not"
says err "exit status 0; to list the pages: urlweir export json"

exits 0 "$URLWEIR" crawl $go -o quiet -q
[ ! -s err ] || fail "-q is not quiet: $(cat err)"

exits 3 "$URLWEIR" crawl $go -o limit --progress none --limit 3
says err "stopped by --limit"
says err "exit status 3; to go on: urlweir resume limit --limit none"
exits 0 "$URLWEIR" resume limit --limit none --progress none
says err "limit: 3 -> none"
says err "27 of them in this run"

# A terminal of its own: the line is drawn, and taken away before the summary.
hold # until the line was drawn
TERM=xterm script -qefc "$URLWEIR crawl $go $held -o bar" typescript >/dev/null </dev/null &
crawl=$!
esc=$(printf '\033')
waits_for 'grep -q "$esc\[K[0-9]* pages*  " typescript 2>/dev/null' || fail "no live line"
release
wait $crawl || fail "the crawl on a terminal"
grep -q "$esc\[Kfinished: " typescript || fail "the live line stays"

# Data on the same terminal: the live line makes way for each line of it.
hold
TERM=xterm script -qefc "$URLWEIR crawl $go $held" typescript >/dev/null </dev/null &
crawl=$!
waits_for 'grep -q "$esc\[K[0-9]* pages*  " typescript 2>/dev/null' || fail "no live line"
release
wait $crawl || fail "the crawl on a terminal"
python3 - "http://127.0.0.1:$port/" <<'PYTHON' || fail "the screen is not lines of data and one of progress"
import re, sys
seen = 0
text = open("typescript", newline="", errors="replace").read()
for line in text.split("\n")[1:-2]: # script's own first and last
    line = re.sub("\x1b\\[[0-9;]*m", "", line.rstrip("\r"))
    shown = re.split("\r\x1b\\[K", line)[-1] # what is left of it on the screen
    if "http://" in shown:
        assert re.fullmatch("http://[0-9.:]+/[^ ]*", shown), repr(shown)
        seen += 1
assert seen >= 30, seen
PYTHON
