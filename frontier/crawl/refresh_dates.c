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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "frontier/crawl/frontier_impl.h"
#include "frontier/crawl/refresh_rule.h"

/* Counts of dates: how many URLs are past their dates. */

#define MINUTE_MS INT64_C(60000)
#define DAY       1440 /* minutes */
#define MINUTES   ((int64_t)DUE_COUNT_DAYS * DAY)

void due_count_init(struct due_count *c, int64_t now_ms)
{
    int64_t minute = now_ms / MINUTE_MS;

    *c = (struct due_count){.base = minute - minute % DAY - MINUTES / 2,
                            .first = MINUTES};
}

void due_count_fini(struct due_count *c)
{
    for (size_t i = 0; i < DUE_COUNT_DAYS; i++)
        free(c->days[i]);
}

/* Floors a moment to the minutes that are counted. */
static int64_t minute_of(const struct due_count *c, int64_t ms)
{
    int64_t minute = ms / MINUTE_MS - c->base;

    return minute < 0 ? 0 : minute < MINUTES ? minute : MINUTES - 1;
}

static uint32_t *count_at(struct due_count *c, int64_t minute)
{
    uint32_t **day = &c->days[minute / DAY];

    if (*day == NULL) {
        *day = xcalloc(DAY, sizeof **day);
        c->allocated++;
    }
    return &(*day)[minute % DAY];
}

static uint32_t read_at(const struct due_count *c, int64_t minute)
{
    const uint32_t *day = c->days[minute / DAY];

    return day != NULL ? day[minute % DAY] : 0;
}

static void due_count_add(struct due_count *c, int64_t due_ms)
{
    int64_t minute = minute_of(c, due_ms);

    ++*count_at(c, minute);
    if (minute < c->first)
        c->first = minute;
    c->passed += minute < c->upto;
}

/* It was added before. */
static void due_count_remove(struct due_count *c, int64_t due_ms)
{
    int64_t minute = minute_of(c, due_ms);
    uint32_t *n = count_at(c, minute);

    assert(*n > 0);
    --*n;
    c->passed -= minute < c->upto;
}

/* The next minute, or the next day that has dates. */
static int64_t after(const struct due_count *c, int64_t minute)
{
    if (c->days[minute / DAY] != NULL)
        return minute + 1;
    return minute - minute % DAY + DAY;
}

/* The dates in minutes that have passed. *oldest_ms: the first of them, to the
 * minute; `now_ms` if there are none. */
static uint64_t due_count_passed(struct due_count *c, int64_t now_ms,
                                 int64_t *oldest_ms)
{
    int64_t now = minute_of(c, now_ms);

    while (c->upto > now) /* the clock was set back */
        c->passed -= read_at(c, --c->upto);
    while (c->upto < now) {
        int64_t next = after(c, c->upto);

        c->passed += read_at(c, c->upto);
        c->upto = next < now ? next : now;
    }
    while (c->first < c->upto && read_at(c, c->first) == 0)
        c->first = after(c, c->first);
    *oldest_ms = c->passed > 0 ? (c->base + c->first) * MINUTE_MS : now_ms;
    return c->passed;
}

uint64_t due_count_memory(const struct due_count *c)
{
    return c->allocated * DAY * sizeof(uint32_t);
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

#define STEP    500 /* rows in a turn */
#define HOUR_MS 3600e3

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
    st = hint_store_get(f->hints, id, &hint);
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
    st = hint_store_get(f->hints, id, &was);
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
    struct refresh_row rows[STEP];
};

static bool hints_take(void *ctx, const struct refresh_row *row)
{
    struct reading *g = ctx;

    if (row->queue != g->queue)
        return false;
    g->rows[g->n++] = *row;
    return g->n < STEP;
}

