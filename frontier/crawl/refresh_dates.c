/* SPDX-License-Identifier: MIT */
/*
 * refresh_dates.c - gives dates anew: a setting has changed, or a person asks.
 *
 * Both are one pass over the done URLs (struct refresh_walk). Those
 * with a date are met in order of the calendar. A row moved ahead of the pass
 * is met again and then stays, since its new date is the same; one moved back
 * is behind it. So every URL that had a date is known when the second part
 * begins, which goes through the fetches from the last to the first and takes
 * each URL not known yet by its latest one.
 *
 * By what rules the dates are is noted in meta.refresh when a pass has ended:
 * after a crash in between, the pass is made again.
 */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/crawl/refresh_rule.h"

/*
 * The rules: when a URL is fetched again.
 *
 * An adaptive interval is the time in which the page changes CHANGES times on
 * average, as long as the due URLs of its host are asked at their dates. If
 * they are not, there are more than requests for them, and these should go to
 * where each does most: pages that change faster than they can be followed get
 * less than their share, and those just below that more (refresh_worth). The
 * price of a request, that which makes supply and demand equal, is taken from
 * how late URLs are asked: the lag grows while the price is too low and shrinks
 * while it is too high. So there is nothing to tune, to keep or to restore, and
 * what is scarce may be the host's delay, its share, or this process.
 *
 * A lag ends, a date stands: so what a lag adds to an interval is bounded by a
 * multiple of it. PRICE and STRETCH are by simulation, of rates over 3 to 5
 * decades and from one request a change to one in a thousand: higher ones
 * oscillate where requests are scarcest, lower ones follow fast pages for
 * nothing (make bench-refresh).
 */
/*
 * How often a page changes, and when it is worth a request.
 *
 * With u the natural logarithm of the rate and x = rate * gap, an observation
 * has the score d/du log P = x / (e^x - 1) if the page has changed, else -x,
 * and the Fisher information x^2 / (e^x - 1), 0.65 at most. So a fetch long
 * after many changes moves hardly anything, and one that finds no change then
 * moves much, as it should. A bound on the step holds where the quadratic
 * approximation does not.
 *
 *   bits 32..62   (u + U_SPAN) * 2^U_BITS; it is never 0
 *   bits  0..31   weight * 2^W_BITS; 0: a guess, which weighs W_LEAST
 */
#define U_SPAN   64 /* rates from e^-64 to e^63 a millisecond */
#define U_BITS   24
#define W_BITS   24
#define W_LEAST  0.5  /* of what is assumed: less than one good observation */
#define KEPT     0.95 /* of the weight, at each fetch: the last 20 count */
#define STEP     1.5
#define X_MOST   50 /* e^x is far above what matters */
#define U_LEAST  (-60.0)
#define U_MOST   60.0
#define WORTH_LO 1e-6
#define WORTH_HI 60.0

struct belief {
    double u, weight;
};

bool refresh_rate_is_told(uint64_t known)
{
    return (known & UINT32_MAX) != 0;
}

static double between(double low, double v, double high)
{
    return v < low ? low : v > high ? high : v;
}

static struct belief unpack(uint64_t known, double first)
{
    struct belief b = {between(U_LEAST, log(first), U_MOST), W_LEAST};

    if (known >> 32 != 0) {
        b.u = (double)(known >> 32) / (1 << U_BITS) - U_SPAN;
        if (refresh_rate_is_told(known))
            b.weight = (double)(known & UINT32_MAX) / (1 << W_BITS);
    }
    return b;
}

static uint64_t pack(const struct belief *b)
{
    uint64_t u = (uint64_t)((b->u + U_SPAN) * (1 << U_BITS));

    return u << 32 | (uint64_t)(b->weight * (1 << W_BITS));
}

uint64_t refresh_rate_note(uint64_t known, double first, int64_t gap_ms,
                           bool changed)
{
    struct belief b = unpack(known, first);
    double x = between(1e-12, exp(b.u) * (double)gap_ms, X_MOST);
    double odds = expm1(x);
    double score = changed ? x / odds : -x;

    b.weight = between(W_LEAST, b.weight * KEPT + x * x / odds, 64);
    b.u += between(-STEP, score / b.weight, STEP);
    b.u = between(U_LEAST, b.u, U_MOST);
    return pack(&b);
}

/* What is known of a URL that somebody says to have this rate: less than what
 * one good fetch tells. */
