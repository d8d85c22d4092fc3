/* SPDX-License-Identifier: MIT */
/*
 * cuckoo_file.c - a cuckoo filter's way into a file and back.
 *
 * Unit 0 has the two lists; then comes the table, in units of 64 KiB, then
 * stored keys if any. A hole in the table may have been any key's second
 * bucket, so one damaged unit means that the whole table is rebuilt.
 */
#include "filter/kinds/cuckoo_impl.h"

#include <string.h>

#include "filter/block.h"

#define UNIT_OCTETS UINT64_C(65536)

static uint64_t table_units(const struct cuckoo *c)
{
    return (buckets_bytes(&c->table) + UNIT_OCTETS - 1) / UNIT_OCTETS;
}

void cuckoo_hold(struct filter *f, bool on)
{
    struct cuckoo *c = (struct cuckoo *)f;

    if (on)
        pthread_mutex_lock(&c->moving);
    else
        pthread_mutex_unlock(&c->moving);
}

uint64_t cuckoo_shape(const struct filter *f, uint64_t shape[FILTER_SHAPE])
{
    const struct cuckoo *c = (const struct cuckoo *)f;

    shape[0] = c->table.count;
    shape[1] = c->table.bits;
    shape[2] = c->count;
    shape[3] = c->key_store != NULL;
    return 1 + table_units(c) + (c->key_store != NULL ? KEY_STORE_PARTS : 0);
}

static enum status put_words(struct buf *to, const uint64_t *words, size_t n)
{
    char *at = buf_room(to, n * 8);

    if (at == NULL)
        return STATUS_NOMEM;
    block_export((unsigned char *)at, words, n);
    buf_grew(to, n * 8);
    return STATUS_OK;
}

static enum status get_list(const struct cuckoo_list *l, struct buf *to)
{
    enum status st = STATUS_OK;

    for (uint32_t i = 0; i < l->count && st == STATUS_OK; i++) {
        uint64_t words[] = {l->of[i].first, l->of[i].second, l->of[i].print};

        st = put_words(to, words, 3);
    }
    return st;
}

static enum status get_lists(const struct cuckoo *c, struct buf *to,
                             uint64_t meta[FILTER_META])
{
    enum status st = get_list(&c->homeless, to);

    meta[0] = c->homeless.count;
    meta[1] = c->stuck.count;
    meta[2] = (uint64_t)c->flooded | (uint64_t)c->all_stuck << 1;
    return st == STATUS_OK ? get_list(&c->stuck, to) : st;
}

/* Octets of table unit i. */
static struct bytes table_unit(const struct cuckoo *c, uint64_t i)
{
    uint64_t from = i * UNIT_OCTETS, left = buckets_bytes(&c->table) - from;

    return bytes_of(c->table.at + from,
                    left < UNIT_OCTETS ? left : UNIT_OCTETS);
}

enum status cuckoo_get_unit(struct filter *f, uint64_t i, struct buf *to,
                            uint64_t meta[FILTER_META])
{
    struct cuckoo *c = (struct cuckoo *)f;
    uint64_t units = table_units(c);
    const uint64_t *keys;
    size_t n;

    if (i == 0)
        return get_lists(c, to, meta);
    if (i <= units) {
        buf_add_bytes(to, table_unit(c, i - 1));
        return buf_failed(to);
    }
    meta[0] = key_store_get(c->key_store, (uint32_t)(i - 1 - units), &keys, &n);
    return meta[0] != 0 && n > 0 ? put_words(to, keys, n) : STATUS_OK;
}

enum status cuckoo_make_shaped(struct filter **out,
                               const struct filter_options *o,
                               const uint64_t shape[FILTER_SHAPE],
                               uint64_t units, uint64_t most)
{
    struct cuckoo *c;
    uint64_t own[FILTER_SHAPE];
    enum status st = STATUS_OK;

    if ((shape[1] != 8 && shape[1] != 12 && shape[1] != 16 && shape[1] != 32) ||
        shape[0] < 1 || shape[0] > most / (shape[1] / 2) || shape[3] > 1)
        return STATUS_FORMAT;
    c = cuckoo_new_empty(o, shape[3] != 0 && o->source.keys_of == NULL, false);
    if (c == NULL)
        return STATUS_NOMEM;
    st = buckets_init(&c->table, shape[0], (unsigned)shape[1]);
    if (st == STATUS_OK &&
        units !=
            cuckoo_shape(&c->base, own) +
                (shape[3] != 0 && c->key_store == NULL ? KEY_STORE_PARTS : 0))
        st = STATUS_FORMAT;
    if (st != STATUS_OK) {
        cuckoo_free(&c->base);
        return st;
    }
    c->count = shape[2];
    *out = &c->base;
    return STATUS_OK;
}

static bool put_list(const struct cuckoo *c, struct cuckoo_list *l,
                     const unsigned char *from, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++, from += 24) {
        uint64_t words[3];

        block_import(words, from, 3);
        if (words[0] >= c->table.count || words[1] >= c->table.count ||
            words[2] == 0 || words[2] > UINT32_MAX)
            return false;
        l->of[l->count++] =
            (struct bucket_place){words[0], words[1], (uint32_t)words[2]};
    }
    return true;
}

static enum status put_lists(struct cuckoo *c, struct bytes from,
                             const uint64_t *meta)
{
    const unsigned char *at = (const unsigned char *)from.at;
    struct cuckoo_list homeless = {.count = 0}, stuck = {.count = 0};

    if (meta[0] > CUCKOO_LISTED || meta[1] > CUCKOO_LISTED || meta[2] > 3 ||
        from.len != (meta[0] + meta[1]) * 24 ||
        !put_list(c, &homeless, at, meta[0]) ||
        !put_list(c, &stuck, at + meta[0] * 24, meta[1]))
        return STATUS_DAMAGED;
    c->homeless = homeless;
    c->stuck = stuck;
    c->flooded = (meta[2] & 1) != 0;
    c->all_stuck = (meta[2] & 2) != 0;
    return STATUS_OK;
}

enum status cuckoo_put_unit(struct filter *f, uint64_t i, struct bytes from,
                            const uint64_t meta[FILTER_META])
{
    struct cuckoo *c = (struct cuckoo *)f;
    uint64_t units = table_units(c);

    if (i == 0)
        return put_lists(c, from, meta);
    if (i <= units) {
        if (from.len != table_unit(c, i - 1).len)
            return STATUS_DAMAGED;
        memcpy(c->table.at + (i - 1) * UNIT_OCTETS, from.at, from.len);
        return STATUS_OK;
    }
    if (c->key_store == NULL)
        return STATUS_OK; /* the caller's source has them */
    if (meta[0] != 1)
        return STATUS_DAMAGED;
    return key_store_put(c->key_store, (uint32_t)(i - 1 - units), from);
}

/* A hole in the table may have been any key's second bucket, so the whole table
 * is rebuilt, once. */
enum status cuckoo_mend_unit(struct filter *f, uint64_t i)
{
    struct cuckoo *c = (struct cuckoo *)f;

    if (i > table_units(c))
        return STATUS_NOT_FOUND; /* the table answers, but cannot grow */
    if (c->rebuilds > 0 ||
        cuckoo_rebuild(c, c->table.count, NULL, 0) == STATUS_OK)
        return STATUS_OK;
    c->flooded = true;
    c->lost = 1;
    return STATUS_NOT_FOUND;
}

enum status cuckoo_loaded(struct filter *f)
{
    buckets_recount(&((struct cuckoo *)f)->table);
    return STATUS_OK;
}
