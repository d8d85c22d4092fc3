/* SPDX-License-Identifier: MIT */
/* mime.c - media types, as the MIME Sniffing Standard reads them
 * (https://mimesniff.spec.whatwg.org/). */
#include "crawler/fetch/mime.h"

#include <string.h>

#include "base/ascii.h"

/* RFC 9110 section 5.6.2 */
static bool is_token_char(char c)
{
    return ascii_is_alnum(c) ||
           (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

/* Section 7: these are sniffed as no type is. */
static bool says_nothing(const char *essence)
{
    return strcmp(essence, "unknown/unknown") == 0 ||
           strcmp(essence, "application/unknown") == 0 ||
           strcmp(essence, "*/*") == 0;
}

struct bytes mime_essence(struct bytes content_type, char out[MIME_SIZE])
{
    const char *end = content_type.len > 0
                          ? memchr(content_type.at, ';', content_type.len)
                          : NULL;
    struct bytes type = content_type;
    size_t slashes = 0;

    if (end != NULL)
        type.len = (size_t)(end - type.at);
    type = bytes_trim(type);
    if (type.len >= MIME_SIZE || type.len < 3 || type.at[0] == '/' ||
        type.at[type.len - 1] == '/')
        return bytes_of("", 0);
    for (size_t i = 0; i < type.len; i++) {
        slashes += type.at[i] == '/';
        if (type.at[i] != '/' && !is_token_char(type.at[i]))
            return bytes_of("", 0);
        out[i] = ascii_lower(type.at[i]);
    }
    out[type.len] = '\0';
    if (slashes != 1 || says_nothing(out))
        return bytes_of("", 0);
    return bytes_of(out, type.len);
}

bool mime_accepted(struct bytes essence, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct bytes want = bytes_of_str(list[i]);
        bool family = want.len > 0 && want.at[want.len - 1] == '/';

        if (family && essence.len > want.len &&
            bytes_equal_nocase(bytes_of(essence.at, want.len), want))
            return true;
        if (bytes_equal_nocase(essence, want))
            return true;
    }
    return count == 0;
}

bool mime_is_html(struct bytes essence)
{
    return bytes_is(essence, "text/html") ||
           bytes_is(essence, "application/xhtml+xml");
}

bool mime_is_xml(struct bytes essence)
{
    return bytes_is(essence, "text/xml") ||
           bytes_is(essence, "application/xml") ||
           (essence.len > 4 &&
            bytes_is(bytes_of(essence.at + essence.len - 4, 4), "+xml"));
}

/* `prefix`, case ignored, then a space or `>`; a comment needs neither. */
static bool begins_with_tag(struct bytes body, const char *prefix)
{
    size_t n = strlen(prefix);

    if (body.len <= n ||
        !bytes_equal_nocase(bytes_of(body.at, n), bytes_of(prefix, n)))
        return false;
    return body.at[n] == ' ' || body.at[n] == '>';
}

struct bytes mime_sniff(struct bytes body)
{
    static const char *const tags[] = {
        "<!DOCTYPE HTML",
        "<HTML",
        "<HEAD",
        "<SCRIPT",
        "<IFRAME",
        "<H1",
        "<DIV",
        "<FONT",
        "<TABLE",
        "<A",
        "<STYLE",
        "<TITLE",
        "<B",
        "<BODY",
        "<BR",
        "<P",
    };

    if (bytes_starts_with(body, "\xef\xbb\xbf"))
        body = bytes_of(body.at + 3, body.len - 3);
    while (body.len > 0 && strchr(" \t\n\f\r", body.at[0]) != NULL &&
           body.at[0] != '\0')
        body = bytes_of(body.at + 1, body.len - 1);
    for (size_t i = 0; i < sizeof tags / sizeof *tags; i++) {
        if (begins_with_tag(body, tags[i]))
            return bytes_of_str("text/html");
    }
    if (bytes_starts_with(body, "<!--"))
        return bytes_of_str("text/html");
    return bytes_of_str(bytes_starts_with(body, "<?xml") ? "text/xml" : "");
}
