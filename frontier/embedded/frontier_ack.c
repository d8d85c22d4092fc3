/* SPDX-License-Identifier: MIT */
/*
 * frontier_ack.c - the outcome of a URL, and the links found on its page.
 *
 * All pages of a call go through the seen check as one batch; then each URL is
 * settled: final, or queued again for another try. Both happen in the open
 * transaction, so a page's completion and its links become durable together.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/fault.h"
#include "base/logger.h"
#include "base/mem.h"
#include "frontier/embedded/frontier_impl.h"

/* Consecutive failures after which a host that answers, but not so that its
 * URLs may be fetched, counts as dead: as many as a URL has tries, since its
 * first URL has used up all of its own by then. */
static bool host_is_dead(const struct frontier *f, const struct host_queue *h)
{
    return h->failures >= f->o.tries;
}

/* Stores a host's own delay, how long it is blocked, and whether it does not
 * respond. The last is for readers only: a new run asks the host at once. */
enum status frontier_remember(struct frontier *f, const struct host_queue *h,
                              int64_t now, int64_t wall_ms)
{
    struct queue_state s = {
        .delay_ms = h->own_delay >= 0 ? h->own_delay / NS_PER_MS : -1,
        .backoffs = h->backoffs,
        .failures = h->failures,
        .fetched = h->counted,
        .octets = h->octets,
    };

    _Static_assert(sizeof s.sources == sizeof(struct source_bits),
                   "the store keeps all of them");
    s.linked = h->sources != NULL;
    if (s.linked)
        memcpy(s.sources, h->sources->octet, sizeof s.sources);
    if (h->blocked_until > now) /* 2: both terms were rounded down */
        s.blocked_until_ms = wall_ms + (h->blocked_until - now) / NS_PER_MS + 2;
    if (h->why_blocked != NULL && h->blocked_until > now)
        snprintf(s.reason, sizeof s.reason, "%s", h->why_blocked);
    else
        (void)frontier_reach_reason(h, s.reason, sizeof s.reason);
    return frontier_store_set_queue_state(f->store, h->queue, &s);
}

static bool take_back_off(struct frontier *f, struct host_queue *h,
                          const struct engine_host_news *news)
{
    int64_t after =
        news->retry_after_ms >= 0 ? news->retry_after_ms * NS_PER_MS : -1;
    bool had = h->backoffs > 0;
    int64_t until;

    if (!news->slow_down && after < 0) {
        if (news->ended != 0 && !news->unreachable && h->errors == 0)
            h->backoffs = 0;
        return had && h->backoffs == 0;
    }
    h->backoffs++;
    until = news->ended +
            schedule_backoff(&f->o.schedule, after, h->backoffs, &f->random);
    if (until > h->blocked_until) { /* else a person said more */
        h->blocked_until = until;
        h->why_blocked = after >= 0 ? "retry_after" : "back_off";
    }
    return true;
}

/* A request of one host of a group applies to all its hosts. */
static void tell_machine(struct host_queue *h,
                         const struct engine_host_news *news)
{
    struct politeness_group *m = h->group;

    if (m == NULL)
        return;
    m->next_due = h->next_due;
    if (news->slow_down || news->retry_after_ms >= 0)
        m->blocked_until = clock_later(m->blocked_until, h->blocked_until);
}

