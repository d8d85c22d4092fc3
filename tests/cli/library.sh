#!/bin/sh
# liburlweir, as a program sees it that is built against what `make install`
# installed: it exports exactly what is promised, changes nothing of its
# process, and agrees with `urlweir` on URLs, robots.txt, pages and sitemaps;
# both share filters and sets. The commands of docs/library.md run.
# Promise (Installing and checks): the C library exports exactly the symbols of
#   its list and header, and calls nothing that changes its process; a program
#   built by pkg-config against the installed library agrees with the program
#   on URLs, robots.txt, pages and sitemaps, and shares filters and sets with
#   it.
set -eu
. "$TOP/tests/cli/lib.sh"
mode=$(basename "$(dirname "$URLWEIR")")
[ "$mode" = release ] || skip "the library is made for the release build"
unset MAKEFLAGS MFLAGS MAKELEVEL
exits 0 make -C "$TOP" -o "build/$mode/urlweir" -o "build/$mode/lib/liburlweir.so.1.0.0" \
    MODE="$mode" DESTDIR="$WORK/root" PREFIX=/usr install
lib=$WORK/root/usr/lib
header=$WORK/root/usr/include/urlweir.h

# ---- what is exported -------------------------------------------------------------

LC_ALL=C
export LC_ALL
nm -D --defined-only --with-symbol-versions "$lib/liburlweir.so" |
    sed -n 's/.* [TDBRA] \(.*\)/\1/p' | sed 's/@@/@/' | sort >exported
sed -n 's/^ \([^ ]*\) .*/\1/p' "$TOP/packaging/debian/liburlweir1.symbols" |
    grep -v '^URLWEIR_[0-9]*@' | sort >want
sed -i '/^URLWEIR_[0-9]*$/d; /^URLWEIR_[0-9]*@/d' exported
[ "$(wc -l <want)" -gt 30 ] || fail "no symbols in liburlweir1.symbols"
diff want exported || fail "other symbols than liburlweir1.symbols lists"
# Comments may name functions of others.
awk '{ gsub(/\/\*[^*]*\*\//, "") } /\/\*/ { on = 1 } !on { print } /\*\// { on = 0 }' "$header" |
    grep -o 'urlweir_[a-z_]*(' | tr -d '(' | sort -u >declared
sed 's/@.*//' exported | diff - declared || fail "urlweir.h declares other functions"
readelf -d "$lib/liburlweir.so" >out
says out 'soname: [liburlweir.so.1]'
# Its process keeps its signals, locale, allocator and settings.
nm -D --undefined-only "$lib/liburlweir.so" | sed 's/.* //; s/@.*//' >called
[ "$(wc -l <called)" -gt 50 ] || fail "nothing is called"
lacks -xE called 'signal|sigaction|sigprocmask|setlocale|fork|execve|exit|atexit|mallopt|xmlMemSetup|xmlCleanupParser|xmlSetGenericErrorFunc|sqlite3_config|sqlite3_shutdown|umask|chdir|setenv|srand' \
    "it calls what changes its process"

# ---- a program against it -----------------------------------------------------------

export PKG_CONFIG_PATH="$lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$WORK/root"
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
flags=$(pkg-config --cflags --libs urlweir) || fail "pkg-config does not know it"
[ "$(pkg-config --modversion urlweir)" = "$("$URLWEIR" --version | sed -n '1s/urlweir //p')" ] ||
    fail "pkg-config has another version"
# shellcheck disable=SC2086
exits 0 cc -std=c99 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror -o example \
    "$TOP/docs/library-example.c" $flags
printf '#include <urlweir.h>\nint main() { return urlweir_version() == 0; }\n' >header.cc
# shellcheck disable=SC2086
exits 0 c++ -std=c++11 -Wall -Wextra -Wpedantic -Werror -o header header.cc $flags
export LD_LIBRARY_PATH="$lib"
ldd ./example | grep -q "$lib/liburlweir.so.1 " || fail "it runs with another library"

# same WHAT WANT GOT: both said the same.
same() {
    cmp -s "$2" "$3" || {
        diff "$2" "$3" | head -n 10
        fail "$1: the library says something else than urlweir"
    }
}

# The URL Standard's cases, where they are, and what the fuzzers began with.
: >urls
wpt=$TOP/../shared/testdata/wpt-url
for f in urltestdata toascii; do
    [ ! -e "$wpt/$f.json" ] || python3 - "$wpt/$f.json" >>urls <<'END'
import json, sys
for case in json.load(open(sys.argv[1])):
    text = isinstance(case, dict) and case.get("input")
    if text and "\n" not in text:
        sys.stdout.buffer.write(text.encode("utf-8", "surrogatepass") + b"\n")
        sys.stdout.buffer.write(b"http://" + text.encode("utf-8", "surrogatepass") + b"/\n")
