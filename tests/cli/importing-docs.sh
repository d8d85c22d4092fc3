#!/bin/sh
# The commands of docs/importing.md, on files of the tools that they name.
set -eu
. "$TOP/tests/cli/lib.sh"
PATH=$(dirname "$URLWEIR"):$PATH
data=$TOP/tests/data/import

mkdir dump
cp "$data/crawldb.txt" dump/part-r-00000
cp "$data/frontier.recover.gz" "$data/indexer.cdxj" .
mv indexer.cdxj index.cdxj
cp "$data/wget2.log" .
tar -xJf "$data/scrapy.tar.xz" PickleLifo
mv PickleLifo jobdir
ln -s "$TOP/bindings" .
gzip -c "$data/urlfrontier.jsonl" >frontier.jsonl.gz
printf 'http://site.example/\nhttp://site.example/a\tdone\t200\n' >urls.txt
sed -n '/^```sh$/,/^```$/p' "$TOP/docs/importing.md" | grep -v '^```' >commands
[ "$(grep -c '^urlweir import' commands)" -ge 4 ] || fail "commands: $(cat commands)"
while read -r command; do
    exits 0 sh -c "$command"
done <commands
[ ! -s refused.tsv ] || fail "refused: $(cat refused.tsv)"
