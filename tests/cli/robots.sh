#!/bin/sh
# `urlweir robots`: one answer a line, in order, by the rules of one agent.
set -eu
. "$TOP/tests/cli/lib.sh"

# is WHAT WANT GOT
is() {
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
' >robots.txt

ask() { "$URLWEIR" robots "$@" robots.txt; }
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
    "$("$URLWEIR" robots robots.txt --delay --agent bar </dev/null)"

is "a line of 5 MB is no URL, and the next one is read" \
    "!${tab}length
allow${tab}http://h/" \
    "$({ head -c 5000000 /dev/zero | tr '\0' a; printf '\nhttp://h/\n'; } | ask --agent bar)"

is "a byte order mark is no part of the first line" "allow${tab}http://h/" \
    "$(printf '\357\273\277http://h/\n' | ask --agent bar)"

is "zero bytes are bytes" "allow${tab}http://h/a|b" \
    "$(printf 'http://h/a\0b\n' | ask --agent bar | tr '\0' '|')"

# ends CODE ARGS...
ends() {
    ends_want=$1
    shift
    exits "$ends_want" "$URLWEIR" robots "$@"
    [ "$ends_want" = 0 ] || [ -s err ] || fail "robots $*: no message"
}
ends 0 --agent a robots.txt
ends 0 --help
ends 1 robots.txt
ends 1 --agent a
ends 1 --agent
ends 1 --agent a robots.txt more
ends 1 --agent a --sitemap robots.txt
ends 2 --agent a none
ends 2 --agent a .
