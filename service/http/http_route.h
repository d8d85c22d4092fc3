/*
 * http_route.h - the paths, and reading what a request asks of one.
 *
 * A path may have one name in it, "/v1/crawls/{crawl}/pause": whatever stands
 * there up to the next '/', not empty, percent-decoded. The document at
 * /openapi.json names the same paths
 * (tests/unit/service/http/test_http_openapi.c).
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_ROUTE_H
#define URLWEIR_SERVICE_HTTP_HTTP_ROUTE_H

#include "service/http/http_request.h"
#include "service/http/http_text.h"

/* The tables of all files; ends with NULL. */
extern const struct http_route *const http_route_tables[];

/* Finds r->route; else the request is answered with 404, or with 405 and the
 * methods that the path has. */
void http_route_find(struct http_request *r, const char *method);
/* The query to r->in, the name in the path to r->name; 400 where one cannot be
 * read, or the route takes a body and no query. */
void http_route_read(struct http_request *r);

/* The members of `object`, which is r->in or a part of it. False: it has been
 * answered. `at`: which one of an array, or -1. */
bool http_members(struct http_request *r, json_t *object, long at,
                  const struct http_member *m, size_t n);

#endif
