/* SPDX-License-Identifier: MIT */
/*
 * rejudge.c - judges kept drops again.
 *
 * While the setting behind a drop's reason is unchanged, the drop stays; so
 * only drops whose reason may be lifted are judged. URLs that pass now are
 * admitted like any link and leave the log; others get their new reason. Both
 * happen in one transaction with the mark of progress (meta.rejudge: reasons,
 * last block done, last block of all, reasons for later, last path known when
 * the depth was judged), so a crash in between goes on there; judging a block
 * twice does no harm.
 *
 * A URL that was dropped for its depth may be nearer to a seed than was known
 * then. When no URL is queued, we find the shortest paths (below) and judge
 * these drops by them; we do so again after the URLs that this admits. Links
 * that went to other shards are kept as well, and sent again when their page has
 * come nearer.
 *
 * A URL that was admitted and then skipped has a row. Rows never change, so it
 * gets a new one (URL_ROW_AGAIN), which its digest belongs to from then on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "frontier/candidate.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/seen/seen_store.h"

/*
 * How far URLs are from a seed, by the shortest path known.
 *
 * A URL's row has the depth at which it was first found. That is usually the
 * shortest path, since queues are first in, first out; but a slow host may hold
 * a shortcut. Its effect is known only at the end, and matters only if a depth
 * limit dropped something. So we do nothing while URLs are queued; then we read
 * the log of paths (storage/rows/path_log.h) from end to end until no URL comes
 * nearer: usually twice, since its pages are roughly in the order of their
 * levels. (To follow each improvement at once, we would need an index of links
 * by page, as large as the log.)
 *
 * In a shard a message may bring a shorter way to a URL, whose row has its
 * depth from then on; and links to other shards are kept among the drops, and
 * sent again when their page has come nearer. Depths only fall, so that ends.
 *
 * This takes two octets a URL while it lasts. A crash leaves nothing half done:
 * the next run begins again.
 */
#define ROWS_AT_ONCE  16384
#define PAGES_AT_ONCE 2048
#define FARTHEST      UINT16_MAX /* and beyond */

#define MARK          "paths" /* in meta: paths are kept */

struct levels {
    uint16_t *of; /* by id */
    uint64_t last, at;
    bool rows_read, changed, done;
};

/* From now on, and in later runs, which URLs each page led to is kept. */
static enum status frontier_keep_paths(struct frontier *f)
{
    f->keeps_paths = true;
    return frontier_store_set_meta(f->store, MARK, bytes_of_str("1"));
}

/* From now on, and in later runs, which URLs each page led to is kept. */
static enum status levels_restore(struct frontier *f)
{
    struct buf mark;
    enum status st;

    buf_init(&mark, 64);
    st = frontier_store_meta(f->store, MARK, &mark);
    f->keeps_paths = st == STATUS_OK;
    buf_fini(&mark);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static void take_row(void *ctx, const struct url_row *row)
{
    struct levels *l = ctx;

    l->of[row->id] = (uint16_t)(row->depth < FARTHEST ? row->depth : FARTHEST);
}

static void take_path(void *ctx, uint64_t from, enum path_step step,
                      uint64_t to)
{
    struct levels *l = ctx;
    uint32_t level;

    if (from > l->last || to > l->last)
        return;
    level = path_depth(l->of[from], step);
    if (level >= l->of[to])
        return;
    l->of[to] = (uint16_t)level;
    l->changed = true;
}

static enum status read_rows(struct frontier *f, struct levels *l)
{
    enum status st = frontier_store_each(f->store, l->at + 1,
                                         l->at + ROWS_AT_ONCE, take_row, l);

    l->at += ROWS_AT_ONCE;
    if (l->at >= l->last) {
        l->rows_read = true;
        l->at = 0;
    }
    return st;
}

static enum status read_paths(struct frontier *f, struct levels *l)
{
    enum status st =
        path_log_each(f->path_log, &l->at, PAGES_AT_ONCE, take_path, l);

