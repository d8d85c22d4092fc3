#!/bin/sh
# A host is asked once at a time, and not before its delay has passed since the
# end of its last response; with --conns-per-host by as many connections at once.
# All other delays, and that kills change nothing, are in the simulator.
set -eu
. "$TOP/tests/cli/lib.sh"

# most_at_once: the most requests of one host that were under way together.
most_at_once() {
    awk -F'\t' '{ print $1, 1, $4; print $2, -1, $4 }' log |
        sort -n -k1,1 -k2,2 |
        awk '{ n[$3] += $2; if (n[$3] > most) most = n[$3] }
            END { print most + 0 }'
}

# ---- one after the other --------------------------------------------------------

quick="--scope any --allow-private --sitemap off --delay 100ms --min-disk 0 --progress none"
serve --hosts 16 --pages 96 --size 500 --profile robots,redirects,errors \
    --crawl-delay 0.3 --seed 81
crawl d --retry-delay 50ms -c 32
ended 0
serve_no_more
judge --delay 100
agrees d

# ---- more connections, where they are asked for ----------------------------------

# asked_at_once CONNECTIONS WORDS: that many, and the web is fetched.
asked_at_once() {
    serve_no_more
    [ "$(most_at_once)" = "$1" ] || fail "$2: $(most_at_once) at once"
}
quick="--scope any --allow-private --sitemap off --delay 0 --min-disk 0
    --progress none"
for conns in 1 2 4; do
    serve --hosts 3 --pages 60 --size 500 --latency 100 --seed 83
    crawl conns-$conns --conns-per-host $conns
    ended 0
    asked_at_once $conns "--conns-per-host $conns"
done

# Fetchers share the connections to a host, and what its robots.txt says.
serve --hosts 1 --pages 200 --size 500 --latency 20 --seed 83
crawl shared --conns-per-host 4 --threads 2
ended 0
asked_at_once 4 "two fetchers"
[ "$(grep -c /robots.txt log)" = 1 ] || fail "robots.txt: $(grep /robots.txt log)"
opened=$(cut -f 3 log | sort -u | wc -l) # idle ones too
[ "$opened" = 4 ] || fail "$opened connections to a host that may have 4"

# Two names of one address.
for conns in 1 8; do
    serve --hosts 1 --pages 30 --size 500 --latency 30 --seed 83
    "$URLWEIR" crawl "http://a.test:$port/" "http://b.test:$port/" -o ip-$conns \
        --resolve "a.test:$port:127.0.0.1" --resolve "b.test:$port:127.0.0.1" \
        --allow-private --delay 0 --min-disk 0 --progress none \
        --conns-per-ip $conns >crawl.out 2>crawl.err || fail "$(cat crawl.err)"
    asked_at_once $((conns > 1 ? 2 : 1)) "--conns-per-ip $conns"
    pages=$(wc -l <log)
    [ "$pages" -ge 60 ] || fail "only $pages requests"
done
