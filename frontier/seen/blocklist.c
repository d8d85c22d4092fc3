/* SPDX-License-Identifier: MIT */
/*
 * blocklist.c - a filter and an exact list of URLs to keep out of a crawl.
 *
 * The frontier thread asks in batches, and only about URLs that were not seen
 * before. A URL that is in the crawl is not asked about; a blocked one is asked
 * about each time it is found.
 */
#include "frontier/seen/blocklist.h"

#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/logger.h"
#include "base/mem.h"
#include "filter/checkpoint.h"
#include "filter/redis/redis_bloom.h"
#include "frontier/seen/block_exact.h"

#define BATCH 256

struct blocklist {
    struct filter *filter;     /* read from a file, or NULL */
    struct redis_bloom *redis; /* or a Redis filter */
    bool by_text;              /* keys are the octets themselves */
    struct digest_key key;
    struct block_exact *exact;
    struct blocklist_counts counts;
    bool told;
};

/* ---- opening ---- */

/* The advice for keys that are no canonical URLs. */
#define MAKE_IT "make it with `urlweir filter add --urls`"

static void doubt(const char *filter)
{
    log_warn("it is not known whether the blocklist's keys are canonical "
             "URLs; other keys block nothing",
             "filter=%s advice=\"" MAKE_IT "\"", filter);
}

/* A blocklist that blocks nothing is taken for a guard, so it is refused. */
static enum status check_keys(const struct blocklist *b, const char *path,
                              enum checkpoint_keys are, struct buf *error)
{
    const char *wrong = NULL;
    struct filter_stats s;

    filter_stats(b->filter, &s);
    if (s.count == 0)
        wrong = "it is empty, so that nothing would be blocked";
    else if (are == CHECKPOINT_KEYS_OTHER)
        wrong = "its keys are not canonical URLs, or not all of them, and such "
                "keys block nothing; " MAKE_IT;
    else if (are == CHECKPOINT_KEYS_UNKNOWN)
        doubt(path);
    if (wrong == NULL)
        return STATUS_OK;
    buf_addf(error, "%s: %s", path, wrong);
    return STATUS_FORMAT;
}

static enum status open_file(struct blocklist *b, const char *path,
                             uint64_t memory, struct buf *error)
{
    struct checkpoint_info info;
    enum status st = checkpoint_peek(path, &info);

    if (st == STATUS_OK && !info.id.has_seed) {
        buf_addf(error,
                 "%s: this filter belongs to a crawl, and its keys depend on "
                 "that crawl's secret; make one with `urlweir filter create`",
                 path);
        return STATUS_ARG;
    }
    if (st == STATUS_OK) {
        digest_key_init(&b->key, info.id.seed);
        st = checkpoint_load(&b->filter, path, info.id.seed_print, NULL, memory,
                             &info);
    }
    if (st != STATUS_OK)
        buf_addf(error, "%s: %s", path,
                 st == STATUS_NOT_FOUND ? "no such file"
                 : st == STATUS_FORMAT  ? "not a filter file"
                                        : status_text(st));
    return st == STATUS_OK ? check_keys(b, path, info.id.keys, error) : st;
}

static enum status open_redis(struct blocklist *b, const char *url,
                              struct buf *error)
{
    struct redis_place place;
    struct redis_bloom_options o = {.place = &place, .mode = REDIS_BLOOM_OPEN};
    struct redis_bloom_info info;
    enum status st = redis_url_parse(&place, url, error);

    if (st == STATUS_OK)
        st = redis_bloom_open(&b->redis, &o, error);
    if (st != STATUS_OK)
        return st;
    redis_bloom_known(b->redis, &info);
    b->by_text = info.layout == REDIS_PLAIN;
    if (!b->by_text && !info.has_seed) {
        buf_addf(error,
                 "%s: this filter belongs to crawls, and its keys depend on "
                 "their secrets; make one with `urlweir filter create`",
                 place.key);
        return STATUS_ARG;
    }
    digest_key_init(&b->key, info.seed);
    if (info.count == 0 && !info.foreign)
        log_warn("the blocklist has no keys yet, and blocks nothing",
                 "filter=%s", place.key);
    else
        doubt(place.key);
    return STATUS_OK;
}

