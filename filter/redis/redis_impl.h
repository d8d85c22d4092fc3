/*
 * redis_impl.h - the shared filter's own struct, for its files alone.
 *
 *   redis_bloom.c  calls, batches of keys, ageing, what a filter says of itself
 *   redis_open.c   makes a filter, or finds the one that is there; its record;
 *                  another size while other clients go on
 *   redis_scripts.c  what the server does, in Lua
 */
#ifndef URLWEIR_FILTER_REDIS_REDIS_IMPL_H
#define URLWEIR_FILTER_REDIS_REDIS_IMPL_H

#include "base/buf.h"
#include "filter/filter.h"
#include "filter/redis/redis_bloom.h"
#include "filter/redis/redis_connection.h"
#include "filter/redis/redis_place.h"

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

/* ---- the Lua scripts that a server runs (redis_scripts.c) ----
 *
 * A script runs alone on the server, so each is one step that others see whole
 * or not at all. All but `open` and `drop` begin by asking whether the filter
 * is still the one the caller knows: its epoch, a random word in the record
 * that stands beside the bits, and the length of the bits themselves. So a
 * filter that was flushed, evicted or expired can never pass for an empty one.
 *
 * No command makes, counts or frees more than 1 MiB at once, so that the server
 * does not stand still for its other clients.
 *
 * KEYS   1 the bits, 2 the record, 3 bits being rebuilt, 4 a batch's answer; of
 *        open, begin, age, renew and grow, room that this client has grown;
 *        5 and more, of check 3 and more: older generations, youngest first
 * answers
 *   LOST   there is no such filter any more
 *   STALE  its geometry changed, or a rebuild began or ended: read the record
 *   AGE    a new generation must begin first: see `age`
 *   GROW   KEYS[4] must have the full length first: see `grow`
 *   NONE, TAKEN, FOREIGN, GONE   see each
 */

/* ARGV: mode open|renew|make|new|again, bits, ttl in ms, generations, then
 * field, value... of a new record. Gives the record as HGETALL does; NONE:
 * nothing is there; FOREIGN: bits without a record; TAKEN: something else is
 * there and must not be touched. `again` is `make` by a caller that knows that
 * bits without a record are the remains of a filter; `renew` gives a record
 * without bits, too. */
extern const struct redis_script redis_script_open;
/* ARGV: epoch, generation, batch ID or "", k, offsets, offsets for the bits
 * being rebuilt or "", their k. Gives {batches, keys, bits set, "0110..."}: 1
 * for each key that was new. A batch ID seen before gets the same answer as
 * then. */
extern const struct redis_script redis_script_add;
/* ARGV: epoch, generation, k, offsets. Gives {"0110..."}: 1 for each key whose
 * bits are all set. */
extern const struct redis_script redis_script_check;
/* ARGV: epoch, token, bits, then field, value... Gives the record. */
extern const struct redis_script redis_script_begin;
/* ARGV: epoch, token, k, offsets. Gives {1}; GONE: another rebuild began. */
extern const struct redis_script redis_script_fill;
/* ARGV: epoch, token; of swap also "1" if the new bits may have far fewer keys.
 * Gives the record; GONE; SMALL: they have less than half of the old keys. */
extern const struct redis_script redis_script_swap;
extern const struct redis_script redis_script_abort;
/* ARGV: epoch. Gives {record, ms to live or -1}. */
extern const struct redis_script redis_script_info;
extern const struct redis_script redis_script_drop;
/* Make KEYS[4] longer by one piece. ARGV: its last octet then. Gives {1}. What
 * is not used within ten minutes goes. */
extern const struct redis_script redis_script_grow;
/* ARGV: epoch, first and last octet, negative ones from the end. Gives {bits
 * set there, octets in all}. */
extern const struct redis_script redis_script_count;
/* ARGV: epoch, generation. If it is due, make a new generation and drop those
 * that are over. Gives the record. */
extern const struct redis_script redis_script_age;
/* ARGV: epoch, generation, ms to live from now on. Gives the record. */
extern const struct redis_script redis_script_ttl;
/* ARGV: a new epoch. Begin a filter anew whose time is over, unless somebody
 * has. Gives the record. */
extern const struct redis_script redis_script_renew;

#endif
