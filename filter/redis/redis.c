/* SPDX-License-Identifier: MIT */
/*
 * redis.c - the `redis` kind: a shared Bloom filter behind filter.h.
 *
 *            a call fails              keys missed are in
 *   WHOLE ----------------> BEHIND ------------------------> WHOLE
 *                              |                               ^
 *                 restarted,   v   a part with each call       |
 *                 lost      FILLING ----------------------------
 *
 * In BEHIND and FILLING each answer is "maybe". Keys added meanwhile go to the
 * server if it can be reached, and onto a list if not. The list is added last,
 * so that no key is missed between the filling of its part and the end. If the
 * list is full, filling starts from the beginning.
 *
 * A restart is noticed at the next connection, but the call that made the
 * connection was answered by the new server: the answer counts only if no
 * restart was noticed during the call.
 */
#include "filter/redis/redis.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "filter/kind.h"
#include "filter/redis/redis_bloom.h"

#define PARTS       4096 /* the keys' top bits number the part */
#define SLICE       (10 * NS_PER_MS)
#define MISSED_MOST 65536

struct redis_filter {
    struct filter base;
    struct redis_bloom *bloom;
    bool started;    /* it has reached its server once */
    bool behind;     /* the server may lack keys, or could not be asked */
    unsigned filled; /* parts filled in; PARTS: not filling */
    uint64_t *missed;
    size_t missed_count;
    uint64_t restarts; /* as last seen */
    uint64_t unsure, outages;
    bool told;
};

static struct redis_filter *of(const struct filter *f)
{
    return (struct redis_filter *)f;
}

/* ---- keys that the server lacks ---- */

static void fill_all(struct redis_filter *r)
{
    r->behind = true;
    r->filled = 0;
    r->missed_count = 0;
}

static void fall_behind(struct redis_filter *r, enum status st)
{
    struct buf why;

    if (!r->behind)
        r->outages++;
    r->behind = true;
    if (st != STATUS_CLOSED)
        fill_all(r);
    if (r->told)
        return;
    r->told = true;
    buf_init(&why, 2048);
    redis_bloom_why(r->bloom, st, &why);
    log_warn("the Redis filter cannot be reached; until it can, every URL is "
             "looked up in the exact set",
             "why=\"%s\"", buf_str(&why));
    buf_fini(&why);
}

static void miss(struct redis_filter *r, const uint64_t *keys, size_t n)
{
    if (r->missed_count + n > MISSED_MOST)
        fill_all(r); /* the source also has the keys on the list */
    if (n > MISSED_MOST)
        return;
    if (r->missed == NULL)
        r->missed = xmalloc(MISSED_MOST * sizeof *r->missed);
    memcpy(r->missed + r->missed_count, keys, n * sizeof *keys);
    r->missed_count += n;
}

/* Was the server restarted since the last call of this? Then it may lack any
 * key. */
static bool was_restarted(struct redis_filter *r)
{
    uint64_t now = redis_bloom_restarts(r->bloom);

    if (now == r->restarts)
        return false;
    r->restarts = now;
    fill_all(r);
    return true;
}

/* ---- becoming whole again ---- */

/* Keys read from the source and not sent yet, so that many small parts travel
 * in one call. */
struct filling {
    struct redis_filter *r;
    enum status st;
    size_t n;
    uint64_t keys[REDIS_BATCH * 4];
};

static void flush_filling(struct filling *fill)
{
    if (fill->n > 0 && fill->st == STATUS_OK)
        fill->st = redis_bloom_add(fill->r->bloom,
                                   (struct redis_keys){.digest = fill->keys},
                                   fill->n, NULL);
    if (fill->st == STATUS_OK && was_restarted(fill->r))
        fill->st = STATUS_AGAIN;
    fill->n = 0;
}

static void fill_visit(void *to, const uint64_t *keys, size_t n)
{
    struct filling *fill = to;

    for (size_t i = 0; i < n; i++) {
        fill->keys[fill->n++] = keys[i];
        if (fill->n == sizeof fill->keys / sizeof *fill->keys)
            flush_filling(fill);
    }
}

/* Fill as many parts as a slice of time allows; they count as filled once the
 * server has them. */
static enum status fill_some(struct redis_filter *r)
{
    const struct filter_source *s = &r->base.opt.source;
    int64_t until = clock_mono() + SLICE;
    struct filling *fill;
    unsigned part = r->filled;
    enum status st = STATUS_OK;

