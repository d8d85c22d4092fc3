/*
 * http_crawl_json.h - a crawl as JSON: the object of docs/formats/http-api.md,
 * section Crawls. Any thread.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_CRAWL_JSON_H
#define URLWEIR_SERVICE_HTTP_HTTP_CRAWL_JSON_H

#include <jansson.h>

#include "base/bytes.h"
#include "job/registry/crawls.h"

struct cluster_desk;
struct http_options;

/* A crawl that this process runs; `cluster`, if not NULL, is that of which it
 * is a worker. */
json_t *http_crawl_json(const struct crawls_view *v,
                        struct cluster_desk *cluster);
/* A crawl in a cluster, in a process that only watches it. */
json_t *http_cluster_json(struct cluster_desk *cluster);
/* All of these, an array. */
json_t *http_crawls_json(const struct http_options *from);
/* A crawl of served URLs, which other programs put. */
json_t *http_served_json(struct bytes name);

#endif
