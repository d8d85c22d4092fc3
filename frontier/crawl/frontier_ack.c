/* SPDX-License-Identifier: MIT */
/*
 * frontier_ack.c - the outcome of a URL, and the links found on its page.
 *
 * All pages of a call go through the seen check as one batch; then each URL is
 * settled: final, or queued again for another try. Both happen in the open
 * transaction, so a page's completion and its links become durable together.
 */
#include <stdlib.h>
#include <xxhash.h>

#include "base/fault.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_impl.h"

/* Each link is an outlink, a drop or a repeat. What is over a limit of memory
 * is dropped too, though but one drop names its page. */
static void count_links(struct frontier *f, const struct url_done *d)
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
static void open_scope(struct frontier *f, const struct url_item *found)
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
                                 const struct url_done *done,
                                 enum outcome_reason why, int64_t wall_ms)
{
    size_t n = done->outlink_count;
    struct url_drop *drops = xcalloc(n + 1, sizeof *drops);
    enum status st;

    for (size_t i = 0; i < n; i++)
        drops[i] = (struct url_drop){.reason = why,
                                     .host = done->outlinks[i].key,
                                     .url = done->outlinks[i].url,
                                     .whole = true,
                                     .kind = done->outlinks[i].kind,
                                     .hops = done->outlinks[i].hops,
                                     .depth = done->outlinks[i].depth};
    st = frontier_take_drops(
        f, &(struct url_done){.id = done->id, .drops = drops, .drop_count = n},
        wall_ms);
    free(drops);
    return st;
}

/* What of a link decides how it is kept. */
struct link_mark {
    uint64_t hi, lo;
    uint32_t depth, place;
    uint16_t hops, reason;
    uint8_t kind, pad[3];
};

/* Of the links of a page, and of what is kept of links at all; not 0. */
static uint64_t digest_links(const struct frontier *f,
                             const struct url_done *done)
{
    uint64_t sum = (uint64_t)f->keeps_paths << 1 | (f->drop_log != NULL);

    for (size_t i = 0; i < done->outlink_count; i++) {
        const struct url_item *u = &done->outlinks[i];
        const struct link_mark m = {.hi = u->digest.hi,
                                    .lo = u->digest.lo,
                                    .depth = u->depth,
                                    .hops = u->hops,
                                    .kind = u->kind};

        sum = XXH3_64bits_withSeed(&m, sizeof m, sum);
    }
    for (size_t i = 0; i < done->drop_count; i++) {
        const struct url_drop *d = &done->drops[i];
        const struct link_mark m = {.hi = XXH3_64bits(d->url.at, d->url.len),
                                    .depth = d->depth,
                                    .place = d->place,
                                    .hops = d->hops,
                                    .reason = (uint16_t)(1 + d->reason),
                                    .kind = d->kind};

        sum = XXH3_64bits_withSeed(&m, sizeof m, sum);
    }
    return (sum >> 1) + 1;
}

/* Did the page have these links when it was fetched before? Then what is kept
 * of them is kept, and fetching it again for years adds nothing. */
static void compare_links(const struct frontier *f, const struct url_done *done,
                          struct lease_record *page)
{
    if (page == NULL ||
        (page->life != LIFE_AGAIN && f->o.refresh.every_ms == 0) ||
        done->partial || page->part_count > 0 ||
        done->outcome.status != OUTCOME_FETCHED ||
        done->outcome.reason == REASON_UNCHANGED)
        return;
    page->links = digest_links(f, done);
    page->has_same = page->life == LIFE_AGAIN &&
                     page->refresh.links == page->links &&
                     frontier_store_counter(f->store, "drops_lost") == 0;
}

/* Gathers the links of all pages of the call in one list; those of done[i]
 * begin at `first[i]`. */
static enum status gather(struct frontier *f, const struct url_done *done,
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
        struct lease_record *page = lease_find(f->leases, done[i].id);
        enum outcome_reason why;

        first[i] = at;
        compare_links(f, &done[i], page);
        st = frontier_why_known(f, done, i, &why);
        if (st == STATUS_OK && why != REASON_NONE)
            st = drop_outlinks(f, &done[i], why, wall_ms);
        for (size_t k = 0; why == REASON_NONE && k < done[i].outlink_count;
             k++) {
            open_scope(f, &done[i].outlinks[k]);
            (*list)[at++] =
                (struct admission){.item = &done[i].outlinks[k],
                                   .via = done[i].id,
                                   .on_level = page != NULL &&
                                               done[i].outlinks[k].depth ==
                                                   page->lease.depth,
                                   .spiral = spiral,
                                   .is_kept = page != NULL && page->has_same};
        }
    }
    *count = at;
    return st;
}

