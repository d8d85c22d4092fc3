#!/bin/sh
# Prints the unit suites that have threads, one a line, from the sources: those
# that create some, in their own file or in a header of the tests that they
# include, and those that use a module whose file does. What a module uses in
# turn is told by its header, not by its code, or every suite with a store would
# be in the list for that store's checkpointer. Suites with librdkafka's mock are
# left out: it makes its threads by thrd_create of C11, which ThreadSanitizer does
# not see, and a thread that it does not know ends the program.
# usage: tools/thread-suites.sh FOLDER...   the folders with the program's sources
set -eu
{
    grep -rl --include='*.[ch]' pthread_create "$@" tests/unit |
        sed '/^tests/!s/\.c$/.h/; s/^/thread /'
    grep -r --include='*.[ch]' '^#include "' "$@" tests/unit |
        sed 's/^\([^:]*\):#include "\([^"]*\)".*/include \1 \2/'
} | awk '
    $1 == "thread" { has[$2] = 1 }
    $1 == "include" { files[$2] = files[$2] " " $3 }
    function reaches(file,    list, n, i) {
        if (has[file])
            return 1
        if (seen[file]++)
            return 0
        n = split(files[file], list, " ")
        for (i = 1; i <= n; i++)
            if (reaches(list[i]))
                return 1
        return 0
    }
    END {
        for (file in files)
            if (file ~ /\/test_[^\/]*\.c$/ && files[file] !~ /kafka_mock\.h/) {
                split("", seen)
                if (reaches(file)) {
                    sub(/.*\/test_/, "", file)
                    sub(/\.c$/, "", file)
                    print file
                }
            }
    }' | LC_ALL=C sort
