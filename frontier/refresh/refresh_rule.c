/* SPDX-License-Identifier: MIT */
/*
 * refresh_rule.c - when a URL is fetched again.
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
#include "frontier/refresh/refresh_rule.h"

#include <math.h>

#include "base/clock.h"
#include "frontier/refresh/refresh_rate.h"

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

bool refresh_applies(struct outcome o)
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

uint64_t refresh_guess_fresh(const struct refresh_rules *r, int64_t fresh_ms)
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
