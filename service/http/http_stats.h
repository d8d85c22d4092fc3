/*
 * http_stats.h - requests by group of paths and class of status, and how long
 * they took.
 *
 * A group is the first name of a path, that behind /v1/ where it is an API's:
 * few enough to be labels, whatever is asked for. What has no route is in the
 * group "none". Threads: the server's writes, any other looks.
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

/* For each table of routes, *t all zero before the first; the last route of
 * each has no path. */
void http_counters_init(struct http_counters *t,
                        const struct http_route *routes);
/* The group of a route, NULL: none was found. */
unsigned http_counters_group(const struct http_counters *t,
                             const struct http_route *route);
void http_counters_note(struct http_counters *t, unsigned group,
                        unsigned status, int64_t took_ns);

#endif
