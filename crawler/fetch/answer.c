/* SPDX-License-Identifier: MIT */
/*
 * answer.c - the head of one HTTP answer.
 *
 * The lines are kept as they came, for those who record answers; beside them
 * stand the places of the fields we act on. Folded lines (obs-fold, RFC 9112
 * section 5.2) are joined with a space.
 */
#include "crawler/fetch/answer.h"

#include <string.h>

#define KEPT ((size_t)8 << 10) /* memory kept between transfers */

static const char *const field_names[ANSWER_FIELD_COUNT_] = {
    [ANSWER_CACHE_CONTROL] = "cache-control",
    [ANSWER_CONTENT_ENCODING] = "content-encoding",
    [ANSWER_CONTENT_LANGUAGE] = "content-language",
    [ANSWER_CONTENT_LENGTH] = "content-length",
    [ANSWER_CONTENT_LOCATION] = "content-location",
    [ANSWER_CONTENT_TYPE] = "content-type",
    [ANSWER_DATE] = "date",
    [ANSWER_ETAG] = "etag",
    [ANSWER_EXPIRES] = "expires",
    [ANSWER_LAST_MODIFIED] = "last-modified",
    [ANSWER_LINK] = "link",
    [ANSWER_LOCATION] = "location",
    [ANSWER_REFRESH] = "refresh",
    [ANSWER_RETRY_AFTER] = "retry-after",
    [ANSWER_TRANSFER_ENCODING] = "transfer-encoding",
    [ANSWER_X_ROBOTS_TAG] = "x-robots-tag",
};

void answer_init(struct answer *a)
{
    *a = (struct answer){0};
    buf_init(&a->raw, ANSWER_MOST);
}

void answer_fini(struct answer *a)
{
    buf_fini(&a->raw);
}

void answer_clear(struct answer *a)
{
    struct buf raw = a->raw;

    if (raw.cap > KEPT)
        buf_fini(&raw);
    buf_clear(&raw);
    *a = (struct answer){.raw = raw};
}

/* Which field `line` begins, ANSWER_FIELD_COUNT_ for others; *colon is where
 * its name ends. */
static enum answer_field field_of(struct bytes line, size_t *colon)
{
    const char *at = memchr(line.at, ':', line.len);
    struct bytes name;
    size_t i;

    if (at == NULL)
        return ANSWER_FIELD_COUNT_;
    *colon = (size_t)(at - line.at);
    name = bytes_of(line.at, *colon);
    for (i = 0; i < ANSWER_FIELD_COUNT_; i++) {
        if (bytes_equal_nocase(name, bytes_of_str(field_names[i])))
            break;
    }
    return (enum answer_field)i;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "HTTP/1.1 200 OK" (RFC 9112 section 4); the same without minor version as
 * curl writes it for HTTP/2. */
static uint16_t status_of(struct bytes line)
{
    const char *space = memchr(line.at, ' ', line.len);
    size_t left = space != NULL ? line.len - (size_t)(space - line.at) : 0;

    if (left < 4 || !is_digit(space[1]) || !is_digit(space[2]) ||
        !is_digit(space[3]) || (left > 4 && is_digit(space[4])))
        return 0;
    return (uint16_t)((space[1] - '0') * 100 + (space[2] - '0') * 10 +
                      (space[3] - '0'));
}

static bool begin(struct answer *a, struct bytes line)
{
    size_t received = a->received;

    answer_clear(a);
    a->received = received;
    a->status = status_of(line);
    buf_add_bytes(&a->raw, line);
    return a->status >= 100;
}

/* `line` stands at the end of raw. */
static void note(struct answer *a, struct bytes line)
{
    size_t colon = 0;
    enum answer_field f = field_of(line, &colon);
    struct bytes value;

    if (f == ANSWER_FIELD_COUNT_)
        return;
    value = bytes_trim(bytes_of(line.at + colon + 1, line.len - colon - 1));
    if (a->fields[f].count++ > 0)
        return;
    a->fields[f].at =
        (uint32_t)(a->raw.len - line.len) + (uint32_t)(value.at - line.at);
    a->fields[f].len = (uint32_t)value.len;
}

/* The line before, read again with `line` behind it. */
static void unfold(struct answer *a, struct bytes line)
{
    struct bytes raw = buf_bytes(&a->raw), whole;
    size_t colon = 0, start;
    enum answer_field f;

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
    if (f == ANSWER_FIELD_COUNT_ || a->fields[f].count != 1)
        return;
    a->fields[f].count = 0;
    note(a, whole);
}

bool answer_line(struct answer *a, struct bytes line)
{
    a->received += line.len;
    if (a->received > ANSWER_MOST)
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

struct bytes answer_get(const struct answer *a, enum answer_field f)
{
    if (a->fields[f].count == 0)
        return bytes_of("", 0);
    return bytes_of(a->raw.at + a->fields[f].at, a->fields[f].len);
}

void answer_each(const struct answer *a, enum answer_field f,
                 void (*visit)(void *ctx, struct bytes value), void *ctx)
{
    struct bytes left = buf_bytes(&a->raw);

    if (a->fields[f].count < 2) { /* most often */
        if (a->fields[f].count == 1)
            visit(ctx, answer_get(a, f));
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
