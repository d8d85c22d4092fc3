#!/bin/sh
# Puts into the documents what they show of the program, each between the lines
# <!-- NAME: begin --> and <!-- NAME: end -->:
#
#   tools/doc-tables.sh tables       the tables, at once
#   tools/doc-tables.sh check TOOL   changes nothing; are they what TOOL, a
#                                    doc_tables, prints?
#   tools/doc-tables.sh              those, and what it measures:
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

# PAGE NAME: what doc_tables NAME prints stands in docs/PAGE.
tables() {
    cat <<END
formats/counters.md counters
formats/counters.md sums
formats/columns.md columns
formats/columns.md views
formats/served.md served-columns
formats/served.md served-views
formats/hosts.md host-columns
formats/hosts.md host-views
operating.md reasons
END
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

if [ "${1:-}" = check ]; then
    tables | while read -r page name; do
        "$2" "$name" >"$table"
        sed -n "/^<!-- $name: begin -->\$/,/^<!-- $name: end -->\$/p" \
            "docs/$page" | sed '1d;$d' | diff - "$table" || {
            echo "docs/$page: run tools/doc-tables.sh tables" >&2
            exit 1
        }
    done
    exit
fi

make --no-print-directory "$build/tests/support/doc_tables" >&2
tables | while read -r page name; do
    "$build/tests/support/doc_tables" "$name" >"$table"
    fill "docs/$page" "$name" "$table"
done
[ "${1:-}" != tables ] || exit 0

on=$(machine)
make --no-print-directory bench-filter >"$printed"
{
    echo
    echo "Printed by \`make bench-filter${LONG:+ LONG=1}\` on $on:"
    echo
    # What a crawl does not use is left out, most sizes of its filter, and what follows the tables.
    sed -n '/^Instructions:/,$p' "$printed" |
        sed '/^Saved and read again/,$d; /^stacked, made/,/^All kinds/{/^All kinds/!d}
            /^ *A miss of theirs/,/^scalable, made/{/^scalable, made/!d}
            /^ *\(262144\|524288\|2097152\|4194304\|8388608\|16777216\|33554432\|67108864\) /d' |
        sed 's/^/    /; s/ *$//'
    echo
} >"$table"
fill docs/filters.md bench-filter "$table"
mkdir -p docs/img
"$build/urlweir" filter bench --keys "$((KEYS / 2))" --plot docs/img/filters.svg \
    >/dev/null
echo "doc-tables: docs/filters.md, docs/img/filters.svg"
