/*
 * shared_impl.h - the inside of the shared frontier, for its files alone.
 *
 *   shared.c          opening, the thread that talks to the servers
 *   shared_call.c     one call: its keys and arguments; several side by side
 *   shared_put.c      put
 *   shared_get.c      get
 *   shared_settle.c   settle, find
 *   shared_read.c     counts, lists, names
 *   shared_control.c  removal, purge, settings
 */
#ifndef URLWEIR_FRONTIER_SHARED_SHARED_IMPL_H
#define URLWEIR_FRONTIER_SHARED_SHARED_IMPL_H

#include <pthread.h>

#include "base/arena.h"
#include "base/digest.h"
#include "frontier/shared/shared.h"
#include "frontier/shared/shared_scripts.h"

#define SHARED_DIGEST_SIZE 16
#define SHARED_PLACE_SIZE  22 /* number and digest (shared_parts.c) */
#define SHARED_ID_MOST     (32768 + 1020 + 8)

/* Queues that have more for a GET whose next part was not asked for yet. A part
 * is asked for of any hand. The oldest are forgotten; a GET then goes on with
 * other queues. */
#define SHARED_GETS 1024
struct shared_open_queue {
    struct shared_open_queue *next;
    size_t given; /* URLs, to this GET */
    size_t crawl_len, key_len;
    char names[]; /* crawl, key */
};
struct shared_open_get {
    uint32_t ticket;
    struct shared_open_queue *queues;
};

/* Threads: `name` to `slots` are read-only once it is open. */
struct shared {
    char name[SHARED_NAME_MOST + 1];
    char process[17]; /* a random word */
    struct shared_options o;
    struct digest_key key;
    unsigned shards;
    uint16_t *slots; /* of each shard */
    pthread_t thread;
    bool has_thread;
    int wake; /* eventfd: something was posted */

    pthread_mutex_t mtx; /* guards the fields below */
    struct shared_call *posted, *posted_last;
    bool stopping;
    int64_t stop_at; /* of shared_stop(), clock_mono(); INT64_MAX: not yet */
    unsigned hands;
    struct redis_cluster_stats stats;
    struct shared_open_get gets[SHARED_GETS];
    uint32_t ticket; /* the last one */

    struct redis_cluster *net; /* the thread's, once it runs; NULL: stopped */
};

struct shared_hand {
    struct shared *s;
    unsigned number;
    uint64_t calls; /* of those whose answer is kept */
    struct arena *names_memory;
    struct bytes *names;
    size_t name_count, name_room;
};

/* ---- one call (shared_call.c) ---- */

/* Takes one reply, on the module's thread. */
typedef void shared_take(void *ctx, size_t index, enum status st,
                         const redisReply *r);

/* Calls of one hand, side by side. */
struct shared_round;
struct shared_round *shared_round_new(struct shared_hand *h, shared_take *take,
                                      void *ctx);
/* Sends all calls and waits for their replies, `patience` ns at most;
 * INT64_MAX: until they have ended. Replies that come later are not taken.
 * Returns how many those are. Frees the round. */
size_t shared_round_run(struct shared_round *r, int64_t patience);

/* A call to be filled in. `index` is given to `take`. */
struct shared_call *shared_call_new(struct shared_round *r, unsigned shard,
                                    enum shared_script_number script,
                                    size_t index);
/* For scripts without queues: keys and arguments one by one. `rest` follows the
 * kind, as in "c:" and a crawl. */
void shared_call_key(struct shared_call *c, const char *kind,
                     struct bytes rest);
/* Not copied: it must last until shared_round_run has returned. */
void shared_call_arg(struct shared_call *c, struct bytes arg);
void shared_call_number(struct shared_call *c, int64_t n);
/* Copied. */
void shared_call_copy(struct shared_call *c, struct bytes arg);
/* for scripts with shared_queues (shared_parts.c): crawls and queues come
 * first. Returns the number of the queue in the call, from 1, the same for a
 * queue that it has. The names must last as an argument does. */
size_t shared_call_queue(struct shared_call *c, struct bytes crawl,
                         struct bytes key);
void shared_call_crawl(struct shared_call *c, struct bytes crawl);
size_t shared_call_octets(const struct shared_call *c);
size_t shared_call_queues(const struct shared_call *c);
/* It changes something: it counts when replicas have it. Keep: the answer of
 * its first run is given again by a second one. */
void shared_call_changes(struct shared_call *c, bool keep);

/* Posted by shared_round_run: the module's thread sends it. */
void shared_call_send(struct shared_call *c, struct redis_cluster *net);
/* Or ends it: there are no servers any more. */
void shared_call_drop(struct shared_call *c);
struct shared_call *shared_call_next(struct shared_call *c);
void shared_call_link(struct shared_call *c, struct shared_call *next);
void shared_post(struct shared *s, struct shared_call *list); /* shared.c */

/* ---- names ---- */

unsigned shared_shard_of(const struct shared *s, struct bytes crawl,
                         struct bytes key);
void shared_digest(const struct shared *s, struct bytes crawl, struct bytes key,
                   struct bytes url, char out[SHARED_DIGEST_SIZE]);
/* Append the ID of a queue. */
void shared_id_write(struct buf *out, struct bytes crawl, struct bytes key);
/* Read one. False: it is not one. */
bool shared_id_read(struct bytes id, struct bytes *crawl, struct bytes *key);

/* ---- replies ---- */

bool shared_is_text(const redisReply *r, size_t i);
bool shared_is_number(const redisReply *r, size_t i);
struct bytes shared_text(const redisReply *r, size_t i);

/* One reply of a call on one shard, for scripts that answer a text or number.
 */
struct shared_one {
    enum status st;
    int64_t number;
    struct buf text;
};
shared_take shared_take_one;

void shared_gets_free(struct shared *s); /* shared_get.c */

#endif
