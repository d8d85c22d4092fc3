/* SPDX-License-Identifier: MIT */
/*
 * response.c - the head of one HTTP response.
 *
 * The lines are kept as they came, for records, together with the positions of
 * the fields we use. Folded lines (obs-fold, RFC 9112 section 5.2) are joined
 * with a space.
 */
#include "crawler/fetch/response.h"

#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "frontier/url/url.h"

/* ---- mime ---- */

/* Media types: of a response, against a list, and of unlabelled bytes. */

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

/* ---- response ---- */

#define KEPT ((size_t)8 << 10) /* memory kept between transfers */

static const char *const field_names[RESPONSE_FIELD_COUNT_] = {
    [RESPONSE_CACHE_CONTROL] = "cache-control",
    [RESPONSE_CONTENT_ENCODING] = "content-encoding",
    [RESPONSE_CONTENT_LANGUAGE] = "content-language",
    [RESPONSE_CONTENT_LENGTH] = "content-length",
    [RESPONSE_CONTENT_LOCATION] = "content-location",
    [RESPONSE_CONTENT_TYPE] = "content-type",
    [RESPONSE_DATE] = "date",
    [RESPONSE_ETAG] = "etag",
    [RESPONSE_EXPIRES] = "expires",
    [RESPONSE_LAST_MODIFIED] = "last-modified",
    [RESPONSE_LINK] = "link",
    [RESPONSE_LOCATION] = "location",
    [RESPONSE_REFRESH] = "refresh",
    [RESPONSE_RETRY_AFTER] = "retry-after",
    [RESPONSE_TRANSFER_ENCODING] = "transfer-encoding",
    [RESPONSE_X_ROBOTS_TAG] = "x-robots-tag",
};

void response_init(struct response *a)
{
    *a = (struct response){0};
    buf_init(&a->raw, RESPONSE_MOST);
}

void response_fini(struct response *a)
{
    buf_fini(&a->raw);
}

void response_clear(struct response *a)
{
    struct buf raw = a->raw;

    if (raw.cap > KEPT)
        buf_fini(&raw);
    buf_clear(&raw);
    *a = (struct response){.raw = raw};
}

/* The field that `line` begins, RESPONSE_FIELD_COUNT_ for others; *colon is the
 * end of its name. */
static enum response_field field_of(struct bytes line, size_t *colon)
{
    const char *at = memchr(line.at, ':', line.len);
    struct bytes name;
    size_t i;

    if (at == NULL)
        return RESPONSE_FIELD_COUNT_;
    *colon = (size_t)(at - line.at);
    name = bytes_of(line.at, *colon);
    for (i = 0; i < RESPONSE_FIELD_COUNT_; i++) {
        if (bytes_equal_nocase(name, bytes_of_str(field_names[i])))
            break;
    }
    return (enum response_field)i;
}

/* "HTTP/1.1 200 OK" (RFC 9112 section 4); the same without minor version as
 * curl writes it for HTTP/2. */
static uint16_t status_of(struct bytes line)
{
    const char *space = memchr(line.at, ' ', line.len);
    size_t left = space != NULL ? line.len - (size_t)(space - line.at) : 0;

    if (left < 4 || !ascii_is_digit(space[1]) || !ascii_is_digit(space[2]) ||
        !ascii_is_digit(space[3]) || (left > 4 && ascii_is_digit(space[4])))
        return 0;
    return (uint16_t)((space[1] - '0') * 100 + (space[2] - '0') * 10 +
                      (space[3] - '0'));
}

static bool begin(struct response *a, struct bytes line)
{
    size_t received = a->received;

    response_clear(a);
    a->received = received;
    a->status = status_of(line);
    buf_add_bytes(&a->raw, line);
    return a->status >= 100;
}

/* Takes the next element off the front of a list (RFC 9110 section 5.6.1),
 * which commas in quoted strings do not divide. */
