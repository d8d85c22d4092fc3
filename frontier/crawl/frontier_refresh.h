/*
 * frontier_refresh.h - done URLs that are fetched again at their dates, for the
 * frontier's files.
 */
#ifndef URLWEIR_FRONTIER_CRAWL_FRONTIER_REFRESH_H
#define URLWEIR_FRONTIER_CRAWL_FRONTIER_REFRESH_H

#include "frontier/crawl/frontier_impl.h"

/* ---- of frontier_refresh.c ---- */

MUST_CHECK enum status frontier_refresh_open(struct frontier *f,
                                             int64_t wall_ms);
/* Reads the first date of each queue; call it after frontier_refresh_open and
 * before the first lease. */
MUST_CHECK enum status frontier_refresh_restore(struct frontier *f);
void frontier_refresh_close(struct frontier *f);
uint64_t frontier_refresh_memory(const struct frontier *f);
/* A URL was fetched for the first time: gives it a date if its outcome, and the
 * rules, say so. `fresh_ms`: as in url_done. */
MUST_CHECK enum status frontier_refresh_date(struct frontier *f, uint32_t queue,
                                             uint8_t kind,
                                             const struct fetch_row *row,
                                             struct outcome o,
                                             int64_t fresh_ms);
/* Gives a URL that has none a date, takes it away, or changes it. */
MUST_CHECK enum status frontier_refresh_add(struct frontier *f,
                                            const struct refresh_row *row);
MUST_CHECK enum status frontier_refresh_drop(struct frontier *f,
                                             const struct refresh_row *row);
MUST_CHECK enum status frontier_refresh_move(struct frontier *f,
                                             const struct refresh_row *row,
                                             const struct refresh_row *to);
/* Wakes hosts with dates that have come. */
void frontier_refresh_wake(struct frontier *f, int64_t now, int64_t wall_ms);
/* When the next host is to be woken; INT64_MAX: none is. */
int64_t frontier_refresh_due(const struct frontier *f, int64_t now);
/* Do all dates belong to hosts that are not asked again in this run? */
bool frontier_refresh_is_given_up(const struct frontier *f);
/* Hosts with dates that have come, as far as known: 0 only if there is none. */
uint64_t frontier_refresh_waiting(const struct frontier *f);
/* Has the URL come back under another id, as one that was tried again? The
 * row's text must be there. */
MUST_CHECK enum status frontier_refresh_replaced(struct frontier *f,
                                                 const struct url_row *row,
                                                 bool *replaced);
/* What the URL is, which has a date. */
enum url_life frontier_refresh_life(const struct frontier *f, uint64_t url);
/* This run does not ask the host any more, for now: it is given up, or over the
 * limit that a person has set. */
bool frontier_refresh_is_held(const struct host_queue *h);
/* The limit of the host was raised or lifted. */
void frontier_refresh_unhold(struct frontier *f, struct host_queue *h);
/* Leases the host's URL that is due first, or URL `id` if it is not 0;
 * *out = NULL: none is due, or it is not wanted any more. */
MUST_CHECK enum status frontier_refresh_lease(struct frontier *f,
                                              struct host_queue *h, uint64_t id,
                                              int64_t now, int64_t wall_ms,
                                              struct lease_record **out);
/* Records the final outcome of a refresh, and gives the URL its next date. */
MUST_CHECK enum status frontier_refresh_settle(struct frontier *f,
                                               struct lease_record *l,
                                               struct fetch_row *row,
                                               struct outcome o);
/* It failed for now: it is due again at `due_ms`, with `tries` used up. */
MUST_CHECK enum status frontier_refresh_later(struct frontier *f,
                                              struct lease_record *l,
                                              uint32_t tries, int64_t due_ms);
/* It was not asked: it is due again `wait` ns from now. */
MUST_CHECK enum status frontier_refresh_release(struct frontier *f,
                                                struct lease_record *l,
                                                int64_t wait, int64_t wall_ms);
/* The URL, which was given back, waits among the host's retries for another
 * host's robots.txt. It stays due. */
void frontier_refresh_begin_cross(struct frontier *f, struct host_queue *h,
                                  uint64_t id);
/* The URL that waited for another host's robots.txt
 * (host_orders(h)->cross_refresh), if there is one, is among the retries no
 * more. */
void frontier_refresh_end_cross(struct frontier *f, struct host_queue *h);

/* ---- of refresh_dates.c ---- */

/* What a sitemap says of how often the URL changes, or else its response, as in
 * url_done; 0: nothing. */
MUST_CHECK enum status frontier_refresh_guess(struct frontier *f, uint64_t id,
                                              int64_t fresh_ms,
                                              uint64_t *known);
/* A sitemap says this of a URL, and it is not stored yet. */
MUST_CHECK enum status frontier_refresh_hint(struct frontier *f, uint64_t id,
                                             const struct url_hint *hint);
/* Goes on making URLs due that have changed, as sitemaps say. */
MUST_CHECK enum status frontier_refresh_hints_step(struct frontier *f,
                                                   int64_t now,
                                                   int64_t wall_ms);

/* ---- of refresh_dates.c ---- */

/* A row is about to come into the calendar, or to leave it. */
void frontier_refresh_count(struct frontier *f, const struct refresh_row *row,
                            bool added);
/* Goes on reading the calendar after a start. */
MUST_CHECK enum status frontier_refresh_count_step(struct frontier *f);
void frontier_refresh_stats(struct frontier *f, struct frontier_counts *out);

/* ---- of refresh_dates.c ---- */

/* All dates are by the --refresh in force: notes it. */
MUST_CHECK enum status frontier_redate_note(struct frontier *f);
/* Begins a pass if the dates are not by the rules in force. */
MUST_CHECK enum status frontier_redate_restore(struct frontier *f);
bool frontier_redate_is_due(const struct frontier *f);
MUST_CHECK enum status frontier_redate_step(struct frontier *f, int64_t now,
                                            int64_t wall_ms);

#endif
