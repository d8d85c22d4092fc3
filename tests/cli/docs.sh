#!/bin/sh
# The documents tell the truth: links work, the files of the source that they
# name exist, reasons are explained, and the commands of README.md and
# docs/operating.md do what the documents say, on a small web, also while the
# crawl runs.
# Promise (Installing and checks): the commands of README and docs run as
#   written, their links work, and the files that they name exist.
# Promise (Seen check and store): the store's schema is documented
#   (formats/frontier-db.md) and readable while the crawl runs. See also `make
#   sim`.
set -eu
. "$TOP/tests/cli/lib.sh"
docs=$TOP/docs

# ---- links and words --------------------------------------------------------

for page in "$TOP"/*.md "$docs"/*.md "$docs"/*/*.md; do
    grep -o '](\([^)#:]*\)[)#]' "$page" | sed 's/^](//; s/[)#]$//' >links
    while read -r to; do
        [ -e "$(dirname "$page")/$to" ] || fail "$page: no $to"
    done <links
done

# The files and folders of the source that they name are there. Capitals stand
# for a name, as in import_NAME.c.
(cd "$TOP" && find . \( -name .git -o -path ./build \) -prune -o -print) >tree
grep -oHE '[A-Za-z0-9_./-]*[A-Za-z0-9_]\.(c|h|sh)\>' "$TOP"/*.md "$docs"/*.md "$docs"/*/*.md |
    grep -v ':.*[A-Z]' >named
grep -oHE '`(base|config|filter|storage|frontier|crawler|job|cluster|service)/[a-z0-9_/]+`' \
    "$docs"/architecture.md "$docs"/glossary.md | tr -d '`' >>named
[ "$(wc -l <named)" -gt 200 ] || fail "the documents name no files: $(cat named)"
sed 's,:\(\.\./\)*,:,; s,/$,,' named >names
while IFS=: read -r page name; do
    grep -qE "/$name(\.h)?\$" tree || fail "$page: no file $name"
done <names

# A reason that a crawl can give is explained; `http` is shown as http_404.
sed -n 's/^ *\[REASON_[A-Z_]*\] = "\([a-z_][a-z_]*\)",/\1/p' "$TOP/frontier/outcome.c" |
    grep -vx http >reasons
[ "$(wc -l <reasons)" -gt 30 ] || fail "no reasons: $(cat reasons)"
while read -r reason; do
    says "$docs/formats/export.md" "\`$reason\`"
done <reasons

# ---- README and the operating guide, command by command ----------------------

serve --hosts 3 --pages 300 --size 2000 --latency 10
cat >seeds.txt <<END
# the site
$seed
END
# Only what a loopback address needs is added to the commands of the guide.
here="--allow-private --min-disk 0 -q"
path=$(dirname "$URLWEIR"):$PATH
PATH=$path

# A crawl, from start to end; status, store and explain while it runs: it would
# take 20 s at least.
# shellcheck disable=SC2086
urlweir crawl -i seeds.txt -o crawl --contact https://example.org/bot \
    --delay 200ms --scope any $here &
crawler=$!
waits_for 'urlweir status crawl >out 2>err && grep -q running out' ||
    fail "status: $(cat out err)"
waits_for '[ "$(sqlite3 -readonly crawl/frontier.db \
    "SELECT count(*) FROM fetches WHERE final")" -gt 20 ]' || fail "no fetches"
exits 0 sqlite3 -readonly crawl/frontier.db \
    "SELECT status, count(*) FROM fetches WHERE final GROUP BY status"
says out fetched
exits 0 sqlite3 -readonly crawl/frontier.db \
    "SELECT url, found_at FROM urls WHERE false_positive"
mkdir copy
sqlite3 crawl/frontier.db >copy.out 2>&1 <<'END' || fail "$(cat copy.out)"
BEGIN; SELECT count(*) FROM meta;
.backup copy/frontier.db
END
cp crawl/urlweir-settings.yaml copy/
exits 0 urlweir verify copy --repair
exits 2 urlweir resume crawl
exits 0 urlweir pause crawl
waits_for 'urlweir status crawl >out 2>err && grep -q paused out' ||
    fail "status: $(cat out err)"
