#!/bin/sh
# Memory of an import is bounded, whatever the size of the files: a list of some
# 100 MB, or a million URLs with LONG=1.
set -eu
. "$TOP/tests/cli/lib.sh"

urls=40000 length=2000 # so that what is kept of each URL by mistake is seen
[ -z "${LONG:-}" ] || urls=1000000 length=60
printf 'memory: 96M\nmin-disk: 0\n' >conf.yaml
python3 - $urls $length <<'PYTHON'
import sys
n, length = map(int, sys.argv[1:])
def url(i):
    return f"http://host{i % 1000}.example/{i}/".ljust(length, "x")
with open("list", "w") as out:
    for i in range(n):
        out.write(url(i) + ("\tdone\n" if i % 2 else "\n"))
PYTHON
imports() { # FORMAT FILE
    peak "$URLWEIR" import --from "$1" "$2" -o "$2.d" -C conf.yaml
    ended 0
    echo "import of $urls URLs, $1: $rss KiB at most"
    [ "$rss" -lt $((96 << 10)) ] || fail "$1: $rss KiB"
    exits 0 "$URLWEIR" status "$2.d" --json
}
imports list list
says out "\"queued\": $((urls / 2))"
