#!/bin/sh
# Secrets stay at home: headers, cookies, logins, tokens and client
# certificates go only to the origins they are bound to, by default those of
# the seeds, whatever is linked or redirected to; and no file that others read,
# no archive and no output of a command contains one.
# Promise (Installing and checks): secrets on a command line are overwritten,
#   so that other users do not see them in the list of processes.
set -eu
. "$TOP/tests/cli/lib.sh"


quick="--allow-private --delay 0 --retry-delay 50ms --max-delay 100ms --min-disk 0
    --checkpoint 1s --progress none --sitemap off --conns-per-host 1"

# certificate NAME EXTENSION: NAME.pem and NAME.key, signed by ca.pem.
certificate() {
    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key" \
        -out "$1.csr" -subj "/CN=$1" 2>openssl.err &&
        printf '%s\n' "$2" >ext &&
        openssl x509 -req -in "$1.csr" -CA ca.pem -CAkey ca.key -CAcreateserial \
            -days 2 -extfile ext -out "$1.pem" 2>>openssl.err ||
        fail "openssl: $(cat openssl.err)"
}
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ca.key \
    -out ca.pem -days 2 -subj /CN=authority 2>openssl.err || fail "$(cat openssl.err)"
certificate server 'subjectAltName=IP:127.0.0.1,IP:127.0.0.2'
certificate crawler 'extendedKeyUsage=clientAuth'

# plain: http at three addresses, $port; secure: https at two, $tls.
for a in 127.0.0.1 127.0.0.2 127.0.0.3; do
    pages $a /page.html /landed.html /down.html
    printf 'User-agent: *\nDisallow: /private\n' >web/$a/robots.txt
    echo '302' >web/$a/away.html.head
done
plain_site 127.0.0.1 127.0.0.2 127.0.0.3
plain=$port
mkdir -p tls/web
cp -r web/127.0.0.1 web/127.0.0.2 tls/web/
behind tls/port tls/err env CERT=server.pem KEY=server.key CA=ca.pem \
    python3 "$TOP/tests/support/plain_site.py" tls/web tls/log 127.0.0.1 127.0.0.2
waits_for 'grep -q "^port" tls/port' || fail "no server: $(cat tls/err)"
tls=$(sed 's/port //' tls/port)

# The seed links to all the others, and redirects to them in three ways.
cat >web/127.0.0.1/index.html <<END
<a href=/page.html>own</a> <a href=/away.html>redirects</a> <a href=/up.html>up</a>
<a href=http://127.0.0.2:$plain/page.html>host</a>
<a href=https://127.0.0.1:$tls/page.html>port and scheme</a>
<a href=https://127.0.0.2:$tls/page.html>all of it</a>
END
printf '302\nLocation: http://127.0.0.3:%s/landed.html\n' "$plain" >web/127.0.0.1/away.html.head
printf '302\nLocation: https://127.0.0.1:%s/landed.html\n' "$tls" >web/127.0.0.1/up.html.head
touch web/127.0.0.1/away.html web/127.0.0.1/up.html

# The seed of https is redirected down to http at the same address.
printf '302\nLocation: http://127.0.0.1:%s/down.html\n' "$plain" >tls/web/127.0.0.1/index.html.head
touch tls/web/127.0.0.1/index.html

forget() { : >log.headers; : >tls/log.headers; : >log; : >tls/log; }
# has FILE ADDRESS PATH HEADER
has() { grep -qxF "$2 $3 $4" "$1" || fail "$2 $3 was not sent $4: $(cat "$1" crawl.err)"; }

# ---- headers and the cookie of the seeds ---------------------------------------

forget
seed=http://127.0.0.1:$plain/
crawl seeds --scope any --cacert ca.pem -H 'X-Secret: s3same' -b 'session=c00kie' \
    --header-host '*=X-All: everyone' --warc --jsonl lines.jsonl -v \
    --kafka-property sasl.mechanism=PLAIN --kafka-property sasl.password=k4fka
