#!/bin/sh
# A service with a token file gets more connections without a token than it may
# have, on both ports, that send nothing, a little, or PING: it still serves a
# caller with a token, on that caller's open connections and on new ones.
set -eu
. "$TOP/tests/cli/lib.sh"

echo "admin 0123456789abcdef-admin" >tokens
among_strangers() {
    start_service 127.0.0.1:0 --token-file tokens --connections 40 "$@"
    exits 0 timeout "$((${LIMIT:-120} * 2))" python3 "$TOP/tests/support/strangers.py" \
        "$http" "$grpc" 0123456789abcdef-admin 100
    says out served
    curl -sS -H "Authorization: Bearer 0123456789abcdef-admin" "http://$http/metrics" >page
    for port in http grpc; do
        sed -n "s/^urlweir_${port}_connections_closed_total{reason=\"crowded\"} //p" page >crowded
        [ "$(cat crowded)" -gt 0 ] || fail "no stranger made room: $(grep closed_total page)"
    done
    stop TERM 0
    [ "$(grep -c 'too many connections' serve.err)" -le 4 ] ||
        fail "a line for each of them: $(cat serve.err)"
    says serve.err "too many connections, some are closed"
}

among_strangers --drain 100ms
