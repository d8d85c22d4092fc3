#!/bin/sh
# bash, zsh and fish complete commands, their options, the words of a choice,
# files and directories, from the same tables as --help: what --help lists is
# completed, and nothing else.
# Promise (Commands and options): bash, zsh and fish complete the options
#   that help lists and no others, the words of choices, files and
#   directories.
set -eu
. "$TOP/tests/cli/lib.sh"

exits 1 "$URLWEIR" completion
exits 1 "$URLWEIR" completion tcsh
says err "'tcsh' is not bash, zsh or fish"
for shell in bash zsh fish; do
    exits 0 "$URLWEIR" completion $shell
    cp out "urlweir.$shell"
done

# ---- the same options as --help -----------------------------------------------

# COMMAND TAB OPTION of each, from the help.
"$URLWEIR" --help | sed -n 's/^  \([a-z-]*\)  *.*/\1/p' >commands
"$URLWEIR" filter --help | sed -n 's/^  \([a-z-]*\)  *.*/filter \1/p' >>commands
while read -r c; do
    # shellcheck disable=SC2086
    "$URLWEIR" $c --help all | sed -n 's/^  \(-.,\|   \) --\([a-z0-9-]*\).*/\2/p' |
        sed "s/^/$c	/"
done <commands | LC_ALL=C sort >want
[ "$(wc -l <want)" -gt 250 ] || fail "few options: $(wc -l <want)"

sed -n "s/^    '\(.*\)') words='\(--help.*\)' ;;/\1	\2/p" urlweir.bash |
    while IFS="	" read -r c options; do
        for o in $options; do
            case $o in --no-*) ;; --*) printf '%s\t%s\n' "$c" "${o#--}" ;; esac
        done
    done | LC_ALL=C sort >got
diff want got || fail "bash completes other options than --help lists"
awk -F"'" '/^    .[a-z -]*.\)$/ { c = $2 } /--help/ { print c "\thelp" }
    c != "" && match($0, /--[a-z0-9-]+/) && !/--help\}/ {
        o = substr($0, RSTART + 2, RLENGTH - 2)
        if ($2 ~ /^\*?--/ && o !~ /^no-/) print c "\t" o }' urlweir.zsh |
    LC_ALL=C sort -u >got
diff want got || fail "zsh completes other options than --help lists"
sed -n "s/.*__urlweir_is \(.*\)' -l \([a-z0-9-]*\) .*/\1	\2/p" urlweir.fish |
    grep -v '	no-' | LC_ALL=C sort >got
diff want got || fail "fish completes other options than --help lists"

# ---- bash ---------------------------------------------------------------------

mkdir -p here/deep
touch here/seeds.txt here/deep/x
# asks LINE: what bash offers at its end; words are separated as bash does it.
asks() {
    # shellcheck disable=SC2016
    (cd here && bash --norc -c '. ../urlweir.bash
        read -ra COMP_WORDS <<<"${1//=/ = }"
        [[ $1 != *" " ]] || COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        [[ $(complete -p urlweir) == "complete -F _urlweir urlweir" ]] || exit 1
        _urlweir
        printf "%s\n" "${COMPREPLY[@]}"' bash "$1") | LC_ALL=C sort | tr '\n' ' ' | sed 's/ *$//' >out
}
offers() { # LINE WORDS
    asks "$1"
    [ "$(cat out)" = "$2" ] || fail "'$1' offers '$(cat out)' instead of '$2'"
}
offers "urlweir cr" "crawl"
offers "urlweir help fil" "filter"
offers "urlweir filter me" "merge"
offers "urlweir crawl --scope " "any domain host prefix seed"
offers "urlweir crawl --scope=" "any domain host prefix seed"
offers "urlweir crawl --scope=d" "domain"
offers "urlweir crawl --follow a,ar" "a,area"
offers "urlweir crawl --depth n" "none"
offers "urlweir crawl --per-host-b" "--per-host-bytes"
offers "urlweir crawl --no-ada" "--no-adaptive"
offers "urlweir crawl --no-warc" ""
offers "urlweir resume --no-warc" "--no-warc"
offers "urlweir crawl --once" ""
offers "urlweir resume --once" "--once"
offers "urlweir crawl -i " "deep seeds.txt"
offers "urlweir crawl -o " "deep"
offers "urlweir crawl http://h/ " ""
offers "urlweir status " "deep"
offers "urlweir status --json " "deep"
offers "urlweir status deep " ""
offers "urlweir explain deep " ""
offers "urlweir seed deep " ""
offers "urlweir delay " "deep"
offers "urlweir links " "deep seeds.txt"
offers "urlweir serve --token-file " "deep seeds.txt"
offers "urlweir diff deep " "deep"
offers "urlweir diff --format=text deep " "deep"
offers "urlweir dedupe seeds.txt " "deep seeds.txt"
offers "urlweir filter create --ki" "--kind"
offers "urlweir filter create --kind c" "counting cuckoo"
offers "urlweir filter merge out seeds.txt se" "seeds.txt"
offers "urlweir completion z" "zsh"

# ---- a person at a terminal -----------------------------------------------------

# typed LINE SHELL [ARG...]: the arguments that urlweir gets, in ./args.
typed() {
    rm -f args
    echo 'urlweir() { printf "%s\n" "$@" >args; }' >setup
    cat "setup.$2" >>setup
    # shellcheck disable=SC2016
    echo 'PS1="REA""DY> "' >>setup
    line=$1
    shift
    TERM=vt100 HOME=$WORK python3 "$TOP/tests/support/type_tab.py" setup "$line" \
        "$@" >typed.out 2>&1 || fail "$(cat typed.out)"
    [ -e args ] || fail "$1 runs nothing: $(cat typed.out)"
    tr '\n' ' ' <args >out
}
gets() { [ "$(cat out)" = "$1" ] || fail "got '$(cat out)' instead of '$1'"; }

echo '. ./urlweir.bash' >setup.bash
typed 'urlweir cra\t--sco\tdom\t-o her\tdee\t' bash --norc --noprofile -i
gets "crawl --scope domain -o here/deep/ "

mkdir functions
cp urlweir.zsh functions/_urlweir
echo 'fpath=($PWD/functions $fpath); autoload -U compinit; compinit -u -D' >setup.zsh
typed 'urlweir cra\t--sco\tdom\t -o her\tdee\t' zsh -f -i
gets "crawl --scope=domain -o here/deep "
echo 'autoload -U compinit; compinit -u -D; source ./urlweir.zsh' >setup.zsh
typed 'urlweir filter me\there/see\t here/see\t' zsh -f -i
gets "filter merge here/seeds.txt here/seeds.txt "

# ---- fish ----------------------------------------------------------------------

fish_offers() { # LINE WORDS
    (cd here && HOME=$WORK fish --no-config -c 'source ../urlweir.fish
        complete -C "$argv[1]"' "$1") | cut -f 1 | tr '\n' ' ' |
        sed 's/ *$//' >out
    [ "$(cat out)" = "$2" ] || fail "fish: '$1' offers '$(cat out)' instead of '$2'"
}
fish_offers "urlweir cr" "crawl"
fish_offers "urlweir filter me" "merge"
fish_offers "urlweir crawl --scope d" "domain"
fish_offers "urlweir crawl --scope=d" "--scope=domain"
fish_offers "urlweir crawl --follow a,are" "a,area"
fish_offers "urlweir crawl --once" ""
fish_offers "urlweir resume --once" "--once"
fish_offers "urlweir crawl -i see" "seeds.txt"
fish_offers "urlweir status " "deep/"
fish_offers "urlweir filter create --kind cu" "cuckoo"
