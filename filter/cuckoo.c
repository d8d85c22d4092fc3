/* SPDX-License-Identifier: MIT */
/*
 * cuckoo.c - cuckoo filter: fingerprints in buckets, for removal in less space.
 *
 * 16.84 bits a key at 0.012 % with fingerprints of 16 bits and 95 % of the
 * slots taken, where counting.c needs 129 for the same rate. The table is
 * buckets.c; here is what surrounds it:
 *
 * - Growing. Two buckets of a fingerprint are all it tells, so a larger table
 *   is filled from the keys (struct filter_source), all at once: a pause of
 *   about 50 ns a key that scalable.c does not have.
 * - The same key again and again would fill its eight slots. With kept keys a
 *   known key is not put twice. Without, four copies are put; the fingerprint
 *   then sticks: removal leaves it, since nobody knows how often it was added.
 * - What finds no place goes into a short list, asked with every question;
 *   where that is full too, every answer is "maybe" from then on. Neither
 *   happens to a filter within its capacity.
 *
 * Displacing moves fingerprints about, so a table cannot be copied while it
 * changes: adding and removing wait for the saving thread.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "filter/block.h"
#include "filter/buckets.h"
#include "filter/kept.h"
#include "filter/kind.h"
#include "filter/sizing.h"

#define LOAD        0.95 /* of the slots; Fan et al., section 4, for b = 4 */
#define GROWTH      1.5
#define LEAST       8 /* buckets: fewer cannot be filled as far */
#define MOST_COPIES 4
#define MOST_LISTED 64
#define UNIT_OCTETS UINT64_C(65536)

/* Fingerprints outside the table, or known to stick in it. */
struct list {
    struct bucket_place of[MOST_LISTED];
    uint32_t count;
};

struct cuckoo {
    struct filter base;
    struct buckets table;
    struct list homeless, stuck;
    bool flooded;      /* some key has no place: all is "maybe" */
    bool all_stuck;    /* too many stick to list them: nothing is removed */
    struct kept *kept; /* NULL: the caller's source has the keys, or nobody */
    struct filter_source source;
    pthread_mutex_t moving; /* the table and the lists, while saved */
    uint64_t count, rebuilds, lost;
    bool starving, reduced;
};

/* ---- the lists ---- */

static bool same_place(const struct bucket_place *a,
                       const struct bucket_place *b)
{
    return a->print == b->print &&
           (a->first == b->first || a->first == b->second);
}

/* Its number in the list, or the list's count. */
static uint32_t list_find(const struct list *l, const struct bucket_place *p)
{
    uint32_t i = 0;

    while (i < l->count && !same_place(&l->of[i], p))
        i++;
    return i;
}

static bool list_has(const struct list *l, const struct bucket_place *p)
{
    return l->count > 0 && list_find(l, p) < l->count;
}

static bool list_add(struct list *l, const struct bucket_place *p)
{
    if (l->count == MOST_LISTED)
        return false;
    l->of[l->count++] = *p;
    return true;
}

static bool list_remove(struct list *l, const struct bucket_place *p)
{
    uint32_t i = list_find(l, p);

    if (i == l->count)
        return false;
    l->of[i] = l->of[--l->count];
    return true;
}

static void shelter(struct cuckoo *c, const struct bucket_place *p)
{
    if (!list_add(&c->homeless, p))
        c->flooded = true;
}

/* ---- making ---- */

static void cuckoo_free(struct filter *f)
{
    struct cuckoo *c = (struct cuckoo *)f;

    buckets_fini(&c->table);
    kept_free(c->kept);
    pthread_mutex_destroy(&c->moving);
    free(c);
}

/* The shortest fingerprint that keeps the promise in a full table; 0: none. */
static unsigned print_bits(const struct filter_options *o)
{
    static const unsigned bits[] = {8, 12, 16, 32};

    if (o->fingerprint_bits != 0)
        return o->fingerprint_bits;
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        if (sizing_cuckoo_rate(bits[i], BUCKET_SLOTS, LOAD) <= o->fpr)
            return bits[i];
    return 0;
}

