/*
 * cluster_answer.h - a call of a shard that is waited for, and its reply.
 *
 * The reply is a copy, an array of numbers and texts; a reply that is no array
 * is one of one element. For commands that read much, one call after the
 * other; workers wait for no call.
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_ANSWER_H
#define URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_ANSWER_H

#include "frontier/cluster_store/cluster_impl.h"

struct answer_part {
    bool is_text;
    int64_t number;
    struct bytes text; /* in the answer */
};
struct cluster_answer {
    struct answer_part *part;
    size_t count, room;
    struct buf text;
};
void cluster_answer_init(struct cluster_answer *a);
void cluster_answer_fini(struct cluster_answer *a);

/* Frees `keys`. STATUS_FORMAT: the reply has something else. */
MUST_CHECK enum status cluster_ask(struct cluster_store *s, unsigned shard,
                                   const struct redis_script *script,
                                   struct key_list *keys,
                                   const struct bytes *args, size_t n,
                                   bool durable, struct cluster_answer *a);

/* The number at `i`, and the text; 0, empty: there is none. */
int64_t cluster_answer_number(const struct cluster_answer *a, size_t i);
struct bytes cluster_answer_text(const struct cluster_answer *a, size_t i);

#endif
