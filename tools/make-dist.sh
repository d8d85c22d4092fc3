#!/bin/sh
# Makes the tarball of a release, and its SHA-256 beside it: what git tracks, or
# where there is no git all but build/. Equal trees make equal tarballs.
# usage: tools/make-dist.sh VERSION DIR
set -eu
name=urlweir-$1
dir=$2
cd "$(dirname "$0")/.."
export LC_ALL=C
mkdir -p "$dir"
list=$(mktemp)
trap 'rm -f "$list"' EXIT

if git ls-files -z >"$list" 2>/dev/null && [ -s "$list" ]; then
    # Without those that are removed and not committed yet.
    tr '\0' '\n' <"$list" | while read -r f; do
        [ ! -e "$f" ] || echo "$f"
    done >"$list.kept"
    mv "$list.kept" "$list"
    moment=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
else
    find . -path ./build -prune -o -path ./.git -prune -o -type f -printf '%P\n' >"$list"
    moment=${SOURCE_DATE_EPOCH:-$(date -r CHANGELOG.md +%s)}
fi
sort -o "$list" "$list"
tar -c --format=ustar --no-recursion --owner=0 --group=0 --numeric-owner \
    --mode=u=rwX,go=rX --mtime="@$moment" --transform="s|^|$name/|" -T "$list" |
    gzip -9n >"$dir/$name.tar.gz"
(cd "$dir" && sha256sum "$name.tar.gz" >"$name.tar.gz.sha256")
echo "$dir/$name.tar.gz"
