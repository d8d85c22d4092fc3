/* SPDX-License-Identifier: MIT */
/*
 * frontier_drop.c - links dropped before admission: counted, and kept.
 *
 * All are counted by reason and host. Those whose reason a change of settings
 * can lift are kept (storage/rows/drop_log.h) in the transaction of their page,
 * like its links, up to --keep-dropped octets; further ones are counted as
 * lost. The same applies to a URL that was admitted, and whose outcome a change
 * of settings can lift: its entry is its id. A page with links of kinds that
 * are not followed has such an entry too, instead of one for each link, as
 * there may be hundreds of images on each page of a crawl that nobody ever
 * widens. If one of these kinds is followed later, the page is read again.
 *
 * A footer repeats its links on each page. A table of recently kept ones
 * removes most of these repeats; it may forget any, since duplicates do no
 * harm.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_links.h"

#define RECENT_DROPS 32768 /* a power of two */

struct recent_drop {
    uint64_t digest; /* 0: free */
    uint32_t depth;
    uint8_t kind, reason;
};

bool frontier_may_return(enum outcome_reason r)
{
    return (REASONS_MAY_RETURN >> r & 1) != 0;
}

/* ---- kept ---- */

void frontier_forget_drops(struct frontier *f)
{
    free(f->recent_drops);
    f->recent_drops = NULL;
}

/* Was it kept recently, for the same reason, at no greater depth? Remembers
 * it. */
static bool kept_lately(struct frontier *f, const struct kept_drop *k)
{
    struct digest d = digest_bytes(&f->base->key, k->text);
    struct recent_drop *r;

    if (f->recent_drops == NULL)
        f->recent_drops = xcalloc(RECENT_DROPS, sizeof *f->recent_drops);
    r = &f->recent_drops[d.lo & (RECENT_DROPS - 1)];
    if (r->digest == d.hi && r->depth <= k->depth && r->kind == k->kind &&
        r->reason == k->reason)
        return true;
    *r = (struct recent_drop){d.hi, k->depth, k->kind, k->reason};
    return false;
}

/* With a limit of depth, every page on which a URL is found matters, since the
 * one nearest to a seed may not be known yet. */
static bool is_repeat(struct frontier *f, const struct kept_drop *k)
{
    return k->id == 0 && k->place == 0 && !f->keeps_paths &&
           (f->o.listings >> k->kind & 1) == 0 && kept_lately(f, k);
}

/* Was it given, as a seed is? Such a one opens its place, dropped or not. */
static bool is_root(const struct kept_drop *k)
{
    return k->id == 0 && k->via == 0 && k->depth == 0;
}

/* Blocks up to that of the last one are read to find them. */
static void note_dropped_root(struct frontier *f)
{
    uint64_t block = drop_log_last(f->drop_log) + 1;
    uint64_t last = frontier_store_counter(f->store, "last_dropped_root");

    if (block > last)
        frontier_store_add(f->store, "last_dropped_root", block - last);
}

