#!/bin/sh
# Both TLS ports of a service, gRPC and HTTP, accept the same versions and
# cipher suites, whichever library they use: TLS 1.2 and 1.3, forward secrecy,
# AES-GCM and ChaCha20-Poly1305. docs/decisions/tls-and-loops.md
# Promise (The service): both ports accept the same TLS versions and cipher
#   suites: TLS 1.2 and 1.3, ECDHE, AES-GCM and ChaCha20-Poly1305.
set -eu
. "$TOP/tests/cli/lib.sh"

# asks PORT OPTION...: the suite that is agreed upon; nothing: none is.
asks() {
    at=$1
    shift
    timeout 20 openssl s_client -connect "$at" -alpn h2,http/1.1 "$@" </dev/null 2>/dev/null |
        sed -n 's/^New, .*, Cipher is //p' | grep -v NONE || :
}
# takes PORT: each version and suite, one a line: what is agreed upon is taken out
# of what is offered, until nothing is.
takes() {
    for version in tls1 tls1_1; do
        [ -z "$(asks "$1" -$version -cipher ALL:@SECLEVEL=0)" ] || echo "$version"
    done
    left="ALL:eNULL:@SECLEVEL=0"
    while suite=$(asks "$1" -tls1_2 -cipher "$left") && [ -n "$suite" ]; do
        echo "TLS 1.2 $suite"
        left="!$suite:$left"
    done
    for suite in TLS_AES_128_GCM_SHA256 TLS_AES_256_GCM_SHA384 TLS_CHACHA20_POLY1305_SHA256 \
        TLS_AES_128_CCM_SHA256 TLS_AES_128_CCM_8_SHA256; do
        [ -z "$(asks "$1" -tls1_3 -ciphersuites $suite)" ] || echo "TLS 1.3 $suite"
    done
}

for kind in RSA ECDSA; do
    case $kind in
    RSA) new=rsa:2048 ;;
    ECDSA) new="ec -pkeyopt ec_paramgen_curve:P-256" ;;
    esac
    # shellcheck disable=SC2086
    openssl req -x509 -newkey $new -nodes -keyout $kind.key -out $kind.pem -subj /CN=localhost \
        -days 2 2>made || fail "$(cat made)"
    cat >want <<END
TLS 1.2 ECDHE-$kind-AES128-GCM-SHA256
TLS 1.2 ECDHE-$kind-AES256-GCM-SHA384
TLS 1.2 ECDHE-$kind-CHACHA20-POLY1305
TLS 1.3 TLS_AES_128_GCM_SHA256
TLS 1.3 TLS_AES_256_GCM_SHA384
TLS 1.3 TLS_CHACHA20_POLY1305_SHA256
END
    start_service 127.0.0.1:0 --tls-cert $kind.pem --tls-key $kind.key
    for port in "$grpc" "$http"; do
        takes "$port" | sort >got
        diff want got || fail "$kind: other suites at $port (gRPC $grpc, HTTP $http)"
    done
    stop TERM 0
done
