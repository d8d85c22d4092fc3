#!/bin/sh
# A service among hostile clients (tests/support/hostile.py): requests and
# answers cut at any octet, resets, slow readers, watchers that come and go,
# reports and leases whose callers leave, crawls made and deleted meanwhile,
# certificates reloaded during handshakes. It keeps running, and SIGTERM in the
# middle ends it as always: status 0, no complaint from a sanitizer or a
# library, and a sound store.
# SEED=N repeats the clients' choices.
set -eu
. "$TOP/tests/cli/lib.sh"

# Rounds, and how often each kind of client has its way in one.
rounds=${LONG:+10}
rounds=${rounds:-2}
times=${LONG:+60}
times=${times:-3}
echo "SEED=${SEED:=$(date +%s)}"

# among_enemies NAME OPTION...: a service, until they have had enough of it.
among_enemies() {
    name=$1
    shift
    start_service 127.0.0.1:0 "$@"
    behind enemies enemies.err python3 "$TOP/tests/support/hostile.py" "$http" "$grpc" \
        "$service" "$seed" "$times" "$SEED $name" ${pairs:+"$pairs"}
    enemies=$!
    waits_for 'grep -q . enemies' "$((${LIMIT:-400} * 4))" || {
        kill -USR1 "$enemies"
        sleep 1
        fail "$name: $(cat serve.err enemies enemies.err)"
    }
    stop TERM 0
    says enemies enough
    wait "$enemies" || fail "$name: $(cat enemies enemies.err)"
    # The line on the sandbox names the sanitizer for which there is no seccomp.
    grep -v 'serve: sandbox: ' serve.err >said || :
    lacks -E said 'Sanitizer|runtime error|Fatal error|Assertion' "$name"
    [ ! -s enemies.err ] || fail "$name: $(cat enemies.err)"
    echo "$name: $(cat enemies)"
    exits 0 "$URLWEIR" verify d
    for crawl in d/crawls/*; do
        [ ! -e "$crawl" ] || is_whole "$crawl" "$name"
    done
}

for name in one two; do
    openssl req -x509 -newkey rsa:2048 -nodes -keyout "$name.key" -out "$name.pem" \
        -days 2 -subj "/CN=$name" 2>openssl.err || fail "$(cat openssl.err)"
done
serve --hosts 3 --pages 300

for i in $(seq "$rounds"); do
    pairs=
    if [ $((i % 2)) = 1 ]; then
        among_enemies "plain $i" --drain 300ms
    else
        pairs=one,two
        # The last round may have left a pair that does not fit.
        cp one.pem live.pem
        cp one.key live.key
        among_enemies "TLS $i" --drain $((i % 4 * 100))ms --tls-cert live.pem --tls-key live.key
    fi
done