enum status frontier_host_news(struct frontier *f, struct host_queue *h,
                               const struct engine_host_news *news, int64_t now,
                               int64_t wall_ms)
{
    bool changed = news->ended == 0 && news->crawl_delay_ms == -2;
    enum status st = STATUS_OK;

    if (news->crawl_delay_ms > -2) {
        int64_t own =
            news->crawl_delay_ms < 0 ? -1 : news->crawl_delay_ms * NS_PER_MS;

        changed |= own != h->own_delay;
        if (own != h->own_delay && own > f->o.schedule.max_crawl_delay)
            frontier_log_cut(f, h, own);
        h->own_delay = own;
    }
    if (news->ended != 0) {
        changed |= take_back_off(f, h, news);
        if (news->slow_down || news->retry_after_ms >= 0)
            frontier_log_delay(f, h, now);
        if (news->http_status != 0)
            h->http_status = news->http_status;
        h->next_due = news->ended + frontier_pause(f, h);
        tell_machine(h, news);
    }
    if (news->robots != NULL)
        st = page_store_set_robots(f->pages, news->robots);
    if (st == STATUS_OK && changed) {
        st = frontier_remember(f, h, now, wall_ms);
        f->urgent = true; /* or a crash now would lose it */
    }
    return st;
}

/* A list of URLs, such as a sitemap, leads to pages but is not one. */
bool frontier_counts_as_page(const struct frontier *f, struct outcome o,
                             uint8_t kind)
{
    return outcome_counts_as_page(o) && (f->o.listings >> kind & 1) == 0;
}

void frontier_count_outcome(struct frontier *f, struct outcome o, uint8_t kind,
                            bool back)
{
    const uint64_t by = back ? UINT64_MAX : 1;
    char reason[24], name[64];

    frontier_store_add(f->store, outcome_status_name(o.status), by);
    outcome_reason_text(o, reason, sizeof reason);
    if (reason[0] != '\0') {
        snprintf(name, sizeof name, "%s.%s", outcome_status_name(o.status),
                 reason);
        frontier_store_add(f->store, name, by);
    }
    if (frontier_counts_as_page(f, o, kind))
        frontier_store_add(f->store, "pages", by);
    else if (outcome_counts_as_page(o))
        frontier_store_add(f->store, "sitemaps", by);
    if (o.status == OUTCOME_FAILED && o.reason == REASON_HTTP)
        frontier_store_add(f->store, "http_errors", by);
}

static void count_outcome(struct frontier *f, struct outcome o, uint8_t kind,
                          const struct fetch_row *row)
{
    frontier_count_outcome(f, o, kind, false);
    if (o.reason == REASON_UNCHANGED) /* it has its own earlier text */
        return;
    if (row->same_as != 0 && o.status == OUTCOME_FETCHED)
        frontier_store_add(f->store, "same_content", 1);
    if (row->near_dup_of != 0 && o.status == OUTCOME_FETCHED)
        frontier_store_add(f->store, "near_dup", 1);
}

void frontier_fill_outcome(struct fetch_row *row, struct outcome o, bool final)
{
    row->final = final;
    row->status = (uint8_t)o.status;
    row->reason = (uint8_t)o.reason;
    row->http_status = o.http_status;
}

enum status frontier_settle(struct frontier *f, uint64_t id, bool seed,
                            uint8_t kind, struct fetch_row *row,
                            struct outcome o)
{
    uint64_t seq;
    enum status st;

    row->url = id;
    frontier_fill_outcome(row, o, true);
    st = page_store_add(f->pages, row, &seq);
    if (st == STATUS_OK)
        st = frontier_store_done(f->store, id, seq);
    if (st != STATUS_OK)
        return st;
    row->seq = seq;
    if (map_count(f->tries) > 0)
        free(map_remove(f->tries, bytes_of(&id, sizeof id)));
    count_outcome(f, o, kind, row);
    if (seed && outcome_fails_seed(o))
        frontier_store_add(f->store, "seeds_failed", 1);
    return frontier_keep_row(f, row, o, kind);
}

