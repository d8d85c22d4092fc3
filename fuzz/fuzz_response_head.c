/* SPDX-License-Identifier: MIT */
/*
 * fuzz_response_head.c - the head of a response, and the functions that read
 * its fields.
 *
 * Input: the lines of one or more heads. Asserts, besides memory safety: every
 * field's value is in the head, has no white space around it and no line end
 * within, and the first of several values counts, but of a Content-Type, where
 * it is a part of one of them.
 */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "base/clock.h"
#include "crawler/fetch/response.h"
#include "crawler/html/link_values.h"
#include "crawler/robots/robots.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_value(const struct response *a, struct bytes v)
{
    if (v.len == 0)
        return;
    assert(v.at >= a->raw.at && v.at + v.len <= a->raw.at + a->raw.len);
    assert(bytes_trim(v).len == v.len);
    assert(memchr(v.at, '\n', v.len) == NULL);
}

struct seen {
    const struct response *response;
    struct bytes first;
    size_t count;
};

static void see(void *ctx, struct bytes value)
{
    struct seen *s = ctx;

    check_value(s->response, value);
    if (s->count++ == 0)
        s->first = value;
}

static void check_part(struct bytes part, struct bytes whole)
{
    assert(part.len == 0 ||
           (part.at >= whole.at && part.at + part.len <= whole.at + whole.len));
}

static void read_links(struct bytes value)
{
    struct bytes whole = value;
    struct header_link l;
    enum link_kind kind;

    while (link_header_next(&value, &l)) {
        check_part(l.target, whole);
        check_part(l.rel, whole);
        if (link_kind_of_header(&l, LINK_SET_FOLLOW, &kind))
            assert(kind == LINK_HEADER || kind == LINK_CANONICAL);
    }
    assert(value.len <= whole.len);
}

static void read_fields(const struct response *a)
{
    bool noindex = false, nofollow = false;
    char mime[MIME_SIZE];
    struct bytes essence, url;

    for (int f = 0; f < RESPONSE_FIELD_COUNT_; f++) {
        struct seen s = {.response = a, .first = bytes_of("", 0)};

        response_each(a, (enum response_field)f, see, &s);
        check_value(a, response_get(a, (enum response_field)f));
        assert(f == RESPONSE_CONTENT_TYPE ||
               bytes_equal(s.first, response_get(a, (enum response_field)f)));
        assert(s.count == a->fields[f].count);
    }
    essence = mime_essence(response_get(a, RESPONSE_CONTENT_TYPE), mime);
    assert(essence.len < MIME_SIZE);
    read_links(response_get(a, RESPONSE_LINK));
    robots_tag_header(response_get(a, RESPONSE_X_ROBOTS_TAG),
                      bytes_of_str("urlweir"), &noindex, &nofollow);
    (void)response_redirects(a, bytes_of_str("http://h/"));
    (void)response_has_two_lengths(a);
    (void)refresh_url(response_get(a, RESPONSE_REFRESH), &url);
    assert(http_retry_after_ms(response_get(a, RESPONSE_RETRY_AFTER), 0) <=
           HTTP_TIME_DAY_MS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data;
    struct response a;

    response_init(&a);
    while (size > 0) {
        const char *lf = memchr(at, '\n', size);
        size_t len = lf != NULL ? (size_t)(lf - at) + 1 : size;

        if (!response_line(&a, bytes_of(at, len)))
            break;
        at += len;
        size -= len;
    }
    read_fields(&a);
    response_fini(&a);
    return 0;
}
