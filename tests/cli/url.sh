#!/bin/sh
# `urlweir url`: one output line for each input line, whatever it contains.
set -eu
. "$TOP/tests/cli/lib.sh"

reads url

printf '%s\n' 'HTTP://u@EXAMPLE.com.:80/%7ea/./b?#f' 'mailto:x' '' '# no comment' \
    ' http://h/ ' '/a' 'http://h:x/' 'http://[::/' 'http://1.2.3.400/' >in
printf '%s\n' 'http://example.com/~a/b' '!	scheme' '!	empty' '!	empty' \
    'http://h/' '!	relative' '!	port' '!	host_ipv6' '!	host_ipv4' >want
check "each line has one line" 0

printf 'http://u@h.:80/%%7ea?\n' >in
printf 'http://u@h./%%7ea?\n' >want
check "--whatwg prints the URL Standard's form" 0 --whatwg
printf 'http://www.example.com:8080/B?b&A\n' >in
printf 'com,example:8080)/b?a&b\n' >want
check "--surt prints the key" 0 --surt

printf '../x\n\n//o/y\n?q\n#f\nhttps:z' >in
printf '%s\n' http://h/x http://h/a/b http://o/y 'http://h/a/b?q' http://h/a/b \
    https://z/ >want
check "--base URL is what lines are relative to" 0 --base http://h/a/b
check "--base=URL too" 0 --base=http://h/a/b

printf '\357\273\277http://h/\r\n\357\273\277http://h/' >in
printf 'http://h/\n!\trelative\n' >want
check "a byte order mark is no part of the first line" 0
printf 'http://h/a\nhttp://h/b\n' | tee want | gzip >in
check "a packed list is unpacked" 0
printf 'x' >>in
exits 2 sh -c '"$URLWEIR" url <in'

: >in
: >want
check "no line in, no line out" 0
printf '\n' >in
printf '!\tempty\n' >want
check "an empty line is a line" 0
printf 'http://h/a' >in
printf 'http://h/a\n' >want
check "a last line without its end counts" 0
printf 'http://h/a\0b\r\nhttp://h/\377\rc\0\n\0' >in
printf 'http://h/a%%00b\nhttp://h/%%FFc\n!\tempty\n' >want
check "lines end at LF and nowhere else, zeros are kept" 0

# A line of 1 MiB passes, longer ones do not, and those behind are read.
long() { # octets of 'a' behind http://h/
    printf 'http://h/'
    head -c "$1" /dev/zero | tr '\0' a
    printf '\n'
}
{ long 1048567 && long 1048568 && long 20000000 && echo http://h/b; } >in
{ long 1048567 && printf '!\tlength\n!\tlength\nhttp://h/b\n'; } >want
check "a line over the ceiling is refused by itself" 0
{ head -c 20000000 /dev/zero | tr '\0' a; } >in
printf '!\tlength\n' >want
check "a long last line without its end counts" 0

# Lines that fall across the chunks they are read in.
awk 'BEGIN { for (i = 0; i < 20000; i++) printf "http://h/%d?%d\n", i, i * 7 }' >in
cp in want
check "many lines stay as they are" 0

printf 'http://h/\n' >in
refused "an unknown option" "did you mean --surt" --srut
refused "an option far from any" "no option --frobnicate" --frobnicate
refused "a file name" 'one operand too many' in
refused "--base without URL" "needs a value" --base
refused "a base of another scheme" "scheme" --base ftp://h/
refused "a relative base" "relative" --base /x
refused "two forms at once" "exclude" --whatwg --surt

exits 0 "$URLWEIR" url --help
grep -q '^usage: urlweir url' out || fail "--help prints no usage on stdout"
[ ! -s err ] || fail "--help writes on stderr"

if [ -e /dev/full ]; then
    status=0
    "$URLWEIR" url <in >/dev/full 2>err || status=$?
    [ $status = 2 ] || fail "a full disk is not said"
    says err 'cannot write'
fi
exits 2 sh -c '"$URLWEIR" url <.'
