/*
 * items_impl.h - the inside of items, shared by its files.
 *
 *   items_put.c      new URLs, and new dates of known ones
 *   items_get.c      whose turn it is, which URL, until when
 *   items_hold.c     URLs handed out, until settled or expired
 *   items_queue.c    one queue: counters, next URL, next moment
 *   items_control.c  removal, delays, blocks, limits
 *   items_read.c     status, lists, counts
 *   items_open.c     what the store holds, at the start
 *   items_save.c     commit and upkeep
 *
 * A URL is in one of these places:
 *
 *   lane       never served nor put again: the chain of its queue, which is in
 *              order of arrival, so in order of date; costs nothing
 *   due heap   everything else that waits
 *   leased       handed out; t->holds
 *   completed  nowhere
 */
#ifndef URLWEIR_FRONTIER_SERVED_ITEMS_IMPL_H
#define URLWEIR_FRONTIER_SERVED_ITEMS_IMPL_H

#include "base/buf.h"
#include "base/heap.h"
#include "base/map.h"
#include "frontier/embedded/frontier_impl.h"
#include "frontier/served/due_heap.h"
#include "frontier/served/holds.h"
#include "frontier/served/items.h"
#include "frontier/served/turns.h"
#include "storage/rows/item_log.h"

#define ITEM_LANE        1
#define ITEM_HELD_FLAG   2
#define ITEM_COMPLETE    4
#define ITEM_MARK        8 /* while a due heap is swept */

#define ITEM_ID_MOST     (UINT32_MAX - 1)
#define DEFAULT_DELAY_MS 1000

struct item {
    int64_t due_ms; /* 0: completed */
    uint32_t queue; /* 0: none of ours */
    uint32_t next;  /* of its queue, in order of arrival */
    uint32_t seq_low;
    uint16_t seq_high; /* its row in item_update; 0: it has none */
    uint8_t flags;
};

#define ITEM_CHUNK 65536
struct item_chunk {
    struct item items[ITEM_CHUNK];
};

struct item_queue {
    struct turn in_all, in_crawl; /* may be served now */
    struct heap_item waiting;     /* may be served at its key, in ms */
    uint32_t number, crawl;
    uint32_t head, tail; /* its URLs, removed ones left out; 0: none */
    uint32_t lane;       /* where the lane goes on; 0: at its end */
    uint32_t active, leased, completed;
    uint32_t logged; /* with a row in item_update */
    bool there;      /* something was put since it was removed */
    bool gone;       /* it was removed */
    bool dirty;      /* its row has to be written */
    bool touched;    /* by the put under way, and not yet placed */
    struct due_heap due;
    uint64_t removed_upto;
    int64_t turn;
    int64_t delay_ms; /* -1: the default */
    int64_t blocked_until_ms, served_ms;
    uint32_t limit;
};

struct item_crawl {
    uint32_t number; /* its place in t->crawls */
    struct bytes name;
    uint32_t *queues; /* numbers of those that are there, rising */
    uint32_t count, cap;
    struct url_counts counts;
    struct turns turns;
};

struct items {
    struct frontier *f;
    struct item_log *log;
    struct item_chunk **chunks;
    uint32_t chunk_count, chunk_cap;
    struct item_queue **queues; /* by number */
    uint32_t queue_room;
    struct item_crawl **crawls;
    uint32_t crawl_count;
    struct map *crawl_of; /* name -> struct item_crawl */
    struct url_counts counts;
    struct turns turns;  /* of all crawls */
    struct heap waiting; /* of struct item_queue by waiting */
    struct holds *holds;
    struct heap until;  /* of struct hold */
    int64_t turn;       /* the last number given */
    uint64_t logged;    /* URLs with a row in item_update */
    int64_t last_at_ms; /* when the last URL was put: never goes back */
    int64_t default_delay_ms;
    uint64_t sweep_from;
    bool active;
    bool removed; /* some URL was, ever */
    bool changed; /* since the last commit */
    int64_t now;  /* of the call under way */
    uint32_t *dirty;
    uint32_t dirty_count, dirty_cap;
    /* scratch of put */
    struct digest *digests, *fresh, *asked;
    enum seen_answer *answers, *heard;
    uint64_t *ids, *found;
    uint32_t *open;
    size_t room;
    struct buf metadata, text;
    int64_t shown_created_ms; /* of the URL shown last */
};

