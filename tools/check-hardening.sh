#!/bin/sh
# Reads back from a program that it was built as the Makefile says: at random
# addresses, with nothing of its tables writable once it runs, no executable
# stack, guards on the stack and in the C library's calls.
# usage: tools/check-hardening.sh PROGRAM OBJECT [fortified]
# Promise (Installing and checks): the program is hardened: PIE, full RELRO,
#   guarded stack and branches, fortified calls of the C library. See also `make
#   check`.
set -eu

[ $# -ge 2 ] || { echo "usage: tools/check-hardening.sh PROGRAM OBJECT [fortified]" >&2; exit 1; }
program=$1 object=$2 fortified=${3:-}
export LC_ALL=C
command -v readelf >/dev/null || { echo "hardening: skipped, no readelf"; exit 0; }
read_it=$(mktemp)
trap 'rm -f "$read_it"' EXIT
bad=0

# has WHAT OPTION PATTERN [FILE]: what readelf says of the program matches.
has() {
    readelf -W "$2" "${4:-$program}" >"$read_it" 2>/dev/null
    grep -qE -- "$3" "$read_it" || {
        echo "hardening: ${4:-$program}: $1" >&2
        bad=1
    }
}

has "is not position-independent" -h '^ *Type: *DYN'
has "is not position-independent" -d 'FLAGS_1.*PIE'
has "has no GNU_RELRO segment" -l '^ *GNU_RELRO'
has "binds its symbols late" -d 'BIND_NOW|FLAGS_1.*NOW'
has "may have an executable stack" -l '^ *GNU_STACK .* RW  '
has "has no guards on its stack" --dyn-syms 'UND __stack_chk_fail'
[ -z "$fortified" ] ||
    has "calls the C library without bounds" --dyn-syms 'UND __[a-z]+_chk'
# The linker keeps these notes only where all objects have them, those of the
# C library too, which Debian builds without: ours are asked for theirs.
readelf -h "$program" >"$read_it"
if grep -qE 'Machine:.*(X86-64|80386)' "$read_it"; then
    has "has no guards on its branches" -n 'IBT.*SHSTK' "$object"
fi

[ "$bad" != 0 ] || echo "hardening: PIE, RELRO, BIND_NOW, guarded stack and branches"
exit $bad
