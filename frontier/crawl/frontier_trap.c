/* SPDX-License-Identifier: MIT */
/*
 * frontier_trap.c - endless families of URLs: evidence, drops.
 *
 * A page that was fetched is evidence (traps/trap_table.h), in the transaction
 * that makes it done. New URLs of a trap are dropped, like those on a
 * blocklist, when they are new to the seen check; those that were queued before
 * are skipped when their turn comes. Both are kept drops, so a resume with
 * --traps off, or with another threshold, lets them in. Seeds, and what they
 * redirect to, are never a trap's: a person wants them.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/logger.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/crawl/frontier_links.h"

#define KIB ((uint64_t)1 << 10)
#define MIB ((uint64_t)1 << 20)

static void found_trap(void *ctx, const struct trap_view *t)
{
    struct frontier *f = ctx;

    frontier_store_add(f->store, "traps", 1);
    log_warn(f->o.traps.policy == TRAPS_SKIP
                 ? "a trap: its URLs bring nothing new, and are skipped"
                 : "a trap: its URLs bring nothing new",
             "rule=%s host=%.*s pattern=\"%.*s\" pages=%llu",
             trap_rule_name(t->rule), (int)t->owner.len, t->owner.at,
             (int)t->form.len, t->form.at, (unsigned long long)t->pages);
}

enum status frontier_trap_open(struct frontier *f)
{
    struct trap_options o = {
        .memory = seen_store_share(f->base, 1, 256 * KIB, 16 * MIB),
        .found = found_trap,
        .ctx = f,
    };
    enum status st = trap_store_open(&f->trap_store, f->base->db);

    if (st != STATUS_OK || f->o.traps.policy == TRAPS_OFF)
        return st;
    for (unsigned r = 0; r < TRAP_RULES_; r++)
        o.threshold[r] = f->o.traps.threshold[r];
    return trap_table_open(&f->traps, f->trap_store, &o);
}

void frontier_set_traps(struct frontier *f, const uint32_t threshold[])
{
    for (unsigned r = 0; r < TRAP_RULES_; r++)
        f->o.traps.threshold[r] = threshold[r];
    if (f->traps != NULL)
        trap_table_set(f->traps, threshold);
}

static bool is_exempt(const struct frontier *f, uint32_t depth, uint8_t kind)
{
    return depth == 0 || ((f->o.traps.exempt | f->o.listings) >> kind & 1) != 0;
}

static void count_url(struct frontier *f, const struct trap_view *t)
{
    char name[32];

    snprintf(name, sizeof name, "trap.%s", trap_rule_name(t->rule));
    frontier_store_add(f->store, name, 1);
}

/* ---- new URLs ---- */

static bool is_trapped(struct frontier *f, const struct admission *a,
                       struct trap_view *out)
{
    const struct url_item *item = a->item;

    if (item->seed || is_exempt(f, item->depth, item->kind))
        return false;
    if (trap_table_has_new(f->traps, item->key, item->url,
                           frontier_store_find_queue(f->store, f->o.crawl,
                                                     item->key) != 0,
                           out))
        return true;
    if (!a->spiral)
        return false;
    *out = (struct trap_view){.rule = TRAP_SPIRAL};
    return true;
}

enum status frontier_trap_keep_out(struct frontier *f, struct admission *list,
                                   size_t n, int64_t wall_ms)
{
    enum status st = STATUS_OK;

    if (!trap_table_any(f->traps))
        return STATUS_OK;
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        struct admission *a = &list[f->scratch.open[i]];
        struct trap_view trap;

        if (f->scratch.answers[i] == SEEN_BEFORE || !is_trapped(f, a, &trap))
            continue;
        count_url(f, &trap);
        if (f->o.traps.policy != TRAPS_SKIP)
            continue;
        f->scratch.answers[i] = SEEN_BEFORE;
        st = frontier_drop_new(f, a, REASON_TRAP, wall_ms);
    }
    return st;
}

static struct digest body_of(const struct url_done *done)
{
    return (done->own_body.hi | done->own_body.lo) != 0 ? done->own_body
                                                        : done->row.body_digest;
}

bool frontier_trap_has_body(struct frontier *f, const struct url_done *done)
{
    const struct lease_record *page;
    struct trap_view trap;

    if (f->traps == NULL || !trap_table_any(f->traps) ||
        done->outcome.status != OUTCOME_FETCHED)
        return false;
    page = lease_find(f->leases, done->id);
    return page != NULL &&
           trap_table_has_body(f->traps, page->lease.key, body_of(done), &trap);
}

/* ---- queued URLs ---- */

bool frontier_trap_has(struct frontier *f, struct bytes host,
                       const struct url_row *row)
{
    struct trap_view t;

    if (f->traps == NULL || f->o.traps.policy != TRAPS_SKIP ||
        !trap_table_any(f->traps) || (row->flags & URL_ROW_SEED) != 0 ||
        is_exempt(f, row->depth, row->kind) ||
        !trap_table_has(f->traps, host, row->url, &t))
        return false;
    count_url(f, &t);
    snprintf(f->trap_text, sizeof f->trap_text, "%s: %.*s",
             trap_rule_name(t.rule), (int)t.form.len, t.form.at);
    return true;
}

/* ---- evidence ---- */

void frontier_trap_page(struct frontier *f, const struct url_lease *page,
                        const struct url_done *done,
                        const struct fetch_row *row,
                        const struct admission *links, size_t n)
{
    struct trap_link *fresh;
    size_t count = 0;

    if (f->traps == NULL || row->status != OUTCOME_FETCHED ||
        row->reason == REASON_CHECKED || /* nobody has seen it */
        page->last.seq != 0 ||           /* it was evidence then */
        (f->o.listings >> page->kind & 1) != 0)
        return;
    fresh = xmalloc((n + 1) * sizeof *fresh);
    for (size_t i = 0; i < n; i++)
        if (links[i].fresh)
            fresh[count++] =
                (struct trap_link){links[i].item->key, links[i].item->url};
    trap_table_page(f->traps,
                    &(struct trap_page){.host = page->key,
                                        .url = page->url,
                                        .body = body_of(done),
                                        .text = done->text,
                                        .known_body = row->same_as != 0,
                                        .fresh = fresh,
                                        .fresh_count = count});
    free(fresh);
}
