#!/bin/sh
# A directory that cannot be written to can be read, whether its crawl has
# finished, was killed, or was copied without its log's index; a command that
# would write says that it cannot, and what to do.
# Promise (Archives): a directory that cannot be written to can be read,
#   whether its crawl has finished or was killed; commands that would write say
#   so.
set -eu
. "$TOP/tests/cli/lib.sh"

small_web
quick="$quick --sitemap auto"
mkdir all
# shellcheck disable=SC2086
crawl all/finished $small
ended 0
status=0
# shellcheck disable=SC2086
URLWEIR_KILL_AT=turn-after-commit:4 "$URLWEIR" crawl "$seed" -o all/killed $quick $small \
    >crawl.out 2>crawl.err || status=$?
[ $status = 137 ] || fail "it was not killed: $status $(cat crawl.err)"
[ -s all/killed/frontier.db-wal ] || fail "no log: $(ls all/killed)"
cp -r all/killed all/copied
rm all/copied/frontier.db-shm

# What commands say where they can write. They open a copy: closing it would merge
# the log.
tell() {
    cp -r "all/$1" read
    exits 0 "$URLWEIR" export read --what urls
    cp out "$1.urls"
    exits 0 "$URLWEIR" export read --what pages
    cp out "$1.pages"
    rm -rf read
}
for crawl in finished killed copied; do
    tell $crawl
done
cmp killed.urls copied.urls || fail "the copy has other URLs"

if [ "$(id -u)" = 0 ]; then
    cat >mount.sh <<'END'
mount --bind all all && mount -o remount,ro,bind all || exit 99
exec "$@"
END
    on_it() { unshare --mount sh ./mount.sh "$@"; }
    on_it true 2>mount.err || skip "cannot mount: $(cat mount.err)"
    why="read-only"
else
    chmod -R a-w all
    at_exit="$at_exit; chmod -R u+w '$WORK/all'"
    on_it() { "$@"; }
    why="cannot lock"
fi

for crawl in finished killed copied; do
    exits 0 on_it "$URLWEIR" export all/$crawl --what urls
    cmp out $crawl.urls || fail "$crawl: other URLs"
    exits 0 on_it "$URLWEIR" export all/$crawl --what pages
    cmp out $crawl.pages || fail "$crawl: other pages"
    exits 0 on_it "$URLWEIR" status all/$crawl --json
    want=interrupted
    [ $crawl != finished ] || want=finished
    [ "$(json state <out)" = $want ] || fail "$crawl is $(json state <out)"
    exits 0 on_it "$URLWEIR" explain all/$crawl "$seed"
    exits 0 on_it "$URLWEIR" audit all/$crawl --json
    on_it "$URLWEIR" verify all/$crawl >out 2>err || [ $? = 3 ] || fail "$(cat out err)"
    exits 0 on_it "$URLWEIR" diff all/$crawl all/finished
done

for command in "resume all/finished" "retry all/finished" "refresh all/finished --now" \
    "seed all/finished $seed" "crawl $seed -o all/finished $quick"; do
    # shellcheck disable=SC2086
    exits 2 on_it "$URLWEIR" $command
    says err "$why"
done