/* Not final: queues the URL for another try. */
static enum status try_again(struct frontier *f, struct lease_record *l,
                             struct fetch_row *row, struct outcome o,
                             int64_t now, int64_t wall_ms)
{
    uint64_t id = l->lease.id, seq;
    int64_t wait = schedule_retry(&f->o.schedule, row->tries, &f->random);
    struct tries_entry *t;
    enum status st;

    row->url = id;
    frontier_fill_outcome(row, o, false);
    frontier_log_retry(f, l->lease.url, o, row->tries, wait);
    frontier_store_add(f->store, "retries", 1);
    st = page_store_add(f->pages, row, &seq);
    if (st == STATUS_OK && l->refresh.url != 0)
        return frontier_refresh_later(f, l, row->tries,
                                      wall_ms + wait / NS_PER_MS);
    t = xcalloc(1, sizeof *t);
    t->tries = row->tries;
    t->due = now + wait;
    free(map_put(f->tries, bytes_of(&id, sizeof id), t));
    host_queue_retry(l->host, id, t->due);
    if (st == STATUS_OK)
        st = frontier_store_set_tries(f->store, id, row->tries,
                                      wall_ms + wait / NS_PER_MS);
    return st;
}

/* Its request found nobody: it goes behind those that have not, and has used up
 * no try. Of many such requests only some have a row: 1, 2, 4, 8 ... */
static enum status wait_for_host(struct frontier *f, struct lease_record *l,
                                 struct fetch_row *row, struct outcome o,
                                 int64_t wall_ms)
{
    uint32_t n = l->host->failures;
    uint64_t seq;
    enum status st = STATUS_OK;

    if (l->refresh.url != 0)
        st = frontier_refresh_release(f, l, f->o.schedule.retry_delay, wall_ms);
    else
        host_queue_retry(l->host, l->lease.id,
                         l->host->silent_until == INT64_MAX
                             ? 0
                             : l->host->silent_until +
                                   f->o.schedule.retry_delay);
    if (st != STATUS_OK || (n & (n - 1)) != 0)
        return st;
    row->url = l->lease.id;
    frontier_fill_outcome(row, o, false);
    frontier_store_add(f->store, "retries", 1);
    return page_store_add(f->pages, row, &seq);
}

/* Walks back from a URL over the redirects that led to it. *loop: `target` is
 * one of them. *from_seed: the first of them is a seed. */
static enum status walk_chain(struct frontier *f, const struct lease_record *l,
                              uint64_t target, bool *loop, bool *from_seed)
{
    struct url_row row = {.id = l->lease.id,
                          .hops = l->lease.hops,
                          .via = l->via,
                          .flags = l->lease.seed ? URL_ROW_SEED : 0};
    enum status st = STATUS_OK;

    *loop = row.id == target;
    while (st == STATUS_OK && row.hops > 0 && row.via != 0) {
        st = frontier_store_get(f->store, row.via, &row, &f->text);
        *loop |= st == STATUS_OK && row.id == target;
    }
    *from_seed = (row.flags & URL_ROW_SEED) != 0;
    return st;
}

/* Sets the outcome of a redirect, which depends on its target's id. */
static enum status follow_redirect(struct frontier *f,
                                   const struct lease_record *l,
                                   const struct engine_done *done,
                                   uint64_t target, struct outcome *o,
                                   struct fetch_row *row)
{
    bool loop = false, from_seed = false;
    enum status st = STATUS_OK;

    if (done->outlink_count > 0 && target == 0)
        st = exact_set_find(f->base->exact, &done->outlinks[0].digest, 1,
                            &target);
    if (st == STATUS_OK)
        st = walk_chain(f, l, target, &loop, &from_seed);
    if (st != STATUS_OK)
        return st;
    if (loop && target != 0)
        o->reason = REASON_REDIRECT_LOOP;
    if (from_seed && !l->lease.seed && outcome_fails_seed(*o))
        frontier_store_add(f->store, "seeds_failed", 1);
    row->redirect_to = target;
    return STATUS_OK;
}

/* Is it an error of the host? Network errors count as well. */
static bool is_error(struct outcome o)
{
    return o.http_status >= 500 ||
           (o.status == OUTCOME_FAILED &&
            (o.reason == REASON_TIMEOUT || o.reason == REASON_RESET));
}

