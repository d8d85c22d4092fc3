/* SPDX-License-Identifier: MIT */
/* lease.c - leased URLs: a map from id to record. */
#include "frontier/hosts/lease.h"

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

static void record_free(void *record)
{
    struct lease_record *r = record;

    free(r->parts);
    free(r);
}

void lease_table_free(struct lease_table *t)
{
    if (t == NULL)
        return;
    map_free(t->by_id, record_free);
    free(t);
}

static struct bytes key_of(const uint64_t *id)
{
    return bytes_of(id, sizeof *id);
}

/* Copies `s` to *at and moves that on. */
static struct bytes put(char **at, struct bytes s)
{
    char *to = *at;

    if (s.len > 0)
        memcpy(to, s.at, s.len);
    *at = to + s.len;
    return bytes_of(to, s.len);
}

struct lease_record *lease_add(struct lease_table *t, struct host_queue *h,
                               const struct url_row *row, struct bytes key,
                               uint32_t tries, const struct url_last *last)
{
    static const struct url_last none;
    struct lease_record *r;
    char *at;

    if (last == NULL)
        last = &none;
    r = xmalloc(sizeof *r + row->url.len + key.len + last->etag.len +
                last->last_modified.len + last->record.url.len);
    at = r->text;
    r->host = h;
    r->asked = NULL;
    r->via = row->via;
    r->life = url_life_after(LIFE_QUEUED, LIFE_LEASE);
    r->refresh = (struct refresh_row){.url = 0};
    r->external = NULL;
    r->lease = (struct url_lease){
        .id = row->id,
        .via = row->via,
        .queue = row->queue,
        .depth = row->depth,
        .hops = row->hops,
        .kind = row->kind,
        .seed = (row->flags & URL_ROW_SEED) != 0,
        .tries = tries,
        .key = put(&at, key),
        .url = put(&at, row->url),
        .last = *last,
    };
    r->lease.last.etag = put(&at, last->etag);
    r->lease.last.last_modified = put(&at, last->last_modified);
    r->lease.last.record.url = put(&at, last->record.url);
    r->parts = NULL;
    r->part_count = 0;
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

    record_free(map_remove(t->by_id, key_of(&id)));
}

size_t lease_count(const struct lease_table *t)
{
    return map_count(t->by_id);
}
