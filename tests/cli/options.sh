#!/bin/sh
# A crawl does what it is told, or refuses and names what was meant: on the
# command line, in a YAML file with the same names, and in the settings file
# for a resume.
set -eu
. "$TOP/tests/cli/lib.sh"

# ---- refused with status 1, nothing on stdout, no directory made -------------

refuses() {
    want=$1
    shift
    exits 1 "$URLWEIR" "$@"
    says err "$want"
    [ ! -s out ] || fail "output of: $*"
    [ ! -e d ] || fail "made a directory: $*"
}
crawl() {
    want=$1
    shift
    refuses "$want" crawl http://127.0.0.1:1/ -o d "$@"
}
crawl "no option --dept; did you mean --depth?" --dept 3
crawl "no option --max-red; did you mean --max-redirects?" --max-red 3
crawl "no option -Z" -Z
crawl "--depth needs a value: --depth N" --depth
crawl "--depth needs a value: --depth N" --depth --insecure
crawl "--insecure is a switch and takes no value" --insecure=yes
crawl "-d: 'deep' is not a count; it takes a whole number, or none" -d deep
crawl "--concurrency: '0' is out of range; it takes 1 to 10000" --concurrency 0
crawl "--delay: '1 s' is not a time" --delay '1 s'
crawl "--quota: '1KB' is not a size" --quota 1KB
crawl "--scope: 'hosts' is not known; it takes one of seed, host" --scope hosts
crawl "--delay 1m is above --max-delay 30s" --delay 60s --max-delay 30s
crawl "--random-delay varies --delay, which is 0" --random-delay -w0
crawl "-q and -v" -qv
crawl "a header is \`Name: value\`" --header nonsense
crawl "--cdxj is about WARC files; give --warc as well" --cdxj
crawl "--warc-prefix is about WARC files" --warc-prefix x
crawl "--warc-size is about WARC files" --warc-size 2M
crawl "--warc-prefix 'a/b': it takes at most 64 letters" --warc --warc-prefix a/b
crawl "--warc-size: '1000' is out of range" --warc --warc-size 1000
refuses "--warc needs -o DIR" crawl http://127.0.0.1:1/ --warc
refuses "no seed: give URLs, or -i FILE" crawl -o d
refuses "the crawl's directory is missing" resume

# ---- YAML: file, line, column and the nearest key ----------------------------

yaml() {
    printf "$2" >my.yaml
    crawl "$1" --config my.yaml
}
yaml "my.yaml:2:1: no setting 'delya'; did you mean 'delay'?" 'depth: 3\ndelya: 3\n'
yaml "my.yaml:1:8: depth: 'x' is not a count" 'depth: x\n'
yaml "my.yaml:3:1: 'depth' was already set in line 1" 'depth: 1\n\ndepth: 2\n'
yaml "my.yaml:1:10: include: takes a list" 'include: x\n'
yaml "my.yaml:1:8: depth: takes one value, not a list" 'depth: [3]\n'
yaml "my.yaml:1:8: anchors (&)" 'depth: &a 3\n'
yaml "my.yaml:1:14: not UTF-8 text" 'user-agent: J\374rgen\n'
yaml "my.yaml:2:1: not YAML" 'depth: 3\n\tlimit: 3\n'
crawl "none.yaml: not found" --config none.yaml

# ---- a crawl that is told everything -----------------------------------------

serve --hosts 2 --pages 20
site=http://127.0.0.1:$port/

cat >all.yaml <<END
# Some from a file; the command line wins.
depth: 1
limit: 7
exclude: ['/from-file']
contact: https://me.example.org/
END
echo "$site # a seed" >seeds.txt
echo '/no-such-path/ /' >rules
echo "machine a.example login u password p" >netrc
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout pair.key \
    -out pair.pem -days 2 -subj /CN=a 2>openssl.err || fail "openssl: $(cat openssl.err)"
cat pair.key >>pair.pem
exits 0 "$URLWEIR" crawl --input seeds.txt --output d --config all.yaml \
    --depth 30 --scope any --include '^http' --exclude '/none$' \
    --exclude 'also-none' --mime text/html,text/ --max-url-len 1000 \
    --allow-private --allow-net 127.0.0.0/8 --deny-net 127.0.0.9 \
    --nat64 64:ff9b:1::/48 --allow-port 25,6000 \
    --follow a,area,link,sitemap --ignore area --assets --sitemap auto \
    --sitemap-url "$site" --order best --boost 'x=-1' --first '/f' --limit 1000 --per-host 500 \
    --per-domain 600 --per-host-bytes 700M --budget inlinks \
    --time 90s --quota 100M --max-body 1M --max-links 99 --memory 128M --min-disk 1M \
    --give-up 50s --delay 1ms --random-delay --no-adaptive --max-delay 2s \
    --max-crawl-delay 3s --conns-per-host 1 --conns-per-ip 4 \
    --limit-rate 100M --limit-rate-per-host 90M --robots report --noindex skip --queue-key host --concurrency 8 \
    --threads 2 --tries 2 --retry-delay 10ms --timeout 5s \
    --connect-timeout 4s --max-redirects 3 --user-agent Tester/1 \
    --header 'X-Test: a "b" \c' --cookie 'k=v' --no-check --insecure \
    --header-host 'a.example=X-One: 1' --auth 'http://a.example:81=u:p' \
    --bearer 'a.example=t' --cookies /dev/null --netrc netrc \
    --cert pair.pem --key pair.pem --cacert pair.pem \
    --resolve example.org:80:127.0.0.1 --filter bloom --fpr 1e-2 \
    --expect 5000 --redis '' --cluster '' --shards 8 --block-filter '' --block-exact '' \
    --compare-text --dup-content report --near-dup skip --changed-by words --refresh 1d --refresh-min 2h --refresh-max 9d --refresh-share 0.25 --keep-history 7 --until-idle --traps report --trap counter=9 --drop-params sid --drop-tracking \
    --drop-empty-params --sort-query --rewrite rules --since '' --record all --checkpoint 5s \
    --warc --warc-size 2M --warc-prefix test --cdxj --jsonl lines.jsonl --kafka-property client.id=x \
    --quiet --no-verbose --no-decisions --progress none --metrics 127.0.0.1:0 --no-metrics-open
