#!/bin/sh
# A person can see what a crawl is doing: a line for each URL with -v, the
# decisions with -vv, what it waits for instead of a guessed end, a bar and
# colours on terminals that support them, and its pace in `urlweir status`.
set -eu
. "$TOP/tests/cli/lib.sh"

quick="--scope host --allow-private --sitemap off --robots off --delay 0 --min-disk 0
    --retry-delay 50ms --max-delay 100ms --tries 2 --threads 1"
esc=$(printf '\033')

mkdir -p web/127.0.0.1
cat >web/127.0.0.1/index.html <<'END'
<title>x</title><a href=/a.html>a</a> <a href=/gone.html>g</a> <a href=/old.html>o</a>
<a href=http://other.invalid/>out</a>
END
printf '<meta charset=utf-8><a href="/%b[31m%b.html">x</a>' '\033' '\342\200\256' >web/127.0.0.1/a.html
printf '301\nLocation: /a.html\n' >web/127.0.0.1/old.html.head
touch web/127.0.0.1/old.html
printf '500\n' >web/127.0.0.1/broken.html.head
echo broken >web/127.0.0.1/broken.html
printf '503\n' >web/127.0.0.1/busy.html.head
touch web/127.0.0.1/busy.html
plain_site 127.0.0.1
site=http://127.0.0.1:$port

# ---- lines -------------------------------------------------------------------------

# line WORD REASON URL: of these, with a size and a time between.
line() {
    grep -qE "^$1 +$2 +[0-9.]+ [KMGiB]+ +[0-9.]+m?s  $3\$" crawl.err ||
        fail "no line for $3: $(cat crawl.err)"
}
seed=$site/
crawl verbose -v
ended 0
line fetched 200 "$site/"
line fetched 200 "$site/a.html"
line failed http_404 "$site/gone.html"
line redirect 301 "$site/old.html"
[ "$(grep -cE '^(fetched|failed|redirect|denied|skipped) ' crawl.err)" = 5 ] ||
    fail "not a line for each URL: $(cat crawl.err)"
line failed http_404 "$site/%1B\[31m%E2%80%AE.html"
lacks crawl.err "$esc" "a page writes to the terminal"
lacks crawl.err '^dropped' "-v says too much"

crawl quiet
ended 0
lacks -E crawl.err '^(fetched|failed)' "said unasked"

echo "<a href=/broken.html>b</a> <a href=http://other.invalid/>out</a>" >web/127.0.0.1/b.html
seed=$site/b.html
crawl decisions -vv
ended 0
line fetched 200 "$site/b.html"
says crawl.err "dropped  scope                http://other.invalid/  (on $site/b.html)"
grep -qE "^retried  http_500 +try 2 of 2 in [0-9.]+m?s  $site/broken.html\$" crawl.err ||
    fail "no retry: $(cat crawl.err)"
line failed http_500 "$site/broken.html"
exits 1 "$URLWEIR" crawl "$seed" -o no -q -vv

# ---- what it waits for -----------------------------------------------------------------

printf '503\nRetry-After: 100\n' >web/127.0.0.1/busy.html.head
seed=$site/busy.html
crawl delayed -vv --give-up 2s
ended 3
grep -qE "^delayed  retry_after +1m[0-9]+s  127.0.0.1\$" crawl.err || fail "$(cat crawl.err)"

behind crawl.out crawl.err "$URLWEIR" crawl "$site/busy.html" -o waits $quick --give-up none \
    --limit 1000000 --progress none
crawler=$!
waits_for '"$URLWEIR" status waits >out 2>&1; grep -q "as it asked for (Retry-After)" out' ||
    fail "not said: $(cat out crawl.err)"
grep -qE '^  127\.0\.0\.1 waits 1m[0-9]+s, as it asked for \(Retry-After\)$' out || fail "$(cat out)"
grep -qE '^  in this run: [0-9.]+m?s, [0-9.]+ pages and [0-9]+ B a second$' out || fail "$(cat out)"
"$URLWEIR" status waits --json >out || fail "no status"
python3 - <<'END' || fail "$(cat out)"
import json
o = json.load(open("out"))
assert o["elapsed"] > 0 and o["pages_per_second"] == 0 and o["bytes_per_second"] >= 0, o
w = o["waiting"]
assert w["host"] == "127.0.0.1" and w["why"] == "retry_after", w
assert w["http_status"] == 503 and 60 < w["seconds"] <= 100, w
END
kill -TERM $crawler
wait $crawler || :
exits 0 "$URLWEIR" status waits --json
lacks out '"elapsed"\|"waiting"' "a stopped crawl has a pace"

# ---- on a terminal --------------------------------------------------------------------

# terminal FILE VAR=VALUE...: what the crawl writes to one of 100 columns until it
# says that it waits.
terminal() {
    to=$1
    shift
    rm -rf onterm
    python3 - "$to" "$@" <<'END' || fail "no terminal: $(cat -v "$to")"
import fcntl, os, pty, select, signal, struct, sys, termios, time
out, settings = sys.argv[1], dict(s.split("=", 1) for s in sys.argv[2:])
command = os.environ["COMMAND"].split()
pid, fd = pty.fork()
if pid == 0:
    for name in ("NO_COLOR", "COLUMNS"):
        os.environ.pop(name, None)
    os.environ.update(settings)
    os.execvp(command[0], command)
fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 100, 0, 0))
seen, end, told = b"", time.time() + 60, False
while time.time() < end:
    if select.select([fd], [], [], 0.2)[0]:
        try:
            piece = os.read(fd, 65536)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    # A dumb terminal has lines as a file has, the first after ten seconds.
    waiting = b"Retry-After)" in seen
    if waiting and not told:
        told = True
        os.kill(pid, signal.SIGTERM)
open(out, "wb").write(seen)
_, status = os.waitpid(pid, 0)
sys.exit(0 if told and os.WEXITSTATUS(status) == 4 else 1)
END
}
COMMAND="$URLWEIR crawl $site/busy.html $site/b.html -o onterm $(echo $quick) --give-up none --limit 50"
export COMMAND
terminal colour TERM=xterm
tr '\r' '\n' <colour | grep -q "${esc}\[33m127.0.0.1 waits [0-9ms]*, as it asked for (Retry-After)${esc}\[0m" ||
    fail "no yellow: $(cat -v colour)"
lacks colour 'ends in' "a guess"
terminal plain TERM=xterm NO_COLOR=1
grep -q "127.0.0.1 waits" plain || fail "nothing said: $(cat -v plain)"
lacks plain "$esc\[[0-9]*m" "NO_COLOR is not obeyed"
terminal dumb TERM=dumb
lacks dumb "$esc" "a dumb terminal"