/* A moving average, mostly of the last eight responses. */
static void smooth(uint32_t *mean_us, uint32_t ms)
{
    uint64_t us = (uint64_t)ms * 1000 + 1; /* 0 is "none yet" */

    us = *mean_us == 0 ? us : ((uint64_t)*mean_us * 7 + us) / 8;
    *mean_us = us < UINT32_MAX ? (uint32_t)us : UINT32_MAX;
}

static void note_latency(struct host_queue *h, const struct fetch_row *row)
{
    h->answers++;
    smooth(&h->latency_us, row->elapsed_ms);
    smooth(&h->first_us, row->first_byte_ms);
}

/* A URL that fails again says nothing new of its host: so that one that always
 * fails holds up no other, only first tries are counted. */
static void note_errors(struct host_queue *h, struct outcome o, uint8_t tries)
{
    if (!is_error(o))
        h->errors = 0;
    else if (tries == 1 && h->errors < UINT32_MAX)
        h->errors++;
}

#define REACH_TRIES 3 /* of a URL whose host responds to others, at least */

static enum status note_reach(struct frontier *f, struct host_queue *h,
                              const struct engine_host_news *news,
                              struct outcome how, int64_t now, int64_t wall_ms)
{
    return frontier_note_reach(f, h, news, how)
               ? frontier_remember(f, h, now, wall_ms)
               : STATUS_OK;
}

static bool redirects(const struct engine_done *d)
{
    return d->outcome.status == OUTCOME_REDIRECT && d->outlink_count > 0;
}

/* The URL was never fetched before. */
static enum status end_first_fetch(struct frontier *f, struct lease_record *l,
                                   const struct engine_done *d,
                                   struct fetch_row *row,
                                   const struct admission *links, size_t n)
{
    struct outcome o = d->outcome;
    enum status st =
        frontier_settle(f, d->id, l->lease.seed, l->lease.kind, row, o);

    if (st == STATUS_OK)
        st = frontier_refresh_date(f, l->lease.queue, row, o);
    if (st != STATUS_OK)
        return st;
    frontier_trap_page(f, &l->lease, d, row, links, n);
    return frontier_count_done(f, l->host);
}

