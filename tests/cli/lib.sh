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
    exits_want=$1
    shift
    exits_got=0
    "$@" >out 2>err </dev/null || exits_got=$?
    [ "$exits_got" = "$exits_want" ] || {
        cat out err
        fail "status $exits_got instead of $exits_want: $*"
    }
}

# says FILE TEXT: the file holds the text, all in one line.
says() {
    grep -qF -- "$2" "$1" || {
        cat "$1"
        fail "$1 does not say: $2"
    }
}

# serve ARG...: a test web (tests/support/README.md) until the script ends; its
# port is in $port.
serve() {
    "$SITE" serve "$@" --max-time 100 >site.port &
    serve_pid=$!
    trap 'kill "$serve_pid" 2>/dev/null || :' EXIT
    serve_tries=0
    until grep -q '^port' site.port; do
        serve_tries=$((serve_tries + 1))
        [ $serve_tries -lt 200 ] || fail "the site does not start"
        sleep 0.05
    done
    port=$(sed 's/port //' site.port)
}
