#!/bin/sh
# The commands that steer a crawl trust no response: a server that responds
# wrongly, endlessly or not at all costs one message and a bounded time. If
# nothing listens, the token is missing or the URL is wrong, the message says
# what to do.
# Promise (The service): the steering commands trust no response: each is
#   bounded, escaped and has a time-out; an error is one sentence that says
#   what to do.
set -eu
. "$TOP/tests/cli/lib.sh"

# answers MODE [tcp]: as tests/support/control_server.py has it, in ./d; $url.
answers() {
    mkdir -p d
    rm -f requests
    behind answerer.out answerer.err python3 "$TOP/tests/support/control_server.py" \
        "${2:-d}" "$1"
    answerer=$!
    waits_for '[ -s answerer.out ]' || fail "no answerer: $(cat answerer.err)"
    url=http://127.0.0.1:$(cat answerer.out)
}
answers_no_more() {
    kill $answerer
    wait $answerer 2>/dev/null || :
}
# refused_as MODE STATUS TEXT [COMMAND ARG...]
refused_as() {
    answers "$1"
    mode=$1 want=$2 text=$3
    shift 3
    [ $# -gt 0 ] || set -- pause d
    exits "$want" "$URLWEIR" "$@"
    says err "urlweir $1: "
    says err "$text"
    [ "$(wc -l <err)" = 1 ] || fail "$mode: more than one sentence: $(cat err)"
    lacks err "$(printf '\033')" "$mode: an escape"
    answers_no_more
}

# ---- nobody there ---------------------------------------------------------------

exits 2 "$URLWEIR" pause nowhere
says err "there is no directory nowhere"
mkdir empty
exits 2 "$URLWEIR" stop empty
says err "no crawl in empty"
mkdir ended
touch ended/urlweir-settings.yaml ended/frontier.db ended/lock
exits 2 "$URLWEIR" pause ended
says err "no crawl runs in ended; go on with \`urlweir resume ended\`"
rm ended/urlweir-settings.yaml
exits 2 "$URLWEIR" pause ended
says err "no service runs in ended; start it with \`urlweir serve ended\`"
exits 2 "$URLWEIR" pause http://127.0.0.1:1
says err "cannot be reached"

# ---- usage -----------------------------------------------------------------------

exits 1 "$URLWEIR" pause
exits 1 "$URLWEIR" seed d
says err "no seed: give URLs, or -i FILE"
exits 1 "$URLWEIR" block d example.org
says err "how long? Give one of --for TIME, --until MOMENT and --off"
exits 1 "$URLWEIR" block d example.org --for 1h --off
exits 1 "$URLWEIR" block d example.org --until 2020-01-01T00:00:00Z
says err "--until '2020-01-01T00:00:00Z' is past; --off ends a block"
exits 1 "$URLWEIR" block d example.org --until tomorrow
says err "--until 'tomorrow' is not a moment"
exits 1 "$URLWEIR" delay d example.org fast
says err "'fast' is neither a time"
for n in 0 4294967296 many ''; do
    exits 1 "$URLWEIR" limit d example.org "$n"
    says err "'$n' is neither a number of URLs"
done
exits 1 "$URLWEIR" pause d --all --crawl news
exits 1 "$URLWEIR" pause http://user:secret@127.0.0.1:1
says err "--token-file"
lacks err secret "the password is shown"
exits 1 "$URLWEIR" pause 'http://127.0.0.1:1/?x'
exits 1 "$URLWEIR" pause 'http://'

# ---- whoever answers ----------------------------------------------------------------

answers ok
exits 0 "$URLWEIR" pause d
says out "d: paused; 1,200 pages, 7 URLs queued"
says requests "POST /v1/crawls/news/pause HTTP/1.1; no token; {}"
exits 0 "$URLWEIR" pause d --json
[ "$(json state <out)" = paused ] || fail "no JSON: $(cat out)"
exits 0 "$URLWEIR" block d http://Example.ORG:8080/x --until 2099-01-01T00:00:00Z
says out "example.org is blocked until 2099-01-01T00:00:00Z"
says requests '{"crawl":"news","key":"example.org","until":"2099-01-01T00:00:00Z"}'
exits 0 "$URLWEIR" block d example.org --until 2099-01-01T01:30:00.5+01:30
says requests '{"crawl":"news","key":"example.org","until":"2099-01-01T00:00:01Z"}'
exits 0 "$URLWEIR" block d example.org --off --json
says requests '"until":null}'
exits 0 "$URLWEIR" delay d example.org 1.5s
says requests '"delay_seconds":1.5}'
exits 0 "$URLWEIR" delay d example.org 90s
says requests '"delay_seconds":90}'
exits 0 "$URLWEIR" delay d example.org default
says requests '"delay_seconds":null}'
exits 0 "$URLWEIR" limit d example.org 4294967295 --json
says requests "POST /v1/queues/limit"
says requests '"limit":4294967295}'
[ "$(json limit <out)" = 4294967295 ] || fail "no JSON: $(cat out)"
exits 0 "$URLWEIR" limit d example.org none
says out "example.org is limited no longer"
says requests '"limit":0}'
exits 1 "$URLWEIR" delay d '' 1
says err "'' is not a host"
exits 2 "$URLWEIR" block d nowhere.example --for 1h
says err "d has no URL of nowhere.example yet, so there is nothing to change"
says requests "GET /v1/stats?crawl=news&key=nowhere.example"
# A path that is longer than an address of a Unix socket.
long=$(printf '%0200d' 0)
mkdir -p "$long"
ln -s "$(pwd)/d/lock" "$long/lock"
ln -s "$(pwd)/d/control" "$long/control"
exits 0 "$URLWEIR" pause "$long"
# URLWEIR_TOKEN and the environment's proxy are not for the socket.
http_proxy=http://127.0.0.1:1 URLWEIR_TOKEN=0123456789abcdef exits 0 "$URLWEIR" pause d
lacks requests Bearer "a token went to the socket"
answers_no_more
exits 2 "$URLWEIR" pause d # the socket is there, and nobody behind it
says err "no crawl in d"

refused_as none 2 "runs no crawl of its own"

answers two
exits 1 "$URLWEIR" pause d
says err "there are 2 crawls; choose one with --crawl NAME: news, shop"
exits 2 "$URLWEIR" pause d --crawl DEFAULT
says err "there is no crawl DEFAULT; there are: news, shop"
exits 0 "$URLWEIR" pause d --crawl shop
says requests "POST /v1/crawls/shop/pause"
exits 0 "$URLWEIR" pause d --all --json
[ "$(grep -c '"name"' out)" = 2 ] || fail "--all: $(cat out)"
exits 0 "$URLWEIR" block d example.org --for 1h --crawl DEFAULT
answers_no_more

answers odd
exits 0 "$URLWEIR" pause d
says requests "POST /v1/crawls/a%1B%5B2J%0A%2F%25/pause"
lacks out "$(printf '\033')" "an escape on stdout"
answers_no_more

refused_as conflict 2 "the crawl is stopped"
refused_as escape 1 'red\x0aline'
refused_as html 2 "is not urlweir: it answered with HTTP status 404"
refused_as garbage 2 "its answer is not JSON"
refused_as array 2 "its answer is not JSON"
refused_as moved 2 "HTTP status 302"
refused_as nothttp 2 "does not speak HTTP"
refused_as close 2 "ended before it answered"
refused_as half 2 "ended before it answered"
refused_as slow 2 "did not answer within 0.3 s" pause d --timeout 300ms
refused_as endless 2 "sent an answer of more than 16 MiB"

# ---- seeds -----------------------------------------------------------------------------

answers seeds
exits 5 "$URLWEIR" seed d http://a/ mailto:x http://B/
printf 'failed\tmailto:x\tonly http and https are crawled\nok\thttp://a/\nfailed\thttp://b/\\x09\\x1b\tno\\x07\n' |
    diff - out || fail "not those lines"
says requests '{"urls":["http://a/","http://b/"]}'
seq 2500 | sed 's,^,http://a/,' | "$URLWEIR" seed d -i - >out 2>err && fail "no 5" || [ $? = 5 ] || fail "$(cat err)"
[ "$(grep -c '^POST' requests)" = 4 ] || fail "not in batches of 1000"
exits 5 "$URLWEIR" seed d http://a/ --json
says out '{"status":"ok","url":"http://a/"}'
exits 2 "$URLWEIR" seed d -i nofile
says err "cannot read seeds from nofile"
answers_no_more

# ---- tokens, to a URL --------------------------------------------------------------------

answers token tcp
exits 2 "$URLWEIR" pause "$url/"
says err "requires a token; give --token-file FILE, or set URLWEIR_TOKEN"
printf '# mine\nread 0123456789-read\nadmin 0123456789-admin\nwrite 0123456789-write\n' >tokens
exits 2 "$URLWEIR" pause "$url" --token-file tokens
says err "does not know this token"
says requests "Authorization: Bearer 0123456789-admin"
echo 0123456789-alone >alone
exits 2 "$URLWEIR" pause "$url" --token-file alone
says requests "Authorization: Bearer 0123456789-alone"
URLWEIR_TOKEN=0123456789-env exits 2 "$URLWEIR" pause "$url"
says requests "Authorization: Bearer 0123456789-env"
: >blank
exits 2 "$URLWEIR" pause "$url" --token-file blank
says err "it holds no token"
exits 2 "$URLWEIR" pause "$url" --token-file none
answers_no_more
answers role tcp
exits 2 "$URLWEIR" pause "$url" --token-file alone
says err "the token does not allow that: this needs a token with the role write"
answers_no_more
