/* SPDX-License-Identifier: MIT */
/*
 * cuckoo.c - cuckoo filter: fingerprints in buckets, for removal in less space.
 *
 * 16.84 bits a key at 0.012 % with fingerprints of 16 bits and 95 % of the
 * slots taken, where counting.c needs 129 for the same rate. The table is in
 * buckets.c; this file adds:
 *
 * - Growing. A fingerprint tells no more than its two buckets, so a larger
 *   table is filled from the keys (struct filter_source), all at once: a pause
 *   of about 50 ns a key that scalable.c does not have.
 * - Repeats. The same key again and again would fill both its buckets. If the
 *   filter stores keys, it does not put a known key twice. If not, it puts as
 *   many copies as fill one bucket, and counts the others (struct copies), so that
 *   a key added n times is gone after n removals.
 * - Overflow. A key that finds no place goes into a short list, which every
 *   question searches; once that is full too, every answer is "maybe". Neither
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
#include "filter/key_store.h"
#include "filter/kind.h"
#include "filter/kinds/buckets.h"
#include "filter/sizing.h"

/*
 * How often fingerprints were added beyond their slots.
 *
 * The two buckets of a fingerprint hold a few of its copies. A cuckoo filter
 * without its keys counts the others here, so that a key that was added n times
 * is gone after n removals. A count that reached its end sticks: it no longer
 * knows how many it stands for, and removal leaves it.
 *
 * Open addressing, linear probing, removal by shifting back (Knuth, The Art of
 * Computer Programming, volume 3, section 6.4, algorithm R): no tombstones, so
 * that streams that add and remove for ever do not fill it.
 */

#define COPIES_STUCK UINT32_MAX

#define COPIES_BYTES 64 /* an entry takes at most, when the table just grew */

struct copies_entry {
    uint64_t bucket; /* the lower of the two */
    uint32_t print;  /* 0: an empty slot */
    uint32_t more;   /* copies, or COPIES_STUCK */
};

/* All zero: empty. */
struct copies {
    struct copies_entry *at; /* `room` slots, at most half of them in use */
    uint64_t room;           /* a power of two, or 0 */
    uint64_t count, stuck;   /* entries; those that stick */
};

#define COPIES_LEAST 16

static void copies_fini(struct copies *c)
{
    free(c->at);
    *c = (struct copies){0};
}

static uint64_t copies_bytes(const struct copies *c)
{
    return c->room * sizeof *c->at;
}

static uint64_t lower(const struct bucket_place *p)
{
    return p->first < p->second ? p->first : p->second;
}

static uint64_t copies_home(const struct copies *c, uint64_t bucket,
                            uint32_t print)
{
    uint64_t h =
        (bucket ^ (uint64_t)print << 32) * UINT64_C(0x9e3779b97f4a7c15);

    return (h ^ h >> 32) & (c->room - 1);
}

/* The slot of that fingerprint, or the empty one where it would be. */
static struct copies_entry *copies_find(const struct copies *c, uint64_t bucket,
                                        uint32_t print)
{
    uint64_t i = copies_home(c, bucket, print);

    while (c->at[i].print != 0 &&
           (c->at[i].print != print || c->at[i].bucket != bucket))
        i = (i + 1) & (c->room - 1);
    return &c->at[i];
}

static bool copies_make_room(struct copies *c)
{
    struct copies more = *c;

    if (c->count < c->room / 2)
        return true;
    more.room = c->room > 0 ? c->room * 2 : COPIES_LEAST;
    more.at = try_calloc(more.room, sizeof *more.at);
    if (more.at == NULL)
        return false;
    for (uint64_t i = 0; i < c->room; i++)
        if (c->at[i].print != 0)
            *copies_find(&more, c->at[i].bucket, c->at[i].print) = c->at[i];
    free(c->at);
    *c = more;
    return true;
}

/* Count n more of it, at least 1; COPIES_STUCK: it sticks from now on. False:
 * it would be entry most + 1, or there is no memory. */
static bool copies_add(struct copies *c, const struct bucket_place *p,
                       uint32_t n, uint64_t most)
{
    struct copies_entry *e =
        c->room > 0 ? copies_find(c, lower(p), p->print) : NULL;

    if (e == NULL || e->print == 0) {
        if (c->count >= most || !copies_make_room(c))
            return false;
        e = copies_find(c, lower(p), p->print);
        *e = (struct copies_entry){lower(p), p->print, 0};
        c->count++;
    }
    if (e->more == COPIES_STUCK)
        return true;
    e->more = n < COPIES_STUCK - e->more ? e->more + n : COPIES_STUCK;
    c->stuck += e->more == COPIES_STUCK;
    return true;
}

