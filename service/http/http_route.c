/* SPDX-License-Identifier: MIT */
/*
 * http_route.c - finds routes by linear search; there are some forty.
 *
 * 405 names all methods of the path (RFC 9110 section 15.5.6), HEAD beside GET.
 */
#include "service/http/http_route.h"

#include <stdio.h>
#include <string.h>

const struct http_route *const http_route_tables[] = {
    http_routes,        http_queue_routes, http_crawl_routes,
    http_filter_routes, http_shard_routes, NULL,
};

/* Does `path` have the form of the route's? What stands where the route has a
 * name in braces, up to the next '/' and not empty, goes to names[]. */
static bool match(const char *route, const char *path,
                  struct bytes names[HTTP_NAMES])
{
    size_t n = 0;

    while (*route != '\0') {
        size_t len = strcspn(path, "/");

        if (*route != '{') {
            if (*route++ != *path++)
                return false;
            continue;
        }
        if (len == 0)
            return false;
        names[n++] = bytes_of(path, len);
        path += len;
        route = strchr(route, '}') + 1;
    }
    return *path == '\0';
}

static bool has_path(const struct http_route *route, const char *path)
{
    struct bytes names[HTTP_NAMES];

    return match(route->path, path, names);
}

static void allow(struct http_request *r, const char *method)
{
    size_t n = strlen(r->allow);

    snprintf(r->allow + n, sizeof r->allow - n, "%s%s", n > 0 ? ", " : "",
             strcmp(method, "GET") == 0 ? "GET, HEAD" : method);
}

void http_route_find(struct http_request *r, const char *method)
{
    if (strcmp(method, "HEAD") == 0)
        method = "GET";
    for (size_t i = 0; http_route_tables[i] != NULL; i++)
        for (const struct http_route *at = http_route_tables[i];
             at->path != NULL; at++) {
            if (!has_path(at, r->path))
                continue;
            if (strcmp(at->method, method) == 0) {
                r->route = at;
                return;
            }
            allow(r, at->method);
        }
    if (r->allow[0] == '\0')
        http_problem(r, 404, "there is nothing at this path");
    else
        http_problem(r, 405, "this path does not support the method %s",
                     method);
}

static void read_names(struct http_request *r)
{
    struct bytes names[HTTP_NAMES] = {{NULL, 0}};
    char **const to[HTTP_NAMES] = {&r->name, &r->second_name};

    (void)match(r->route->path, r->path, names);
    for (size_t i = 0; i < HTTP_NAMES && names[i].len > 0; i++) {
        *to[i] = http_decode(names[i], false);
        if (*to[i] == NULL)
            http_problem(r, 400, "the name in the path cannot be read");
    }
}

void http_route_read(struct http_request *r)
{
    const char *query = strchr(r->uri, '?');

    r->in = http_query(bytes_of_str(query != NULL ? query + 1 : ""));
    if (r->in == NULL)
        http_problem(r, 400, "the query cannot be read");
    else if (r->route->body && json_object_size(r->in) > 0)
        http_problem(r, 400, "this path takes no query");
    read_names(r);
}

bool http_members(struct http_request *r, json_t *object, long at,
                  const struct http_member *m, size_t n)
{
    char why[300];

    if (http_members_read(object, m, n, !r->route->body, why, sizeof why))
        return true;
    if (at >= 0)
        http_problem(r, 400, "item %ld: %s", at, why);
    else
        http_problem(r, 400, "%s", why);
    return false;
}
