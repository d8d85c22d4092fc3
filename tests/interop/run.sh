#!/bin/sh
# Tests with readers and clients from other registries:
#   tests/interop/run.sh BUILD_DIR [NAME]
# Each tests/interop/NAME.py runs in a Python environment of its own, made
# under build/, with URLWEIR and SITE set. It names the packages it needs in a
# line `# pip: NAME...`; where they cannot be had it is skipped, with a line. A
# script ends with 0, or with 77 after a line that says why it skips itself.
# Two run at a time.
set -eu

# ---- one script, called by the loop below -----------------------------------

if [ "${1:-}" = --one ]; then
    results=$2 python=$3 script=$4
    name=$(basename "$script" .py)
    start=$(date +%s)
    code=0
    timeout 400 "$python" "$script" >"$results/$name.out" 2>&1 || code=$?
    took=$(($(date +%s) - start))
    case $code in
    0) word=ok ;;
    77) word=skip ;;
    *) word=FAIL ;;
    esac
    echo "$name" >>"$results/$word"
    printf '  %-4s %-16s %4d s  %s\n' $word "$name" $took \
        "$([ $word = FAIL ] && echo "status $code" || tail -n 1 "$results/$name.out")"
    exit 0
fi

# ---- all of them ------------------------------------------------------------

cd "$(dirname "$0")/../.."
export URLWEIR="$1/urlweir" SITE="$1/tests/support/site"
only=${2:-}
env=build/interop-env

tools/install-deps.sh interop || {
    echo "interop: skipped, no Python environment can be made here"
    exit 0
}
[ -x $env/bin/python ] || python3 -m venv $env
results=$(mktemp -d "${TMPDIR:-/tmp}/urlweir-interop.XXXXXX")
trap 'rm -rf "$results"' EXIT
trap 'exit 130' INT TERM
: >"$results/all"

# Packages one after the other: pip does not share an environment with itself.
for script in tests/interop/*.py; do
    name=$(basename "$script" .py)
    [ -z "$only" ] || [ "$only" = "$name" ] || continue
    packages=$(sed -n 's/^# pip: //p' "$script")
    # shellcheck disable=SC2086
    if [ -z "$packages" ] ||
        timeout 300 $env/bin/pip install -q $packages >build/pip.log 2>&1; then
        echo "$script" >>"$results/all"
    else
        echo "$name" >>"$results/skip"
        echo "  skip $name  cannot install $packages: $(tail -n 1 build/pip.log)"
    fi
done
xargs -P 2 -n 1 tests/interop/run.sh --one "$results" $env/bin/python <"$results/all"

count() {
    [ ! -e "$results/$1" ] || grep -c . "$results/$1"
}
if [ -e "$results/FAIL" ]; then
    while read -r name; do
        echo "---- $name said:"
        tail -n 40 "$results/$name.out"
    done <"$results/FAIL"
fi
passed=$(count ok) failed=$(count FAIL) skipped=$(count skip)
echo "interop: ${passed:-0} passed, ${failed:-0} failed, ${skipped:-0} skipped"
[ "${failed:-0}" = 0 ]
