/* SPDX-License-Identifier: MIT */
/*
 * cuckoo_grow.c - sizes, and rebuilding the table.
 *
 * It is rebuilt all at once: a single fingerprint cannot move to a table of
 * another size, since it does not reveal its key. Each new table is half as
 * large again, so that a key is put some three times on the way up.
 */
#include "filter/kinds/cuckoo_impl.h"

#include <math.h>

#include "filter/block.h"
#include "filter/sizing.h"

#define GROWTH 1.5

uint64_t cuckoo_buckets(uint64_t keys, unsigned slots)
{
    double n = ceil((double)keys / (slots * sizing_cuckoo_load(slots)));

    return n < CUCKOO_LEAST ? CUCKOO_LEAST : (uint64_t)n;
}

uint64_t cuckoo_within_share(struct cuckoo *c, uint64_t count, unsigned bits,
                             unsigned slots)
{
    uint64_t most = c->base.opt.most_bytes * 8 / (bits * slots);

    if (c->base.opt.most_bytes == 0 || count <= most)
        return count;
    c->reduced = true;
    return most;
}

uint64_t cuckoo_room(const struct cuckoo *c)
{
    return (uint64_t)((double)c->table.count * c->table.slots *
                      sizing_cuckoo_load(c->table.slots));
}

/* One in 64 slots, within most_bytes: what goes on beyond that adds a few keys
 * again and again, and is no use of a filter that removes. */
uint64_t cuckoo_most_copies(const struct cuckoo *c)
{
    uint64_t most = CUCKOO_LISTED + c->table.count * c->table.slots / 64;
    uint64_t share = c->base.opt.most_bytes, taken = buckets_bytes(&c->table);
    uint64_t left = share > taken ? (share - taken) / COPIES_BYTES : 0;

    return share == 0 || most < left ? most : left;
}

/* ---- building the table anew ---- */

struct building {
    struct buckets table;
    struct cuckoo_list homeless;
    uint64_t count;
    bool failed;
};

static void build_one(struct building *b, struct bucket_place p)
{
    b->count++; /* counted even after a failure: the next try needs the total */
    if (!b->failed && !buckets_put(&b->table, &p) &&
        !cuckoo_list_add(&b->homeless, &p))
        b->failed = true;
}

static void build_visit(void *to, const uint64_t *keys, size_t n)
{
    struct building *b = to;

    for (size_t i = 0; i < n; i += BLOCK_WINDOW) {
        struct bucket_place at[BLOCK_WINDOW];
        size_t w = block_window(n - i);

        for (size_t j = 0; j < w; j++) {
            at[j] = buckets_place(&b->table, keys[i + j]);
            buckets_fetch(&b->table, &at[j]);
        }
        for (size_t j = 0; j < w; j++)
            build_one(b, at[j]);
    }
}

/* Add the keys of the current call that the source did not give already. */
static void build_missing(struct building *b, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct bucket_place p = buckets_place(&b->table, keys[i]);

        if (!buckets_have(&b->table, &p) && !cuckoo_list_has(&b->homeless, &p))
            build_one(b, p);
    }
}

/* Make a table of `count` buckets with all keys. STATUS_LIMIT: they do not fit,
 * and *need is the number of keys. */
static enum status try_rebuild(struct cuckoo *c, uint64_t count,
                               const uint64_t *keys, size_t n, uint64_t *need)
{
    struct building b = {0};
    enum status st;

    if (c->source.keys_of == NULL)
        return STATUS_NOT_FOUND;
    st = buckets_init(&b.table, count, c->table.bits, c->table.slots);
    if (st != STATUS_OK)
        return st;
    st = c->source.keys_of(c->source.ctx, 0, UINT64_MAX, build_visit, &b);
    if (c->key_store == NULL)
        build_missing(&b, keys, n);
    *need = b.count;
    if (st == STATUS_OK && b.failed)
        st = STATUS_LIMIT;
    if (st != STATUS_OK) {
        buckets_fini(&b.table);
        return st;
    }
    buckets_fini(&c->table);
    c->table = b.table;
    c->homeless = b.homeless;
    copies_fini(&c->more);
    c->flooded = c->all_stuck = c->starving = false;
    c->count = b.count;
    c->rebuilds++;
    return STATUS_OK;
}

/* Rebuild with `count` buckets, or with as many more as the keys turn out to
 * need. */
enum status cuckoo_rebuild(struct cuckoo *c, uint64_t count,
                           const uint64_t *keys, size_t n)
{
    for (;;) {
        uint64_t need = 0, more;
        enum status st = try_rebuild(c, count, keys, n, &need);

        more = cuckoo_within_share(
            c,
            (uint64_t)((double)cuckoo_buckets(need, c->table.slots) * GROWTH),
            c->table.bits, c->table.slots);
        if (st != STATUS_LIMIT || more <= count)
            return st;
        count = more;
    }
}

/* Make the table larger; `keys` are those of the current call so far. On
 * failure the old table goes on filling, and we do not try again at every
 * key. */
void cuckoo_grow(struct cuckoo *c, const uint64_t *keys, size_t n)
{
    uint64_t was = c->table.count;
    uint64_t count =
        cuckoo_within_share(c, (uint64_t)((double)was * GROWTH) + 1,
                            c->table.bits, c->table.slots);

    if (c->starving || c->source.keys_of == NULL)
        return;
    c->starving =
        count <= was || cuckoo_rebuild(c, count, keys, n) != STATUS_OK;
}
