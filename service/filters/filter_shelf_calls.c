/* SPDX-License-Identifier: MIT */
/* filter_shelf_calls.c - what each call on the shelf does, locks among it. */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/mem.h"
#include "filter/checkpoint.h"
#include "service/filters/filter_shelf_impl.h"

/* ---- keys that one caller at a time fetches ----
 *
 * When a hot entry of a cache expires, all who miss it ask the database at once
 * (the thundering herd; memcache's leases answer it the same way: Nishtala et
 * al., Scaling Memcache at Facebook, 2013, section 3.2.1). A lock is a digest,
 * a token and a moment at which it ends. At the limit, locks that are over make
 * room; if none is, a key is answered as if nobody had asked for it, since a
 * guard that stops everyone is worse than a second question.
 */

struct shelf_lock {
    uint64_t token;
    int64_t until;
};

static struct bytes shelf_name_of(const uint64_t *key)
{
    return bytes_of((const char *)key, sizeof *key);
}

/* ---- locks that are over ---- */

struct sweep {
    struct map *left;
    int64_t now;
};

static bool keep_running(void *ctx, struct bytes key, void *value)
{
    struct sweep *w = ctx;
    struct shelf_lock *l = value;

    if (l->until > w->now)
        (void)map_put(w->left, key, l);
    else
        free(l);
    return true;
}

static bool sweep_filter(void *ctx, struct bytes name, void *value)
{
    struct filter_shelf *s = ctx;
    struct shelf_filter *f = value;
    struct sweep w = {NULL, clock_mono()};

    (void)name;
    if (f->locks == NULL)
        return true;
    w.left = map_new();
    map_each(f->locks, keep_running, &w);
    s->locks -= map_count(f->locks) - map_count(w.left);
    map_free(f->locks, NULL);
    f->locks = w.left;
    return true;
}

static void shelf_locks_free(struct filter_shelf *s, struct shelf_filter *f)
{
    if (f->locks != NULL)
        s->locks -= map_count(f->locks);
    map_free(f->locks, free);
    f->locks = NULL;
}

/* ---- locking ---- */

static void lock_key(struct filter_shelf *s, struct shelf_filter *f,
                     const uint64_t *key, int64_t until, int64_t now,
                     uint64_t *token, bool *locked)
{
    struct shelf_lock *l = map_get(f->locks, shelf_name_of(key));
    uint64_t new;

    *locked = l != NULL && l->until > now;
    if (*locked || (l == NULL && s->locks >= SHELF_LOCKS_MOST) ||
        getrandom(&new, sizeof new, 0) != (ssize_t)sizeof new)
        return;
    if (l == NULL) {
        l = xcalloc(1, sizeof *l);
        (void)map_put(f->locks, shelf_name_of(key), l);
        s->locks++;
    }
    l->token = new != 0 ? new : 1;
    l->until = until;
    *token = l->token;
}

static void shelf_lock_keys(struct filter_shelf *s, struct shelf_filter *f,
                            struct shelf_call *c, const uint64_t *keys,
                            int64_t now)
{
    if (f->locks == NULL)
        f->locks = map_new();
    if (s->locks + c->n > SHELF_LOCKS_MOST)
        map_each(s->filters, sweep_filter, s);
    for (size_t i = 0; i < c->n; i++) {
        c->locks[i] = 0;
        c->locked[i] = false;
        if (c->answers[i])
            lock_key(s, f, &keys[i], now + c->lock_s * NS_PER_S, now,
                     &c->locks[i], &c->locked[i]);
    }
}

static void shelf_unlock_keys(struct filter_shelf *s, struct shelf_filter *f,
                              struct shelf_call *c, const uint64_t *keys)
{
    for (size_t i = 0; i < c->n; i++) {
        struct shelf_lock *l = f->locks != NULL
                                   ? map_get(f->locks, shelf_name_of(&keys[i]))
                                   : NULL;

        c->answers[i] = l != NULL && l->token == c->locks[i];
        if (!c->answers[i])
            continue;
        free(map_remove(f->locks, shelf_name_of(&keys[i])));
        s->locks--;
    }
}

