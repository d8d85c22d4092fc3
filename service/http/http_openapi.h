/*
 * http_openapi.h - GET /openapi.json: the API as an OpenAPI 3.1 document,
 * service/http/openapi.json, embedded at build time.
 *
 * tests/unit/service/http/test_http_openapi.c compares it with the routes,
 * tests/interop/openapi.py with their answers.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_OPENAPI_H
#define URLWEIR_SERVICE_HTTP_HTTP_OPENAPI_H

#include "base/bytes.h"

struct http_request;

/* The file. Static memory. */
struct bytes http_openapi(void);
/* The whole document: the file, with each setting of a crawl. Any thread. */
struct bytes http_openapi_document(void);

void http_openapi_ask(struct http_request *r);

#endif
