#!/bin/sh
# crawl, serve and dedupe each have a directory of their own: they overwrite no
# other files and never use one directory for two things.
# Promise (Installing and checks): no files of others are overwritten: crawl,
#   serve and dedupe refuse a directory that is not empty and not of their
#   kind, say what to do, and change nothing there. See also `dir_kind`.
set -eu
. "$TOP/tests/cli/lib.sh"

# What is in a directory, byte for byte.
sums() { (cd "$1" && find . -type f -exec sha256sum {} + | sort && find . | sort); }

make_crawl() { "$URLWEIR" crawl "$seed" -o "$1" $quick -d 0 -q; }
start_crawl() { "$URLWEIR" crawl "$seed" -o "$1" $quick -d 0 -q; }
start_serve() { timeout 20 "$URLWEIR" serve "$1" --listen 127.0.0.1:0 --http none; }
start_dedupe() { "$URLWEIR" dedupe urls --state "$1"; }

# refused WHO DIR TEXT...: with status 2 and these words; nothing is changed.
refused() {
    who=$1 where=$2
    shift 2
    sums "$where" >sums.before
    exits 2 "start_$who" "$where"
    for text; do
        says err "$text"
    done
    sums "$where" | diff sums.before - || fail "$who changed $where"
}
# used WHO DIR: it is accepted.
used() {
    case $1 in
    serve)
        behind serve.out serve.err "$URLWEIR" serve "$2" --listen 127.0.0.1:0 --http none
        service=$!
        waits_for 'grep -q "listening on" serve.err || ! kill -0 $service 2>/dev/null'
        stop TERM 0
        ;;
    *) exits 0 "start_$1" "$2" ;;
    esac
}

mkdir web
echo '<title>one</title>' >web/index.html
serve_files web
echo "$seed" >urls

# ---- files of a person ------------------------------------------------------------

mkdir www site
echo '<title>mine</title>' >www/index.html
echo 'depth: 3' >site/crawl.yaml # what was given with -C
for who in crawl serve dedupe; do
    refused $who www "urlweir $who: www is not empty: index.html is in it" \
        "nothing was written; give a new or empty directory, such as www/"
    refused $who site "crawl.yaml is in it"
done
(cd site && "$URLWEIR" crawl "$seed" -C crawl.yaml -o . $quick >../out 2>../err) &&
    fail "crawl -C crawl.yaml -o . went on" || :
says err "such as ./crawl"
[ "$(ls -A site) $(cat site/crawl.yaml)" = "crawl.yaml depth: 3" ] || fail "site: $(ls -A site)"

# A file that has one of our names, but is not ours.
for name in lock dedupe.lock frontier.db dedupe.db manifest dedupe.manifest filter.ckpt; do
    mkdir -p "named/$name"
    echo "my own $name" >"named/$name/$name"
    for who in crawl serve dedupe; do
        refused $who "named/$name" "$name is in it, which is not urlweir's"
    done
done
mkdir foreign
sqlite3 foreign/frontier.db 'CREATE TABLE mine(x)'
refused serve foreign "frontier.db is in it"
refused crawl foreign "frontier.db is in it"

# ---- each other's -------------------------------------------------------------------

make_crawl c
used serve s
used dedupe d
refused serve c "c holds a crawl of \`urlweir crawl\`; a service needs a directory of its own"
refused dedupe c "c holds a crawl of \`urlweir crawl\`; the set of --state needs a directory of its own"
refused crawl d "d holds a set of \`urlweir dedupe\`; a crawl needs a directory of its own"
refused serve d "d holds a set of \`urlweir dedupe\`; a service needs a directory of its own"
refused dedupe s "the set of --state needs a directory of its own"
exits 2 start_crawl s
says err "holds the frontier of a service"
exits 2 start_crawl c
says err "holds a crawl already; continue it with \`urlweir resume c\`"
used serve s
used dedupe d

# A crawl whose settings were lost is no service's, and can be mended.
cp -r c lost
rm lost/urlweir-settings.yaml
exits 2 start_serve lost
says err "lost holds a crawl, whose urlweir-settings.yaml is missing"
refused dedupe lost "the set of --state needs a directory of its own"
exits 2 start_crawl lost
exits 6 "$URLWEIR" resume lost -q
says err "The store has the options of the last run, without secrets:"
sh -c "$(tail -n 1 err)"
exits 0 "$URLWEIR" resume lost -q
lacks err ' -> ' "other settings"

# ---- what may be used ----------------------------------------------------------------

for who in crawl serve dedupe; do
    mkdir -p "empty.$who" "disk.$who/lost+found" "failed.$who"
    used $who "empty.$who"
    used $who "disk.$who" # a file system of its own
    : >"failed.$who/lock" # a start that failed before it made anything
    echo "4711 $who" >"failed.$who/dedupe.lock"
    used $who "failed.$who"
done
# A crawl, killed when its directory has its settings and nothing else.
mkdir begun
cp c/urlweir-settings.yaml begun/
used crawl begun

# Beside the crawl's own settings a person's crawl.yaml is left alone.
echo 'depth: 3' >c/crawl.yaml
exits 0 "$URLWEIR" resume c -q
[ "$(cat c/crawl.yaml)" = "depth: 3" ] || fail "crawl.yaml was changed"
