/* SPDX-License-Identifier: MIT */
/*
 * fuzz_http_text.c - any octets as a path, a query, a Host header, a time, and
 * as the body of a put.
 *
 * Asserts, besides memory safety: decoded text is UTF-8 without a zero byte;
 * accepted metadata gives the same JSON again; a time that was read and written
 * reads as the same time.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "service/http/http_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MEMORY ((size_t)64 << 20)

static void as_text(struct bytes in)
{
    char *name = http_decode(in, false);
    json_t *query = http_query(in);

    assert(name == NULL || bytes_is_utf8(bytes_of_str(name)));
    assert(query == NULL || json_is_object(query));
    http_host_is_local(in, bytes_of_str("a.test"));
    free(name);
    json_decref(query);
}

static void as_time(struct bytes in)
{
    uint64_t seconds = 0, again = 0;
    json_t *j;

    if (http_time_parse(in, &seconds) != STATUS_OK || seconds == 0)
        return;
    j = http_seconds_json(seconds);
    assert(http_time_parse(bytes_of_str(json_string_value(j)), &again) ==
           STATUS_OK);
    assert(again == seconds);
    json_decref(j);
}

static void as_body(struct bytes in)
{
    struct bytes url = {NULL, 0};
    uint64_t number = 0, lease = 0, when = 0;
    bool flag = false;
    json_t *metadata = NULL, *out;
    const struct http_member members[] = {
        {.name = "url", .type = HTTP_TEXT, .to = &url},
        {.name = "n", .type = HTTP_NUMBER, .to = &number, .most = 1000},
        {.name = "lease", .type = HTTP_LEASE, .to = &lease},
        {.name = "refetch_at", .type = HTTP_TIME, .to = &when},
        {.name = "f", .type = HTTP_FLAG, .to = &flag},
        {.name = "metadata", .type = HTTP_METADATA, .to = &metadata},
    };
    char why[300] = "";
    json_error_t wrong;
    struct frontier_item item = {0};
    struct arena *a = arena_new(MEMORY);
    json_t *body = http_body(in, &wrong);
    bool fine = http_members_read(body, members, 6, false, why, sizeof why);

    assert(fine == (why[0] == '\0'));
    assert(number <= 1000);
    if (fine && metadata != NULL &&
        http_item_take(&item, url, url, url, metadata, a) == STATUS_OK) {
        out = http_metadata_json(item.metadata, a);
        assert(json_equal(out, metadata));
        json_decref(out);
    }
    json_decref(body);
    arena_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes in = bytes_of(data, size);

    as_text(in);
    as_time(in);
    as_body(in);
    return 0;
}