static uint64_t refresh_rate_guess(double rate)
{
    const struct belief b = {unpack(0, rate).u, 0};

    return pack(&b);
}

double refresh_rate(uint64_t known, double first)
{
    return exp(unpack(known, first).u);
}

double refresh_freshness(double rate, double ms)
{
    double x = rate * ms;

    return x < 1e-9 ? 1 : -expm1(-x) / x;
}

/* The time that one more request at x = rate * interval brings, times the rate:
 * the derivative of freshness by the frequency of requests. Rises from 0 to 1.
 */
static double marginal(double x)
{
    return -expm1(-x) - x * exp(-x);
}

double refresh_worth(double rate, double price_ms)
{
    double low = WORTH_LO, high = WORTH_HI, y = rate * price_ms;

    if (y <= 0)
        return 0;
    if (y >= marginal(WORTH_HI))
        return INFINITY;
    for (int i = 0; i < 40; i++) { /* bisection of the logarithm: 1e-11 */
        double x = sqrt(low * high);

        *(marginal(x) < y ? &low : &high) = x;
    }
    return low / rate;
}

#define CHANGES 0.2 /* a copy is up to date for 91 % of the time */
#define PRICE   0.5 /* of the lag */
#define STRETCH 20  /* of the lag */
#define DAY_MS  INT64_C(86400000)

/* Skipped for what its server responded, which may be something else later. */
static bool is_skipped_by_response(struct outcome o)
{
    return o.status == OUTCOME_SKIPPED &&
           (o.reason == REASON_NO_SITEMAP || o.reason == REASON_NOINDEX ||
            o.reason == REASON_MIME);
}

/* Can the URL have another outcome later, without a change of settings? */
static bool refresh_applies(struct outcome o)
{
    return refresh_is_known(o) || o.status == OUTCOME_FAILED ||
           o.status == OUTCOME_DENIED;
}

bool refresh_is_known(struct outcome o)
{
    return o.status == OUTCOME_FETCHED || o.status == OUTCOME_REDIRECT ||
           is_skipped_by_response(o) || refresh_is_absent(o);
}

bool refresh_is_absent(struct outcome o)
{
    return (o.status == OUTCOME_SKIPPED && o.reason == REASON_NO_SITEMAP) ||
           (o.status == OUTCOME_FAILED && o.reason == REASON_HTTP &&
            (o.http_status == 404 || o.http_status == 410));
}

/* The first interval is between the bounds: their geometric mean. */
static double first_rate(const struct refresh_rules *r)
{
    return CHANGES / sqrt((double)r->min_ms * (double)r->max_ms);
}

/* What is assumed of a URL whose server says that its response stays fresh for
 * this time, above 0: that is its interval, within a factor of
 * REFRESH_FRESH_MOST of the one it would have. Such times are often set for a
 * whole site, by what caches shall do, so more is not believed. */
static uint64_t refresh_guess_fresh(const struct refresh_rules *r,
                                    int64_t fresh_ms)
{
    double rate = first_rate(r), ms = CHANGES / rate;

    if ((double)fresh_ms > REFRESH_FRESH_MOST * ms)
        rate /= REFRESH_FRESH_MOST;
    else if ((double)fresh_ms * REFRESH_FRESH_MOST < ms)
        rate *= REFRESH_FRESH_MOST;
    else
        rate = CHANGES / (double)fresh_ms;
    return refresh_rate_guess(rate);
}

uint64_t refresh_learn(const struct refresh_rules *r, uint64_t known,
                       int64_t gap_ms, bool changed)
{
    return gap_ms > 0 ? refresh_rate_note(known, first_rate(r), gap_ms, changed)
                      : known;
}

static int64_t adaptive(const struct refresh_rules *r,
                        const struct refresh_past *past)
{
    double rate = refresh_rate(past->known, first_rate(r));
    double lag = (double)past->lag_ms, least = CHANGES / rate;
    double ms = refresh_worth(rate, PRICE * lag);

    if (ms > STRETCH * lag)
        ms = STRETCH * lag;
    if (ms < least)
        ms = least;
    ms -= lag; /* it will be as late again */
    if (ms >= (double)r->max_ms)
        return r->max_ms;
    return ms <= (double)r->min_ms ? r->min_ms : (int64_t)(ms + 0.5);
}