    if (st != STATUS_NOT_FOUND)
        return st;
    l->done = !l->changed;
    l->changed = false;
    l->at = 0;
    return STATUS_OK;
}

static struct levels *levels_new(uint64_t last)
{
    struct levels *l = xcalloc(1, sizeof *l);

    l->last = last;
    l->of = try_calloc(last + 1, sizeof *l->of);
    l->done = l->of == NULL;
    if (l->done)
        log_warn("no memory to find shorter paths: --depth goes by the first "
                 "path found",
                 "urls=%llu", (unsigned long long)last);
    return l;
}

/* Some more of the work, when nothing is queued. */
static enum status levels_step(struct frontier *f, bool *done)
{
    struct levels *l = f->levels;
    enum status st = STATUS_OK;

    if (l != NULL && l->last != frontier_store_last_id(f->store)) {
        levels_free(f); /* URLs were admitted meanwhile */
        l = NULL;
    }
    if (l == NULL)
        l = f->levels = levels_new(frontier_store_last_id(f->store));
    if (!l->done)
        st = l->rows_read ? read_paths(f, l) : read_rows(f, l);
    *done = l->done;
    return st;
}

void levels_come_nearer(struct frontier *f, uint64_t id, uint32_t depth)
{
    struct levels *l = f->levels;

    if (l == NULL || l->of == NULL || id > l->last || l->of[id] <= depth)
        return;
    l->of[id] = (uint16_t)depth;
    l->changed = true;
}

void levels_free(struct frontier *f)
{
    if (f->levels != NULL)
        free(f->levels->of);
    free(f->levels);
    f->levels = NULL;
}

/* The least depth at which URL `id` is known, if that is less; when the work is
 * done. */
static uint32_t levels_of(const struct frontier *f, uint64_t id,
                          uint32_t otherwise)
{
    const struct levels *l = f->levels;

    if (l == NULL || !l->done || l->of == NULL || id == 0 || id > l->last ||
        l->of[id] >= otherwise)
        return otherwise;
    return l->of[id];
}

/*
 * Queues a done URL again.
 *
 * Rows and done bits are never changed back, so that a crash finds either the
 * old state or the new one. The URL gets a new row (URL_ROW_AGAIN), which its
 * digest belongs to from then on; its old tries stay with the old row.
 */

static enum status uncount(struct frontier *f, const struct url_row *row,
                           struct outcome o, int64_t now, int64_t wall_ms)
{
    struct host_queue *h = frontier_host(f, row->queue);

    frontier_count_outcome(f, o, row->kind, true);
    if ((row->flags & URL_ROW_SEED) != 0 && outcome_fails_seed(o))
        frontier_store_add(f->store, "seeds_failed", UINT64_MAX);
    return frontier_counts_as_page(f, o, row->kind)
               ? frontier_budget_return(f, h, now, wall_ms)
               : STATUS_OK;
}

enum status frontier_readmit(struct frontier *f, const struct url_row *row,
                             struct outcome o, int64_t now, int64_t wall_ms,
                             bool *back)
{
    struct digest d = row_digest(&f->base->key, f->store, row);
    struct url_row again = *row;
    uint64_t id = 0, same;
    enum status st = exact_set_find(f->base->exact, &d, 1, &id);

    *back = false;
    if (st != STATUS_OK || id != row->id ||
        !frontier_store_is_done(f->store, id) ||
        frontier_refresh_life(f, id) == LIFE_AGAIN) /* it is asked just now */
        return st;
    again.flags =
        (uint8_t)((row->flags & ~URL_ROW_FALSE_POSITIVE) | URL_ROW_AGAIN);
    again.found_at_ms = wall_ms;
    st = uncount(f, row, o, now, wall_ms);
    if (st == STATUS_OK)
        st = frontier_store_admit(f->store, &again, &id);
    if (st != STATUS_OK)
        return st;
    seen_store_replace(f->base, d, id);
    frontier_store_add(f->store, "readmitted", 1);
    st = frontier_note_root(f, again.depth, id);
    if (st != STATUS_OK)
        return st;
    again.id = id;
    st = frontier_order_row(f, &again);
    if (st != STATUS_OK)
        return st;
    frontier_reschedule(f, frontier_host(f, row->queue));
    *back = true;
    same = id; /* paths to the old row go on to the new one */
    return f->keeps_paths
               ? path_log_add(f->path_log, row->id, PATH_SAME, &same, 1)
               : STATUS_OK;
}

#define REJUDGE_MARK "rejudge"
#define STEP_BLOCKS  4 /* in a turn; each may hold some hundred drops */

static bool has_reason(uint64_t reasons, unsigned r)
{
    return (reasons >> r & 1) != 0;
}

/* ---- the mark ---- */

static enum status write_mark(struct frontier *f)
{
    const struct rejudge *j = &f->rejudge;
    char text[128];