/* ---- calls ---- */

#define MEASURED_EVERY 4096 /* keys added */

void shelf_filter_free(void *filter)
{
    struct shelf_filter *f = filter;

    filter_free(f->filter);
    filter_free(f->next);
    map_free(f->locks, free);
    free(f);
}

static uint64_t bytes_of_filter(const struct filter *f)
{
    struct filter_stats v;

    filter_stats(f, &v);
    return (v.bits + v.key_bits) / 8;
}

void shelf_measure(struct shelf_filter *f)
{
    f->unasked = 0;
    f->bytes = bytes_of_filter(f->filter);
    f->next_bytes = f->next != NULL ? bytes_of_filter(f->next) : 0;
}

static bool is_ready(const struct shelf_filter *f)
{
    return f->id.generation != SHELF_UNBUILT;
}

static void shelf_view_of(const struct shelf_filter *f, struct shelf_view *v)
{
    memset(v, 0, sizeof *v);
    memcpy(v->name, f->name, sizeof v->name);
    filter_stats(f->filter, &v->stats);
    v->ready = is_ready(f);
    v->building = f->next != NULL;
    v->built_s = is_ready(f) ? (int64_t)f->id.generation : 0;
}

/* ---- how much there is ---- */

static void end_build(struct shelf_filter *f)
{
    filter_free(f->next);
    f->next = NULL;
    f->next_bytes = f->token = 0;
}

struct counting {
    struct filter_shelf *shelf;
    int64_t now, next;
};

static bool count_one(void *ctx, struct bytes name, void *value)
{
    struct counting *a = ctx;
    struct shelf_filter *f = value;

    (void)name;
    if (f->next != NULL && a->now >= f->lease_until)
        end_build(f);
    if (f->next != NULL)
        a->next = clock_earlier(a->next, f->lease_until);
    a->shelf->own.filters++;
    a->shelf->own.bytes += f->bytes + f->next_bytes;
    return true;
}

int64_t shelf_end_leases(struct filter_shelf *s, int64_t now)
{
    struct counting a = {s, now, INT64_MAX};

    s->own.filters = s->own.bytes = 0;
    map_each(s->filters, count_one, &a);
    return a.next;
}

static enum status shelf_refuse(struct shelf_call *c, enum status st,
                                const char *why)
{
    c->why = why;
    c->status = st;
    return st;
}

static bool shelf_has_room(struct filter_shelf *s, struct shelf_call *c)
{
    if (s->own.bytes < s->memory)
        return true;
    shelf_refuse(c, STATUS_LIMIT,
                 "the filters have taken all of --filter-memory");
    return false;
}

/* Makes one that fits beside the others: otherwise none could take a key any
 * more. Those that grow to their limit would only see that after a while, which
 * all callers would wait for. */
static enum status make_fitting(const struct filter_shelf *s,
                                struct shelf_call *c,
                                const struct filter_options *o,
                                struct filter **out)
{
    static const char why[] = "it does not fit in --filter-memory";
    struct filter *made;
    enum status st;

    if (o->fpr > 0 && s->own.bytes + filter_least_bytes(o) > s->memory)
        return shelf_refuse(c, STATUS_LIMIT, why);
    st = filter_new(&made, o);
    if (st == STATUS_OK && s->own.bytes + bytes_of_filter(made) > s->memory) {
        filter_free(made);
        return shelf_refuse(c, STATUS_LIMIT, why);
    }
    if (st == STATUS_OK)
        *out = made;
    return st;
}

/* ---- making ---- */

/* Random octets; the kernel gives so few at once. */
static bool random_octets(void *to, size_t n)
{
    return getrandom(to, n, 0) == (ssize_t)n;
}

