/* SPDX-License-Identifier: MIT */
/*
 * frontier_admit.c - new URLs: seen check, row, host queue; drops, traps.
 *
 * An equal digest means: seen before. With --compare-text the stored URL must
 * be equal too. If it is not, two URLs share all 128 bits; the later one is
 * looked up with its digest of salt 1, then 2 and so on, until it finds itself
 * or a free digest, with which it is admitted. Its row has the salt
 * (seen_store.h), and since rows are never deleted, a look-up goes the same
 * way.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/logger.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/crawl/past_crawl.h"

/*
 * Links dropped before admission: counted, and kept.
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

/* A link that goes to another shard: with a limit of depth it is kept, and sent
 * again when a shorter way to its page is found.
 *
 * The links of a seed are at their least depth. */
static enum status frontier_keep_sent(struct frontier *f,
                                      const struct admission *a)
{
    const struct url_item *item = a->item;

    if (!f->keeps_paths || a->is_kept || a->via == 0 ||
        item->depth <= (a->on_level ? 0 : 1))
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

    return d->whole && (page == NULL || !page->has_same)
               ? frontier_keep_drop(f, &k)
               : STATUS_OK;
}

/* ---- counted ---- */

/* Drops a URL that is new to the seen check: counts it, and keeps it likewise.
 */
