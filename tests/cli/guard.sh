#!/bin/sh
# The crawl sends no request to private addresses unless they are allowed: not
# for a seed, a link, a redirect, a name that resolves there, or another
# spelling of the address. --allow-net allows a network, --deny-net wins.
set -eu
. "$TOP/tests/cli/lib.sh"

serve --hosts 4 --pages 600 --size 500 --profile redirects --seed 101
quick="--scope any --sitemap off --delay 0 --retry-delay 50ms --max-delay 100ms --min-disk 0
    --progress none"

# nothing_came WHAT
nothing_came() {
    since_mark log.part
    [ ! -s log.part ] || fail "$1: $(head -3 log.part)"
}

# ---- refused ---------------------------------------------------------------------

mark
crawl seed
ended 5
says crawl.err address
nothing_came "a loopback seed"
says crawl.err "--allow-private allows it"
exits 0 "$URLWEIR" status seed --json
says out '"skipped.address": 1'
exits 0 "$URLWEIR" export seed --what errors
says out '"detail": "nothing was sent: a private or special address, or one of --deny-net'

n=0
for spelling in localhost 127.1 2130706433 0x7f000001 0177.0.0.1 '[::1]' \
    '[::ffff:127.0.0.1]' '[::ffff:7f00:1]' 0.0.0.0 'a.test'; do
    n=$((n + 1))
    status=0
    # shellcheck disable=SC2086
    "$URLWEIR" crawl "http://$spelling:$port/" -o "spelling-$n" $quick \
        --resolve "a.test:$port:127.0.0.1" >crawl.out 2>crawl.err || status=$?
    ended 5 "$spelling"
    exits 0 "$URLWEIR" status "spelling-$n" --json
    says out '"skipped.address": 1'
done
nothing_came "a loopback address in another spelling"
for net in 10.1.2.3 172.16.0.1 192.168.1.1 169.254.169.254 100.64.0.1 '[fe80::1]' \
    '[fc00::1]'; do
    n=$((n + 1))
    status=0
    # shellcheck disable=SC2086
    "$URLWEIR" crawl "http://$net:$port/" -o "spelling-$n" $quick -T 20s \
        >crawl.out 2>crawl.err || status=$?
    ended 5 "$net"
    exits 0 "$URLWEIR" status "spelling-$n" --json
    says out '"skipped.address": 1'
done

# ---- allowed: one network, and no more -------------------------------------------

# Of four hosts one may be asked; its links and redirects lead to the others.
mark
crawl one --allow-net 127.0.0.1/32
ended 0
since_mark log.part
[ "$(cut -f4 log.part | sort -u)" = 127.0.0.1 ] ||
    fail "asked $(cut -f4 log.part | sort -u | tr '\n' ' ')"
exits 0 "$URLWEIR" status one --json
says out '"skipped.address"'

n=$(sqlite3 one/frontier.db "SELECT count(*) FROM urls u JOIN fetches f
    ON f.id = u.id WHERE u.kind = 'redirect' AND f.reason = 'address'")
[ "$n" -ge 1 ] || fail "no redirect led to a refused address"

mark
crawl all --allow-net 127.0.0.0/8
ended 0
since_mark log.part
"$SITE" check --truth truth --log log.part >check.out 2>check.err ||
    fail "--allow-net 127.0.0.0/8: $(cat check.out check.err)"

mark
crawl deny --allow-net 127.0.0.0/8 --deny-net 127.0.0.3
ended 0
since_mark log.part
[ "$(cut -f4 log.part | sort -u | tr '\n' ' ')" = \
    "127.0.0.1 127.0.0.2 127.0.0.4 " ] ||
    fail "--deny-net 127.0.0.3: asked $(cut -f4 log.part | sort -u)"
mark
crawl denied --allow-private --deny-net 127.0.0.0/8
ended 5
nothing_came "--deny-net wins over --allow-private"

# ---- ports that browsers block ---------------------------------------------------

# at PORT OUTCOME OPTION...: a crawl of 127.0.0.9 there ends so. Nothing listens on
# port 10080, as a rule (Amanda).
at() {
    n=$((n + 1))
    at=$1 want=$2
    shift 2
    status=0
    # shellcheck disable=SC2086
    "$URLWEIR" crawl "http://127.0.0.9:$at/" -o "port-$n" $quick --tries 1 \
        --robots off --allow-private "$@" >crawl.out 2>crawl.err || status=$?
    ended "$ends" "port $at"
    exits 0 "$URLWEIR" status "port-$n" --json
    says out "\"$want\": 1"
}
ends=5
at 10080 skipped.port
says crawl.err "port: not fetched, since browsers block it; --allow-port allows it"
exits 0 "$URLWEIR" explain "port-$n" http://127.0.0.9:10080/
says out "nothing was sent: a port that browsers block"
ends=3
at 10080 queued --allow-port 25,10080 --give-up 200ms
says crawl.err "127.0.0.9 did not respond (connect)"
ends=5
at 10080 skipped.port --allow-port 25

# ---- NAT64 -----------------------------------------------------------------------

# 2600:db8:9::/48 as this network's: 127.0.0.1 in it is loopback.
nat64='http://[2600:db8:9:7f00:0:100::]'
status=0
# shellcheck disable=SC2086
"$URLWEIR" crawl "$nat64:$port/" -o nat64 $quick --nat64 2600:db8:9::/48 \
    >crawl.out 2>crawl.err || status=$?
ended 5 "--nat64"
exits 0 "$URLWEIR" explain nat64 "$nat64:$port/"
says out "nothing was sent: a private or special address"
for wrong in 10.0.0.0/8 2600::/44 2600::1; do
    exits 1 "$URLWEIR" crawl "$seed" -o wrong --nat64 "$wrong"
    says err "--nat64 '$wrong': not a NAT64 prefix"
done
exits 1 "$URLWEIR" crawl "$seed" -o wrong --allow-port 0
says err "--allow-port '0': it takes a port from 1 to 65535"
