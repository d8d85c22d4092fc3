/* SPDX-License-Identifier: MIT */
/* xml_prolog.c - the prolog of XML (XML 1.0, section 2.8), read leniently. */
#include "crawler/html/xml_prolog.h"

#include <string.h>

#include "base/ascii.h"

#define DOCTYPE "<!DOCTYPE"

/* The length up to and including `close`; 0: it is not there. */
static size_t length_to(struct bytes in, const char *close)
{
    const char *end =
        in.len > 0 ? memmem(in.at, in.len, close, strlen(close)) : NULL;

    return end != NULL ? (size_t)(end - in.at) + strlen(close) : 0;
}

/* The length of the quoted literal at the start of `in`; 0: its end is not
 * there. */
static size_t literal_length(struct bytes in)
{
    const char *end = memchr(in.at + 1, in.at[0], in.len - 1);

    return end != NULL ? (size_t)(end - in.at) + 1 : 0;
}

size_t xml_declaration_length(struct bytes in)
{
    size_t depth = 1; /* open `<`, including this one */
    size_t i = 0;

    while (i < in.len) {
        struct bytes rest = bytes_skip(in, i);
        size_t n = 1;

        if (bytes_starts_with(rest, "<!--"))
            n = length_to(rest, "-->");
        else if (bytes_starts_with(rest, "<?"))
            n = length_to(rest, "?>");
        else if (rest.at[0] == '"' || rest.at[0] == '\'')
            n = literal_length(rest);
        else if (rest.at[0] == '<')
            depth++;
        else if (rest.at[0] == '>' && --depth == 0)
            return i + 1;
        if (n == 0)
            return 0;
        i += n;
    }
    return 0;
}

/* The length of what may stand before the root, at the start of `in`; 0: it is
 * something else. */
static size_t part_length(struct bytes in, struct bytes *doctype)
{
    size_t n;

    if (bytes_starts_with(in, "<!--"))
        return length_to(in, "-->");
    if (bytes_starts_with(in, "<?"))
        return length_to(in, "?>");
    if (!bytes_starts_with(in, DOCTYPE))
        return 0;
    n = xml_declaration_length(bytes_skip(in, 2));
    if (n == 0)
        return 0;
    *doctype = bytes_of(in.at + strlen(DOCTYPE), n + 1 - strlen(DOCTYPE));
    return n + 2;
}

static bool begins_name(char c)
{
    return ascii_is_letter(c) || c == '_' || c == ':' ||
           (unsigned char)c >= 0x80;
}

static bool ends_name(char c)
{
    return ascii_is_space(c) || c == '/' || c == '>' || c == '<' || c == '\0';
}

bool xml_prolog_read(struct bytes document, struct xml_prolog *out)
{
    struct bytes rest = document;
    size_t n;

    *out = (struct xml_prolog){.root = bytes_of("", 0),
                               .doctype = bytes_of("", 0)};
    do {
        rest = bytes_skip_space(rest);
        n = part_length(rest, &out->doctype);
        rest = bytes_skip(rest, n);
    } while (n > 0);
    out->length = document.len - rest.len;
    if (rest.len < 2 || rest.at[0] != '<' || !begins_name(rest.at[1]))
        return false;
    for (n = 1; n < rest.len && !ends_name(rest.at[n]); n++)
        ;
    out->root = bytes_of(rest.at + 1, n - 1);
    return true;
}
