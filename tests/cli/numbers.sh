#!/bin/sh
# The numbers of a crawl agree wherever they are shown: status, progress, HTTP,
# metrics and the summary; the exports and the store, row by row; and the
# server's own log of requests. They agree while it runs, after kills, after
# resumes and at the end, and the test notices a number that is wrong by one.
set -eu
. "$TOP/tests/cli/lib.sh"

tables=$(dirname "$SITE")/doc_tables
"$tables" sums | sed -n 's/.*| `\(.*\)` |$/\1/p' >sums
[ "$(wc -l <sums)" -ge 3 ] || fail "too few sums: $(cat sums)"

# holds FILE.json...: each sum, of each view.
holds() {
    python3 - "$@" <<'END' || fail "the sums do not hold"
import json, sys
for name in sys.argv[1:]:
    n = json.load(open(name))
    for line in open("sums"):
        left, right = line.split("=")
        assert eval(left, {}, n) == eval(right, {}, n), (name, line, eval(left, {}, n), eval(right, {}, n))
END
}

# told DIR: what is shown of a crawl that nobody runs now, as ./status.json and
# ./rows.json.
told() {
    exits 0 "$URLWEIR" status "$1" --json
    cp out status.json
    for what in urls pages errors drops; do
        exits 0 "$URLWEIR" export "$1" --what $what
        cp out $what.jsonl
    done
    sqlite3 -readonly "$1/frontier.db" "SELECT final, url, status, ifnull(http, 0) FROM fetch" >fetches
    sqlite3 -readonly "$1/frontier.db" "SELECT max(id) FROM url" >last
    exits 0 "$URLWEIR" audit "$1" --json
    cp out audit.json
}
# agree: what `told` got together.
agree() {
    holds status.json
    python3 - <<'END'
import json
from collections import Counter
n = json.load(open("status.json"))
n["rows"] = int(open("last").read())
rows = lambda name: [json.loads(line) for line in open(name + ".jsonl")]
urls = rows("urls")
by = Counter(u["status"] for u in urls)
keys = {"fetched": "fetched", "redirect": "redirects", "failed": "failed", "denied": "denied",
        "skipped": "skipped", "queued": "queued"}
say = lambda what, a, b: a == b or exit("%s: %s is not %s" % (what, a, b))
say("urls", len(urls), n["urls"])
assert len({u["url"] for u in urls}) == len(urls)
for status, key in keys.items():
    say(key, by[status], n[key])
reasons = Counter(u["status"] + "." + u["reason"] for u in urls if u["reason"])
drops = Counter()
for d in rows("drops"):
    drops["dropped." + d["reason"]] += d["count"] or 0
say("reasons", {r: c for r, c in n["reasons"].items() if c > 0}, dict(reasons + drops))
say("dropped", sum(drops.values()), n["dropped"])
say("pages", len(rows("pages")), n["pages"])
say("errors", len(rows("errors")),
    n["failed"] + n["denied"] + n["skipped"] - reasons["skipped.no_sitemap"])
say("http_errors", sum(c for r, c in reasons.items() if r.startswith("failed.http_")), n["http_errors"])
fetches = [line.split("|") for line in open("fetches")]
# A URL that came back has a second row, and a last word in each.
again = n["rows"] - n["urls"]
say("final rows", sum(f[0] == "1" for f in fetches), n["urls"] - n["queued"] + again)
say("retries", sum(f[0] == "0" for f in fetches), n["retries"])
say("audit", json.load(open("audit.json"))["fetched"], n["fetched"])
say("seeds", sum(u["seed"] for u in urls), n["seeds"])
END
}
# arrived MOST: the server's log has what the rows say: each try with a response
# is an arrival, and none arrived without a row but MOST, in flight at a kill.
arrived() {
    logged
    python3 - "$1" <<'END'
import json, sys
from collections import Counter
asked, responses, tries = Counter(), Counter(), Counter()
for line in open("log"):
    f = line.split("\t")
    if f[6] != "/robots.txt":
        asked[f[3] + f[6]] += 1
name = {}
for line in open("urls.jsonl"):
    u = json.loads(line)
    host, path = u["url"].split("//", 1)[1].split("/", 1)
    name[u["id"]] = host.split(":")[0] + "/" + path
for line in open("fetches"):
    final, url, status, http = line.split("|")
    responses[name[int(url)]] += int(http) > 0
    tries[name[int(url)]] += status != "4"  # denied
over = 0
for url in set(name.values()):  # what else was asked for is a redirected robots.txt
    if asked[url] < responses[url]:
        exit("%s: %d responses to %d requests" % (url, responses[url], asked[url]))
    over += max(0, asked[url] - tries[url])
if over > int(sys.argv[1]):
    exit("%d requests have no row" % over)
print("%d requests, %d of them lost to kills" % (sum(asked.values()), over))
END
}

# ---- kills and resumes ----------------------------------------------------------------

