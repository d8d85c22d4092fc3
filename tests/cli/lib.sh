# What the scripts of tests/cli share; read with `. "$TOP/tests/cli/lib.sh"`.

fail() {
    echo "FAILED: $*"
    exit 1
}

# Ends the script as skipped, for this reason: a right or a feature of the kernel
# that is missing. (Commands are not: tools/install-deps.sh installs them.)
skip() {
    echo "$*"
    exit 77
}
# A part of the script that is skipped, and why.
leaves_out() { echo "$*" | tee -a "$LEFT_OUT"; }

# exits STATUS COMMAND ARG...: run it, output to ./out and ./err.
exits() {
    exits_want=$1
    shift
    exits_got=0
    "$@" >out 2>err </dev/null || exits_got=$?
    [ "$exits_got" = "$exits_want" ] || {
        cat out err
        fail "status $exits_got instead of $exits_want: $*"
    }
}

# says FILE TEXT: the file holds the text, all in one line.
says() {
    grep -qF -- "$2" "$1" || {
        cat "$1"
        fail "$1 does not say: $2"
    }
}

# reads COMMAND: `check` and `refused` run it, with ./in as its input.
reads() { reading=$1; }
# check WHAT STATUS ARG...: it prints what ./want says.
check() {
    checked=$1 check_want=$2 check_got=0
    shift 2
    "$URLWEIR" "$reading" "$@" <in >out 2>err || check_got=$?
    [ $check_got = "$check_want" ] || fail "$checked: status $check_got: $(cat err)"
    cmp -s want out || fail "$checked: other output: $(diff want out | head -n 5)"
}
# refused WHAT SAYS ARG...: it prints nothing and says that.
refused() {
    refused_says=$2 refused_what=$1
    shift 2
    : >want
    check "$refused_what" 1 "$@"
    says err "$refused_says"
}

# lacks [-GREP_OPTIONS] FILE PATTERN [WORD...]: no line of the file matches. It is
# not empty, as one is that no command has written.
lacks() {
    lacks_how=-G lacks_status=0
    case $1 in -*) lacks_how=$1 && shift ;; esac
    [ -s "$1" ] || fail "$1 has nothing at all, so it lacks anything: $2"
    grep -a "$lacks_how" -- "$2" "$1" >lacks.found || lacks_status=$?
    [ $lacks_status = 1 ] || fail "$(shift 2 && echo "$*"): $1 has: $(cat lacks.found)"
}

# ---- crawls of the test web --------------------------------------------------
#
# In $WORK: `log`, each arrival at the server; `truth`, what a crawl should do;
# `crawl.out` and `crawl.err` of the last crawl.

# Commands for the script's end, whatever comes of them. What it still has in the
# background ends with it: the children it has by then, not numbers noted before,
# which may be others' by now.
at_exit=:
trap 'set +e; eval "$at_exit" 2>/dev/null; pkill -KILL -P $$' EXIT

# serve SITE_OPTION...: the test web in the background, its $port, its $seed,
# its truth.
serve() {
    web=$*
    rm -f log
    # shellcheck disable=SC2086
    behind port site.err "$SITE" serve $web --log log --max-time "${LIMIT:-600}"
    server=$!
    waits_for 'grep -q "^port" port' || fail "no server: $(cat site.err)"
    port=$(sed 's/port //' port)
    seed=http://127.0.0.1:$port/
    "$SITE" truth $web --port "$port" >truth
}

