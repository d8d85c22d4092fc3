/* SPDX-License-Identifier: MIT */
/* assignment.c - one block of memory: the lease, then all its bytes. */
#include "crawler/fetch/assignment.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Copies `s` to *at, with a zero byte after it, and moves *at on. */
static struct bytes put_text(char **at, struct bytes s)
{
    char *to = *at;

    if (s.len > 0)
        memcpy(to, s.at, s.len);
    to[s.len] = '\0';
    *at = to + s.len + 1;
    return bytes_of(to, s.len);
}

struct assignment *assignment_of(const struct url_lease *lease,
                                 const struct found_by *by)
{
    struct found_by none = {{"", 0}, {"", 0}};
    struct assignment *a;
    char *at;

    if (by == NULL)
        by = &none;
    a = xmalloc(sizeof *a + lease->key.len + lease->url.len +
                lease->robots_host.len + lease->last.etag.len +
                lease->last.last_modified.len + lease->last.record.url.len +
                by->via.len + by->path.len + 8);
    at = a->text;
    a->lease = *lease;
    a->lease.key = put_text(&at, lease->key);
    a->lease.url = put_text(&at, lease->url);
    a->lease.robots_host = put_text(&at, lease->robots_host);
    a->lease.last.etag = put_text(&at, lease->last.etag);
    a->lease.last.last_modified = put_text(&at, lease->last.last_modified);
    a->lease.last.record.url = put_text(&at, lease->last.record.url);
    a->found_by.via = put_text(&at, by->via);
    a->found_by.path = put_text(&at, by->path);
    return a;
}

void assignment_free(struct assignment *a)
{
    free(a);
}
