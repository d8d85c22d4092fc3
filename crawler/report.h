/*
 * report.h - makes the report of a fetched URL for the frontier.
 *
 * A report holds the outcome (docs/formats/export.md), the row for the page
 * store, the links in canonical form with scope and digest, and the drops with
 * their reasons. A link that repeats on its page is sent once. All data of a
 * report live in its arena of REPORT_MOST bytes; links without room there are
 * dropped as REASON_LINK_COUNT. A reporter belongs to one thread.
 */
#ifndef URLWEIR_CRAWLER_REPORT_H
#define URLWEIR_CRAWLER_REPORT_H

#include "crawler/fetch/fetch.h"
#include "crawler/fetcher.h"
#include "crawler/sitemap_stream.h"

#define REPORT_MOST ((size_t)32 << 20)

struct reporter;

/* `o` outlives the reporter. */
struct reporter *reporter_new(const struct fetcher_options *o);
void reporter_free(struct reporter *r); /* NULL is fine */

/* Reports a response or a failed request. `list` has read the body as it
 * arrived, or is NULL. `result` is not FETCH_CROWDED, FETCH_STARVED or
 * FETCH_STOPPED. `note` becomes the row's detail if nothing else explains the
 * outcome. The caller sets host.crawl_delay_ms and host.robots. */
struct report *reporter_done(struct reporter *r, const struct url_lease *l,
                             const struct fetch_result *result,
                             struct sitemap_stream *list, struct bytes note);

/* Why there is no response; REASON_NONE: there is one, or the network is not
 * the cause. */
enum outcome_reason report_failure_reason(enum fetch_end end);
/* True: the request did not reach its server. */
bool report_is_unreachable(enum fetch_end end);
/* Reports a URL for which no request was sent. */
struct report *report_of(const struct url_lease *l, enum outcome_status status,
                         enum outcome_reason reason, struct bytes detail,
                         int64_t wall_ms);
/* Returns the URL to its queue; it is not due before `not_before`. */
struct report *report_release(const struct url_lease *l, int64_t not_before);
/* Reports part of a list of URLs. Takes ownership of `arena`; the caller fills
 * in done.outlinks and done.drops. */
struct report *report_part(const struct url_lease *l, struct arena *arena);
struct report *report_gone(void);
/* The next request for its URL goes to the host of this queue. */
void report_set_robots_host(struct report *r, struct bytes key);

/* Its request was sent, and has ended. */
void report_set_request(struct report *r, const struct fetch_result *result);

/* What the response asks of those who ask its host. A Retry-After that cannot
 * be read (`120s`) asks for a delay of no certain length, as 429 and 503 alone
 * do. */
void report_set_delay(struct report *r, const struct response *a,
                      int64_t wall_ms);

/* Keeps a copy of `row` in the report. */
void report_set_robots(struct report *r, const struct robots_row *row);
/* What its arena holds. */
size_t report_octets(const struct report *r);
/* The report's arena, created on first use. */
struct arena *report_arena(struct report *r);

#endif
