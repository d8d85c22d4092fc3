/* SPDX-License-Identifier: MIT */
/*
 * scalable_file.c - a scalable filter's way into a file and back.
 *
 * Units 0 to 4095 are its segments; then follow the stored keys of each
 * segment, if the filter stores keys. A damaged segment is rebuilt from its
 * keys; a segment whose keys are damaged still answers, but cannot grow.
 */
#include "filter/kinds/scalable_impl.h"

#include <string.h>

uint64_t scalable_shape(const struct filter *f, uint64_t shape[FILTER_SHAPE])
{
    const struct scalable *c = (const struct scalable *)f;

    shape[0] = SCALABLE_SEGMENTS;
    shape[1] = c->k;
    return c->key_store != NULL ? 2 * SCALABLE_SEGMENTS : SCALABLE_SEGMENTS;
}

enum status scalable_get_unit(struct filter *f, uint64_t i, struct buf *to,
                              uint64_t meta[FILTER_META])
{
    struct scalable *c = (struct scalable *)f;
    uint32_t s = (uint32_t)(i % SCALABLE_SEGMENTS);
    enum status st = STATUS_OK;

    pthread_mutex_lock(&c->moving);
    if (i < SCALABLE_SEGMENTS) {
        meta[0] = c->runs[s].blocks;
        meta[1] = __atomic_load_n(&c->count[s], __ATOMIC_RELAXED);
        meta[2] = c->lost[s] ? 0 : c->k_of[s];
        st = block_append(to, c->runs[s].at,
                          (size_t)c->runs[s].blocks * BLOCK_LANES);
    } else {
        st = key_store_save(c->key_store, s, to, &meta[0]);
    }
    pthread_mutex_unlock(&c->moving);
    return st;
}

enum status scalable_make_shaped(struct filter **out,
                                 const struct filter_options *o,
                                 const uint64_t shape[FILTER_SHAPE],
                                 uint64_t units, uint64_t most)
{
    struct scalable *c = NULL;
    struct filter_options own = *o;
    enum status st;

    (void)most; /* memory is taken as units are put */
    if (shape[0] != SCALABLE_SEGMENTS || shape[1] < 4 ||
        shape[1] > SIZING_MOST_K || shape[1] % 4 != 0 ||
        (units != SCALABLE_SEGMENTS && units != 2 * SCALABLE_SEGMENTS))
        return STATUS_FORMAT;
    own.keep_nothing = units == SCALABLE_SEGMENTS;
    st = scalable_new_empty(&c, &own, (unsigned)shape[1], false);
    if (st == STATUS_OK)
        *out = &c->base;
    return st;
}

static enum status put_segment(struct scalable *c, uint32_t s,
                               struct bytes from, const uint64_t *meta)
{
    struct slab_run run;
    enum status st;

    if (meta[0] < 1 || meta[0] > UINT32_MAX || meta[1] > UINT32_MAX - 1 ||
        meta[2] > SIZING_MOST_K || meta[2] % 4 != 0 ||
        from.len / BLOCK_BYTES != meta[0] || from.len % BLOCK_BYTES != 0)
        return STATUS_DAMAGED;
    if (meta[2] == 0)
        return STATUS_DAMAGED; /* was lost before: try to mend it now */
    st = slab_take(&c->slab, (uint32_t)meta[0], &run);
    if (st != STATUS_OK)
        return st;
    block_import(run.at, (const unsigned char *)from.at,
                 (size_t)meta[0] * BLOCK_LANES);
    scalable_set_run(c, s, run, (unsigned)meta[2], (uint32_t)meta[1]);
    return STATUS_OK;
}

enum status scalable_put_unit(struct filter *f, uint64_t i, struct bytes from,
                              const uint64_t meta[FILTER_META])
{
    struct scalable *c = (struct scalable *)f;

    if (i < SCALABLE_SEGMENTS)
        return put_segment(c, (uint32_t)i, from, meta);
    if (c->key_store == NULL)
        return STATUS_OK; /* the caller's source has them */
    if (meta[0] != 1)
        return STATUS_DAMAGED;
    return key_store_put(c->key_store, (uint32_t)(i - SCALABLE_SEGMENTS), from);
}

static void count_visit(void *to, const uint64_t *keys, size_t n)
{
    (void)keys;
    *(uint64_t *)to += n;
}

enum status scalable_mend_unit(struct filter *f, uint64_t i)
{
    struct scalable *c = (struct scalable *)f;
    uint32_t s = (uint32_t)i;
    struct scalable_building b = {.segment = s, .k = c->k};
    uint64_t keys = 0;
    enum status st;

    if (i >= SCALABLE_SEGMENTS)
        return STATUS_NOT_FOUND; /* the segment answers, but cannot grow */
    st = scalable_keys_of(c, s, count_visit, &keys);
    if (st == STATUS_OK)
        st = slab_take(&c->slab, scalable_rung(c, s, 0, keys), &b.run);
    if (st == STATUS_OK) {
        st = scalable_keys_of(c, s, scalable_build_visit, &b);
        if (st == STATUS_OK) {
            scalable_replace(c, &b, b.seen);
            return STATUS_OK;
        }
        slab_give(&c->slab, &b.run);
    }
    st = slab_take(&c->slab, 1, &b.run);
    if (st != STATUS_OK)
        return st;
    memset(b.run.at, 0xff, BLOCK_BYTES);
    scalable_set_run(c, s, b.run, c->k, 0);
    c->limit[s] = SCALABLE_NEVER;
    c->lost[s] = true;
    c->n_lost++;
    return STATUS_NOT_FOUND;
}

enum status scalable_loaded(struct filter *f)
{
    struct scalable *c = (struct scalable *)f;

    for (uint32_t s = 0; s < SCALABLE_SEGMENTS; s++)
        if (c->runs[s].blocks == 0)
            return STATUS_DAMAGED;
    return STATUS_OK;
}