# serve_files DIR [ADDRESS,... [OPTION...]]: its files at http://127.0.0.1:$port/,
# or at these addresses, in the background.
serve_files() {
    files=$1=${2:-127.0.0.1}
    shift $(($# < 2 ? $# : 2))
    rm -f log
    behind port site.err "$SITE" files "$files" "$@" --log log --max-time "${LIMIT:-600}"
    server=$!
    waits_for 'grep -q "^port" port' || fail "no server: $(cat site.err)"
    port=$(sed 's/port //' port)
    seed=http://127.0.0.1:$port/
}

# plain_site ADDRESS...: the files of ./web/ADDRESS there (plain_site.py), $port,
# $seed; `log` says who was asked for what.
plain_site() {
    rm -f log log.times
    behind port site.err python3 "$TOP/tests/support/plain_site.py" web log "$@"
    server=$!
    waits_for 'grep -q "^port" port' || fail "no server: $(cat site.err)"
    port=$(sed 's/port //' port)
    seed=http://$1:$port/
}

# serve_http2: ./www at https://localhost:$port/ by nghttpd, with cert.pem of its
# own; ./server.log. Until nghttpd has the port a socket that does not listen
# keeps it from others, and so it is free to nobody else in between.
serve_http2() {
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes \
        -keyout key.pem -out cert.pem -days 2 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost 2>openssl.err ||
        fail "openssl: $(cat openssl.err)"
    behind server.log server.err python3 -c 'import os, socket
keeper = socket.socket()
keeper.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
keeper.bind(("127.0.0.1", 0))
keeper.set_inheritable(True)
port = str(keeper.getsockname()[1])
print("port", port, flush=True)
os.execvp("nghttpd", ["nghttpd", "--verbose", "-a", "127.0.0.1", "--htdocs=www",
                      port, "key.pem", "cert.pem"])'
    waits_for 'grep -q listen server.log' || fail "no server: $(cat server.log server.err)"
    port=$(sed -n 's/^port //p' server.log)
}

# serve_hostile WHAT [SEED COUNT]: $port of hostile_web.py, each request in `log`.
serve_hostile() {
    : >log
    : >port
    behind port.out site.err python3 "$TOP/tests/support/hostile_web.py" port log "$@"
    server=$!
    waits_for 'grep -q "^port" port' || fail "no server: $(cat site.err)"
    port=$(sed 's/port //' port)
    seed=http://127.0.0.1:$port/
}
hostile_no_more() {
    kill "$server" 2>/dev/null || fail "the server ended: $(cat site.err)"
    wait "$server" 2>/dev/null || :
}

# pages ADDRESS PATH...: an empty page at each.
pages() {
    at=web/$1
    shift
    for path in "$@"; do
        mkdir -p "$at$(dirname "$path")"
        echo "<title>$path</title>" >"$at$path"
    done
}

# asked ADDRESS PATH / not_asked: it was requested exactly once, or never.
asked() {
    [ "$(grep -cxF "$1 $2" log)" = 1 ] || fail "$(cat log crawl.err)
asked for $1 $2 not once"
}
not_asked() {
    lacks -xF log "$1 $2" "asked for"
}

# A web of seven URLs for what is shown of a crawl: pages that link to each
# other, one that robots.txt denies, one that is not there; links dropped.
small_web() {
    mkdir -p web/private
    cat >web/robots.txt <<'END'
User-agent: *
Disallow: /private/
END
    cat >web/index.html <<'END'
<html lang=en><title>He said "hi", twice</title>
<a href=a.html>a</a> <a href=c,omma.html>c</a> <a href=missing.html>m</a>
<a href=private/x.html>p</a> <a href=a.html>again</a>
<a href=http://other.invalid/>out of scope</a>
<a rel=nofollow href=b.html>not followed here</a> <img src=p.png>
END
    echo '<title>A</title><a href=/>up</a><a href=b.html>b</a>' >web/a.html
    echo '<title>B</title><a href=a.html>a</a>' >web/b.html
    echo '<title>=1+1</title>no link' >web/c,omma.html
    serve_files web
}
small="--scope host --threads 1 --concurrency 1"

# The server ends, and with it the log is whole.
serve_no_more() {
    kill "$server"
    wait "$server" || fail "the server ended badly: $(cat site.err)"
    server=
}

# hold: the URL $held, a page of a server that stands still: a crawl with this
# seed has not ended before `release`, however long the script takes to look at
# it (as long as an answer may take: --timeout).
hold() {
    mkdir -p held
    echo '<title>held</title>' >held/index.html
    behind held.port held.err "$SITE" files held=127.0.0.77 --max-time "${LIMIT:-600}"
    holder=$!
    waits_for 'grep -q "^port" held.port' || fail "no server: $(cat held.err)"
    held=http://127.0.0.77:$(sed 's/port //' held.port)/
    kill -STOP "$holder"
}
release() { kill -CONT "$holder"; }

# behind OUT ERR COMMAND ARG...: the command in the background, as $!. Its files
# are emptied at once: the shell opens them in the child, later, and who waits for
# a word would read those of the process before it.
behind() {
    : >"$1"
    : >"$2"
    behind_out=$1 behind_err=$2
    shift 2
    "$@" >"$behind_out" 2>"$behind_err" </dev/null &
}

# start_service HTTP OPTION...: `urlweir serve d` in the background, $service,
# with HTTP on the address HTTP, or none; $grpc and $http are what it says.
start_service() {
    behind serve.out serve.err "$URLWEIR" serve d --listen 127.0.0.1:0 --http "$@"
    service=$!
    waits_for 'grep -q "listening on" serve.err' || fail "no service: $(cat serve.err)"
    grpc=$(sed -n 's/.*listening on //p' serve.err)
    http=$(sed -n 's/.*HTTP on //p' serve.err)
}
# stop SIGNAL STATUS: the service, which ends with STATUS.
stop() {
    kill "-$1" "$service" || : # its status tells whether it had ended before
    stopped=0
    wait "$service" || stopped=$?
    [ "$stopped" = "$2" ] || fail "ended with $stopped: $(cat serve.err)"
}

# waits_for 'COMMAND' [TENTHS]: until it succeeds, a minute or so at most.
waits_for() {
    waited=0
    until eval "$1"; do
        waited=$((waited + 1))
        [ "$waited" -lt $((${2:-600} * 2)) ] || return 1
        sleep 0.05
    done
}

# What a crawl of the test web needs: loopback addresses, no needless waiting,
# no request for a sitemap that is not there. A script may append to it.
quick="--scope any --allow-private --sitemap off --delay 0 --retry-delay 50ms --max-delay 100ms
    --min-disk 0 --checkpoint 1s --progress none"

# For webs that link anywhere, as random ones do: no address but 127.0.0.0/8 and
# ::1 is asked.
loopback_only="--deny-net 0.0.0.0/2,64.0.0.0/3,96.0.0.0/4,112.0.0.0/5,120.0.0.0/6,124.0.0.0/7
    --deny-net 126.0.0.0/8,128.0.0.0/1,64:ff9b::/96,2000::/3,4000::/2,8000::/1"

# crawl DIR OPTION...; resume DIR OPTION...: the status in $status.
crawl() {
    dir=$1
    shift
    status=0
    # shellcheck disable=SC2086
    "$URLWEIR" crawl "$seed" -o "$dir" $quick "$@" \
        >crawl.out 2>crawl.err </dev/null || status=$?
}
resume() {
    status=0
    "$URLWEIR" resume "$@" --progress none \
        >crawl.out 2>crawl.err </dev/null || status=$?
}

# peak COMMAND...: its status in $status, its peak of resident memory, in KiB,
# in $rss.
peak() {
    status=0
    python3 - "$@" >rss 2>crawl.err <<'PYTHON' || status=$?
import resource, subprocess, sys
status = subprocess.call(sys.argv[1:], stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
sys.exit(status)
PYTHON
    rss=$(cat rss)
}

# ended STATUS: the last crawl has ended so.
ended() {
    [ "$status" = "$1" ] || {
        cat crawl.out crawl.err
        fail "the crawl ended with $status instead of $1${2:+: $2}"
    }
}

# judge CHECK_OPTION...: hold what arrived against the truth.
judge() {
    [ "${server:-}" = "" ] || logged
    "$SITE" check --truth truth --log log "$@" >check.out 2>check.err || {
        cat check.out check.err
        fail "site check $*"
    }
}

# agrees DIR: store, filter and manifest agree, and the filter has no false
# negative.
agrees() {
    exits 0 "$URLWEIR" verify "$1"
    exits 0 "$URLWEIR" audit "$1" --json
    [ "$(json false_negatives <out)" = 0 ] || {
        cat out
        fail "false negatives"
    }
}

# json KEY: the value of a top-level key of an object on stdin.
json() {
    sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\)\"\{0,1\},\{0,1\}$/\1/p"
}

# two_packed: two.gz, two.bz2 and two.zst hold two URLs, http://a/ and http://b/, as
# gzip, bzip2 and zstd made them, two.mark a byte order mark and CRLF.
two_packed() {
    printf 'http://a/\nhttp://b/\n' | gzip >two.gz
    printf '\357\273\277http://a/\r\nhttp://b/\r\n' >two.mark
    {
        printf '\102\132\150\071\061\101\131\046\123\131\022\116\002\102\000\000\006\131'
        printf '\200\000\020\000\000\200\020\060\100\104\000\040\000\061\014\010\012\251'
        printf '\246\322\151\111\042\336\123\032\153\342\356\110\247\012\022\002\111\300'
        printf '\110\100'
    } >two.bz2
    {
        printf '\050\265\057\375\004\130\241\000\000\150\164\164\160\072\057\057\141\057'
        printf '\012\150\164\164\160\072\057\057\142\057\012\116\331\104\016'
    } >two.zst
}

# random SEED N LEAST MOST: N numbers, the same ones for a seed.
random() {
    awk -v seed="$1" -v n="$2" -v a="$3" -v b="$4" 'BEGIN {
        srand(seed)
        while (n-- > 0)
            printf "%.3f\n", a + rand() * (b - a)
    }'
}

# is_whole DIR [WHEN]: what a crash left is a crawl that resume will put right
# where need be, or nothing that was begun.
is_whole() {
    verified=0
    "$URLWEIR" verify "$1" >verify.out 2>&1 || verified=$?
    case $verified in
    0 | 3) return ;;
    2) grep -qE "no crawl in|same .urlweir crawl. command" verify.out && return ;;
    esac
    fail "${2:+$2: }verify says $verified: $(cat verify.out)"
}