/* What one call of frontier_ack works on. */
struct ack {
    struct url_done *done;
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

/* Are all links of the page, or of this part of it, among links[0..n), but for
 * those that its crawl would never take? */
static bool has_all_links(const struct url_done *d,
                          const struct admission *links, size_t n)
{
    bool all = (d->partial || d->outcome.status == OUTCOME_FETCHED) &&
               d->over == 0 && d->outlink_count == n;

    for (size_t i = 0; all && i < d->drop_count; i++)
        all = (ALWAYS_DROPPED >> d->drops[i].reason & 1) != 0;
    for (size_t i = 0; all && i < n; i++)
        all = !links[i].blocked && links[i].id != 0;
    return all;
}

/* Is it a 304 to a page of this crawl? Its links are rows already. */
static bool stands_for_own(const struct url_done *d,
                           const struct lease_record *l)
{
    return outcome_is_not_modified(d->outcome) && l->lease.last.past_url == 0;
}

/* Its rows are shared unless the head of the 304 has links of its own. */
static bool brings_links(const struct url_done *d, const struct lease_record *l)
{
    return !stands_for_own(d, l) || d->outlink_count + d->drop_count > 0;
}

/* A drop that names its page, for all links past a limit, is no link. */
static bool is_recorded(const struct url_drop *d)
{
    return (REASONS_RECORDED >> d->reason & 1) != 0 &&
           (d->whole || d->reason != REASON_LINK_COUNT) && d->url.len > 0 &&
           d->url.len <= LINK_DROPPED_MOST;
}

static void record_link(struct frontier *f, struct link_row row,
                        const struct link_label *label)
{
    bool full = link_store_is_full(f->links);

    if (full && row.to == 0)
        return;
    if (label != NULL && !full) {
        row.said.rel = label->rel;
        row.said.text = label->text;
    }
    link_store_add(f->links, &row);
}

/* Those that are in, and then those that are not. */
static void record_found(struct frontier *f, const struct url_done *d,
                         const struct admission *links, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!links[i].blocked)
            record_link(f,
                        (struct link_row){.from = d->id,
                                          .to = links[i].id,
                                          .kind = links[i].item->kind},
                        links[i].item->label);
    for (size_t i = 0; i < d->drop_count; i++)
        if (is_recorded(&d->drops[i]))
            record_link(f,
                        (struct link_row){
                            .from = d->id,
                            .kind = d->drops[i].kind,
                            .said = {.reason = (uint8_t)d->drops[i].reason,
                                     .dropped = d->drops[i].url}},
                        d->drops[i].label);
}

#define COPIED_MOST ((size_t)16 << 20) /* of the URLs of dropped links */

/* Links that are rows already, and become rows of this fetch. */
struct copying {
    struct frontier *f;
    uint32_t replaced; /* kinds that are left out */
    size_t octets;
    bool partial;
};

static void copy_row(void *ctx, const struct link_row *row)
{
    struct copying *c = ctx;

    if ((c->replaced >> row->kind & 1) != 0)
        return;
    c->octets += row->said.dropped.len;
    if (row->to != 0 || c->octets <= COPIED_MOST)
        link_store_add(c->f->links, row);
    else
        c->partial = true;
}

static enum status copy_rows(struct copying *c, const struct link_range *rows)
{
    c->partial |= rows->partial;
    return link_store_each_in(c->f->links, rows, copy_row, c);
}

/* The links that the page had before, but for those that the head of the 304
 * replaces. */
static enum status copy_last(struct copying *c, const struct url_done *d,
                             const struct lease_record *l)
{
    struct link_range rows;
    enum status st = link_store_page(c->f->links, l->lease.last.seq, &rows);

    if (st == STATUS_NOT_FOUND) {
        c->partial = true;
        return STATUS_OK;
    }
    c->replaced = frontier_head_kinds_of(c->f, d);
    st = st == STATUS_OK ? copy_rows(c, &rows) : st;
    c->replaced = 0;
    return st;
}

static void note_part(struct lease_record *l, const struct link_range *rows)
{
    l->parts = xrealloc(l->parts, (l->part_count + 1) * sizeof *l->parts);
    l->parts[l->part_count++] = *rows;
}

/* Their links are in the list of the fetch by now. */
static enum status drop_parts(struct frontier *f, struct lease_record *l)
{
    enum status st = STATUS_OK;

    for (size_t i = 0; st == STATUS_OK && i < l->part_count; i++)
        st = link_store_drop(f->links, &l->parts[i]);
    free(l->parts);
    l->parts = NULL;
    l->part_count = 0;
    return st;
}

/* The links of a fetch are one list, which goes when the fetch does
 * (history.h): those of parts stay apart until it has ended. */
static enum status record_page(struct frontier *f, const struct url_done *d,
                               const struct admission *links, size_t n,
                               const struct past_page *past,
                               struct link_range *rows)
{
    struct lease_record *l = lease_find(f->leases, d->id);
    struct copying c = {.f = f, .partial = !has_all_links(d, links, n)};
    const uint64_t first = link_store_next(f->links);
    enum status st = STATUS_OK;

