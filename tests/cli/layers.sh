#!/bin/sh
# tools/check-layers.sh sees an include that points upwards, between folders
# and between the groups of one folder, and a group that it does not know.
set -eu
. "$TOP/tests/cli/lib.sh"

copy=$PWD/tree
mkdir "$copy"
for folder in base config filter storage frontier crawler job cluster service cli bindings/c; do
    (cd "$TOP" && find "$folder" -name '*.[ch]') | while read -r file; do
        mkdir -p "$copy/$(dirname "$file")"
        grep '^#include "' "$TOP/$file" >"$copy/$file" || :
    done
done
exits 0 "$TOP/tools/check-layers.sh" "$copy"

# plant FILE INCLUDED: seen, and named.
plant() {
    cp "$copy/$1" before
    echo "#include \"$2\"" >>"$copy/$1"
    exits 1 "$TOP/tools/check-layers.sh" "$copy"
    says err "$1: includes $2"
    mv before "$copy/$1"
}
plant filter/filter.h storage/frontier_store.h     # a neighbour
plant frontier/frontier.h crawler/crawl.h            # the folder above
plant storage/db/db.h storage/rows/page_store.h    # the group above
plant crawler/robots/robots.h crawler/html/links.h # and back: a circle
plant service/net/loop.h service/grpc/http2_server.h
plant job/registry/crawls.h cli/command.h
plant bindings/c/api.h job/dir_kind.h

mkdir "$copy/crawler/new"
echo '#include "base/buf.h"' >"$copy/crawler/new/new.h"
exits 1 "$TOP/tools/check-layers.sh" "$copy"
says err 'crawler/new/ is in no line'
