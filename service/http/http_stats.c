/* SPDX-License-Identifier: MIT */
/* http_stats.c - requests by group of paths and class of status. */
#include "service/http/http_stats.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "service/http/http_request.h"

/* "/v1/queues/block": "queues"; "/": "root". */
static struct bytes name_of(const char *path)
{
    const char *at = path + 1;

    if (*at == '\0')
        return bytes_of_str("root");
    if (strncmp(at, "v1/", 3) == 0)
        at += 3;
    return bytes_of(at, strcspn(at, "/"));
}

static unsigned find(const struct http_counters *t, struct bytes name)
{
    unsigned g = 0;

    while (g < t->count && !bytes_is(name, t->names[g]))
        g++;
    return g;
}

static void add(struct http_counters *t, struct bytes name)
{
    if (find(t, name) < t->count)
        return;
    assert(t->count < HTTP_GROUPS && name.len < sizeof t->names[0]);
    snprintf(t->names[t->count++], sizeof t->names[0], "%.*s", (int)name.len,
             name.at);
}

void http_counters_init(struct http_counters *t,
                        const struct http_route *routes)
{
    if (t->count == 0)
        add(t, bytes_of_str("none"));
    for (; routes->path != NULL; routes++)
        add(t, name_of(routes->path));
}

unsigned http_counters_group(const struct http_counters *t,
                             const struct http_route *route)
{
    return route != NULL ? find(t, name_of(route->path)) : 0;
}

void http_counters_note(struct http_counters *t, unsigned group,
                        unsigned status, int64_t took_ns)
{
    unsigned class = status / 100 < HTTP_CLASSES ? status / 100 : 0;

    atomic_fetch_add_explicit(&t->classes[group][class], 1,
                              memory_order_relaxed);
    histogram_note(&t->took[group], took_ns);
}
