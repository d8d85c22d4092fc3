#!/bin/sh
# The shell steers a running crawl through its directory: pause, unpause, seed,
# block, delay, limit, set, stop. It does the same for a crawl within a service, by
# directory and by URL. Only the directory's owner gets in; --metrics can only
# be read.
set -eu
. "$TOP/tests/cli/lib.sh"

# starts COMMAND OPTION...: in the background, $pid.
starts() {
    behind crawl.out crawl.err "$URLWEIR" "$@"
    pid=$!
}
ends() {
    status=0
    wait "$pid" || status=$?
}
# asks / asks_not [ADDRESS]: something arrives, or, what was under way aside,
# nothing in a whole second: five times as long as a delay.
asks() {
    before=$(arrivals "$@")
    waits_for "[ \$(arrivals $*) -gt $before ]" || fail "$* is not asked"
}
asks_not() {
    waits_for "is_quiet $*" 5 || fail "$* is asked"
}
# cpu: of the process so far, in hundredths of a second.
cpu() { awk '{ print $14 + $15 }' "/proc/$pid/stat"; }
# steer WORD...: done.
steer() { exits 0 "$URLWEIR" "$@"; }
# takes_commands DIR: it runs, and answers.
takes_commands() {
    waits_for "\"\$URLWEIR\" unpause $1 >out 2>err" || fail "$1: $(cat err; tail -c 500 crawl.err)"
}
# get SOCKET PATH [JSON, by POST] / http ADDRESS PATH [GET]: the answer's status, the body in ./body.
get() {
    curl -s -o body -w '%{http_code}\n' --unix-socket "$1" \
        ${3:+-H 'Content-Type: application/json' -d "$3"} "http://localhost$2"
}
http() {
    if [ $# = 3 ]; then
        set -- "$1$2"
    else
        set -- "$1$2" -H 'Content-Type: application/json' -d '{}'
    fi
    curl -s -o body -w '%{http_code}\n' --max-time 10 "http://$@"
}

# ---- a crawl of its own ----------------------------------------------------------

serve --hosts 4 --pages 3000 --size 500 --latency 5 --seed 91
slow="--scope any --allow-private --sitemap off --delay 200ms --retry-delay 50ms
    --min-disk 0 --checkpoint 1s --progress bar"
# shellcheck disable=SC2086
starts crawl "$seed" -o d $slow
takes_commands d
asks
[ "$(stat -c %a d/control)" = 600 ] || fail "others may use the socket"

steer pause d
says out "d: paused; "
asks_not
used=$(cpu)
sleep 1 # of which it may compute a quarter
[ $(($(cpu) - used)) -lt 25 ] || fail "it works while it is paused: $(cpu) - $used"
steer status d
says out "d: paused (process $pid)"
steer status d --json
[ "$(json state <out)" = paused ] || fail "status --json: $(cat out)"
waits_for 'grep -qF "paused hint=\"urlweir unpause d\"" crawl.err' || fail "it does not say so"
waits_for 'grep -q "page.*  paused  " crawl.err' || fail "the live line does not say paused"
steer pause d --json # twice is once
[ "$(json state <out)" = paused ] || fail "pause --json: $(cat out)"
exits 2 "$URLWEIR" resume d
says err "process $pid"
steer unpause d
says out "d: running; "
asks
waits_for 'grep -q "goes on after a pause" crawl.err' || fail "it does not say so"

steer block d 127.0.0.2 --for 1h
says out "d: 127.0.0.2 is blocked until "
asks_not 127.0.0.2
asks 127.0.0.3
steer status d --hosts
grep -qE '127.0.0.2, blocked: waits (1h00|5.)m' out || fail "status does not tell the block: $(cat out)"
steer block d "http://127.0.0.2:$port/x" --off
asks 127.0.0.2

steer limit d 127.0.0.2 1
says out "d: 127.0.0.2 is limited to 1 URL"
asks_not 127.0.0.2
asks 127.0.0.3
steer status d --hosts
grep -q '127.0.0.2, limit 1: ' out || fail "status does not tell the limit: $(cat out)"
steer limit d 127.0.0.2 none
asks 127.0.0.2

steer delay d 127.0.0.3 0.8
mark
waits_for '[ "$(gaps 127.0.0.3 | wc -l)" -ge 3 ]' || fail "127.0.0.3 is not asked"
gaps 127.0.0.3 >between
awk '$1 < 800 { exit 1 }' between || fail "delay 0.8: $(cat between)"
steer delay d 127.0.0.3 default
mark
waits_for 'gaps 127.0.0.3 | awk "\$1 < 800 { found = 1 } END { exit !found }"' ||
    fail "the delay stays"

steer set d exclude=/nowhere/ exclude=/never/ delay=210ms
says out 'exclude: [], now ["/nowhere/","/never/"]'
says out 'delay: 200ms, now 210ms'
steer set d exclude= delay=200ms --json
says out '"after": []'
exits 1 "$URLWEIR" set d delay
exits 2 "$URLWEIR" set d delay=3s timeout=3s
says err 'timeout: it cannot change while the crawl runs'
steer set d delay=200ms
says out 'nothing has changed'

# (A host of its own, as a seed waits in its queue like others.)
mkdir more
echo '<title>new</title>' >more/new.html
behind more.port more.err "$SITE" files more=127.0.0.77 --log more.log --max-time "$LIMIT"
waits_for 'grep -q "^port" more.port' || fail "no second server"
new=http://127.0.0.77:$(sed 's/port //' more.port)/new.html
exits 5 "$URLWEIR" seed d "$new" "$seed" mailto:x
printf 'failed\tmailto:x\tonly http and https are crawled\nok\t%s\nskipped\t%s\n' "$new" "$seed" >want
cut -f 1-3 out | sed 's/^skipped\t\([^\t]*\)\t.*/skipped\t\1/' | diff want - || fail "seed"
waits_for 'grep -q "/new.html" more.log' || fail "the seed is not fetched"

# Its own directory is read meanwhile, and it keeps its lock.
for path in status export audit; do
    [ "$(get d/control "/v1/crawls/DEFAULT/$path" '{}')" = 200 ] || fail "$path: $(cat body)"
done
[ "$(get d/control /v1/crawls/DEFAULT/explain "{\"url\": \"$seed\"}")" = 200 ] ||
    fail "explain: $(cat body)"
exits 2 "$URLWEIR" resume d
says err "process $pid"

steer stop d
says out "d: stopped; "
says out "go on with \`urlweir resume d\`"
ends
ended 4 "urlweir stop"
says crawl.err 'by="urlweir stop"'
[ ! -e d/control ] || fail "the socket stays"
exits 2 "$URLWEIR" stop d
says err "no crawl runs in d; go on with \`urlweir resume d\`"
agrees d

# ---- no socket: a warning, and a crawl -----------------------------------------------

# (A page held back keeps it from ending before it was looked at.)
mkdir -p odd/control
: >odd/urlweir-settings.yaml
hold
# shellcheck disable=SC2086
starts crawl "$seed" "$held" -o odd $slow --delay 0
waits_for 'grep -q "cannot make a control socket; the crawl goes on without it" crawl.err' || fail "no warning: $(cat crawl.err)"
exits 2 "$URLWEIR" pause odd
says err "process $pid has odd and takes no commands"
release
ends
ended 0 "without a socket"
# Where there is an HTTP address, the lock leads there.
mkdir -p odd2/control
: >odd2/urlweir-settings.yaml
hold
# shellcheck disable=SC2086
starts crawl "$seed" "$held" -o odd2 $slow --delay 0 --metrics 127.0.0.1:0
waits_for '"$URLWEIR" pause odd2 2>&1 | grep -q "may not be done there"' ||
    fail "no way by the lock: $(cat odd2/lock)"
release
ends
ended 0

# ---- another user ---------------------------------------------------------------------

if [ "$(id -u)" = 0 ]; then
    open=$(mktemp -d /tmp/urlweir-steer.XXXXXX)
    at_exit="$at_exit; rm -rf $open"
    chmod 755 "$open"
    # shellcheck disable=SC2086
    starts crawl "$seed" -o "$open/d" $slow --delay 2s
    takes_commands "$open/d"
    cp "$URLWEIR" "$open/urlweir"
    exits 2 setpriv --reuid 65534 --regid 65534 --clear-groups "$open/urlweir" pause "$open/d"
    says err "another user"
    steer stop "$open/d"
    ends
else
    leaves_out "commands of another user, as whom only root can run"
fi

# ---- --metrics -------------------------------------------------------------------------

# shellcheck disable=SC2086
starts crawl "$seed" -o m $slow --delay 2s --metrics 127.0.0.1:0
takes_commands m
at=$(sed -n 's/^urlweir crawl: HTTP on //p' crawl.err)
says m/lock "$pid crawl http=$at"
[ "$(http "$at" /metrics GET)" = 200 ] || fail "metrics: $(cat body)"
awk '/^#/ { next }
    !/^urlweir_[a-z0-9_]+({[^}]*})? [-+0-9.e]+$/ { print; bad = 1 }
    /^urlweir_crawl/ { n++ }
    END { exit bad || n < 5 }' body || fail "metrics"
[ "$(http "$at" /healthz GET)" = 200 ] || fail "healthz: $(cat body)"
[ "$(http "$at" /v1/crawls GET)" = 200 ] || fail "crawls: $(cat body)"
for path in /v1/crawls/DEFAULT/pause /v1/crawls/DEFAULT/stop /v1/crawls/DEFAULT/seeds \
    /v1/queues/block /v1/crawls; do
    [ "$(http "$at" $path)" = 403 ] || fail "$path is not refused: $(cat body)"
done
exits 2 "$URLWEIR" pause "http://$at"
says err "that may not be done there"
asks
exits 2 "$URLWEIR" crawl "$seed" -o taken --allow-private --metrics "$at"
says err "--metrics $at cannot be served"
[ ! -e taken/frontier.db ] || fail "a crawl was begun all the same"
exits 1 "$URLWEIR" crawl "$seed" -o taken --metrics 0.0.0.0:0
says err "--metrics-open"
steer stop m
ends
ended 4
serve_no_more

# ---- crawls of a service, by directory and by URL ------------------------------------------

serve --hosts 3 --pages 3000 --links 8 --size 300 --seed 92
for name in news shop; do
    host=$([ $name = news ] && echo 127.0.0.1 || echo 127.0.0.2)
    first=$(sed -n "s,^\(http://$host:[^	]*\)	fetch.*,\1,p" truth | head -n 1)
    cat >$name.yaml <<END
seeds: ['$first']
allow-private: true
sitemap: off
delay: 200ms
min-disk: 0
END
done
for role in read write admin; do echo "$role 0123456789abcdef-$role"; done >tokens
for role in read write; do grep $role tokens >token-$role; done
starts serve svc --listen 127.0.0.1:0 --http 127.0.0.1:0 --token-file tokens \
    --crawl news.yaml --crawl shop.yaml
waits_for 'grep -q "listening on" crawl.err' || fail "no service: $(cat crawl.err)"
url=http://$(sed -n 's/.*HTTP on //p' crawl.err)
says svc/lock "$pid serve http=${url#http://}"
asks 127.0.0.1
asks 127.0.0.2

exits 1 "$URLWEIR" pause svc
says err "there are 2 crawls; choose one with --crawl NAME: news, shop"
steer pause svc --crawl news
says out "news: paused; "
asks_not 127.0.0.1
asks 127.0.0.2
steer pause svc/crawls/shop
says out "shop: paused; "
steer status svc/crawls/shop
says out "shop: paused"
steer unpause svc --all --json
[ "$(grep -c '"running"' out)" = 2 ] || fail "unpause --all: $(cat out)"
asks 127.0.0.1
asks 127.0.0.2

exits 2 "$URLWEIR" pause "$url" --crawl news
says err "requires a token; give --token-file FILE, or set URLWEIR_TOKEN"
exits 2 "$URLWEIR" pause "$url" --crawl news --token-file token-read
says err "the token does not allow that: this needs a token with the role write"
exits 2 "$URLWEIR" block "$url" 127.0.0.1 --for 1h --crawl news --token-file token-read
asks 127.0.0.1
steer pause "$url" --crawl news --token-file token-write
asks_not 127.0.0.1
URLWEIR_TOKEN=0123456789abcdef-write steer unpause "$url" --crawl news
asks 127.0.0.1
steer block "$url" 127.0.0.1 --for 1h --crawl news --token-file tokens
says out "news: 127.0.0.1 is blocked until "
steer block svc 127.0.0.1 --off --crawl news
# A seed opens the scope to its host, which has had no request before.
[ "$(arrivals 127.0.0.3)" = 0 ] || fail "out of scope"
steer seed svc "http://127.0.0.3:$port/not/linked" --crawl news
says out "ok	http://127.0.0.3:$port/not/linked"
waits_for 'grep -q "/not/linked" log' || fail "the seed is not fetched"

steer stop svc --crawl news
says out "news: stopped; "
says out "; go on with \`urlweir resume svc --crawl news\`"
asks_not 127.0.0.1
asks 127.0.0.2
steer resume svc --crawl news
says out "news: "
asks 127.0.0.1
steer stop "$url" --crawl news --token-file token-write
says out "; go on with \`urlweir resume $url --crawl news\`"
exits 2 "$URLWEIR" resume "$url" --crawl news --token-file token-read
steer resume svc --all
asks 127.0.0.1
asks 127.0.0.2
steer stop svc --crawl news
exits 2 "$URLWEIR" pause svc --crawl news
says err "the crawl is stopped"
steer stop svc --all
says out "shop: stopped; "
kill -0 "$pid" || fail "the service has ended"
kill -TERM "$pid"
ends
ended 0 "the service"
exits 2 "$URLWEIR" stop svc
says err "no service runs in svc; start it with \`urlweir serve svc\`"
serve_no_more

# A service without crawls of its own is ended by a signal, and its frontier is
# steered all the same.
starts serve plain --listen 127.0.0.1:0 --http none
waits_for 'grep -q "listening on" crawl.err' || fail "no service: $(cat crawl.err)"
exits 2 "$URLWEIR" stop plain
says err "runs no crawl of its own"
says err "\`kill $pid\` ends it"
exits 2 "$URLWEIR" block plain example.org --for 1h
says err "there is no crawl DEFAULT"
[ "$(get plain/control /v1/urls '{"url": "http://example.org/"}')" = 200 ] || fail "$(cat body)"
steer block plain example.org --for 1h
says out "DEFAULT: example.org is blocked until "
[ "$(get plain/control '/v1/url?url=http://example.org/')" = 200 ] || fail "$(cat body)"
grep -q '"blocked_until":"20' body || fail "not blocked: $(cat body)"
kill -TERM "$pid"
ends
ended 0
