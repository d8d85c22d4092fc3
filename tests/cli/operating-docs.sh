#!/bin/sh
# The life of a crawl as docs/operating.md tells it, command by command: a
# crawl that started small and was stopped, changed, widened and retried ends
# with what a new crawl with its last settings has, and has asked for no page
# twice.
# Promise (Crashes): a crawl that was started small, stopped, changed, widened
#   and retried ends with what a new one with its last settings has; the
#   commands of operating.md do that.
set -eu
. "$TOP/tests/cli/lib.sh"
PATH=$(dirname "$URLWEIR"):$PATH

here=127.0.0.1
mkdir -p web/$here/private
echo '<a href=/a.html>a</a><a href=/private/p.html>p</a>' >web/$here/index.html
echo '<a href=/b.html>b</a><a href=/late.html>l</a>' >web/$here/a.html
echo '<a href=/c.html>c</a>' >web/$here/b.html
echo '<a href=/d.html>d</a>' >web/$here/c.html
echo too deep >web/$here/d.html
echo private >web/$here/private/p.html
echo new >web/$here/new.html
printf '503\n' >web/$here/late.html.head
plain_site $here

options="--scope any --allow-private --sitemap off --delay 1s --max-delay 2s"
options="$options --retry-delay 50ms --tries 1 --min-disk 0 --progress none"
sed -n '/^## The life of a crawl/,/^## [^T]/p' "$TOP/docs/operating.md" |
    sed -n '/^```sh$/,/^```$/p' | grep -v '^```' |
    sed "s|https://example.org/|$seed|; s/-w 2s/-w 20ms/; s/ *#.*//
        s|^urlweir crawl |urlweir crawl $options |" >life
[ "$(wc -l <life)" -ge 12 ] || fail "the life of a crawl: $(cat life)"

# The first is under way when the next two are given.
sh -c "$(sed -n 1p life)" >first.out 2>first.err &
first=$!
waits_for 'urlweir unpause crawl >out 2>err' || fail "no crawl: $(cat first.err err)"
exits 0 sh -c "$(sed -n 2p life)"
says out running
exits 0 sh -c "$(sed -n 3p life)"
status=0
wait $first || status=$?
[ $status = 4 ] || fail "stopped: $status $(cat first.err)"

sed 1,3d life >rest
while read -r command; do
    case $command in
    "urlweir retry"*) # whatever was wrong with the server is mended
        rm web/$here/late.html.head
        echo late >web/$here/late.html
        ;;
    esac
    status=0
    sh -c "$command" >out 2>err || status=$?
    [ $status = 0 ] || fail "$command: $status $(cat err)"
done <rest
grep -q '/late.html,\|/late.html"' pages.csv || fail "not retried: $(cat pages.csv)"
[ ! -s errors.jsonl ] || fail "errors are left: $(cat errors.jsonl)"

# What a new crawl with the last settings fetches is there, each asked for once
# but for the page that failed.
: >log
# shellcheck disable=SC2086
urlweir crawl "$seed" "${seed}new.html" -o fresh $quick -d 3 --exclude /private/ -q 2>err ||
    fail "a new crawl: $(cat err)"
for dir in crawl fresh; do
    exits 0 urlweir export $dir --what pages
    sed -n 's/^{"url": "\([^"]*\)".*/\1/p' out | sort >$dir.pages
done
comm -13 crawl.pages fresh.pages >lacks
[ ! -s lacks ] || fail "the crawl lacks: $(cat lacks)"
[ -z "$(uniq -d crawl.pages)" ] || fail "twice: $(uniq -d crawl.pages)"
