/*
 * external_impl.h - the inside of external leases, shared by their files.
 *
 *   external.c      grants, deadlines, restart and upkeep
 *   external_settle.c  reports and queries of other programs
 */
#ifndef URLWEIR_FRONTIER_CRAWL_EXTERNAL_IMPL_H
#define URLWEIR_FRONTIER_CRAWL_EXTERNAL_IMPL_H

#include "frontier/crawl/frontier_impl.h"
#include "storage/rows/served_log.h"

struct external_leases {
    struct served_log *log;
    struct heap until;     /* of struct external_lease */
    struct map *by_number; /* of struct external_lease */
};

struct external_lease {
    struct heap_item until; /* first; monotonic */
    uint64_t number, id;
    int64_t at_ms;
    uint64_t seq; /* of its current row */
};

/* Takes a URL out of its queue, as if it had been leased. */
MUST_CHECK enum status external_take(struct frontier *f, uint64_t id,
                                     struct lease_record **out);
/* Puts the URL back in its queue, due at `due`; for its host this counts as the
 * end of a response. */
void external_take_back(struct frontier *f, struct lease_record *r, int64_t due,
                        int64_t now);

#endif
