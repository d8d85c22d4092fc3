/*
 * lent_impl.h - the inside of lent, shared by its files.
 *
 *   lent.c      lending, holds, restart and upkeep
 *   lent_say.c  what other programs say of URLs, and ask of them
 */
#ifndef URLWEIR_FRONTIER_EMBEDDED_LENT_IMPL_H
#define URLWEIR_FRONTIER_EMBEDDED_LENT_IMPL_H

#include "frontier/embedded/frontier_impl.h"
#include "storage/rows/item_log.h"

struct lent {
    struct item_log *log;
    struct heap until;     /* of struct lent_hold */
    struct map *by_number; /* of struct lent_hold */
};

struct lent_hold {
    struct heap_item until; /* first; monotonic */
    uint64_t number, id;
    int64_t at_ms;
    uint64_t seq; /* of the row that counts */
};

/* A URL that stands in its queue is taken out, as if it had been leased. */
MUST_CHECK enum status lent_take(struct frontier *f, uint64_t id,
                                 struct lease_record **out);
/* The URL is in its queue again, due at `due`; its host as if its answer had
 * ended just now. */
void lent_come_back(struct frontier *f, struct lease_record *r, int64_t due,
                    int64_t now);

#endif