    snprintf(text, sizeof text, "%llu %llu %llu %llu %llu",
             (unsigned long long)j->reasons, (unsigned long long)j->at,
             (unsigned long long)j->upto, (unsigned long long)j->later,
             (unsigned long long)j->levels);
    return frontier_store_set_meta(f->store, REJUDGE_MARK, bytes_of_str(text));
}

enum status rejudge_restore(struct frontier *f)
{
    struct rejudge *j = &f->rejudge;
    unsigned long long n[5] = {0};
    struct buf text;
    enum status st;

    buf_init(&text, 256);
    st = frontier_store_meta(f->store, REJUDGE_MARK, &text);
    if (st == STATUS_OK && sscanf(buf_str(&text), "%llu %llu %llu %llu %llu",
                                  &n[0], &n[1], &n[2], &n[3], &n[4]) != 5) {
        log_error("store is damaged", "meta=" REJUDGE_MARK);
        st = STATUS_DAMAGED;
    }
    buf_fini(&text);
    j->reasons = n[0] & REASONS_MAY_RETURN;
    j->at = n[1];
    j->upto = n[2];
    j->later = n[3] & REASONS_MAY_RETURN;
    j->levels = n[4];
    j->read_since = UINT64_MAX;
    return st == STATUS_OK || st == STATUS_NOT_FOUND ? levels_restore(f) : st;
}

enum status rejudge_later(struct frontier *f, uint64_t reasons)
{
    struct rejudge *j = &f->rejudge;

    if ((j->later & reasons) == reasons || drop_log_count(f->drop_log) == 0)
        return STATUS_OK;
    j->later |= reasons;
    return write_mark(f);
}

enum status rejudge_depths(struct frontier *f)
{
    if (!f->keeps_paths || f->rejudge.levels == REJUDGE_ANEW)
        return STATUS_OK;
    f->rejudge.levels = REJUDGE_ANEW;
    return write_mark(f);
}

static enum status begin(struct frontier *f, uint64_t reasons)
{
    struct rejudge *j = &f->rejudge;
    enum status st = drop_log_flush(f->drop_log);

    frontier_forget_drops(f);
    j->reasons |= reasons;
    j->later &= ~reasons;
    j->at = 0;
    j->upto = drop_log_last(f->drop_log);
    return st == STATUS_OK ? write_mark(f) : st;
}

static bool wants_paths(const struct frontier *f)
{
    return !f->keeps_paths && f->o.judge.scope != NULL &&
           scope_limits_depth(f->o.judge.scope);
}

enum status frontier_rejudge(struct frontier *f, uint64_t reasons, int64_t now)
{
    enum status st = STATUS_OK;

