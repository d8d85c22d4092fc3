#!/bin/sh
# Dependencies point downwards: a folder includes itself and those that its line
# below names. "x/*" stands for x and all groups in it.
# usage: tools/check-layers.sh [TREE]
# Promise (Installing and checks): dependencies point downwards, between
#   folders and between the groups of one. See also `make check`,
#   `tests/cli/layers.sh`.
set -eu
cd "${1:-$(dirname "$0")/..}"

# folder: what it may include beside itself
table() {
    cat <<'END'
base:
base/file: base
base/kafka: base
base/process: base
base/thread: base
config: base/*
filter: base/*
filter/kinds: base/* filter
filter/redis: base/* filter
storage/db: base/*
storage/index: base/* storage/db
storage/rows: base/* storage/db storage/index
storage/warc: base/* storage/db
storage: base/* storage/*
frontier/url: base/*
frontier/traps: base/* storage/* frontier/url
frontier/seen: base/* filter filter/redis storage/* frontier/url
frontier: base/* filter storage/* frontier/url frontier/seen
frontier/crawl: base/* filter filter/redis storage/* frontier frontier/url frontier/seen frontier/traps
frontier/served: base/* storage/* frontier frontier/url frontier/seen
frontier/audit: base/* filter storage/* frontier frontier/url frontier/seen
frontier/dedupe: base/* filter storage/* frontier frontier/url frontier/seen
crawler/charset: base/* frontier/url
crawler/robots: base/* storage/* frontier frontier/url crawler/charset
crawler/html: base/* frontier/url crawler/charset crawler/robots
crawler/sitemap: base/* storage/* frontier frontier/url crawler/charset crawler/html
crawler/address: base/* frontier/url
crawler/transfer: base/* frontier/url crawler/address
crawler/fetch: base/* storage/* frontier frontier/url crawler/address crawler/transfer
crawler/archive: base/* storage/* frontier frontier/url crawler/fetch crawler/html
crawler: base/* filter storage/* frontier frontier/url frontier/traps crawler/*
job/settings: base/* config filter filter/redis storage/* frontier/* crawler/*
job/registry: base/* config filter filter/redis storage/* frontier/* crawler/*
job: base/* config filter filter/redis storage/* frontier/* crawler/* job/settings job/registry
job/import: base/* storage/* frontier/* crawler/* job/settings job
job/crawl_jobs: base/* config filter filter/redis storage/* frontier/* crawler/* job/settings job/registry job
cluster: base/* config storage/* frontier/* crawler/* job/*
service/net: base/*
service/calls: base/* filter storage/* frontier frontier/url frontier/served crawler/* job/* service/net
service/shards: base/* storage/* frontier frontier/url frontier/served job cluster service/net service/calls
service/grpc: base/* service/net
service/urlfrontier: base/* frontier frontier/url frontier/served service/net service/calls service/grpc
service/filters: base/* filter
service/metrics: base/* filter service/filters frontier frontier/url frontier/served crawler job/* cluster service/net service/calls service/grpc
service/http: base/* filter service/filters service/shards frontier frontier/url frontier/served crawler job/* cluster service/net service/calls service/grpc service/urlfrontier service/metrics
service: base/* frontier frontier/url frontier/served cluster job/* service/*
bindings/c: base/* filter frontier/url frontier/dedupe crawler/html crawler/robots crawler/sitemap
cli: base/* config filter/* storage/* frontier/* crawler/* job/*
cli/completion: base/* config job/* cli
cli/control: base/* config frontier/* job/* cluster service/* cli
cli/report: base/* frontier/* crawler/* job/* cli
cli/dedupe: base/* config frontier/* job/* cli cli/report
cli/filter: base/* config filter/* frontier/* job/* cli cli/report
cli/shards: base/* frontier/url job/* cluster cli
cli/diff: base/* config storage/* frontier/* crawler/* job/* cli cli/report cli/shards
cli/inspect: base/* frontier/url crawler/* job/settings job cli
cli/status: base/* config storage/* frontier/* crawler/* job/* cluster cli cli/control cli/report
cli/explain: base/* storage/* frontier/* crawler/* job/* service/* cli cli/shards cli/status
cli/audit: base/* frontier/* cli cli/filter cli/report cli/shards
cli/verify: base/* filter storage/* frontier/* job/* service/* cli cli/shards
cli/export: base/* storage/* frontier/* crawler/* job/* service/* cli cli/shards cli/status
cli/import: base/* config storage/* frontier/* crawler/* job/* cluster cli cli/run cli/shards
cli/run: base/* config filter storage/* frontier/* crawler/* job/* cluster service/* cli cli/control cli/report
cli/steer: base/* config frontier/* job/* service/* cli cli/control cli/run
END
}

find base config filter storage frontier crawler job cluster service cli bindings/c -name '*.[ch]' \
    -exec grep -H '^#include "' {} + |
    sed 's/^\([^:]*\):#include "\([^"]*\)".*/\1 \2/' >"${TMPDIR:-/tmp}/layers.$$"
trap 'rm -f "${TMPDIR:-/tmp}/layers.$$"' EXIT
table | awk '
    NR == FNR {
        folder = $1
        sub(/:$/, "", folder)
        known[folder] = 1
        for (i = 2; i <= NF; i++)
            may[folder, $i] = 1
        next
    }
    # urlfrontier.pb-c.h and the like are made of .proto files, from nothing
    $2 ~ /\.pb-c\.h$/ { next }
    {
        from = $1; to = $2
        sub(/\/[^\/]*$/, "", from)
        if (!sub(/\/[^\/]*$/, "", to))
            to = "?"
        top = to
        sub(/\/.*/, "", top)
        if (!(from in known)) {
            print $1 ": " from "/ is in no line of tools/check-layers.sh"
            bad = 1
        } else if (from != to && !((from, to) in may) &&
                   !((from, top "/*") in may)) {
            print $1 ": includes " $2 ", which is not below " from "/"
            bad = 1
        }
    }
    END { exit bad }
' - "${TMPDIR:-/tmp}/layers.$$" >&2
echo "layers: every include points downwards"
