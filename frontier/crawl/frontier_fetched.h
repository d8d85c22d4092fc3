/*
 * frontier_fetched.h - what is known of pages that were fetched before, in this
 * crawl or an earlier one, for the frontier's files.
 */
#ifndef URLWEIR_FRONTIER_CRAWL_FRONTIER_FETCHED_H
#define URLWEIR_FRONTIER_CRAWL_FRONTIER_FETCHED_H

#include "frontier/crawl/frontier_impl.h"

/* ---- of frontier_last.c ---- */

/* Opens the index of whole fetches. */
MUST_CHECK enum status frontier_open_last(struct frontier *f, uint64_t memory);
/* Stores the identity of this run, if it is new. Inside a transaction. */
MUST_CHECK enum status frontier_note_identity(struct frontier *f);
/* What is known of the last whole response of a URL; its bytes are in
 * f->last_texts, until the next call. Validators that may not be used now are
 * left out. */
MUST_CHECK enum status frontier_find_last(struct frontier *f,
                                          const struct url_row *row,
                                          struct url_last *out);
/* Completes the row of a response that said "not modified" with what that last
 * response was; its texts are in f->last_texts. */
MUST_CHECK enum status frontier_take_last(struct frontier *f,
                                          const struct url_lease *l,
                                          struct fetch_row *row);
/* Did a whole response bring the text of the last one, in another body? */
bool frontier_has_same_text(const struct frontier *f, const struct url_lease *l,
                            const struct fetch_row *row, struct outcome o);
/* Stores what follows from the row of a page that is unchanged: its links are
 * those of the last response, unless it has rows of its own, and its record
 * refers to that one's. */
MUST_CHECK enum status frontier_note_unchanged(struct frontier *f,
                                               const struct url_lease *l,
                                               const struct fetch_row *row,
                                               bool has_rows);

/* ---- of frontier_past.c ---- */

/* A link of the page there, or one whose URL this run knows already, by its id
 * here. Texts are in the arena of the page. */
struct past_link {
    uint64_t to; /* 0: it was dropped there, and has a URL */
    uint8_t kind;
    uint8_t reason; /* if it was dropped */
    const struct link_label *label;
    struct bytes url;
};
/* Of one page that is unchanged since the earlier crawl: its links there. */
struct past_page {
    uint64_t *there; /* ids of the outlinks of its url_done */
    struct past_link *known;
    size_t known_count;
    struct url_item *items;
    struct url_drop *drops;
    struct arena *texts; /* NULL: it is no such page */
};
/* The kinds of links that only heads have and `done` brings. On a 304 they
 * replace links of their kind that the page had before. */
uint32_t frontier_head_kinds_of(const struct frontier *f,
                                const struct url_done *done);
/* If `done` says that its page is unchanged since the earlier crawl, puts the
 * links that the page had then into it, before those that its head has now. */
MUST_CHECK enum status frontier_past_begin(struct frontier *f,
                                           struct url_done *done,
                                           struct past_page *page);
/* Its outlinks were admitted as links[0..n). */
void frontier_past_admitted(struct frontier *f, const struct past_page *page,
                            const struct admission *links, size_t n);
void frontier_past_end(struct past_page *page);

/* ---- of frontier_last.c ---- */

MUST_CHECK enum status frontier_history_open(struct frontier *f);
/* Is there a pass under way, or due? */
bool frontier_history_is_due(const struct frontier *f);
/* A turn's part of it. */
MUST_CHECK enum status frontier_history_step(struct frontier *f, int64_t now);
/* Stores a fetch: page_store_add. */
MUST_CHECK enum status frontier_add_fetch(struct frontier *f,
                                          struct fetch_row *row, uint64_t *seq);

#endif
