/*
 * http_openapi.h - GET /openapi.json: the API as an OpenAPI 3.1 document,
 * service/http/openapi.json, put into C while building.
 *
 * tests/unit/service/http/test_http_openapi.c holds it to the routes,
 * tests/interop/openapi.py to what they answer.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_OPENAPI_H
#define URLWEIR_SERVICE_HTTP_HTTP_OPENAPI_H

#include "base/bytes.h"

struct http_request;

/* Static memory. */
struct bytes http_openapi(void);

void http_openapi_ask(struct http_request *r);

#endif