static enum status make_filter(const struct filter_shelf *s,
                               struct shelf_call *c, struct filter **out)
{
    const struct filter_options o = {.kind = c->kind,
                                     .expect = c->capacity,
                                     .fpr = c->fpr,
                                     .keep_nothing = c->fixed,
                                     .ttl_s = c->ttl_s,
                                     .born_s = clock_wall_ms() / 1000,
                                     .most_bytes = s->memory};

    return make_fitting(s, c, &o, out);
}

/* One as `f` is, which may be of a file with options that CREATE has not; of
 * another size or rate if the call says so. */
static enum status make_next(const struct filter_shelf *s, struct shelf_call *c,
                             struct shelf_filter *f)
{
    struct filter_options o = *filter_options(f->filter);
    struct filter_stats now;

    filter_stats(f->filter, &now);
    o.source = (struct filter_source){.keys_of = NULL};
    o.keep_nothing = now.key_bits == 0;
    o.born_s = clock_wall_ms() / 1000;
    o.most_bytes = s->memory;
    if (c->capacity != 0)
        o.expect = c->capacity;
    if (c->fpr != 0) {
        o.fpr = c->fpr;
        o.fingerprint_bits = 0; /* as that rate needs */
    }
    return make_fitting(s, c, &o, &f->next);
}

static enum status shelf_create(struct filter_shelf *s, struct shelf_call *c)
{
    struct shelf_filter *f;
    enum status st;

    if (map_get(s->filters, c->name) != NULL)
        return shelf_refuse(c, STATUS_EXISTS, "there is one of that name");
    if (map_count(s->filters) >= SHELF_MOST)
        return shelf_refuse(c, STATUS_LIMIT,
                            "there are 1000 filters, the most");
    if (!shelf_has_room(s, c))
        return c->status;
    f = xcalloc(1, sizeof *f);
    memcpy(f->name, c->name.at, c->name.len);
    f->id.has_seed = true;
    f->id.generation =
        c->from_source ? SHELF_UNBUILT : (uint64_t)clock_wall_ms() / 1000;
    st = random_octets(f->id.seed, sizeof f->id.seed) ? STATUS_OK : STATUS_IO;
    digest_key_init(&f->key, f->id.seed);
    f->id.seed_print = checkpoint_seed_print(&f->key);
    if (st == STATUS_OK)
        st = make_filter(s, c, &f->filter);
    if (st == STATUS_OK)
        st = shelf_save(s, f);
    if (st != STATUS_OK) {
        shelf_filter_free(f);
        return st;
    }
    shelf_measure(f);
    s->own.bytes += f->bytes;
    shelf_view_of(f, &c->view);
    map_put(s->filters, c->name, f);
    return STATUS_OK;
}

static enum status shelf_drop(struct filter_shelf *s, struct shelf_call *c,
                              struct shelf_filter *f)
{
    enum status st = shelf_remove_file(s, f->name);

    if (st != STATUS_OK)
        return st;
    map_remove(s->filters, c->name);
    shelf_locks_free(s, f);
    shelf_filter_free(f);
    return STATUS_OK;
}

/* ---- keys ---- */

/* The caller frees it. */
static uint64_t *digests(const struct shelf_call *c,
                         const struct shelf_filter *f)
{
    uint64_t *keys = xcalloc(c->n > 0 ? c->n : 1, sizeof *keys);

    for (size_t i = 0; i < c->n; i++)
        keys[i] = c->set.len > 0 ? seeded_named_key(&f->key, c->set, c->keys[i])
                                 : digest_bytes(&f->key, c->keys[i]).hi;
    return keys;
}

static void shelf_check(struct filter_shelf *s, struct shelf_call *c,
                        struct shelf_filter *f, const uint64_t *keys)
{
    uint64_t maybe = 0;

