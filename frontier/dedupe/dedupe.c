/* SPDX-License-Identifier: MIT */
/*
 * dedupe.c - was this line seen before? For lists larger than memory.
 *
 *   IN_MEMORY --its share is full: merge all into pages--> ON_DISK
 *
 * In memory there are only the exact set's delta (a hash table) and a small hot
 * cache: a filter in front of it would cost more than it saves. Once there are
 * pages, memory is divided again between delta, page cache and hot cache. The
 * filter comes last, when as many pages have been read as the set has: building
 * it reads them all, which then at most doubles the cost, and a short run over
 * a large stored set never pays for it. A filter file, as a crawl has, would
 * have to be written and read whole in each run.
 */
#include "frontier/dedupe/dedupe.h"

#include <assert.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/logger.h"
#include "base/mem.h"
#include "filter/filter.h"
#include "frontier/dedupe/dedupe_impl.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

/* Batches under way (cli/dedupe/cmd_dedupe.c), output, and what is touched of
 * program and libraries from here on. What they take before is measured, since
 * the libraries of one distribution need some MiB more than those of another.
 */
#define WORK (7 * MIB)
/* What a database in a directory takes beside its cache: pages of a
 * transaction that are written to the WAL, and the index of the WAL. */
#define WORK_OF_STATE (2 * MIB)
/* Below this the set could not work; a program that is larger than planned (as
 * a library's may be) takes more than `memory`. */
#define SHARED_LEAST (8 * MIB)
/* Octets of a digest in the delta when its arrays have just grown: 20 for the
 * entry times 1.5, 4 for the slot divided by 0.75 and times 2. */
#define DELTA_COST  UINT64_C(41)
#define MERGE_STEPS 16 /* commits that a full merge is spread over */
#define FPR         0.001
/* Below this many pages a filter is not worth building. */
#define PAGES_LEAST  512
#define PAGE_DIGESTS 202

/* ---- memory ---- */

static uint64_t within(uint64_t v, uint64_t least, uint64_t most)
{
    return v < least ? least : v > most ? most : v;
}

static struct dedupe_shares share_out(uint64_t memory, bool state)
{
    uint64_t work = WORK + (state ? WORK_OF_STATE : 0);
    uint64_t elsewhere =
        within(mem_resident() + work, 0, memory - SHARED_LEAST);
    uint64_t part = (memory - elsewhere) / 32;
    struct dedupe_shares s = {
        .sqlite = within(2 * part, MIB, 64 * MIB),
        .hot = {within(part, 256 * KIB, 8 * MIB),
                within(2 * part, 256 * KIB, 64 * MIB)},
        .pages = {0, 9 * part},
        .delta = {25 * part / DELTA_COST, 6 * part / DELTA_COST},
        .filter = 9 * part,
    };

    return s;
}

enum status dedupe_start_phase(struct dedupe *d)
{
    struct exact_set_options o = {.one_run = true,
                                  .block_cache_bytes =
                                      d->shares.pages[d->phase],
                                  .delta_most = d->shares.delta[d->phase] / 2};
    enum status st = exact_set_open(&d->exact, d->db, &o);

    if (st == STATUS_OK)
        st = seen_new(&d->seen, NULL, d->exact, d->shares.hot[d->phase]);
    return st;
}

static void end_phase(struct dedupe *d)
{
    if (d->exact != NULL)
        d->page_reads_before += exact_set_stats(d->exact).block_reads;
    seen_free(d->seen);
    d->seen = NULL;
    exact_set_close(d->exact);
    d->exact = NULL;
}

/* ---- from memory to disk ---- */

enum status dedupe_merge_all(struct dedupe *d)
{
    enum status st = STATUS_OK;

    for (int i = 0; i < MERGE_STEPS && st == STATUS_OK; i++) {
        st = db_begin(d->db);
        if (st == STATUS_OK)
            st = exact_set_merge(d->exact, EXACT_SET_PARTS / MERGE_STEPS);
        if (st == STATUS_OK)
            st = db_commit(d->db);
    }
    return st;
}

/* Opens the exact set anew, since its delta would keep the memory it had. */
static enum status move_to_disk(struct dedupe *d)
{
    enum status st = dedupe_merge_all(d);

    if (st != STATUS_OK)
        return st;
    log_info("the set has outgrown memory", "digests=%llu",
             (unsigned long long)d->count);
    end_phase(d);
    malloc_trim(0);
    d->phase = DEDUPE_ON_DISK;
    return dedupe_start_phase(d);
}

enum status dedupe_step(struct dedupe *d)
{
    uint64_t fresh = d->unstepped;