int64_t refresh_after(const struct refresh_rules *r,
                      const struct refresh_past *past, int64_t at_ms)
{
    int64_t ms = r->every_ms;

    if (ms == 0 || past->absent >= REFRESH_ABSENT_MOST)
        return 0;
    if (ms == REFRESH_ADAPTIVE)
        ms = adaptive(r, past);
    if ((r->lists >> past->kind & 1) != 0 && ms > DAY_MS)
        ms = r->every_ms == REFRESH_ADAPTIVE ? clock_later(DAY_MS, r->min_ms)
                                             : DAY_MS;
    return at_ms + (past->absent > 0 ? ms << (past->absent - 1) : ms);
}

enum life_event refresh_end(const struct refresh_rules *r, struct outcome o,
                            const struct refresh_past *past, int64_t at_ms,
                            int64_t *due_ms)
{
    *due_ms = refresh_applies(o) ? refresh_after(r, past, at_ms) : 0;
    if (past->absent >= REFRESH_ABSENT_MOST)
        return LIFE_MISS;
    return *due_ms != 0 ? LIFE_DATE : LIFE_END;
}

bool refresh_has_turn(const struct refresh_rules *r, double *credit)
{
    *credit += r->share;
    if (*credit < 1)
        return false;
    *credit -= 1;
    return true;
}

/*
 * What sitemaps and servers say of when URLs change.
 *
 * <changefreq> is what is assumed of a URL until its fetches say more; without
 * it, how long the response stays fresh by its Cache-Control or Expires. A
 * <lastmod> after the last fetch makes the URL due; since the calendar is in
 * order of queue and date, and names no URL that one could look for, the rows
 * of its queue are read, a step at a time, once for all such URLs that a
 * sitemap lists. Which queues are to be read is in memory alone, and not of
 * many: a hint that is lost leaves the URL its own date.
 *
 * The request is then made without conditions (frontier_find_last). A lastmod
 * in the future is no date of a change.
 */

#define DATES_STEP 500 /* rows in a turn */
#define HOUR_MS    3600e3

/* Mean time between changes; 0: not said. */
static double ms_of(enum url_changefreq f)
{
    static const double hours[CHANGEFREQ_COUNT_] = {
        [CHANGEFREQ_ALWAYS] = 1,        [CHANGEFREQ_HOURLY] = 1,
        [CHANGEFREQ_DAILY] = 24,        [CHANGEFREQ_WEEKLY] = 7 * 24,
        [CHANGEFREQ_MONTHLY] = 30 * 24, [CHANGEFREQ_YEARLY] = 365 * 24,
        [CHANGEFREQ_NEVER] = 3650 * 24,
    };

    return f < CHANGEFREQ_COUNT_ ? hours[f] * HOUR_MS : 0;
}

enum status frontier_refresh_guess(struct frontier *f, uint64_t id,
                                   int64_t fresh_ms, uint64_t *known)
{
    struct url_hint hint = {0};
    enum status st = STATUS_OK;
    double ms;

    *known = 0;
    if (f->o.refresh.every_ms == 0)
        return STATUS_OK;
    st = hint_store_get(f->base->db, id, &hint);
    ms = ms_of((enum url_changefreq)hint.changefreq);
    if (st == STATUS_OK && ms > 0)
        *known = refresh_rate_guess(1 / ms);
    else if (fresh_ms > 0)
        *known = refresh_guess_fresh(&f->o.refresh, fresh_ms);
    return st == STATUS_NOT_FOUND ? STATUS_OK : st;
}

static void flag(struct refreshing *r, uint32_t queue)
{
    for (unsigned i = 0; i < r->hinted; i++)
        if (r->hinted_queues[i] == queue && (i > 0 || r->hints_at.url == 0))
            return;
    if (r->hinted < REFRESH_HINTED_MOST)
        r->hinted_queues[r->hinted++] = queue;
}

enum status frontier_refresh_hint(struct frontier *f, uint64_t id,
                                  const struct url_hint *hint)
{
    struct url_hint was = {.lastmod_ms = HINT_NO_LASTMOD};
    struct url_row row;
    enum status st;

    if (f->o.refresh.every_ms == 0 || hint->lastmod_ms == HINT_NO_LASTMOD ||
        !frontier_store_is_done(f->store, id))
        return STATUS_OK;
    st = hint_store_get(f->base->db, id, &was);
    if (st != STATUS_NOT_FOUND &&
        (st != STATUS_OK || was.lastmod_ms >= hint->lastmod_ms))
        return st;
    st = frontier_store_get(f->store, id, &row, &f->text);
    if (st == STATUS_OK)
        flag(&f->refresh, row.queue);
    return st;
}

