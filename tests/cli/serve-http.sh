#!/bin/sh
# serve --http: JSON over HTTP and /metrics, beside gRPC. Acknowledged work
# survives a kill; tokens, Host, limits; errors as problem details.
# Promise (The service): JSON over HTTP: a change answered with 200 survives a
#   kill; names are any UTF-8; errors are problem details. See also
#   `http_text`, `http_server`.
# Promise (The service): crawls are steered over HTTP by callers whose role
#   allows it; unknown fields are refused; names in paths may have any
#   character. See also `tests/cli/steer-http.sh`, `http_crawls`.
# Promise (The service): SIGHUP loads new certificates and CAs on the HTTP
#   port; old connections go on, and a broken file changes nothing.
set -eu
. "$TOP/tests/cli/lib.sh"

# start OPTION...: $service; the address of HTTP in $at.
start() {
    start_service 127.0.0.1:0 "$@"
    at=$http
}
# client NAME: a part of the client below, $at its server.
client() {
    python3 "$TOP/tests/support/http_client.py" "$at" "$@" || fail "client $*: $(cat serve.err)"
}

# ---- a fetcher's day, over kills ----------------------------------------------

start
client metrics
client put
stop KILL 137
start
client lease
stop KILL 137
start
client acknowledged
client names
client errors
client metrics
stop TERM 0
exits 0 "$URLWEIR" verify d

# ---- stopping while somebody is there -----------------------------------------

start
client idle &
idle=$!
waits_for '[ -f idle ]' || fail "no idle client"
stop TERM 0
wait "$idle" || fail "the idle client"

# A second signal does not wait for what will never end.
start --drain 1h --verbose
client half &
half=$!
waits_for '[ -f half ]' || fail "no half request"
kill -TERM "$service"
waits_for 'grep -q stopping serve.err' || fail "no stop: $(cat serve.err)"
kill -0 "$half" || fail "the first signal did not wait: $(cat serve.err)"
stop TERM 0
wait "$half" || fail "the half request"

# ---- who may --------------------------------------------------------------------

exits 1 "$URLWEIR" serve d --listen 127.0.0.1:0 --http 0.0.0.0:0
says err "--http"
exits 1 "$URLWEIR" serve d --listen 127.0.0.1:0 --http nonsense
says err "--http"
cat >tokens <<'END'
read 0123456789abcdef-read
write 0123456789abcdef-write
admin 0123456789abcdef-admin
END
start --http 0.0.0.0:0 --token-file tokens
at=127.0.0.1:${at##*:}
client tokens
echo "read 0123456789abcdef-other" >tokens
kill -HUP "$service"
waits_for '(client token_is 0123456789abcdef-other 200) >said 2>&1' || fail "SIGHUP: $(cat said)"
client token_is 0123456789abcdef-read 401
exits 2 "$URLWEIR" serve e --listen 127.0.0.1:0 --http "127.0.0.1:${at##*:}"
says err "cannot listen"
exits 2 "$URLWEIR" pause "https://$at" --all
says err "does not speak TLS; is it http://?"
stop TERM 0

start --http none
[ -z "$at" ] || fail "HTTP on $at"
stop TERM 0

# ---- TLS, and certificates of callers --------------------------------------------

for name in server client; do
    openssl req -x509 -newkey rsa:2048 -nodes -keyout $name.key -out $name.pem \
        -days 2 -subj "/CN=$name" -addext "subjectAltName=IP:127.0.0.1" 2>openssl.err ||
        fail "$(cat openssl.err)"
done
start --tls-cert server.pem --tls-key server.key
client tls none
stop TERM 0
start --tls-cert server.pem --tls-key server.key --client-ca client.pem
client tls refused
client tls shown
stop TERM 0

# ---- certificates read anew ---------------------------------------------------------

for name in first second other; do
    openssl req -x509 -newkey rsa:2048 -nodes -keyout $name.key -out $name.pem \
        -days 2 -subj "/CN=$name" 2>openssl.err || fail "$(cat openssl.err)"
done
echo "no certificate" >nonsense.pem
cp first.pem live.pem
cp first.key live.key
cp client.pem ca.pem
start --tls-cert live.pem --tls-key live.key --client-ca ca.pem
exits 2 "$URLWEIR" pause "http://$at" --all
says err "ended before it answered; does it want https://?"
client reloads "$service"
says serve.err "cannot use the TLS certificate with its key"
stop TERM 0
