#!/bin/sh
# Every command explains itself; a command line that it does not understand is
# refused with status 1, nothing on stdout, and a hint.
set -eu
. "$TOP/tests/cli/lib.sh"

exits 0 "$URLWEIR" --help
says out "usage: urlweir COMMAND"
exits 0 "$URLWEIR" --version
says out "urlweir "
exits 1 "$URLWEIR"
[ ! -s out ] || fail "help on stdout although nothing was asked"
exits 1 "$URLWEIR" crwal
says err "no command 'crwal'; did you mean crawl?"
exits 0 "$URLWEIR" help serve
says out "usage: urlweir serve"
exits 1 "$URLWEIR" help nonsense
says err "no command 'nonsense'"

# The commands as --help lists them.
"$URLWEIR" --help | sed -n 's/^  \([a-z-]*\)  *.*/\1/p' >commands
[ -s commands ] || fail "no commands"
while read -r c; do
    exits 0 "$URLWEIR" "$c" --help
    says out "usage: urlweir $c"
    [ ! -s err ] || fail "$c --help writes to stderr"
    lacks out '.\{80\}' "$c --help is wider than a terminal"
    exits 1 "$URLWEIR" "$c" --no-such-option
    [ ! -s out ] || fail "$c: an error on stdout"
    says err "urlweir $c: "
done <commands

# What nobody could take is not done.
if [ -w /dev/full ]; then
    status=0
    "$URLWEIR" --help >/dev/full 2>err || status=$?
    [ "$status" = 2 ] || fail "status $status where help could not be written"
    says err "urlweir: cannot write the output: No space left on device"
fi

# A missing operand is asked for in one line, however many forms there are.
exits 1 "$URLWEIR" block
says err "and a host is missing: urlweir block DIR|URL|redis://HOST/NAME HOST (--for TIME | --until MOMENT | --off) [--crawl NAME]; see"
exits 1 "$URLWEIR" verify a b
says err "DIR [--repair] or urlweir verify redis://"