/* ---- the calendar of a queue ---- */

struct reading {
    uint32_t queue;
    size_t n;
    struct refresh_row rows[DATES_STEP];
};

static bool hints_take(void *ctx, const struct refresh_row *row)
{
    struct reading *g = ctx;

    if (row->queue != g->queue)
        return false;
    g->rows[g->n++] = *row;
    return g->n < DATES_STEP;
}

static enum status look(struct frontier *f, const struct refresh_row *row,
                        int64_t wall_ms)
{
    struct refresh_row to = *row;
    struct url_hint hint;
    enum status st = hint_store_get(f->base->db, row->url, &hint);

    to.due_ms = clock_later(row->at_ms + f->o.refresh.min_ms, wall_ms);
    if (st != STATUS_OK || hint.lastmod_ms == HINT_NO_LASTMOD ||
        hint.lastmod_ms <= row->at_ms || hint.lastmod_ms > wall_ms ||
        to.due_ms >= row->due_ms || row->tries > 0 ||
        url_life_after(frontier_refresh_life(f, row->url), LIFE_ASK) ==
            LIFE_NONE)
        return st == STATUS_NOT_FOUND ? STATUS_OK : st;
    return frontier_refresh_move(f, row, &to);
}

enum status frontier_refresh_hints_step(struct frontier *f, int64_t now,
                                        int64_t wall_ms)
{
    struct refreshing *r = &f->refresh;
    struct reading *g;
    enum status st;

    if (r->hinted == 0)
        return STATUS_OK;
    g = xcalloc(1, sizeof *g);
    g->queue = r->hinted_queues[0];
    if (r->hints_at.url == 0)
        r->hints_at = (struct refresh_row){.queue = g->queue};
    st = refresh_store_each(f->base->db, &r->hints_at, hints_take, g);
    if (st == STATUS_OK && g->n > 0)
        st = frontier_touch(f, now);
    for (size_t i = 0; st == STATUS_OK && i < g->n; i++)
        st = look(f, &g->rows[i], wall_ms);
    if (g->n == DATES_STEP) {
        r->hints_at = g->rows[DATES_STEP - 1];
    } else {
        r->hints_at = (struct refresh_row){.queue = 0};
        r->hinted_queues[0] = r->hinted_queues[--r->hinted];
    }
    free(g);
    return st;
}

#define MARK "refresh"

struct redating {
    struct frontier *f;
    struct refresh_walk *w;
    const struct refresh_request *asked; /* NULL: --refresh has changed */
    uint32_t queue;                      /* of `asked`, 0: all */
    int64_t wall_ms;
    uint64_t changed;
};

/* ---- decisions ---- */

static int64_t asked_date(const struct redating *d, int64_t at_ms)
{
    int64_t least = at_ms + d->f->o.refresh.min_ms;

    return d->asked->now || least < d->wall_ms ? d->wall_ms : least;
}

/* `seq`: its last fetch. */
static enum status is_asked(struct redating *d, uint64_t url, uint64_t seq,
                            bool *yes)
{
    int64_t found_at;
    enum status st = STATUS_OK;

    *yes = true;
    if (d->asked != NULL && d->asked->is_lost != NULL)
        st = page_store_is_lost(d->f->pages, seq, yes);
    if (st != STATUS_OK || !*yes || d->asked == NULL || d->asked->wants == NULL)
        return st;
    st = frontier_store_get_url(d->f->store, url, &d->f->text, &found_at);
    *yes = st == STATUS_OK &&
           d->asked->wants(d->asked->ctx, buf_bytes(&d->f->text));
    return st;
}

/* False: the URL was met before. */
static bool meet(struct refresh_walk *w, uint64_t id)
{
    unsigned char bit = (unsigned char)(1 << (id & 7));
    bool fresh;

    if (id > w->ids)
        return false;
    fresh = (w->seen[id >> 3] & bit) == 0;
    w->seen[id >> 3] |= bit;
    return fresh;
}

/* ---- URLs with a date ---- */

static enum status redate(struct redating *d, const struct refresh_row *row)
{
    const struct refresh_rules *r = &d->f->o.refresh;
    struct refresh_past past = {.known = row->known, .absent = row->absent};
    struct refresh_row to = *row;
    struct url_row url;
    bool yes;
    enum status st = is_asked(d, row->url, row->seq, &yes);

