/*
 * http_stats.h - requests by group of paths and class of status, and how long
 * they took.
 *
 * A group is the first name in a path, or the one after /v1/: few enough to be
 * labels, whatever callers request. Requests without a route are in the group
 * "none". Threads: the server's writes, any may read.
 */
#ifndef URLWEIR_SERVICE_HTTP_HTTP_STATS_H
#define URLWEIR_SERVICE_HTTP_HTTP_STATS_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/histogram.h"

struct http_route;

#define HTTP_GROUPS  24
#define HTTP_CLASSES 6 /* first digits of status */

struct http_counters {
    char names[HTTP_GROUPS][24];
    unsigned count;
    _Atomic uint64_t classes[HTTP_GROUPS][HTTP_CLASSES];
    struct histogram took[HTTP_GROUPS];
};

/* Adds a table of routes, whose last route has no path; *t must be zero before
 * the first table. */
void http_counters_init(struct http_counters *t,
                        const struct http_route *routes);
/* The group of a route; NULL: the request has none. */
unsigned http_counters_group(const struct http_counters *t,
                             const struct http_route *route);
void http_counters_note(struct http_counters *t, unsigned group,
                        unsigned status, int64_t took_ns);

#endif