static enum status look(struct frontier *f, const struct refresh_row *row,
                        int64_t wall_ms)
{
    struct refresh_row to = *row;
    struct url_hint hint;
    enum status st = hint_store_get(f->hints, row->url, &hint);

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
    st = refresh_store_each(r->store, &r->hints_at, hints_take, g);
    if (st == STATUS_OK && g->n > 0)
        st = frontier_touch(f, now);
    for (size_t i = 0; st == STATUS_OK && i < g->n; i++)
        st = look(f, &g->rows[i], wall_ms);
    if (g->n == STEP) {
        r->hints_at = g->rows[STEP - 1];
    } else {
        r->hints_at = (struct refresh_row){.queue = 0};
        r->hinted_queues[0] = r->hinted_queues[--r->hinted];
    }
    free(g);
    return st;
}

/*
 * How many URLs are overdue, and how many copies are up to
 * date.
 *
 * What depends on the calendar alone is a counter of the store, in the
 * transaction of the row: how many dated URLs have a known rate of change, and
 * the sum of their freshness if each is asked at its date, and how many wait for
 * another try. What depends on the time is counted in memory (frontier_impl.h).
 * After a start the calendar is read for that a step at a time; rows that it has
 * not come to are not counted yet.
 */

#define COUNTS_STEP 2000  /* rows in a turn */
#define PARTS       1e6   /* the sum of freshness is in millionths */
#define LATE        60000 /* ms after its date, a URL is overdue */

/* ---- what the store counts ---- */

static uint64_t freshness_of(const struct refresh_row *row)
{
    double ms = (double)(row->due_ms - row->at_ms);

    return (uint64_t)(PARTS *
                      refresh_freshness(refresh_rate(row->known, 1), ms));
}

static void count_rate(struct frontier *f, const struct refresh_row *row,
                       bool added)
{
    uint64_t fresh;

    if (!refresh_rate_is_told(row->known))
        return;
    fresh = freshness_of(row);
    frontier_store_add(f->store, "refresh_rated", added ? 1 : UINT64_MAX);
    frontier_store_add(f->store, "refresh_fresh", added ? fresh : -fresh);
}

/* ---- what is counted in memory ---- */

/* Has the first reading of the calendar come to this row? */
static bool is_read(const struct refreshing *r, const struct refresh_row *row)
{
    const struct refresh_row *at = &r->read_upto;

    if (!r->reading)
        return true;
    if (row->queue != at->queue)
        return row->queue < at->queue;
    if (row->due_ms != at->due_ms)
        return row->due_ms < at->due_ms;
    return row->url <= at->url;
}

static bool take(void *ctx, const struct refresh_row *row)
{
    struct refreshing *r = ctx;

    due_count_add(&r->counts, row->due_ms);
    r->read_upto = *row;
    return ++r->read < COUNTS_STEP;
}

enum status frontier_refresh_count_step(struct frontier *f)
{
    struct refreshing *r = &f->refresh;
    enum status st;

    if (!r->reading)
        return STATUS_OK;
    r->read = 0;
    st = refresh_store_each(r->store, &r->read_upto, take, r);
    r->reading = st == STATUS_OK && r->read == COUNTS_STEP;
    return st;
}

void frontier_refresh_count(struct frontier *f, const struct refresh_row *row,
                            bool added)
{
    struct refreshing *r = &f->refresh;

    count_rate(f, row, added);
    if (row->tries > 0)
        frontier_store_add(f->store, "refresh_retries", added ? 1 : UINT64_MAX);
    if (!is_read(r, row))
        return;
    if (added)
        due_count_add(&r->counts, row->due_ms);
    else
        due_count_remove(&r->counts, row->due_ms);
}

void frontier_refresh_stats(struct frontier *f, struct frontier_counts *out)
{
    int64_t by = f->refresh.wall_ms - LATE, oldest;

    out->overdue = due_count_passed(&f->refresh.counts, by, &oldest);
    if (out->overdue > 0)
        out->overdue_for = (uint64_t)(by + LATE - oldest) / 1000;
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
    enum status st =
        refresh_store_each(d->f->refresh.store, &d->w->at, gather, &g);

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
    st = step(&d, STEP, now, &over);
    if (st == STATUS_OK && over) {
        st = frontier_redate_note(f);
        f->refresh.redates = false;
    }
    return st == STATUS_OK ? STATUS_OK : frontier_broke(f, st);
}