    d->unstepped = 0;
    if (d->phase == DEDUPE_IN_MEMORY ||
        exact_set_stats(d->exact).delta < d->shares.delta[d->phase] / 2)
        return STATUS_OK;
    return exact_set_step(d->exact, fresh);
}

/* ---- the filter ---- */

/* Passes the keys of a range, some at a time, to the filter that is built. */
struct key_feed {
    void (*visit)(void *to, const uint64_t *keys, size_t n);
    void *to;
    uint64_t keys[512];
    size_t n;
    struct digest sum;
};

static void feed_flush(struct key_feed *f)
{
    if (f->n > 0)
        f->visit(f->to, f->keys, f->n);
    f->n = 0;
}

static void feed_digest(void *ctx, struct digest digest, uint64_t id)
{
    struct key_feed *f = ctx;

    (void)id;
    dedupe_sum_add(&f->sum, digest);
    f->keys[f->n++] = digest.hi;
    if (f->n == sizeof f->keys / sizeof *f->keys)
        feed_flush(f);
}

static enum status keys_of(void *ctx, uint64_t first, uint64_t last,
                           void (*visit)(void *to, const uint64_t *keys,
                                         size_t n),
                           void *to)
{
    struct dedupe *d = ctx;
    struct key_feed f = {.visit = visit, .to = to};
    enum status st = exact_set_each(d->exact, first, last, feed_digest, &f);

    if (st == STATUS_OK)
        feed_flush(&f);
    return st;
}

static enum status check_sum(const struct dedupe *d, struct digest sum)
{
    if (digest_equal(sum, d->sum))
        return STATUS_OK;
    log_error("the set is damaged",
              "reason=\"the digests do not add up to their sum\"");
    return STATUS_DAMAGED;
}

struct filling {
    struct filter *filter;
    enum status st;
};

static void fill(void *to, const uint64_t *keys, size_t n)
{
    struct filling *f = to;

    if (f->st == STATUS_OK)
        f->st = filter_add_lenient(f->filter, keys, n, NULL);
}

static enum status build_filter(struct dedupe *d)
{
    struct filter_options o = {.kind = "scalable",
                               .expect = d->count + d->count / 8 + 1,
                               .fpr = FPR,
                               .most_bytes = d->shares.filter,
                               .source = {keys_of, d}};
    struct filling filling = {0};
    struct key_feed feed = {.visit = fill, .to = &filling};
    enum status st = filter_new(&d->filter, &o);

    if (st != STATUS_OK)
        return st;
    filling.filter = d->filter;
    st = exact_set_each(d->exact, 0, UINT64_MAX, feed_digest, &feed);
    feed_flush(&feed);
    if (st == STATUS_OK)
        st = filling.st;
    if (st == STATUS_OK)
        st = check_sum(d, feed.sum);
    if (st == STATUS_OK)
        seen_use_filter(d->seen, d->filter);
    return st;
}

/* Have as many pages been read as building the filter would read? */
static bool filter_pays(const struct dedupe *d)
{
    return d->filter == NULL && d->phase == DEDUPE_ON_DISK &&
           exact_set_stats(d->exact).block_reads >
               PAGES_LEAST + d->count / PAGE_DIGESTS;
}

/* ---- asking ---- */

enum url_reason dedupe_digest(const struct dedupe *d, struct bytes line,
                              struct url *url, struct digest *out)
{
    if (d->identity == DEDUPE_CANONICAL) {
        enum url_reason r = url_canonical(url, line, NULL, NULL);

        if (r != URL_OK)
            return r;
        line = url_text(url);
    }
    *out = digest_bytes(&d->key, line);
    return URL_OK;
}

enum status dedupe_take(struct dedupe *d, const struct digest *digests,
                        size_t n, bool *fresh)
{
    size_t news = 0;
    enum status st;

    assert(n <= DEDUPE_BATCH);
    st = seen_check(d->seen, digests, n, d->answers);
    if (st != STATUS_OK)
        return st;
    for (size_t i = 0; i < n; i++) {
        fresh[i] = d->answers[i] != SEEN_BEFORE;
        if (!fresh[i])
            continue;
        d->fresh[news++] = digests[i];
        dedupe_sum_add(&d->sum, digests[i]);
    }
    if (news > 0 && d->state != NULL)
        st = dedupe_state_log(d, d->fresh, news);
    if (st == STATUS_OK)
        st = seen_admit(d->seen, d->fresh, news, d->count + 1);
    d->count += news;
    d->unstepped += news;
    return st;
}

