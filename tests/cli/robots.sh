#!/bin/sh
# `urlweir robots`: one answer a line, in order, by the rules of one agent.
# URLWEIR names the binary.
set -eu
t=$(mktemp -d)
trap 'rm -rf "$t"' EXIT
n=0

fail() {
    echo "robots.sh: $*" >&2
    exit 1
}

# is WHAT WANT GOT
is() {
    n=$((n + 1))
    [ "$2" = "$3" ] || fail "$1: expected
$2
got
$3"
}

printf 'Sitemap: http://h/one.xml
User-agent: *
Disallow: /private/
Crawl-delay: 1.5
User-agent: Foo
Disallow: /foo
Sitemap: http://h/two.xml
' >"$t/robots.txt"

ask() { "$URLWEIR" robots "$@" "$t/robots.txt"; }
tab=$(printf '\t')

is "one answer for each line, with the line as given" \
    "allow${tab}http://h/a
deny${tab}http://h/private/
!${tab}scheme
deny${tab}  HTTP://H/x/../private/#top
allow${tab}http://h/robots.txt
!${tab}empty
allow${tab}http://h/# no comment" \
    "$(printf 'http://h/a\nhttp://h/private/\nmailto:a@b\n  HTTP://H/x/../private/#top\nhttp://h/robots.txt\n\nhttp://h/# no comment\n' | ask --agent bar)"

is "the last line counts without LF, CR is part of a line" \
    "allow${tab}http://h/a$(printf '\r')
deny${tab}http://h/private/" \
    "$(printf 'http://h/a\r\nhttp://h/private/' | ask --agent bar)"

is "no lines, no answers" "" "$(printf '' | ask --agent bar)"

is "the product token of --agent counts" \
    "deny${tab}http://h/foo
allow${tab}http://h/private/" \
    "$(printf 'http://h/foo\nhttp://h/private/\n' | ask --agent fOO/1.0)"

is "sitemaps and delay come first" \
    "sitemap${tab}http://h/one.xml
sitemap${tab}http://h/two.xml
delay${tab}1.5
allow${tab}http://h/" \
    "$(echo http://h/ | ask --agent bar --delay --sitemaps)"

is "no delay row where the group has none" \
    "allow${tab}http://h/" "$(echo http://h/ | ask --agent=foo --delay)"

is "options may follow the file" "delay${tab}1.5" \
    "$("$URLWEIR" robots "$t/robots.txt" --delay --agent bar </dev/null)"

is "a line of 5 MB is no URL, and the next one is read" \
    "!${tab}length
allow${tab}http://h/" \
    "$({ head -c 5000000 /dev/zero | tr '\0' a; printf '\nhttp://h/\n'; } | ask --agent bar)"

is "a byte order mark is no part of the first line" "allow${tab}http://h/" \
    "$(printf '\357\273\277http://h/\n' | ask --agent bar)"

is "zero bytes are bytes" "allow${tab}http://h/a|b" \
    "$(printf 'http://h/a\0b\n' | ask --agent bar | tr '\0' '|')"

# exits CODE ARGS...
exits() {
    want=$1
    shift
    n=$((n + 1))
    got=0
    "$URLWEIR" robots "$@" </dev/null >"$t/out" 2>"$t/err" || got=$?
    [ "$got" = "$want" ] || fail "robots $*: exit $got, not $want"
    [ "$want" = 0 ] || [ -s "$t/err" ] || fail "robots $*: no message"
}
exits 0 --agent a "$t/robots.txt"
exits 0 --help
exits 1 "$t/robots.txt"
exits 1 --agent a
exits 1 --agent
exits 1 --agent a "$t/robots.txt" more
exits 1 --agent a --sitemap "$t/robots.txt"
exits 2 --agent a "$t/none"
exits 2 --agent a "$t"

echo "robots: $n checks"
