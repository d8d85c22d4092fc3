/*
 * served_impl.h - the inside of struct served, shared by its files.
 *
 *   served.c        reads the store at the start; commit, upkeep, checks, dates
 *   served_put.c    new URLs, and new dates of known ones; status, lists, counts
 *   served_lease.c  chooses queue and URL, and leases it, until it is settled or
 *                   its lease has expired
 *   served_queue.c  one queue: counters, next URL, next moment; removal, delays,
 *                   blocks, limits
 *
 * A URL is in one of these places:
 *
 *   lane       queued, and never served: the chain of its queue, which is in
 *              order of arrival, so in order of date; costs nothing
 *   back heap  queued, and given back
 *   due heap   due
 *   t->leases  leased, for the first time or again
 *   nowhere    done: completed
 */
#ifndef URLWEIR_FRONTIER_SERVED_SERVED_IMPL_H
#define URLWEIR_FRONTIER_SERVED_SERVED_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/heap.h"
#include "base/map.h"
#include "frontier/seen/seen_store.h"
#include "frontier/served/served.h"
#include "frontier/url_view.h"
#include "storage/rows/served_log.h"

/*
 * Queues that may be served now, in turn.
 *
 * The queue whose turn has the least number goes first, and then gets a number
 * after all others. A caller may refuse queues with `cap` or more leased URLs;
 * so queues are kept by that count, and the cost of a pick does not depend on
 * how many it must skip. Threads: one.
 */
struct turn {
    struct heap_item item; /* first */
    uint32_t leased;
};

/* All zero: empty. */
struct round_robin {
    struct heap *by_leased; /* the last heap: that many or more */
    uint32_t count;
    uint64_t entries;
};

void round_robin_fini(struct round_robin *t);
/* The turn with the least number below `before`, of queues with fewer than
 * `cap` leases (0: any); NULL: there is none. It is not removed. */
struct turn *round_robin_first(const struct round_robin *t, uint32_t cap,
                               int64_t before);

/*
 * The waiting URLs of one queue, by due time.
 *
 * It has only URLs that need it: those put again, or whose lease has ended.
 * Entries are never taken out of the middle: the owner knows which are valid,
 * skips the others, and has them swept when they are too many. Equal times come
 * out by URL id. 16 octets an entry. One thread.
 */
struct due_entry {
    int64_t due_ms;
    uint32_t id;
};

/* All zero: empty. */
struct due_heap {
    struct due_entry *entries;
    uint32_t count, cap;
};

void due_heap_fini(struct due_heap *h); /* empties it and frees its memory */

static inline bool due_before(struct due_entry a, struct due_entry b)
{
    return a.due_ms != b.due_ms ? a.due_ms < b.due_ms : a.id < b.id;
}

/*
 * The URLs that are leased, found by id and by digest.
 *
 * A program that leased a URL puts it again soon, and then it is found here:
 * the cost depends on the number of leases, not of URLs (the exact set would
 * also find it, but in a page that is rarely cached).
 *
 * A lease does not move until it is removed. When none is left, memory of many
 * leases is freed. Threads: the frontier thread only.
 */
struct served_lease {
    struct heap_item until;   /* key: ms; the owner's heap */
    int64_t at_ms, length_ms; /* the second as it was given, whatever the clock
                                 says since */
    uint64_t seq;             /* of its item_lease row */
    uint32_t id;              /* never 0 */
    /* of the table */
    struct digest digest; /* all zero: not known */
    struct served_lease *next_by_id, *next_by_digest;
};

struct served_leases;

struct served_leases *served_leases_new(void);
void served_leases_free(struct served_leases *t); /* NULL is fine */

/* Finds the lease with this digest; of several (a URL that was removed while
 * leased, and put again), the one with the greatest id. Never finds the digest
 * zero.
 */
struct served_lease *served_leases_find_digest(const struct served_leases *t,
                                               struct digest digest);