    (void)meet(d->w, row->url);
    if (st != STATUS_OK || !yes || row->tries > 0 ||
        url_life_after(frontier_refresh_life(d->f, row->url), LIFE_ASK) ==
            LIFE_NONE)
        return st;
    if (d->asked != NULL) {
        to.due_ms = asked_date(d, row->at_ms);
    } else {
        st = frontier_store_get(d->f->store, row->url, &url, &d->f->text);
        if (st != STATUS_OK)
            return st;
        past.kind = url.kind;
        to.due_ms = refresh_after(r, &past, row->at_ms);
    }
    if (to.due_ms == row->due_ms ||
        (d->asked != NULL && to.due_ms > row->due_ms))
        return STATUS_OK;
    d->changed++;
    return to.due_ms == 0 ? frontier_refresh_drop(d->f, row)
                          : frontier_refresh_move(d->f, row, &to);
}

struct gathering {
    struct refresh_row *rows;
    size_t n, most;
};

static bool gather(void *ctx, const struct refresh_row *row)
{
    struct gathering *g = ctx;

    g->rows[g->n++] = *row;
    return g->n < g->most;
}

static enum status first_part(struct redating *d, size_t most)
{
    struct gathering g = {xcalloc(most, sizeof *g.rows), 0, most};
    enum status st = refresh_store_each(d->f->base->db, &d->w->at, gather, &g);

    d->w->second = g.n < most;
    for (size_t i = 0; st == STATUS_OK && i < g.n; i++) {
        d->w->at = g.rows[i];
        if (d->queue != 0 && g.rows[i].queue != d->queue) {
            d->w->second = true; /* its queue is at its end */
            break;
        }
        st = redate(d, &g.rows[i]);
    }
    if (d->w->second)
        d->w->below = page_store_last_seq(d->f->pages) + 1;
    free(g.rows);
    return st;
}

/* ---- URLs without one ---- */

struct finals {
    struct final_fetch *rows;
    size_t n;
};

static void take_final(void *ctx, const struct final_fetch *row)
{
    struct finals *l = ctx;

    l->rows[l->n++] = *row;
}

static enum status date(struct redating *d, const struct final_fetch *last)
{
    struct frontier *f = d->f;
    const struct outcome o = {(enum outcome_status)last->status,
                              (enum outcome_reason)last->reason,
                              last->http_status};
    struct refresh_row to = {.url = last->url,
                             .seq = last->seq,
                             .at_ms = last->at_ms,
                             .absent = refresh_is_absent(o)};
    struct refresh_past past = {.absent = to.absent};
    struct url_row row;
    bool yes, replaced = false;
    enum status st;

    if (!meet(d->w, last->url) || !refresh_applies(o))
        return STATUS_OK;
    st = frontier_store_get(f->store, last->url, &row, &f->text);
    if (st != STATUS_OK || (d->queue != 0 && row.queue != d->queue))
        return st;
    to.queue = row.queue;
    past.kind = row.kind;
    st = frontier_refresh_guess(f, row.id, 0, &to.known);
    past.known = to.known;
    to.due_ms = d->asked != NULL
                    ? asked_date(d, to.at_ms)
                    : refresh_after(&f->o.refresh, &past, to.at_ms);
    if (st == STATUS_OK)
        st = frontier_refresh_replaced(f, &row, &replaced);
    if (st == STATUS_OK)
        st = is_asked(d, last->url, last->seq, &yes);
    if (st != STATUS_OK || !yes || replaced || to.due_ms == 0)
        return st;
    d->changed++;
    return frontier_refresh_add(f, &to);
}

static enum status second_part(struct redating *d, size_t most, bool *over)
{
    struct finals l = {xcalloc(most, sizeof *l.rows), 0};
    enum status st = page_store_finals_before(d->f->pages, d->w->below, most,
                                              take_final, &l);

    *over = l.n < most;
    for (size_t i = 0; st == STATUS_OK && i < l.n; i++) {
        d->w->below = l.rows[i].seq;
        st = date(d, &l.rows[i]);
    }
    free(l.rows);
    return st;
}

/* ---- a step ---- */

static enum status lose_records(struct redating *d, size_t most)
{
    return page_store_lose_records(d->f->pages, &d->w->searched_upto, most,
                                   d->asked->is_lost, d->asked->records,
                                   &d->w->searched);
}

