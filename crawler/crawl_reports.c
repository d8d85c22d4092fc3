/* SPDX-License-Identifier: MIT */
/* crawl_reports.c - passes the fetchers' reports to the engine. */
#include "base/clock.h"
#include "base/mem.h"
#include "crawler/crawl_impl.h"
#include "crawler/sitemap_trust.h"

#define LINKS_MOST ((size_t)1 << 14) /* about, per acknowledgement */

void crawl_note_failure(struct crawl *c, enum status st)
{
    if (st == STATUS_OK || c->status != STATUS_OK)
        return;
    if (st == STATUS_NOMEM)
        mem_out(0);
    c->status = st;
    if (st == STATUS_FULL)
        c->end = CRAWL_FULL;
    else /* closed: this process has lost its shard, or its brokers */
        c->end = st == STATUS_CLOSED ? CRAWL_INTERRUPTED : CRAWL_BROKEN;
}

static void has_come_back(struct crawl *c, const struct report *r)
{
    c->out--;
    crawl_balance_ended(c->balance, r->queue, r->fetcher,
                        r->kind == REPORT_DONE ? CRAWL_BALANCE_DONE
                                               : CRAWL_BALANCE_RELEASED);
}

static void take_release(struct crawl *c, const struct report *r, int64_t now)
{
    has_come_back(c, r);
    crawl_note_failure(c, c->engine->ops->release(c->engine, r->id,
                                                  r->not_before, &r->done.host,
                                                  now, clock_wall_ms()));
}

static void record(struct crawl *c, struct report *r)
{
    if (c->o.archive != NULL && c->status == STATUS_OK)
        crawl_note_failure(c, archive_add(c->o.archive, c->engine, r->warc,
                                          r->robots_warc, &r->done.row,
                                          clock_wall_ms()));
}

/* Sifts the entries of a sitemap on other hosts. */
static void sift(struct crawl *c, struct report *r)
{
    if (c->status == STATUS_OK)
        sitemap_trust_sift(r, &c->o.fetch->rules, c->engine);
}

/* A URL returns to its queue because its robots.txt was read instead, and that
 * named sitemaps. */
static struct engine_done named_by_robots(const struct report *r)
{
    return (struct engine_done){.id = r->id,
                                .partial = true,
                                .outlinks = r->done.outlinks,
                                .outlink_count = r->done.outlink_count,
                                .drops = r->done.drops,
                                .drop_count = r->done.drop_count,
                                .over = r->done.over};
}

/* Reports acknowledged together: all that arrived, unless sitemaps bring more
 * links than one turn should take. */
struct done_batch {
    struct engine_done at[CRAWL_BATCH];
    size_t count, links;
};

/* The engine decides the outcome, but the URLs are freed by then: so answers
 * are remembered before the call and corrected after it. */
static void ack_batch(struct crawl *c, struct done_batch *b, int64_t now)
{
    uint64_t nth = c->answers;

    for (size_t i = 0; i < b->count; i++)
        if (!b->at[i].partial)
            crawl_remember(c, &b->at[i]);
    if (b->count > 0 && c->status == STATUS_OK)
        crawl_note_failure(c, c->engine->ops->ack(c->engine, b->at, b->count,
                                                  now, clock_wall_ms()));
    for (size_t i = 0; i < b->count; i++)
        if (!b->at[i].partial)
            crawl_set_outcome(c, nth++, b->at[i].outcome);
    b->count = b->links = 0;
}

static void add_done(struct crawl *c, struct done_batch *b,
                     struct engine_done done, int64_t now)
{
    if (b->links >= LINKS_MOST)
        ack_batch(c, b, now);
    b->at[b->count++] = done;
    b->links += done.outlink_count;
}

void crawl_take_reports(struct crawl *c, struct report **reports, size_t n)
{
    struct done_batch done;
    int64_t now = clock_mono();

    done.count = done.links = 0;
    for (size_t i = 0; i < n; i++) {
        record(c, reports[i]);
        crawl_heard_of(c, reports[i]);
        switch (reports[i]->kind) {
        case REPORT_DONE:
            sift(c, reports[i]);
            add_done(c, &done, reports[i]->done, now);
            has_come_back(c, reports[i]);
            break;
        case REPORT_PART:
            sift(c, reports[i]);
            add_done(c, &done, reports[i]->done, now);
            break;
        case REPORT_RELEASE:
            if (reports[i]->done.outlink_count + reports[i]->done.drop_count >
                0)
                add_done(c, &done, named_by_robots(reports[i]), now);
            take_release(c, reports[i], now);
            break;
        case REPORT_GONE:
            c->gone++;
            break;
        }
    }
    ack_batch(c, &done, now);
    for (size_t i = 0; i < n; i++)
        report_free(reports[i]);
}
