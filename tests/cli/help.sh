#!/bin/sh
# Every command explains itself; what is not understood is refused with
# status 1, nothing on stdout, and a hint.
set -eu
. "$TOP/tests/cli/lib.sh"

exits 0 "$URLWEIR" --help
says out "usage: urlweir COMMAND"
exits 0 "$URLWEIR" --version
says out "urlweir "
exits 1 "$URLWEIR"
[ ! -s out ] || fail "help on stdout although nothing was asked"
exits 1 "$URLWEIR" crwal
says err "no command 'crwal'"

# The commands as --help lists them.
"$URLWEIR" --help | sed -n 's/^  \([a-z]*\)  *.*/\1/p' >commands
[ -s commands ] || fail "no commands"
while read -r c; do
    exits 0 "$URLWEIR" "$c" --help
    says out "usage: urlweir $c"
    [ ! -s err ] || fail "$c --help writes to stderr"
    exits 1 "$URLWEIR" "$c" --no-such-option
    [ ! -s out ] || fail "$c: an error on stdout"
    says err "urlweir $c: "
done <commands