    if (is_ready(f))
        filter_check(f->filter, keys, c->n, c->answers);
    else
        memset(c->answers, true, c->n);
    for (size_t i = 0; i < c->n; i++)
        maybe += c->answers[i];
    s->own.checked_maybe += maybe;
    s->own.checked_new += c->n - maybe;
    if (c->lock_s > 0)
        shelf_lock_keys(s, f, c, keys, clock_mono());
    c->view.ready = is_ready(f);
    c->view.building = f->next != NULL;
}

static enum status wrong_build(struct shelf_call *c)
{
    return shelf_refuse(
        c, STATUS_REFUSED,
        "this build is over: its lease ended, or it was finished");
}

static enum status shelf_add(struct filter_shelf *s, struct shelf_call *c,
                             struct shelf_filter *f, const uint64_t *keys)
{
    enum status st;

    if (c->token != 0 && (f->next == NULL || c->token != f->token))
        return wrong_build(c);
    if (!shelf_has_room(s, c))
        return c->status;
    if (c->token != 0) {
        f->lease_until = clock_mono() + f->lease_ns;
        st = filter_add_lenient(f->next, keys, c->n, c->answers);
    } else {
        st = filter_add_lenient(f->filter, keys, c->n, c->answers);
        if (st == STATUS_OK && f->next != NULL)
            st = filter_add_lenient(f->next, keys, c->n, NULL);
        if (c->n > 0)
            shelf_log(s, f, FILTER_LOG_ADDED, keys, c->n);
        c->changed = true;
    }
    s->own.added += c->n;
    f->unasked += c->n;
    if (f->unasked >= MEASURED_EVERY) {
        s->own.bytes -= f->bytes + f->next_bytes;
        shelf_measure(f);
        s->own.bytes += f->bytes + f->next_bytes;
    }
    return st;
}

static enum status take_out(struct filter_shelf *s, struct shelf_call *c,
                            struct shelf_filter *f, const uint64_t *keys)
{
    enum status st;

    if (!filter_kind_named(filter_options(f->filter)->kind)->removes)
        return shelf_refuse(
            c, STATUS_REFUSED,
            "a filter of this kind cannot remove keys; counting and "
            "cuckoo can");
    st = filter_remove(f->filter, keys, c->n, c->answers);
    if (c->stuck != NULL)
        filter_find_stuck(f->filter, keys, c->n, c->answers, c->stuck);
    if (st == STATUS_OK && f->next != NULL)
        st = filter_remove(f->next, keys, c->n, NULL);
    if (c->n > 0)
        shelf_log(s, f, FILTER_LOG_REMOVED, keys, c->n);
    c->changed = true;
    for (size_t i = 0; i < c->n; i++)
        s->own.removed += c->answers[i];
    return st;
}

static enum status with_keys(struct filter_shelf *s, struct shelf_call *c,
                             struct shelf_filter *f)
{
    uint64_t *keys = digests(c, f);
    enum status st = STATUS_OK;

    if (c->verb == SHELF_CHECK)
        shelf_check(s, c, f, keys);
    else if (c->verb == SHELF_ADD)
        st = shelf_add(s, c, f, keys);
    else if (c->verb == SHELF_UNLOCK)
        shelf_unlock_keys(s, f, c, keys);
    else
        st = take_out(s, c, f, keys);
    free(keys);
    return st;
}

/* ---- builds ---- */

static enum status begin_build(struct filter_shelf *s, struct shelf_call *c,
                               struct shelf_filter *f)
{
    enum status st;

    if (!shelf_has_room(s, c))
        return c->status;
    st = make_next(s, c, f);
    if (st != STATUS_OK)
        return st;
    while (f->token == 0)
        if (!random_octets(&f->token, sizeof f->token)) {
            end_build(f);
            return STATUS_IO;
        }
    f->lease_ns = c->lease_s * NS_PER_S;
    f->lease_until = clock_mono() + f->lease_ns;
    f->next_bytes = bytes_of_filter(f->next);
    s->own.bytes += f->next_bytes;
    c->token = f->token;
    shelf_view_of(f, &c->view);
    return STATUS_OK;
}

