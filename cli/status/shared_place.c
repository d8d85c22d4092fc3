/* SPDX-License-Identifier: MIT */
/* shared_place.c - opens the URLs of `urlweir serve --cluster`. */
#include "cli/status/shared_place.h"

#include "job/settings/cluster_settings.h"

enum status shared_place_open(struct shared_place *p, const char *url,
                              struct buf *why)
{
    struct cluster_url_parts parts;
    enum status st = cluster_url_read(&parts, url, why);
    const struct shared_options o = {.servers = parts.redis.hosts,
                                     .server_count = parts.redis.host_count,
                                     .name = parts.name,
                                     .exists = true};

    *p = (struct shared_place){NULL, NULL};
    if (st != STATUS_OK)
        return STATUS_ARG;
    st = shared_open(&p->shared, &o, why);
    if (st != STATUS_OK && why->len == 0)
        buf_add_str(why, status_text(st));
    if (st == STATUS_OK)
        p->hand = shared_hand_new(p->shared);
    return st;
}

void shared_place_close(struct shared_place *p)
{
    shared_hand_free(p->hand);
    shared_close(p->shared);
}
