/* SPDX-License-Identifier: MIT */
/*
 * cuckoo_file.c - a cuckoo filter's way into a file and back.
 *
 * Unit 0 has the fingerprints without a place and those with copies beyond
 * their slots; then comes the table, in units of 64 KiB, then
 * stored keys if any. A hole in the table may have been any key's second
 * bucket, so one damaged unit means that the whole table is rebuilt.
 */
#include "filter/kinds/cuckoo_impl.h"

#include <string.h>

#include "filter/block.h"

#define UNIT_OCTETS  UINT64_C(65536)
#define PLACE_OCTETS 24

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
    shape[4] = c->table.slots;
    return 1 + table_units(c) + (c->key_store != NULL ? KEY_STORE_PARTS : 0);
}

/* A fingerprint, its buckets and a number below 2^32. */
static enum status get_place(struct buf *to, const struct bucket_place *p,
                             uint32_t number)
{
    uint64_t words[] = {p->first, p->second, p->print | (uint64_t)number << 32};

    return block_append(to, words, 3);
}

static enum status get_lists(const struct cuckoo *c, struct buf *to,
                             uint64_t meta[FILTER_META])
{
    enum status st = STATUS_OK;

    meta[0] = c->homeless.count;
    meta[1] = c->more.count;
    meta[2] = (uint64_t)c->flooded | (uint64_t)c->all_stuck << 1;
    for (uint32_t i = 0; i < c->homeless.count && st == STATUS_OK; i++)
        st = get_place(to, &c->homeless.of[i], 0);
    for (uint64_t i = 0; i < c->more.room && st == STATUS_OK; i++) {
        const struct copies_entry *e = &c->more.at[i];
        struct bucket_place p = {e->bucket, e->bucket, e->print};

        if (e->print != 0)
            st = get_place(to, &p, e->more);
    }
    return st;
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

    if (i == 0)
        return get_lists(c, to, meta);
    if (i <= units) {
        buf_add_bytes(to, table_unit(c, i - 1));
        return buf_failed(to);
    }
    return key_store_save(c->key_store, (uint32_t)(i - 1 - units), to,
                          &meta[0]);
}

enum status cuckoo_make_shaped(struct filter **out,
                               const struct filter_options *o,
                               const uint64_t shape[FILTER_SHAPE],
                               uint64_t units, uint64_t most)
{
    struct cuckoo *c;
    uint64_t own[FILTER_SHAPE];
    uint64_t slots = shape[4] != 0 ? shape[4] : 4; /* version 1 */
    enum status st = STATUS_OK;

    if ((shape[1] != 8 && shape[1] != 12 && shape[1] != 16 && shape[1] != 32) ||
        (slots != 1 && slots != 2 && slots != 4 && slots != 8) ||
        shape[0] < 1 || shape[0] > most * 8 / (shape[1] * slots) ||
        shape[3] > 1)
        return STATUS_FORMAT;
    c = cuckoo_new_empty(o, shape[3] != 0 && o->source.keys_of == NULL, false);
    if (c == NULL)
        return STATUS_NOMEM;
    c->base.opt.bucket_slots = (unsigned)slots;
    st = buckets_init(&c->table, shape[0], (unsigned)shape[1], (unsigned)slots);
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

/* False: it is in no table of this size. */
static bool put_place(const struct cuckoo *c, const unsigned char *from,
                      struct bucket_place *p, uint32_t *number)
{
    uint64_t words[3];

    block_import(words, from, 3);
    *p = (struct bucket_place){words[0], words[1], (uint32_t)words[2]};
    *number = (uint32_t)(words[2] >> 32);
    return p->first < c->table.count && p->second < c->table.count &&
           p->print != 0;
}

/* Version 1 has no counts: what had copies beyond its slots sticks. */
static enum status put_copies(const struct cuckoo *c, struct copies *more,
                              const unsigned char *from, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++, from += PLACE_OCTETS) {
        struct bucket_place p;
        uint32_t number;

        if (!put_place(c, from, &p, &number))
            return STATUS_DAMAGED;
        if (!copies_add(more, &p, number != 0 ? number : COPIES_STUCK, n))
            return STATUS_NOMEM;
    }
    return STATUS_OK;
}

static enum status put_lists(struct cuckoo *c, struct bytes from,
                             const uint64_t *meta)
{
    const unsigned char *at = (const unsigned char *)from.at;
    uint64_t places = from.len / PLACE_OCTETS;
    struct cuckoo_list homeless = {.count = 0};
    struct copies more = {0};
    enum status st;

    if (meta[0] > CUCKOO_LISTED || meta[0] > places || meta[2] > 3 ||
        meta[1] != places - meta[0] || from.len % PLACE_OCTETS != 0)
        return STATUS_DAMAGED;
    for (; homeless.count < meta[0]; at += PLACE_OCTETS) {
        uint32_t number;

        if (!put_place(c, at, &homeless.of[homeless.count++], &number) ||
            number != 0)
            return STATUS_DAMAGED;
    }
    st = put_copies(c, &more, at, meta[1]);
    if (st != STATUS_OK) {
        copies_fini(&more);
        return st;
    }
    copies_fini(&c->more);
    c->homeless = homeless;
    c->more = more;
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
