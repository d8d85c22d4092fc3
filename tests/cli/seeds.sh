#!/bin/sh
# Seeds from operands, files and stdin; a bad one is reported with its line and
# the rest go on; without seeds there is nothing to start.
set -eu
. "$TOP/tests/cli/lib.sh"

serve --hosts 3 --pages 30
go="--allow-private --depth 0 -w 0 --min-disk 0 --progress none"

# fetched DIR N: so many URLs were fetched
fetched() {
    n=$("$URLWEIR" export "$1" --what urls --format csv |
        grep -c ',fetched,') || :
    [ "$n" = "$2" ] || fail "$1: $n fetched, not $2"
}

printf '\357\273\277# seeds\r\n\r\nhttp://127.0.0.1:%s/ # home\r\nexample.org\nftp://x/\n  http://127.0.0.2:%s/\n' \
    "$port" "$port" >list
exits 0 "$URLWEIR" crawl -i list -o file $go
says err "list:4: bad seed 'example.org': no http:// or https:// before it; did you mean https://example.org/?"
says err "list:5: bad seed 'ftp://x/': only http and https are crawled"
fetched file 2

got=0
"$URLWEIR" crawl "http://127.0.0.3:$port/" -i - -o stdin $go <list 2>err || got=$?
[ $got = 0 ] || fail "status $got: $(cat err)"
says err "stdin:4: bad seed"
fetched stdin 3

# A line that no URL can be is not passed over, and neither is half a file.
{ cat list && head -c 1100000 /dev/zero | tr '\0' x; } >wide
exits 2 "$URLWEIR" crawl -i wide -o none $go
says err "cannot read seeds from wide: 1 of its lines are over 1 MiB"
head -c 40 list | gzip | head -c 40 >cut.gz
exits 2 "$URLWEIR" crawl -i cut.gz -o none $go
says err "cannot read seeds from cut.gz: its gzip data is cut short"

# The same URL three times is one.
exits 0 "$URLWEIR" crawl "http://127.0.0.1:$port" "HTTP://127.0.0.1:$port/#x" \
    "http://u@127.0.0.1:$port/." -o once $go
fetched once 1

# Octets of another encoding are asked for as they are, and stay apart.
printf 'http://127.0.0.1:%s/caf\350\nhttp://127.0.0.1:%s/caf\351\n' "$port" "$port" >latin
exits 5 "$URLWEIR" crawl -i latin "$(printf 'http://127.0.0.1:%s/\374' "$port")" \
    -o latin.d --tries 1 $go
for path in caf%E8 caf%E9 %FC; do
    "$URLWEIR" export latin.d --format csv | grep -q "^$seed$path,failed,http" ||
        fail "not asked for $path: $("$URLWEIR" export latin.d)"
done

exits 2 "$URLWEIR" crawl example.org -o none $go
says err "bad seed 'example.org'"
says err "no valid seed"
exits 2 "$URLWEIR" crawl -i nowhere -o none $go
says err "cannot read seeds from nowhere: No such file or directory"
exits 2 "$URLWEIR" crawl -i /dev/null -o none $go

# A bad seed did not keep the others; none at all leaves DIR free for another.
exits 0 "$URLWEIR" crawl "http://127.0.0.1:$port/" -o none $go
fetched none 1