static struct bytes next_element(struct bytes *list)
{
    struct bytes element = *list;
    bool quoted = false;
    size_t n = 0;

    for (; n < list->len && (quoted || list->at[n] != ','); n++) {
        if (quoted && list->at[n] == '\\' && n + 1 < list->len)
            n++;
        else if (list->at[n] == '"')
            quoted = !quoted;
    }
    element.len = n;
    *list = bytes_skip(*list, n < list->len ? n + 1 : n);
    return bytes_trim(element);
}

/* Has `type` the parameter charset, perhaps? */
static bool has_charset(struct bytes type)
{
    static const char word[] = "charset";

    for (size_t i = 0; i + sizeof word - 1 < type.len; i++)
        if (bytes_equal_nocase(bytes_of(type.at + i, sizeof word - 1),
                               bytes_of(word, sizeof word - 1)))
            return true;
    return false;
}

/* Of `was` and the elements of `value` after it, the type that counts. One that
 * repeats the type before it without a charset leaves it the charset. */
static struct bytes last_type(struct bytes was, struct bytes value)
{
    char was_text[MIME_SIZE], text[MIME_SIZE];
    struct bytes left = value;

    while (left.len > 0) {
        struct bytes type = next_element(&left);
        struct bytes essence = mime_essence(type, text);

        if (essence.len == 0)
            continue;
        if (!bytes_equal(essence, mime_essence(was, was_text)) ||
            has_charset(type) || !has_charset(was))
            was = type;
    }
    return was.len > 0 ? was : value;
}

/* Notes the field in `line`, which is at the end of raw. */
static void note(struct response *a, struct bytes line)
{
    size_t colon = 0;
    enum response_field f = field_of(line, &colon);
    struct bytes value;

    if (f == RESPONSE_FIELD_COUNT_)
        return;
    value = bytes_trim(bytes_of(line.at + colon + 1, line.len - colon - 1));
    if (f == RESPONSE_CONTENT_TYPE)
        value = last_type(response_get(a, f), value);
    else if (a->fields[f].count > 0)
        value = response_get(a, f);
    a->fields[f].count++;
    a->fields[f].at = (uint32_t)(value.at - a->raw.at);
    a->fields[f].len = (uint32_t)value.len;
}

/* Reads the previous line again with `line` appended. */
static void unfold(struct response *a, struct bytes line)
{
    struct bytes raw = buf_bytes(&a->raw), whole;
    size_t colon = 0, start;
    enum response_field f;

    raw.len = bytes_trim(raw).len;
    start = raw.len;
    while (start > 0 && raw.at[start - 1] != '\n')
        start--;
    buf_truncate(&a->raw, raw.len);
    buf_add_char(&a->raw, ' ');
    buf_add_bytes(&a->raw, bytes_trim(line));
    buf_add_str(&a->raw, "\r\n");
    whole = bytes_of(a->raw.at + start, a->raw.len - start);
    f = field_of(whole, &colon);
    if (f == RESPONSE_FIELD_COUNT_ || a->fields[f].count != 1)
        return;
    a->fields[f].count = 0;
    note(a, whole);
}

bool response_line(struct response *a, struct bytes line)
{
    a->received += line.len;
    if (a->received > RESPONSE_MOST)
        return false;
    if (a->complete || line.len == 0)
        return true;
    if (bytes_starts_with(line, "HTTP/"))
        return begin(a, line);
    if (a->status == 0)
        return false;
    if ((line.at[0] == ' ' || line.at[0] == '\t') && bytes_trim(line).len > 0) {
        unfold(a, line);
        return true;
    }
    buf_add_bytes(&a->raw, line);
    if (bytes_trim(line).len > 0)
        note(a, bytes_of(a->raw.at + a->raw.len - line.len, line.len));
    else
        a->complete = a->status >= 200;
    return true;
}