    f->rejudge.ready = true;
    reasons &= REASONS_MAY_RETURN;
    if (reasons != 0 || wants_paths(f))
        st = frontier_touch(f, now);
    if (st == STATUS_OK && wants_paths(f))
        st = frontier_keep_paths(f);
    if (st != STATUS_OK || reasons == 0)
        return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
    f->rejudge.levels = REJUDGE_ANEW; /* other depths may pass now */
    st = begin(f, reasons);
    f->rejudge.read_since = page_store_last_seq(f->pages);
    if (map_count(f->leases) > 0) { /* fetchers may use the old settings */
        f->rejudge.later |= reasons;
        f->rejudge.read_since = UINT64_MAX;
    }
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

/* Were links found since drops were last judged by their shortest paths? */
static bool wants_levels(const struct frontier *f)
{
    return f->keeps_paths &&
           has_reason(drop_log_reasons(f->drop_log), REASON_DEPTH) &&
           path_log_last(f->path_log) != f->rejudge.levels;
}

bool rejudge_is_due(const struct frontier *f)
{
    const struct rejudge *j = &f->rejudge;

    if (!j->ready || f->o.judge.scope == NULL)
        return false;
    return j->reasons != 0 || (frontier_store_pending_all(f->store) == 0 &&
                               (j->later != 0 || wants_levels(f)));
}

/* ---- one URL ---- */

struct candidate_rules frontier_rules(const struct frontier *f)
{
    return (struct candidate_rules){.scope = f->o.judge.scope,
                                    .form = f->o.judge.form,
                                    .digest_key = &f->base->key,
                                    .crawl = f->o.crawl};
}

/* Reads `text` into its current form, and checks the scope. */
static enum outcome_reason ask_scope(const struct frontier *f, struct url *u,
                                     struct bytes text, struct url_item *item)
{
    const struct candidate_rules rules = frontier_rules(f);

    if (candidate_read(&rules, u, text, NULL) != URL_OK)
        return REASON_SCOPE;
    if (item->depth == 0) /* a seed's redirect target is a place of its own */
        scope_add_seed(rules.scope, u);
    return candidate_take(&rules, u, item);
}

static bool follows(const struct frontier *f, uint64_t kinds)
{
    return (f->o.judge.kinds & kinds) != 0;
}

/* Does the link count only if its kind is followed? Of others the page may have
 * one to the same URL by another kind, as it keeps but one of them. */
static bool needs_kind(const struct frontier *f, const struct kept_drop *k)
{
    return k->reason == REASON_KIND || (f->o.listings >> k->kind & 1) != 0;
}

/* Does the setting that dropped the link still do so? */
static bool link_stays(const struct frontier *f, const struct kept_drop *k)
{
    const struct frontier_judge *j = &f->o.judge;

    switch (k->reason) {
    case REASON_LINK_COUNT:
        return j->links_most > 0 && k->place > j->links_most;
    case REASON_SAME_CONTENT:
        return f->o.skip_same_content;
    case REASON_NEAR_DUP:
        return f->o.skip_near_dup;
    default:
        return false;
    }
}

/* The block's links that are admitted, with copies of their texts. */
struct returning {
    struct url_item *items;
    struct admission *list;
    size_t count;
    uint64_t sent; /* again, to other shards */
};

static void take(struct returning *r, const struct url_item *item, uint64_t via,
                 bool on_level)
{
    struct url_item *copy = &r->items[r->count];

    *copy = *item;
    candidate_moved(copy, xstrndup(item->url.at, item->url.len));
    r->list[r->count++] =
        (struct admission){.item = copy, .via = via, .on_level = on_level};
}

static void returning_fini(struct returning *r)
{
    for (size_t i = 0; i < r->count; i++)
        free((char *)(uintptr_t)r->items[i].url.at);
    free(r->items);
    free(r->list);
}

/* A part of a page that is in as a part alone is judged as a page is
 * (crawler/reporter.c). */
static bool is_part_of_part(struct frontier *f, const struct kept_drop *k)
{
    struct scope *s = f->o.judge.scope;
    struct url_row via;
    struct url u;
    bool apart;

    if (!scope_embeds(s, k->kind) ||
        frontier_store_get(f->store, k->via, &via, &f->text) != STATUS_OK ||
        !scope_embeds(s, via.kind) || (via.flags & URL_ROW_SEED) != 0)
        return false;
    url_init(&u);
    apart = url_parse(&u, via.url, NULL, NULL) != URL_OK ||
            !scope_check(s, &u, levels_of(f, k->via, via.depth)).in;
    url_fini(&u);
    return apart;
}

/* Sitemaps may be anywhere, but only a host in scope can name them, by a page
 * or its robots.txt, and other sitemaps can. */
static bool may_name(struct frontier *f, struct url *u,
                     const struct kept_drop *k)
{
    struct url_row via;

    if ((f->o.listings >> k->kind & 1) == 0 || k->via == 0 ||
        frontier_store_get(f->store, k->via, &via, &f->text) != STATUS_OK ||
        (f->o.listings >> via.kind & 1) != 0)
        return true;
    return url_parse(u, via.url, NULL, NULL) != URL_OK ||
           scope_has_host(f->o.judge.scope, u);
}

static enum outcome_reason judge_link(struct frontier *f, struct url *u,
                                      const struct kept_drop *k,
                                      struct returning *in)
{
    enum path_step step = frontier_step(k->on_its_level, k->hops);
    struct url_item item = {.depth = k->depth,
                            .hops = k->hops,
                            .kind = k->kind,
                            .seed = k->via == 0 && k->depth == 0};
    enum outcome_reason no;