ended 0
for path in /robots.txt / /page.html /away.html; do
    has log.headers 127.0.0.1 $path 'X-Secret: s3same'
    has log.headers 127.0.0.1 $path 'Cookie: session=c00kie'
done
has log.headers 127.0.0.3 /landed.html 'X-All: everyone'
has tls/log.headers 127.0.0.1 /landed.html 'X-All: everyone'
has tls/log.headers 127.0.0.2 /page.html 'X-All: everyone'
lacks -E log.headers '^127\.0\.0\.[23] .*(s3same|c00kie)' sent
lacks -E tls/log.headers '(s3same|c00kie)' sent
lacks -E log.headers '(Referer|Authorization)' sent

# Nowhere but in the file of secrets, which is the owner's.
silent() { # silent DIR SECRET...
    d=$1
    shift
    for secret in "$@"; do
        grep -rlF -- "$secret" "$d" >where || :
        [ ! -s where ] || [ "$(cat where)" = "$d/urlweir-secrets.yaml" ] ||
            fail "$secret stands in: $(cat where)"
        for archive in "$d"/warc/*.warc.gz; do
            [ -e "$archive" ] || continue
            zcat "$archive" >records
            lacks -F records "$secret" "in the archive"
        done
        for c in "status $d --json" "status $d --hosts" "export $d" "export $d --what pages" \
            "explain $d $seed --json" "audit $d --json" "verify $d"; do
            # shellcheck disable=SC2086
            "$URLWEIR" $c >shown 2>&1 || :
            lacks -F shown "$secret" "'$c' shows $secret"
        done
        for said in crawl.err crawl.out lines.jsonl; do
            [ ! -s $said ] || lacks -F $said "$secret" "said"
        done
    done
    [ "$(stat -c %a "$d/urlweir-secrets.yaml")" = 600 ] || fail "others can read it"
}
silent seeds s3same c00kie k4fka
grep -q c00kie seeds/urlweir-secrets.yaml || fail "a resume would not have it"
zcat seeds/warc/*.warc.gz | tr -d '\r' >warc
grep -aqx 'Cookie: redacted' warc || fail "no trace of the cookie"
grep -aqx 'X-Secret: redacted' warc || fail "no trace of the header"
grep -aqx 'X-All: everyone' warc || fail "redacted what all may see"

# From https to http on the same host: nothing.
forget
seed=https://127.0.0.1:$tls/
crawl down --scope any --cacert ca.pem -H 'X-Secret: s3same' -b 'session=c00kie'
ended 0
has tls/log.headers 127.0.0.1 / 'X-Secret: s3same'
asked 127.0.0.1 /down.html
lacks -E log.headers '(s3same|c00kie)' sent
[ "$(grep -c 'a seed redirects to another origin' crawl.err)" = 1 ] || fail "not said: $(cat crawl.err)"
says crawl.err "from=https://127.0.0.1:$tls to=http://127.0.0.1:$plain"

# A resume has them again, and only for the seeds; those of a file too.
forget
echo "http://127.0.0.1:$plain/page.html" >list
echo "http://127.0.0.2:$plain/page.html" >>list
seed=http://127.0.0.3:$plain/page.html
crawl again --scope any -H 'X-Secret: s3same' -i list --limit 1
ended 3
forget
resume again --limit none
ended 0
grep -q 's3same' log.headers || fail "a resume has forgotten: $(cat log.headers)"
[ "$(grep -c 'page.html X-Secret: s3same' log.headers)" = 2 ] || fail "$(cat log.headers)"

# Of a resume with --once they are for that run, and stand nowhere else either.
exits 0 "$URLWEIR" seed again "http://127.0.0.3:$plain/landed.html"
forget
resume again --once -H 'X-Secret: 0nce' --bearer "http://127.0.0.3:$plain=0nce"
ended 0
has log.headers 127.0.0.3 /landed.html 'X-Secret: 0nce'
has log.headers 127.0.0.3 /landed.html 'Authorization: Bearer 0nce'
silent again 0nce s3same
grep -q s3same again/urlweir-secrets.yaml || fail "--once has replaced what is kept"
lacks again/urlweir-secrets.yaml 0nce "--once was kept"

# Nobody sees them among the processes of the machine.
hold
behind crawl.out crawl.err "$URLWEIR" crawl "$(echo "$held" | sed 's,//,//us:proc3ss@,')" \
    -o held.d $quick -H 'X-Secret: proc3ss' -b proc3ss=1 --bearer=a=proc3ss
crawler=$!
waits_for 'tr "\0" " " </proc/$crawler/cmdline | grep -q "\*\*\*"' || fail "not hidden"
tr '\0' ' ' </proc/$crawler/cmdline >words
lacks words proc3ss "shown"
grep -q 'held.d .*--delay 0' words || fail "too much is hidden"
release
wait $crawler || fail "it ended badly: $(cat crawl.err)"

# ---- logins and tokens of one origin --------------------------------------------

forget
basic=$(printf 'me:pa:ss' | openssl base64)
cat >netrc <<END
machine 127.0.0.2 login nora password "n et"
machine 127.0.0.3 login third password t
default login any password one
END
chmod 600 netrc
seed=http://127.0.0.1:$plain/
crawl bound --scope any --cacert ca.pem --netrc netrc \
    --auth "http://127.0.0.1:$plain=me:pa:ss" \
    --bearer "127.0.0.2:$tls=t0ken" --header-host "http://127.0.0.3:$plain=X-Third: thr33"
ended 0
has log.headers 127.0.0.1 /page.html "Authorization: Basic $basic"
has log.headers 127.0.0.1 /robots.txt "Authorization: Basic $basic"
has tls/log.headers 127.0.0.2 /page.html 'Authorization: Bearer t0ken'
has log.headers 127.0.0.3 /landed.html 'X-Third: thr33'
lacks -E log.headers '^127\.0\.0\.[23] .*Authorization' sent
lacks -E tls/log.headers '^127\.0\.0\.1 .*Authorization' sent
lacks -E log.headers '(t0ken|^127\.0\.0\.[12] .*thr33)' sent
touch lines.jsonl
silent bound pa:ss "$basic" t0ken thr33
# .netrc: over http at seeds alone, and its default too.
forget
seed=http://127.0.0.2:$plain/page.html
crawl bynetrc --scope any --netrc netrc
ended 0
has log.headers 127.0.0.2 /page.html "Authorization: Basic $(printf 'nora:n et' | openssl base64)"

# ---- logins in URLs ----------------------------------------------------------------

forget
seed=http://us%65r:p%40ss@127.0.0.1:$plain/
login=$(printf 'user:p@ss' | openssl base64)
crawl inurl --scope any --cacert ca.pem --warc --limit 1
ended 3
[ "$(sed -n 's/^  - "\(http.*\)"$/\1/p' inurl/urlweir-settings.yaml)" = "http://127.0.0.1:$plain/" ] ||
    fail "the settings: $(cat inurl/urlweir-settings.yaml)"
resume inurl --limit none
ended 0
for path in / /page.html /robots.txt; do
    has log.headers 127.0.0.1 $path "Authorization: Basic $login"
done
lacks -E log.headers '^127\.0\.0\.[23] .*(Authorization|us)' sent
lacks -E tls/log.headers Authorization sent
lacks -E log.headers Referer sent
seed=http://127.0.0.1:$plain/
silent inurl 'p%40ss' 'p@ss' "$login"
# In a file of seeds, and of what is bad no more is said than where it stands.
forget
echo "http://list:l1st@127.0.0.2:$plain/page.html" >list
echo "ftp://list:l1st@127.0.0.2/" >>list
crawl infile --scope any -i list
ended 0
has log.headers 127.0.0.2 /page.html "Authorization: Basic $(printf 'list:l1st' | openssl base64)"
lacks -E log.headers '^127\.0\.0\.1 .*Authorization' sent
says crawl.err "list:2: bad seed 'ftp://***@127.0.0.2/'"
: >lines.jsonl
silent infile l1st
# Later seeds take none: it would be known to everybody who can seed.
exits 5 "$URLWEIR" seed infile "http://late:l4te@127.0.0.3:$plain/page.html"
says out 'http://***@127.0.0.3'
cat out err >shown
lacks shown l4te "shown"

# ---- cookies -------------------------------------------------------------------------

# The site sets one, and another host tries to; both are links.
printf '200\nSet-Cookie: sid=fr3sh; Max-Age=9999; HttpOnly\n' >web/127.0.0.1/login.html.head
printf '200\nSet-Cookie: track=you\n' >web/127.0.0.2/page.html.head
echo "<a href=http://127.0.0.2:$plain/page.html>x</a> <a href=/after.html>y</a>
      <a href=http://127.0.0.2:$plain/landed.html>z</a>" >web/127.0.0.1/login.html
pages 127.0.0.1 /after.html /more.html /new.html
printf '# Netscape HTTP Cookie File\n127.0.0.1\tFALSE\t/\tFALSE\t0\told\tj4r\n' >jar
chmod 600 jar
forget
seed=http://127.0.0.1:$plain/login.html
crawl cjar --scope any --cookies jar
ended 0
has log.headers 127.0.0.1 /login.html 'Cookie: old=j4r'
grep -E '^127.0.0.1 /after.html Cookie: ' log.headers | grep -q 'sid=fr3sh' ||
    fail "not sent back: $(cat log.headers)"
grep -E '^127.0.0.1 /after.html Cookie: ' log.headers | grep -q 'old=j4r' || fail "lost"
lacks -E log.headers '^127\.0\.0\.2 .*Cookie' sent
[ "$(stat -c %a cjar/urlweir-cookies.txt 2>/dev/null)" = 600 ] || fail "modes: $(ls -l cjar)"
lacks cjar/urlweir-cookies.txt track "a stranger's cookie is kept"
grep -q "^#HttpOnly_127.0.0.1.*sid.fr3sh$" cjar/urlweir-cookies.txt || fail "$(cat cjar/urlweir-cookies.txt)"
[ "$(grep -rl 'j4r\|fr3sh' cjar)" = cjar/urlweir-cookies.txt ] || fail "elsewhere: $(grep -rl 'j4r\|fr3sh' cjar)"
# A resume goes on with them, also when the file is gone; one named anew is newer.
rm jar
exits 0 "$URLWEIR" seed cjar "http://127.0.0.1:$plain/more.html"
forget
resume cjar
ended 0
grep -E '^127.0.0.1 /more.html Cookie: ' log.headers | grep -q 'sid=fr3sh' || fail "$(cat log.headers)"
exits 0 "$URLWEIR" seed cjar "http://127.0.0.1:$plain/new.html"
printf '127.0.0.1\tFALSE\t/\tFALSE\t0\told\tn3w\n' >newer
chmod 644 newer
forget
resume cjar --cookies newer
ended 0
grep -E '^127.0.0.1 /new.html Cookie: ' log.headers | grep -q 'old=n3w' || fail "$(cat log.headers)"
says crawl.err "a file of secrets can be read by other users"
[ "$(cat newer)" = "$(printf '127.0.0.1\tFALSE\t/\tFALSE\t0\told\tn3w')" ] || fail "it was written to"
printf '127.0.0.1 FALSE / FALSE 0 s3cr3t\n' >bad
exits 1 "$URLWEIR" crawl "$seed" -o badjar --cookies bad $quick
says err 'bad:1: a cookie is a line of seven fields'
lacks err s3cr3t "shown"

# A process that is killed has saved those of a few seconds before.
echo '<a href=/slow.html>s</a>' >web/127.0.0.1/login.html
pages 127.0.0.1 /slow.html
echo "nobody /asks" >web/127.0.0.1/slow.html.after
seed=http://127.0.0.1:$plain/login.html
behind crawl.out crawl.err "$URLWEIR" crawl "$seed" -o killed $quick --cookies /dev/null
crawler=$!
waits_for 'grep -q fr3sh killed/urlweir-cookies.txt 2>/dev/null' || fail "not saved: $(cat crawl.err)"
kill -KILL $crawler
wait $crawler || :
rm web/127.0.0.1/slow.html.after
echo "nobody /asks" >>log # the server lets the one go that waits
forget
resume killed
ended 0
grep -E '^127.0.0.1 /slow.html Cookie: ' log.headers | grep -q 'sid=fr3sh' || fail "$(cat log.headers)"

# ---- cookie walls --------------------------------------------------------------------

# /self leads to itself until its cookie comes back, /round over another URL,
# and /never whatever comes; --cookies needs no file.
cat >wall.py <<'END'
import http.server

class Wall(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        path, has = self.path, self.headers.get('Cookie', '')
        with open('wall.log', 'a') as f:
            f.write('%s %s\n' % (path, has))
        to = cookie = None
        own = path[1:] + '=1'
        if path == '/never' or (path == '/self' and own not in has):
            to, cookie = path, own
        if path == '/round' and 'seen=1' not in has:
            to = '/round?set'
        if path == '/round?set':
            to, cookie = '/round', 'seen=1'
        body = b'<title>behind it</title>' if to is None else b''
        self.send_response(200 if to is None else 302)
        self.send_header('Content-Type', 'text/html')
        self.send_header('Content-Length', str(len(body)))
        if to is not None:
            self.send_header('Location', to)
        if cookie is not None:
            self.send_header('Set-Cookie', cookie)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass

server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Wall)
print(server.server_address[1], flush=True)
server.serve_forever()
END
behind wall wall.err python3 wall.py
walls=$!
waits_for '[ -s wall ]' || fail "no server: $(cat wall.err)"
wall=http://127.0.0.1:$(cat wall)
printf "$wall%s\n" /self /round /never >wall.seeds
# shellcheck disable=SC2086
exits 5 "$URLWEIR" crawl -i wall.seeds -o walls $quick --sitemap off --cookies --robots off --jsonl walls.jsonl
# came_of PATH STATUS REASON
came_of() {
    grep -F "\"url\": \"$wall$1\"" walls.jsonl | tail -n 1 | grep -F "\"status\": \"$2\"" | grep -qF "\"reason\": $3" ||
        fail "$1 is not $2 $3: $(cat walls.jsonl)"
}
came_of /self fetched null
came_of /round fetched null
came_of '/round?set' redirect null
came_of /never redirect '"redirect_loop"'
[ "$(grep -c '^/self ' wall.log)" = 2 ] || fail "$(cat wall.log)"
[ "$(grep -c '^/round ' wall.log)" = 2 ] || fail "$(cat wall.log)"
[ "$(grep -c '^/never ' wall.log)" = 2 ] || fail "$(cat wall.log)"
exits 0 "$URLWEIR" verify walls
agrees walls
# Without them both are loops; the option may stand before a URL.
# shellcheck disable=SC2086
exits 5 "$URLWEIR" crawl "$wall/self" "$wall/round" -o nowall $quick --sitemap off --robots off --jsonl nowall.jsonl
[ "$(grep -c redirect_loop nowall.jsonl)" = 2 ] || fail "$(cat nowall.jsonl)"
# shellcheck disable=SC2086
exits 0 "$URLWEIR" crawl $quick --sitemap off --robots off -o before --cookies "$wall/round"
kill "$walls" && wait "$walls" || :

# ---- client certificates -----------------------------------------------------------

forget
echo "<a href=https://127.0.0.2:$tls/page.html>x</a>" >tls/web/127.0.0.1/who.html
seed=https://127.0.0.1:$tls/who.html
crawl cert --scope any --cacert ca.pem --cert crawler.pem --key crawler.key
ended 0
has tls/log.headers 127.0.0.1 /who.html 'Client-Certificate: crawler'
has tls/log.headers 127.0.0.1 /robots.txt 'Client-Certificate: crawler'
asked_tls=$(grep -c '127.0.0.2 /page.html' tls/log)
[ "$asked_tls" = 1 ] || fail "not asked"
lacks -E tls/log.headers '^127\.0\.0\.2 .*Client-Certificate' sent
crawl untrusted --robots off # without --cacert nobody vouches for the server
ended 5
exits 2 "$URLWEIR" crawl "$seed" -o nocert --cert nothere.pem $quick
says err '--cert: nothere.pem: not found'
exits 1 "$URLWEIR" crawl "$seed" -o nokey --cert ca.pem $quick
says err "so it is not a PEM file of that kind"
exits 1 "$URLWEIR" crawl "$seed" -o key --key crawler.key $quick
says err '--key is the key of the certificate of --cert, which is missing'

# ---- what is refused, without showing it ----------------------------------------------

for bad in '--auth s3cr3t' '--auth h=s3cr3t' '--auth *=a:s3cr3t' '--bearer s3cr3t' \
    '--bearer http://a/b=s3cr3t' '--header-host s3cr3t:' '--header-host ftp://a=X:s3cr3t' \
    '--header-host *=Cookie:s3cr3t' '--header-host a=Host:s3cr3t' '-H Cookie:s3cr3t'; do
    # shellcheck disable=SC2086
    exits 1 "$URLWEIR" crawl "$seed" -o refused $bad
    cat out err >shown
    lacks shown s3cr3t "$bad shows it"
done

# ---- over HTTP: what was said is kept, and never told again -------------------------

forget
start_service 127.0.0.1:0
seed=http://127.0.0.1:$plain/
cat >api.py <<'END'
import json, sys, time, urllib.request
base, seed, out = sys.argv[1:4]

def call(method, path, body=None):
    data = json.dumps(body).encode() if body is not None else None
    request = urllib.request.Request(base + path, data, method=method,
                                     headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            text = answer.read().decode()
    except urllib.error.HTTPError as error:
        text = error.read().decode()
    out.write("%s %s\n%s\n" % (method, path, text))
    return json.loads(text) if text.startswith("{") and "export" not in path else {}

with open(out, "w") as out:
    call("POST", "/v1/crawls", {"name": "a", "seeds": [seed.replace("//", "//api:p4ss@")],
         "settings": {"scope": "any", "allow-private": True, "delay": "0", "sitemap": "off",
                      "header": ["X-Api: h3ader"], "limit": 3, "min-disk": "0"}})
    call("POST", "/v1/crawls", {"name": "b", "seeds": [seed], "settings": {"auth": ["p4ss"]}})
    call("POST", "/v1/crawls/a/seeds", {"urls": [seed.replace("//", "//api:p4ss@")]})
    for i in range(100):
        if call("GET", "/v1/crawls/a").get("pages", 0) >= 1:
            break
        time.sleep(0.1)
    call("PATCH", "/v1/crawls/a/settings", {"max-body": "1M", "header": ["X-Api: h3ader2"]})
    call("POST", "/v1/crawls/a/stop", {})
    call("PATCH", "/v1/crawls/a/settings", {"header": ["X-Api: h3ader2"]})
    for path in ("", "/settings", "/recent", "/hosts"):
        call("GET", "/v1/crawls/a" + path)
    for path in ("/status", "/export"):
        call("POST", "/v1/crawls/a" + path, {})
    call("GET", "/metrics")
END
python3 api.py "http://$http" "$seed" told || fail "api: $(cat serve.err)"
stop TERM 0
has log.headers 127.0.0.1 / "Authorization: Basic $(printf 'api:p4ss' | openssl base64)"
has log.headers 127.0.0.1 / "X-Api: h3ader"
grep -q '"header", *"before": *null\|"name":"header"' told || fail "not changed: $(cat told)"
cat told serve.err serve.out >shown
lacks -E shown 'p4ss|h3ader' "told"
grep -rlE 'p4ss|h3ader' d >where || :
[ "$(cat where)" = d/crawls/a/urlweir-secrets.yaml ] || fail "stands in: $(cat where)"
[ "$(stat -c %a d/crawls/a/urlweir-secrets.yaml)" = 600 ] || fail "others can read it"
grep -q h3ader2 d/crawls/a/urlweir-secrets.yaml || fail "a change was forgotten"
grep -q p4ss d/crawls/a/urlweir-secrets.yaml || fail "the login was forgotten"