enum status blocklist_open(struct blocklist **out,
                           const struct blocklist_options *o, struct buf *error)
{
    struct blocklist *b = xcalloc(1, sizeof *b);
    enum status st = redis_address_is_url(o->filter)
                         ? open_redis(b, o->filter, error)
                         : open_file(b, o->filter, o->memory, error);

    if (st == STATUS_OK && o->exact != NULL) {
        st = block_exact_open(&b->exact, o->exact, o->kept, error);
    }
    if (st != STATUS_OK) {
        blocklist_close(b);
        return st;
    }
    *out = b;
    return STATUS_OK;
}

void blocklist_close(struct blocklist *b)
{
    if (b == NULL)
        return;
    filter_free(b->filter);
    redis_bloom_free(b->redis);
    block_exact_close(b->exact);
    free(b);
}

/* ---- asking ---- */

/* Asks the filter; false: it is out of reach. */
static bool ask_filter(struct blocklist *b, const struct bytes *urls, size_t n,
                       bool *maybe)
{
    struct redis_keys keys = {.text = urls};
    uint64_t digests[BATCH];
    enum status st = STATUS_CLOSED;
    struct buf why;

    for (size_t i = 0; !b->by_text && i < n; i++)
        digests[i] = digest_bytes(&b->key, urls[i]).hi;
    if (!b->by_text)
        keys = (struct redis_keys){.digest = digests};
    if (b->filter != NULL) {
        filter_check(b->filter, digests, n, maybe);
        return true;
    }
    if (redis_bloom_is_due(b->redis))
        st = redis_bloom_check(b->redis, keys, n, maybe);
    if (st == STATUS_OK)
        return true;
    if (!b->told) {
        b->told = true;
        buf_init(&why, 2048);
        redis_bloom_why(b->redis, st, &why);
        log_warn("the blocklist's filter cannot be asked",
                 "why=\"%s\" meanwhile=\"%s\"", buf_str(&why),
                 b->exact != NULL ? "the exact list alone decides"
                                  : "nothing is blocked");
        buf_fini(&why);
    }
    b->counts.unsure += n;
    memset(maybe, b->exact != NULL, n * sizeof *maybe);
    return false;
}

static enum status check_batch(struct blocklist *b, const struct bytes *urls,
                               size_t n, bool *blocked)
{
    bool asked = ask_filter(b, urls, n, blocked);
    enum status st = STATUS_OK;

    if (asked)
        b->told = false;
    b->counts.asked += n;
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        bool has = true;

        if (!blocked[i])
            continue;
        if (b->exact != NULL)
            st = block_exact_has(b->exact, urls[i], &has);
        blocked[i] = has;
        b->counts.blocked += has;
        b->counts.false_positives += asked && !has;
    }
    return st;
}

enum status blocklist_check(struct blocklist *b, const struct bytes *urls,
                            size_t n, bool *blocked)
{
    enum status st = STATUS_OK;

    for (size_t at = 0; st == STATUS_OK && at < n; at += BATCH)
        st = check_batch(b, urls + at, n - at < BATCH ? n - at : BATCH,
                         blocked + at);
    return st;
}

struct blocklist_counts blocklist_counts(const struct blocklist *b)
{
    return b->counts;
}

double blocklist_rate(const struct blocklist *b)
{
    struct redis_bloom_info info;
    struct filter_stats s;

    if (b->filter != NULL) {
        filter_stats(b->filter, &s);
        return s.fpr_predicted;
    }
    redis_bloom_known(b->redis, &info);
    return info.fpr_predicted;
}

uint64_t blocklist_keys(const struct blocklist *b)
{
    struct redis_bloom_info info;
    struct filter_stats s;

    if (b->filter != NULL) {
        filter_stats(b->filter, &s);
        return s.count;
    }
    redis_bloom_known(b->redis, &info);
    return info.count;
}

uint64_t blocklist_exact_keys(const struct blocklist *b)
{
    return b->exact != NULL ? block_exact_count(b->exact) : 0;
}
