/*
 * cluster_impl.h - the store's own structs, for its files alone.
 *
 *   cluster_store.c   opening, keys, counts
 *   cluster_record.c  the crawl's record, places
 *   cluster_put.c     URLs in, buckets of the seen set
 *   cluster_move.c    a whole crawl in, or out
 *   cluster_lease.c   looking for leases, claiming
 *   cluster_hints.c   hosts that are known to be due
 *   cluster_settle.c  ending and extending leases
 *   cluster_again.c   hosts that were given up
 *   cluster_watch.c   workers, and what there is of each kind
 *   cluster_steer.c   settings, pauses, stops
 *   cluster_robots.c  robots.txt of hosts
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_IMPL_H
#define URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_IMPL_H

#include "frontier/cluster_store/cluster_scripts.h"
#include "frontier/cluster_store/cluster_store.h"

#define CLUSTER_FORMAT "2" /* of what is in the cluster */

struct cluster_hint;
struct cluster_shard {
    uint16_t slot;
    bool looking;     /* a peek or a claim is under way */
    uint32_t buckets; /* of its seen set, as last told */
    bool splitting;
    int64_t next_look; /* clock_mono() */
    unsigned in_vain;  /* so many of the last looks found no host */
    struct cluster_hint *hints;
    size_t hint_count;
    int64_t hint_due; /* of the first of them; INT64_MAX: none */
    int64_t due;      /* as the last look said; 0: there was none */
    uint64_t maps;    /* another server has it: maps read by then, and 1 */
};

struct cluster_store {
    struct cluster_store_options o; /* its pointers: name alone */
    char name[CLUSTER_NAME_MOST + 1];
    struct redis_cluster *net;
    struct digest_key key;
    unsigned char seed[DIGEST_SEED_SIZE];
    struct buf settings;
    char worker[CLUSTER_WORD_SIZE]; /* its name */
    uint64_t version;               /* of the settings */
    bool paused;
    char stop[CLUSTER_WORD_SIZE]; /* the last one */
    bool begun, moved;
    unsigned shard_count;
    struct cluster_shard *shards;
    /* leases */
    size_t spare;    /* leases of our part beyond those asked for */
    size_t wanted;   /* leases asked for that were not given yet */
    size_t claiming; /* leases that claims under way may give */
    size_t looks;    /* shards that are looked at now */
    cluster_lease_take *take;
    void *take_ctx;
    unsigned look_at;     /* the shard where the next search begins */
    unsigned part, parts; /* of the shards, which are ours; parts 0: all */
    uint64_t holds;       /* of shards, after a failover */
    int64_t short_since;  /* own shards gave too little; 0: enough */
};

/* Keys of one call, written one after the other; key_list_get() when all are
 * there. */
struct key_list {
    struct buf text;
    struct bytes *key;
    size_t count, cap;
    char tag[CLUSTER_NAME_MOST + 16]; /* {NAME:SHARD} of the last one */
    size_t tag_len;
    unsigned shard;
};
void key_list_init(struct key_list *k);
void key_list_fini(struct key_list *k);
/* {NAME:SHARD}KIND, and REST behind it. */
void key_list_add(struct key_list *k, const struct cluster_store *s,
                  unsigned shard, const char *kind, struct bytes rest);
const struct bytes *key_list_get(struct key_list *k);

/* Run `begin` and wait for it. `args`: 'new' or '', fields and values. */
MUST_CHECK enum status cluster_record_begin(struct cluster_store *s,
                                            const struct bytes *args, size_t n,
                                            struct buf *error);
/* Run `script` on keys of the crawl; a letter of `kinds` for each, as
 * cluster_scripts.c names them, - is the record. */
#define CLUSTER_RECORD_KEYS 3 /* at most */
void cluster_record_run(struct cluster_store *s,
                        const struct redis_script *script, const char *kinds,
                        const struct bytes *args, size_t n, bool durable,
                        redis_call_end *end, void *ctx);
/* The same, waits for the reply, which is a number. */
MUST_CHECK enum status cluster_record_ask(struct cluster_store *s,
                                          const struct redis_script *script,
                                          const char *kinds,
                                          const struct bytes *args, size_t n,
                                          uint64_t *number);
void cluster_set_shards(struct cluster_store *s, unsigned count);

unsigned cluster_shard_of(const struct cluster_store *s, struct bytes host);
/* The bucket of a fingerprint among `n`. */
uint64_t cluster_bucket_of(uint64_t fp, uint32_t n);
/* A shard may have something due from then on. */
void cluster_look_at(struct cluster_store *s, unsigned shard, int64_t when);
/* Is the shard in this worker's part? */
bool cluster_is_own(const struct cluster_store *s, unsigned shard);

/* ---- cluster_hints.c ---- */

/* A host may be due from then on. */
void cluster_hint_add(struct cluster_store *s, unsigned shard,
                      struct bytes host, int64_t due);
void cluster_hint_remove(struct cluster_store *s, unsigned shard,
                         struct bytes host);
/* Up to `most` of those that are due by `now` are hints no longer; they are
 * valid as long as `text`, which was empty. */
size_t cluster_hints_take(struct cluster_store *s, unsigned shard, int64_t now,
                          struct buf *text, struct bytes *hosts, size_t most);
void cluster_hints_free(struct cluster_store *s);

/* Run `script` on `shard`; `end` frees `ctx`. */
void cluster_run(struct cluster_store *s, unsigned shard,
                 const struct redis_script *script, struct key_list *keys,
                 const struct bytes *args, size_t arg_count, bool durable,
                 redis_call_end *end, void *ctx);

#endif
