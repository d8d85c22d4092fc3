/*
 * report.h - what a fetched URL becomes for the frontier.
 *
 * From the response: its outcome (docs/formats/export.md), the row of
 * the page store, the links it reveals in canonical form with scope and digest,
 * and the drops with their reasons. A link that repeats on its page is sent
 * once. Everything of a report lives in its arena, of REPORT_MOST bytes; what
 * has no room there is dropped as REASON_LINK_COUNT. A reporter belongs to one
 * thread.
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

/* Of a response, or of none. `list` is what was read of its body as it came, or
 * NULL. `result` says neither FETCH_CROWDED nor _STARVED
 * nor _STOPPED. `note` is kept as the row's detail where nothing else explains
 * the outcome. host.crawl_delay_ms and host.robots are the caller's to set. */
struct report *reporter_done(struct reporter *r, const struct engine_lease *l,
                             const struct fetch_result *result,
                             struct sitemap_stream *list, struct bytes note);

/* Why there is no response; REASON_NONE: there is one, or it says nothing of
 * the network. */
enum outcome_reason report_failure_reason(enum fetch_end end);
/* The request did not get as far as its server. */
bool report_is_unreachable(enum fetch_end end);
/* Of a URL that no request was sent for. */
struct report *report_of(const struct engine_lease *l,
                         enum outcome_status status, enum outcome_reason reason,
                         struct bytes detail, int64_t wall_ms);
/* Back to its queue, not before `not_before`. */
struct report *report_release(const struct engine_lease *l, int64_t not_before);
/* A part of what a list of URLs holds, in `arena`, which is taken over; the
 * caller fills in done.outlinks and done.drops. */
struct report *report_part(const struct engine_lease *l, struct arena *arena);
struct report *report_gone(void);
/* Its URL's next request goes to the host of this queue. */
void report_set_robots_host(struct report *r, struct bytes key);

/* Keeps a copy of `row` in the report. */
void report_set_robots(struct report *r, const struct robots_row *row);
/* The arena of its own, made when missing. */
struct arena *report_arena(struct report *r);

#endif
