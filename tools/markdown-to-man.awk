# Makes a manual page of section 5 from a page of docs/formats: headings,
# paragraphs, lists, tables, literal text, links. A row of a table becomes a
# tagged paragraph, since its cells are sentences.
# usage: awk -v name=NAME -v date=DATE -v version=VERSION
#            -f tools/markdown-to-man.awk FILE.md

# Escapes what the formatter would take as a request.
function safe(s) {
    gsub(/\\/, "\\e", s)
    gsub(/-/, "\\-", s)
    gsub(/\342\200\246/, "...", s)
    return s
}

# "[text](export.md#x)" becomes "text (urlweir-export(5))"; other targets are
# in the web or beside this page, where a reader of a manual cannot follow.
function unlink_text(s,    head, whole, words, target) {
    head = ""
    while (match(s, /\[[^]]*\]\([^)]*\)/)) {
        whole = substr(s, RSTART, RLENGTH)
        words = substr(whole, 2, index(whole, "](") - 2)
        target = substr(whole, index(whole, "](") + 2)
        sub(/\)$/, "", target)
        sub(/#.*/, "", target)
        if (target ~ /^[a-z-]+\.md$/) {
            sub(/\.md$/, "", target)
            if (words == target ".md")
                words = "urlweir-" target "(5)"
            else
                words = words " (urlweir-" target "(5))"
        } else if (target ~ /^https?:/) {
            words = words " <" target ">"
        }
        head = head substr(s, 1, RSTART - 1) words
        s = substr(s, RSTART + RLENGTH)
    }
    return head s
}

# Literal text in bold, as in `x`; *x* in italics and **x** in bold.
function inline(s,    out, n, i, parts) {
    s = unlink_text(s)
    n = split(s, parts, "`")
    out = ""
    for (i = 1; i <= n; i++) {
        if (i % 2 == 0) {
            out = out "\\fB" safe(parts[i]) "\\fR"
            continue
        }
        parts[i] = safe(parts[i])
        while (match(parts[i], /\*\*[^*]+\*\*/))
            parts[i] = substr(parts[i], 1, RSTART - 1) "\\fB" \
                substr(parts[i], RSTART + 2, RLENGTH - 4) "\\fR" \
                substr(parts[i], RSTART + RLENGTH)
        while (match(parts[i], /\*[^* ][^*]*\*/))
            parts[i] = substr(parts[i], 1, RSTART - 1) "\\fI" \
                substr(parts[i], RSTART + 1, RLENGTH - 2) "\\fR" \
                substr(parts[i], RSTART + RLENGTH)
        out = out parts[i]
    }
    return out ~ /^['.]/ ? "\\&" out : out
}

function plain(s) {
    s = unlink_text(s)
    gsub(/[`*]/, "", s)
    return safe(s)
}

function flush() {
    if (text != "")
        print inline(text)
    text = ""
}

function end_literal() {
    if (literal)
        print ".EE\n.RE"
    literal = 0
}

function begin_literal() {
    flush()
    if (!literal)
        print (fresh ? "" : ".PP\n") ".RS 4\n.EX"
    fresh = 0
    literal = 1
}

function literal_line(s) {
    s = safe(s)
    print (s ~ /^['.]/ ? "\\&" : "") s
}

# Splits a row into cells; "\|" is a bar inside one.
function cells_of(s, into,    n, i) {
    sub(/^\| */, "", s)
    sub(/ *\| *$/, "", s)
    gsub(/\\\|/, "\001", s)
    n = split(s, into, / *\| */)
    for (i = 1; i <= n; i++)
        gsub(/\001/, "|", into[i])
    return n
}

function row(s,    n, i, cell) {
    if (s ~ /^\|[-| :]*\|$/)
        return
    n = cells_of(s, cell)
    if (!in_table) {
        in_table = n
        for (i = 1; i <= n; i++)
            header[i] = cell[i]
        return
    }
    print ".TP\n" (cell[1] == "" ? "\\&" : inline(cell[1]))
    for (i = 2; i <= n; i++) {
        if (cell[i] == "")
            continue
        if (i > 2)
            print ".br"
        print inline((in_table > 2 ? header[i] ": " : "") cell[i])
    }
}

BEGIN {
    print ".TH \"URLWEIR\\-" toupper(name) "\" 5 \"" date "\" \"urlweir " version "\" \"urlweir\""
}

/^```/ && fenced { fenced = 0; end_literal(); next }
/^```/ { fenced = 1; begin_literal(); next }
fenced { literal_line($0); next }
/^<!--/ { next }
/^#/ {
    flush()
    end_literal()
    in_table = 0
    level = index($0, " ") - 1
    title = substr($0, level + 2)
    if (level == 1)
        print ".SH NAME\nurlweir\\-" safe(name) " \\- " plain(title) "\n.SH DESCRIPTION"
    else
        print (level == 2 ? ".SH \"" : ".SS \"") plain(title) "\""
    fresh = 1
    in_list = 0
    next
}
/^$/ {
    flush()
    blank = 1
    in_table = 0
    next
}
/^    / && !in_list && (blank || literal) {
    if (literal && blank)
        print ""
    begin_literal()
    literal_line(substr($0, 5))
    blank = 0
    next
}
{ end_literal() }
/^\|/ {
    flush()
    row($0)
    blank = 0
    fresh = 0
    next
}
/^(- |[0-9]+\. )/ {
    flush()
    mark = $1 == "-" ? "\\(bu" : $1
    sub(/^(-|[0-9]+\.) +/, "")
    print ".IP " mark " 3"
    text = $0
    in_list = 1
    blank = 0
    fresh = 0
    next
}
{
    if (blank && /^[^ ]/)
        in_list = 0
    if (blank && !fresh)
        print ".PP"
    sub(/^ +/, "")
    text = text (text == "" ? "" : " ") $0
    blank = 0
    fresh = 0
}
END {
    flush()
    end_literal()
    print ".SH SEE ALSO\n.BR urlweir (1)"
}
