/*
 * refresh_rule.h - when a URL is fetched again.
 *
 *   the outcome of a lease                      ends it by (url_view.h)
 *   final, and refresh is off                   LIFE_END
 *   final, and may have another one later       LIFE_DATE, an interval later
 *   404 or 410, the first and the second time   LIFE_DATE, later each time
 *   404 or 410 for the third time in a row      LIFE_MISS
 *   skipped: a setting keeps it out             LIFE_END
 *
 * The interval is a fixed one, or goes by how often the page has changed. This
 * part knows no store and no clock.
 */
#ifndef URLWEIR_FRONTIER_CRAWL_REFRESH_RULE_H
#define URLWEIR_FRONTIER_CRAWL_REFRESH_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "frontier/outcome.h"
#include "frontier/url_view.h"

/*
 * Rates of change: how often a page changes, and when it is worth a request.
 *
 * Pages are taken to change by a Poisson process, at a rate of their own. Each
 * fetch but the first tells only whether there was a change since the one
 * before; changes in between that took each other's place are not seen, so the
 * naive rate, changes over time, is too low (Cho and Garcia-Molina 2003,
 * "Estimating frequency of change"). Fetches are irregular here. So each is a
 * step of Fisher scoring on the likelihood of that one observation, with the
 * information of the earlier ones as the weight of what is known. Old
 * information fades, so that a page may change its habits. Two numbers a URL.
 */
/* What becomes `known` of a URL by a fetch that found the page `changed` or
 * not, `gap_ms` > 0 after the one before: its rate and the weight of that, in
 * 63 bits as table `refresh` keeps them. 0: nothing is known. `first`: the
 * rate, in changes a millisecond, above 0, that is assumed of such a URL. Any
 * `known` of 63 bits is taken. */
uint64_t refresh_rate_note(uint64_t known, double first, int64_t gap_ms,
                           bool changed);

/* Did fetches tell? False of a guess, and of nothing. */
bool refresh_rate_is_told(uint64_t known);

/* In changes a millisecond. */
double refresh_rate(uint64_t known, double first);

/* The part of the time that a copy of a page with this rate is up to date if it
 * is taken anew every `ms`: 0 to 1. */
double refresh_freshness(double rate, double ms);

/* The time between two fetches, in ms, from which on the next one brings less
 * than `price_ms` of up-to-date time; INFINITY: each does. 0 for a price of 0.
 * If it is the same price for all pages, no schedule with as many requests
 * keeps more of them up to date (Cho and Garcia-Molina 2003, "Effective page
 * refresh policies for web crawlers", section 4). */
double refresh_worth(double rate, double price_ms);

#define REFRESH_ABSENT_MOST 3 /* fetches without a page, then it is gone */

#define REFRESH_ADAPTIVE    (-1) /* as every_ms */
#define REFRESH_FRESH_MOST  8

struct refresh_rules {
    int64_t every_ms; /* 0: no URL gets a date from its outcome */
    int64_t min_ms;   /* of REFRESH_ADAPTIVE, and of what a person asks for
                         without more; 1 or more */
    int64_t max_ms;   /* of REFRESH_ADAPTIVE; at least min_ms */
    uint32_t lists; /* kinds of links to lists of URLs, 1 << kind: they have the
                       news, and are asked once a day at least */
    double share; /* of a host's requests, while it has new URLs too: 0 to 1 */
    unsigned keep_history; /* fetches of each URL that stay; 0: all */
};

/* What the fetches of a URL have said so far. */
struct refresh_past {
    uint64_t known;  /* refresh_rule.h */
    uint32_t absent; /* consecutive ones that found no page */
    uint8_t kind;    /* of the link that it was found by */
    int64_t lag_ms;  /* how long after its date it was asked, because others
                        were before it */
};

/* Does it say what there is at the URL? An error says nothing. */
bool refresh_is_known(struct outcome o);
/* Did it find that there is no such page? */
bool refresh_is_absent(struct outcome o);

/* What is known after a fetch `gap_ms` after the one before, of two that both
 * said what there is. */
uint64_t refresh_learn(const struct refresh_rules *r, uint64_t known,
                       int64_t gap_ms, bool changed);

/* How the final outcome `o`, which `past` includes, ends the lease of a URL
 * that was asked at `at_ms`. *due_ms: of LIFE_DATE, the date; else 0. */
enum life_event refresh_end(const struct refresh_rules *r, struct outcome o,
                            const struct refresh_past *past, int64_t at_ms,
                            int64_t *due_ms);

/* The date of a URL whose last outcome is one that refresh_applies to; 0: it
 * has none. */
int64_t refresh_after(const struct refresh_rules *r,
                      const struct refresh_past *past, int64_t at_ms);

/* Whose turn is it, of a host that has new URLs and due ones? `credit`, 0 at
 * first, belongs to the host and remembers what its due URLs are owed. True:
 * that of a due one. So of any n such requests, at most share * n + 1 are
 * refreshes. */
bool refresh_has_turn(const struct refresh_rules *r, double *credit);

#endif
