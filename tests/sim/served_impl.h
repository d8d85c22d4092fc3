/*
 * served_impl.h - the inside of a simulated served frontier's clients.
 *
 *   served_clients.c   clients and their calls
 *   served_throw.c     which call a client makes next
 *   served_judge.c     what may be read, and what a process left
 *
 * No other file includes this.
 */
#ifndef URLWEIR_TESTS_SIM_SERVED_IMPL_H
#define URLWEIR_TESTS_SIM_SERVED_IMPL_H

#include "tests/sim/served_clients.h"

#define SERVED_HELD   40
#define SERVED_FILTER "Example/1" /* of lists, whatever its case */

enum slot_state {
    SLOT_FREE,
    SLOT_OUT,   /* not answered */
    SLOT_FAILED /* answered with a failure of the store, `at` this time */
};

struct served_slot {
    enum slot_state state;
    struct plain_op op;
    int64_t at;
};

/* What a client was given, and has not forgotten. */
struct served_held {
    struct served_place at;
    uint64_t lease; /* 0: nothing */
    int64_t until;
};

struct served_client {
    struct served_held held[SERVED_HELD];
    unsigned next;
};

struct served_world {
    struct plain m;
    struct served_use use;
    struct served_slot slots[SERVED_CLIENTS];
    struct served_client clients[SERVED_CLIENTS];
    bool opening;     /* the clock was not read yet */
    bool unsettled;   /* what the last process left is not known yet */
    bool begun;       /* the frontier was open once */
    bool opened_back; /* the clock was set back meanwhile */
    int64_t opened, now;
    int64_t now_before; /* of the last turn before calls were left open */
    uint64_t turn, broken_turn; /* 0: the store has not failed */
};

/* The calls that may have been carried out, or not. */
unsigned served_open_calls(const struct served_world *);
void served_throw(struct served_world *, unsigned client, struct dice *,
                  struct plain_op *out);
void served_op_text(const struct plain_op *, char out[200]);

/* ---- what is read ---- */

/* NULL: it is as it must be. */
const char *served_judge_read(struct plain *, const struct plain_op *,
                              const struct frontier_call *, int64_t now);
/* What a LIST_URLS must list. */
size_t served_listed(const struct plain *, const struct plain_op *,
                     struct served_place out[SERVED_ALL]);

/* All that can be asked about a frontier. */
struct served_look {
    bool there;
    unsigned meta;
    uint64_t lease;
    struct url_facts facts;
    int64_t now;
};

struct served_looks {
    struct served_look urls[SERVED_CRAWLS][SERVED_KEYS][SERVED_URLS];
    unsigned keys[SERVED_CRAWLS][SERVED_KEYS];
    size_t key_count[SERVED_CRAWLS];
    bool active, failed;
    unsigned open;                     /* calls */
    const struct frontier_call *calls; /* one for each of `urls` */
};

void served_look_take(struct served_look *, const struct frontier_call *);
void served_look_queues(struct served_looks *, unsigned crawl,
                        const struct frontier_call *);
/* Finds out which of the open calls were carried out. False, with why[300]:
 * whichever were, this is not what must be there. */
bool served_settle_open(struct served_world *, const struct served_looks *,
                        char *why);

#endif