# Until the server, asked before, is asked again, or $crawler has ended.
something_arrives() {
    logged
    arrived=$(wc -l <log)
    waits_for '[ "$(wc -l <log)" -gt "$arrived" ] || ! kill -0 $crawler 2>/dev/null'
}

# The server's log has all that has arrived until now.
logged() {
    logged=$(grep -c '^logged' port) || :
    kill -USR1 "$server" || fail "the server is gone: $(cat site.err)"
    waits_for '[ "$(grep -c "^logged" port)" -gt "$logged" ]' ||
        fail "the server does not write its log"
}
# since_mark FILE: what has arrived since the last `mark`.
mark() {
    logged
    marked=$(wc -l <log)
}
since_mark() {
    logged
    tail -n +$((marked + 1)) log >"$1"
}
# arrivals [ADDRESS]: requests so far, of that host. is_quiet: none in a second.
arrivals() {
    logged
    awk -F'\t' -v host="${1:-}" 'host == "" || $4 == host' log | wc -l
}
is_quiet() {
    before=$(arrivals "$@")
    sleep 1
    [ "$(arrivals "$@")" = "$before" ]
}
# gaps [ADDRESS]: since `mark`, milliseconds from answers of that host, of each
# host, to its next request.
gaps() {
    since_mark log.gaps
    awk -F'\t' -v host="${1:-}" 'host == "" || $4 == host {
        if ($4 in last)
            printf "%d\n", ($1 - last[$4]) / 1e6
        last[$4] = $2
    }' log.gaps
}

