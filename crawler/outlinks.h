/*
 * outlinks.h - what one response revealed: links to admit, and links dropped.
 *
 * Texts live in the arena that the response's report takes along, bounded; what
 * has no room there, and all behind it, becomes one drop that names the page.
 * Whether a link is wanted is decided before it comes here. One thread.
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
    uint64_t over; /* links dropped since then, which have no drop */
    bool cut;      /* a link was dropped as one too many */
    struct engine_item *items;
    size_t item_count, item_cap;
    struct engine_drop *drops;
    size_t drop_count, drop_cap;
};

/* All zero is a valid beginning. */
void outlinks_fini(struct outlinks *f);
/* A new answer, to the URL of `lease`. */
void outlinks_begin(struct outlinks *f, const struct engine_lease *lease,
                    struct arena *arena, size_t most);

/* A copy of `like`, with its texts and hint; like->key is a part of like->url.
 */
void outlinks_add(struct outlinks *f, const struct engine_item *like);
/* `like` says how `u` was found; `place` is 0 but for a link that was one too
 * many. */
void outlinks_drop(struct outlinks *f, enum outcome_reason reason,
                   const struct url *u, const struct engine_item *like,
                   size_t place);
/* All further links of this page, in one drop that names the page. */
void outlinks_overflow(struct outlinks *f);
/* All that was to be admitted is dropped. */
void outlinks_forbid(struct outlinks *f, enum outcome_reason reason);

/* Brings the items into the order that `compare` says, as they came where it
 * sees no difference. */
void outlinks_sort(struct outlinks *f,
                   int (*compare)(const struct engine_item *a,
                                  const struct engine_item *b));
/* What another one has, with the same arena, behind that of `to`. */
void outlinks_append(struct outlinks *to, const struct outlinks *from);

/* Fills in outlinks, drops and over of *done; arrays go into the arena too. */
void outlinks_hand_over(struct outlinks *f, struct engine_done *done);

#endif
