#!/bin/sh
# Each header compiles alone, so it includes what it needs.
set -eu
cd "$(dirname "$0")/.."
bad=0 n=0
flags=$(pkg-config --cflags libcurl libxml-2.0 sqlite3 libxxhash)
for h in $(find base config filter storage frontier crawler job cluster service cli bindings/c \
    -name '*.h' | sort); do
    [ -e "$h" ] || continue
    n=$((n + 1))
    echo "#include \"$h\"" | ${CC:-cc} -std=c17 -D_GNU_SOURCE -I. $flags \
        -fsyntax-only -Wall -Wextra -x c - || { echo "$h: not self-contained" >&2; bad=1; }
done
[ $bad = 0 ] && echo "headers: $n compile alone"
exit $bad