/* The commits of a scratch database have no meaning; only merges matter. */
static enum status step_scratch(struct dedupe *d)
{
    enum status st;

    if (d->unstepped == 0)
        return STATUS_OK;
    st = db_begin(d->db);
    if (st == STATUS_OK)
        st = dedupe_step(d);
    return st == STATUS_OK ? db_commit(d->db) : st;
}

enum status dedupe_settle(struct dedupe *d, bool commit)
{
    bool full = d->phase == DEDUPE_IN_MEMORY &&
                d->count > d->shares.delta[DEDUPE_IN_MEMORY];
    enum status st = STATUS_OK;

    if (d->state == NULL)
        st = d->phase == DEDUPE_ON_DISK ? step_scratch(d) : STATUS_OK;
    else if (d->in_txn)
        st = dedupe_step(d);
    if (st == STATUS_OK && d->in_txn && (commit || full))
        st = dedupe_state_commit(d);
    if (st == STATUS_OK && full)
        st = move_to_disk(d);
    if (st == STATUS_OK && filter_pays(d))
        st = build_filter(d);
    return st;
}

bool dedupe_unsettled(const struct dedupe *d)
{
    return d->in_txn;
}

/* ---- opening and closing ---- */

static enum status open_scratch(struct dedupe *d)
{
    struct db_options o = {.cache_bytes = d->shares.sqlite};
    enum status st = db_open(&d->db, "(scratch)", DB_SCRATCH, &o);

    if (st == STATUS_OK &&
        getrandom(d->seed, sizeof d->seed, 0) != (ssize_t)sizeof d->seed)
        st = STATUS_IO;
    digest_key_init(&d->key, d->seed);
    return st == STATUS_OK ? dedupe_start_phase(d) : st;
}

enum status dedupe_open(struct dedupe **out, const struct dedupe_options *o,
                        struct dedupe_refusal *why)
{
    struct dedupe *d;
    enum status st;

    if (o->memory < DEDUPE_MEMORY_LEAST)
        return STATUS_LIMIT;
    d = xcalloc(1, sizeof *d);
    d->identity = o->identity;
    d->shares = share_out(o->memory, o->dir != NULL);
    st = o->dir != NULL ? dedupe_state_open(d, o->dir, why) : open_scratch(d);
    if (st != STATUS_OK) {
        (void)!dedupe_close(d, false, NULL);
        return st;
    }
    d->before = d->count;
    *out = d;
    return STATUS_OK;
}

/* ---- checking and counting ---- */

static void add_to_sum(void *ctx, struct digest digest, uint64_t id)
{
    (void)id;
    dedupe_sum_add(ctx, digest);
}

enum status dedupe_verify(struct dedupe *d)
{
    struct digest sum = {0};
    enum status st = db_verify(d->db);

    if (st == STATUS_OK)
        st = exact_set_verify_upto(d->exact, d->count);
    if (st == STATUS_OK)
        st = exact_set_each(d->exact, 0, UINT64_MAX, add_to_sum, &sum);
    return st == STATUS_OK ? check_sum(d, sum) : st;
}

static uint64_t disk_used(struct dedupe *d)
{
    int64_t pages = 0;

    if (d->state != NULL)
        return dedupe_state_disk(d->state);
    if (d->phase == DEDUPE_IN_MEMORY ||
        db_number(d->db, "PRAGMA page_count", &pages) != STATUS_OK)
        return 0;
    return (uint64_t)pages * 4096;
}

struct dedupe_stats dedupe_stats(struct dedupe *d)
{
    struct dedupe_stats s = {
        .count = d->count,
        .before = d->before,
        .disk = disk_used(d),
        .page_reads =
            d->page_reads_before + exact_set_stats(d->exact).block_reads,
        .false_positives = seen_counts(d->seen).false_positives,
        .on_disk = d->phase == DEDUPE_ON_DISK,
    };

    if (d->filter != NULL) {
        struct filter_stats f;

        filter_stats(d->filter, &f);
        s.filter_bits = f.bits;
    }
    return s;
}

enum status dedupe_close(struct dedupe *d, bool clean,
                         struct dedupe_stats *last)
{
    enum status st = STATUS_OK;

    if (d == NULL)
        return STATUS_OK;
    if (d->state != NULL && d->db != NULL)
        st = dedupe_state_end(d, clean);
    if (last != NULL)
        *last = dedupe_stats(d);
    end_phase(d);
    filter_free(d->filter);
    if (d->state != NULL)
        dedupe_state_free(d, last != NULL ? &last->disk : NULL);
    else
        db_close(d->db);
    free(d);
    return st;
}