static enum status frontier_drop_new(struct frontier *f, struct admission *a,
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
    if (a->is_kept)
        return STATUS_OK;
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

/*
 * Endless families of URLs: evidence, drops.
 *
 * A page that was fetched is evidence (traps/trap_table.h), in the transaction
 * that makes it done. New URLs of a trap are dropped, like those on a
 * blocklist, when they are new to the seen check; those that were queued before
 * are skipped when their turn comes. Both are kept drops, so a resume with
 * --traps off, or with another threshold, lets them in. Seeds, and what they
 * redirect to, are never a trap's: a person wants them.
 */
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

    if (f->o.traps.policy == TRAPS_OFF)
        return STATUS_OK;
    for (unsigned r = 0; r < TRAP_RULES_; r++)
        o.threshold[r] = f->o.traps.threshold[r];
    return trap_table_open(&f->traps, f->base->db, &o);
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

/* Drops those of the `n` open URLs (admit_scratch) that are new, and a trap's;
 * they count as not new. */
static enum status frontier_trap_keep_out(struct frontier *f,
                                          struct admission *list, size_t n,
                                          int64_t wall_ms)
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

/*
 * URLs as another crawler had them.
 *
 * All URLs of a call pass the seen check as one batch, like the links of a
 * page. Those that are done there get a final fetch row here, so that done
 * bits, explain and export know them; the row and the admission are in one
 * transaction. The same URL may come several times, in a call or later: it
 * waits until one of them says that it is done, and that is its outcome.
 */

/* Numbers of rows are another crawl's; what this page repeats is found anew. */
static struct fetch_row row_of(const struct import_fact *fact, int64_t wall_ms)
{
    struct fetch_row row = {.at_ms = fact->at_ms != 0 ? fact->at_ms : wall_ms,
                            .detail = fact->detail};

    if (fact->row != NULL) {
        row = *fact->row;
        row.seq = row.same_as = row.near_dup_of = row.redirect_to = 0;
    }
    return row;
}

/* Settles a URL that waits. */
static enum status settle(struct frontier *f, const struct url_row *url,
                          const struct import_fact *fact, int64_t wall_ms)
{
    struct fetch_row row = row_of(fact, wall_ms);
    struct host_queue *h = frontier_host(f, url->queue);
    enum status st =
        frontier_settle(f, url->id, (url->flags & URL_ROW_SEED) != 0, url->kind,
                        &row, fact->outcome);

    if (st == STATUS_OK)
        st = frontier_refresh_date(f, url->queue, url->kind, &row,
                                   fact->outcome, -1);
    if (st == STATUS_OK)
        st = frontier_count_done(f, h);
    host_queue_forget_done(h, f->store);
    frontier_reschedule(f, h);
    return st;
}

static enum status take(struct frontier *f, const struct admission *a,
                        const struct import_fact *fact, int64_t wall_ms,
                        enum import_answer *answer)
{
    struct url_row row;
    enum status st;

    *answer = a->fresh     ? IMPORT_NEW
              : a->id == 0 ? IMPORT_DROPPED
                           : IMPORT_KNOWN;
    if (fact->outcome.status == OUTCOME_QUEUED || *answer == IMPORT_DROPPED ||
        frontier_store_is_done(f->store, a->id))
        return STATUS_OK;
    st = frontier_store_get(f->store, a->id, &row, &f->text);
    if (st == STATUS_OK)
        st = settle(f, &row, fact, wall_ms);
    if (st == STATUS_OK && !a->fresh)
        *answer = IMPORT_SETTLED;
    return st;
}

enum status frontier_import(struct frontier *f, const struct url_item *items,
                            const struct import_fact *facts, size_t n,
                            int64_t now, int64_t wall_ms,
                            enum import_answer *answers)
{
    struct admission *list = xcalloc(n + 1, sizeof *list);
    enum status st = frontier_touch(f, now);

    for (size_t i = 0; i < n; i++)
        list[i] = (struct admission){.item = &items[i]};
    if (st == STATUS_OK)
        st = frontier_admit(f, list, n, true, wall_ms);
    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        st = take(f, &list[i], &facts[i], wall_ms, &answers[i]);
    free(list);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

static void make_room(struct frontier *f, size_t n)
{
    struct admit_scratch *s = &f->scratch;

    if (n <= s->room)
        return;
    s->room = n + n / 2;
    s->digests = xrealloc(s->digests, s->room * sizeof *s->digests);
    s->answers = xrealloc(s->answers, s->room * sizeof *s->answers);
    s->fresh = xrealloc(s->fresh, s->room * sizeof *s->fresh);
    s->found = xrealloc(s->found, s->room * sizeof *s->found);
    s->open = xrealloc(s->open, s->room * sizeof *s->open);
    s->asked = xrealloc(s->asked, s->room * sizeof *s->asked);
    s->blocked = xrealloc(s->blocked, s->room * sizeof *s->blocked);
    s->queues = xrealloc(s->queues, s->room * sizeof *s->queues);
}

/* It may open a place of the scope, to which links were dropped before. */
enum status frontier_note_root(struct frontier *f, uint32_t depth, uint64_t id)
{
    uint64_t last = frontier_store_counter(f->store, "last_root");

    if (depth != 0)
        return STATUS_OK;
    if (id > last)
        frontier_store_add(f->store, "last_root", id - last);
    return rejudge_later(f, UINT64_C(1) << REASON_SCOPE);
}

/* A known URL is nearer to a seed than its row says: what was dropped for its
 * distance is judged again. If it has become a seed, its place opens, its kind
 * says so, and if the URL itself was skipped, it comes back with those. It has
 * no URL_ROW_SEED, since its outcomes so far were not counted as a seed's. */
static enum status come_nearer(struct frontier *f, const struct admission *a)
{
    const struct url_item *item = a->item;
    struct url_row row;
    enum status st = frontier_store_get(f->store, a->id, &row, &f->text);
    bool given = st == STATUS_OK && item->seed && row.kind != item->kind &&
                 (row.flags & URL_ROW_SEED) == 0;

    if (st != STATUS_OK || (row.depth <= item->depth && !given))
        return st;
    st = frontier_store_come_nearer(f->store, row.id, item->depth, item->hops,
                                    given ? item->kind : row.kind);
    levels_come_nearer(f, row.id, item->depth);
    if (st == STATUS_OK)
        st = rejudge_depths(f);
    if (st == STATUS_OK && item->depth == 0 && f->o.past != NULL)
        st = past_crawl_root(f->o.past, item->digest, row.url);
    return st == STATUS_OK ? frontier_note_root(f, item->depth, row.id) : st;
}

/* `queue` 0: it is not known. */
static enum status write_row(struct frontier *f, struct admission *a,
                             uint32_t queue, uint8_t flags, int64_t wall_ms)
{
    const struct url_item *item = a->item;
    struct url_row row = {.queue = queue,
                          .url = item->url,
                          .depth = item->depth,
                          .hops = item->hops,
                          .kind = item->kind,
                          .flags = flags,
                          .via = a->via,
                          .found_at_ms = wall_ms};
    enum status st = STATUS_OK;

    if (queue == 0)
        st = frontier_store_queue(f->store, f->o.crawl, item->key, &row.queue);
    if (st == STATUS_OK)
        st = frontier_store_admit(f->store, &row, &a->id);
    if (st != STATUS_OK)
        return st;
    a->fresh = true;
    a->queue = row.queue;
    frontier_queue_grew(f, row.queue);
    if (item->seed)
        frontier_store_add(f->store, "seeds", 1);
    if (st == STATUS_OK && item->depth == 0 && f->o.past != NULL)
        st = past_crawl_root(f->o.past, item->digest, item->url);
    return st == STATUS_OK ? frontier_note_root(f, item->depth, a->id) : st;
}

static uint8_t flags_of(const struct url_item *item, enum seen_answer answer,
                        uint8_t salt)
{
    unsigned flags = (unsigned)salt << URL_ROW_SALT_SHIFT;

    if (item->seed)
        flags |= URL_ROW_SEED;
    if (answer == SEEN_NEW_FALSE_POSITIVE)
        flags |= URL_ROW_FALSE_POSITIVE;
    return (uint8_t)flags;
}

/* ---- blocklist ---- */

static enum status drop_blocked(struct frontier *f, struct admission *a,
                                int64_t wall_ms)
{
    const struct url_item *item = a->item;

    if (item->seed)
        log_warn("a seed is on the blocklist", "url=\"%.*s\"",
                 (int)item->url.len, item->url.at);
    return frontier_drop_new(f, a, REASON_BLOCKLIST, wall_ms);
}

/* Checks the new ones among the `n` open URLs; a blocked URL counts as not
 * new. */
static enum status keep_out(struct frontier *f, struct admission *list,
                            size_t n, int64_t wall_ms)
{
    size_t asked = 0, at = 0;
    enum status st;

    if (f->o.blocklist == NULL)
        return STATUS_OK;
    for (size_t i = 0; i < n; i++)
        if (f->scratch.answers[i] != SEEN_BEFORE)
            f->scratch.asked[asked++] = list[f->scratch.open[i]].item->url;
    st = blocklist_check(f->o.blocklist, f->scratch.asked, asked,
                         f->scratch.blocked);
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        if (f->scratch.answers[i] == SEEN_BEFORE || !f->scratch.blocked[at++])
            continue;
        f->scratch.answers[i] = SEEN_BEFORE;
        st = drop_blocked(f, &list[f->scratch.open[i]], wall_ms);
    }
    return st;
}

/* Is a URL without a row blocked or a trap's, or a repeat of such a one? The
 * blocklist is not asked again, since a filter in Redis may answer differently
 * now. */
static bool is_blocked(const struct frontier *f, const struct admission *list,
                       size_t n, const struct admission *a)
{
    for (size_t i = 0; i < n; i++)
        if (list[f->scratch.open[i]].blocked &&
            digest_equal(list[f->scratch.open[i]].item->digest,
                         a->item->digest))
            return true;
    return false;
}

/* Finds the queues of the new ones among the `n` open URLs; returns how many
 * are new. */
static size_t find_queues(struct frontier *f, const struct admission *list,
                          size_t n)
{
    size_t fresh = 0;

    for (size_t i = 0; i < n; i++)
        if (f->scratch.answers[i] != SEEN_BEFORE)
            f->scratch.asked[fresh++] = list[f->scratch.open[i]].item->key;
    frontier_store_find_queues(f->store, f->o.crawl, f->scratch.asked, fresh,
                               f->scratch.queues);
    return fresh;
}

/* Fetches what the rows some places after number `at` of `fresh` will touch;
 * the memory of a host waits for the place where its address is. */
static void prefetch_hosts(const struct frontier *f, size_t at, size_t fresh)
{
    enum { AHEAD = 4 };
    const uint32_t *queues = f->scratch.queues;
    uint32_t near = at + AHEAD < fresh ? queues[at + AHEAD] : 0;
    uint32_t far = at + 2 * AHEAD < fresh ? queues[at + 2 * AHEAD] : 0;

    if (near > 0)
        __builtin_prefetch(host_table_get(&f->hosts, near));
    if (far == 0)
        return;
    frontier_store_prefetch(f->store, far);
    host_table_prefetch(&f->hosts, far);
}

/* Writes rows for the new ones of the `n` open URLs, whose digests are in
 * f->scratch.digests.
 */
static enum status admit_open(struct frontier *f, struct admission *list,
                              size_t n, uint8_t salt, int64_t wall_ms)
{
    uint64_t first = 0;
    size_t fresh = 0, all = 0;
    enum status st =
        seen_check(f->base->seen, f->scratch.digests, n, f->scratch.answers);

    if (st == STATUS_OK)
        st = keep_out(f, list, n, wall_ms);
    if (st == STATUS_OK && f->traps != NULL)
        st = frontier_trap_keep_out(f, list, n, wall_ms);
    if (st == STATUS_OK)
        all = find_queues(f, list, n);
    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        struct admission *a = &list[f->scratch.open[i]];

        if (f->scratch.answers[i] == SEEN_BEFORE)
            continue;
        prefetch_hosts(f, fresh, all);
        st = write_row(f, a, f->scratch.queues[fresh],
                       flags_of(a->item, f->scratch.answers[i], salt), wall_ms);
        if (fresh == 0)
            first = a->id;
        f->scratch.fresh[fresh++] = f->scratch.digests[i];
    }
    if (st != STATUS_OK || fresh == 0)
        return st;
    return seen_store_admit(f->base, f->scratch.fresh, fresh, first);
}

