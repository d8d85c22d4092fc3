#!/bin/sh
# Tests with readers and clients from other registries:
#   tests/interop/run_interop.sh BUILD_DIR [NAME]
# Each tests/interop/NAME.py runs in a Python environment of its own, made
# under build/, with URLWEIR and SITE set. It names the packages it needs in a
# line `# pip: NAME...`, whose versions are those of versions.txt; where they
# cannot be had it is skipped, with a line. A script ends with 0, or with 77
# after a line that says why it skips itself. Two run at a time. The limit of
# time finds what hangs; a busy machine is no finding.
set -eu

# ---- one script, called by the loop below -----------------------------------

if [ "${1:-}" = --one ]; then
    results=$2 python=$3 script=$4
    name=$(basename "$script" .py)
    start=$(date +%s)
    code=0
    timeout -k 10 1800 "$python" "$script" >"$results/$name.out" 2>&1 || code=$?
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
export LC_ALL=C.UTF-8
only=${2:-}
env=build/interop-env

# Of this folder, whole, and of a Python that is still there.
usable() {
    $env/bin/python -m pip --version 2>/dev/null | grep -qF " $(pwd -P)/$env/" &&
        grep -qF "$(pwd -P)/$env/bin/" $env/bin/pip
}
no_environment() {
    echo "interop: skipped, no Python environment can be made here"
    exit 0
}
tools/install-deps.sh interop || no_environment
usable || python3 -m venv --clear $env || no_environment

# Browsers and package managers keep things at home.
if [ ! -w "${HOME:-}" ]; then
    export HOME="$PWD/build/home" GOFLAGS=-modcacherw # or rm cannot
    mkdir -p "$HOME"
fi
# Those of the scripts talk to each other, not to a proxy.
export no_proxy="127.0.0.1,localhost${no_proxy:+,$no_proxy}"
export NO_PROXY="$no_proxy"

results=$(mktemp -d "${TMPDIR:-/tmp}/urlweir-interop.XXXXXX")
trap 'rm -rf "$results"' EXIT
trap 'exit 130' INT TERM
: >"$results/all"

# An index that does not answer may a little later; one that has not these
# versions, or a Python that is too new for them, has others.
have() {
    for versions in "-c tests/interop/versions.txt" "-c tests/interop/versions.txt" ""; do
        # shellcheck disable=SC2086
        timeout 300 $env/bin/python -m pip install -q $versions "$@" \
            >build/pip.log 2>&1 && return 0
        sleep 5
    done
    return 1
}

# Packages one after the other: pip does not share an environment with itself.
for script in tests/interop/*.py; do
    name=$(basename "$script" .py)
    [ -z "$only" ] || [ "$only" = "$name" ] || continue
    packages=$(sed -n 's/^# pip: //p' "$script")
    # shellcheck disable=SC2086
    if [ -z "$packages" ] || have $packages; then
        echo "$script" >>"$results/all"
    else
        echo "$name" >>"$results/skip"
        echo "  skip $name  cannot install $packages: $(tail -n 1 build/pip.log)"
    fi
done
xargs -r -P 2 -n 1 tests/interop/run_interop.sh --one "$results" $env/bin/python <"$results/all"

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