    if (k->depth >= path_depth(0, step))
        item.depth =
            path_depth(levels_of(f, k->via, k->depth - (step == PATH_LINK)),
                       step);
    if (link_stays(f, k) || (k->sent && item.depth >= k->depth))
        return (enum outcome_reason)k->reason;
    if (needs_kind(f, k) && !follows(f, UINT64_C(1) << k->kind))
        return REASON_KIND;
    if (!may_name(f, u, k))
        return REASON_SCOPE;
    no = ask_scope(f, u, k->text, &item);
    if (no == REASON_NONE && is_part_of_part(f, k))
        no = scope_check(f->o.judge.scope, u, item.depth).reason;
    if (no != REASON_NONE)
        return no;
    take(in, &item, k->via, k->on_its_level);
    in->sent += k->sent;
    return REASON_NONE;
}

/* ---- a URL that has a row ---- */

static bool row_stays(struct frontier *f, const struct kept_drop *k,
                      const struct url_row *row)
{
    const struct frontier_judge *j = &f->o.judge;
    struct bytes crawl, key;

    switch (k->reason) {
    case REASON_MIME:
        return j->takes_type != NULL && !j->takes_type(j->ctx, k->text);
    case REASON_TRUNCATED_LENGTH:
        return j->body_most <= k->place;
    case REASON_TRUNCATED_TIME:
    case REASON_TIMEOUT:
        return j->timeout_ms <= k->place;
    case REASON_REDIRECT_LIMIT:
        return j->redirects_most <= k->place;
    case REASON_KIND: /* of the links of a page that was fetched */
        return !follows(f, k->place);
    case REASON_TRAP:
        frontier_store_queue_name(f->store, row->queue, &crawl, &key);
        return frontier_trap_has(f, key, row);
    default: /* it will be known when its turn has come */
        return false;
    }
}

/* Is it a page that came whole, whatever it is marked as? */
static bool is_page(struct outcome o)
{
    return o.status == OUTCOME_FETCHED && o.reason != REASON_TRUNCATED_LENGTH &&
           o.reason != REASON_TRUNCATED_TIME && o.reason != REASON_CHECKED;
}

static struct outcome outcome_of_row(const struct kept_drop *k)
{
    const enum outcome_reason reason = (enum outcome_reason)k->reason_of_row;

    return (struct outcome){outcome_status_of(reason), reason, 0};
}

/* Its newest outcome, and the row of that if it is known. It is that of the
 * entry unless the URL was fetched again since, at a date. */
static enum status newest_outcome(struct frontier *f, const struct kept_drop *k,
                                  struct fetch_row *row, struct outcome *o)
{
    uint64_t seq = 0;
    enum status st = page_store_newest(f->pages, k->id, &seq);