# (8 transfers of 20 ms are 400 pages a second: it is not through before.)
serve --hosts 12 --pages 900 --latency 20 --profile errors,robots,redirects,variants,types --seed 9
kills=0
for n in 1 2 3; do
    killed_when something_arrives d -c 8 --sitemap auto --record links || break
    kills=$n
    told d
    agree || fail "after kill $n"
    arrived $((8 * n)) || fail "after kill $n"
done
[ $kills -ge 2 ] || fail "$kills kills"
exits 0 "$URLWEIR" resume d --progress json
grep '^{' err >lines
grep -v '^{' err >summary
n=0
while read -r line; do
    n=$((n + 1))
    echo "$line" >line.$n
done <lines
# shellcheck disable=SC2046
holds $(seq -f line.%g $n)
told d
agree || fail "at the end"
arrived $((8 * kills)) || fail "at the end"
serve_no_more
judge --kills $kills --in-flight 8 --ignore /sitemap.xml

# ---- the last line of the progress, the summary, HTTP and metrics ----------------------

mkdir -p s/crawls
cp -a d s/crawls/one
echo stopped >s/crawls/one/service
behind serve.out serve.err "$URLWEIR" serve s --listen 127.0.0.1:0 --http 127.0.0.1:0
service=$!
waits_for 'grep -q "listening on" serve.err' || fail "no service: $(cat serve.err)"
http=$(sed -n 's/.*HTTP on //p' serve.err)
curl -sS "http://$http/v1/crawls/one" >http.json
curl -sS "http://$http/metrics" >page
stop TERM 0
holds http.json
"$tables" names >names
while read -r name kind metric label; do
    [ "$kind" = crawl ] || [ "$kind" = state ] || continue
    [ "$label" != - ] || label=crawl=one
    echo "$name $metric $label"
done <names | python3 "$TOP/tests/support/prom_check.py" sums page >metrics
python3 - "line.$n" <<'END' || fail "they disagree"
import json, re, sys
n, last, http = (json.load(open(f)) for f in ("status.json", sys.argv[1], "http.json"))
for line in open("metrics"):
    name, value = line.split()
    assert n[name] == last[name] == http[name] == int(value), (name, n[name], last[name], http[name], value)
said = dict(re.findall(r"^  ([A-Za-z ]+?) +([\d,]+)\b", open("summary").read(), re.M))
for title, name in {"pages": "pages", "fetched": "fetched", "redirects": "redirects", "failed": "failed",
                    "denied": "denied", "links": "links", "unique URLs": "urls"}.items():
    assert int(said.get(title, "0").replace(",", "")) == n[name], (title, said)
END

# ---- what only some crawls have ---------------------------------------------------------

# A sitemap with a repeat, a stranger and one that is missing; more links than
# --max-links takes; a body seen before; a blocklist; a page linked to thrice.
rm -rf web
pages 127.0.0.1 /a.html /b.html /c.html /blocked.html
site=http://127.0.0.1:@PORT@
printf 'Sitemap: %s/none.xml\nSitemap: %s/some.xml\n' $site $site >web/127.0.0.1/robots.txt
cat >web/127.0.0.1/some.xml <<END2
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
<url><loc>$site/a.html</loc></url><url><loc>$site/a.html</loc></url>
<url><loc>http://127.0.0.2:@PORT@/x.html</loc></url><url><loc>$site/listed.html</loc></url>
</urlset>
END2
{
    echo '<title>first</title><a href=/b.html>b</a><a href=/b.html>b</a><a href=/a.html>a</a>'
    echo '<a href=/blocked.html>x</a><a href=/blocked.html>x</a><a href=/moved>m</a><img src=i.png>'
    for i in 1 2 3 4 5 6 7 8 9; do
        echo "<a href=/over-$i.html>o</a>"
    done
} >web/127.0.0.1/index.html
cp web/127.0.0.1/index.html web/127.0.0.1/listed.html
: >web/127.0.0.1/moved
printf '302\nLocation: %s\n' $site/c.html >web/127.0.0.1/moved.head
plain_site 127.0.0.1
at=http://127.0.0.1:$port
echo "$at/blocked.html" >blocked
exits 0 "$URLWEIR" filter create block --kind bloom --capacity 100 --fpr 0.001
"$URLWEIR" filter add block <blocked
seed=$at/
for more in "" "--dup-content skip" "--record links" "--compare-text"; do
    # shellcheck disable=SC2086
    crawl other $more --scope host --sitemap auto --max-links 8 --block-filter block --block-exact blocked
    ended 0
    told other
    agree || fail "with ${more:-nothing more}"
    python3 - "$more" <<'END' || fail "with ${more:-nothing more}: $(cat status.json)"
import json, sys
n = json.load(open("status.json"))
assert n["sitemaps"] == 2 and n["http_errors"] > 0, n
for reason in "dropped.link_count", "dropped.blocklist", "dropped.kind", "dropped.scope":
    assert n["reasons"].get(reason, 0) > 0, (reason, n["reasons"])
assert ("dropped.same_content" in n["reasons"]) == (sys.argv[1] == "--dup-content skip"), n["reasons"]
END
    rm -rf other
done
kill "$server" && wait "$server" || :
