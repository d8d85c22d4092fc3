/*
 * frontier_links.h - links on their way into a queue: which are dropped, which
 * of these are kept and judged again, and in which order a host's URLs go out;
 * for the frontier's files.
 */
#ifndef URLWEIR_FRONTIER_CRAWL_FRONTIER_LINKS_H
#define URLWEIR_FRONTIER_CRAWL_FRONTIER_LINKS_H

#include "frontier/crawl/frontier_impl.h"

/* ---- of frontier_drop.c ---- */

/* Counts the drops of `done` by reason, and keeps examples and those that may
 * come back. */
MUST_CHECK enum status frontier_take_drops(struct frontier *f,
                                           const struct url_done *done,
                                           int64_t wall_ms);
/* Drops a URL that is new to the seen check: counts it, and keeps it likewise.
 */
MUST_CHECK enum status frontier_drop_new(struct frontier *f,
                                         struct admission *a,
                                         enum outcome_reason why,
                                         int64_t wall_ms);
/* The same for the final outcome of a URL. */
MUST_CHECK enum status frontier_keep_row(struct frontier *f,
                                         const struct fetch_row *row,
                                         struct outcome o, uint8_t kind);
/* The same for a page that was fetched, and has links of kinds that were not
 * looked for. */
MUST_CHECK enum status frontier_keep_page(struct frontier *f,
                                          const struct url_done *d);
/* A sitemap that a seed stands for, guessed or given, whose robots.txt was not
 * asked for with --robots off: it is asked for again with another one, and the
 * robots.txt before it, for the sitemaps that this names. */
MUST_CHECK enum status frontier_keep_guess(struct frontier *f,
                                           const struct url_done *d,
                                           const struct lease_record *l);
/* A link that goes to another shard: with a limit of depth it is kept, and sent
 * again when a shorter way to its page is found. */
MUST_CHECK enum status frontier_keep_sent(struct frontier *f,
                                          const struct admission *a);
bool frontier_may_return(enum outcome_reason r);
/* Seeds that were dropped, as rows of URL and kind alone: they have no row. */
MUST_CHECK enum status frontier_each_dropped_seed(struct frontier *f,
                                                  url_row_visit visit,
                                                  void *ctx);
/* Forgets which drops were kept recently. */
void frontier_forget_drops(struct frontier *f);

/* ---- of frontier_trap.c ---- */

/* Opens the table of suspicious families, unless --traps is off. */
MUST_CHECK enum status frontier_trap_open(struct frontier *f);
/* Drops those of the `n` open URLs (admit_scratch) that are new, and a trap's;
 * they count as not new. */
MUST_CHECK enum status frontier_trap_keep_out(struct frontier *f,
                                              struct admission *list, size_t n,
                                              int64_t wall_ms);
/* Must a queued URL be skipped as a trap's? f->trap_text says which trap. */
bool frontier_trap_has(struct frontier *f, struct bytes host,
                       const struct url_row *row);
/* The links of a page are those of a trap that is told by the page's body. */
bool frontier_trap_has_body(struct frontier *f, const struct url_done *done);
/* A page was fetched: takes it as evidence, with the links it revealed. */
void frontier_trap_page(struct frontier *f, const struct url_lease *page,
                        const struct url_done *done,
                        const struct fetch_row *row,
                        const struct admission *links, size_t n);

/* ---- of frontier_order.c ---- */

/* Opens what it keeps, and recalls the classes of queued URLs. */
MUST_CHECK enum status frontier_order_open(struct frontier *f);
void frontier_order_close(struct frontier *f);
/* Counts these links, puts new URLs in their classes, and raises those that
 * have become more important. */
MUST_CHECK enum status frontier_order_links(struct frontier *f,
                                            const struct admission *list,
                                            size_t n);
/* Puts a queued URL in its class. */
MUST_CHECK enum status frontier_order_row(struct frontier *f,
                                          const struct url_row *row);
/* Reads ahead which URLs of the host go before their turn. */
MUST_CHECK enum status frontier_order_front(struct frontier *f,
                                            struct host_queue *h, int64_t now);
/* *later: the URL, whose turn it is, waits until the host has no other. */
MUST_CHECK enum status frontier_order_defers(struct frontier *f,
                                             struct host_queue *h,
                                             const struct url_row *row,
                                             bool *later);
/* Is the URL leased, to be tried again, or done? Of one read ahead: it was then
 * taken out of turn meanwhile. */
bool frontier_is_taken(const struct frontier *f, const struct host_queue *h,
                       uint64_t id);
/* Do queued URLs wait for classes by changed rules? */
bool frontier_order_is_due(const struct frontier *f);
/* Gives some of them theirs. */
MUST_CHECK enum status frontier_order_step(struct frontier *f, int64_t now);

/* ---- of levels.c ---- */

/* From now on, and in later runs, which URLs each page led to is kept. */
MUST_CHECK enum status frontier_keep_paths(struct frontier *f);
MUST_CHECK enum status levels_restore(struct frontier *f);
/* Some more of the work, when nothing is queued. */
MUST_CHECK enum status levels_step(struct frontier *f, bool *done);
/* URL `id` is this near now, while depths are being found. */
void levels_come_nearer(struct frontier *f, uint64_t id, uint32_t depth);
void levels_free(struct frontier *f);
/* The least depth at which URL `id` is known, if that is less; when the work is
 * done. */
uint32_t levels_of(const struct frontier *f, uint64_t id, uint32_t otherwise);
/* Of a link that is as far from a seed as its page, or farther. Only redirects
 * count as hops. */
static inline enum path_step frontier_step(bool on_level, uint16_t hops)
{
    return !on_level ? PATH_LINK : hops > 0 ? PATH_SAME : PATH_ENTRY;
}

/* ---- of rejudge.c ---- */

/* A URL that is done with outcome `o` gets a new row and stands in its queue
 * again, and `o` is taken back from the counters. *back: false if it is not
 * done, or came back already. `row` is valid until then. */
MUST_CHECK enum status frontier_readmit(struct frontier *f,
                                        const struct url_row *row,
                                        struct outcome o, int64_t now,
                                        int64_t wall_ms, bool *back);

/* ---- of rejudge.c ---- */

/* What URLs are asked now; o.judge.scope is not NULL. */
struct candidate_rules frontier_rules(const struct frontier *f);

/* Reads how far an earlier run had come. */
MUST_CHECK enum status rejudge_restore(struct frontier *f);
/* Is there any drop to judge now? */
bool rejudge_is_due(const struct frontier *f);
/* Drops of these reasons are judged again when nothing is queued, in this run
 * or a later one. */
MUST_CHECK enum status rejudge_later(struct frontier *f, uint64_t reasons);
/* A depth has changed, or what was found may have another than its row says:
 * when nothing is queued, what --depth kept out is judged again, and what other
 * shards know. */
MUST_CHECK enum status rejudge_depths(struct frontier *f);
/* Judges some of them. */
MUST_CHECK enum status rejudge_step(struct frontier *f, int64_t now,
                                    int64_t wall_ms);

/* ---- frontier_last.c ---- */

/* Had the URL of the row this body, or nearly this text, when it was fetched
 * before, maybe under an earlier id? */
MUST_CHECK enum status frontier_had_before(struct frontier *f,
                                           const struct fetch_row *row,
                                           bool *yes);
/* Why the links of done[i] are not admitted; REASON_NONE: they are. */
MUST_CHECK enum status frontier_why_known(struct frontier *f,
                                          const struct url_done *done, size_t i,
                                          enum outcome_reason *why);

#endif
