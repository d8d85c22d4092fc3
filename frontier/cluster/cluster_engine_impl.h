/*
 * cluster_engine_impl.h - the engine's own structs, for its files alone.
 *
 *   cluster_engine.c   opening, turns, commits, the end of the crawl
 *   cluster_intake.c   leases of the cluster into the directory, and out of it
 *   cluster_ends.c     acknowledgements, and what is said of hosts
 *   cluster_links.c    URLs from here to the cluster
 *   cluster_places.c   places that open the scope
 *   cluster_share.c    robots.txt of others, and for others
 *   cluster_present.c  what the worker says of itself
 *   cluster_budget.c   how many pages it may still fetch
 *   cluster_table.c    the engine's table: what is passed on, what is refused
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_CLUSTER_ENGINE_IMPL_H
#define URLWEIR_FRONTIER_CLUSTER_CLUSTER_ENGINE_IMPL_H

#include "base/map.h"
#include "frontier/cluster/cluster_engine.h"
#include "frontier/cluster_store/cluster_watch.h"
#include "frontier/seen/hot_cache.h"

/* A lease of the cluster.
 *
 *   waits ────────────► queued ──► out ──done──► ending ──► gone
 *                          ▲         │                ▲
 *                          └─release─┘   given back ──┘
 */
enum held_state {
    HELD_WAITS,  /* for places or robots.txt; not in the directory yet */
    HELD_FRESH,  /* queued there, and was never out */
    HELD_QUEUED, /* again, for a retry or another try of its robots.txt */
    HELD_OUT,    /* with a fetcher */
    HELD_ENDING, /* to be acknowledged after the next commit */
    HELD_GONE    /* but a call is under way */
};
struct held {
    struct held *next, *before; /* of all; of HELD_ENDING: `next` of those */
    enum held_state state;
    uint64_t id; /* in the directory; 0: none yet */
    uint32_t queue;
    unsigned shard;
    uint64_t token;
    int64_t until;    /* monotonic: when the lease is over */
    int64_t delay_ms; /* of its host, set by a person; -1: the crawl's */
    int64_t asked;    /* when the extension under way was sent, which refers to
                         this; 0: none is */
    bool over;        /* the cluster has ended the lease */
    bool requested;   /* there was a request, so its host has to wait */
    bool back; /* HELD_ENDING: it goes back to its queue in the cluster */
    bool asked_robots;  /* the cluster was asked for its robots.txt */
    bool asking_robots; /* and has not answered, which refers to this */
    unsigned lost;      /* leases of it that were lost before */
    struct external_reach reach; /* of its host, as the cluster has it */
    struct bytes host, item;     /* both in `text` */
    char text[];
};

/* What others have to hear of a robots.txt that was fetched here. */
struct robots_news {
    struct robots_news *next;
    struct robots_row row;
    struct bytes host;
    char text[];
};

/* The worker among the others. */
struct presence {
    char name[CLUSTER_WORD_SIZE];
    struct buf who;       /* members of an object: host, dir, process */
    bool telling, asking; /* calls are under way */
    int64_t next, at;     /* when it is due; when the rates were taken */
    uint64_t pages, bytes;
    double pages_rate, bytes_rate; /* per second */
};

/* Its part of the pages that the crawl may have (cluster_permits.h). */
struct budget {
    uint64_t limit;         /* of the crawl; 0: none */
    uint64_t pages_before;  /* of the directory, before this run */
    uint64_t held, wanted;  /* permits: as the cluster said, asked for last */
    uint64_t durable;       /* pages of this run that are committed */
    uint64_t told, telling; /* used ones: that it knows of, is told now */
    uint64_t pages;         /* of the crawl, as it said */
    int64_t asked_at;
    bool asking, known, is_short;
};

struct cluster_engine {
    struct engine engine; /* first: see engine.h */
    struct cluster_engine_options o;
    struct engine *own;
    struct cluster_store *store;
    struct map *by_id; /* id -> struct held, but for HELD_ENDING */
    struct held *all;  /* the same, and HELD_WAITS */
    struct held *ending;
    size_t held, fresh, endings; /* how many: all; HELD_FRESH; HELD_ENDING */
    size_t acks;                 /* sent, and not ended */
    int64_t ending_since;
    size_t puts;               /* under way; what is gathered is one */
    struct outgoing *gathered; /* links that are not sent yet, or NULL */
    int64_t gathered_since;
    struct hot_cache links;          /* that the cluster has, as it told us */
    uint64_t links_since;            /* so often were servers lost by then */
    struct map *robots;              /* origin -> what is known here */
    size_t robots_memory;            /* octets of it */
    struct robots_news *news;        /* to be told when links are in */
    uint64_t places;                 /* known here */
    uint64_t places_said;            /* as many are in the cluster, at least */
    bool asking_places, places_read; /* read: the last answer had all */
    int64_t next_places;
    bool counting, counted, done; /* done: the last count found nothing left */
    int64_t counted_at, busy_at;  /* the last count; when there was work here */
    struct cluster_counts counts;
    bool over;          /* the crawl is done, and what was parked is removed */
    enum status failed; /* of a callback; the engine is of no use then */
    int64_t now, wall_ms; /* of the turn, for callbacks */
    int64_t next_tend;
    int64_t poll;     /* until replies are looked for again */
    uint64_t replies; /* that have come by then */
    uint64_t lost;    /* leases that were over before their end */
    struct presence present;
    struct budget budget;
};

/* ---- cluster_engine.c ---- */

void cluster_engine_fail(struct cluster_engine *e, enum status st);
/* Let the servers' replies come, until `puts` and `acks` are 0 as asked for, or
 * `patience`, ns, is over. */