/* Close the gap at slot i. */
static void shift_back(struct copies *c, uint64_t i)
{
    uint64_t mask = c->room - 1;

    for (uint64_t j = (i + 1) & mask; c->at[j].print != 0; j = (j + 1) & mask) {
        uint64_t h = copies_home(c, c->at[j].bucket, c->at[j].print);

        if (((j - h) & mask) >= ((j - i) & mask)) {
            c->at[i] = c->at[j];
            i = j;
        }
    }
    c->at[i] = (struct copies_entry){0};
}

/* Take one off. False: none is counted. One that sticks stays, and is true. */
static bool copies_take(struct copies *c, const struct bucket_place *p)
{
    struct copies_entry *e =
        c->room > 0 ? copies_find(c, lower(p), p->print) : NULL;

    if (e == NULL || e->print == 0)
        return false;
    if (e->more != COPIES_STUCK && --e->more == 0) {
        shift_back(c, (uint64_t)(e - c->at));
        c->count--;
    }
    return true;
}

/* Does its count stick? */
static bool copies_stick(const struct copies *c, const struct bucket_place *p)
{
    const struct copies_entry *e =
        c->stuck > 0 ? copies_find(c, lower(p), p->print) : NULL;

    return e != NULL && e->print != 0 && e->more == COPIES_STUCK;
}

#define CUCKOO_LEAST  8 /* buckets: smaller tables fill up earlier */
#define CUCKOO_LISTED 64

/* Fingerprints that have no place in the table. */
struct cuckoo_list {
    struct bucket_place of[CUCKOO_LISTED];
    uint32_t count;
};

struct cuckoo {
    struct filter base;
    struct buckets table;
    struct cuckoo_list homeless;
    struct copies more; /* copies beyond those in the table */
    bool flooded;   /* a key has no place anywhere: every answer is "maybe" */
    bool all_stuck; /* too many to count them: nothing is removed any more */
    struct key_store
        *key_store; /* NULL: keys come from the caller's source, if any */
    struct filter_source source;
    pthread_mutex_t moving; /* guards table and lists while they are saved */
    uint64_t count, rebuilds, lost;
    bool starving, reduced;
};

/*
 * Sizes, and rebuilding the table.
 *
 * It is rebuilt all at once: a single fingerprint cannot move to a table of
 * another size, since it does not reveal its key. Each new table is half as
 * large again, so that a key is put some three times on the way up.
 */

#define GROWTH 1.5

/* Buckets of so many slots for this many keys. */
static uint64_t cuckoo_buckets(uint64_t keys, unsigned slots)
{
    double n = ceil((double)keys / (slots * sizing_cuckoo_load(slots)));

    return n < CUCKOO_LEAST ? CUCKOO_LEAST : (uint64_t)n;
}

/* `count` buckets, or as many as most_bytes allows. */
static uint64_t cuckoo_within_share(struct cuckoo *c, uint64_t count,
                                    unsigned bits, unsigned slots)
{
    uint64_t most = c->base.opt.most_bytes * 8 / (bits * slots);

    if (c->base.opt.most_bytes == 0 || count <= most)
        return count;
    c->reduced = true;
    return most;
}

/* Keys the table has room for. */
static uint64_t cuckoo_room(const struct cuckoo *c)
{
    return (uint64_t)((double)c->table.count * c->table.slots *
                      sizing_cuckoo_load(c->table.slots));
}

/* One in 64 slots, within most_bytes: what goes on beyond that adds a few keys
 * again and again, and is no use of a filter that removes. */
static uint64_t cuckoo_most_copies(const struct cuckoo *c)
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

/* False: the list is full. */
static bool cuckoo_list_add(struct cuckoo_list *l, const struct bucket_place *p)
{
    if (l->count == CUCKOO_LISTED)
        return false;
    l->of[l->count++] = *p;
    return true;
}

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

static bool same_place(const struct bucket_place *a,
                       const struct bucket_place *b)
{
    return a->print == b->print &&
           (a->first == b->first || a->first == b->second);
}

/* Its index in the list, or the list's count if it is not there. */
static uint32_t list_find(const struct cuckoo_list *l,
                          const struct bucket_place *p)
{
    uint32_t i = 0;

    while (i < l->count && !same_place(&l->of[i], p))
        i++;
    return i;
}