    if (l == NULL || !brings_links(d, l))
        return STATUS_OK;
    if (stands_for_own(d, l))
        st = copy_last(&c, d, l);
    for (size_t i = 0; st == STATUS_OK && !d->partial && i < l->part_count; i++)
        st = copy_rows(&c, &l->parts[i]);
    if (st != STATUS_OK)
        return st;
    for (size_t i = 0; i < past->known_count; i++)
        record_link(f,
                    (struct link_row){.from = d->id,
                                      .to = past->known[i].to,
                                      .kind = past->known[i].kind},
                    past->known[i].label);
    record_found(f, d, links, n);
    *rows = (struct link_range){first, link_store_next(f->links) - first,
                                c.partial};
    st = link_store_end_page(f->links);
    if (d->partial)
        note_part(l, rows);
    else if (st == STATUS_OK)
        st = drop_parts(f, l);
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

/* Those of the page's links that lead so far. */
static enum status add_paths(struct frontier *f, uint64_t page,
                             enum path_step step, const struct admission *list,
                             size_t n)
{
    uint64_t *ids = xmalloc((n + 1) * sizeof *ids);
    size_t count = 0;
    enum status st;

    for (size_t i = 0; i < n; i++)
        if (!list[i].blocked && list[i].id != 0 &&
            frontier_step(list[i].on_level, list[i].item->hops) == step)
            ids[count++] = list[i].id;
    st = path_log_add(f->path_log, page, step, ids, count);
    free(ids);
    return st;
}

static enum status record_paths(struct frontier *f, const struct url_done *done,
                                const struct admission *list, size_t n)
{
    const struct lease_record *page = lease_find(f->leases, done->id);
    enum status st = STATUS_OK;

    if (page == NULL || page->has_same || n == 0)
        return STATUS_OK;
    for (unsigned s = 0; st == STATUS_OK && s < PATH_STEPS_; s++)
        st = add_paths(f, done->id, (enum path_step)s, list, n);
    return st;
}

static struct ack ack_new(struct url_done *done, size_t n)
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
        st = frontier_admit(f, a->list, a->total, all_ids, wall_ms);
    for (size_t i = 0; st == STATUS_OK && i < a->n; i++)
        frontier_past_admitted(f, &a->past[i], a->list + a->first[i],
                               a->first[i + 1] - a->first[i]);
    return st;
}

static enum status settle(struct frontier *f, const struct ack *a, size_t i,
                          int64_t now, int64_t wall_ms)
{
    struct url_done *d = &a->done[i];
    enum status st;

    count_links(f, d);
    st = frontier_budget_links(f, d, now, wall_ms);
    if (st != STATUS_OK)
        return st;
    if (d->partial)
        return frontier_take_drops(f, d, wall_ms);
    return frontier_settle_page(f, d, a->list + a->first[i],
                                a->first[i + 1] - a->first[i], &a->rows[i], now,
                                wall_ms);
}

enum status frontier_ack(struct frontier *f, struct url_done *done, size_t n,
                         int64_t now, int64_t wall_ms)
{
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
                                     int64_t not_before, struct host_news *news,
                                     int64_t now, int64_t wall_ms)
{
    struct host_queue *h = l->host;
    enum status st = STATUS_OK;

    if (news->robots_host.len > 0 && host_orders(h)->cross_to == 0) {
        st = frontier_cross_host_ask(f, h, l->lease.id, news->robots_host);
        if (host_orders(h)->cross_to != 0) {
            frontier_refresh_begin_cross(f, h, l->lease.id);
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

enum status frontier_release(struct frontier *f, uint64_t id,
                             int64_t not_before, const struct host_news *host,
                             int64_t now, int64_t wall_ms)
{
    struct lease_record *l = lease_find(f->leases, id);
    struct host_news news = {.retry_after_ms = -1};
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
    if (st == STATUS_OK && url_life_after(l->life, LIFE_GIVE_BACK) == LIFE_DUE)
        st = give_back_refresh(f, l, not_before, &news, now, wall_ms);
    else
        host_queue_retry(h, id, frontier_is_removed(h, id) ? 0 : not_before);
    lease_end(f->leases, l);
    if (st == STATUS_OK && host != NULL)
        st = frontier_host_news(f, h, &news, now, wall_ms);
    if (st == STATUS_OK && host != NULL)
        st = frontier_settle_reach(f, h, host,
                                   (struct outcome){.status = OUTCOME_QUEUED},
                                   now, wall_ms);
    if (st == STATUS_OK && news.robots_host.len > 0)
        st = frontier_cross_host_ask(f, h, id, news.robots_host);
    frontier_reschedule(f, h);
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}
