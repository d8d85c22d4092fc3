/*
 * outlinks.h - what one response revealed: links to admit, and links dropped.
 *
 * Texts live in the arena of the response's report, which is bounded; the first
 * link without room there and all after it become one drop that names the page.
 * The caller decides whether a link is wanted. One thread.
 */
#ifndef URLWEIR_CRAWLER_OUTLINKS_H
#define URLWEIR_CRAWLER_OUTLINKS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "frontier/engine.h"
#include "frontier/url/url.h"

struct outlinks {
    const struct engine_lease *lease;
    struct arena *arena;
    size_t most;   /* octets of the arena that may be used */
    bool full;     /* the drop that names the page was made */
    uint64_t over; /* links dropped since then, without a drop */
    bool cut;      /* a link over the limit was dropped */
    struct engine_item *items;
    size_t item_count, item_cap;
    struct engine_drop *drops;
    size_t drop_count, drop_cap;
};

/* A struct of zeros is a valid start. */
void outlinks_fini(struct outlinks *f);
/* Begins the response to the URL of `lease`. */
void outlinks_begin(struct outlinks *f, const struct engine_lease *lease,
                    struct arena *arena, size_t most);

/* Adds a copy of `like`, with its texts and hint; like->key is part of
 * like->url.
 */
void outlinks_add(struct outlinks *f, const struct engine_item *like);
/* Drops `u`; `like` says how it was found. `place` is 0, except for a link over
 * the limit. */
void outlinks_drop(struct outlinks *f, enum outcome_reason reason,
                   const struct url *u, const struct engine_item *like,
                   size_t place);
/* Drops all further links of this page, as one drop that names the page. */
void outlinks_overflow(struct outlinks *f);
/* Drops all items, and those for good that were dropped for another reason. */
void outlinks_forbid(struct outlinks *f, enum outcome_reason reason);

/* Sorts the items by `compare`; the sort is stable. */
void outlinks_sort(struct outlinks *f,
                   int (*compare)(const struct engine_item *a,
                                  const struct engine_item *b));
/* Appends what `from` has, which has the same arena. */
void outlinks_append(struct outlinks *to, const struct outlinks *from);

/* Fills in outlinks, drops and over of *done; copies the arrays into the
 * arena. */
void outlinks_hand_over(struct outlinks *f, struct engine_done *done);

#endif
