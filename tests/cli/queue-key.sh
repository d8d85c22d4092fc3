#!/bin/sh
# --queue-key ip: one host at a time is asked of all host names of an address,
# with the delay between, whether seeds, links or redirects led to them;
# addresses do not wait for each other. The identity of a URL does not depend on
# name servers.
# Promise (Politeness): hosts of one address, with --queue-key ip, or of one
#   domain are asked one at a time, with the delay between, also after kills
#   and restarts; a dead one stops no other. See also `make sim`,
#   `politeness_group`, `resolver`, `ip`.
set -eu
. "$TOP/tests/cli/lib.sh"

# by_address: what arrived at each address: "ADDRESS REQUESTS AT_ONCE GAP_MS",
# the most at once and the shortest time from an answer to the next request.
by_address() {
    awk -F'\t' '{ print $1, 1, $4; print $2, -1, $4 }' log | sort -n -k1,1 |
        awk '{
            if ($2 > 0) {
                asked[$3]++
                gap = ($1 - ended[$3]) / 1e6
                if ($3 in ended && (!($3 in least) || gap < least[$3]))
                    least[$3] = gap
            } else
                ended[$3] = $1
            n[$3] += $2
            if (n[$3] > most[$3]) most[$3] = n[$3]
        } END {
            for (a in asked) printf "%s %d %d %.3f\n", a, asked[a], most[a],
                least[a]
        }' | sort >by_address
}

# polite REQUESTS DELAY_MS: each of three addresses was asked so often at least,
# one at a time and no closer than that.
polite() {
    by_address
    awk -v least="$1" -v delay="$2" '
        $2 < least || $3 != 1 || $4 < delay { bad = 1 }
        END { exit bad || NR != 3 }' by_address || {
        cat by_address
        fail "not as said: at least $1 requests, one at a time, $2 ms apart"
    }
}

# Pages that link to each other; the first also to other names of this address.
mkdir web
for i in 1 2 3; do
    echo "<title>$i</title><a href=/>up</a>" >web/p$i.html
done
{
    for i in 1 2 3; do echo "<a href=/p$i.html>$i</a>"; done
    for i in 1 2 3 4; do echo "<a href=http://n$i.localhost:PORT/p1.html>n</a>"; done
} >index
# serve_web [LATENCY_MS]
serve_web() {
    cp index web/index.html
    serve_files web 127.0.0.1,127.0.0.2,127.0.0.3 --latency "${1:-20}"
    sed "s/PORT/$port/" index >web/index.html
    names= resolve=
    for i in 1 2 3 4 5 6 7 8 9; do
        names="$names http://h$i.test:$port/"
        resolve="$resolve --resolve h$i.test:$port:127.0.0.$((i % 3 + 1))"
    done
    names="$names http://127.0.0.2:$port/ http://[::ffff:127.0.0.3]:$port/"
}
options="--scope any --queue-key ip --allow-private --delay 100ms --min-disk 0
    --retry-delay 50ms --progress none"

# ---- one after the other, whatever the name ----------------------------------

serve_web
# shellcheck disable=SC2086
exits 0 "$URLWEIR" crawl $names -o d $options $resolve -c 32
serve_no_more
polite 15 100
# Three names and more, four pages and a robots.txt each: no name waited for a
# name of another address.
awk '{ n += $2 } END { exit !(n >= 60) }' by_address || fail "$(cat by_address)"
agrees d
exits 0 "$URLWEIR" explain d "http://n3.localhost:$port/p1.html"
says out "fetched"
exits 0 "$URLWEIR" export d --what hosts
for host in h1.test n4.localhost 127.0.0.2; do
    says out "\"$host\""
done

# ---- a name without an address, and what cannot be ------------------------------

# (No name server is asked for a label of 64 octets: RFC 1035, section 2.3.4.)
nowhere=http://$(printf '%064d' 0).invalid/
serve_web
# shellcheck disable=SC2086
"$URLWEIR" crawl "http://h1.test:$port/p1.html" "$nowhere" \
    -o dead $options $resolve --give-up 1s >crawl.out 2>crawl.err && status=0 || status=$?
ended 3 "a seed has no address"
exits 0 "$URLWEIR" explain dead "$nowhere"
says out "Could not resolve host"
serve_no_more

exits 1 "$URLWEIR" crawl http://a.test/ -o no --queue-key ip \
    --proxy http://127.0.0.1:3128
says err "--queue-key ip needs the hosts' addresses"
exits 1 "$URLWEIR" resume d --queue-key host
says err "it is fixed when a crawl starts"
