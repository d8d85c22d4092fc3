/* SPDX-License-Identifier: MIT */
/*
 * filter_shelf_locks.c - keys that one caller at a time fetches.
 *
 * When a hot entry of a cache expires, all who miss it ask the database at once
 * (the thundering herd; memcache's leases answer it the same way: Nishtala et
 * al., Scaling Memcache at Facebook, 2013, section 3.2.1). A lock is a digest,
 * a token and a moment at which it ends. At the limit, locks that are over make
 * room; if none is, a key is answered as if nobody had asked for it, since a
 * guard that stops everyone is worse than a second question.
 */
#include "service/filters/filter_shelf_impl.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/mem.h"

struct shelf_lock {
    uint64_t token;
    int64_t until;
};

static struct bytes name_of(const uint64_t *key)
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

void shelf_locks_free(struct filter_shelf *s, struct shelf_filter *f)
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
    struct shelf_lock *l = map_get(f->locks, name_of(key));
    uint64_t new;

    *locked = l != NULL && l->until > now;
    if (*locked || (l == NULL && s->locks >= SHELF_LOCKS_MOST) ||
        getrandom(&new, sizeof new, 0) != (ssize_t)sizeof new)
        return;
    if (l == NULL) {
        l = xcalloc(1, sizeof *l);
        (void)map_put(f->locks, name_of(key), l);
        s->locks++;
    }
    l->token = new != 0 ? new : 1;
    l->until = until;
    *token = l->token;
}

void shelf_lock_keys(struct filter_shelf *s, struct shelf_filter *f,
                     struct shelf_call *c, const uint64_t *keys, int64_t now)
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

void shelf_unlock_keys(struct filter_shelf *s, struct shelf_filter *f,
                       struct shelf_call *c, const uint64_t *keys)
{
    for (size_t i = 0; i < c->n; i++) {
        struct shelf_lock *l =
            f->locks != NULL ? map_get(f->locks, name_of(&keys[i])) : NULL;

        c->answers[i] = l != NULL && l->token == c->locks[i];
        if (!c->answers[i])
            continue;
        free(map_remove(f->locks, name_of(&keys[i])));
        s->locks--;
    }
}
