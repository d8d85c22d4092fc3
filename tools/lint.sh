#!/bin/bash
# Layout, compilers' and analysers' warnings. Layers and headers are those of
# `make check-tree`.
# usage: CPPFLAGS=... tools/lint.sh SOURCE...   (called by `make lint`)
# Promise (Installing and checks): layout is that of make format, and
#   compilers, analysers and sanitizers find nothing. See also `make asan`,
#   `make ubsan`, `make tsan`.
set -euo pipefail
cd "$(dirname "$0")/.."
jobs=$(nproc)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
bad=0

step() { # NAME COMMAND...: prints what it says only when it fails
    name=$1
    shift
    if "$@" >"$out/log" 2>&1; then
        echo "lint: $name: clean"
    else
        bad=1
        echo "lint: $name:" >&2
        grep -E 'error:|warning:' "$out/log" | sort -u | head -n 40 >&2 || true
        tail -n 20 "$out/log" >&2
    fi
}
each() { # FILES on stdin, one command each
    xargs -P "$jobs" -n 1 "$@"
}
files() { printf '%s\n' "$@"; }
# git refuses a checkout that another user owns.
all_c() {
    git ls-files '*.[ch]' 2>/dev/null ||
        find . -path ./build -prune -o -name '*.[ch]' -print
}

sources="$*"
read -ra flags <<<"-std=c17 $CPPFLAGS"
warn="-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wmissing-prototypes"

layout() { all_c | xargs clang-format --dry-run -Werror; }
analyzer() {
    # -Wno-analyzer-...: known false alarms of gcc 12 on code that hands
    # ownership over through a queue or an out parameter.
    files $sources | each gcc "${flags[@]}" -O1 -fanalyzer -Werror \
        -Wno-analyzer-malloc-leak -Wno-analyzer-possible-null-argument \
        -Wno-analyzer-possible-null-dereference \
        -Wno-analyzer-use-of-uninitialized-value \
        -Wno-analyzer-file-leak -Wno-analyzer-null-dereference \
        -c -o /dev/null
}
tidy() {
    # clang's analyzer takes nearly all of the time of this step, most of it in
    # the few functions that exhaust its budget of nodes. A seventh of the usual
    # 225000 finds as good as all that the usual one does, in less than a third of
    # the time; LONG has the usual one.
    local budget=30000
    [ -z "${LONG:-}" ] || budget=225000
    printf '%s\n' $sources | xargs -P "$jobs" -I{} \
        clang-tidy --quiet {} -- "${flags[@]}" $warn \
        -Xclang -analyzer-config -Xclang max-nodes=$budget 2>/dev/null
}
check_c() {
    cppcheck --quiet --std=c11 --enable=warning,performance,portability \
        --inline-suppr --error-exitcode=1 -j "$jobs" -I. -D__GNUC__=12 \
        --suppress=missingIncludeSystem --suppress=legacyUninitvar \
        --suppress=normalCheckLevelMaxBranches \
        $sources
}

step layout layout
step cppcheck check_c
step "gcc -fanalyzer" analyzer
step "clang-tidy and clang's warnings" tidy
exit $bad
