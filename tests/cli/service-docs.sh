#!/bin/sh
# docs/service.md, command by command: the fetcher in curl fetches and reports
# what became of a URL; the token file and the certificate admit the callers
# they should. (tests/interop/grpc_checks/access.py runs the fetcher in
# Python.)
# Promise (The service): the commands of the service's page run as written.
#   See also `tests/interop/grpc_client.py`.
set -eu
. "$TOP/tests/cli/lib.sh"
page=$TOP/docs/service.md
PATH=$(dirname "$URLWEIR"):$PATH

# start OPTION...: in the background, $server; $grpc and $http its addresses.
start() {
    behind serve.out serve.err urlweir serve "$@"
    server=$!
    waits_for 'grep -q "HTTP on" serve.err' || fail "no server: $(cat serve.err)"
    grpc=$(sed -n 's/.*listening on //p' serve.err)
    http=$(sed -n 's/.*HTTP on //p' serve.err)
}
stop() {
    kill -TERM $server
    stopped=0
    wait $server || stopped=$?
    [ $stopped = 0 ] || fail "stop: $stopped $(cat serve.err)"
}

# ---- the fetcher in curl ------------------------------------------------------

mkdir web
echo one >web/index.html
echo two >web/other.html
serve_files web
start frontier --listen 127.0.0.1:0 --http 127.0.0.1:0
here() { # the document's addresses, as they are in this test
    sed "s|127.0.0.1:7072|$http|g; s|127.0.0.1:7071|$grpc|g
        s|https://example.com/|${seed}index.html|g
        s|https://example.org/|${seed}missing.html|g"
}
sed -n '/^## A fetcher in curl/,/^## [^A]/p' "$page" |
    sed -n '/^```sh$/,/^```$/p' | grep -v '^```' | here >fetcher.sh
grep -q 'api lease' fetcher.sh || fail "no fetcher in curl: $(cat fetcher.sh)"
exits 0 timeout 300 sh -eu fetcher.sh
[ -s page ] || fail "nothing was fetched"

sed -n 's/^`\(curl -sG [^`]*\)`.*/\1/p' "$page" | here >ask.sh
exits 0 sh -eu ask.sh
says out '"completed"'
exits 0 curl -sS --fail "http://$http/healthz"
exits 0 curl -sS --fail "http://$http/metrics"
says out urlweir_

# ---- a service's directory, while it runs ---------------------------------------

sed -n '/^These read the directory/,/^## /s/^    \(urlweir .*\)/\1/p' "$page" |
    here >reads
[ "$(wc -l <reads)" -ge 3 ] || fail "commands that read: $(cat reads)"
while read -r command; do
    exits 0 sh -c "$command"
done <reads
stop

# ---- who may --------------------------------------------------------------------

openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out chain.pem \
    -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 -days 2 2>openssl.err
sed -n '/^## Who may/,/^## /s/^    //p' "$page" >door
grep -v '^urlweir' door >tokens.sh
sh -eu tokens.sh
[ "$(cut -d' ' -f1 tokens | tr '\n' ' ')" = "write read admin " ] ||
    fail "tokens: $(cat tokens)"
[ "$(stat -c %a tokens)" = 600 ] || fail "others may read the tokens"
# shellcheck disable=SC2046
start $(sed -n 's/^urlweir serve //p' door | sed 's/7071/0/') --http 127.0.0.1:0
exits 0 curl -sS --fail --cacert chain.pem "https://$http/v1/stats" \
    -H "Authorization: Bearer $(sed -n 's/^read //p' tokens)"
exits 22 curl -sS --fail --cacert chain.pem "https://$http/v1/stats"
exits 22 curl -sS --fail --cacert chain.pem "https://$http/v1/urls" \
    -H "Authorization: Bearer $(sed -n 's/^read //p' tokens)" \
    -H "Content-Type: application/json" -d '[{"url": "http://h/"}]'
exits 0 curl -sS --fail --cacert chain.pem "https://$http/v1/urls" \
    -H "Authorization: Bearer $(sed -n 's/^write //p' tokens)" \
    -H "Content-Type: application/json" -d '[{"url": "http://h/"}]'
stop
