# What the scripts of tests/cli share; read with `. "$TOP/tests/cli/lib.sh"`.

fail() {
    echo "FAILED: $*"
    exit 1
}

# Ends the script as skipped, for this reason.
skip() {
    echo "$*"
    exit 77
}

# exits STATUS COMMAND ARG...: run it, output to ./out and ./err.
exits() {
    want=$1
    shift
    got=0
    "$@" >out 2>err </dev/null || got=$?
    [ "$got" = "$want" ] || {
        cat out err
        fail "status $got instead of $want: $*"
    }
}

# says FILE TEXT: the file holds the text, all in one line.
says() {
    grep -qF -- "$2" "$1" || {
        cat "$1"
        fail "$1 does not say: $2"
    }
}
