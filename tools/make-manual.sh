#!/bin/sh
# Makes the manual: a page of section 1 for each command, one of section 5 for
# each format. Those of docs/man are taken as they are, a command that shares
# one of them gets a link to it, and the others are made from the
# command's --help and from docs/formats.
# usage: tools/make-manual.sh URLWEIR DIR
set -eu
urlweir=$1
dir=$2
cd "$(dirname "$0")/.."
export LC_ALL=C
rm -rf "$dir"
mkdir -p "$dir"
version=$("$urlweir" --version | sed -n '1s/urlweir //p')
date=$(sed -n 's/^\.Dd //p' docs/man/urlweir.1)

cp docs/man/*.[1-9] "$dir"
for page in docs/man/*.1; do
    file=${page##*/}
    # Further names of the page stand in its NAME section.
    sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm urlweir-\([a-z]*\).*/\1/p' "$page" |
        while read -r name; do
            [ -e "$dir/urlweir-$name.1" ] ||
                ln -s "$file" "$dir/urlweir-$name.1"
        done
done

"$urlweir" --help | sed -n 's/^  \([a-z]*\)  *\(.*\)/\1	\2/p' |
    while IFS="	" read -r name summary; do
        [ ! -e "$dir/urlweir-$name.1" ] || continue
        also=
        [ ! -e "docs/formats/$name.md" ] || also=$name
        "$urlweir" "$name" --help all | awk -v name="$name" -v summary="$summary" \
            -v date="$date" -v version="$version" -v also="$also" \
            -f tools/help-to-man.awk >"$dir/urlweir-$name.1"
    done

for page in docs/formats/*.md; do
    name=$(basename "$page" .md)
    awk -v name="$name" -v date="$date" -v version="$version" \
        -f tools/markdown-to-man.awk "$page" >"$dir/urlweir-$name.5"
done
