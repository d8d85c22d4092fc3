/*
 * frontier_host.h - hosts: when one is asked, by which delays, limits, budgets
 * and politeness groups, and whether it responds; for the frontier's files.
 */
#ifndef URLWEIR_FRONTIER_CRAWL_FRONTIER_HOST_H
#define URLWEIR_FRONTIER_CRAWL_FRONTIER_HOST_H

#include "frontier/crawl/frontier_impl.h"

/* ---- of frontier_schedule.c ---- */

/* What the schedule goes by. */
struct schedule_host frontier_schedule_host(const struct host_queue *h);
/* Takes the host, and its group, out of the schedule; frontier_reschedule
 * brings both back. */
void frontier_unschedule(struct frontier *f, struct host_queue *h);
/* Puts the host in its place in the schedule. */
void frontier_reschedule(struct frontier *f, struct host_queue *h);
void frontier_reschedule_group(struct frontier *f, struct politeness_group *m);
/* The host that is due first, and when; NULL: there is none. */
struct host_queue *frontier_first_host(struct frontier *f, int64_t now,
                                       int64_t *due);
/* Must its politeness group be found before it is asked? */
bool frontier_stands_nowhere(const struct frontier *f,
                             const struct host_queue *h);
/* May it be asked again at once? */
bool frontier_has_no_delay(const struct frontier *f,
                           const struct host_queue *h);
/* Its URLs get their outcomes without a request. */
bool frontier_is_draining(const struct host_queue *h);
/* How many of its URLs may be leased at once. */
uint64_t frontier_most_leases(const struct frontier *f,
                              const struct host_queue *h);
/* When one of its done URLs may be fetched again. */
int64_t frontier_dated_due(const struct frontier *f,
                           const struct host_queue *h);

/* The options for one host: a person may have set its delay. */
struct schedule_options frontier_schedule(const struct frontier *f,
                                          const struct host_queue *h);
/* The pause of a host after a response. */
int64_t frontier_pause(struct frontier *f, const struct host_queue *h);
/* The same without chance; `h` may be NULL: of a host of which nothing is
 * known. */
int64_t frontier_usual_pause(const struct frontier *f,
                             const struct host_queue *h);

/* ---- of frontier_hosts.c, as is frontier_host ---- */

/* The queue has URLs, or more than before: puts its host in the schedule. */
void frontier_queue_grew(struct frontier *f, uint32_t queue);
/* Wakes hosts whose turn comes before all others'. */
void frontier_wake(struct frontier *f);
/* After a commit: forgets hosts that are finished, lets others rest. */
void frontier_tend_hosts(struct frontier *f, int64_t now);
/* Tells the store what hosts take of memory. */
void frontier_weigh_hosts(struct frontier *f);
uint64_t frontier_host_memory(const struct frontier *f); /* octets */
/* For a host of an earlier run whose last request is not known: assumes that it
 * was at the end of that run. */
void frontier_wait_once(struct frontier *f, struct host_queue *h);

/* ---- of frontier_lease.c ---- */

/* Leases the host's next URL; *out = NULL if it had none. */
MUST_CHECK enum status frontier_lease_from(struct frontier *f,
                                           struct host_queue *h, int64_t now,
                                           int64_t wall_ms,
                                           struct lease_record **out);
/* The same for URL `id` of this host, which must be in no queue and not
 * leased. */
MUST_CHECK enum status frontier_lease_id(struct frontier *f,
                                         struct host_queue *h, uint64_t id,
                                         int64_t now, int64_t wall_ms,
                                         struct lease_record **out);

/* Leases the URL of the row, and lets its host's delay begin. */
struct lease_record *frontier_begin_lease(
    struct frontier *f, struct host_queue *h, const struct url_row *row,
    struct bytes key, uint32_t tries, const struct url_last *last, int64_t now);
/* Do scope, traps and people still let the URL be fetched? */
bool frontier_is_wanted_again(struct frontier *f, const struct host_queue *h,
                              struct bytes key, const struct url_row *row);

/* How many of `most` URLs may be leased within the limit of pages. */
size_t frontier_pages_left(const struct frontier *f, size_t most);

/* ---- the state of a host ---- */

/* A URL of the host is done; counted only if the host has a limit. */
MUST_CHECK enum status frontier_count_done(struct frontier *f,
                                           struct host_queue *h);
