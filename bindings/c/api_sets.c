/* SPDX-License-Identifier: MIT */
/* api_sets.c - filters and exact dedupe in the C library. */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/mem.h"
#include "bindings/c/api.h"
#include "filter/checkpoint.h"
#include "filter/filter.h"
#include "frontier/dedupe/dedupe.h"

#define BATCH       1024
#define NAME_MOST   ((size_t)1 << 20)
#define FPR_DEFAULT 0.001 /* that of `urlweir filter create` */

struct urlweir_filter {
    struct filter *filter;
    struct checkpoint_info info;
    struct digest_key key;
    bool named; /* its keys belong to `name` now */
    struct buf name;
    struct urlweir_filter_stats stats;
};

/* ---- making, reading, saving ---- */

static int64_t now_s(void)
{
    return clock_wall_ms() / 1000;
}

/* False: there is no such kind, or it is not in memory. */
static bool take_kind(const char *name, struct filter_options *o)
{
    const struct filter_traits *t =
        filter_kind_named(name != NULL ? name : "scalable");

    o->kind = t != NULL ? t->name : NULL;
    return t != NULL && !t->remote;
}

static enum urlweir_status sets_give(struct urlweir_filter **out,
                                     struct urlweir_filter *f, enum status st)
{
    if (st != STATUS_OK) {
        free(f);
        return api_status(st);
    }
    buf_init(&f->name, NAME_MOST);
    *out = f;
    return URLWEIR_OK;
}

enum urlweir_status urlweir_filter_new(struct urlweir_filter **out,
                                       const struct urlweir_filter_options *o)
{
    struct urlweir_filter_options given;
    struct filter_options wanted = {0};
    struct urlweir_filter *f;
    enum status st;

    if (!api_take_options(&given, sizeof given, o) ||
        !take_kind(given.kind, &wanted))
        return URLWEIR_ARG;
    api_begin();
    wanted.expect = given.capacity;
    wanted.fpr = given.fpr != 0 ? given.fpr : FPR_DEFAULT;
    wanted.most_bytes = given.memory;
    wanted.keep_nothing = given.fixed != 0;
    wanted.ttl_s = given.ttl <= FILTER_TTL_MOST ? (int64_t)given.ttl : -1;
    wanted.born_s = now_s();
    f = xcalloc(1, sizeof *f);
    seeded_id(&f->info.id, &f->key, given.seed);
    st = filter_new(&f->filter, &wanted);
    return sets_give(out, f, st);
}

enum urlweir_status urlweir_filter_open(struct urlweir_filter **out,
                                        const char *path, uint64_t memory)
{
    struct urlweir_filter *f = xcalloc(1, sizeof *f);
    enum status st;

    api_begin();
    st = seeded_load(&f->filter, path, memory, &f->info, &f->key);
    return sets_give(out, f, st);
}

void urlweir_filter_free(struct urlweir_filter *f)
{
    if (f == NULL)
        return;
    filter_free(f->filter);
    buf_fini(&f->name);
    free(f);
}

enum urlweir_status urlweir_filter_save(struct urlweir_filter *f,
                                        const char *path)
{
    return api_status(checkpoint_save(path, f->filter, &f->info.id));
}

enum urlweir_status urlweir_filter_set_ttl(struct urlweir_filter *f,
                                           uint64_t ttl)
{
    enum status st = filter_age(f->filter, now_s());

    return api_status(st != STATUS_OK ? st
                      : ttl > FILTER_TTL_MOST
                          ? STATUS_ARG
                          : filter_set_ttl(f->filter, (int64_t)ttl));
}

enum urlweir_status urlweir_filter_set_name(struct urlweir_filter *f,
                                            struct urlweir_bytes name)
{
    struct bytes n = api_in(name);

    if (n.len > NAME_MOST)
        return URLWEIR_ARG;
    buf_clear(&f->name);
    buf_add_bytes(&f->name, n);
    f->named = name.at != NULL;
    return URLWEIR_OK;
}

/* ---- keys, a batch at a time ---- */

struct batch {
    uint64_t keys[BATCH];
    bool told[BATCH];
    size_t n;
};

static void hash_batch(const struct urlweir_filter *f, struct batch *b,
                       const struct urlweir_bytes *keys, size_t left)
{
    b->n = left < BATCH ? left : BATCH;
    memset(b->told, 0, sizeof b->told);
    for (size_t i = 0; i < b->n; i++)
        b->keys[i] = f->named ? seeded_named_key(&f->key, buf_bytes(&f->name),
                                                 api_in(keys[i]))
                              : digest_bytes(&f->key, api_in(keys[i])).hi;
}

