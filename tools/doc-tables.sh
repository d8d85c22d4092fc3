#!/bin/sh
# Puts into the documents what they show of the program: tools/doc-tables.sh [counters]
#
#   docs/formats/counters.md, metrics.md
#                         the table of counters, between the lines
#                         <!-- counters: begin --> and <!-- ...: end -->
#
# With `counters` that is all, at once. Without, it measures, too:
#
#   docs/filters.md       what `make bench-filter` prints, between the lines
#                         <!-- bench-filter: begin --> and <!-- ...: end -->
#   docs/img/filters.svg  what `urlweir filter bench --plot` draws
#
# Run it on a machine that does nothing else. LONG=1 (the default here) grows to
# 100M keys, which takes some minutes and 4 GB; LONG= stays at 10M.
set -eu
cd "$(dirname "$0")/.."
build=${BUILD:-build/release}
export LONG="${LONG-1}"
KEYS=${KEYS:-10000000}
export KEYS

machine() {
    cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
    system=$(. /etc/os-release && echo "$PRETTY_NAME")
    load=$(cut -d ' ' -f 1 /proc/loadavg)
    echo "$(nproc) cores of $cpu, $system, $(date -u +%Y-%m-%d)," \
        "load $load when it began"
}

# fill FILE NAME TEXT: TEXT stands between the markers NAME of FILE.
fill() {
    grep -q "^<!-- $2: begin -->$" "$1" && grep -q "^<!-- $2: end -->$" "$1" || {
        echo "doc-tables: $1 has no markers $2" >&2
        exit 1
    }
    awk -v name="$2" -v text="$3" '
        $0 == "<!-- " name ": end -->" { inside = 0 }
        !inside { print }
        $0 == "<!-- " name ": begin -->" {
            inside = 1
            while ((getline line < text) > 0) print line
        }' "$1" >"$1.new"
    mv "$1.new" "$1"
}

table=$(mktemp) printed=$(mktemp)
trap 'rm -f "$table" "$printed"' EXIT

make --no-print-directory "$build/tests/support/doc_tables" >&2
for page in counters metrics; do
    "$build/tests/support/doc_tables" $page >"$table"
    fill docs/formats/$page.md counters "$table"
done
[ "${1:-}" != counters ] || exit 0

on=$(machine)
make --no-print-directory bench-filter >"$printed"
{
    echo
    echo "Printed by \`make bench-filter${LONG:+ LONG=1}\` on $on:"
    echo
    sed -n '/^Instructions:/,$p' "$printed" | sed 's/^/    /; s/ *$//'
    echo
} >"$table"
fill docs/filters.md bench-filter "$table"
mkdir -p docs/img
"$build/urlweir" filter bench --keys "$((KEYS / 2))" --plot docs/img/filters.svg \
    >/dev/null
echo "doc-tables: docs/filters.md, docs/img/filters.svg"