# flip FILE OFFSET: flip one bit there; a negative offset counts from the end.
flip() {
    python3 - "$1" "$2" <<'PYTHON'
import sys
with open(sys.argv[1], "r+b") as f:
    at = int(sys.argv[2])
    f.seek(at, 2 if at < 0 else 0)
    byte = f.read(1)[0]
    f.seek(-1, 1)
    f.write(bytes([byte ^ 4]))
PYTHON
}

# ---- a Redis server of the script's own, on a Unix socket ----------------------

# redis_up [OPTION...]: it runs, $redis_pid, and `redis+unix://$redis_socket`
# leads to it. Again after redis_kill: the same data, if it kept any.
redis_up() {
    redis_program=${URLWEIR_REDIS:-$(command -v redis-server || command -v valkey-server)} ||
        fail "neither redis-server nor valkey-server"
    redis_socket=$WORK/redis.socket
    redis_url=redis+unix://$redis_socket
    mkdir -p redis-data
    "$redis_program" --port 0 --unixsocket "$redis_socket" --dir redis-data \
        --save '' --appendonly yes --appendfsync always "$@" \
        >>redis.log 2>&1 &
    redis_pid=$!
    waits_for 'redis ping 2>/dev/null | grep -q PONG' ||
        fail "no Redis: $(cat redis.log)"
}
redis_kill() {
    kill -KILL "$redis_pid"
    wait "$redis_pid" 2>/dev/null || :
}
redis() { "${redis_program%-server}-cli" -s "$redis_socket" "$@"; }
