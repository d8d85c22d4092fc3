/*
 * host_queue.h - URLs of one politeness key, and when it may be asked.
 *
 * The queue itself is on disk (frontier_store.h); this has a window of the next
 * ids, the retries, and the state of politeness. A queue with nothing to do has
 * no struct. Threads: the frontier thread only.
 */
#ifndef URLWEIR_FRONTIER_CRAWL_HOST_QUEUE_H
#define URLWEIR_FRONTIER_CRAWL_HOST_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/status.h"
#include "frontier/budget.h"
#include "frontier/frontier.h"
#include "frontier/outcome.h"
#include "frontier/url_view.h"
#include "storage/frontier_store.h"
#include "storage/rows/side_tables.h"

struct retry {
    uint64_t id;
    int64_t due; /* monotonic */
};

struct map;
struct politeness_group; /* frontier_impl.h */

/* An origin of the host (scheme and port) that responds, but not so that its
 * URLs may be fetched: its robots.txt is out of reach, or its certificate is not
 * trusted. */
struct origin_trouble {
    struct origin_trouble *next;
    uint32_t failures;  /* such requests in a row */
    struct outcome why; /* once it is dead, what its URLs get; QUEUED: alive */
    uint8_t flags;      /* of the row that says why (page_store.h) */
    size_t len;
    char prefix[]; /* "https://example.org" */
};

/* Of a host in trouble. Times are monotonic. */
struct host_trouble {
    int64_t blocked_until;   /* Retry-After, back-off, a person */
    const char *why_blocked; /* static; NULL: not blocked */
    /* requests that did not reach it (frontier_schedule.c) */
    int64_t silent_since;  /* when the first of them ended */
    int64_t silent_until;  /* not before; INT64_MAX: given up for this run */
    int64_t held_until_ms; /* given up until then, wall clock; 0: it is not
                              (frontier_refresh.c) */
    bool held_silent;      /* as it did not respond */
    uint32_t failures;     /* such requests in a row */
    struct outcome silent; /* outcome of the last one; QUEUED: it responds */
    struct origin_trouble *origins;
    uint32_t dead;    /* of these */
    bool others_live; /* while some are: it has URLs of another origin */
};

/* What a person set for a host, and its requests to another one. */
struct host_orders {
    int64_t set_delay;     /* in place of --delay; -1: none */
    uint64_t done;         /* its done URLs, except removed ones, while there is
                              a limit */
    uint64_t removed_upto; /* ids up to here were removed; 0: none */
    uint32_t set_limit;    /* most URLs done; 0: none */
    /* (frontier_schedule.c) */
    uint32_t cross_to;     /* queue of the host to ask next; 0: none */
    uint64_t cross_id;     /* on behalf of this URL */
    int64_t cross_due;     /* not before */
    int64_t expects_until; /* one of another host waits for this one: no URL of
                              its own is leased before */
    bool cross_refresh;    /* that URL is fetched again */
};

/* What it spent of budgets, with --per-host and its like
 * (frontier_budget.c). */
struct host_spent {
    uint64_t pages, octets;
    struct source_bits *sources; /* domains that link to it; NULL: none */
    struct domain *domain;       /* NULL: it has no budget */
    struct host_queue *domain_next;
    uint32_t domain_leased; /* of its leases, known to the domain */
};

#define HOST_FRONT_MOST 16 /* URLs that are read ahead of their turn */

/* Its URLs before their turn, or later (frontier_lease.c). */
struct host_front {
    uint16_t early; /* 1 << class: there may be URLs of it in the table */
    uint8_t class_, at, count;
    bool out_of_turn;    /* some did not come in order of arrival */
    bool again;          /* the queue is read once more, for those deferred */
    uint64_t deferred;   /* passed over, and not reached again */
    uint64_t again_from; /* with `deferred`: all after this one */
    uint64_t again_end;  /* `again`: it was read up to here before */
    uint64_t urls[HOST_FRONT_MOST]; /* read ahead from the table, of class_ */
};

/* Why its URLs wait for nothing but one of these. */
enum host_held {
    HOST_HELD_NOT,
    HOST_HELD_BUDGET,   /* the end of a limit */
    HOST_HELD_GIVEN_UP, /* another run */
    HOST_HELD_BLOCKED   /* a person */
};

/* There is one for each host with work, so it is kept small. */
struct host_queue {
    struct heap_item place; /* in the schedule, by due time */
    uint32_t queue;
    uint32_t leased;
    uint32_t run;      /* URLs leased in its current run */
    uint32_t guests;   /* open requests of other hosts to this one */
    int64_t next_due;  /* politeness: not before */
    int64_t own_delay; /* from its robots.txt, ns; -1: none */
    uint32_t backoffs; /* consecutive 429, 503 */
    uint32_t errors;   /* different URLs in a row that failed: 5xx,
                          time-outs, resets */
    uint32_t answers;  /* in this run */
    uint32_t requests, connections, handshakes; /* in this run */
    uint32_t latency_us;  /* moving average of their times; 0: none yet */
    uint32_t first_us;    /* the same until the first octet */
    uint16_t http_status; /* of its last response; 0: none yet */
    uint8_t connected;    /* FETCH_ROW_... of requests that have no row */
    uint8_t held_by;      /* enum host_held */
    bool beside;          /* in the heap of hosts that have a request */
    bool handed_out;      /* a URL of it was leased in this run */
    bool active;          /* has URLs that are not done */
    bool in_turn;         /* the one just taken came in order of arrival */
    bool awake;           /* dates of done URLs have come */
    bool set_aside;       /* waits for its address, in no heap */
    uint8_t window_at, window_count;
    uint32_t refreshing; /* URLs fetched again among `leased`, and
                            cross_refresh */
    uint64_t held;       /* its URLs that wait because of held_by */
    double credit;       /* refresh_rule.h */
    /* its group, if politeness goes by address */
    struct politeness_group *group; /* NULL: alone, or not known yet */
    struct host_queue *after;       /* set aside next */
    /* URLs */
    uint64_t cursor; /* ids up to here were read from the store's queue */
    uint64_t *window;
    struct retry *retries; /* by due time; also released ones */
    uint32_t retry_count, retry_room;
    /* NULL: as if all were 0 or none; to be read by host_trouble and its like
     */
    struct host_trouble *trouble;
    struct host_orders *orders;
    struct host_spent *spent;
    struct host_front *front;
};

