#!/bin/sh
# Every command explains itself; a command line that it does not understand is
# refused with status 1, nothing on stdout, and a hint.
# Promise (Commands and options): each command explains itself within 80
#   columns and refuses what it does not understand with status 1 and a hint.
# Promise (Commands and options): a failed write to standard output ends with
#   status 2. See also `tests/cli/status.sh`, `tests/cli/export.sh`,
#   `tests/cli/dedupe.sh`.
set -eu
. "$TOP/tests/cli/lib.sh"

exits 0 "$URLWEIR" --help
says out "usage: urlweir COMMAND"
exits 0 "$URLWEIR" --version
says out "urlweir "
exits 1 "$URLWEIR"
[ ! -s out ] || fail "help on stdout although nothing was asked"
exits 1 "$URLWEIR" crwal
says err "no command 'crwal'; did you mean crawl?"
exits 0 "$URLWEIR" help serve
says out "usage: urlweir serve"
exits 1 "$URLWEIR" help nonsense
says err "no command 'nonsense'"

# The commands as --help lists them.
"$URLWEIR" --help | sed -n 's/^  \([a-z-]*\)  *.*/\1/p' >commands
[ -s commands ] || fail "no commands"
while read -r c; do
    exits 0 "$URLWEIR" "$c" --help
    says out "usage: urlweir $c"
    [ ! -s err ] || fail "$c --help writes to stderr"
    lacks out '.\{80\}' "$c --help is wider than a terminal"
    exits 1 "$URLWEIR" "$c" --no-such-option
    [ ! -s out ] || fail "$c: an error on stdout"
    says err "urlweir $c: "
done <commands

# A command with many options prints those that most people need, all, or those
# about a word.
for c in crawl resume; do
    exits 0 "$URLWEIR" $c --help
    [ "$(wc -l <out)" -le 46 ] || fail "$c --help is longer than a screen"
    says out "--depth N"
    lacks out "--nat64"
    sed -n 's/^  \(urlweir .*\)/\1 --help/p' out >examples
    [ "$(wc -l <examples)" = 3 ] || fail "$c --help shows $(wc -l <examples) examples"
    while read -r line; do
        PATH=$(dirname "$URLWEIR"):$PATH exits 0 sh -c "$line"
    done <examples
    exits 0 "$URLWEIR" $c --help all
    says out "--nat64"
    says out "A TIME is"
    exits 0 "$URLWEIR" $c --help ROBOTS
    says out "--robots obey"
    says out "--sitemap auto" # its text is about robots.txt
    lacks out "--nat64"
    exits 1 "$URLWEIR" $c --help nonsense
    says err "no option is about 'nonsense'"
done
exits 0 "$URLWEIR" dedupe --help all
says out "--memory"

# What people are used to from elsewhere leads to what it is called here.
exits 1 "$URLWEIR" crawl http://127.0.0.1:1/ --max-depth 3
says err "no option --max-depth; here it is --depth"
exits 1 "$URLWEIR" crawl http://127.0.0.1:1/ -I '*.html'
says err "it is a regular expression, no glob"
exits 1 "$URLWEIR" resume d http://127.0.0.1:1/
says err "\`urlweir seed DIR URL\` adds a seed"
exits 1 "$URLWEIR" https://example.org/
says err "did you mean \`urlweir crawl https://example.org/\`?"
exits 0 "$URLWEIR" -V
says out "libcurl/"

# NAME=VALUE and --NAME VALUE mean the same to set and to resume.
pages 127.0.0.1 /b.html
echo '<a href=b.html>b</a>' >web/127.0.0.1/index.html
plain_site 127.0.0.1
exits 3 "$URLWEIR" crawl "http://127.0.0.1:$port/" -q -o d --allow-private --limit 1 --sitemap off --min-disk 0
exits 0 "$URLWEIR" resume d -q limit=none delay=0
asked 127.0.0.1 /b.html
grep -qx 'delay: 0s' d/urlweir-settings.yaml || fail "resume d delay=0: $(cat d/urlweir-settings.yaml)"
exits 1 "$URLWEIR" set d --depth 3 --no-such-option
exits 2 "$URLWEIR" set d --depth 3

# What nobody could take is not done.
if [ -w /dev/full ]; then
    status=0
    "$URLWEIR" --help >/dev/full 2>err || status=$?
    [ "$status" = 2 ] || fail "status $status where help could not be written"
    says err "urlweir: cannot write the output: No space left on device"
fi

# A missing operand is asked for in one line, however many forms there are.
exits 1 "$URLWEIR" block
says err "and a host is missing: urlweir block DIR|URL|kafka://HOST/NAME HOST (--for TIME | --until MOMENT | --off) [--crawl NAME]; see"
exits 1 "$URLWEIR" audit a b
says err "or urlweir audit --urls FILE"
