/*
 * served_model.h - a frontier of other programs as its contract has it, and
 * nothing more: arrays, searched from end to end.
 *
 * What it says must be true stands in ../shared/URLFRONTIER.md,
 * docs/decisions/service-store.md and service/calls/call.h. It is plain data,
 * so a copy is another thing that may have happened. Times are milliseconds of
 * the wall clock.
 */
#ifndef URLWEIR_TESTS_SIM_SERVED_MODEL_H
#define URLWEIR_TESTS_SIM_SERVED_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/calls/call.h"

#define SERVED_CRAWLS   3 /* as a crawl: a name that nobody puts */
#define SERVED_KEYS     5 /* as a key: none; one more: one that nobody puts */
#define SERVED_URLS     14
#define SERVED_ALL      (SERVED_CRAWLS * SERVED_KEYS * SERVED_URLS)
#define SERVED_PUT_MOST 700
#define SERVED_META_BIG 0x10000u /* of a number of metadata: it is long */

/* ---- names ---- */

struct served_place {
    unsigned crawl, key, url;
};

struct bytes served_crawl_text(unsigned crawl);
struct bytes served_key_text(unsigned key);
/* URLs of the keys 0, 1 and 4 have their key in them. */
struct bytes served_url_text(char to[64], unsigned key, unsigned url);
bool served_key_is_in_url(unsigned key);
#define SERVED_META_MOST 40000
struct bytes served_meta_text(char *to, unsigned meta);
unsigned served_meta_of(struct bytes);
/* False: it is no URL of ours. */
bool served_place_of(const struct frontier_url *, struct served_place *out);

/* ---- the model ---- */

struct plain_url {
    bool there, dated;
    unsigned meta; /* a number; 0: none */
    uint64_t arrival;
    int64_t created, due; /* due 0: completed */
    int64_t until;        /* leased; 0: not */
    uint64_t lease;       /* its number, as it was told; 0: it was not */
    /* The last lease that was not ended by an answer, as a restart finds it; 0:
     * none. */
    int64_t row_at, row_until;
};

struct plain_queue {
    bool there;
    unsigned number; /* in order of appearance, from 1 */
    uint64_t turn;
    int64_t delay, blocked, served;
    uint32_t limit;
    struct plain_url urls[SERVED_URLS];
};

struct plain {
    struct plain_queue queues[SERVED_CRAWLS][SERVED_KEYS];
    uint64_t arrivals, turns;
    unsigned numbers;
    int64_t default_delay, last_created, now;
    bool active;
    bool jumped;      /* the clock was set back: whose turn it is is not known
                         after a restart */
    int64_t got_ms;   /* that an open GET may have leased URLs for */
    uint64_t changes; /* for who reads in parts */
};

/* ---- calls ---- */

struct plain_item {
    enum frontier_item_kind kind;
    struct served_place at;
    uint64_t refetch_s;
    unsigned meta;
    bool bare;    /* without a key, which is in the URL */
    bool bad_key; /* it is too long */
};

/* Where a GET goes on; all zero at first. */
struct plain_cursor {
    uint64_t turn;
    uint32_t queues, urls;
    bool within; /* a queue, with more URLs to come */
    unsigned crawl, key;
};

struct plain_op {
    enum frontier_verb verb;
    unsigned crawl, key, url;
    /* PUT: items are thrown from `seed`, or one is given */
    uint64_t seed, base_s;
    unsigned count;
    bool big, given;
    struct plain_item item;
    /* GET */
    bool any, nameless;                       /* the crawl's ID is empty */
    uint32_t most_urls, most_queues, seconds; /* also of SETTLE */
    struct plain_cursor cursor;
    /* SETTLE */
    uint64_t lease;
    enum url_settle how;
    uint64_t refetch_s;
    bool keep;
    unsigned meta;
    /* LIST_URLS, LIST_QUEUES */
    uint32_t start, size;
    bool flag; /* filtered; include_inactive; SET_ACTIVE */
    /* others */
    uint64_t value; /* BLOCK, DELAY, LIMIT, PURGE */
    uint16_t ms;
    bool standard;
};

struct plain_item plain_item(const struct plain_op *, unsigned nth);
/* Does the call change anything? */
bool plain_changes(enum frontier_verb);

struct plain_result {
    enum status status;
    uint64_t number;
    unsigned char acks[SERVED_PUT_MOST];
};

void plain_init(struct plain *);
/* A turn of the frontier begins. */
void plain_tick(struct plain *, int64_t now);
/* All that changes something, but for GET. */
void plain_apply(struct plain *, const struct plain_op *, int64_t now,
                 struct plain_result *);
/* `seen`: what was handed out, NULL: not known; `more`: it was a part. False,
 * with *why: that is not what must be. */
bool plain_get(struct plain *, struct plain_op *, int64_t now,
               const struct frontier_url *seen, size_t n, bool more,
               const char **why);
/* The process has ended, and another one opens the directory. */
void plain_restart(struct plain *, int64_t now);

/* ---- questions ---- */

struct url_counts plain_counts(const struct plain *, unsigned crawl,
                               unsigned key);
/* Those of a crawl, or of one of its queues, in order of queue and arrival;
 * returns how many. */
size_t plain_list(const struct plain *, unsigned crawl, unsigned key,
                  struct served_place out[SERVED_ALL]);
/* Keys in order; without `inactive` not those that are blocked or done. */
size_t plain_queues(const struct plain *, unsigned crawl, bool inactive,
                    unsigned out[SERVED_KEYS]);
int64_t plain_delay(const struct plain *, const struct plain_queue *);

#endif
