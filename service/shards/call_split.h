/*
 * call_split.h - a call on served URLs that are divided into shards: as calls
 * on single shards, and their answers as one.
 *
 *   PUT                        its items by shard, side by side; one ack each
 *   GET of any queue           all shards in turn, with a share of the queues
 *   a queue, a URL, a lease    the shard that has it
 *   LIST_URLS, LIST_QUEUES     one shard after the other
 *   all others                 all shards side by side: sums and unions
 *
 * It knows nothing of processes: the sender finds out where a shard is.
 *
 * Threads: any; the thread that ends the last part of a call ends the call.
 */
#ifndef URLWEIR_SERVICE_SHARDS_CALL_SPLIT_H
#define URLWEIR_SERVICE_SHARDS_CALL_SPLIT_H

#include <sys/queue.h>

#include "service/calls/call.h"

/* A call on one shard. */
struct call_part {
    struct frontier_call call; /* first; `done` and `ctx` are the sender's */
    uint32_t shard;
    void (*finish)(struct call_part *p); /* when its answer is there */
    void *join;

    /* the sender's */
    int64_t give_up; /* monotonic */
    STAILQ_ENTRY(call_part) next;
};

struct call_sender {
    void *ctx;
    uint32_t shards;
    /* Has the part carried out, and then calls p->finish, not before it
     * returns. What cannot be carried out ends with STATUS_CLOSED and `why`. */
    void (*send)(void *ctx, struct call_part *p);
    /* The call has its answer. */
    void (*ended)(void *ctx, struct frontier_call *call);
};

/* The shard of a queue, 0 to count - 1: the XXH3 of crawl and key. */
uint32_t call_shard_of(struct bytes crawl, struct bytes key, uint32_t count);

/* Begins the call, or goes on with its next part. `turn`: the shard that a GET
 * of any queue begins with, modulo their number. `s` outlives the call. */
void call_split(const struct call_sender *s, struct frontier_call *call,
                unsigned turn);

#endif
