/*
 * frontier_service.h - the frontier of URLs that other programs put: its store,
 * its thread, and the way to it.
 *
 *   submit ─► waiting (bounded) ─► frontier thread ─► commit, synced ─► done
 *
 * call.h defines a call and its promises; call.c, what each call means.
 * Puts that wait together pass the seen check together and share one commit.
 *
 * Threads: submit, stats, details and close from any thread.
 */
#ifndef URLWEIR_SERVICE_CALLS_FRONTIER_SERVICE_H
#define URLWEIR_SERVICE_CALLS_FRONTIER_SERVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/histogram.h"
#include "base/status.h"
#include "frontier/stats.h"
#include "service/calls/call.h"

struct db_follower;
struct frontier_service;
struct frontier_service_stats;
struct frontier_service_details;

/* Where the URLs of a service are that has no store of its own: in shards. Its
 * frontier passes on what it is asked. */
struct frontier_place {
    void *of;
    enum status (*submit)(void *of, struct frontier_call *call);
    void (*stats)(void *of, struct frontier_service_stats *out);
    void (*details)(void *of, struct frontier_service_details *out);
    enum status (*close)(void *of);
};

struct frontier_service_options {
    const char *dir;       /* exists, and the caller has locked it */
    uint64_t memory;       /* bytes the frontier may hold; 0: 256 MiB */
    size_t most_waiting;   /* items in waiting calls; 0: 65,536 */
    double fpr;            /* of the filter before the exact set; 0: 0.001 */
    int64_t checkpoint_ms; /* between two checkpoints; 0: 60,000 */
    uint64_t sweep_from;   /* as served_options has it */
    const struct db_follower *follower; /* the same; */
    uint32_t shard;                     /* the same */
    const struct frontier_place *place; /* NULL: in `dir`; it outlives the
                                           service */
    struct bytes node;             /* own "host:port", for LIST_NODES; copied */
    int64_t (*wall_ms)(void *ctx); /* the clock; NULL: the system's */
    void *wall_ctx;
    /* Called on the frontier thread when there is room again after a submit
     * returned STATUS_AGAIN; it must only pass the news on. May be NULL. */
    void (*room)(void *ctx);
    void *room_ctx;
};

/* Opens the store in o->dir, or makes one, and starts the frontier thread.
 * STATUS_DAMAGED, STATUS_VERSION, STATUS_IO as served_open. */
MUST_CHECK enum status frontier_service_open(
    struct frontier_service **out, const struct frontier_service_options *o);

/* STATUS_OK: `done` will be called. STATUS_AGAIN: too much is waiting and the
 * call was not taken; `room` is called when it is worth trying again.
 * STATUS_CLOSED: the service is stopping. STATUS_ARG: a PUT of no items or too
 * many. Never blocks, and may be called from inside `done`. */
MUST_CHECK enum status frontier_service_submit(struct frontier_service *s,
                                               struct frontier_call *call);

/* Numbers for a page of metrics; from any thread. */
struct frontier_service_stats {
    uint64_t waiting; /* items */
    uint64_t calls, puts, gets_urls;
    struct url_counts all; /* of all crawls */
    /* As served_dates; the seconds since the first of the dates. Of more than
     * 100,000 URLs, counted 200,000 a second. */
    uint64_t dated, overdue, overdue_seconds;
    uint64_t crawls, urls; /* rows ever, removed ones included */
    uint64_t memory;       /* bytes the frontier holds */
    bool active, broken;
};
void frontier_service_get_stats(struct frontier_service *s,
                                struct frontier_service_stats *out);

/* The rest of such a page: calls by transport and verb with their times from
 * submit to `done`, commit included; the acknowledgements of items; and the
 * frontier's stats, at most a second old, under load or idle. Any thread; never
 * blocks. */
struct frontier_service_details {
    struct histogram_stats calls[FRONTIER_VIAS_][FRONTIER_VERBS_];
    uint64_t acks[FRONTIER_ACKS_];  /* of items put */
    struct frontier_stats frontier; /* seen check, filter, commits,
                                      checkpoints */
};
void frontier_service_get_details(struct frontier_service *s,
                                  struct frontier_service_details *out);

/* Takes no more calls, carries out those that wait, writes a checkpoint, ends
 * the thread and frees the service. Returns the status of the checkpoint. NULL
 * is fine. */
enum status frontier_service_close(struct frontier_service *s);

#endif
