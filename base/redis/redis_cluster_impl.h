/*
 * redis_cluster_impl.h - the cluster's own structs, for its files alone.
 *
 *   redis_cluster.c   calls: made, sent, repeated, ended
 *   redis_node.c      one server: connecting, its replies, WAIT
 *   redis_map.c       which server has which slot
 *   redis_memory.c    what each server has of its maxmemory
 */
#ifndef URLWEIR_BASE_REDIS_REDIS_CLUSTER_IMPL_H
#define URLWEIR_BASE_REDIS_REDIS_CLUSTER_IMPL_H

#include "base/redis/redis_cluster.h"
#include "base/redis/redis_link.h"
#include "base/redis/redis_slots.h"

enum call_kind {
    CALL_SCRIPT,
    CALL_LOAD,
    CALL_WAIT,
    CALL_MAP,
    CALL_SETTINGS,
    CALL_MEMORY,
    CALL_ASKING
};

/* Something whose reply is awaited. All but `kind`, `sent` and `mark` are of
 * CALL_SCRIPT alone. */
struct redis_call {
    struct redis_call *next;
    enum call_kind kind;
    int64_t sent;  /* clock_mono() */
    uint64_t mark; /* durable calls sent to its server by then */
    const struct redis_script *script;
    uint16_t slot;
    bool durable;
    struct redis_node *ask; /* the next try goes there, after ASKING */
    char *body;             /* the command */
    size_t len, run_id_at;  /* run_id_at: offset; 0: none */
    redis_call_end *end;
    void *ctx;
    int64_t deadline, not_before;
    unsigned tries;
    enum status last;  /* of the last try */
    redisReply *reply; /* of a durable call that replicas may not have */
};

struct redis_calls {
    struct redis_call *first, *last;
    size_t count;
};
void redis_calls_push(struct redis_calls *l, struct redis_call *c);
struct redis_call *redis_calls_pop(struct redis_calls *l); /* NULL: empty */

/* As the server said last. */
struct redis_memory {
    uint64_t used, most; /* octets; most: its maxmemory, 0: none */
    uint64_t told;       /* the maxmemory that was warned about */
    bool full;           /* it refuses calls that take memory */
    int64_t refused_at;  /* the last of them, clock_mono() */
    int64_t due;         /* to ask it again */
};

struct redis_node {
    struct redis_address at;
    bool is_seed, is_master;   /* is_master: has slots */
    struct redis_link *link;   /* NULL: closed */
    bool ready;                /* signed in, and the scripts are sent */
    bool refused;              /* it evicts, or refuses us */
    struct redis_calls sent;   /* replies come in this order */
    struct redis_calls unsafe; /* answered durable calls, before WAIT's reply */
    size_t durable;            /* durable calls in both */
    uint64_t durable_sent;
    bool waiting;     /* a WAIT is under way */
    int64_t next_try; /* to connect; clock_mono() */
    int64_t back_off; /* ns */
    struct redis_memory memory;
};

struct redis_cluster {
    struct redis_cluster_options o; /* its pointers: scripts alone */
    char (*sha)[41];                /* of each script */
    struct redis_node *nodes[REDIS_NODES_MOST];
    size_t node_count;
    struct redis_node *owner[REDIS_SLOTS]; /* NULL: none known */
    unsigned slots_owned;
    struct redis_calls todo; /* to be sent, now or later */
    size_t pending;
    bool mapping;     /* CLUSTER SLOTS is under way */
    int64_t map_due;  /* clock_mono() */
    int64_t map_last; /* when it was asked last */
    size_t map_turn;  /* which node is asked next */
    bool told_setting;
    struct redis_cluster_stats stats;
    enum status fault; /* a server must not be used */
    char fault_text[400];
};

/* ---- redis_cluster.c ---- */

/* A try ended without a reply that counts: try again after `delay`, ns. */
void redis_call_again(struct redis_cluster *c, struct redis_call *call,
                      enum status why, int64_t delay);
void redis_call_finish(struct redis_cluster *c, struct redis_call *call,
                       enum status st, const redisReply *r);
void redis_trouble(struct redis_cluster *c, struct bytes text);

/* ---- redis_node.c ---- */

struct redis_node *redis_node_add(struct redis_cluster *c,
                                  const struct redis_address *at);
void redis_node_free(struct redis_node *n);
/* Is there a reason to be connected to it? */
bool redis_node_is_wanted(const struct redis_cluster *c,
                          const struct redis_node *n);
/* Connect when it is time, send, receive. True: something happened. */
bool redis_node_turn(struct redis_cluster *c, struct redis_node *n,
                     int64_t now);
void redis_node_send(struct redis_cluster *c, struct redis_node *n,
                     struct redis_call *call, int64_t now);
/* Send a command of our own, `words` long. */
void redis_node_ask(struct redis_node *n, enum call_kind kind,
                    const struct bytes *words, size_t count, int64_t now);
/* Close the connection; its calls are tried again. */
void redis_node_lose(struct redis_cluster *c, struct redis_node *n,
                     const char *why, int64_t now);

/* ---- redis_map.c ---- */

void redis_map_want(struct redis_cluster *c);
/* Ask for the map when it is due. */
void redis_map_turn(struct redis_cluster *c, int64_t now);
void redis_map_take(struct redis_cluster *c, struct redis_node *from,
                    const redisReply *r, int64_t now);
/* All slots belong to a server without cluster mode. */
void redis_map_single(struct redis_cluster *c, struct redis_node *n);
/* A server said that `n` has the slot. */
void redis_map_moved(struct redis_cluster *c, uint16_t slot,
                     struct redis_node *n);
/* The server at `spot`, as `from` names it; made when it is new. NULL: there
 * are too many. */
struct redis_node *redis_map_node(struct redis_cluster *c,
                                  const struct redis_node *from,
                                  const struct redis_spot *spot);

/* ---- redis_memory.c ---- */

/* Ask for it when it is due. */
void redis_memory_turn(struct redis_node *n, int64_t now);
void redis_memory_take(struct redis_node *n, const struct redis_info *info,
                       int64_t now);
/* The server has refused a call since its memory is full. */
void redis_memory_refused(struct redis_node *n, int64_t now);

#endif