void cluster_engine_wait(struct cluster_engine *e, bool puts, bool acks,
                         int64_t patience);

enum status cluster_turn(struct engine *engine, bool force, int64_t now,
                         int64_t wall_ms, uint64_t *durable);
int64_t cluster_next_due(struct engine *engine, int64_t now, struct bytes *why);
enum status cluster_checkpoint(struct engine *engine, int64_t now,
                               int64_t wall_ms);
enum status cluster_checkpoint_now(struct engine *engine, const char *state,
                                   bool clean, int64_t now, int64_t wall_ms);
void cluster_close(struct engine *engine);
void cluster_engine_get_stats(struct engine *engine, struct engine_stats *out);

/* ---- cluster_intake.c ---- */

/* As engine_ops says. */
enum status cluster_lease_out(struct engine *engine, size_t most, int64_t now,
                              int64_t wall_ms, struct engine_lease *out,
                              size_t *n);
enum status cluster_release(struct engine *engine, uint64_t id,
                            int64_t not_before,
                            const struct engine_host_news *host, int64_t now,
                            int64_t wall_ms);
/* Ask for up to `most` leases, and up to `spare` more of its own part. */
void cluster_intake_want(struct cluster_engine *e, size_t most, size_t spare);
/* A place has come: take in what waited for it. */
void cluster_intake_places_came(struct cluster_engine *e);
struct held *cluster_held_find(const struct cluster_engine *e, uint64_t id);
/* It is done, or goes back: acknowledge it after the next commit. */
void cluster_held_end(struct cluster_engine *e, struct held *h, bool back);
/* Give back a URL that no fetcher has. */
MUST_CHECK enum status cluster_held_return(struct cluster_engine *e,
                                           struct held *h);
/* Take in a lease that has waited, if it need not wait on. */
void cluster_held_take_in(struct cluster_engine *e, struct held *h);
/* Free what is in no list. If a call refers to it, the end of that call frees
 * it. */
void cluster_held_free(struct held *h);
/* Extend leases, and give back what waits too long. */
MUST_CHECK enum status cluster_held_tend(struct cluster_engine *e);
/* Give back all that no fetcher has. */
MUST_CHECK enum status cluster_held_give_back(struct cluster_engine *e);
/* Make a queued URL of the directory due in ten years. */
MUST_CHECK enum status cluster_park(struct cluster_engine *e, uint64_t id);
void cluster_held_free_all(struct cluster_engine *e);

/* ---- cluster_ends.c ---- */

/* The directory has committed: acknowledge what is ending. */
void cluster_held_send(struct cluster_engine *e);

/* ---- cluster_links.c ---- */

enum status cluster_put(struct engine *engine, struct bytes crawl, uint64_t via,
                        const struct engine_item *items, size_t n,
                        int64_t wall_ms, enum engine_answer *answers);
enum status cluster_ack(struct engine *engine, struct engine_done *done,
                        size_t n, int64_t now, int64_t wall_ms);

/* Send what is gathered, if any. */
void cluster_links_send(struct cluster_engine *e);
/* The same when it is time. */
void cluster_links_tend(struct cluster_engine *e);
void cluster_links_free(struct cluster_engine *e);

/* ---- cluster_places.c ---- */

/* Make places of those items that are (depth 0), and wait until they are in. */
MUST_CHECK enum status cluster_places_add(struct cluster_engine *e,
                                          const struct engine_item *items,
                                          size_t n);
/* Ask for new ones when it is time, or at once. */
void cluster_places_tend(struct cluster_engine *e, bool at_once);
/* Wait until all are known. */
MUST_CHECK enum status cluster_places_read_all(struct cluster_engine *e);

/* ---- cluster_share.c ---- */

/* Does it have to wait for what others know of its robots.txt? Asks if so. */
bool cluster_share_waits(struct cluster_engine *e, struct held *h,
                         struct bytes url);
/* True, once: others have fetched the robots.txt of this URL. */
bool cluster_share_is_news(struct cluster_engine *e, struct bytes url);
enum status cluster_share_robots(struct engine *engine, struct bytes origin,
                                 struct robots_row *row, struct buf *text);
/* This one was fetched here. */
void cluster_share_note(struct cluster_engine *e, const struct held *h,
                        const struct robots_row *row);
/* Tell the others. The links that it led to are in the cluster. */
void cluster_share_tell(struct cluster_engine *e);
void cluster_share_free(struct cluster_engine *e);

/* ---- cluster_present.c ---- */

void cluster_present_begin(struct cluster_engine *e);
/* Say that we live when it is time. */
void cluster_present_tend(struct cluster_engine *e);
void cluster_present_end(struct cluster_engine *e);

/* ---- cluster_budget.c ---- */

void cluster_budget_begin(struct cluster_engine *e, uint64_t limit);
/* Ask for permits, and tell what was used, when it is time. */
void cluster_budget_tend(struct cluster_engine *e);
/* All pages so far are committed here. */
void cluster_budget_committed(struct cluster_engine *e);
/* So many URLs may go to fetchers. */
size_t cluster_budget_room(const struct cluster_engine *e);
/* There are too few permits for what is leased here. */
bool cluster_budget_is_short(const struct cluster_engine *e);
/* The crawl has as many pages as it may have. */
bool cluster_budget_is_spent(const struct cluster_engine *e);
/* Tell the rest, and give back what is not used. */
void cluster_budget_end(struct cluster_engine *e);

/* ---- cluster_table.c ---- */

extern const struct engine_ops cluster_engine_ops;

#endif
