/*
 * reporter.h - reads a response and makes its report for the frontier.
 *
 * A link that repeats on its page is sent once. A reporter belongs to one
 * thread, and reads one response after another.
 */
#ifndef URLWEIR_CRAWLER_REPORTER_H
#define URLWEIR_CRAWLER_REPORTER_H

#include "crawler/report.h"
#include "crawler/sitemap_stream.h"

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

#endif
