#!/bin/sh
# --rewrite, --drop-tracking, --drop-empty-params, --sort-query: many URLs of one
# page have one form, in `url`, links, seeds, and for explain; the rules are
# stored with the crawl, and a resume with others gives the queue its new form.
# Promise (Commands and options): rules rewrite URLs; none is on by default,
#   and bad rules are refused with their line. See also `url_form`, `make fuzz
#   T=rewrite`.
# Promise (Commands and options): the rules for URLs are stored with the crawl;
#   a resume with other rules gives queued URLs their new form and says so,
#   also if only the file has changed.
set -eu
. "$TOP/tests/cli/lib.sh"

# ---- urlweir url -------------------------------------------------------------

cat >rules <<'END_RULES'
# rules
^http://www\.        http://
/session/[0-9a-f]+/  /
END_RULES
printf '%s\n' 'http://www.h/session/1/session/2/x' 'http://h/p?b=&utm_a=1&a=1' mailto:x >in
"$URLWEIR" url --rewrite rules --sort-query --drop-tracking --drop-empty-params <in >out
printf '%s\n' http://h/x 'http://h/p?a=1' '!	scheme' | cmp - out || fail "$(cat out)"
"$URLWEIR" url <in >out
grep -qxF 'http://h/p?b=&utm_a=1&a=1' out || fail "something is on by default: $(cat out)"
exits 1 "$URLWEIR" url --whatwg --sort-query <in
exits 1 "$URLWEIR" url --rewrite <in

refuses() {
    printf '%s\n' "$1" >bad
    exits 1 "$URLWEIR" url --rewrite bad <in
    says err "--rewrite bad: $2"
    exits 1 "$URLWEIR" crawl http://127.0.0.1:1/ -o no --rewrite bad
    says err "--rewrite bad: $2"
    [ ! -e no ] || fail "a crawl was made"
}
refuses '# x
/a /a/a' '2: on http://h.example//a the rules do not come to rest'
refuses '(a' '1: missing closing parenthesis'
refuses 'a b c' '1: a rule is EXPRESSION'
exits 1 "$URLWEIR" crawl http://127.0.0.1:1/ -o no --rewrite nowhere
says err "--rewrite nowhere"

# ---- a crawl -----------------------------------------------------------------

mkdir -p web/session/1 web/session/2
cat >web/index.html <<'PAGE'
<a href="/session/1/a.html?z=1&utm_source=m&b=2&c=">a</a>
<a href="/session/2/a.html?b=2&z=1">a</a> <a href="/a.html?b=2&z=1&gclid=5">a</a>
PAGE
echo a >web/a.html
cp web/a.html web/session/1
cp web/a.html web/session/2
serve_files web 127.0.0.2
at=http://127.0.0.2:$port

urls() {
    exits 0 "$URLWEIR" export "$1" --format csv
    tr -d '\r' <out | sed -n "s,^$at\([^,]*\)\,\([a-z]*\).*,\1 \2,p" | sort
}
exits 0 "$URLWEIR" crawl "$at/?_ga=1" -o d --allow-private --delay 0 --sitemap off --rewrite rules \
    --drop-tracking --drop-empty-params --sort-query --progress none
urls d >got
printf '%s\n' '/ fetched' '/a.html?b=2&z=1 fetched' | cmp - got || fail "$(cat got)"
exits 0 "$URLWEIR" explain d "$at/session/7/a.html?z=1&b=2"
says out fetched

# ---- a resume with other rules -------------------------------------------------

exits 3 "$URLWEIR" crawl "$at/" -o e --allow-private --delay 0 --sitemap off -n 1 --progress none
exits 3 "$URLWEIR" resume e -n 1 --sort-query --progress none
says err "sort-query: false -> true"
says err "URLs have another form now"
cp rules rules.e
exits 0 "$URLWEIR" resume e -n none --rewrite rules.e --drop-tracking --drop-empty-params --progress none
urls e >got
cat >want <<'WANT'
/ fetched
/a.html?b=2&z=1 fetched
/a.html?b=2&z=1&gclid=5 skipped
/session/1/a.html?z=1&utm_source=m&b=2&c= skipped
/session/2/a.html?b=2&z=1 skipped
WANT
LC_ALL=C sort got | cmp - want || fail "$(cat got)"
exits 0 "$URLWEIR" verify e

# Only the file has changed; then it is gone, which only a resume minds.
exits 0 "$URLWEIR" resume e --progress none
lacks err "another form" "the same rules are called others"
echo '/none/ /' >>rules.e
exits 0 "$URLWEIR" resume e --progress none
says err "URLs have another form now"
rm rules.e
exits 0 "$URLWEIR" explain e "$at/session/9/a.html?z=1&b=2"
says out fetched
exits 1 "$URLWEIR" resume e --progress none
says err "--rewrite rules.e"
hostile_no_more