static uint64_t buckets_for(uint64_t keys)
{
    double n = ceil((double)keys / (BUCKET_SLOTS * LOAD));

    return n < LEAST ? LEAST : (uint64_t)n;
}

/* `count` buckets, or as many as most_bytes allows. */
static uint64_t within_share(struct cuckoo *c, uint64_t count, unsigned bits)
{
    uint64_t most = c->base.opt.most_bytes / (bits * BUCKET_SLOTS / 8);

    if (c->base.opt.most_bytes == 0 || count <= most)
        return count;
    c->reduced = true;
    return most;
}

static struct cuckoo *new_empty(const struct filter_options *o, bool keep,
                                bool whole)
{
    struct cuckoo *c = try_calloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    if (keep && kept_new(&c->kept, whole) != STATUS_OK) {
        free(c);
        return NULL;
    }
    c->base.ops = &cuckoo_ops;
    c->base.opt = *o;
    c->source = c->kept != NULL ? kept_source(c->kept) : o->source;
    pthread_mutex_init(&c->moving, NULL);
    return c;
}

static enum status cuckoo_make(struct filter **out,
                               const struct filter_options *o)
{
    unsigned bits = print_bits(o);
    struct cuckoo *c;
    uint64_t count;
    enum status st;

    if (bits == 0)
        return STATUS_ARG;
    c = new_empty(o, o->source.keys_of == NULL && !o->keep_nothing, true);
    if (c == NULL)
        return STATUS_NOMEM;
    count = within_share(c, buckets_for(o->expect), bits);
    st = count < LEAST ? STATUS_LIMIT : buckets_init(&c->table, count, bits);
    if (st != STATUS_OK) {
        cuckoo_free(&c->base);
        return st;
    }
    *out = &c->base;
    return STATUS_OK;
}

/* ---- building the table anew ---- */

struct building {
    struct buckets table;
    struct list homeless;
    uint64_t count;
    bool failed;
};

static void build_one(struct building *b, struct bucket_place p)
{
    b->count++; /* also when it has failed: the next try knows how many */
    if (!b->failed && !buckets_put(&b->table, &p) &&
        !list_add(&b->homeless, &p))
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

/* Keys of the running call, which a source may have already. */
static void build_missing(struct building *b, const uint64_t *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct bucket_place p = buckets_place(&b->table, keys[i]);

        if (!buckets_have(&b->table, &p) && !list_has(&b->homeless, &p))
            build_one(b, p);
    }
}

/* A table of `count` buckets with all keys. STATUS_LIMIT: they do not fit, and
 * *need is how many keys there are. */
static enum status rebuild(struct cuckoo *c, uint64_t count,
                           const uint64_t *keys, size_t n, uint64_t *need)
{
    struct building b = {0};
    enum status st;

    if (c->source.keys_of == NULL)
        return STATUS_NOT_FOUND;
    st = buckets_init(&b.table, count, c->table.bits);
    if (st != STATUS_OK)
        return st;
    st = c->source.keys_of(c->source.ctx, 0, UINT64_MAX, build_visit, &b);
    if (c->kept == NULL)
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
    c->stuck.count = 0;
    c->flooded = c->all_stuck = c->starving = false;
    c->count = b.count;
    c->rebuilds++;
    return STATUS_OK;
}

/* The same with `count` buckets or more, as many as it turns out to need. */
static enum status rebuild_from(struct cuckoo *c, uint64_t count,
                                const uint64_t *keys, size_t n)
{
    for (;;) {
        uint64_t need = 0, more;
        enum status st = rebuild(c, count, keys, n, &need);

        more = within_share(c, (uint64_t)((double)buckets_for(need) * GROWTH),
                            c->table.bits);
        if (st != STATUS_LIMIT || more <= count)
            return st;
        count = more;
    }
}

