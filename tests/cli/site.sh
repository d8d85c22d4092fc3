#!/bin/sh
# The test web itself: it responds as its truth says, and `site check` finds
# every kind of fault. SITE names its binary.
# Promise (Audit, progress and figures): the test web itself is right: its
#   truth follows from its numbers, and its check finds each planted fault.
set -eu
t=$(mktemp -d)
server=
stop() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || :
    [ -z "$server" ] || wait "$server" || :
    server=
}
trap 'stop; rm -rf "$t"' EXIT
trap 'exit 130' INT TERM

fail() {
    echo "site.sh: $*" >&2
    exit 1
}

# start MODE ARGS...: the server in the background, $port when it listens
start() {
    rm -f "$t/log"
    : >"$t/port"
    "$SITE" "$@" --log "$t/log" --max-time 100 >"$t/port" &
    server=$!
    i=0
    until grep -q '^port' "$t/port"; do
        i=$((i + 1))
        [ $i -lt 200 ] || fail "the server does not start: $*"
        sleep 0.05
    done
    port=$(sed 's/port //' "$t/port")
}

# wants NAME NUMBER FILE
wants() {
    grep -qx "$1 $2" "$3" || fail "expected $1 $2 in: $(cat "$3" "$t/err")"
}

# ---- a web follows from its numbers ------------------------------------------

web="--hosts 20 --pages 300 --profile variants,redirects,robots,errors,types"
"$SITE" truth $web --seed 7 --port 8080 >"$t/a"
"$SITE" truth $web --seed 7 --port 8080 >"$t/b"
"$SITE" truth $web --seed 8 --port 8080 >"$t/c"
cmp -s "$t/a" "$t/b" || fail "the same numbers gave two truths"
! cmp -s "$t/a" "$t/c" || fail "another seed gave the same truth"
[ -z "$(cut -f1 "$t/a" | sort | uniq -d)" ] || fail "a URL stands there twice"
"$SITE" urls $web --seed 7 --port 8080 | sort >"$t/urls"
awk -F'\t' '$2 == "fetch" { print $1 }' "$t/a" | sort | cmp -s - "$t/urls" ||
    fail "urls and truth differ"
"$SITE" truth --hosts 1000 --pages 20000 --leaves 4 --port 8080 |
    awk -F'\t' '{ n++; len += length($1); f += $2 == "fetch" }
        END { if (f != 20000 || n < 100000 || len / n < 60 || len / n > 76)
            exit 1 }' || fail "pages or the length of URLs are not as said"

# ---- check sees planted faults --------------------------------------------------

web="--hosts 20 --pages 200 --size 500 --profile robots --crawl-delay 1"
start serve $web
"$SITE" truth $web --port "$port" >"$t/truth"
"$URLWEIR" crawl "http://127.0.0.1:$port/" -o "$t/crawl" --scope any \
    --allow-private --delay 0 --max-crawl-delay 1ms -q ||
    fail "the crawl ends with $?"
stop
check() {
    "$SITE" check --truth "$t/truth" --no-crawl-delay \
        --ignore /sitemap.xml "$@" >"$t/out" 2>"$t/err"
}
check --log "$t/log" || fail "a clean log is not clean: $(cat "$t/out")"
wants missed 0 "$t/out"
! "$SITE" check --truth "$t/truth" --log "$t/log" >"$t/out" 2>&1 ||
    fail "a Crawl-delay of 1 s that nobody kept was not seen"

page=$(awk -F'\t' '$2 == "fetch" { u = $1 } END { print u }' "$t/truth")
path=/${page#http://*/}
grep -vF "	$path	" "$t/log" >"$t/bad"
! check --log "$t/bad" || fail "a page left out was not seen"
wants missed 1 "$t/out"
check --log "$t/bad" --partial || fail "--partial minds missing pages"

# Later than all else, so that politeness holds.
again() {
    awk -F'\t' -v OFS='\t' -v path="$path" '
        $2 > last { last = $2 }
        $7 == path { line = $0 }
        END { $0 = line; $1 = sprintf("%.0f", last + 1e9)
            $2 = sprintf("%.0f", last + 2e9); print }' "$t/log"
}
{ cat "$t/log" && again; } >"$t/bad"
! check --log "$t/bad" || fail "a page asked twice was not seen"
wants duplicate 1 "$t/out"
check --log "$t/bad" --kills 1 --in-flight 1 ||
    fail "--kills 1 --in-flight 1 does not allow one duplicate"

denied=$(awk -F'\t' '$2 == "denied" { print $1; exit }' "$t/truth")
address=${denied#http://}
printf '%s\t%s\t9\t%s\tGET\t200\t/%s\t1\tdone\n' 9000000000000000000 \
    9000000000000000001 "${address%%:*}" "${denied#http://*/}" >"$t/more"
! check --log "$t/log,$t/more" || fail "a denied page asked was not seen"
wants disallowed 1 "$t/out"

printf '%s\t%s\t9\t127.0.0.1\tGET\t404\t/decoy/comment\t1\tdone\n' \
    9000000000000000000 9000000000000000001 >"$t/more"
! check --log "$t/log,$t/more" || fail "an unknown URL was not seen"
wants unknown 1 "$t/out"
check --log "$t/log,$t/more" --ignore /decoy/comment ||
    fail "--ignore does not ignore"

# Two requests for robots.txt of one host: the second within the first, then
# 5 ms after it.
visit='%s\t%s\t9\t127.0.0.2\tGET\t200\t/robots.txt\t1\tdone\n'
printf "$visit$visit" 9000000000000000000 9000000000001000000 \
    9000000000000500000 9000000000002000000 >"$t/more"
! check --log "$t/log,$t/more" || fail "overlapping requests were not seen"
wants overlap 1 "$t/out"
check --log "$t/log,$t/more" --tolerance 1 || fail "--tolerance is not kept"
printf "$visit$visit" 9000000000000000000 9000000000001000000 \
    9000000000006000000 9000000000007000000 >"$t/more"
: >"$t/none"
! check --log "$t/none,$t/more" --partial --delay 6 ||
    fail "a gap of 5 ms was taken for 6"
wants too_close 1 "$t/out"
wants smallest_gap_ms 5.000 "$t/out"
check --log "$t/none,$t/more" --partial --delay 5 ||
    fail "a gap of 5 ms was not taken for 5"
echo torn >"$t/more"
! check --log "$t/log,$t/more" || fail "a torn line was not seen"