/* ---- URLs ---- */

static inline struct item *item_at(const struct items *t, uint32_t id)
{
    return &t->chunks[id / ITEM_CHUNK]->items[id % ITEM_CHUNK];
}

static inline uint64_t item_seq(const struct item *i)
{
    return (uint64_t)i->seq_high << 32 | i->seq_low;
}

static inline void item_set_seq(struct item *i, uint64_t seq)
{
    i->seq_low = (uint32_t)seq;
    i->seq_high = (uint16_t)(seq >> 32);
}

static inline bool item_exists(const struct items *t, uint64_t id)
{
    const struct item *i;

    if (id == 0 || id / ITEM_CHUNK >= t->chunk_count)
        return false;
    i = item_at(t, (uint32_t)id);
    return i->queue != 0 && id > t->queues[i->queue]->removed_upto;
}

/* Room for the URL; its fields are zero. */
struct item *items_make_room(struct items *t, uint32_t id);

/* ---- queues (items_queue.c) ---- */

/* The queue of that number, made when missing. */
struct item_queue *items_queue(struct items *t, uint32_t number);
/* NULL: there is none. */
struct item_queue *items_find_queue(const struct items *t, struct bytes crawl,
                                    struct bytes key);
struct item_crawl *items_find_crawl(const struct items *t, struct bytes crawl);
struct item_crawl *items_crawl_of(const struct items *t,
                                  const struct item_queue *q);
/* It is there from now on, in its crawl, behind all others in turn. */
void items_queue_appear(struct items *t, struct item_queue *q);
void items_queue_vanish(struct items *t, struct item_queue *q);
void items_queue_dirty(struct items *t, struct item_queue *q);
/* Counters of queue, crawl and all move together. */
void items_count(struct items *t, struct item_queue *q, int32_t active,
                 int32_t completed, int32_t leased);
/* `id` is the newest of the queue. */
void items_append(struct items *t, struct item_queue *q, uint32_t id);
/* A URL that is in the due heap from now on. */
void items_wait(struct items *t, struct item_queue *q, uint32_t id);
/* Puts the queue where it belongs at t->now: its turn, a moment, or nowhere. */
void items_place(struct items *t, struct item_queue *q);
void items_place_all(struct items *t);
/* Its number behind all others. */
void items_queue_to_back(struct items *t, struct item_queue *q);
/* The first moment at which it may be served, INT64_MAX: none is known. */
int64_t items_queue_wake(struct items *t, struct item_queue *q);
/* The next URL that is due, out of lane or heap; 0: none is. */
uint32_t items_queue_take(struct items *t, struct item_queue *q);
int64_t items_delay_of(const struct items *t, const struct item_queue *q);

/* ---- holds (items_hold.c) ---- */

/* Ends what is over at `now`, wakes what is due. Every call begins with it. */
void items_tick(struct items *t, int64_t now);
/* NULL: it is not handed out. */
struct hold *items_hold_of(const struct items *t, uint32_t id);
struct hold *items_hold_begin(struct items *t, uint32_t id, int64_t at_ms,
                              int64_t until_ms, uint64_t seq);
/* The URL is neither leased nor anywhere else then. */
void items_hold_end(struct items *t, struct hold *h);
uint64_t items_lease_id(const struct hold *h);

/* ---- others ---- */

/* Starts the transaction when none is open. */
MUST_CHECK enum status items_touch(struct items *t, int64_t now);
/* A new date, and metadata, of a URL that is there. The caller places its
 * queue. */
MUST_CHECK enum status items_update(struct items *t, uint32_t id,
                                    int64_t due_ms, struct bytes metadata);
/* Shows one URL; *go_on is what the visit answered. */
MUST_CHECK enum status items_show(struct items *t, uint32_t id, uint64_t lease,
                                  url_visit visit, void *ctx, bool *go_on);
/* The id of a URL that is there; 0: it is not. */
MUST_CHECK enum status items_id_of(struct items *t, struct bytes crawl,
                                   struct bytes key, struct bytes url,
                                   uint32_t *id);

#endif
