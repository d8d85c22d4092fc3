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
#include <math.h>

#include "base/clock.h"
#include "frontier/crawl/refresh_rule.h"

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

uint64_t refresh_rate_guess(double rate)
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