/* Finds the ids of open URLs that were seen before, in one query. */
static enum status find_ids(struct frontier *f, struct admission *list,
                            size_t n)
{
    enum status st =
        exact_set_find(f->base->exact, f->scratch.digests, n, f->scratch.found);

    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        struct admission *a = &list[f->scratch.open[i]];

        if (f->scratch.found[i] == 0 && is_blocked(f, list, n, a)) {
            a->blocked = true;
            continue;
        }
        if (f->scratch.found[i] == 0) {
            log_error("the exact set has lost a URL", "url=\"%.*s\"",
                      (int)a->item->url.len, a->item->url.at);
            st = STATUS_DAMAGED;
        }
        if (!a->fresh)
            a->id = f->scratch.found[i];
    }
    return st;
}

static enum status is_same_url(struct frontier *f, const struct admission *a,
                               bool *same)
{
    struct url_row row;
    enum status st = frontier_store_get(f->store, a->id, &row, &f->text);

    *same = st == STATUS_OK && bytes_equal(row.url, a->item->url) &&
            row.queue ==
                frontier_store_find_queue(f->store, f->o.crawl, a->item->key);
    return st;
}

/* Keeps only those open whose digest belongs to another URL, with the next
 * digest to try; *n is their number. */
static enum status keep_collisions(struct frontier *f,
                                   const struct admission *list, size_t *n,
                                   uint8_t next_salt)
{
    size_t left = 0;
    enum status st = STATUS_OK;
    bool same;

    for (size_t i = 0; st == STATUS_OK && i < *n; i++) {
        const struct admission *a = &list[f->scratch.open[i]];

        if (a->fresh || a->blocked)
            continue;
        st = is_same_url(f, a, &same);
        if (st != STATUS_OK || same)
            continue;
        f->scratch.digests[left] =
            digest_url_salted(&f->base->key, f->o.crawl, a->item->key,
                              a->item->url, next_salt);
        f->scratch.open[left++] = f->scratch.open[i];
    }
    *n = left;
    frontier_store_add(f->store, "digest_collisions", left);
    if (st == STATUS_OK && left > 0 && next_salt > URL_ROW_SALT_MOST)
        return STATUS_LIMIT; /* 64 URLs of one digest: no such hash */
    return st;
}

