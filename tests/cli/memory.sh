#!/bin/sh
# Resident memory stays below --memory, however many URLs are known and however
# large the bodies are, also after a resume. LONG: a million URLs under the
# default of 512M, and 300,000 under 96M, the least.
set -eu
. "$TOP/tests/cli/lib.sh"

# stays_below MEGABYTES URLS HOSTS: a crawl that knows so many on so many hosts,
# of which nearly all are dead, beside a web of large pages and bombs.
stays_below() {
    serve --hosts 40 --pages 400 --size 200000 --profile bombs,compress --seed 111
    awk -v urls="$2" -v hosts="$3" -v port="$port" 'BEGIN {
        for (i = 0; i < urls; i++) {
            h = i % hosts
            printf "http://127.%d.%d.%d:%d/a/longer/path/to/page-%d\n",
                200 + h / 62500, h / 250 % 250, h % 250 + 1, port, i
        }
    }' >seeds
    rm -rf d
    # shellcheck disable=SC2086
    peak "$URLWEIR" crawl "$seed" -i seeds -o d $quick --memory "$1M" -n 200
    ended 3
    echo "$2 URLs on $3 hosts, --memory $1M: $((rss / 1024)) MiB"
    [ $((rss / 1024)) -lt "$1" ] || fail "$((rss / 1024)) MiB"
    rm d/filter.ckpt # to be made anew
    peak "$URLWEIR" resume d -n none --give-up 1s --progress none
    ended 3 # hosts that do not respond
    echo "resumed: $((rss / 1024)) MiB"
    [ $((rss / 1024)) -lt "$1" ] || fail "resumed: $((rss / 1024)) MiB"
    serve_no_more
    judge
    agrees d
}

if [ -n "${LONG:-}" ]; then
    stays_below 512 1000000 20000
    stays_below 96 300000 5000
else
    stays_below 96 200000 2000
fi
