/*
 * http_crawl_json.h - a crawl as JSON: the object of docs/formats/http-api.md,
 * section Crawls. Any thread.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_CRAWL_JSON_H
#define URLWEIR_SERVICE_HTTP_HTTP_CRAWL_JSON_H

#include <jansson.h>

#include "base/bytes.h"
#include "job/registry/crawls.h"

/* A crawl that this process runs. */
json_t *http_crawl_json(const struct crawls_view *v);
/* All of these, an array. NULL: there are none. */
json_t *http_crawls_json(struct crawls *crawls);
/* A crawl of served URLs, which other programs put. */
json_t *http_served_json(struct bytes name);

#endif
