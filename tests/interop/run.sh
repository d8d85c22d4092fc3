#!/bin/sh
# Tests with readers and clients from other registries:
#   tests/interop/run.sh BUILD_DIR [NAME]
# Each tests/interop/NAME.py runs in a Python environment of its own, made
# under build/, with URLWEIR and SITE set. It names the packages it needs in a
# line `# pip: NAME...`; where they cannot be had it is skipped, with a line. A
# script ends with 0, or with 77 after a line that says why it skips itself.
set -eu
cd "$(dirname "$0")/../.."
export URLWEIR="$1/urlweir" SITE="$1/tests/support/site"
only=${2:-}
env=build/interop-env
passed=0 failed=0 skipped=0

skip() {
    echo "  skip $1  $2"
    skipped=$((skipped + 1))
}

tools/install-deps.sh interop || {
    echo "interop: skipped, no Python environment can be made here"
    exit 0
}
[ -x $env/bin/python ] || python3 -m venv $env

for script in tests/interop/*.py; do
    name=$(basename "$script" .py)
    [ -z "$only" ] || [ "$only" = "$name" ] || continue
    packages=$(sed -n 's/^# pip: //p' "$script")
    # shellcheck disable=SC2086
    if [ -n "$packages" ] &&
        ! timeout 300 $env/bin/pip install -q $packages >build/pip.log 2>&1; then
        skip "$name" "cannot install $packages: $(tail -n 1 build/pip.log)"
        continue
    fi
    code=0
    timeout 300 $env/bin/python "$script" >build/interop.log 2>&1 || code=$?
    case $code in
    0)
        echo "  ok   $name  $(tail -n 1 build/interop.log)"
        passed=$((passed + 1))
        ;;
    77) skip "$name" "$(tail -n 1 build/interop.log)" ;;
    *)
        echo "  FAIL $name  status $code"
        tail -n 40 build/interop.log
        failed=$((failed + 1))
        ;;
    esac
done
echo "interop: $passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