/* How many more of its URLs may be done within the limit set by a person. */
uint64_t frontier_limit_left(const struct host_queue *h);
/* Adds the host to its group if that is known, else sets it aside. */
MUST_CHECK enum status frontier_find_place(struct frontier *f,
                                           struct host_queue *h);
/* Adds the host to its group if that needs no look-up. */
MUST_CHECK enum status frontier_recall_place(struct frontier *f,
                                             struct host_queue *h);
/* Its last response came from `ip`, as text: moves it to that group. */
MUST_CHECK enum status frontier_answered_from(struct frontier *f,
                                              struct host_queue *h,
                                              struct bytes ip, int64_t now);
/* Applies what a response said about its host: delays, back-off, robots. */
MUST_CHECK enum status frontier_host_news(struct frontier *f,
                                          struct host_queue *h,
                                          const struct host_news *news,
                                          int64_t now, int64_t wall_ms);
/* What a request says of whether its host can be reached; `how` it ended.
 * True: frontier_remember has something new to keep. */
bool frontier_note_reach(struct frontier *f, struct host_queue *h,
                         const struct host_news *news, struct outcome how);
/* A host that was given up may be asked again. */
void frontier_reach_again(struct host_queue *h);
/* It did not respond for so long that this run asks it no more. */
bool frontier_is_given_up(const struct host_queue *h);
/* What stands in queue_state.reason of a host that does not respond; NULL: it
 * does. `size` >= 32. */
const char *frontier_reach_reason(const struct host_queue *h, char *out,
                                  size_t size);
/* What has to survive a restart is written when it changes. */
MUST_CHECK enum status frontier_remember(struct frontier *f,
                                         const struct host_queue *h,
                                         int64_t now, int64_t wall_ms);
/* Why a host is held back, where a person said so: static, to be compared. */
extern const char frontier_by_person[];

/* What a response, or the lack of one, says of its host. */
MUST_CHECK enum status frontier_settle_reach(struct frontier *f,
                                             struct host_queue *h,
                                             const struct host_news *news,
                                             struct outcome how, int64_t now,
                                             int64_t wall_ms);

/* ---- of frontier_cross_host.c ---- */

/* URL `id` of `h` wants its next request to go to the host of queue `key`. */
MUST_CHECK enum status frontier_cross_host_ask(struct frontier *f,
                                               struct host_queue *h,
                                               uint64_t id, struct bytes key);
/* As frontier_lease_from, for a host with a cross-host request; none if the
 * other host may not be asked yet. */
MUST_CHECK enum status frontier_cross_host_lease(struct frontier *f,
                                                 struct host_queue *h,
                                                 int64_t now, int64_t wall_ms,
                                                 struct lease_record **out);
/* If the ending lease is a cross-host request, applies `news` to the host that
 * was asked, and removes that part from it. */
MUST_CHECK enum status frontier_cross_host_end(struct frontier *f,
                                               struct lease_record *l,
                                               struct host_news *news,
                                               int64_t now, int64_t wall_ms);
/* Call it when due times of hosts have changed other than by responses. */
void frontier_cross_hosts_again(struct frontier *f);

/* ---- of frontier_budget.c ---- */

void frontier_budget_open(struct frontier *f);
void frontier_budget_close(struct frontier *f);
/* Is what hosts spend counted? */
bool frontier_budget_counts(const struct frontier *f);
/* How many URLs of the host may be leased or become pages now, with those that
 * are leased. *which (or NULL): see budget.h; "limit" is a person's. */
uint64_t frontier_budget_left(const struct frontier *f,
                              const struct host_queue *h, const char **which);
/* Makes the host one of its domain's, and no longer. */
void frontier_budget_join(struct frontier *f, struct host_queue *h);
void frontier_budget_leave(struct host_queue *h);
/* What an earlier run spent. */
void frontier_budget_restore(struct frontier *f, struct host_queue *h,
                             const struct queue_state *s);
void frontier_budget_spend(struct frontier *f, struct host_queue *h,
                           uint64_t pages, uint64_t octets);
/* A page is none any more (rejudge.c). */
MUST_CHECK enum status frontier_budget_return(struct frontier *f,
                                              struct host_queue *h, int64_t now,
                                              int64_t wall_ms);
/* The page links to these hosts. */
MUST_CHECK enum status frontier_budget_links(struct frontier *f,
                                             const struct url_done *done,
                                             int64_t now, int64_t wall_ms);
/* The host is scheduled anew, as after each lease that begins or ends:
 * reschedules those of its domain if that has room again. */
void frontier_budget_look(struct frontier *f, struct host_queue *h);

#endif
