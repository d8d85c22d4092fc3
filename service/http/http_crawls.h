/*
 * http_crawls.h - crawls as JSON: the object of docs/formats/http-api.md,
 * section Crawls. Any thread.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_CRAWLS_H
#define URLWEIR_SERVICE_HTTP_HTTP_CRAWLS_H

#include <jansson.h>

#include "base/bytes.h"
#include "job/registry/crawls.h"

/* All of these, an array. NULL: there are none. */
json_t *http_crawls_json(struct crawls *crawls);

#endif