enum status frontier_each_dropped_seed(struct frontier *f, url_row_visit visit,
                                       void *ctx)
{
    uint64_t last = frontier_store_counter(f->store, "last_dropped_root");
    struct drop_block b = {.number = 0};
    enum status st = last > 0 ? drop_log_flush(f->drop_log) : STATUS_OK;

    while (st == STATUS_OK && b.number < last) {
        st = drop_log_next(f->drop_log, b.number, REASONS_MAY_RETURN, &b);
        for (size_t i = 0; st == STATUS_OK && i < b.count; i++) {
            const struct kept_drop *k = &b.at[i];

            if (is_root(k))
                visit(ctx, &(struct url_row){.url = k->text, .kind = k->kind});
        }
    }
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

/* Keeps a drop, if a setting can lift its reason and there is room. There is
 * room for seeds: they are few, and a resumed crawl needs them. */
static enum status frontier_keep_drop(struct frontier *f,
                                      const struct kept_drop *k)
{
    enum status st;

    if (!frontier_may_return((enum outcome_reason)k->reason) ||
        f->drop_log == NULL)
        return STATUS_OK;
    if (drop_log_bytes(f->drop_log) >= f->o.keep_dropped && !is_root(k)) {
        if (frontier_store_counter(f->store, "drops_lost") == 0)
            log_warn("no room for more drops: URLs dropped from now on cannot "
                     "come back when a setting is widened",
                     "kept=%llu option=keep-dropped",
                     (unsigned long long)drop_log_count(f->drop_log));
        frontier_store_add(f->store, "drops_lost", 1);
        return STATUS_OK;
    }
    if (is_repeat(f, k))
        return STATUS_OK;
    if (is_root(k))
        note_dropped_root(f);
    st = drop_log_add(f->drop_log, k);
    return st == STATUS_OK && k->reason == REASON_DEPTH ? rejudge_depths(f)
                                                        : st;
}

/* Can a setting lift the outcome? No setting makes us read more of a truncated
 * sitemap. */
static bool row_may_return(const struct frontier *f, const struct kept_drop *k,
                           struct outcome o, uint8_t kind)
{
    if (o.reason == REASON_CHECKED)
        return f->o.judge.scope != NULL && scope_has_checks(f->o.judge.scope);
    if (o.status == OUTCOME_FETCHED)
        return o.reason == REASON_TRUNCATED_TIME ||
               (o.reason == REASON_TRUNCATED_LENGTH &&
                (f->o.listings >> kind & 1) == 0);
    return frontier_may_return((enum outcome_reason)k->reason);
}

enum status frontier_keep_row(struct frontier *f, const struct fetch_row *row,
                              struct outcome o, uint8_t kind)
{
    const struct frontier_judge *j = &f->o.judge;
    struct kept_drop k = {.id = row->url,
                          .reason = (uint8_t)o.reason,
                          .reason_of_row = (uint8_t)o.reason};

    if (o.reason == REASON_MIME)
        k.text = row->mime;
    else if (o.reason == REASON_TRUNCATED_LENGTH)
        k.place = j->body_most;
    else if (o.reason == REASON_TRUNCATED_TIME || o.reason == REASON_TIMEOUT)
        k.place = j->timeout_ms;
    else if (o.reason == REASON_REDIRECT_LIMIT)
        k.place = j->redirects_most;
    else if (o.reason == REASON_CHECKED)
        k.reason = REASON_SCOPE; /* for which nothing more was asked */
    if (o.status == OUTCOME_FAILED && (row->flags & FETCH_ROW_AT_ROBOTS) != 0)
        k.reason = REASON_ROBOTS_UNREACHABLE; /* the page was not asked for */
    return row_may_return(f, &k, o, kind) ? frontier_keep_drop(f, &k)
                                          : STATUS_OK;
}

enum status frontier_keep_page(struct frontier *f, const struct url_done *d)
{
    const struct kept_drop k = {.id = d->id,
                                .reason = REASON_KIND,
                                .reason_of_row = (uint8_t)d->outcome.reason,
                                .place = d->kinds_left};

    return d->kinds_left != 0 && d->outcome.status == OUTCOME_FETCHED
               ? frontier_keep_drop(f, &k)
               : STATUS_OK;
}

enum status frontier_keep_guess(struct frontier *f, const struct url_done *d,
                                const struct lease_record *l)
{
    const struct kept_drop k = {.id = d->id,
                                .reason = REASON_ROBOTS,
                                .reason_of_row = (uint8_t)d->outcome.reason};

    return d->robots_unread && l->via == 0 &&
                   (f->o.listings >> l->lease.kind & 1) != 0 &&
                   d->outcome.reason != REASON_HTTP
               ? frontier_keep_drop(f, &k)
               : STATUS_OK;
}

/* The links of a seed are at their least depth. */
enum status frontier_keep_sent(struct frontier *f, const struct admission *a)
{
    const struct url_item *item = a->item;

    if (!f->keeps_paths || a->via == 0 || item->depth <= (a->on_level ? 0 : 1))
        return STATUS_OK;
    return frontier_keep_drop(f,
                              &(struct kept_drop){.via = a->via,
                                                  .text = item->url,
                                                  .depth = item->depth,
                                                  .on_its_level = a->on_level,
                                                  .sent = true,
                                                  .hops = item->hops,
                                                  .kind = item->kind,
                                                  .reason = REASON_DEPTH});
}

static enum status keep_link(struct frontier *f, const struct url_drop *d,
                             uint64_t via, const struct lease_record *page)
{
    const struct kept_drop k = {
        .via = via,
        .text = d->url,
        .depth = d->depth,
        .on_its_level = page != NULL && d->depth == page->lease.depth,
        .hops = d->hops,
        .kind = d->kind,
        .reason = (uint8_t)d->reason,
        .place = d->place,
    };

    return d->whole ? frontier_keep_drop(f, &k) : STATUS_OK;
}

/* ---- counted ---- */

enum status frontier_drop_new(struct frontier *f, struct admission *a,
                              enum outcome_reason why, int64_t wall_ms)
{
    const struct url_item *item = a->item;
    char name[64];

    a->blocked = a->dropped = true;
    snprintf(name, sizeof name, "dropped.%s", outcome_reason_name(why));
    frontier_store_drop(f->store, outcome_reason_name(why), item->key,
                        item->url, a->via, wall_ms);
    frontier_store_add(f->store, name, 1);
    frontier_store_add(f->store, "dropped", 1);
    return frontier_keep_drop(f, &(struct kept_drop){
                                     .via = a->via,
                                     .text = item->url,
                                     .depth = item->depth,
                                     .on_its_level = a->on_level,
                                     .hops = item->hops,
                                     .kind = item->kind,
                                     .reason = (uint8_t)why,
                                 });
}

static void count_reasons(struct frontier *f, const struct url_done *done)
{
    uint64_t by_reason[REASON_COUNT_] = {0}, all = 0;
    char name[64];

    for (size_t i = 0; i < done->drop_count; i++) {
        by_reason[done->drops[i].reason] += !done->drops[i].is_guess;
        all += !done->drops[i].is_guess;
    }
    for (unsigned r = 0; r < REASON_COUNT_; r++) {
        if (by_reason[r] == 0)
            continue;
        snprintf(name, sizeof name, "dropped.%s",
                 outcome_reason_name((enum outcome_reason)r));
        frontier_store_add(f->store, name, by_reason[r]);
    }
    if (all > 0)
        frontier_store_add(f->store, "dropped", all);
}

enum status frontier_take_drops(struct frontier *f, const struct url_done *done,
                                int64_t wall_ms)
{
    const struct lease_record *page =
        done->id != 0 ? lease_find(f->leases, done->id) : NULL;
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < done->drop_count; i++) {
        const struct url_drop *d = &done->drops[i];

        if (!d->is_guess)
            frontier_store_drop(f->store, outcome_reason_name(d->reason),
                                d->host, d->url, done->id, wall_ms);
        st = keep_link(f, d, done->id, page);
    }
    count_reasons(f, done);
    frontier_log_drops(page != NULL ? page->lease.url : bytes_of("", 0), done);
    return st;
}