    *row = (struct fetch_row){.seq = 0};
    *o = outcome_of_row(k);
    if (st != STATUS_OK || seq == 0)
        return st;
    st = page_store_past(f->pages, seq, row);
    if (st == STATUS_NOT_FOUND || (st == STATUS_OK && row->url != k->id))
        return db_damaged("newest", (int64_t)k->id, "has another fetch");
    row->seq = seq;
    *o = (struct outcome){(enum outcome_status)row->status,
                          (enum outcome_reason)row->reason, row->http_status};
    return st;
}

/* Queues the URL again, unless its entry is not true any more: what has become
 * of it since has an entry of its own if a setting can lift that. A page is read
 * for more links whatever it is marked as, and stays if it is none for now. */
static enum status queue_again(struct frontier *f, const struct kept_drop *k,
                               const struct url_row *row, int64_t now,
                               int64_t wall_ms, enum outcome_reason *no)
{
    const bool of_page = is_page(outcome_of_row(k));
    struct outcome o;
    struct fetch_row last;
    bool back = false;
    enum status st = newest_outcome(f, k, &last, &o);

    if (st == STATUS_OK && of_page && !is_page(o))
        *no = (enum outcome_reason)k->reason;
    if (st != STATUS_OK ||
        (of_page ? !is_page(o) : o.reason != k->reason_of_row))
        return st;
    if (of_page && last.seq > f->rejudge.read_since) { /* all of it, by now */
        *no = (enum outcome_reason)k->reason;
        return STATUS_OK;
    }
    if (frontier_refresh_life(f, k->id) == LIFE_AGAIN) { /* asked just now */
        *no = (enum outcome_reason)k->reason;
        return rejudge_later(f, UINT64_C(1) << k->reason);
    }
    st = frontier_readmit(f, row, o, now, wall_ms, &back);
    return back && last.seq != 0 && is_page(o) && o.reason != REASON_UNCHANGED
               ? frontier_count_repeat(f, &last, UINT64_MAX)
               : st;
}

static enum status judge_row(struct frontier *f, struct url *u,
                             const struct kept_drop *k, struct returning *in,
                             int64_t now, int64_t wall_ms,
                             enum outcome_reason *no)
{
    struct url_row row;
    enum status st = frontier_store_get(f->store, k->id, &row, &f->text);
    struct url_item item;