static void tell_batch(const struct batch *b, unsigned char *to)
{
    for (size_t i = 0; to != NULL && i < b->n; i++)
        to[i] = b->told[i];
}

typedef enum status batch_change(struct filter *f, const uint64_t *keys,
                                 size_t n, bool *told);

/* The first failure is the result, and the other batches go on: an overfull
 * filter takes all keys, too. */
static enum status sets_change(struct urlweir_filter *f, batch_change *how,
                               const struct urlweir_bytes *keys, size_t n,
                               unsigned char *told)
{
    enum status first = filter_age(f->filter, now_s());
    struct batch b;

    for (size_t at = 0; at < n; at += b.n) {
        enum status st;

        hash_batch(f, &b, keys + at, n - at);
        st = how(f->filter, b.keys, b.n, b.told);
        tell_batch(&b, told != NULL ? told + at : NULL);
        if (first == STATUS_OK)
            first = st;
    }
    return first;
}

enum urlweir_status urlweir_filter_add(struct urlweir_filter *f,
                                       const struct urlweir_bytes *keys,
                                       size_t n, unsigned char *fresh)
{
    if (f->named)
        f->info.id.keys = CHECKPOINT_KEYS_OTHER;
    else if (f->info.id.keys != CHECKPOINT_KEYS_OTHER)
        f->info.id.keys = CHECKPOINT_KEYS_UNKNOWN;
    return api_status(sets_change(f, filter_add, keys, n, fresh));
}

enum urlweir_status urlweir_filter_remove(struct urlweir_filter *f,
                                          const struct urlweir_bytes *keys,
                                          size_t n, unsigned char *removed)
{
    if (!filter_kind_named(filter_options(f->filter)->kind)->removes)
        return URLWEIR_ARG;
    return api_status(sets_change(f, filter_remove, keys, n, removed));
}

void urlweir_filter_check(struct urlweir_filter *f,
                          const struct urlweir_bytes *keys, size_t n,
                          unsigned char *maybe)
{
    struct batch b;

    (void)!filter_age(f->filter, now_s()); /* else it knows more than it need */
    for (size_t at = 0; at < n; at += b.n) {
        hash_batch(f, &b, keys + at, n - at);
        filter_check(f->filter, b.keys, b.n, b.told);
        tell_batch(&b, maybe + at);
    }
}

enum urlweir_status urlweir_filter_merge(struct urlweir_filter *into,
                                         struct urlweir_filter *from)
{
    if (into == from || into->info.id.seed_print != from->info.id.seed_print)
        return URLWEIR_ARG;
    into->info.id.keys =
        checkpoint_keys_of(into->info.id.keys, from->info.id.keys);
    return api_status(filter_merge(into->filter, from->filter));
}

/* ---- exact dedupe ----
 *
 * dedupe.h wants its caller to settle after each take, once new lines are
 * written out. Here the next call shows that they are, so each take settles the
 * one before.
 *
 * After a fork the child has copies of the set's memory, but neither its
 * threads nor its locks, and it shares the offsets of its files: a thread that
 * waited at the time of the fork is waited for for ever, and SQLite in two
 * processes over one connection damages the database. So the child leaves the
 * set as it is, until it ends.
 */

#define COMMIT_FRESH UINT64_C(2000000) /* as cli/dedupe: 32 MiB of log */

_Static_assert(URLWEIR_DEDUPE_BATCH == DEDUPE_BATCH, "one batch, one call");

struct urlweir_dedupe {
    struct dedupe *set;
    pid_t owner; /* the process that opened it */
    struct url url;
    uint64_t fresh;     /* since the last commit */
    enum status failed; /* it takes no more */
    struct urlweir_dedupe_stats stats;
    struct digest digests[DEDUPE_BATCH];
    bool told[DEDUPE_BATCH];
};

/* The thread that a set on disk has takes none of the process's signals. */
static enum status open_quietly(struct dedupe **out,
                                const struct dedupe_options *o)
{
    struct dedupe_refusal why;
    sigset_t all, before;
    enum status st;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    st = dedupe_open(out, o, &why);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return st;
}