static bool cuckoo_list_has(const struct cuckoo_list *l,
                            const struct bucket_place *p)
{
    return l->count > 0 && list_find(l, p) < l->count;
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
static enum status cuckoo_rebuild(struct cuckoo *c, uint64_t count,
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

/* Make the table larger. On failure the old one goes on filling, and we do not
 * try again at every key. */
/* Make the table larger; `keys` are those of the current call so far. On
 * failure the old table goes on filling, and we do not try again at every
 * key. */
static void cuckoo_grow(struct cuckoo *c, const uint64_t *keys, size_t n)
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

/* ---- the lists ---- */

/* False: it was not there. */
static bool cuckoo_list_remove(struct cuckoo_list *l,
                               const struct bucket_place *p)
{
    uint32_t i = list_find(l, p);

    if (i == l->count)
        return false;
    l->of[i] = l->of[--l->count];
    return true;
}

/* ---- making ---- */

static void cuckoo_free(struct filter *f)
{
    struct cuckoo *c = (struct cuckoo *)f;

    buckets_fini(&c->table);
    copies_fini(&c->more);
    key_store_free(c->key_store);
    pthread_mutex_destroy(&c->moving);
    free(c);
}

/* Make an empty filter without a table. `keep`: it stores its keys; `whole`:
 * its key store is complete while empty. NULL: no memory. */
static struct cuckoo *cuckoo_new_empty(const struct filter_options *o,
                                       bool keep, bool whole)
{
    struct cuckoo *c = try_calloc(1, sizeof *c);

    if (c == NULL)
        return NULL;
    if (keep && key_store_new(&c->key_store, whole) != STATUS_OK) {
        free(c);
        return NULL;
    }
    c->base.ops = &cuckoo_ops;
    c->base.opt = *o;
    c->source =
        c->key_store != NULL ? key_store_source(c->key_store) : o->source;
    pthread_mutex_init(&c->moving, NULL);
    return c;
}

static enum status cuckoo_make(struct filter **out,
                               const struct filter_options *o)
{
    unsigned slots = o->bucket_slots, bits = o->fingerprint_bits;
    struct cuckoo *c;
    uint64_t count;
    enum status st;

    if (bits == 0)
        bits = sizing_cuckoo_bits(slots, o->fpr, o->expect);
    if (bits == 0 || !sizing_cuckoo_fills(bits, slots, o->expect))
        return STATUS_ARG;
    c = cuckoo_new_empty(o, o->source.keys_of == NULL && !o->keep_nothing,
                         true);
    if (c == NULL)
        return STATUS_NOMEM;
    count =
        cuckoo_within_share(c, cuckoo_buckets(o->expect, slots), bits, slots);
    st = count < CUCKOO_LEAST ? STATUS_LIMIT
                              : buckets_init(&c->table, count, bits, slots);
    if (st != STATUS_OK) {
        cuckoo_free(&c->base);
        return st;
    }
    *out = &c->base;
    return STATUS_OK;
}

/* ---- adding, asking, removing ---- */

static void shelter(struct cuckoo *c, const struct bucket_place *p)
{
    if (!cuckoo_list_add(&c->homeless, p))
        c->flooded = true;
}

static bool is_overfull(const struct cuckoo *c)
{
    return c->table.taken > cuckoo_room(c) || c->flooded;
}

static bool knows(const struct cuckoo *c, const struct bucket_place *p)
{
    return c->flooded || buckets_have(&c->table, p) ||
           cuckoo_list_has(&c->homeless, p);
}

/* Count n more copies of a fingerprint beside those in the table. */
static void count_copies(struct cuckoo *c, const struct bucket_place *p,
                         uint32_t n)
{
    if (!copies_add(&c->more, p, n, cuckoo_most_copies(c)))
        c->all_stuck = true;
}

/* Put one more copy of a fingerprint that is there already. A table that is
 * flooded removes nothing, so its copies need no count. */
static void put_copy(struct cuckoo *c, const struct bucket_place *p)
{
    struct bucket_place own = *p;
    unsigned most = c->table.slots;

    if (p->first == p->second && most > 1)
        most /= 2;
    if (c->flooded)
        return;
    if (buckets_copies(&c->table, p) >= most)
        count_copies(c, p, 1);
    else if (!buckets_put(&c->table, &own))
        shelter(c, &own);
}

/* Add keys[i], the last key of the current call so far; true: it is fresh. */
static bool add_one(struct cuckoo *c, const uint64_t *keys, size_t i)
{
    struct bucket_place p;
    bool known;

    if (c->table.taken >= cuckoo_room(c) || c->homeless.count > 0)
        cuckoo_grow(c, keys, i);
    p = buckets_place(&c->table, keys[i]);
    known = knows(c, &p);
    if (known && c->key_store != NULL && key_store_has(c->key_store, keys[i]))
        return false;
    if (c->key_store != NULL)
        key_store_add(c->key_store, keys[i], true);
    c->count++;
    if (known)
        put_copy(c, &p);
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

    if (c->key_store != NULL) {
        if (!key_store_remove(c->key_store, key))
            return false; /* it was never added: nothing may be taken out */
    } else if (!knows(c, &p)) {
        return false;
    }
    if (c->flooded || c->all_stuck || copies_stick(&c->more, &p)) {
        c->count -= c->key_store != NULL && c->count > 0;
        return c->key_store != NULL;
    }
    if (!copies_take(&c->more, &p) && !cuckoo_list_remove(&c->homeless, &p) &&
        !buckets_remove(&c->table, &p))
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

/* ---- merging, stats ---- */

static void merge_visit(void *to, const struct bucket_place *p)
{
    put_copy(to, p);
}

static void merge_copies(struct cuckoo *a, const struct cuckoo *b)
{
    for (uint64_t i = 0; i < b->more.room; i++) {
        const struct copies_entry *e = &b->more.at[i];
        struct bucket_place p = {e->bucket, e->bucket, e->print};

        if (e->print != 0)
            count_copies(a, &p, e->more);
    }
}

static enum status merge_tables(struct cuckoo *a, const struct cuckoo *b)
{
    if (a->key_store != NULL || a->table.count != b->table.count ||
        a->table.bits != b->table.bits || a->table.slots != b->table.slots)
        return STATUS_ARG;
    pthread_mutex_lock(&a->moving);
    buckets_each(&b->table, merge_visit, a);
    for (uint32_t i = 0; i < b->homeless.count; i++)
        put_copy(a, &b->homeless.of[i]);
    merge_copies(a, b);
    a->flooded |= b->flooded;
    a->all_stuck |= b->all_stuck;
    a->count += b->count;
    pthread_mutex_unlock(&a->moving);
    return is_overfull(a) ? filter_say_overfull(&a->base, "merged") : STATUS_OK;
}

static enum status cuckoo_merge(struct filter *into, const struct filter *from)
{
    const struct cuckoo *b = (const struct cuckoo *)from;

    if (into->opt.fpr != from->opt.fpr)
        return STATUS_ARG;
    if (b->key_store == NULL)
        return merge_tables((struct cuckoo *)into, b);
    return filter_add_from(into, &b->source);
}

static void cuckoo_stats(const struct filter *f, struct filter_stats *out)
{
    const struct cuckoo *c = (const struct cuckoo *)f;

    out->count = c->count;
    out->capacity = c->source.keys_of != NULL ? 0 : cuckoo_room(c);
    out->bits = (buckets_bytes(&c->table) + copies_bytes(&c->more)) * 8;
    out->key_bits =
        c->key_store != NULL ? key_store_bytes(c->key_store) * 8 : 0;
    out->fill =
        (double)c->table.taken / ((double)c->table.count * c->table.slots);
    out->fpr_predicted =
        c->flooded
            ? 1
            : sizing_cuckoo_rate(c->table.bits, c->table.slots, out->fill);
    out->k = c->table.bits;
    out->segments = 1;
    out->rebuilds = c->rebuilds;
    out->starved = c->starving && !c->reduced;
    out->stuck = c->all_stuck || c->flooded ? c->count : c->more.stuck;
    out->lost = c->lost;
    out->reduced = c->reduced;
    out->huge_pages = c->table.huge;
}

/* ---- a cuckoo filter's way into a file and back ----
 *
 * Unit 0 has the fingerprints without a place and those with copies beyond
 * their slots; then comes the table, in units of 64 KiB, then
 * stored keys if any. A hole in the table may have been any key's second
 * bucket, so one damaged unit means that the whole table is rebuilt.
 */

#define UNIT_OCTETS  UINT64_C(65536)
#define PLACE_OCTETS 24

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

static enum status cuckoo_get_unit(struct filter *f, uint64_t i, struct buf *to,
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

static enum status cuckoo_make_shaped(struct filter **out,
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
    if (c->key_store == NULL)
        return STATUS_OK; /* the caller's source has them */
    if (meta[0] != 1)
        return STATUS_DAMAGED;
    return key_store_put(c->key_store, (uint32_t)(i - 1 - units), from);
}

/* A hole in the table may have been any key's second bucket, so the whole table
 * is rebuilt, once. */
static enum status cuckoo_mend_unit(struct filter *f, uint64_t i)
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
    .file_version = 2,
    .shape = cuckoo_shape,
    .get_unit = cuckoo_get_unit,
    .hold = cuckoo_hold,
    .make_shaped = cuckoo_make_shaped,
    .put_unit = cuckoo_put_unit,
    .mend_unit = cuckoo_mend_unit,
    .loaded = cuckoo_loaded,
};