/* Stores the hints of sitemaps for URLs whose ids are known. */
static enum status keep_hints(struct frontier *f, const struct admission *list,
                              size_t n)
{
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < n; i++) {
        const struct url_hint *hint = list[i].item->hint;

        if (hint == NULL || list[i].blocked)
            continue;
        st = frontier_refresh_hint(f, list[i].id, hint);
        if (st == STATUS_OK)
            st = hint_store_set(f->base->db, list[i].id, hint);
    }
    return st;
}

/* Sends those of other shards there; *n: how many are left. */
static enum status keep_own(struct frontier *f, struct admission *list,
                            size_t *n)
{
    size_t own = 0;
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < *n; i++) {
        if (shard_is_other(f->o.shard, list[i].item->key)) {
            list[i].blocked = list[i].dropped = true; /* and so no repeat */
            f->o.send(f->o.send_ctx, list[i].item, list[i].via);
            st = frontier_keep_sent(f, &list[i]);
            continue;
        }
        f->scratch.open[own] = (uint32_t)i;
        f->scratch.digests[own++] = list[i].item->digest;
    }
    if (own < *n)
        frontier_store_add(f->store, "sent", *n - own);
    *n = own;
    return st;
}

/* Does only the item say how far the URL is from a seed? For links of our own
 * pages the log of paths does. */
static bool says_depth(const struct frontier *f, const struct admission *a)
{
    return a->item->seed ||
           (a->via == 0 && (a->item->depth == 0 || f->keeps_paths));
}

/* Other shards found known URLs, or a person gives them. */
static enum status all_come_nearer(struct frontier *f,
                                   const struct admission *list, size_t n)
{
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        if (says_depth(f, &list[i]) && !list[i].fresh && !list[i].blocked)
            st = come_nearer(f, &list[i]);
    return st;
}

enum status frontier_admit(struct frontier *f, struct admission *list, size_t n,
                           bool all_ids, int64_t wall_ms)
{
    const size_t all = n;
    bool hints = false, depths = false;
    enum status st;

    make_room(f, n);
    st = keep_own(f, list, &n);
    for (size_t i = 0; i < n; i++) {
        hints |= list[f->scratch.open[i]].item->hint != NULL;
        depths |= says_depth(f, &list[f->scratch.open[i]]);
    }
    all_ids |= hints || depths;
    for (uint8_t salt = 0; st == STATUS_OK && n > 0; salt++) {
        st = admit_open(f, list, n, salt, wall_ms);
        if (st == STATUS_OK && (all_ids || f->o.compare_text))
            st = find_ids(f, list, n);
        if (!f->o.compare_text)
            break;
        if (st == STATUS_OK)
            st = keep_collisions(f, list, &n, (uint8_t)(salt + 1));
    }
    if (st == STATUS_OK && hints)
        st = keep_hints(f, list, all);
    if (st == STATUS_OK && depths)
        st = all_come_nearer(f, list, all);
    if (st == STATUS_OK)
        st = frontier_order_links(f, list, all);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}
