/* SPDX-License-Identifier: MIT */
/* lease.c - leased URLs: a map from id to record. */
#include "frontier/embedded/lease.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"

struct lease_table {
    struct map *by_id;
};

struct lease_table *lease_table_new(void)
{
    struct lease_table *t = xcalloc(1, sizeof *t);

    t->by_id = map_new();
    return t;
}

void lease_table_free(struct lease_table *t)
{
    if (t == NULL)
        return;
    map_free(t->by_id, free);
    free(t);
}

static struct bytes key_of(const uint64_t *id)
{
    return bytes_of(id, sizeof *id);
}

struct lease_record *lease_add(struct lease_table *t, struct host_queue *h,
                               const struct url_row *row, struct bytes key,
                               uint32_t tries)
{
    struct lease_record *r = xmalloc(sizeof *r + row->url.len + key.len);
    char *key_at = r->text + row->url.len;

    memcpy(r->text, row->url.at, row->url.len);
    memcpy(key_at, key.at, key.len);
    r->host = h;
    r->asked = NULL;
    r->via = row->via;
    r->external = NULL;
    r->lease = (struct engine_lease){
        .id = row->id,
        .via = row->via,
        .queue = row->queue,
        .depth = row->depth,
        .hops = row->hops,
        .kind = row->kind,
        .seed = (row->flags & URL_ROW_SEED) != 0,
        .tries = tries,
        .key = bytes_of(key_at, key.len),
        .url = bytes_of(r->text, row->url.len),
    };
    free(map_put(t->by_id, key_of(&row->id), r));
    return r;
}

struct lease_record *lease_find(const struct lease_table *t, uint64_t id)
{
    return map_get(t->by_id, key_of(&id));
}

void lease_end(struct lease_table *t, struct lease_record *r)
{
    uint64_t id = r->lease.id;

    free(map_remove(t->by_id, key_of(&id)));
}

size_t lease_count(const struct lease_table *t)
{
    return map_count(t->by_id);
}
