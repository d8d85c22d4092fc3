#!/bin/sh
# The sandbox of crawl, resume and serve: on by default, reported in the log
# and by status, off on request; if it is not permitted, as in a container,
# everything goes on. Root becomes the owner of the directory, or --user, if
# that user can use the named files. Named files outside the directory keep
# working.
# (The suite `sandbox` tries to break out, each time with the walls and
# without.)
# Promise (Installing and checks): crawl, resume and serve give up what they do
#   not need (other files, programs, tracing, other sockets) and say which
#   limits hold; where the system does not allow a limit, they go on without
#   it. See also `sandbox`.
# Promise (Installing and checks): root becomes the owner of the directory or
#   --user, or keeps few capabilities. See also `run_as`.
set -eu
. "$TOP/tests/cli/lib.sh"

small_web
quick="$quick --scope host" # other.invalid, which the web links to, would be waited for

# fact PID NAME: of /proc/PID/status.
fact() { sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status"; }

# What this kernel has.
crawl first
ended 0
holds=$(sed -n 's/^urlweir crawl: sandbox: //p' crawl.err | head -n 1)
[ "$(head -n 1 crawl.err)" = "urlweir crawl: sandbox: $holds" ] ||
    fail "the first line is another: $(cat crawl.err)"
case $holds in *seccomp*", user "*) ;; *) fail "it says: $holds" ;; esac
walls=${holds%%, user*}
crawl quiet -q
ended 0
[ ! -s crawl.err ] || fail "-q says: $(cat crawl.err)"

# ---- status, and what the kernel says --------------------------------------------

hold
# running DIR OPTION...: a crawl that waits for an answer, $crawler.
running() {
    dir=$1
    shift
    # shellcheck disable=SC2086
    behind crawl.out crawl.err "$URLWEIR" crawl "$held" -o "$dir" $quick \
        --timeout 1h "$@"
    crawler=$!
    waits_for 'grep -q " sandbox: " "$dir/lock" 2>/dev/null' ||
        fail "$dir: $(cat crawl.err)"
}
end_it() {
    kill -KILL "$crawler"
    wait "$crawler" 2>/dev/null || :
}

running on
exits 0 "$URLWEIR" status on --json
says out "\"sandbox\": \"$walls, user $(id -un)\""
exits 0 "$URLWEIR" status on
says out "sandbox: $walls, user "
[ "$(fact "$crawler" NoNewPrivs)" = 1 ] || fail "no_new_privs is not set"
case $walls in *", seccomp")
    [ "$(fact "$crawler" Seccomp)" = 2 ] || fail "no filter of system calls"
    for thread in /proc/"$crawler"/task/*; do
        [ "$(sed -n 's/^Seccomp:[[:space:]]*//p' "$thread/status")" = 2 ] ||
            fail "a thread without a filter"
    done
    ;;
esac
end_it

running off --sandbox off
says crawl.err "sandbox: off, user "
exits 0 "$URLWEIR" status off
says out "sandbox: off"
[ "$(fact "$crawler" NoNewPrivs)" = 0 ] || fail "no_new_privs is set"
[ "$(fact "$crawler" Seccomp)" = "$(fact $$ Seccomp)" ] || fail "there is a filter"
end_it
echo "sandbox: off" >off.yaml
crawl file -C off.yaml
says crawl.err "sandbox: off"

# What the crawl's own directory says does not count: the crawl can write it.
crawl resumed -n 2
[ -e resumed/urlweir-settings.yaml ] && echo "sandbox: off" >>resumed/urlweir-settings.yaml
resume resumed -n none
says crawl.err "sandbox: $walls"

# ---- secrets -----------------------------------------------------------------------

core() { sed -n 's/^Max core file size *\([^ ]*\) .*/\1/p' "/proc/$crawler/limits"; }
usual=$(sed -n 's/^Max core file size *\([^ ]*\) .*/\1/p' /proc/self/limits)
mode=$(basename "$(dirname "$URLWEIR")")
if [ "$mode" != asan ]; then
    running plain-crawl
    [ "$(core)" = "$usual" ] || fail "no core without a secret: $(core)"
    end_it
    running secret --header "Authorization: Bearer x"
    [ "$(core)" = 0 ] || fail "a core with a secret: $(core)"
    [ "$(stat -c %u "/proc/$crawler/environ")" = 0 ] || fail "others can read it"
    end_it
fi

# ---- what was named works, wherever it lies ------------------------------------------

mkdir elsewhere
printf '%s\n' "$seed" >elsewhere/seeds
mkdir linked
ln -s ../elsewhere linked/warc
"$URLWEIR" crawl -i elsewhere/seeds -o linked $quick --warc --cdxj \
    -j elsewhere/lines 2>crawl.err || fail "$(cat crawl.err)"
