/*
 * http_route.h - finds the route of a request and reads its parameters.
 *
 * A path may have names in it, "/v1/crawls/{crawl}/pause": any text up to the
 * next '/', not empty, percent-decoded. The document at /openapi.json names
 * the same paths (tests/unit/service/http/test_http_openapi.c).
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_ROUTE_H
#define URLWEIR_SERVICE_HTTP_HTTP_ROUTE_H

#include "service/http/http_request.h"
#include "service/http/http_text.h"

/* The tables of all files; ends with NULL. */
extern const struct http_route *const http_route_tables[];

/* Finds r->route; otherwise answers with 404, or with 405 and the methods of
 * the path. */
void http_route_find(struct http_request *r, const char *method);
/* Reads the query into r->in and the name in the path into r->name; answers 400
 * if one cannot be read, or if there is a query and the route takes a body. */
void http_route_read(struct http_request *r);

/* Reads the members of `object`, which is r->in or a part of it. `at`: its
 * index in an array, or -1. False: the request has been answered. */
bool http_members(struct http_request *r, json_t *object, long at,
                  const struct http_member *m, size_t n);

#endif