END
done
for f in "$TOP"/fuzz/corpus/url/*; do
    cat "$f"
    echo
done >>urls
"$URLWEIR" url <urls >forms
"$URLWEIR" url --surt <urls >keys
awk -F '\t' 'NR == FNR { key[FNR] = $0; next } /^!\t/ { print; next }
    { print $0 "\t" key[FNR] }' keys forms >want
./example url <urls >got
[ "$(wc -l <want)" -gt 40 ] || fail "too few URLs: $(wc -l <want)"
same url want got

for f in "$TOP"/fuzz/corpus/robots/*; do
    "$URLWEIR" robots --agent Foo/1.0 "$f" <urls >want
    ./example robots Foo/1.0 "$f" <urls >got
    same "robots $f" want got
done
echo '<a href="%7ex?">as the URL Standard has it</a>' >escaped.html
for f in "$TOP"/fuzz/corpus/links/* "$TOP"/fuzz/corpus/html/* escaped.html; do
    "$URLWEIR" links --url http://h.example/dir/page "$f" >want
    ./example links http://h.example/dir/page <"$f" >got
    same "links $f" want got
done
# White space inside a value is a space for the program alone.
for f in "$TOP"/fuzz/corpus/sitemap/* "$TOP"/fuzz/corpus/feed/*; do
    "$URLWEIR" sitemap --url http://h.example/dir/x "$f" >want 2>err || :
    ./example sitemap http://h.example/dir/x <"$f" >got 2>err || :
    tr '\r\f\v' '   ' <got | awk -F '\t' '{ print }' >plain
    [ "$(tr -s '\n\t ' ' ' <want)" = "$(tr -s '\n\t ' ' ' <plain)" ] ||
        same "sitemap $f" want got
done

# ---- filters and sets are the program's ----------------------------------------------

seq 5000 >one
seq 4001 9000 >two
./example filter of-library <one >out
"$URLWEIR" filter add of-library --tell <two >got
"$URLWEIR" filter create of-program --capacity 100000
"$URLWEIR" filter add of-program <one
./example filter of-program <two >want
same "a filter" want got
# Both have one seed, so they merge.
exits 0 "$URLWEIR" filter merge both of-library of-program
[ "$("$URLWEIR" filter check both <one | grep -c '^maybe')" = 5000 ] ||
    fail "keys are lost between library and program"
exits 2 ./example filter "$TOP/README.md"
says err "filter file refused path=" # what the log says reaches the program
says err "README.md: not in the expected format"

sed 's|^|http://h/|' one >one.urls
sed 's|^|HTTP://H:80/|; s|$|#f|' two >two.urls
./example dedupe set <one.urls | cmp - one.urls || fail "lines are lost"
"$URLWEIR" dedupe --state set -q two.urls >got
tail -n 4000 two.urls | cmp - got || fail "the program does not know the library's set"
./example dedupe set <two.urls >got
[ ! -s got ] || fail "the library does not know the program's set"


# Memory that runs out while a page is read ends the process, as urlweir.h says;
# how much there must be for that to be where it ends differs between systems.
head -c 30000000 /dev/zero | tr '\0' '\351' >page
for kib in 120000 140000 160000 180000 200000 230000 260000 300000 350000; do
    status=0
    (ulimit -v $kib && exec ./example links http://h/ <page) >out 2>err || status=$?
    ! grep -q '^urlweir: out of memory: ' err || break
done
grep -q '^urlweir: out of memory: ' err || fail "memory never runs out"
[ $status = 2 ] || fail "without memory it ends with $status"

grep -qx "version = \"$("$URLWEIR" --version | sed -n '1s/urlweir //p')\"" \
    "$TOP/bindings/python/pyproject.toml" || fail "the Python package has another version"

# ---- docs/library.md ------------------------------------------------------------------

mkdir guide && cd guide
cp ../example .
sed -n 's/^    \(printf .*\|echo .*\)/\1/p' "$TOP/docs/library.md" >commands
[ "$(wc -l <commands)" -ge 7 ] || fail "no commands in library.md"
while read -r command; do
    exits 0 sh -c "$command"
    cat out >>said
done <commands
awk '/^```/ { open = !open; on = open && $0 == "```"; next } on' "$TOP/docs/library.md" >want
head -n 2 said | cmp -s want - || fail "library.md: $(cat said)"
for line in "deny	http://example.org/private/x" "a	http://example.org/docs/next" \
    "maybe	one" "http://a/"; do
    grep -qxF "$line" said || fail "library.md: no '$line' in: $(cat said)"
done