    *no = (enum outcome_reason)k->reason;
    if (st != STATUS_OK || row_stays(f, k, &row))
        return st;
    row.depth = levels_of(f, k->id, row.depth);
    item = (struct url_item){.depth = row.depth,
                             .hops = row.hops,
                             .kind = row.kind,
                             .seed = (row.flags & URL_ROW_SEED) != 0};
    *no = ask_scope(f, u, row.url, &item);
    if (*no == REASON_NONE && k->reason_of_row == REASON_CHECKED)
        *no = scope_check(f->o.judge.scope, u, item.depth).reason;
    if (*no != REASON_NONE)
        return STATUS_OK;
    if (bytes_equal(item.url, row.url))
        return queue_again(f, k, &row, now, wall_ms, no);
    if (k->reason == REASON_URL_FORM) { /* still under the other form */
        *no = REASON_URL_FORM;
        return STATUS_OK;
    }
    take(in, &item, row.via, row.hops > 0); /* its form has changed */
    return STATUS_OK;
}

/* ---- steps ---- */

/* Keeps only the entries that stay in the block; *changed: some left it or got
 * a new reason. */
static enum status sift(struct frontier *f, struct drop_block *b,
                        struct returning *in, int64_t now, int64_t wall_ms,
                        bool *changed)
{
    size_t left = 0;
    enum status st = STATUS_OK;
    struct url u;

    url_init(&u);
    for (size_t i = 0; st == STATUS_OK && i < b->count; i++) {
        struct kept_drop k = b->at[i];
        enum outcome_reason no = (enum outcome_reason)k.reason;

        if (has_reason(f->rejudge.reasons, k.reason))
            no = REASON_NONE;
        if (no == REASON_NONE && k.id != 0)
            st = judge_row(f, &u, &k, in, now, wall_ms, &no);
        else if (no == REASON_NONE)
            no = judge_link(f, &u, &k, in);
        *changed |= no != (enum outcome_reason)k.reason;
        k.reason = (uint8_t)no;
        if (frontier_may_return(no))
            b->at[left++] = k;
    }
    url_fini(&u);
    b->count = left;
    return st;
}

/* Adds the paths from pages to these links, whether the links were new or
 * not. */
static enum status add_paths(struct frontier *f, const struct returning *in)
{
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < in->count; i++) {
        uint64_t to = in->list[i].id;

        if (to != 0 && in->list[i].via != 0)
            st = path_log_add(f->path_log, in->list[i].via,
                              frontier_step(in->list[i].on_level,
                                            in->list[i].item->hops),
                              &to, 1);
    }
    return st;
}

static enum status judge_block(struct frontier *f, struct drop_block *b,
                               int64_t now, int64_t wall_ms)
{
    struct returning in = {.items = xcalloc(b->count + 1, sizeof *in.items),
                           .list = xcalloc(b->count + 1, sizeof *in.list)};
    bool changed = false;
    uint64_t returned = 0;
    enum status st = sift(f, b, &in, now, wall_ms, &changed);

    if (st == STATUS_OK && in.count > 0)
        st = frontier_admit(f, in.list, in.count, f->keeps_paths, wall_ms);
    for (size_t i = 0; st == STATUS_OK && i < in.count; i++)
        returned += in.list[i].fresh || in.list[i].dropped;
    if (returned > in.sent)
        frontier_store_add(f->store, "returned", returned - in.sent);
    if (st == STATUS_OK && f->keeps_paths)
        st = add_paths(f, &in);
    if (st == STATUS_OK && changed)
        st = drop_log_rewrite(f->drop_log, b->number, b->at, b->count);
    returning_fini(&in);
    return st;
}

static enum status judge_blocks(struct frontier *f, int64_t now,
                                int64_t wall_ms)
{
    struct rejudge *j = &f->rejudge;
    enum status st = STATUS_OK;

    for (unsigned n = 0; st == STATUS_OK && n < STEP_BLOCKS; n++) {
        struct drop_block b;

        st = drop_log_next(f->drop_log, j->at, j->reasons, &b);
        if (st == STATUS_OK && b.number > j->upto)
            st = STATUS_NOT_FOUND;
        if (st != STATUS_OK)
            break;
        if (b.count > 0)
            st = judge_block(f, &b, now, wall_ms);
        j->at = b.number;
    }
    if (st == STATUS_NOT_FOUND) {
        j->reasons = 0;
        levels_free(f);
        st = STATUS_OK;
    }
    return st;
}

/* Starts what waits until nothing is queued: first the paths, then the
 * drops. */
static enum status begin_later(struct frontier *f)
{
    uint64_t reasons = f->rejudge.later;
    bool done = true;
    enum status st = STATUS_OK;

    if (wants_levels(f)) {
        reasons |= UINT64_C(1) << REASON_DEPTH;
        st = levels_step(f, &done);
    }
    if (st != STATUS_OK || !done)
        return st;
    f->rejudge.levels = path_log_last(f->path_log);
    return begin(f, reasons);
}

enum status rejudge_step(struct frontier *f, int64_t now, int64_t wall_ms)
{
    enum status st = STATUS_OK;

