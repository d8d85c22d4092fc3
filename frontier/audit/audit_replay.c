/* SPDX-License-Identifier: MIT */
/*
 * audit_replay.c - the URLs of an audit through another filter.
 *
 * Filters are replayed one after the other, not all in one pass: so memory
 * holds the keys and one filter, however many are compared, and filters of a
 * fixed size can be made for the count that the stream turned out to have, as
 * if a user had guessed it right. To show what happens to a user who guessed
 * wrong, a `bloom` for a tenth of that is replayed too.
 */
#include "frontier/audit/audit_replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"

#define BATCH      1024 /* divides every step, so batches end where steps do */
#define QUESTIONS  (256 * BATCH)
#define LEAST_MADE 1024

/* ---- one filter ---- */

enum status audit_run_init(struct audit_run *run, struct audit_series *out,
                           const char *name, const struct filter_options *o,
                           int64_t (*now)(void))
{
    run->now = now;
    run->added_in = 0;
    audit_tally_init(&run->tally, out, name);
    out->kind = filter_kind_named(o->kind)->name;
    out->fpr = o->fpr;
    out->made_for = o->expect;
    return filter_new(&run->filter, o);
}

enum status audit_run_ask(struct audit_run *run, const uint64_t *keys, size_t n,
                          bool *fresh)
{
    struct audit_tally *t = &run->tally;
    uint64_t before = t->out->total.upto + t->now.asked;
    int64_t began = run->now != NULL ? run->now() : 0;
    enum status st = filter_add_lenient(run->filter, keys, n, fresh);

    run->added_in += run->now != NULL ? run->now() - began : 0;
    if (st != STATUS_OK)
        return st;
    for (size_t i = 0; i < n; i++)
        audit_tally_count(t, before + i + 1, !fresh[i]);
    if (audit_tally_is_due(t)) {
        audit_step_note(&t->now, run->filter);
        audit_tally_end_step(t);
    }
    return STATUS_OK;
}

void audit_run_finish(struct audit_run *run)
{
    audit_step_note(&run->tally.now, run->filter);
    audit_tally_finish(&run->tally);
    filter_free(run->filter);
    run->filter = NULL;
}

/* ---- the keys ---- */

enum status audit_keys_add(struct audit_keys *k, uint64_t key)
{
    if (k->count == k->room) {
        uint64_t room = k->room > 0 ? k->room + k->room / 2 : 4096;
        uint64_t *at = try_realloc(k->at, room * sizeof *at);

        if (at == NULL)
            return STATUS_NOMEM;
        k->at = at;
        k->room = room;
    }
    k->at[k->count++] = key;
    return STATUS_OK;
}

void audit_keys_fini(struct audit_keys *k)
{
    free(k->at);
    *k = (struct audit_keys){0};
}

/* ---- all filters ---- */

/* Everything needed to replay one filter. */
struct replay {
    const struct audit_keys *keys;
    int64_t (*now)(void); /* as in audit_options */
    struct audit_run run;
};

/* SplitMix64 (Steele, Lea, Flood, 2014): keys that were not added. */
static uint64_t other_key(uint64_t n)
{
    uint64_t x = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);

    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* Nanoseconds to check a new URL, in batches. */
static double check_cost(const struct filter *f, int64_t (*now)(void))
{
    uint64_t keys[BATCH];
    bool maybe[BATCH];
    int64_t all = 0;

    for (uint64_t i = 0; i < QUESTIONS; i += BATCH) {
        int64_t t;

        for (uint64_t j = 0; j < BATCH; j++)
            keys[j] = other_key(i + j);
        t = now();
        filter_check(f, keys, BATCH, maybe);
        all += now() - t;
    }
    return (double)all / QUESTIONS;
}

static enum status replay_keys(struct replay *r)
{
    const struct audit_keys *keys = r->keys;
    struct audit_series *out = r->run.tally.out;
    bool fresh[BATCH];

    for (uint64_t i = 0; i < keys->count; i += BATCH) {
        uint64_t left = keys->count - i;
        enum status st =
            audit_run_ask(&r->run, keys->at + i,
                          left < BATCH ? (size_t)left : BATCH, fresh);

        if (st != STATUS_OK)
            return st;
    }
    if (r->now != NULL && keys->count > 0) {
        out->add_ns = (double)r->run.added_in / (double)keys->count;
        out->check_ns = check_cost(r->run.filter, r->now);
    }
    return STATUS_OK;
}

static enum status replay_one(struct audit *out, struct replay *r,
                              const struct filter_options *o, const char *name)
{
    size_t n = out->what_if_count;
    enum status st;

    out->what_if = xrealloc(out->what_if, (n + 1) * sizeof *out->what_if);
    st = audit_run_init(&r->run, &out->what_if[n], name, o, r->now);
    if (st != STATUS_OK)
        return st;
    out->what_if_count = n + 1;
    st = replay_keys(r);
    audit_run_finish(&r->run);
    return st;
}

/* The capacity that a user would give: the final count if the kind cannot grow,
 * a hundredth if it grows by layers, the least if it grows by itself. */
static uint64_t made_for(const char *kind, uint64_t count)
{
    uint64_t n = count;

    if (strcmp(kind, "scalable") == 0)
        return 1;
    if (strcmp(kind, "stacked") == 0)
        n = count / 100 > LEAST_MADE ? count / 100 : LEAST_MADE;
    return n > 0 ? n : 1;
}

static enum status replay_kind(struct audit *out, struct replay *r,
                               const char *kind, double fpr)
{
    struct filter_options o = {.kind = kind,
                               .expect = made_for(kind, r->keys->count),
                               .fpr = fpr,
                               .keep_nothing = strcmp(kind, "scalable") != 0};
    char name[AUDIT_NAME];
    enum status st;

    snprintf(name, sizeof name, "%s fpr=%g", kind, fpr);
    st = replay_one(out, r, &o, name);
    if (st != STATUS_OK || strcmp(kind, "bloom") != 0)
        return st;
    snprintf(name, sizeof name, "%s fpr=%g for a tenth", kind, fpr);
    o.expect = o.expect >= 10 ? o.expect / 10 : 1;
    return replay_one(out, r, &o, name);
}

bool audit_replay_wanted(const struct audit_options *o)
{
    return o->what_if_count > 0 || o->kind_count > 0;
}

enum status audit_replay(struct audit *out, const struct audit_keys *keys,
                         const struct audit_options *o, double fpr)
{
    static const char *const usual[] = {"scalable"};
    const char *const *kinds = o->kind_count > 0 ? o->kinds : usual;
    const double *rates = o->what_if_count > 0 ? o->what_if : &fpr;
    size_t kind_count = o->kind_count > 0 ? o->kind_count : 1;
    size_t rate_count = o->what_if_count > 0 ? o->what_if_count : 1;
    struct replay r = {.keys = keys, .now = o->now};
    enum log_level level = logger_level();
    enum status st = STATUS_OK;

    if (!audit_replay_wanted(o))
        return STATUS_OK;
    /* A filter that breaks its promise is a result here, not worth a log
     * line. */
    logger_set_level(LOG_LEVEL_ERROR);
    for (size_t i = 0; i < rate_count; i++)
        for (size_t k = 0; st == STATUS_OK && k < kind_count; k++)
            st = replay_kind(out, &r, kinds[k], rates[i]);
    logger_set_level(level);
    return st;
}