/* A build that ended while this call waited is as good as its own. */
static bool has_been_built(const struct shelf_call *c,
                           const struct shelf_filter *f)
{
    uint64_t age = (uint64_t)clock_wall_ms() / 1000 - f->id.generation;

    return f->builds != c->seen ||
           (is_ready(f) && c->max_age_s > 0 && age < c->max_age_s);
}

/* False: it waits. */
static bool build(struct filter_shelf *s, struct shelf_call *c,
                  struct shelf_filter *f, int64_t now)
{
    if (c->seen == UINT64_MAX)
        c->seen = f->builds;
    c->token = 0;
    if (!has_been_built(c, f)) {
        if (f->next == NULL) {
            c->status = begin_build(s, c, f);
            return true;
        }
        if (now < c->wait_until)
            return false;
    }
    shelf_view_of(f, &c->view);
    return true;
}

/* Has the new filter no keys, or less than half of those that are there? */
static bool is_too_small(struct shelf_call *c, const struct shelf_filter *f,
                         const struct filter *new)
{
    struct filter_stats now, next;

    filter_stats(f->filter, &now);
    filter_stats(new, &next);
    c->build_count = next.count;
    c->too_small = !c->allow_smaller &&
                   (next.count == 0 || next.count < now.count - now.count / 2);
    if (c->too_small)
        shelf_view_of(f, &c->view);
    return c->too_small;
}

static enum status shelf_finish(struct filter_shelf *s, struct shelf_call *c,
                                struct shelf_filter *f)
{
    struct filter *old = f->filter;
    uint64_t generation = f->id.generation, covers = f->id.covers;
    enum status st;

    if (f->next == NULL || c->token != f->token)
        return wrong_build(c);
    if (is_too_small(c, f, f->next))
        return shelf_refuse(c, STATUS_REFUSED, "the build has too few keys");
    f->filter = f->next;
    f->id.generation = (uint64_t)clock_wall_ms() / 1000;
    st = shelf_save(s, f);
    if (st != STATUS_OK) {
        f->filter = old;
        f->id.generation = generation;
        f->id.covers = covers;
        return st;
    }
    f->next = old;
    end_build(f);
    f->builds++;
    s->own.builds++;
    shelf_measure(f);
    shelf_view_of(f, &c->view);
    return STATUS_OK;
}

static enum status set_ttl(struct filter_shelf *s, struct shelf_call *c,
                           struct shelf_filter *f)
{
    enum status st;

    if (filter_set_ttl(f->filter, c->ttl_s) != STATUS_OK)
        return shelf_refuse(c, STATUS_REFUSED,
                            "this filter was made without 'ttl_seconds'");
    if (f->next != NULL && filter_set_ttl(f->next, c->ttl_s) != STATUS_OK)
        return STATUS_ARG;
    st = shelf_save(s, f);
    shelf_view_of(f, &c->view);
    return st;
}

/* ---- filters made elsewhere ---- */

/* Puts what was read in place of the filter `f`, whose keys had another seed.
 */
static enum status shelf_replace(struct filter_shelf *s, struct shelf_call *c,
                                 struct shelf_filter *f,
                                 struct shelf_filter *with)
{
    struct filter *filter = f->filter;
    struct checkpoint_id id = f->id;
    enum status st;

    if (is_too_small(c, f, with->filter))
        return shelf_refuse(c, STATUS_REFUSED, "the file has too few keys");
    f->filter = with->filter;
    f->id = with->id;
    st = shelf_save(s, f);
    if (st != STATUS_OK) {
        f->filter = filter;
        f->id = id;
        return st;
    }
    f->key = with->key;
    with->filter = filter; /* is freed with it */
    end_build(f);
    shelf_locks_free(s, f);
    f->builds++;
    return STATUS_OK;
}

