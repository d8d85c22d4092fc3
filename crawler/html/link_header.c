/* SPDX-License-Identifier: MIT */
/*
 * link_header.c - the links of an HTTP Link header, by the parsing algorithm
 * of RFC 8288 appendix B.2, which also covers broken values.
 */
#include "crawler/html/link_header.h"

static void skip_spaces(struct bytes *s)
{
    while (s->len > 0 && (s->at[0] == ' ' || s->at[0] == '\t'))
        *s = bytes_skip(*s, 1);
}

/* Cuts the part up to the first of `stops`, or everything. */
static struct bytes until(struct bytes *s, const char *stops)
{
    size_t n = 0;
    struct bytes part;

    while (n < s->len && strchr(stops, s->at[n]) == NULL)
        n++;
    part = bytes_of(s->at, n);
    *s = bytes_skip(*s, n);
    return part;
}

/* The text between the quotes, with escapes left in: no relation type has
 * any. */
static struct bytes quoted(struct bytes *s)
{
    size_t n = 1;
    struct bytes part;

    while (n < s->len && s->at[n] != '"')
        n += s->at[n] == '\\' ? 2 : 1;
    n = n < s->len ? n : s->len;
    part = bytes_of(s->at + 1, n - 1);
    *s = bytes_skip(*s, n < s->len ? n + 1 : n);
    return part;
}

/* Reads one `; name=value`; false: there are no more parameters. */
static bool parameter(struct bytes *s, struct bytes *name, struct bytes *value)
{
    skip_spaces(s);
    if (s->len == 0 || s->at[0] != ';')
        return false;
    *s = bytes_skip(*s, 1);
    *name = bytes_trim(until(s, "=;,"));
    *value = bytes_of("", 0);
    if (s->len == 0 || s->at[0] != '=')
        return true;
    *s = bytes_skip(*s, 1);
    skip_spaces(s);
    if (s->len > 0 && s->at[0] == '"')
        *value = quoted(s);
    else
        *value = bytes_trim(until(s, ";,"));
    return true;
}

bool link_header_next(struct bytes *rest, struct header_link *out)
{
    struct bytes name, value;
    bool rel_found = false;

    (void)until(rest, "<");
    if (rest->len == 0)
        return false;
    *rest = bytes_skip(*rest, 1);
    *out = (struct header_link){.target = bytes_trim(until(rest, ">")),
                                .rel = bytes_of("", 0)};
    if (rest->len == 0)
        return false; /* no closing bracket */
    *rest = bytes_skip(*rest, 1);
    while (parameter(rest, &name, &value)) {
        if (bytes_equal_nocase(name, bytes_of_str("anchor")))
            out->anchored = true;
        if (rel_found || !bytes_equal_nocase(name, bytes_of_str("rel")))
            continue; /* section 3.3: those after the first are ignored */
        out->rel = value;
        rel_found = true;
    }
    return true;
}
