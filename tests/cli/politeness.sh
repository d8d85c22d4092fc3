#!/bin/sh
# A host is asked once at a time, and not before its delay has passed since the
# end of its last response: --delay, its own Crawl-delay, Retry-After.
# robots.txt counts like a page, and a kill and a restart change nothing.
set -eu
. "$TOP/tests/cli/lib.sh"

# gaps_after STATUS...: milliseconds from each such answer to the next request
# of its host.
gaps_after() {
    awk -F'\t' -v wanted=" $* " '
        { n++; start[n] = $1; end[n] = $2; host[n] = $4; status[n] = $6 }
        END {
            for (i = 1; i <= n; i++) {
                if (index(wanted, " " status[i] " ") == 0)
                    continue
                best = -1
                for (k = 1; k <= n; k++)
                    if (host[k] == host[i] && start[k] >= end[i] &&
                        (best < 0 || start[k] - end[i] < best))
                        best = start[k] - end[i]
                if (best >= 0)
                    printf "%.3f\n", best / 1e6
            }
        }' log
}

# most_at_once: the most requests of one host that were under way together.
most_at_once() {
    awk -F'\t' '{ print $1, 1, $4; print $2, -1, $4 }' log |
        sort -n -k1,1 -k2,2 |
        awk '{ n[$3] += $2; if (n[$3] > most) most = n[$3] }
            END { print most + 0 }'
}

# ---- delays, across kills -----------------------------------------------------

serve --hosts 16 --pages 320 --size 500 --profile robots,redirects,errors \
    --crawl-delay 0.5 --seed 81
polite="--scope any --allow-private --sitemap off --delay 200ms --retry-delay 50ms
    --min-disk 0 --checkpoint 1s --progress none"
quick=$polite
hold # so that none of them ends before it is killed
kills=0
for requests in $(random "${SEED:-81}" 4 12 26); do
    if [ $kills = 0 ]; then
        # shellcheck disable=SC2086
        behind crawl.out crawl.err "$URLWEIR" crawl "$seed" "$held" -o d $quick -c 32
    else
        behind crawl.out crawl.err "$URLWEIR" resume d --progress none
    fi
    crawler=$!
    arrive "$requests"
    kill -KILL $crawler || fail "it ended early: $(cat crawl.err)"
    wait $crawler 2>/dev/null || :
    kills=$((kills + 1))
done
release
resume d
ended 0
serve_no_more
judge --delay 200 --kills $kills --in-flight 32
agrees d

# ---- Retry-After, across restarts ------------------------------------------------

# (A kill may come before the answer that says so is stored: 200 ms.)
serve --hosts 6 --pages 60 --size 500 --profile errors --seed 84
# shellcheck disable=SC2086
behind crawl.out crawl.err "$URLWEIR" crawl "$seed" -o after $quick
pid=$!
for said in 1 4; do
    waits_for "[ \$(cut -f6 log | grep -cE '503|429') -ge $said ]" ||
        fail "no Retry-After: $(cat crawl.err)"
    kill -TERM $pid 2>/dev/null || : # where it has ended, resume says so
    wait $pid || :
    behind crawl.out crawl.err "$URLWEIR" resume after --progress none
    pid=$!
done
wait $pid || fail "resume: $(cat crawl.err)"
serve_no_more
judge --delay 200
# Of this web each of these answers has "Retry-After: 1".
gaps_after 503 429 >gaps
[ "$(wc -l <gaps)" -ge 4 ] || fail "hardly any Retry-After: $(cat gaps)"
awk '$1 < 1000 { exit 1 }' gaps ||
    fail "asked before Retry-After was over: $(sort -n gaps | head -3)"

# ---- a robots.txt that leads to another host ------------------------------------

# Two hosts have theirs where a third has pages of its own: it sees their
# requests in one row with its own, each its delay after the one before.
pages 127.0.0.1 /x.html
pages 127.0.0.3 /x.html
pages 127.0.0.2 /1.html /2.html /3.html /4.html
echo '<a href=1.html>1</a><a href=2.html>2</a><a href=3.html>3</a><a href=4.html>4</a>' \
    >web/127.0.0.2/index.html
printf 'User-agent: *\nDisallow: /x\n' >web/127.0.0.2/shared.txt
for host in 127.0.0.1 127.0.0.3; do
    printf '301\nLocation: http://127.0.0.2:@PORT@/shared.txt\n' >web/$host/robots.txt.head
    echo '<a href=x.html>x</a>' >web/$host/index.html
done
plain_site 127.0.0.1 127.0.0.2 127.0.0.3
"$URLWEIR" crawl "$seed" "http://127.0.0.3:$port/" "http://127.0.0.2:$port/" -o elsewhere \
    $polite --delay 400ms >crawl.out 2>crawl.err || fail "$(cat crawl.err)"
[ "$(grep -cx '127.0.0.2 /shared.txt' log)" = 2 ] || fail "asked for: $(cat log)"
for host in 127.0.0.1 127.0.0.3; do
    asked $host /robots.txt
    asked $host /
    not_asked $host /x.html
done
asked 127.0.0.2 /4.html
# From arrival to arrival is never less than from an end to the next request.
sort -n log.times | awk '{
    if ($2 in last && $1 - last[$2] < 399.9) exit 1
    last[$2] = $1
}' || fail "too early: $(sort -n log.times)"

# ---- --random-delay: between half and one and a half ----------------------------

serve --hosts 12 --pages 84 --size 500 --seed 82
quick="$polite --delay 1s --random-delay"
crawl random
ended 0
serve_no_more
judge --delay 500
gaps_after 200 404 | sort -n >gaps
# (A busy machine makes them longer, but not each of 70 by 300 ms: if it did, one
# of them would still be below the second but for 1 in 10^7.)
awk '{ a[NR] = $1 } END { exit !(a[1] < 1000 && a[NR] > 1000 && NR >= 60) }' gaps ||
    fail "not between half and one and a half: $(tr '\n' ' ' <gaps)"

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