static uint64_t room(const struct cuckoo *c)
{
    return (uint64_t)((double)c->table.count * BUCKET_SLOTS * LOAD);
}

static bool is_overfull(const struct cuckoo *c)
{
    return c->table.taken > room(c) || c->flooded;
}

/* Make the table larger; `keys` are those of the running call so far. On
 * failure it goes on filling, and does not try again at every key. */
static void grow(struct cuckoo *c, const uint64_t *keys, size_t n)
{
    uint64_t was = c->table.count;
    uint64_t count =
        within_share(c, (uint64_t)((double)was * GROWTH) + 1, c->table.bits);

    if (c->starving || c->source.keys_of == NULL)
        return;
    c->starving = count <= was || rebuild_from(c, count, keys, n) != STATUS_OK;
}

/* ---- adding, asking, removing ---- */

static bool knows(const struct cuckoo *c, const struct bucket_place *p)
{
    return c->flooded || buckets_have(&c->table, p) ||
           list_has(&c->homeless, p);
}

static void stick(struct cuckoo *c, const struct bucket_place *p)
{
    if (!list_has(&c->stuck, p) && !list_add(&c->stuck, p))
        c->all_stuck = true;
}

/* Add keys[i], the last of the running call so far; true: it is fresh. */
static bool add_one(struct cuckoo *c, const uint64_t *keys, size_t i)
{
    struct bucket_place p;
    bool known;

    if (c->table.taken >= room(c) || c->homeless.count > 0)
        grow(c, keys, i);
    p = buckets_place(&c->table, keys[i]);
    known = knows(c, &p);
    if (known && c->kept != NULL && kept_has(c->kept, keys[i]))
        return false;
    if (c->kept != NULL)
        kept_add(c->kept, keys[i], true);
    c->count++;
    if (known && (c->flooded ||
                  buckets_copies(&c->table, &p) >=
                      (p.first == p.second ? MOST_COPIES / 2 : MOST_COPIES)))
        stick(c, &p);
    else if (!buckets_put(&c->table, &p))
        shelter(c, &p);
    return !known;
}

static enum status cuckoo_add(struct filter *f, const uint64_t *keys, size_t n,
                              bool *fresh)
{
    struct cuckoo *c = (struct cuckoo *)f;
    bool overfull;

    pthread_mutex_lock(&c->moving);
    for (size_t i = 0; i < n; i++) {
        bool is_new;

        if (i + 8 < n) {
            struct bucket_place p = buckets_place(&c->table, keys[i + 8]);

            buckets_fetch(&c->table, &p);
        }
        is_new = add_one(c, keys, i);
        if (fresh != NULL)
            fresh[i] = is_new;
    }
    overfull = is_overfull(c);
    pthread_mutex_unlock(&c->moving);
    if (c->starving)
        return filter_say_overfull(f, "could not grow");
    return overfull ? filter_say_overfull(f, "full") : STATUS_OK;
}

static void cuckoo_check(const struct filter *f, const uint64_t *keys, size_t n,
                         bool *maybe)
{
    const struct cuckoo *c = (const struct cuckoo *)f;
    struct bucket_place at[BLOCK_WINDOW];

    for (size_t i = 0; i < n; i += BLOCK_WINDOW) {
        size_t w = block_window(n - i);

        for (size_t j = 0; j < w; j++) {
            at[j] = buckets_place(&c->table, keys[i + j]);
            buckets_fetch(&c->table, &at[j]);
        }
        for (size_t j = 0; j < w; j++)
            maybe[i + j] = knows(c, &at[j]);
    }
}