extern const struct host_trouble host_no_trouble;
extern const struct host_orders host_no_orders;
extern const struct host_spent host_no_spent;
extern const struct host_front host_no_front;

static inline const struct host_trouble *host_trouble(
    const struct host_queue *h)
{
    return h->trouble != NULL ? h->trouble : &host_no_trouble;
}

static inline const struct host_orders *host_orders(const struct host_queue *h)
{
    return h->orders != NULL ? h->orders : &host_no_orders;
}

static inline const struct host_spent *host_spent(const struct host_queue *h)
{
    return h->spent != NULL ? h->spent : &host_no_spent;
}

static inline const struct host_front *host_front(const struct host_queue *h)
{
    return h->front != NULL ? h->front : &host_no_front;
}

/* The same to be written: made if missing. */
struct host_trouble *host_trouble_of(struct host_queue *h);
/* A request to the origin of `url` has failed so; its URLs get that outcome
 * after `most` failures in a row. True: it is dead now. */
bool host_origin_fails(struct host_queue *h, struct bytes url, uint32_t most,
                       struct outcome why, uint8_t flags);
/* It has responded. */
void host_origin_responds(struct host_queue *h, struct bytes url);
/* The origin of the URL if it is dead in this run; NULL: it is alive. */
const struct origin_trouble *host_origin_dead(const struct host_queue *h,
                                              struct bytes url);
/* All its origins may be asked again. */
void host_origins_revive(struct host_queue *h);
struct host_orders *host_orders_of(struct host_queue *h);
struct host_spent *host_spent_of(struct host_queue *h);

#define HOST_QUEUE_WINDOW 16 /* ids that are read ahead */

/* The host whose place in a heap this is. */
static inline struct host_queue *host_queue_at(struct heap_item *place)
{
    return (struct host_queue *)(void *)((char *)place -
                                         offsetof(struct host_queue, place));
}

struct host_queue *host_queue_new(uint32_t queue);
void host_queue_free(struct host_queue *h); /* NULL is fine */

/* Adds `id` to the retries, not before `due`. */
void host_queue_retry(struct host_queue *h, uint64_t id, int64_t due);

/* Will `id`, a URL of this queue that is not done, still come out of it, and
 * not as a retry? */
bool host_queue_is_to_come(const struct host_queue *h, uint64_t id);
/* Removes `id` from the retries. False: it was not there. */
bool host_queue_drop_retry(struct host_queue *h, uint64_t id);

bool host_queue_has_retry(const struct host_queue *h, uint64_t id);

/* There is a URL of `class_` that goes before its turn. */
void host_queue_early(struct host_queue *h, uint8_t class_);
/* The URL just taken waits until the queue is at its end; it is then read once
 * more. */
void host_queue_defer(struct host_queue *h, uint64_t id);
/* A URL has come that goes before those deferred. */
void host_queue_once_more(struct host_queue *h);
/* Forgets which URLs go early: the rules have changed. */
void host_queue_forget_early(struct host_queue *h);

/* Removes done URLs from window and retries: another program may have settled
 * them meanwhile. */
void host_queue_forget_done(struct host_queue *h,
                            const struct frontier_store *store);

/* Takes the next URL that may be tried at `now`; *id = 0 if there is none. */
MUST_CHECK enum status host_queue_take(struct host_queue *h,
                                       struct frontier_store *store,
                                       int64_t now, uint64_t *id);

/* When the host may be asked. */
int64_t host_queue_polite(const struct host_queue *h);
/* When the next new URL may be leased, politeness included; `pending`: URLs of
 * the queue that are not done. INT64_MAX: there is none. */
int64_t host_queue_due(const struct host_queue *h, uint64_t pending);

/*
 * Leased URLs, by id, until they are acknowledged or released.
 */
/* One leased URL, with what its acknowledgement needs. */
struct lease_record {
    struct url_lease lease; /* its bytes point into `text` */
    struct host_queue *host;
    struct host_queue *asked; /* the host of its request; NULL: its own */
    uint64_t via;
    enum url_life life;         /* LIFE_LEASED or LIFE_AGAIN */
    struct refresh_row refresh; /* of LIFE_AGAIN: its date; else url is 0 */
    uint64_t links; /* a digest of those of its page; 0: not known yet */
    bool has_same;  /* links as at its last fetch, which were kept then */
    struct link_range *parts; /* the links stored so far of a list that comes
                                   in parts */
    size_t part_count;
    struct external_lease
        *external; /* leased to another program (external.h), or NULL */
    char text[];
};

void lease_free(void *record);

/* Adds a lease of `row`, which is queued. `last` may be NULL. The map owns the
 * record. */
struct lease_record *lease_add(struct map *leases, struct host_queue *h,
                               const struct url_row *row, struct bytes key,
                               uint32_t tries, const struct url_last *last);
/* NULL: not leased. */
struct lease_record *lease_find(const struct map *leases, uint64_t id);
void lease_end(struct map *leases, struct lease_record *r);

#endif
