# Makes the manual page of a command from what its --help all prints, which is laid
# out from its table of options: cli/command_line.c.
# usage: urlweir NAME --help all | awk -v name=NAME -v summary=TEXT -v date=DATE
#            -v version=VERSION [-v also=FORMAT] -f tools/help-to-man.awk

# Escapes what the formatter would take as a request.
function safe(s) {
    while (match(s, /docs\/formats\/[a-z-]+\.md/))
        s = substr(s, 1, RSTART - 1) "urlweir-" \
            substr(s, RSTART + 13, RLENGTH - 16) "(5)" \
            substr(s, RSTART + RLENGTH)
    gsub(/\\/, "\\e", s)
    gsub(/-/, "\\-", s)
    if (s ~ /^['.]/)
        s = "\\&" s
    return s
}

function flush_text() {
    if (text != "")
        print safe(text)
    text = ""
}

function say(macro) {
    flush_text()
    print macro
}

function add(words) {
    text = text (text == "" ? "" : " ") words
}

BEGIN {
    print ".TH \"URLWEIR\\-" toupper(name) "\" 1 \"" date "\" \"urlweir " version "\" \"urlweir\""
    print ".SH NAME"
    print "urlweir\\-" safe(name) " \\- " safe(summary)
    print ".SH SYNOPSIS"
    part = "usage"
}

{ sub(/[ \t]+$/, "") }

# "usage: urlweir FORM", more forms below it, and what did not fit in a line.
part == "usage" && /urlweir / && (/^usage: / || /^       urlweir /) {
    flush_text()
    if (forms++ > 0)
        print ".br"
    sub(/^usage: +| +/, "")
    text = $0
    next
}
part == "usage" && /^ / {
    sub(/^ +/, "")
    add($0)
    next
}
part == "usage" {
    say(".SH DESCRIPTION")
    part = "about"
    next
}

/^$/ {
    flush_text()
    blank = 1
    next
}
# The name of an option, and on the same line or below it what it does.
/^  ?(-.,|    ) --/ || /^  -., --/ {
    if (heading != "") {
        if (!options++)
            print ".SH OPTIONS"
        print ".SS " safe(heading)
        heading = ""
    }
    flush_text()
    blank = 0
    rest = ""
    sub(/^ +/, "")
    if (match($0, /   */)) {
        rest = substr($0, RSTART + RLENGTH)
        $0 = substr($0, 1, RSTART - 1)
    }
    print ".TP"
    print "\\fB" safe($0) "\\fR"
    text = rest
    part = "option"
    next
}
part == "option" && /^ / {
    sub(/^ +/, "")
    add($0)
    next
}
# A line that stands alone between blank ones is a heading, and known as one by
# the option below it.
{
    if (heading != "") {
        tail(heading)
        heading = ""
    }
    if (blank && part != "about")
        heading = $0
    else if (blank && about)
        heading = $0
    else
        tail($0)
    blank = 0
}

function tail(line) {
    if (part == "option") {
        say(".SH VALUES")
        part = "values"
    }
    about = 1
    if (part == "values" && values++ > 0)
        say(".br")
    add(line)
}

END {
    if (heading != "")
        tail(heading)
    flush_text()
    print ".SH SEE ALSO"
    print ".BR urlweir (1)" (also == "" ? "" : ",\n.BR urlweir\\-" safe(also) " (5)")
}