static bool remove_one(struct cuckoo *c, uint64_t key)
{
    struct bucket_place p = buckets_place(&c->table, key);

    if (c->kept != NULL) {
        if (!kept_remove(c->kept, key))
            return false; /* it was never added: nothing may be taken out */
    } else if (!knows(c, &p)) {
        return false;
    }
    if (c->flooded || c->all_stuck || list_has(&c->stuck, &p))
        return c->kept != NULL;
    if (!list_remove(&c->homeless, &p) && !buckets_remove(&c->table, &p))
        return false;
    c->count -= c->count > 0;
    return true;
}

static enum status cuckoo_remove(struct filter *f, const uint64_t *keys,
                                 size_t n, bool *removed)
{
    struct cuckoo *c = (struct cuckoo *)f;

    pthread_mutex_lock(&c->moving);
    for (size_t i = 0; i < n; i++) {
        bool out = remove_one(c, keys[i]);

        if (removed != NULL)
            removed[i] = out;
    }
    pthread_mutex_unlock(&c->moving);
    return STATUS_OK;
}

/* ---- merging and telling ---- */

struct merging {
    struct filter *into;
    enum status st;
};

static void merge_visit(void *to, const uint64_t *keys, size_t n)
{
    struct merging *m = to;
    enum status st = cuckoo_add(m->into, keys, n, NULL);

    if (st != STATUS_OK)
        m->st = st;
}

static void merge_homeless(void *to, const struct bucket_place *p)
{
    shelter(to, p);
}

static enum status merge_tables(struct cuckoo *a, const struct cuckoo *b)
{
    if (a->kept != NULL || a->table.count != b->table.count ||
        a->table.bits != b->table.bits)
        return STATUS_ARG;
    pthread_mutex_lock(&a->moving);
    buckets_pour(&a->table, &b->table, merge_homeless, a);
    for (uint32_t i = 0; i < b->homeless.count; i++)
        shelter(a, &b->homeless.of[i]);
    for (uint32_t i = 0; i < b->stuck.count; i++)
        stick(a, &b->stuck.of[i]);
    a->flooded |= b->flooded;
    a->all_stuck |= b->all_stuck;
    a->count += b->count;
    pthread_mutex_unlock(&a->moving);
    return is_overfull(a) ? filter_say_overfull(&a->base, "merged") : STATUS_OK;
}

static enum status cuckoo_merge(struct filter *into, const struct filter *from)
{
    const struct cuckoo *b = (const struct cuckoo *)from;
    struct merging m = {into, STATUS_OK};
    enum status st;

    if (into->opt.fpr != from->opt.fpr)
        return STATUS_ARG;
    if (b->kept == NULL)
        return merge_tables((struct cuckoo *)into, b);
    st = b->source.keys_of(b->source.ctx, 0, UINT64_MAX, merge_visit, &m);
    return st != STATUS_OK ? st : m.st;
}

static void cuckoo_stats(const struct filter *f, struct filter_stats *out)
{
    const struct cuckoo *c = (const struct cuckoo *)f;

    out->count = c->count;
    out->capacity = c->source.keys_of != NULL ? 0 : room(c);
    out->bits = buckets_bytes(&c->table) * 8;
    out->key_bits = c->kept != NULL ? kept_bytes(c->kept) * 8 : 0;
    out->fill =
        (double)c->table.taken / ((double)c->table.count * BUCKET_SLOTS);
    out->fpr_predicted =
        c->flooded ? 1
                   : sizing_cuckoo_rate(c->table.bits, BUCKET_SLOTS, out->fill);
    out->k = c->table.bits;
    out->segments = 1;
    out->rebuilds = c->rebuilds;
    out->starved = c->starving && !c->reduced;
    out->stuck = c->all_stuck ? c->count : c->stuck.count;
    out->lost = c->lost;
    out->reduced = c->reduced;
    out->huge_pages = c->table.huge;
}

/* ---- saving: unit 0 has the lists, then the table, then kept keys ---- */

static uint64_t table_units(const struct cuckoo *c)
{
    return (buckets_bytes(&c->table) + UNIT_OCTETS - 1) / UNIT_OCTETS;
}