    if (f->rejudge.ready && wants_paths(f)) { /* a limit was set meanwhile */
        st = frontier_touch(f, now);
        if (st == STATUS_OK)
            st = frontier_keep_paths(f);
    }
    if (st != STATUS_OK || !rejudge_is_due(f))
        return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
    st = frontier_touch(f, now);
    if (st == STATUS_OK && f->rejudge.reasons == 0)
        st = begin_later(f);
    if (st == STATUS_OK && f->rejudge.reasons != 0)
        st = judge_blocks(f, now, wall_ms);
    if (st == STATUS_OK)
        st = write_mark(f);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

/* ---- retry ---- */

/*
 * Failed URLs that a person wants to be tried again (frontier_calls.h).
 *
 * We read the whole table of fetches once, the newest first, a part of it in
 * each step: the first final row that we meet of a URL has its outcome.
 * Outcomes that are asked for are a small share of it, but an index would cost
 * something for every page, for a command that is seldom used. A step is
 * durable with the next commit. After a crash in between, some URLs are queued
 * and the rest are still failed; a new request takes the rest.
 */

struct look {
    struct failed_retry *r;
    struct final_fetch *found;
    size_t count, looked;
};

static struct outcome outcome_of(const struct final_fetch *row)
{
    return (struct outcome){(enum outcome_status)row->status,
                            (enum outcome_reason)row->reason, row->http_status};
}

static bool is_wanted(const struct failed_retry *r, struct outcome o)
{
    char text[24];

    outcome_reason_text(o, text, sizeof text);
    for (size_t i = 0; i < r->reason_count; i++)
        if (strcmp(text, r->reasons[i]) == 0)
            return true;
    return r->reason_count == 0 && o.status == OUTCOME_FAILED;
}

/* False: the URL was met before, and has a newer outcome. */
static bool meet(struct failed_retry *r, uint64_t id)
{
    unsigned char bit = (unsigned char)(1 << (id & 7));
    bool fresh;

    if (id > r->ids)
        return false;
    fresh = (r->seen[id >> 3] & bit) == 0;
    r->seen[id >> 3] |= bit;
    return fresh;
}

static void take_final(void *ctx, const struct final_fetch *row)
{
    struct look *l = ctx;

    l->looked++;
    l->r->before = row->seq;
    if (meet(l->r, row->url) && is_wanted(l->r, outcome_of(row)))
        l->found[l->count++] = *row;
}

static enum status try_again(struct frontier *f, struct failed_retry *r,
                             const struct final_fetch *was, uint32_t queue,
                             int64_t now, int64_t wall_ms)
{
    struct url_row row;
    bool back = false;
    enum status st = frontier_store_get(f->store, was->url, &row, &f->text);

    if (st == STATUS_OK && (queue == 0 || row.queue == queue))
        st = frontier_readmit(f, &row, outcome_of(was), now, wall_ms, &back);
    r->queued += back;
    return st;
}

enum status frontier_retry_failed(struct frontier *f, struct failed_retry *r,
                                  size_t most, int64_t now, int64_t wall_ms,
                                  bool *over)
{
    struct look l = {.r = r};
    uint32_t queue = 0;
    enum status st;

    *over = true;
    if (r->host.len > 0) {
        queue = frontier_store_find_queue(f->store, f->o.crawl, r->host);
        if (queue == 0)
            return STATUS_OK;
    }
    if (r->seen == NULL) {
        r->before = page_store_last_seq(f->pages) + 1;
        r->ids = frontier_store_last_id(f->store);
        r->seen = xcalloc(r->ids / 8 + 1, 1);
    }
    l.found = xcalloc(most, sizeof *l.found);
    st = frontier_touch(f, now);
    if (st == STATUS_OK)
        st =
            page_store_finals_before(f->pages, r->before, most, take_final, &l);
    for (size_t i = 0; st == STATUS_OK && i < l.count; i++)
        st = try_again(f, r, &l.found[i], queue, now, wall_ms);
    free(l.found);
    *over = l.looked < most;
    if (*over || st != STATUS_OK) {
        free(r->seen);
        r->seen = NULL;
    }
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}