size_t served_leases_count(const struct served_leases *t);
size_t served_leases_memory(const struct served_leases *t);

#define SERVED_LANE      1
#define SERVED_LEASED    2 /* in t->leases */
#define SERVED_MARK      4 /* while a due heap is swept */

#define SERVED_ID_MOST   (UINT32_MAX - 1)
#define DEFAULT_DELAY_MS 1000

struct served_url {
    int64_t due_ms; /* 0: completed */
    uint32_t queue; /* 0: not a served URL */
    uint32_t next;  /* of its queue, in order of arrival */
    uint32_t seq_low;
    uint16_t seq_high; /* its row in item_update; 0: none */
    uint8_t life;      /* enum url_life */
    uint8_t flags;
};

#define SERVED_CHUNK 65536
struct served_chunk {
    struct served_url urls[SERVED_CHUNK];
};

struct served_queue {
    struct turn in_all, in_crawl; /* may be served now */
    struct heap_item waiting;     /* may be served at its key, in ms */
    uint32_t number, crawl;
    uint32_t head, tail; /* its URLs without removed ones; 0: none */
    uint32_t lane;       /* where the lane goes on; 0: at its end */
    uint32_t active, leased, completed;
    uint32_t logged; /* with a row in item_update */
    bool there;      /* a URL was put since it was removed */
    bool gone;       /* it was removed */
    bool dirty;      /* its row has to be written */
    bool touched;    /* by the current put, and not yet placed */
    struct due_heap back, due;
    uint64_t removed_upto;
    int64_t turn;
    int64_t delay_ms; /* -1: the default */
    int64_t blocked_until_ms, served_ms;
    uint32_t limit;
};

struct served_crawl {
    uint32_t number; /* its place in t->crawls */
    struct bytes name;
    uint32_t *queues; /* numbers of existing queues, rising */
    uint32_t count, cap;
    struct url_counts counts;
    struct round_robin robin;
};

struct served {
    struct seen_store *base;
    struct served_log *log;
    struct served_chunk **chunks;
    uint32_t chunk_count, chunk_cap;
    struct served_queue **queues; /* by number */
    uint32_t queue_room;
    struct served_crawl **crawls;
    uint32_t crawl_count;
    struct map *crawl_of; /* name -> struct served_crawl */
    struct url_counts counts;
    struct round_robin robin; /* of all crawls */
    struct heap waiting;      /* of struct served_queue by waiting */
    struct served_leases *leases;
    struct heap until;  /* of struct served_lease */
    int64_t turn;       /* the last number given */
    uint64_t logged;    /* URLs with a row in item_update */
    int64_t last_at_ms; /* when the last URL was put; never decreases */
    int64_t default_delay_ms;
    uint64_t sweep_from;
    bool reading;  /* served_read_store: nothing of it is changed */
    bool is_shard; /* of several */
    uint32_t shard;
    bool active;
    bool removed;                            /* a URL was ever removed */
    bool changed;                            /* since the last commit */
    int64_t now;                             /* of the current call */
    struct served_dates dates, dates_so_far; /* of the last pass; of this one */
    uint32_t dates_at;                       /* where it goes on */
    uint32_t *dirty;
    uint32_t dirty_count, dirty_cap;
    /* scratch of put */
    struct digest *digests, *fresh, *asked;
    enum seen_answer *answers, *heard;
    uint64_t *ids, *found;
    uint32_t *open;
    size_t room;
    struct buf metadata, text;
    int64_t shown_created_ms; /* of the last URL shown */
};

/* ---- URLs ---- */

static inline struct served_url *served_url_at(const struct served *t,
                                               uint32_t id)
{
    return &t->chunks[id / SERVED_CHUNK]->urls[id % SERVED_CHUNK];
}

static inline uint64_t served_url_seq(const struct served_url *i)
{
    return (uint64_t)i->seq_high << 32 | i->seq_low;
}