/* links[0..n) are those of `d`, admitted. */
static enum status settle_one(struct frontier *f, struct engine_done *d,
                              const struct admission *links, size_t n,
                              const struct link_range *rows, int64_t now,
                              int64_t wall_ms)
{
    struct lease_record *l = lease_find(f->leases, d->id);
    struct engine_host_news news = d->host, reach = d->host;
    struct fetch_row row = d->row;
    struct outcome o = d->outcome;
    struct host_queue *h;
    enum status st = STATUS_OK;
    uint32_t tries = f->o.tries;
    bool silent, last;

    if (l == NULL) {
        log_warn("acknowledged a URL that was not leased", "id=%llu",
                 (unsigned long long)d->id);
        return STATUS_OK;
    }
    h = l->host;
    if (l->asked != NULL) /* another host, and its own has said to ask that */
        reach.silent = false;
    silent = reach.unreachable && reach.silent;
    row.tries = (uint8_t)(l->lease.tries + 1 < 255 ? l->lease.tries + 1 : 255);
    if (o.status == OUTCOME_REDIRECT)
        st = follow_redirect(f, l, d, redirects(d) ? links[0].id : 0, &o, &row);
    d->outcome = o;
    if (st == STATUS_OK)
        st = frontier_cross_host_end(f, l, &news, now, wall_ms);
    if (news.ended != 0 && !d->host.unreachable)
        note_errors(h, o, row.tries);
    if (o.http_status != 0)
        note_latency(h, &row);
    politeness_group_give_back(h);
    if (st == STATUS_OK)
        st = frontier_host_news(f, h, &news, now, wall_ms);
    if (st == STATUS_OK && f->o.group == QUEUE_KEY_IP && news.ended != 0)
        st = frontier_answered_from(f, h, row.ip, now);
    if (st == STATUS_OK)
        st = note_reach(f, h, &reach, o, now, wall_ms);
    if (silent && h->failures == 1 && h->answers > 0) {
        /* Maybe a port or scheme of its own that nobody answers at, on a host
         * that does: it uses up a try, but has some, as the host may restart.
         */
        silent = false;
        tries = tries > REACH_TRIES ? tries : REACH_TRIES;
    } else if (news.unreachable && !silent && host_is_dead(f, h)) {
        h->dead = o;
        h->dead_flags = row.flags;
    }
    last = frontier_is_removed(h, d->id) ||
           (!silent && (!d->transient || row.tries >= tries));
    if (st == STATUS_OK && last && o.reason == REASON_UNCHANGED &&
        o.http_status == 304)
        st = frontier_take_last(f, &l->lease, &row);
    if (st == STATUS_OK && last)
        st = l->refresh.url != 0 ? frontier_refresh_settle(f, l, &row, o)
                                 : end_first_fetch(f, l, d, &row, links, n);
    else if (st == STATUS_OK && silent)
        st = wait_for_host(f, l, &row, o, wall_ms);
    else if (st == STATUS_OK)
        st = try_again(f, l, &row, o, now, wall_ms);
    if (st == STATUS_OK && last)
        row.seq = page_store_last_seq(f->pages);
    if (st == STATUS_OK && last && o.reason == REASON_UNCHANGED)
        st = frontier_note_unchanged(f, &l->lease, &row);
    if (st == STATUS_OK && last && rows->first != 0)
        st = link_store_set_page(f->links, row.seq, rows);
    if (st == STATUS_OK && last)
        frontier_log_done(l->lease.url, &row, o);
    if (st == STATUS_OK && l->refresh.url == 0 && frontier_budget_counts(f)) {
        bool page = last && frontier_counts_as_page(f, o, l->lease.kind);

        frontier_budget_spend(f, h, page, row.wire_bytes);
        st = frontier_remember(f, h, now, wall_ms);
    }
    frontier_store_add(f->store, "bytes", row.wire_bytes);
    if (st == STATUS_OK)
        st = frontier_take_drops(f, d, wall_ms);
    external_end_lease(f, l);
    h->refreshing -= l->refresh.url != 0;
    lease_end(f->leases, l);
    frontier_reschedule(f, h);
    f->uncommitted++;
    return st;
}

/* Each link is an outlink, a drop or a repeat. What is over a limit of memory
 * is dropped too, though but one drop names its page. */
static void count_links(struct frontier *f, const struct engine_done *d)
{
    uint64_t links = d->outlink_count + d->drop_count + d->repeats + d->over;
    const struct lease_record *page = lease_find(f->leases, d->id);
    const char *reason = outcome_reason_name(REASON_LINK_COUNT);

    if (links > 0)
        frontier_store_add(f->store, "links", links);
    if (d->repeats > 0)
        frontier_store_add(f->store, "duplicates", d->repeats);
    if (d->over == 0 || page == NULL)
        return;
    for (uint64_t i = 0; i < d->over; i++)
        frontier_store_drop(f->store, reason, page->lease.key, page->lease.url,
                            d->id, d->row.at_ms);
    frontier_store_add(f->store, "dropped", d->over);
    frontier_store_add(f->store, "dropped.link_count", d->over);
}

/* A seed's redirect target extends the scope, which its fetcher has done. If
 * the scope may have changed since, does it again. */
static void open_scope(struct frontier *f, const struct engine_item *found)
{
    struct url u;

    if (f->o.recheck == NULL || found->depth != 0)
        return;
    url_init(&u);
    if (url_parse(&u, found->url, NULL, NULL) == URL_OK)
        scope_add_seed(f->o.recheck, &u);
    url_fini(&u);
}

