#!/bin/sh
# Dependencies point downwards: a folder includes itself and those below it.
set -eu
cd "$(dirname "$0")/.."

allowed() {
    case $1 in
    base) echo "base" ;;
    filter) echo "base filter" ;;
    storage) echo "base storage" ;;
    frontier) echo "base filter storage frontier" ;;
    crawler) echo "base filter storage frontier crawler" ;;
    service) echo "base filter storage frontier crawler service" ;;
    config) echo "base config" ;;
    cli) echo "base filter storage frontier crawler service config cli" ;;
    esac
}

bad=0
for dir in base filter storage frontier crawler service config cli; do
    ok=$(allowed "$dir")
    for f in "$dir"/*.[ch]; do
        [ -e "$f" ] || continue
        for inc in $(sed -n 's/^#include "\([^"]*\)".*/\1/p' "$f"); do
            case $inc in */*) ;; *) inc="?/$inc" ;; esac
            case " $ok " in
            *" ${inc%%/*} "*) ;;
            *) echo "$f: includes $inc, which is not below $dir/" >&2; bad=1 ;;
            esac
        done
    done
done
[ $bad = 0 ] && echo "layers: every include points downwards"
exit $bad