static inline void served_url_set_seq(struct served_url *i, uint64_t seq)
{
    i->seq_low = (uint32_t)seq;
    i->seq_high = (uint16_t)(seq >> 32);
}

static inline bool served_url_exists(const struct served *t, uint64_t id)
{
    const struct served_url *i;

    if (id == 0 || id / SERVED_CHUNK >= t->chunk_count)
        return false;
    i = served_url_at(t, (uint32_t)id);
    return i->queue != 0 && id > t->queues[i->queue]->removed_upto;
}

/* Makes room for the URL; its fields are zero. */
struct served_url *served_make_room(struct served *t, uint32_t id);

/* ---- queues (served_queue.c) ---- */

/* The queue of that number, made if missing. */
struct served_queue *served_queue(struct served *t, uint32_t number);
/* NULL: there is none. */
struct served_queue *served_find_queue(const struct served *t,
                                       struct bytes crawl, struct bytes key);
struct served_crawl *served_find_crawl(const struct served *t,
                                       struct bytes crawl);
struct served_crawl *served_crawl_of(const struct served *t,
                                     const struct served_queue *q);
/* Makes the queue exist, in its crawl, after all others in turn. */
void served_queue_appear(struct served *t, struct served_queue *q);
void served_queue_dirty(struct served *t, struct served_queue *q);
/* Changes the counters of queue, crawl and total together. */
void served_count(struct served *t, struct served_queue *q, int32_t active,
                  int32_t completed, int32_t leased);
/* Appends `id`, the newest of the queue. */
void served_append(struct served *t, struct served_queue *q, uint32_t id);
/* Adds a URL to its heap. */
void served_wait(struct served *t, struct served_queue *q, uint32_t id);
/* Puts the queue in its place at t->now: in turn, waiting, or neither. */
void served_place(struct served *t, struct served_queue *q);
void served_place_all(struct served *t);
/* Gives it a number after all others. */
void served_queue_to_back(struct served *t, struct served_queue *q);
/* When it may be served; INT64_MAX: not known. */
int64_t served_queue_wake(struct served *t, struct served_queue *q);
/* Takes the next due URL from lane or heap; 0: none is due. */
uint32_t served_queue_take(struct served *t, struct served_queue *q);
int64_t served_delay_of(const struct served *t, const struct served_queue *q);

/* ---- leases (served_lease.c) ---- */

/* Ends leases that are over at `now` and wakes queues that are due. Every call
 * begins with it. */
void served_tick(struct served *t, int64_t now);
/* NULL: it is not leased. */
struct served_lease *served_lease_of(const struct served *t, uint32_t id);
struct served_lease *served_lease_begin(struct served *t, uint32_t id,
                                        int64_t at_ms, int64_t until_ms,
                                        uint64_t seq);
/* Ends it by this event. After this the URL is neither leased nor anywhere
 * else. */
void served_lease_end(struct served *t, struct served_lease *h,
                      enum life_event how);
uint64_t served_lease_id(const struct served *t, const struct served_lease *h);

/* ---- others ---- */

/* Reads the rows of a store that others write, whose parts `base` borrows, as
 * the service would: for served_reader.h. URLs that were removed keep their
 * place, but are in no chain. */
MUST_CHECK enum status served_read_store(struct served **out,
                                         struct seen_store *base, int64_t now);

/* Starts the transaction when none is open. */
MUST_CHECK enum status served_touch(struct served *t);
/* Sets a new date, and metadata, of an existing URL. The caller places its
 * queue. */
MUST_CHECK enum status served_update(struct served *t, uint32_t id,
                                     int64_t due_ms, struct bytes metadata);
/* Shows one URL; *go_on is what the visit returned. */
MUST_CHECK enum status served_show(struct served *t, uint32_t id,
                                   uint64_t lease, url_visit visit, void *ctx,
                                   bool *go_on);

#endif