static enum status load(struct filter_shelf *s, struct shelf_call *c,
                        struct shelf_filter *f)
{
    struct shelf_filter *new = xcalloc(1, sizeof *new);
    enum status st;

    memcpy(new->name, c->name.at, c->name.len);
    st = shelf_read(s, c->path, new);
    if (st == STATUS_OK && f == NULL && map_count(s->filters) >= SHELF_MOST)
        st = shelf_refuse(c, STATUS_LIMIT, "there are 1000 filters, the most");
    if (st == STATUS_OK) {
        new->id.generation = (uint64_t)clock_wall_ms() / 1000;
        shelf_measure(new);
        if (s->own.bytes - (f != NULL ? f->bytes + f->next_bytes : 0) +
                new->bytes >
            s->memory)
            st = shelf_refuse(c, STATUS_LIMIT,
                              "it does not fit in --filter-memory");
    }
    if (st == STATUS_OK && f != NULL) {
        st = shelf_replace(s, c, f, new);
        shelf_measure(f);
        if (st == STATUS_OK)
            shelf_view_of(f, &c->view);
    } else if (st == STATUS_OK) {
        st = shelf_save(s, new);
        if (st == STATUS_OK) {
            shelf_view_of(new, &c->view);
            map_put(s->filters, c->name, new);
            return STATUS_OK;
        }
    }
    shelf_filter_free(new);
    return st;
}

/* ---- all ---- */

struct listing {
    struct shelf_view *views;
    size_t n;
};

static bool list_one(void *ctx, struct bytes name, void *value)
{
    struct listing *l = ctx;

    (void)name;
    shelf_view_of(value, &l->views[l->n++]);
    return true;
}

static int shelf_by_name(const void *a, const void *b)
{
    const struct shelf_view *x = a, *y = b;

    return strcmp(x->name, y->name);
}

static void list(struct filter_shelf *s, struct shelf_call *c)
{
    struct listing l = {xcalloc(map_count(s->filters) + 1, sizeof *l.views), 0};

    map_each(s->filters, list_one, &l);
    qsort(l.views, l.n, sizeof *l.views, shelf_by_name);
    c->views = l.views;
    c->view_count = l.n;
}

/* A build that takes long forgets meanwhile, too. */
static enum status age(struct shelf_filter *f)
{
    int64_t now = clock_wall_ms() / 1000;
    enum status st = filter_age(f->filter, now);

    return st == STATUS_OK && f->next != NULL ? filter_age(f->next, now) : st;
}

bool shelf_carry_out(struct filter_shelf *s, struct shelf_call *c, int64_t now)
{
    struct shelf_filter *f = map_get(s->filters, c->name);

    if (f == NULL && c->verb != SHELF_LIST &&
        shelf_load_one(s, c->name) == STATUS_OK)
        f = map_get(s->filters, c->name);
    c->status = STATUS_OK;
    if (c->verb == SHELF_LIST)
        list(s, c);
    else if (c->verb == SHELF_CREATE)
        c->status = shelf_create(s, c);
    else if (c->verb == SHELF_LOAD)
        c->status = load(s, c, f);
    else if (f == NULL)
        c->status = STATUS_NOT_FOUND;
    else if ((c->status = age(f)) != STATUS_OK)
        ; /* no memory for a new generation */
    else if (c->verb == SHELF_SET_TTL)
        c->status = set_ttl(s, c, f);
    else if (c->verb == SHELF_DELETE)
        c->status = shelf_drop(s, c, f);
    else if (c->verb == SHELF_SHOW)
        shelf_view_of(f, &c->view);
    else if (c->verb == SHELF_BUILD)
        return build(s, c, f, now);
    else if (c->verb == SHELF_FINISH)
        c->status = shelf_finish(s, c, f);
    else if (c->verb == SHELF_CHECK && !is_ready(f) && now < c->wait_until)
        return false;
    else
        c->status = with_keys(s, c, f);
    return true;
}