static enum status step(struct redating *d, size_t most, int64_t now,
                        bool *over)
{
    struct refresh_walk *w = d->w;
    enum status st = frontier_touch(d->f, now);

    *over = false;
    if (!w->begun) {
        w->begun = true;
        w->ids = frontier_store_last_id(d->f->store);
        w->seen = xcalloc(w->ids / 8 + 1, 1);
        w->at = (struct refresh_row){.queue = d->queue};
        w->searched = d->asked == NULL || d->asked->is_lost == NULL;
    }
    if (st == STATUS_OK && d->asked != NULL && !w->searched)
        return lose_records(d, most);
    if (st == STATUS_OK && !w->second)
        return first_part(d, most);
    if (st == STATUS_OK && d->asked == NULL && d->f->o.refresh.every_ms == 0)
        *over = true; /* no URL gets one */
    else if (st == STATUS_OK)
        st = second_part(d, most, over);
    if (*over) {
        free(w->seen);
        w->seen = NULL;
    }
    return st;
}

enum status frontier_refresh_urls(struct frontier *f, struct refresh_request *q,
                                  size_t most, int64_t now, int64_t wall_ms,
                                  bool *over)
{
    struct redating d = {.f = f, .w = &q->walk, .asked = q, .wall_ms = wall_ms};
    enum status st;

    *over = q->host.len > 0;
    if (q->host.len > 0)
        d.queue = frontier_store_find_queue(f->store, f->o.crawl, q->host);
    if (q->host.len > 0 && d.queue == 0)
        return STATUS_OK;
    *over = false;
    if (frontier_redate_is_due(f))
        return STATUS_OK; /* after that */
    st = step(&d, most, now, over);
    q->dated += d.changed;
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}

/* ---- --refresh has changed ---- */

bool frontier_redate_is_due(const struct frontier *f)
{
    return f->refresh.redates;
}

/* The rules that all dates depend on; the rest applies from now on. */
static void write_mark(const struct refresh_rules *r, char mark[80])
{
    if (r->every_ms == REFRESH_ADAPTIVE)
        snprintf(mark, 80, "adaptive %lld %lld", (long long)r->min_ms,
                 (long long)r->max_ms);
    else
        snprintf(mark, 80, "%lld", (long long)r->every_ms);
}

static void begin(struct frontier *f)
{
    free(f->refresh.walk.seen);
    f->refresh.walk = (struct refresh_walk){.begun = false};
    f->refresh.redates = true;
}

enum status frontier_redate_note(struct frontier *f)
{
    char mark[80];
    enum status st = frontier_touch(f, INT64_MIN); /* it has no hurry */

    write_mark(&f->o.refresh, mark);
    return st == STATUS_OK
               ? frontier_store_set_meta(f->store, MARK, bytes_of_str(mark))
               : st;
}

enum status frontier_redate_restore(struct frontier *f)
{
    char mark[80];
    struct buf noted;
    enum status st;

    write_mark(&f->o.refresh, mark);
    buf_init(&noted, sizeof mark);
    st = frontier_store_meta(f->store, MARK, &noted);
    if (st == STATUS_NOT_FOUND && f->o.refresh.every_ms == 0)
        st = STATUS_OK; /* no URL has one, and none shall */
    else if (st == STATUS_NOT_FOUND || st == STATUS_LIMIT ||
             (st == STATUS_OK && !bytes_is(buf_bytes(&noted), mark))) {
        begin(f);
        st = STATUS_OK;
    }
    buf_fini(&noted);
    return st;
}

void frontier_set_refresh(struct frontier *f, const struct refresh_rules *r)
{
    char was[80], is[80];

    write_mark(&f->o.refresh, was);
    write_mark(r, is);
    f->o.refresh = *r;
    if (strcmp(was, is) != 0)
        begin(f);
}

enum status frontier_redate_step(struct frontier *f, int64_t now,
                                 int64_t wall_ms)
{
    struct redating d = {.f = f, .w = &f->refresh.walk, .wall_ms = wall_ms};
    bool over = false;
    enum status st;

    if (!f->refresh.redates)
        return STATUS_OK;
    st = step(&d, DATES_STEP, now, &over);
    if (st == STATUS_OK && over) {
        st = frontier_redate_note(f);
        f->refresh.redates = false;
    }
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}
