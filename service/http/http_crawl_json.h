/*
 * http_crawl_json.h - a crawl as JSON: the object of docs/formats/http-api.md,
 * section Crawls. Functions of their arguments alone; any thread.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_CRAWL_JSON_H
#define URLWEIR_SERVICE_HTTP_HTTP_CRAWL_JSON_H

#include <jansson.h>

#include "base/bytes.h"
#include "job/crawls.h"

/* One that this process runs. */
json_t *http_crawl_json(const struct crawls_view *v);
/* One of the frontier's, which others put URLs into. */
json_t *http_served_json(struct bytes name);

#endif
