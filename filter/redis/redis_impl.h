/*
 * redis_impl.h - the shared filter's own struct, for its files alone.
 *
 *   redis_bloom.c  calls, batches of keys, ageing, what a filter says of itself
 *   redis_open.c   makes a filter, or finds the one that is there; its record;
 *                  another size while other clients go on
 */
#ifndef URLWEIR_FILTER_REDIS_REDIS_IMPL_H
#define URLWEIR_FILTER_REDIS_REDIS_IMPL_H

#include "base/buf.h"
#include "filter/filter.h"
#include "filter/redis/redis_bits.h"
#include "filter/redis/redis_bloom.h"
#include "filter/redis/redis_connection.h"
#include "filter/redis/redis_scripts.h"

#define REDIS_WINDOW     4  /* most calls under way at once */
#define REDIS_TOKEN_SIZE 33 /* 32 hexadecimal digits and a zero byte */
#define REDIS_TRIES      6  /* of one call, at least */
#define REDIS_OLDS       FILTER_GENERATIONS_MOST

/* The names of a filter's keys, as scripts take them. */
enum {
    KEY_BITS,
    KEY_RECORD,
    KEY_NEXT,
    KEY_GROWN,
    KEY_OLD, /* older generations, youngest first */
    REDIS_NAMES = KEY_OLD + REDIS_OLDS
};

struct redis_old {
    uint64_t last; /* ms since 1970 by the server's clock: its last key */
    uint64_t count, set;
};

struct redis_record {
    char epoch[REDIS_TOKEN_SIZE]; /* "": another program's bitmap */
    char generation[24];
    struct redis_geometry now, next; /* next.k == 0: no rebuild */
    char next_token[REDIS_TOKEN_SIZE];
    char built[REDIS_TOKEN_SIZE];      /* of the last finished rebuild */
    uint64_t adds, count, set, expect; /* set: bits that are 1 */
    uint64_t next_count;
    double fpr;
    uint64_t ttl_ms;      /* 0: it stays */
    unsigned generations; /* 0: it ends as a whole */
    uint64_t last;
    unsigned olds;
    struct redis_old old[REDIS_OLDS];
    bool has_seed;
    unsigned char seed[DIGEST_SEED_SIZE];
};

struct redis_bloom {
    struct redis_place place;
    enum redis_bloom_mode mode;
    uint64_t expect; /* of a filter that we make */
    double fpr;
    uint64_t ttl_ms;
    unsigned generations;
    bool has_seed;
    unsigned char seed[DIGEST_SEED_SIZE];
    struct redis_connection *link;
    char names[REDIS_NAMES][300];
    struct redis_record record;
    char token[REDIS_TOKEN_SIZE]; /* of our rebuild; "": none */
    char run_id[REDIS_RUN_ID_SIZE];
    uint64_t restarts;
    char client[17]; /* 16 hexadecimal digits */
    uint64_t batch;  /* number of the next batch */
    struct buf packed, packed_next;
    bool told_evicts;
};

/* Two hexadecimal digits for each octet, and a zero byte. */
void redis_hex(char *out, const unsigned char *octets, size_t n);
/* Make 32 random hexadecimal digits. */
void redis_token(char out[REDIS_TOKEN_SIZE]);

/* Make sure that we are connected, to the server we know; if it is another or
 * was restarted, read what it still has. STATUS_CLOSED: no server within the
 * link's patience. */
MUST_CHECK enum status redis_meet(struct redis_bloom *b);
/* How often and how long one call is tried. If a server restarts, or takes no
 * more clients for a while, we try for the link's patience. */
struct redis_tries {
    int n;
    int64_t until;
};
struct redis_tries redis_tries_begin(const struct redis_bloom *b);
bool redis_try_again(struct redis_tries *t, enum status st);

/* Run a script on the first `nkeys` names, and retry while the server is out of
 * reach and may come back. Gives its answer, or the status that the answer
 * stands for. */
MUST_CHECK enum status redis_call(struct redis_bloom *b,
                                  const struct redis_script *s, size_t nkeys,
                                  const struct bytes *args, size_t nargs,
                                  redisReply **out);
/* The same for a script whose answer is the record, which is read. */
MUST_CHECK enum status redis_step(struct redis_bloom *b,
                                  const struct redis_script *s, size_t nkeys,
                                  const struct bytes *args, size_t nargs);
/* The same for a script that needs room for `bits` under KEY_GROWN, which is
 * made first, piece by piece, if the script asks for it. */
MUST_CHECK enum status redis_step_with_room(struct redis_bloom *b,
                                            const struct redis_script *s,
                                            uint64_t bits, size_t nkeys,
                                            const struct bytes *args,
                                            size_t nargs);
/* Count the bits set in octets `first` to `last`, negative ones from the end;
 * *len is the length of the whole string. */
MUST_CHECK enum status redis_count(struct redis_bloom *b, int64_t first,
                                   int64_t last, uint64_t *set, uint64_t *len);
/* Parse a record as HGETALL gives it. STATUS_FORMAT: not valid; *out is
 * unchanged. */
MUST_CHECK enum status redis_record_read(struct redis_record *out,
                                         const redisReply *r);
/* Read the record that is there; `over`: also if the filter's time is over. */
MUST_CHECK enum status redis_read_record(struct redis_bloom *b, bool over,
                                         struct redis_record *out);
/* Read the record again, since our copy of the geometry is stale. */
MUST_CHECK enum status redis_reload(struct redis_bloom *b);

#endif