enum urlweir_status urlweir_dedupe_open(struct urlweir_dedupe **out,
                                        const struct urlweir_dedupe_options *o)
{
    struct urlweir_dedupe_options given;
    struct dedupe_options wanted = {0};
    struct urlweir_dedupe *d;
    enum status st;

    if (!api_take_options(&given, sizeof given, o))
        return URLWEIR_ARG;
    wanted.dir = given.dir;
    wanted.identity = given.octets ? DEDUPE_OCTETS : DEDUPE_CANONICAL;
    wanted.memory = given.memory != 0 ? given.memory : DEDUPE_MEMORY_DEFAULT;
    if (wanted.memory < DEDUPE_MEMORY_LEAST)
        return URLWEIR_ARG;
    api_begin();
    d = xcalloc(1, sizeof *d);
    st = open_quietly(&d->set, &wanted);
    if (st != STATUS_OK) {
        free(d);
        return api_status(st);
    }
    d->owner = getpid();
    url_init(&d->url);
    *out = d;
    return URLWEIR_OK;
}

static bool is_anothers(const struct urlweir_dedupe *d)
{
    return d->owner != getpid();
}

static enum status sets_settle(struct urlweir_dedupe *d, bool commit)
{
    if (is_anothers(d))
        return STATUS_BUSY;
    if (d->failed == STATUS_OK)
        d->failed = dedupe_settle(d->set, commit);
    if (d->failed == STATUS_OK && commit)
        d->fresh = 0;
    return d->failed;
}

/* Marks lines that are no URLs, and returns the number of digests. */
static size_t take_digests(struct urlweir_dedupe *d,
                           const struct urlweir_bytes *lines, size_t n,
                           unsigned char *seen)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        bool valid = dedupe_digest(d->set, api_in(lines[i]), &d->url,
                                   &d->digests[count]) == URL_OK;

        seen[i] = valid ? URLWEIR_NEW : URLWEIR_NO_URL;
        count += valid;
    }
    return count;
}

enum urlweir_status urlweir_dedupe_take(struct urlweir_dedupe *d,
                                        const struct urlweir_bytes *lines,
                                        size_t n, unsigned char *seen)
{
    size_t count, k = 0;
    enum status st;

    if (n > DEDUPE_BATCH)
        return URLWEIR_ARG;
    st = sets_settle(d, d->fresh >= COMMIT_FRESH);
    if (st != STATUS_OK)
        return api_status(st);
    count = take_digests(d, lines, n, seen);
    d->failed = dedupe_take(d->set, d->digests, count, d->told);
    if (d->failed != STATUS_OK)
        return api_status(d->failed);
    for (size_t i = 0; i < n; i++) {
        if (seen[i] == URLWEIR_NO_URL)
            continue;
        seen[i] = d->told[k] ? URLWEIR_NEW : URLWEIR_BEFORE;
        d->fresh += d->told[k++];
    }
    return URLWEIR_OK;
}

enum urlweir_status urlweir_dedupe_commit(struct urlweir_dedupe *d)
{
    return api_status(sets_settle(d, true));
}

static struct urlweir_dedupe_stats stats_of(struct dedupe_stats s)
{
    return (struct urlweir_dedupe_stats){.count = s.count,
                                         .before = s.before,
                                         .disk = s.disk};
}

const struct urlweir_dedupe_stats *urlweir_dedupe_stats(
    struct urlweir_dedupe *d)
{
    if (!is_anothers(d))
        d->stats = stats_of(dedupe_stats(d->set));
    return &d->stats;
}

enum urlweir_status urlweir_dedupe_close(struct urlweir_dedupe *d, int commit)
{
    enum status failed, st = STATUS_OK;

    if (d == NULL)
        return URLWEIR_OK;
    failed = d->failed;
    if (!is_anothers(d))
        st = dedupe_close(d->set, commit != 0 && failed == STATUS_OK, NULL);
    url_fini(&d->url);
    free(d);
    return api_status(failed != STATUS_OK ? failed : st);
}

const struct urlweir_filter_stats *urlweir_filter_stats(
    struct urlweir_filter *f)
{
    struct filter_stats s;

    filter_stats(f->filter, &s);
    f->stats = (struct urlweir_filter_stats){
        .kind = s.kind,
        .count = s.count,
        .capacity = s.capacity,
        .bits = s.bits,
        .key_bits = s.key_bits,
        .fpr_promised = s.fpr_promised,
        .fpr_predicted = s.fpr_predicted,
        .overfull = s.overfull,
        .lost = s.lost,
    };
    return &f->stats;
}