[ ! -s out ] || fail "a crawl writes to stdout"
sed -e '/^#/d' -e '/^$/d' -e "s,$site,@," d/urlweir-settings.yaml >got.yaml
cat >want.yaml <<'END'
seeds: []
input: "seeds.txt"
cluster: ""
shards: 8
depth: 30
scope: any
include:
  - "^http"
exclude:
  - "/none$"
  - "also-none"
mime:
  - "text/html"
  - "text/"
max-url-len: 1000
allow-private: true
allow-net:
  - "127.0.0.0/8"
deny-net:
  - "127.0.0.9"
nat64:
  - "64:ff9b:1::/48"
allow-port:
  - "25"
  - "6000"
follow:
  - "a"
  - "area"
  - "link"
  - "sitemap"
ignore:
  - "area"
assets: all
check-external: false
sitemap: auto
sitemap-url:
  - "@"
order: best
boost:
  - "x=-1"
first:
  - "/f"
refresh: 1d
refresh-min: 2h
refresh-max: 9d
refresh-share: 0.25
keep-history: 7
limit: 1000
per-host: 500
per-domain: 600
per-host-bytes: 700M
budget: inlinks
time: 90s
quota: 100M
max-body: 1M
max-links: 99
keep-dropped: 256M
memory: 128M
min-disk: 1M
give-up: 50s
delay: 1ms
random-delay: true
adaptive: false
max-delay: 2s
max-crawl-delay: 3s
conns-per-host: 1
conns-per-ip: 4
limit-rate: 100M
limit-rate-per-host: 90M
robots: report
noindex: skip
queue-key: host
concurrency: 8
threads: 2
tries: 2
retry-delay: 10ms
timeout: 5s
connect-timeout: 4s
max-redirects: 3
user-agent: "Tester/1"
contact: "https://me.example.org/"
cookies: "/dev/null"
netrc: "netrc"
cert: "pair.pem"
key: "pair.pem"
cacert: "pair.pem"
check: false
insecure: true
resolve:
  - "example.org:80:127.0.0.1"
filter: bloom
fpr: 0.01
expect: 5000
compare-text: true
dup-content: report
traps: report
trap:
  - "counter=9"
near-dup: skip
changed-by: words
block-exact: ""
drop-params:
  - "sid"
drop-tracking: true
drop-empty-params: true
sort-query: true
rewrite: "rules"
since: ""
record: all
warc: true
warc-size: 2M
warc-prefix: "test"
cdxj: true
jsonl: "lines.jsonl"
checkpoint: 5s
END
diff want.yaml got.yaml || fail "the settings are not what was said"
sed -e '/^#/d' -e '/^$/d' d/urlweir-secrets.yaml >got.yaml
cat >want.yaml <<'END'
header:
  - "X-Test: a \"b\" \\c"
header-host:
  - "a.example=X-One: 1"
cookie: "k=v"
auth:
  - "http://a.example:81=u:p"
bearer:
  - "a.example=t"
proxy: ""
redis: ""
block-filter: ""
kafka-property:
  - "client.id=x"
END
diff want.yaml got.yaml || fail "the file of secrets is not what was said"
[ "$(stat -c %a d/urlweir-secrets.yaml)" = 600 ] || fail "a cookie that others can read"

# ---- resume: the difference, and what is fixed --------------------------------

exits 0 "$URLWEIR" resume d --until-idle --depth none -I '' -X '/x' -b k=w --no-insecure -q
says err "depth: 30 -> none"
says err "include: ^http -> none"
says err "exclude: /none\$, also-none -> /x"
says err "cookie: changed"
says err "insecure: true -> false"
[ "$(grep -c -- ' -> ' err)" = 4 ] || fail "other differences: $(cat err)"
exits 1 "$URLWEIR" resume d --until-idle --queue-key domain
says err "it is fixed when a crawl starts"
exits 1 "$URLWEIR" resume d --until-idle -o e
exits 2 "$URLWEIR" resume nowhere
says err "no crawl to resume in nowhere; there is no such directory"
mkdir begun
cp d/urlweir-settings.yaml begun/
exits 2 "$URLWEIR" resume begun
says err "no crawl in begun: it ended before anything was stored; give the same"
echo "dept: 3" >d/urlweir-settings.yaml
exits 6 "$URLWEIR" resume d
says err "d/urlweir-settings.yaml:1:1: no setting 'dept'; did you mean 'depth'?"

# ---- short forms, and options behind operands --------------------------------

exits 3 "$URLWEIR" crawl "$site" -os -d30 -c4 -t2 -T5s -w0 -n 2 -U x -H 'A: b' \
    -I http -X nothing -b a=b --allow-private --min-disk 0 -q -i seeds.txt -C all.yaml
exits 1 "$URLWEIR" crawl "$site" -o s2 -x ftp://127.0.0.1/ --allow-private
says err "--proxy 'ftp://127.0.0.1/': it takes a URL"
exits 2 "$URLWEIR" crawl "$site" -o s
says err "holds a crawl already"
