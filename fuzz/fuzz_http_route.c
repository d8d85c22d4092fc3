/* SPDX-License-Identifier: MIT */
/*
 * fuzz_http_route.c - any octets as a method and the rest of a request line, to
 * find the route and read path and query.
 *
 * Asserts, besides memory safety: a request has a route or an answer; a name in
 * a path is whole UTF-8, and encoded again equals the input; a route without a
 * name gives none.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "service/http/http_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_name(const struct http_request *r)
{
    const char *at = r->path + strcspn(r->route->path, "{");
    size_t len = strcspn(at, "/");
    char *again = http_decode(bytes_of(at, len), false);

    assert(len > 0 && again != NULL);
    assert(strcmp(again, r->name) == 0);
    assert(bytes_is_utf8(bytes_of_str(r->name)));
    free(again);
}

static void check(struct http_request *r)
{
    assert((r->route != NULL) == (r->status == 0));
    if (r->route == NULL)
        return;
    http_route_read(r);
    if (r->status != 0)
        return;
    assert(json_is_object(r->in));
    if (strchr(r->route->path, '{') != NULL)
        check_name(r);
    else
        assert(r->name == NULL && strcmp(r->path, r->route->path) == 0);
}

/* "GET /v1/crawls?x=y" */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct http_request r = {.status = 0};
    char *line = xstrndup((const char *)data, size);
    char *space = strchr(line, ' ');

    if (space != NULL) {
        *space = '\0';
        r.uri = space + 1;
        r.path = xstrndup(r.uri, strcspn(r.uri, "?"));
        http_route_find(&r, line);
        check(&r);
    }
    json_decref(r.in);
    free(r.name);
    free(r.path);
    free(r.out);
    free(line);
    return 0;
}
