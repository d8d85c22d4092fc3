#!/bin/sh
# Two neighbouring releases of a real documentation, served by nginx with its own
# validators: a crawl of the first, of the second with --since, then of the first
# again, and diff says of each pair exactly what their files say. An unchanged
# recrawl moves at most 5 % of the octets. LONG=1: some thousand pages, and the
# table in docs/recrawl.md as the last lines.
set -eu
. "$TOP/tests/cli/lib.sh"
names="clang-1 clang-2"
[ -z "${LONG:-}" ] || names="boost-1 boost-2"
release1="" release2=""
for name in $names; do
    top=$TOP/build/docs/$name
    [ -e "$top/.whole" ] || skip "no documentation could be downloaded (again: rm -r build/docs)"
    release1=$release2
    release2=$(find "$top" -type d -name html | head -n 1)
    [ -f "$release2/index.html" ] || fail "no index.html in $top"
done

# ---- the server ----

mkdir web
behind nginx.out nginx.err "$TOP/tools/serve-docs.sh" nginx web
server=$!
at_exit="kill $server; wait $server" # its worker, too
waits_for '[ -s nginx/port ] || ! kill -0 $server' || fail "no server: $(cat nginx.err)"
[ -s nginx/port ] || skip "no nginx could be downloaded (again: rm -r build/docs)"
port=$(cat nginx/port)
seed=http://127.0.0.1:$port/index.html
waits_for 'curl -s -o /dev/null "$seed"' || fail "no server: $(cat nginx.err nginx/error.log)"

# ---- crawls and differences ----

quick="$quick --scope host --robots off --follow a,img,script --conns-per-host 4 --max-body 64M"
truth() {
    python3 "$TOP/tests/support/docs_truth.py" "$@"
}
# show RELEASE: the server has it; what is the same keeps its date.
show() {
    truth publish "$1" web
}
# timed DIR OPTION...: a crawl, its CPU seconds in DIR.cpu.
timed() {
    timed_dir=$1
    shift
    # shellcheck disable=SC2086
    python3 -c 'import resource, subprocess, sys
status = subprocess.call(sys.argv[2:], stdin=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
open(sys.argv[1], "w").write(f"{used.ru_utime + used.ru_stime:.2f}")
sys.exit(status)' "$timed_dir.cpu" "$URLWEIR" crawl "$seed" -o "$timed_dir" $quick "$@" \
        >crawl.out 2>crawl.err || fail "$timed_dir: $(cat crawl.out crawl.err)"
}
# differs OLD NEW: the rows of diff, in ./found.
differs() {
    exits 0 "$URLWEIR" diff "$1" "$2" --changed-by body --format jsonl
    python3 -c 'import json
from urllib.parse import urlsplit
for line in open("out"):
    r = json.loads(line)
    print(r["kind"], *(urlsplit(r[k]).path for k in ("url", "to") if r[k]))' >rows
    LC_ALL=C sort rows >found
}
show "$release1"
timed first --record links
show "$release2"
timed second --record links --since first
truth truth "$release1" "$release2" index.html | LC_ALL=C sort >expected
for kind in new changed; do
    [ "$(grep -c "^$kind" expected)" -gt 5 ] || fail "nothing is $kind"
done
differs first second
diff expected found >difference || fail "$(head -n 20 difference)"

# And back: what was new is gone, and the other way round.
show "$release1"
timed back --since second
differs second back
sed 's/^new /- /; s/^gone /new /; s/^- /gone /; s/^moved \(.*\) \(.*\)/moved \2 \1/' expected | LC_ALL=C sort |
    diff - found >difference || fail "and back: $(head -n 20 difference)"
exits 0 "$URLWEIR" diff first back --changed-by body --exit-code
timed same --since first

# A fault is seen.
page=$(sed -n 's/^changed \(.*\.html\)$/\1/p' expected | head -n 1)
echo '<p>one word' >>"web$page"
timed other --since first
differs first other
[ "$(cat found)" = "changed $page" ] || fail "$page has changed: $(cat found)"

# ---- what it costs ----

for dir in first second same; do
    "$URLWEIR" status $dir --json >$dir.json
done
python3 - "$(cut -d " " -f 1 expected | sort | uniq -c | xargs)" <<'PYTHON'
import json, sys
def row(name):
    s = json.load(open(name + ".json"))
    return s["fetched"], s["reasons"].get("fetched.unchanged", 0), s["bytes"], float(open(name + ".cpu").read())
first = row("first")
print(f'{"crawl":<7} {"fetched":>8} {"unchanged":>10} {"octets":>10} {"CPU s":>6} {"octets":>8} {"CPU":>6}')
for name in ("first", "second", "same"):
    r = row(name)
    print(f"{name:<7} {r[0]:>8} {r[1]:>10} {r[2]:>10} {r[3]:>6.2f} {r[2] / first[2]:>8.1%} {r[3] / first[3]:>6.0%}")
print("first to second:", sys.argv[1])
same = row("same")
sys.exit(same[0] != same[1] or same[0] != first[0] or same[2] > 0.05 * first[2])
PYTHON
