#!/bin/sh
# The main job on real pages: crawl, kill -9 half-way, resume, audit, verify.
# usage: tools/demo.sh BUILD_DIR
#   DEMO_PACKAGES  Debian packages whose HTML is served on loopback addresses;
#                  unpacked under build/demo, not installed
#   SEEDS          crawl these URLs of the real web instead, politely
#   DEMO_DIR       where the crawl goes; a new temporary directory by default
# Promise (Installing and checks): one command leads from a minimal Debian 12
#   or 13 to a crawl of real pages, killed, resumed, audited and verified.
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
build=$1
urlweir=$build/urlweir
site=$build/tests/support/site
work=${DEMO_DIR:-$(mktemp -d "${TMPDIR:-/tmp}/urlweir-demo-XXXXXX")}
mkdir -p "$work"
server=""
tidy() {
    [ -z "$server" ] || kill "$server" 2>/dev/null || true
}
trap tidy EXIT INT TERM

say() { printf '\n\033[1m== %s\033[0m\n' "$*"; }
run() { printf '$ urlweir %s\n' "$*"; "$urlweir" "$@"; }
# One number out of `status --json`.
number() { "$urlweir" status "$1" --json | sed -n "s/^  \"$2\": \([0-9]*\),*$/\1/p"; }

# The URLs of a crawl, in the order in which it met them.
urls() { "$urlweir" export "$1" --what urls --format csv | sed 1d | cut -d, -f1; }

# would_lose DIR RATE FILE: what a crawler loses that drops each URL which a
# Bloom filter of that rate, made for this very crawl, takes for one it has
# seen: its URLs, replayed, none of which comes twice.
would_lose() {
    rm -f "$work/bloom.flt"
    "$urlweir" filter create "$work/bloom.flt" --kind bloom --fpr "$2" \
        --capacity "$(number "$1" urls)"
    urls "$1" | "$urlweir" filter add "$work/bloom.flt" --tell |
        sed -n 's/^maybe	//p' >"$3"
    rm "$work/bloom.flt"
    wc -l <"$3"
}

if [ -n "${SEEDS:-}" ]; then
    say "Crawling $SEEDS politely, at most 200 pages or two minutes"
    code=0
    run crawl $SEEDS -o "$work/crawl" --limit 200 --time 2m || code=$?
    case $code in 0 | 3 | 5) ;; *) exit "$code" ;; esac
    say "What a Bloom-only crawler would have lost"
    run audit "$work/crawl"
    say "Do its files agree?"
    run verify "$work/crawl"
    echo "The crawl is in $work/crawl"
    exit 0
fi

# ---- a web of real pages on this machine ----
roots=""
host=2
seeds=""
for p in $DEMO_PACKAGES; do
    "$top/tools/unpack-package.sh" "$p" "$top/build/demo/$p"
    index=$(find "$top/build/demo/$p" -name index.html |
        awk '{ print length, $0 }' | sort -n | sed -n '1s/^[0-9]* //p')
    [ -n "$index" ] || { echo "demo: $p has no index.html" >&2; exit 1; }
    roots="$roots $(dirname "$index")=127.0.0.$host,127.0.0.$((host + 1)),127.0.0.$((host + 2))"
    for h in $host $((host + 1)) $((host + 2)); do
        seeds="$seeds http://127.0.0.$h:PORT/index.html"
    done
    host=$((host + 3))
done
say "Serving the HTML of $DEMO_PACKAGES on $((host - 2)) loopback addresses"
"$site" files $roots --log "$work/arrivals.log" --latency 3 --max-time 600 \
    >"$work/port" &
server=$!
for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
    grep -q '^port ' "$work/port" && break
    sleep 0.1
done
port=$(sed -n 's/^port //p' "$work/port")
[ -n "$port" ] || { echo "demo: the server did not start" >&2; exit 1; }
seeds=$(echo "$seeds" | sed "s/PORT/$port/g")
# Politeness: 5 ms between two requests to a host, since the hosts are ours.
options="--allow-private --delay 5ms --checkpoint 1s"

say "A crawl that nobody interrupts, to know the truth"
run crawl $seeds -o "$work/whole" $options || exit 1
urls "$work/whole" | sort >"$work/truth"
pages=$(number "$work/whole" pages)
before=$(grep -c . "$work/arrivals.log" || true)

say "The same crawl again, killed with SIGKILL when half of its pages are in"
printf '$ urlweir crawl %s -o %s\n' "$(echo $seeds | cut -d' ' -f1) ..." "$work/crawl"
"$urlweir" crawl $seeds -o "$work/crawl" $options --progress none &
crawl=$!
while kill -0 $crawl 2>/dev/null; do
    done=$(number "$work/crawl" pages 2>/dev/null || echo 0)
    [ "${done:-0}" -lt $((pages / 2)) ] || break
    sleep 0.05
done
kill -9 $crawl
wait $crawl 2>/dev/null || true
done=$(number "$work/crawl" pages)
echo "killed with $done of $pages pages safe on disk"

say "Resuming"
run resume "$work/crawl" || exit 1

say "What a Bloom-only crawler would have lost"
run audit "$work/crawl"
at_1=$(would_lose "$work/crawl" 0.01 "$work/lost-at-1-percent")
at_10=$(would_lose "$work/crawl" 0.1 "$work/lost-at-10-percent")
echo
echo "The same URLs through Bloom filters made for this crawl's size:"
printf '  at 1 %%  %s URLs lost, at 10 %% %s URLs lost; the first of them\n' "$at_1" "$at_10"
cat "$work/lost-at-1-percent" "$work/lost-at-10-percent" | sed -n '1,4s/^/  /p'

say "Do store, filter and manifest agree?"
run verify "$work/crawl"

# ---- what a person wants to know ----
sleep 0.3 # the server writes its log every 100 ms
urls "$work/crawl" | sort >"$work/found"
lost=$(comm -23 "$work/truth" "$work/found" | grep -c . || true)
refetched=$(tail -n +$((before + 1)) "$work/arrivals.log" |
    awk -F'\t' '$7 != "/robots.txt" { n[$4 $7]++ }
        END { for (u in n) again += n[u] - 1; print again + 0 }')
"$urlweir" audit "$work/crawl" --json >"$work/audit.json"
would=$(sed -n 's/^  "would_have_lost": \([0-9]*\),*$/\1/p' "$work/audit.json")
say "Summary"
cat <<EOF
  pages fetched                        $(number "$work/crawl" pages)
  links found                          $(number "$work/crawl" links)
  unique URLs                          $(number "$work/crawl" urls)
  duplicates recognised                $(number "$work/crawl" duplicates)
  false positives caught               $(number "$work/crawl" false_positives)
  lost by a Bloom-only crawler         $would URLs with the filter of this crawl
    with a Bloom filter of 1 %         $at_1 URLs (list in $work/lost-at-1-percent)
    with one of 10 %                   $at_10 URLs (list in $work/lost-at-10-percent)
  lost by the kill                     $lost URLs
  fetched again after the kill         $refetched pages (64 may have been in flight)
  everything of this demo is in        $work
EOF
[ "$lost" = 0 ] || exit 1
[ "$refetched" -le 64 ] || exit 1