static enum status drop_outlinks(struct frontier *f,
                                 const struct engine_done *done,
                                 enum outcome_reason why, int64_t wall_ms)
{
    size_t n = done->outlink_count;
    struct engine_drop *drops = xcalloc(n + 1, sizeof *drops);
    enum status st;

    for (size_t i = 0; i < n; i++)
        drops[i] = (struct engine_drop){.reason = why,
                                        .host = done->outlinks[i].key,
                                        .url = done->outlinks[i].url};
    st = frontier_take_drops(f,
                             &(struct engine_done){.id = done->id,
                                                   .drops = drops,
                                                   .drop_count = n},
                             wall_ms);
    free(drops);
    return st;
}

/* Gathers the links of all pages of the call in one list; those of done[i]
 * begin at `first[i]`. */
static enum status gather(struct frontier *f, const struct engine_done *done,
                          size_t n, struct admission **list, size_t *first,
                          size_t *count, int64_t wall_ms)
{
    size_t total = 0, at = 0;
    enum status st = STATUS_OK;

    for (size_t i = 0; i < n; i++)
        total += done[i].outlink_count;
    *list = xcalloc(total, sizeof **list);
    for (size_t i = 0; i < n && st == STATUS_OK; i++) {
        bool spiral = frontier_trap_has_body(f, &done[i]);
        enum outcome_reason why;

        first[i] = at;
        st = frontier_why_known(f, done, i, &why);
        if (st == STATUS_OK && why != REASON_NONE)
            st = drop_outlinks(f, &done[i], why, wall_ms);
        for (size_t k = 0; why == REASON_NONE && k < done[i].outlink_count;
             k++) {
            open_scope(f, &done[i].outlinks[k]);
            (*list)[at++] = (struct admission){.item = &done[i].outlinks[k],
                                               .via = done[i].id,
                                               .spiral = spiral};
        }
    }
    *count = at;
    return st;
}

/* What one call of frontier_ack works on. */
struct ack {
    struct engine_done *done;
    size_t n;
    struct admission *list; /* the links of all pages; */
    size_t *first, total;   /* those of done[i] begin at first[i] */
    struct link_range *rows;
    struct past_page *past;
};

/* Reasons of drops that are the same for the page in every crawl with the same
 * rules. */
#define ALWAYS_DROPPED                                                         \
    (UINT64_C(1) << REASON_SCOPE | UINT64_C(1) << REASON_EXCLUDE |             \
     UINT64_C(1) << REASON_INCLUDE | UINT64_C(1) << REASON_URL_LENGTH |        \
     UINT64_C(1) << REASON_NOFOLLOW | UINT64_C(1) << REASON_KIND)

/* Are all links of the page among links[0..n), but for those that its crawl
 * would never take? Those of a 304 to a page of this crawl are not. */
static bool has_all_links(const struct frontier *f, const struct engine_done *d,
                          const struct admission *links, size_t n)
{
    const struct lease_record *l = lease_find(f->leases, d->id);
    bool all = l != NULL && !l->in_parts && !d->partial && d->over == 0 &&
               d->outcome.status == OUTCOME_FETCHED && d->outlink_count == n &&
               (d->outcome.http_status != 304 || l->lease.last.past_url != 0);

    for (size_t i = 0; all && i < d->drop_count; i++)
        all = (ALWAYS_DROPPED >> d->drops[i].reason & 1) != 0;
    for (size_t i = 0; all && i < n; i++)
        all = !links[i].blocked && links[i].id != 0;
    return all;
}

static enum status record_page(struct frontier *f, const struct engine_done *d,
                               const struct admission *links, size_t n,
                               const struct past_page *past,
                               struct link_range *rows)
{
    const uint64_t first = link_store_next(f->links);
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < past->known_count; i++)
        st = link_store_add(f->links,
                            &(struct link_row){.from = d->id,
                                               .to = past->known[i].to,
                                               .kind = past->known[i].kind});
    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        if (!links[i].blocked)
            st =
                link_store_add(f->links,
                               &(struct link_row){.from = links[i].via,
                                                  .to = links[i].id,
                                                  .kind = links[i].item->kind});
    if (has_all_links(f, d, links, n))
        *rows = (struct link_range){first, link_store_next(f->links) - first};
    return st;
}