exits 0 urlweir block crawl 127.0.0.2 --for 2h
exits 0 urlweir block crawl 127.0.0.2 --off
exits 0 urlweir delay crawl 127.0.0.2 10s
exits 0 urlweir delay crawl 127.0.0.2 default
exits 0 urlweir limit crawl 127.0.0.2 5000
exits 0 urlweir limit crawl 127.0.0.2 none
exits 0 urlweir seed crawl "$seed"
says out skipped
exits 0 urlweir unpause crawl
kill -KILL $crawler
wait $crawler 2>killed || :
exits 0 urlweir resume crawl -q --delay 0
exits 0 urlweir resume crawl # finished: says so and sends nothing
exits 0 urlweir status crawl
says out finished
exits 0 urlweir audit crawl --what-if 1e-2,1e-6
exits 0 urlweir audit crawl --html audit.html
grep -q '<svg' audit.html || fail "audit.html has no plot"
exits 0 urlweir explain crawl "$seed"
says out fetched
exits 0 urlweir explain crawl http://example.org/elsewhere
exits 0 urlweir export crawl --what pages --format csv
exits 0 urlweir export crawl --what errors
exits 0 urlweir export crawl --what drops
exits 0 urlweir verify crawl

# One host, and a domain with limits.
# shellcheck disable=SC2086
exits 0 urlweir crawl "$seed" -o one --delay 0 $here
# shellcheck disable=SC2086
exits 0 urlweir crawl "$seed" -o later --since one --delay 0 $here
exits 0 urlweir diff one later
# shellcheck disable=SC2086
exits 3 urlweir crawl -i seeds.txt -o two --scope domain --depth 5 --limit 20 \
    --delay 0 $here
exits 3 urlweir resume two --limit 40 -q
exits 0 urlweir resume two --limit none -q

# Changing its settings: each command of that chapter, ended early.
mkdir changing && cd changing
# shellcheck disable=SC2086
exits 3 urlweir crawl "$seed" -o crawl --delay 0 --limit 5 $here
sed -n '/^## Changing its settings/,/^## Who/s/^    \(urlweir [^#]*\).*/\1/p' "$docs/operating.md" >../changing.sh
[ "$(wc -l <../changing.sh)" -ge 4 ] || fail "no commands on settings in operating.md"
while read -r command; do
    case $command in
    *resume*) exits 3 sh -c "$command --time 300ms" ;;
    *) exits 0 sh -c "$command" ;;
    esac
done <../changing.sh
says out "limit: 5000"
says out "exclude: /library/"
lacks out "limit-rate: 100K$" "--once was kept"
cd ..

# A crawl's directory, copied while it does not run, is a crawl.
cp -r crawl copied
exits 0 urlweir verify copied

# What repair is for: no manifest, and a copy made by .backup.
rm copied/manifest
exits 6 urlweir resume copied
exits 0 urlweir verify copied --repair
exits 0 urlweir resume copied -q

# ---- the guide to dedupe, command by command ------------------------------------

mkdir guide && cd guide # its files have names that others use too
seq 300 | sed 's,^,http://example.com/,' >day1.txt
seq 200 400 | sed 's,^,http://example.com/,' >day2.txt
cat day1.txt day2.txt >urls.txt
echo mailto:someone@example.com >>urls.txt
seq 100 >words.txt
gzip day1.txt day2.txt
sed -n 's/^    \(.*urlweir dedupe.*\)/\1/p' "$docs/dedupe.md" >examples
[ "$(wc -l <examples)" -gt 10 ] || fail "no commands in dedupe.md"
while read -r command; do
    exits 0 sh -c "$command"
done <examples
seq 400 | sed 's,^,http://example.com/,' | cmp - new.txt ||
    fail "dedupe.md: new.txt is not each URL once"
[ "$(wc -l <new1.txt) $(wc -l <new2.txt) $(wc -l <new3.txt)" = "300 100 0" ] ||
    fail "dedupe.md: the runs print $(wc -l new?.txt)"
grep -q mailto all.txt || fail "dedupe.md: --invalid keep"
json lines <summary.json >lines
[ "$(cat lines)" = 502 ] || fail "dedupe.md: summary.json: $(cat summary.json)"
# What it says about the JSON is what there is.
sed -n '/^## Summary as JSON/,/^## Progress/p' "$docs/formats/dedupe.md" |
    awk -F '|' '/^\| `/ { gsub(/[`, ]+/, "\n", $2); print $2 }' | grep . |
    sort >told
sed -n 's/^  "\([a-z_]*\)":.*/\1/p' summary.json | sort >there
diff told there || fail "formats/dedupe.md names other keys than there are"
cd ..

exits 0 urlweir audit crawl --what-if 1e-2,1e-3 --html audit.html # docs/filters.md

# ---- the store's documented queries -------------------------------------------

awk '/^```sql$/ { on = 1; next } /^```$/ { if (on) print "SELECT '\''--'\'';"; on = 0 }
    on' "$docs/formats/frontier-db.md" >queries.sql
[ "$(grep -c ';' queries.sql)" -gt 10 ] || fail "no queries in frontier-db.md"
exits 0 sqlite3 -readonly -bail crawl/frontier.db ".read queries.sql"
