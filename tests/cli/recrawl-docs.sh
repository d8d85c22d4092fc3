#!/bin/sh
# The commands of docs/recrawl.md do what the page says, in its order, on a
# small site; a crawl that would go on for ever ends when it is idle.
# serve-refresh.sh tests the one of the service.
# Promise (Commands and options): the commands of docs/recrawl.md do what it
#   says of them.
set -eu
. "$TOP/tests/cli/lib.sh"
PATH=$(dirname "$URLWEIR"):$PATH

here=127.0.0.1
mkdir -p web/$here/news
page() { # PATH TEXT: with a validator
    echo "<title>$1</title><p>$2" >"web/$here$1"
    printf '200\nETag: "%s"\n' "$(echo "$2" | cksum | cut -d' ' -f1)" >"web/$here$1.head"
}
page /index.html "The site <a href=/a.html>a</a> <a href=/news/1.html>1</a> <a href=/news/2.html>2</a>"
printf '200\nETag: "front"\n' >web/$here/index.html.head
page /a.html "This never changes"
page /news/1.html "First news"
page /news/2.html "Second news"
plain_site $here

options="--allow-private --sitemap off --delay 0 --min-disk 0 --robots off --progress none"
# shellcheck disable=SC2086
urlweir crawl "$seed" -o old $options --record links -q
page /news/1.html "Other news"
rm web/$here/news/2.html
# shellcheck disable=SC2086
urlweir crawl "$seed" -o new $options --record links -q || [ $? = 5 ]

sed -n 's/^    \(urlweir .*\)/\1/p' "$TOP/docs/recrawl.md" | grep -v '^urlweir serve' | sed "
    s|https://example.org/|$seed|; s|example.org|$here|; s/ *#.*//
    s|^urlweir crawl |urlweir crawl $options |
    s| *\$||; s|.* --refresh .*|& --until-idle|; s|.* resume .*|& --until-idle --progress none|
    s|--until-idle --until-idle|--until-idle|" >commands
[ "$(wc -l <commands)" -ge 17 ] || fail "the commands of the page: $(cat commands)"

count() { # NAME DIR
    urlweir status "$2" --json >status
    json "$1" <status
}
fetches() {
    urlweir export "$1" --what fetches | grep -c .
}
# What the page says of a command; $before: the fetches in DIR before it; $due:
# the URLs that are due.
holds() {
    case $1 in
    *"--exit-code") [ $status = 1 ] && status=0 ;;
    "urlweir diff old new")
        grep -q '^gone *1$' out && grep -q '^changed *1 (body 1, text 1)$' out && grep -q '^same *2' out
        ;;
    *"--format jsonl") [ "$(grep -c '^{' out)" = 2 ] ;;
    *"--html changes.html") grep -q news/1.html changes.html ;;
    "urlweir diff old --from"*) grep -q '^changed *0$' out ;;
    "urlweir export"*) [ "$(grep -c . out)" = 4 ] ;;
    "urlweir crawl"*"--refresh"*) [ "$(count dated DIR)" = 4 ] ;;
    *"refresh DIR --now") grep -q '^4 URLs' out && due=4 ;;
    *"refresh DIR --host"*) grep -q '^0 URLs' out ;; # they are due
    *"refresh DIR --match"*) grep -q '^0 URLs' out ;;
    *"resume DIR --until-idle"*) # what is due, and only that
        [ "$(fetches DIR)" = $((before + due)) ] && due=0
        ;;
    *"--keep-history 3"*) grep -q 'keep-history: 3' DIR/urlweir-settings.yaml ;;
    *"-o monday"*) [ "$(count fetched monday)" = 3 ] ;;
    *"--since monday") grep -q '^  fetched  *3  *3 unchanged' err ;;
    *) fail "nothing is known of: $1" ;;
    esac
}
due=0
while read -r command; do
    case $command in
    *"-o DIR"*) rm -rf DIR ;;
    esac
    before=$([ ! -d DIR ] || fetches DIR)
    status=0
    timeout 60 sh -c "$command" >out 2>err </dev/null || status=$?
    holds "$command" || fail "$command: $(cat out err)"
    [ $status = 0 ] || [ $status = 5 ] || fail "$command: $status $(cat err)"
done <commands