struct bytes response_get(const struct response *a, enum response_field f)
{
    if (a->fields[f].count == 0)
        return bytes_of("", 0);
    return bytes_of(a->raw.at + a->fields[f].at, a->fields[f].len);
}

void response_each(const struct response *a, enum response_field f,
                   void (*visit)(void *ctx, struct bytes value), void *ctx)
{
    struct bytes left = buf_bytes(&a->raw);

    if (a->fields[f].count < 2) { /* the usual case */
        if (a->fields[f].count == 1)
            visit(ctx, response_get(a, f));
        return;
    }
    while (left.len > 0) {
        const char *end = memchr(left.at, '\n', left.len);
        size_t len = end != NULL ? (size_t)(end - left.at) + 1 : left.len;
        size_t colon = 0;

        if (field_of(bytes_of(left.at, len), &colon) == f)
            visit(ctx,
                  bytes_trim(bytes_of(left.at + colon + 1, len - colon - 1)));
        left = bytes_of(left.at + len, left.len - len);
    }
}

/* ---- what a head means --------------------------------------------------- */

static bool is_redirect_status(uint16_t status)
{
    return (status >= 300 && status <= 303) || status == 307 || status == 308;
}

bool response_redirects(const struct response *a, struct bytes url)
{
    struct bytes location = response_get(a, RESPONSE_LOCATION);
    struct url base, target;
    bool usable;

    if (!is_redirect_status(a->status) || location.len == 0)
        return false;
    url_init(&base);
    url_init(&target);
    usable =
        url_parse(&target, location,
                  url_parse(&base, url, NULL, NULL) == URL_OK ? &base : NULL,
                  NULL) == URL_OK;
    url_fini(&target);
    url_fini(&base);
    return usable;
}

struct lengths {
    struct bytes first;
    bool differ;
};

static void compare_lengths(void *ctx, struct bytes value)
{
    struct lengths *l = ctx;

    while (value.len > 0) {
        struct bytes length = next_element(&value);

        if (length.len == 0)
            continue;
        if (l->first.len == 0)
            l->first = length;
        l->differ |= !bytes_equal(l->first, length);
    }
}

bool response_has_two_lengths(const struct response *a)
{
    struct lengths l = {{"", 0}, false};

    if (a->fields[RESPONSE_TRANSFER_ENCODING].count == 0)
        response_each(a, RESPONSE_CONTENT_LENGTH, compare_lengths, &l);
    return l.differ;
}

/* ---- which conditions a request carries (RFC 9110 section 13) ---- */

#define DATE_RESOLUTION_MS 1000

/* entity-tag of RFC 9110 section 8.8.3: so no server can have us send `*`, a
 * list, or the end of a line. */
static bool is_entity_tag(struct bytes tag)
{
    if (tag.len >= 2 && memcmp(tag.at, "W/", 2) == 0)
        tag = bytes_of(tag.at + 2, tag.len - 2);
    if (tag.len < 2 || tag.at[0] != '"' || tag.at[tag.len - 1] != '"')
        return false;
    for (size_t i = 1; i + 1 < tag.len; i++) {
        unsigned char c = (unsigned char)tag.at[i];

        if (c <= ' ' || c == '"' || c == 0x7f)
            return false;
    }
    return true;
}

static bool is_usable_date(struct bytes date, int64_t asked_ms)
{
    int64_t at_ms;

    return clock_parse_http_date(date, &at_ms) == STATUS_OK &&
           at_ms <= asked_ms - DATE_RESOLUTION_MS;
}

struct conditions conditions_of(const struct url_last *last)
{
    struct conditions c = {{"", 0}, {"", 0}};

    if (last->seq == 0)
        return c;
    if (is_entity_tag(last->etag))
        c.if_none_match = last->etag;
    if (is_usable_date(last->last_modified, last->at_ms))
        c.if_modified_since = last->last_modified;
    return c;
}

bool conditions_any(const struct conditions *c)
{
    return c->if_none_match.len > 0 || c->if_modified_since.len > 0;
}
