#!/bin/sh
# Runs the black-box scripts: tests/cli/run_cli.sh BUILD_DIR [NAME ...]
#
# Each tests/cli/NAME.sh tests one promise to a user. It runs in a directory of
# its own, with
#   URLWEIR  the binary          SITE  the server of test webs
#   WORK     that directory, also as TMPDIR
#   TOP      the checkout
#   LEFT_OUT a file that names the parts of it that could not run here
# and passes by ending with 0. 77 means skipped, with the reason as its last
# line. Some run beside each other for each core, as most of them mostly wait; one
# that takes longer than LIMIT seconds has failed (default 1200, for a slow and busy
# machine; 3600 when LONG is set). What a script leaves running is killed. In a sanitizer's
# build a report anywhere in that directory is a failure too.
set -eu

here=$(cd "$(dirname "$0")" && pwd)

# end_session FILE: what runs in the session named there; once, as its number
# may be another's later.
end_session() {
    [ ! -s "$1" ] || pkill -KILL -s "$(cat "$1")" 2>/dev/null || :
    rm -f "$1"
}

# ---- one script, called by the loop below -----------------------------------

if [ "${1:-}" = --one ]; then
    results=$2 script=$3
    name=$(basename "$script" .sh)
    export WORK="$results/$name.d" TMPDIR="$results/$name.d"
    export LEFT_OUT="$results/$name.left"
    mkdir "$WORK"
    start=$(date +%s.%N)
    code=0
    # A session of its own, so that all its processes can be found again; no
    # signal ignored because whoever started this ignores it.
    (cd "$WORK" && setsid -w sh -c 'echo $$ >"$1.sid"
        exec env --default-signal timeout -k 10 "$2" sh "$3"' sh \
        "$results/$name" "$LIMIT" "$script") \
        >"$results/$name.out" 2>&1 </dev/null || code=$?
    end_session "$results/$name.sid"
    # Also of a process whose status nobody looked at.
    case $URLWEIR in
    */asan/* | */ubsan/* | */tsan/*)
        reports='ERROR: (Address|Leak)Sanitizer|WARNING: ThreadSanitizer|: runtime error: '
        grep -raE -A 30 "$reports" "$WORK" >"$results/$name.reports" || :
        if [ -s "$results/$name.reports" ]; then
            cut -c 1-300 "$results/$name.reports" >>"$results/$name.out"
            code=99
        fi
        ;;
    esac
    took=$(echo "$start $(date +%s.%N)" | awk '{ printf "%.1f", $2 - $1 }')
    case $code in
    0) word=ok why= ;;
    77) word=skip why="  $(tail -n 1 "$results/$name.out")" ;;
    124 | 137) word=FAIL why="  longer than $LIMIT s" ;;
    *) word=FAIL why="  status $code" ;;
    esac
    echo "$name" >>"$results/$word"
    [ "$word" != skip ] || echo "$name:$why" >>"$results/why"
    [ ! -e "$LEFT_OUT" ] || sed "s/^/$name, in part:  /" "$LEFT_OUT" >>"$results/why"
    printf '  %-4s %-28s %7s s%s\n' "$word" "$name" "$took" "$why"
    exit 0
fi

# ---- all of them ------------------------------------------------------------

[ $# -ge 1 ] || { echo "usage: tests/cli/run_cli.sh BUILD_DIR [NAME ...]" >&2; exit 1; }
build=$(cd "$1" && pwd)
shift
export URLWEIR="$build/urlweir" SITE="$build/tests/support/site"
export TOP="${here%/tests/cli}"
export LIMIT="${LIMIT:-$([ -n "${LONG:-}" ] && echo 3600 || echo 1200)}"
export LC_ALL=C.UTF-8
umask 022
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY

results=$(mktemp -d "${TMPDIR:-/tmp}/urlweir-cli.XXXXXX")
stop() {
    for s in "$results"/*.sid; do
        end_session "$s"
    done
    rm -rf "$results" || :
}
trap stop EXIT
trap 'exit 130' INT TERM

# The longest first, so that none of them is left over at the end.
long="traps-endless serve-crawl steer metrics signals dedupe hostile-store diff
 damaged-store stuck settings filters-crawl jsonl external secrets filter-redis serve-stress sitemaps
 exact columns limits warc docs watching library serve-http since serve-read
 link-kinds import install warc-records traps"
list() {
    for n in $long $(cd "$here" && ls *.sh); do
        n=${n%.sh}
        s="$here/$n.sh"
        case $n in run_cli | lib) continue ;; esac
        [ $# = 0 ] || case " $* " in *" $n "*) ;; *) continue ;; esac
        echo "$s"
    done | awk '!seen[$0]++'
}
list "$@" >"$results/list"
for n in "$@"; do
    [ -e "$here/$n.sh" ] || echo "cli: no script tests/cli/$n.sh"
done

xargs -r -d "\n" -P $((2 * $(nproc) + 2)) -n 1 sh "$0" --one "$results" <"$results/list"

count() { if [ -e "$results/$1" ]; then wc -l <"$results/$1"; else echo 0; fi; }
if [ -e "$results/FAIL" ]; then
    while read -r n; do
        echo "---- $n said:"
        tail -n 60 "$results/$n.out"
    done <"$results/FAIL"
fi
# What was not tried stands at the end, where it is seen.
[ ! -e "$results/why" ] || LC_ALL=C sort "$results/why" | sed 's/^/  not tried: /'
parts=$(find "$results" -maxdepth 1 -name '*.left' | wc -l)
echo "cli: $(count ok) passed, $(count FAIL) failed, $(count skip) skipped$(
    [ "$parts" = 0 ] || echo ", $parts in part")"
[ ! -e "$results/FAIL" ]
