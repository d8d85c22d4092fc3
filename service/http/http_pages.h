/*
 * http_pages.h - answers that need no call.
 *
 * `GET /` is the dashboard, a page without data, which uses the paths under
 * /v1/ like any other client, with the token of its user.
 *
 * Its files are part of the program; nothing is loaded from elsewhere. They
 * have a Content-Security-Policy under which only these files run, and an ETag,
 * so that a browser need not load them again.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_PAGES_H
#define URLWEIR_SERVICE_HTTP_HTTP_PAGES_H

#include "base/bytes.h"

struct MHD_Response;
struct http_request;

/* For the paths "/" and "/dashboard/FILE". */
void http_ask_dashboard(struct http_request *r);

/* The headers of the file that http_ask_dashboard chose. */
struct http_page {
    char etag[36];
};
void http_page_headers(const struct http_page *page, struct MHD_Response *m);

/* ---- GET /openapi.json: an OpenAPI 3.1 document, embedded at build time ----
 *
 * tests/unit/service/http/test_http_pages.c compares it with the routes,
 * tests/interop/openapi.py with their answers.
 */

struct http_request;

/* The file. Static memory. */
struct bytes http_openapi(void);
/* The whole document: the file, with each setting of a crawl. Any thread. */
struct bytes http_openapi_document(void);

void http_openapi_ask(struct http_request *r);

#endif