    if (part == PARTS)
        return STATUS_OK;
    if (s->keys_of == NULL)
        return STATUS_NOT_FOUND;
    fill = xmalloc(sizeof *fill);
    fill->r = r;
    fill->st = STATUS_OK;
    fill->n = 0;
    while (st == STATUS_OK && fill->st == STATUS_OK && part < PARTS &&
           clock_mono() < until) {
        uint64_t first = (uint64_t)part++ << 52;

        st = s->keys_of(s->ctx, first, first | UINT64_MAX >> 12, fill_visit,
                        fill);
    }
    flush_filling(fill);
    if (st == STATUS_OK)
        st = fill->st;
    if (st == STATUS_OK)
        r->filled = part;
    free(fill);
    return st;
}

static enum status put_missed(struct redis_filter *r)
{
    enum status st =
        redis_bloom_add(r->bloom, (struct redis_keys){.digest = r->missed},
                        r->missed_count, NULL);

    if (st == STATUS_OK && was_restarted(r))
        return STATUS_AGAIN;
    if (st == STATUS_OK)
        r->missed_count = 0;
    return st;
}

/* To a crawl "new" means that its exact set need not be asked. */
static enum status redis_filter_start(struct redis_filter *r, struct buf *error)
{
    enum status st = redis_bloom_start(r->bloom, error);
    struct redis_bloom_info i;

    if (st == STATUS_OK) {
        redis_bloom_known(r->bloom, &i);
        if (i.generations > 0)
            st = STATUS_ARG;
        if (st != STATUS_OK && error != NULL)
            buf_add_str(error, "the filter there was made with --ttl and "
                               "forgets keys, which a crawl must not");
    }
    r->started |= st == STATUS_OK;
    return st;
}

static enum status reach(struct redis_filter *r)
{
    enum status st =
        r->started ? redis_bloom_ready(r->bloom) : STATUS_NOT_FOUND;

    if (st == STATUS_OK || st == STATUS_CLOSED)
        return st;
    fill_all(r);
    return redis_filter_start(r, NULL);
}

/* Try once to become whole again, if it is time for a try. */
static void mend(struct redis_filter *r)
{
    enum status st;

    if (!redis_bloom_is_due(r->bloom))
        return;
    st = reach(r);
    if (st == STATUS_OK)
        (void)was_restarted(r);
    if (st == STATUS_OK)
        st = fill_some(r);
    if (st == STATUS_OK && r->filled < PARTS)
        return; /* the next calls fill the rest */
    if (st == STATUS_OK && r->missed_count > 0)
        st = put_missed(r);
    if (st != STATUS_OK) {
        if (st != STATUS_AGAIN)
            fall_behind(r, st);
        return;
    }
    r->behind = false;
    if (r->told)
        log_warn("the Redis filter is complete again", "%s", "");
    r->told = false;
}

/* ---- the kind ---- */

static void redis_free(struct filter *f)
{
    struct redis_filter *r = of(f);

    redis_bloom_free(r->bloom);
    free(r->missed);
    free(r);
}

static enum status redis_filter_place_of(const struct filter_options *o,
                                         struct redis_place *p)
{
    struct buf error;
    enum status st = STATUS_ARG;

    buf_init(&error, 1024);
    if (o->redis != NULL)
        st = redis_url_parse(p, o->redis, &error);
    if (st == STATUS_FORMAT) {
        log_error("not a Redis URL", "why=\"%s\"", buf_str(&error));
        st = STATUS_ARG;
    }
    buf_fini(&error);
    return st;
}

/* A server out of reach does not prevent starting if a source can give the keys
 * later. */
static enum status redis_filter_begin(struct redis_filter *r)
{
    struct buf error;
    enum status st;

    buf_init(&error, 2048);
    st = redis_filter_start(r, &error);
    if (st == STATUS_CLOSED && r->base.opt.source.keys_of != NULL) {
        fall_behind(r, st);
        st = STATUS_OK;
    } else if (st != STATUS_OK) {
        log_error("the Redis filter cannot be used", "why=\"%s\"",
                  buf_str(&error));
    }
    buf_fini(&error);
    return st;
}