/* Stores links, if asked to; rows[i]: those of done[i], if they are all that it
 * has. The first page of a run notes whether this run stores links. */
static enum status record_links(struct frontier *f, const struct ack *a)
{
    enum status st = STATUS_OK;

    if (!f->links_noted)
        st = link_store_note(f->links, f->o.record_links,
                             page_store_last_seq(f->pages) == 0);
    f->links_noted = true;
    for (size_t i = 0; st == STATUS_OK && f->o.record_links && i < a->n; i++)
        st = record_page(f, &a->done[i], a->list + a->first[i],
                         a->first[i + 1] - a->first[i], &a->past[i],
                         &a->rows[i]);
    return st;
}

/* Which of the page's links are on its own level, or else not. */
static enum status add_paths(struct frontier *f, uint64_t page, uint32_t depth,
                             bool on_level, const struct admission *list,
                             size_t n)
{
    uint64_t *ids = xmalloc((n + 1) * sizeof *ids);
    size_t count = 0;
    enum status st;

    for (size_t i = 0; i < n; i++)
        if (!list[i].blocked && list[i].id != 0 &&
            (list[i].item->depth == depth) == on_level)
            ids[count++] = list[i].id;
    st = path_log_add(f->path_log, page, on_level, ids, count);
    free(ids);
    return st;
}

static enum status record_paths(struct frontier *f,
                                const struct engine_done *done,
                                const struct admission *list, size_t n)
{
    const struct lease_record *page = lease_find(f->leases, done->id);
    enum status st;

    if (page == NULL || n == 0)
        return STATUS_OK;
    st = add_paths(f, done->id, page->lease.depth, false, list, n);
    return st == STATUS_OK
               ? add_paths(f, done->id, page->lease.depth, true, list, n)
               : st;
}

static struct ack ack_new(struct engine_done *done, size_t n)
{
    return (struct ack){.done = done,
                        .n = n,
                        .first = xcalloc(n + 1, sizeof(size_t)),
                        .rows = xcalloc(n + 1, sizeof(struct link_range)),
                        .past = xcalloc(n + 1, sizeof(struct past_page))};
}

static void ack_fini(struct ack *a)
{
    for (size_t i = 0; i < a->n; i++)
        frontier_past_end(&a->past[i]);
    free(a->past);
    free(a->rows);
    free(a->list);
    free(a->first);
}

/* Gathers and admits the links of all pages. */
static enum status admit_links(struct frontier *f, struct ack *a,
                               int64_t wall_ms)
{
    bool all_ids = f->o.record_links || f->o.compare_text || f->keeps_paths;
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && f->o.past != NULL && i < a->n; i++) {
        st = frontier_past_begin(f, &a->done[i], &a->past[i]);
        all_ids |= a->past[i].texts != NULL;
    }
    if (st == STATUS_OK)
        st = gather(f, a->done, a->n, &a->list, a->first, &a->total, wall_ms);
    a->first[a->n] = a->total;
    if (st == STATUS_OK)
        st = frontier_admit(f, f->o.crawl, a->list, a->total, all_ids, wall_ms);
    for (size_t i = 0; st == STATUS_OK && i < a->n; i++)
        frontier_past_admitted(f, &a->past[i], a->list + a->first[i],
                               a->first[i + 1] - a->first[i]);
    return st;
}

