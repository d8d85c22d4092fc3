/*
 * report.h - the message of a fetcher to the frontier thread, and the links
 * that it carries.
 *
 * A report holds the outcome (docs/formats/export.md), the row for the page
 * store, the links in canonical form with scope and digest, and the drops with
 * their reasons. All data of a report live in its arena of REPORT_MOST bytes;
 * links without room there are dropped as REASON_LINK_COUNT. One thread at a
 * time.
 */
#ifndef URLWEIR_CRAWLER_REPORT_H
#define URLWEIR_CRAWLER_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "crawler/fetch/fetch.h"
#include "crawler/fetcher.h"
#include "frontier/frontier.h"
#include "frontier/url/url.h"

#define REPORT_MOST ((size_t)32 << 20)
/* Room for everything but links: the row's texts and a robots.txt. */
#define REPORT_SLACK  (2 * ROBOTS_READ_MOST)
#define ROW_TEXT_MOST ((size_t)512) /* of a header value in a row */

struct report *report_new(enum report_kind kind, uint64_t id);
/* Copies into the report's arena, at most `most` octets. */
struct bytes report_keep(struct report *r, struct bytes s, size_t most);
void report_set_outcome(struct url_done *done, enum outcome_status status,
                        enum outcome_reason reason);
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

/* ---- outlinks ---- */

/*
 * What one response revealed: links to admit, and links dropped.
 *
 * Texts live in the arena of the response's report, which is bounded; the first
 * link without room there and all after it become one drop that names the page.
 * The caller decides whether a link is wanted. One thread.
 */

struct outlinks {
    const struct url_lease *lease;
    struct arena *arena;
    size_t most;   /* octets of the arena that may be used */
    bool full;     /* the drop that names the page was made */
    uint64_t over; /* links dropped since then, without a drop */
    bool cut;      /* a link over the limit was dropped */
    struct url_item *items;
    size_t item_count, item_cap;
    struct url_drop *drops;
    size_t drop_count, drop_cap;
};

/* A struct of zeros is a valid start. */
void outlinks_fini(struct outlinks *f);
/* Begins the response to the URL of `lease`. */
void outlinks_begin(struct outlinks *f, const struct url_lease *lease,
                    struct arena *arena, size_t most);

/* Adds a copy of `like`, with its texts and hint; like->key is part of
 * like->url.
 */
void outlinks_add(struct outlinks *f, const struct url_item *like);

/* Sorts the items by `compare`; the sort is stable. */
void outlinks_sort(struct outlinks *f,
                   int (*compare)(const struct url_item *a,
                                  const struct url_item *b));
/* Drops `u`; `like` says how it was found. `place` is 0, except for a link over
 * the limit. */
void outlinks_drop(struct outlinks *f, enum outcome_reason reason,
                   const struct url *u, const struct url_item *like,
                   size_t place);
/* Drops all further links of this page, as one drop that names the page. */
void outlinks_overflow(struct outlinks *f);
/* Drops all items, and those for good that were dropped for another reason. */
void outlinks_forbid(struct outlinks *f, enum outcome_reason reason);
/* Appends what `from` has, which has the same arena. */
void outlinks_append(struct outlinks *to, const struct outlinks *from);

/* Fills in outlinks, drops and over of *done; copies the arrays into the
 * arena. */
void outlinks_hand_over(struct outlinks *f, struct url_done *done);

#endif
