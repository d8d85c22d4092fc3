/*
 * frontier_store_impl.h - the inside of frontier_store, for frontier_store.c,
 * _facts.c, _open.c and _verify.c alone.
 */
#ifndef URLWEIR_STORAGE_FRONTIER_STORE_IMPL_H
#define URLWEIR_STORAGE_FRONTIER_STORE_IMPL_H

#include "storage/frontier_store.h"
#include "storage/index/done_bits.h"
#include "storage/index/name_table.h"
#include "storage/index/origins.h"
#include "storage/index/segments.h"

#define MOST_URL ((size_t)1 << 24) /* octets of a URL */

/* The queues of ids read lately, since a leased URL is soon done. */
#define RECENT 16384
struct recent {
    uint64_t id;
    uint32_t queue;
};

struct frontier_store {
    struct db *d;
    struct queue_names *names;
    struct origins *origins;
    struct done_bits *done;
    struct segments *segments;
    struct counters *counters;
    struct drops *drops;
    uint32_t *pending; /* [i]: of queue i + 1 */
    uint32_t pending_cap;
    uint64_t pending_all;
    uint64_t last_id;
    uint64_t gather_most; /* octets, for origins_gather() */
    uint64_t rows; /* the last id that table url had when it was opened */
    uint64_t flush_least;
    uint32_t merge_rows;
    uint64_t retries;            /* rows of table retry */
    uint64_t admitted, finished; /* since the last step */
    struct recent *recent;
    struct buf text; /* scratch for a URL built from its parts */
};

/* Makes room to count the queue's URLs. */
void frontier_make_room(struct frontier_store *s, uint32_t queue);
/* Adds the next id to its queue, if its kind is queued. */
void frontier_enqueue(struct frontier_store *s, uint64_t id, uint32_t queue,
                      uint8_t kind);
/* Of counters and drops. A flush writes what has changed. */
MUST_CHECK enum status frontier_facts_open(struct frontier_store *s);
void frontier_facts_close(struct frontier_store *s);
MUST_CHECK enum status frontier_facts_flush(struct frontier_store *s);
uint64_t frontier_facts_memory(const struct frontier_store *s);

#define DROPS_EXAMPLES 1000   /* the latest of each reason */
#define DROPS_HOSTS    100000 /* counted separately, for each reason */
#define DROPS_URL_MOST 2048   /* octets kept of an example */

#define URL_PATH       2 /* its column */
#define URL_COLUMNS    "id, origin, path, depth, hops, kind, flags, via, at"

#endif