static enum status settle(struct frontier *f, const struct ack *a, size_t i,
                          int64_t now, int64_t wall_ms)
{
    struct engine_done *d = &a->done[i];
    struct lease_record *l = lease_find(f->leases, d->id);
    enum status st;

    count_links(f, d);
    st = frontier_budget_links(f, d, now, wall_ms);
    if (st != STATUS_OK)
        return st;
    if (!d->partial)
        return settle_one(f, d, a->list + a->first[i],
                          a->first[i + 1] - a->first[i], &a->rows[i], now,
                          wall_ms);
    if (l != NULL)
        l->in_parts = true;
    return frontier_take_drops(f, d, wall_ms);
}

enum status frontier_ack(struct engine *e, struct engine_done *done, size_t n,
                         int64_t now, int64_t wall_ms)
{
    struct frontier *f = (struct frontier *)e;
    struct ack a = ack_new(done, n);
    size_t fresh = 0;
    enum status st = frontier_touch(f, now);

    if (st == STATUS_OK)
        st = admit_links(f, &a, wall_ms);
    fault_point("ack-admitted");
    if (st == STATUS_OK)
        st = record_links(f, &a);
    for (size_t i = 0; st == STATUS_OK && f->keeps_paths && i < n; i++)
        st = record_paths(f, &done[i], a.list + a.first[i],
                          a.first[i + 1] - a.first[i]);
    for (size_t i = 0; st == STATUS_OK && i < a.total; i++)
        fresh += a.list[i].fresh || a.list[i].dropped;
    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        st = settle(f, &a, i, now, wall_ms);
    frontier_store_add(f->store, "duplicates", a.total - fresh);
    ack_fini(&a);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

/* If another host is to be asked for robots.txt, the URL waits among the
 * retries, as a new one would; its date stays. */
static enum status give_back_refresh(struct frontier *f, struct lease_record *l,
                                     int64_t not_before,
                                     struct engine_host_news *news, int64_t now,
                                     int64_t wall_ms)
{
    struct host_queue *h = l->host;
    enum status st = STATUS_OK;

    if (news->robots_host.len > 0 && h->cross_to == 0) {
        st = frontier_cross_host_ask(f, h, l->lease.id, news->robots_host);
        if (h->cross_to != 0) {
            host_queue_retry(h, l->lease.id, 0);
            h->cross_refresh = true;
            news->robots_host.len = 0;
            return st;
        }
    }
    news->robots_host.len = 0;
    h->refreshing--;
    return st != STATUS_OK
               ? st
               : frontier_refresh_release(f, l, not_before - now, wall_ms);
}

enum status frontier_release(struct engine *e, uint64_t id, int64_t not_before,
                             const struct engine_host_news *host, int64_t now,
                             int64_t wall_ms)
{
    struct frontier *f = (struct frontier *)e;
    struct lease_record *l = lease_find(f->leases, id);
    struct engine_host_news news = {.crawl_delay_ms = -2, .retry_after_ms = -1};
    struct host_queue *h;
    enum status st;

    if (l == NULL)
        return STATUS_NOT_FOUND;
    if (host != NULL)
        news = *host;
    h = l->host;
    politeness_group_give_back(h);
    external_end_lease(f, l);
    st = frontier_touch(f, now);
    if (st == STATUS_OK)
        st = frontier_cross_host_end(f, l, &news, now, wall_ms);
    if (st == STATUS_OK && l->refresh.url != 0)
        st = give_back_refresh(f, l, not_before, &news, now, wall_ms);
    else
        host_queue_retry(h, id, frontier_is_removed(h, id) ? 0 : not_before);
    lease_end(f->leases, l);
    if (st == STATUS_OK && host != NULL)
        st = frontier_host_news(f, h, &news, now, wall_ms);
    if (st == STATUS_OK && host != NULL)
        st = note_reach(f, h, host, (struct outcome){.status = OUTCOME_QUEUED},
                        now, wall_ms);
    if (st == STATUS_OK && news.robots_host.len > 0)
        st = frontier_cross_host_ask(f, h, id, news.robots_host);
    frontier_reschedule(f, h);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}
