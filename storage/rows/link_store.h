/*
 * link_store.h - the whole link graph, if a crawl keeps it.
 *
 * With --record links the links of a page become a row of table link_list, in
 * the transaction that makes the page done: for each link, repeats included,
 * where it leads and its kind (one that was dropped for its URL leads
 * nowhere), and what the page says of it (struct link_said). Links are
 * numbered from 1 on; a list has the number of its first one. Lists are
 * appended, about 9 octets a link without what is said, without an index; they
 * go when their fetch does (history.h). Finding the links to a URL therefore
 * reads the whole table; explain does that for people, the crawl does not.
 *
 * Owned by the frontier thread; readers open the database read-only.
 */
#ifndef URLWEIR_STORAGE_ROWS_LINK_STORE_H
#define URLWEIR_STORAGE_ROWS_LINK_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "storage/db/db.h"

/*
 * What is said of the links of one page, packed.
 *
 * For each link, in their order: the lengths of its rel, of its text and of the
 * URL of one that was dropped, as varints; if it was dropped, an octet with the
 * reason; then the three texts. A row of table link_text for each page, and not
 * one for each link, takes half of the octets and a fraction of the time.
 */

#define LINK_TEXT_MOST    200  /* most octets of rel and text */
#define LINK_DROPPED_MOST 4096 /* and of a dropped URL */

struct link_said {
    /* Each may be empty; then `at` is NULL in what is read. */
    struct bytes rel;     /* as the page has it, white space folded */
    struct bytes text;    /* between the tags of <a>, or an alt; the same */
    struct bytes dropped; /* URL of one that was dropped */
    uint8_t reason;       /* why: enum outcome_reason */
};

/* Longer texts than the bounds above must not be given. */
void link_said_put(struct buf *out, const struct link_said *said);
/* Reads the first of *rest, which it moves on; texts stay where they are.
 * False: *rest is nothing that link_said_put has written. */
bool link_said_get(struct bytes *rest, struct link_said *out);

/* ---- the graph ---- */

struct link_store;

/* How much of the graph there is: a resume may have switched recording on or
 * off. */
enum link_record { LINK_RECORD_NONE, LINK_RECORD_PART, LINK_RECORD_ALL };

struct link_row {
    uint64_t from, to; /* ids of url rows; to 0: it was dropped */
    uint8_t kind;      /* enum link_kind; a redirect is one */
    struct link_said said;
};

MUST_CHECK enum status link_store_open(struct link_store **out, struct db *d);
void link_store_close(struct link_store *s); /* NULL is fine */

/* As of link_store_open, or of the last link_store_note. */
enum link_record link_store_recorded(const struct link_store *s);
/* Call it before the first page of a run is done. `keeps`: the run records
 * links; `first_run`: no page was done before. */
MUST_CHECK enum status link_store_note(struct link_store *s, bool keeps,
                                       bool first_run);

/* Is as much said of the page's links as fits into a row that is sent to others,
 * too? Then the rest have no texts, and dropped ones are left out. */
bool link_store_is_full(const struct link_store *s);
/* One more link of a page, which is the same `from` in all of them ... */
void link_store_add(struct link_store *s, const struct link_row *row);
/* ... until it ends: stores them. */
MUST_CHECK enum status link_store_end_page(struct link_store *s);

/* Links that follow each other: those of one page, after which `first` would be
 * the next one. */
struct link_range {
    uint64_t first, count;
    bool partial; /* the page has others, which were dropped */
};
/* The number of the next link. */
uint64_t link_store_next(const struct link_store *s);
/* Fetch `seq` was of a page that has these links; not partial: all of
 * them, but for those that its crawl would never take. */
MUST_CHECK enum status link_store_set_page(struct link_store *s, uint64_t seq,
                                           const struct link_range *rows);
/* STATUS_NOT_FOUND: which links that fetch had is not known. */
MUST_CHECK enum status link_store_page(struct link_store *s, uint64_t seq,
                                       struct link_range *rows);
/* Forgets which links fetch `seq` had, and with `with_rows` those rows. */
MUST_CHECK enum status link_store_forget(struct link_store *s, uint64_t seq,
                                         const struct link_range *rows,
                                         bool with_rows);
/* Removes the rows of a range. */
MUST_CHECK enum status link_store_drop(struct link_store *s,
                                       const struct link_range *rows);
/* The rows of a range; `visit` may ask the database. Bytes are borrowed until
 * it returns. */
MUST_CHECK enum status link_store_each_in(
    struct link_store *s, const struct link_range *rows,
    void (*visit)(void *ctx, const struct link_row *row), void *ctx);
/* From, to and kind of all that were not dropped, in the order in which their
 * pages were done, a page's links together. `visit` returns false to stop. */
MUST_CHECK enum status link_store_each(
    struct link_store *s, bool (*visit)(void *ctx, const struct link_row *row),
    void *ctx);
/* The same of all, with all that is known. Bytes are borrowed until `visit`
 * returns. */
MUST_CHECK enum status link_store_each_whole(
    struct link_store *s, bool (*visit)(void *ctx, const struct link_row *row),
    void *ctx);
/* From now on link_store_each, link_store_each_whole and
 * link_store_seen_again leave out the
 * links of fetches for which `is_of_now` is false, but for those that one has
 * for which it is true. Takes eight octets for each page and for each list that
 * is left out; STATUS_NOMEM. Not for a writer. */
MUST_CHECK enum status link_store_leave_out(struct link_store *s,
                                            bool (*is_of_now)(void *ctx,
                                                              uint64_t seq),
                                            void *ctx);
/* The number of links to `to`, not counting the first one, on page `via` (0: it
 * is a seed). */
MUST_CHECK enum status link_store_seen_again(struct link_store *s, uint64_t to,
                                             uint64_t via, uint64_t *count);

/* Checks that each row names two existing URLs (ids up to `last`), or one and
 * a dropped URL, that each row of link_text is of a link, and that there are no
 * rows if nothing was recorded. STATUS_DAMAGED with one log line. */
MUST_CHECK enum status link_store_verify(struct link_store *s, uint64_t last,
                                         uint64_t *count);

#endif