ls elsewhere/*.warc.gz elsewhere/index.cdxj >/dev/null || fail "no WARC files"
[ -s elsewhere/lines ] || fail "no lines"
exits 0 "$URLWEIR" verify linked
"$URLWEIR" crawl -i - -o piped $quick <elsewhere/seeds 2>crawl.err ||
    fail "$(cat crawl.err)"

# ---- a service: files that are replaced, reports, a bad setting -----------------------

mkdir etc
echo "admin 0123456789abcdef" >etc/tokens
start_service 127.0.0.1:0 --verbose --token-file etc/tokens
says serve.err "urlweir serve: sandbox: $walls"
exits 0 "$URLWEIR" status d
says out "sandbox: $walls"
echo "admin fedcba9876543210" >etc/next
mv etc/next etc/tokens
kill -HUP "$service"
waits_for 'grep -q "read again" serve.err' || fail "reload: $(cat serve.err)"
status_of() {
    python3 - "$http" "$1" <<'PYTHON'
import sys, urllib.error, urllib.request
try:
    r = urllib.request.urlopen(urllib.request.Request(
        "http://" + sys.argv[1] + "/v1/crawls",
        headers={"Authorization": "Bearer " + sys.argv[2]}), timeout=60)
    print(r.status)
except urllib.error.HTTPError as e:
    print(e.code)
PYTHON
}
[ "$(status_of fedcba9876543210)" = 200 ] || fail "the new token is not known"
[ "$(status_of 0123456789abcdef)" = 401 ] || fail "the old token is still known"
stop TERM 0
printf 'seeds: [%s]\nsandbox: off\n' "$seed" >own.yaml
exits 1 "$URLWEIR" serve d2 --listen 127.0.0.1:0 --http none --crawl own.yaml
says err "--sandbox is an option of \`urlweir serve\`"

# ---- without the right to any of it ----------------------------------------------------

if python3 "$TOP/tests/support/without_walls.py" true 2>/dev/null; then
    URLWEIR_IS=$URLWEIR
    cat >unwalled <<END
#!/bin/sh
exec python3 "$TOP/tests/support/without_walls.py" "$URLWEIR_IS" "\$@"
END
    chmod +x unwalled
    URLWEIR=./unwalled
    crawl without --warc
    ended 0
    says crawl.err "sandbox: no landlock (Function not implemented), no seccomp"
    URLWEIR=$URLWEIR_IS
    agrees without
else
    leaves_out "a container without rights, since no filter of system calls can be set"
fi

# ---- users -----------------------------------------------------------------------------

exits 2 "$URLWEIR" crawl "$seed" -o u --user no-such-user
says err "there is no user no-such-user"
if [ "$(id -u)" != 0 ]; then
    exits 2 "$URLWEIR" crawl "$seed" -o u --user root
    says err "only root can become root"
    leaves_out "other users, as whom only root can run"
    exit 0
fi
place=$(mktemp -d /tmp/urlweir-sandbox.XXXXXX)
at_exit='rm -rf "$place"'
chmod 755 "$place"
mkdir "$place/theirs"
chown nobody: "$place/theirs"
crawl "$place/theirs"
ended 0
says crawl.err "sandbox: $walls, user nobody"
[ "$(find "$place/theirs" ! -user nobody)" = "" ] || fail "root's: $(ls -l "$place/theirs")"
# What that user could not use keeps a run as root as it was.
echo "$seed" >"$place/seeds"
chmod 600 "$place/seeds"
mkdir "$place/other"
chown nobody: "$place/other"
"$URLWEIR" crawl -i "$place/seeds" -o "$place/other" $quick 2>crawl.err ||
    fail "$(cat crawl.err)"
says crawl.err "user root (nobody, whose directory it is, could not use $place/seeds)"
# --user is an order.
mkdir "$place/user"
chown nobody: "$place/user"
exits 2 "$URLWEIR" crawl -i "$place/seeds" -o "$place/user/c" --user nobody
says err "--user: that user cannot use $place/seeds"
crawl "$place/user/made" --user nobody
ended 0
says crawl.err ", user nobody"
[ "$(stat -c %U "$place/user/made")" = nobody ] || fail "it is not given to nobody"
mkdir "$place/roots"
exits 2 "$URLWEIR" crawl "$seed" -o "$place/roots" --user nobody
says err "--user: that user cannot use $place/roots"
# Whoever is not root has the walls too.
mkdir "$place/plain"
chown nobody: "$place/plain"
cat >plain <<END
#!/bin/sh
exec setpriv --reuid=nobody --regid=nogroup --clear-groups "$URLWEIR" "\$@"
END
chmod +x plain
urlweir=$URLWEIR
URLWEIR=./plain
crawl "$place/plain"
URLWEIR=$urlweir
# The program itself may stand where only root can read it.
if [ "$status" = 126 ] || [ "$status" = 127 ]; then
    leaves_out "a crawl of nobody, who cannot read $urlweir"
else
    ended 0
    says crawl.err "sandbox: $walls, user nobody"
fi
# Root that stays root has the right to files, and no more.
running kept
[ "$(fact "$crawler" CapEff)" = 0000000000000002 ] ||
    fail "capabilities: $(fact "$crawler" CapEff)"
end_it