static void cuckoo_hold(struct filter *f, bool on)
{
    struct cuckoo *c = (struct cuckoo *)f;

    if (on)
        pthread_mutex_lock(&c->moving);
    else
        pthread_mutex_unlock(&c->moving);
}

static uint64_t cuckoo_shape(const struct filter *f,
                             uint64_t shape[FILTER_SHAPE])
{
    const struct cuckoo *c = (const struct cuckoo *)f;

    shape[0] = c->table.count;
    shape[1] = c->table.bits;
    shape[2] = c->count;
    shape[3] = c->kept != NULL;
    return 1 + table_units(c) + (c->kept != NULL ? KEPT_PARTS : 0);
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

static enum status get_list(const struct list *l, struct buf *to)
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

static enum status cuckoo_get_unit(struct filter *f, uint64_t i, struct buf *to,
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
    meta[0] = kept_get(c->kept, (uint32_t)(i - 1 - units), &keys, &n);
    return meta[0] != 0 && n > 0 ? put_words(to, keys, n) : STATUS_OK;
}

static enum status cuckoo_make_shaped(struct filter **out,
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
    c = new_empty(o, shape[3] != 0 && o->source.keys_of == NULL, false);
    if (c == NULL)
        return STATUS_NOMEM;
    st = buckets_init(&c->table, shape[0], (unsigned)shape[1]);
    if (st == STATUS_OK &&
        units != cuckoo_shape(&c->base, own) +
                     (shape[3] != 0 && c->kept == NULL ? KEPT_PARTS : 0))
        st = STATUS_FORMAT;
    if (st != STATUS_OK) {
        cuckoo_free(&c->base);
        return st;
    }
    c->count = shape[2];
    *out = &c->base;
    return STATUS_OK;
}

static bool put_list(const struct cuckoo *c, struct list *l,
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
    struct list homeless = {.count = 0}, stuck = {.count = 0};

    if (meta[0] > MOST_LISTED || meta[1] > MOST_LISTED || meta[2] > 3 ||
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

static enum status cuckoo_put_unit(struct filter *f, uint64_t i,
                                   struct bytes from,
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
    if (c->kept == NULL)
        return STATUS_OK; /* the caller's source has them */
    if (meta[0] != 1)
        return STATUS_DAMAGED;
    return kept_put(c->kept, (uint32_t)(i - 1 - units), from);
}

/* A hole in the table may have been anybody's second bucket, so the whole of
 * it is built anew, once. */
static enum status cuckoo_mend_unit(struct filter *f, uint64_t i)
{
    struct cuckoo *c = (struct cuckoo *)f;

    if (i > table_units(c))
        return STATUS_NOT_FOUND; /* the table answers, but cannot grow */
    if (c->rebuilds > 0 ||
        rebuild_from(c, c->table.count, NULL, 0) == STATUS_OK)
        return STATUS_OK;
    c->flooded = true;
    c->lost = 1;
    return STATUS_NOT_FOUND;
}

static enum status cuckoo_loaded(struct filter *f)
{
    buckets_recount(&((struct cuckoo *)f)->table);
    return STATUS_OK;
}

const struct filter_ops cuckoo_ops = {
    .traits = {.name = "cuckoo",
               .summary = "removes keys in less space, two cache lines",
               .grows = true,
               .removes = true,
               .needs_keys = true,
               .waits_for_saving = true},
    .make = cuckoo_make,
    .free = cuckoo_free,
    .add = cuckoo_add,
    .check = cuckoo_check,
    .remove = cuckoo_remove,
    .merge = cuckoo_merge,
    .stats = cuckoo_stats,
    .shape = cuckoo_shape,
    .get_unit = cuckoo_get_unit,
    .hold = cuckoo_hold,
    .make_shaped = cuckoo_make_shaped,
    .put_unit = cuckoo_put_unit,
    .mend_unit = cuckoo_mend_unit,
    .loaded = cuckoo_loaded,
};