static enum status redis_make(struct filter **out,
                              const struct filter_options *o)
{
    struct redis_place place;
    struct redis_bloom_options bo = {.place = &place,
                                     .mode = REDIS_BLOOM_MAKE,
                                     .expect = o->expect,
                                     .fpr = o->fpr};
    struct redis_filter *r;
    enum status st = redis_filter_place_of(o, &place);

    if (st != STATUS_OK)
        return st;
    r = xcalloc(1, sizeof *r);
    r->base.ops = &redis_ops;
    r->base.opt = *o;
    r->base.opt.redis = NULL; /* owned by the caller; may hold a password */
    r->bloom = redis_bloom_new(&bo);
    if (o->source.keys_of != NULL)
        fill_all(r); /* unless redis_filter_trust() succeeds */
    else
        r->filled = PARTS;
    st = redis_filter_begin(r);
    if (st != STATUS_OK) {
        redis_free(&r->base);
        return st;
    }
    *out = &r->base;
    return STATUS_OK;
}

static enum status redis_add(struct filter *f, const uint64_t *keys, size_t n,
                             bool *fresh)
{
    struct redis_filter *r = of(f);
    enum status st = STATUS_CLOSED;
    bool was_behind;

    if (r->behind)
        mend(r);
    was_behind = r->behind;
    if (r->started && redis_bloom_is_due(r->bloom))
        st = redis_bloom_add(r->bloom, (struct redis_keys){.digest = keys}, n,
                             fresh);
    if (st != STATUS_OK) {
        fall_behind(r, st);
        miss(r, keys, n);
    } else if (was_restarted(r)) {
        fall_behind(r, STATUS_CLOSED);
    }
    if (fresh != NULL && (was_behind || r->behind))
        memset(fresh, 0, n * sizeof *fresh);
    if (st == STATUS_OK && redis_bloom_is_overfull(r->bloom))
        return filter_say_overfull(f, "it cannot grow by itself");
    return r->base.opt.source.keys_of != NULL ? STATUS_OK : st;
}

static void redis_check(const struct filter *f, const uint64_t *keys, size_t n,
                        bool *maybe)
{
    struct redis_filter *r = of(f);
    enum status st = STATUS_CLOSED;

    if (r->behind)
        mend(r);
    if (!r->behind) {
        st = redis_bloom_check(r->bloom, (struct redis_keys){.digest = keys}, n,
                               maybe);
        if (was_restarted(r) && st == STATUS_OK)
            st = STATUS_CLOSED;
        if (st != STATUS_OK)
            fall_behind(r, st);
    }
    if (st == STATUS_OK)
        return;
    r->unsure += n;
    memset(maybe, 1, n * sizeof *maybe);
}

static void redis_stats(const struct filter *f, struct filter_stats *out)
{
    const struct redis_filter *r = of(f);
    struct redis_bloom_info i;

    redis_bloom_known(r->bloom, &i);
    out->count = i.count;
    out->capacity = r->started ? i.expect : f->opt.expect;
    out->bits = i.bits;
    out->fpr_predicted = r->started ? i.fpr_predicted : 0;
    out->k = i.k;
    out->segments = 1;
    out->unsure = r->unsure;
}

static uint64_t redis_unsure(const struct filter *f)
{
    return of(f)->unsure;
}

const struct filter_ops redis_ops = {
    .traits = {.name = "redis",
               .summary = "bits in a Redis string, shared by processes",
               .remote = true},
    .make = redis_make,
    .free = redis_free,
    .add = redis_add,
    .check = redis_check,
    .stats = redis_stats,
    .unsure = redis_unsure,
};

/* ---- recognising the filter after a restart of ours ---- */

bool redis_filter_mark(struct filter *f, struct buf *out)
{
    struct redis_filter *r = of(f);
    struct redis_bloom_info i;

    if (f->ops != &redis_ops)
        return false;
    if (r->behind)
        mend(r);
    if (r->behind)
        return false;
    redis_bloom_known(r->bloom, &i);
    buf_addf(out, "%s %s", i.epoch, i.run_id);
    return true;
}

bool redis_filter_trust(struct filter *f, struct bytes mark)
{
    struct redis_filter *r = of(f);
    struct redis_bloom_info i;
    char now[80];

    if (f->ops != &redis_ops || !r->started || mark.len == 0)
        return false;
    redis_bloom_known(r->bloom, &i);
    snprintf(now, sizeof now, "%s %s", i.epoch, i.run_id);
    if (!bytes_is(mark, now))
        return false;
    r->behind = false;
    r->filled = PARTS;
    return true;
}

struct redis_filter_state redis_filter_state(const struct filter *f)
{
    const struct redis_filter *r = of(f);

    return (struct redis_filter_state){!r->behind, r->outages};
}
