#!/bin/sh
# --order decides which page of a host is requested next, as the server sees it,
# also after a resume and a kill. A slow host holds up no other. explain shows a
# page's score and its parts.
# Promise (Commands and options): --order: pages arrive by their class, raised
#   by in-links; this outlives kills and resumes, and a changed order applies
#   to queued URLs; no order loses or repeats a URL; a slow host holds up no
#   other. See also `order`, `frontier_order`, `order_crawl`, `side_tables`.
set -eu
. "$TOP/tests/cli/lib.sh"

# Names long enough that their paths give no points. Pages 1 and 2 link to 6.
site=/pages/of/the/site
page() { echo "$site/p$1.html"; }
mkdir -p "web/127.0.0.2$site" web/127.0.0.3
for i in 1 2 3 4 5 6; do
    echo "<a href='$(page 6)'>6</a>" >"web/127.0.0.2$(page $i)"
    echo "<a href='$(page $i)'>$i</a>"
done >web/127.0.0.2/index.html
for i in 3 4 5 6; do
    echo end >"web/127.0.0.2$(page $i)"
done
echo old >web/127.0.0.2/old.html
plain_site 127.0.0.2 127.0.0.3
one="-c 1 --threads 1 --robots off"

# came N...: the pages asked for, in order,
# since `log` was emptied.
came() {
    sed -n 's,^127.0.0.2 .*/p\([0-9]\)\.html$,\1,p' log | tr '\n' ' ' >got
    [ "$(cat got)" = "$* " ] || fail "asked for pages $(cat got), not $*: $(cat log)"
    : >log
}

# shellcheck disable=SC2086
crawl breadth $one
ended 0
came 1 2 3 4 5 6

# shellcheck disable=SC2086
crawl best $one --order best
ended 0
came 1 6 2 3 4 5
exits 0 "$URLWEIR" explain best "http://127.0.0.2:$port$(page 6)" --json
for part in order:best score:2 score_depth:1 score_path:0 score_priority:0 score_links:1 \
    score_rules:0 in_links:2; do
    [ "$(json "${part%:*}" <out)" = "${part#*:}" ] || fail "not $part: $(cat out)"
done
exits 0 "$URLWEIR" explain best "http://127.0.0.2:$port$(page 6)"
says out "before its turn"

# shellcheck disable=SC2086
crawl rules $one --order best --boost '/p[12]\.=-3' --first '/p5\.'
ended 0
came 5 3 4 6 1 2

# A kill, and another order at a resume: both see what was queued before.
# shellcheck disable=SC2086
crawl later $one -n 2
ended 3
resume later -n 3 --order best --boost '/p4\.=3'
ended 3
says crawl.err "order: breadth -> best"
resume later -n none
ended 0
came 1 4 2 6 3 5
exits 0 "$URLWEIR" status later --json
says out '"order": "best"'
agrees later

# A rule that cannot be is refused, and so is one that nothing would obey.
exits 1 "$URLWEIR" crawl "$seed" -o bad --order best --boost 'p('
says err "--boost 'p('"
exits 1 "$URLWEIR" crawl "$seed" -o bad --first p
says err "--order best"

# The slow host's page comes when all of the other's have been asked for; it was
# asked before that. (Which host the server sees first is up to its threads.)
for i in 1 2 3 4 5 6; do
    echo "127.0.0.2 $(page $i)"
done >web/127.0.0.3/index.html.after
echo slow >web/127.0.0.3/index.html
for order in breadth depth best; do
    : >log
    # shellcheck disable=SC2086
    crawl slow-$order "http://127.0.0.3:$port/" --threads 1 -c 2 --robots off --order $order -T 2m
    ended 0
    [ "$(grep -c ' /pages' log)" = 6 ] || fail "not all pages: $(cat log)"
    [ "$(sed '$d' log | grep -c 127.0.0.3)" = 1 ] || fail "it was not asked before: $(cat log)"
done
