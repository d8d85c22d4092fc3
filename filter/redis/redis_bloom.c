/* SPDX-License-Identifier: MIT */
/*
 * redis_bloom.c - a Bloom filter in a Redis string, shared by many processes.
 *
 *   NAME                 the bits, at their full length from the start
 *   NAME:meta            a hash: geometry, epoch, generation, counts
 *   NAME:next            bits being rebuilt
 *   NAME:old1 ... :old4  older generations of a filter that forgets
 *   NAME:last:CLIENT:N   the answer to one of a client's last batches
 *   NAME:room:CLIENT     zero bits that a client grows before they are used
 *
 * The client computes the offsets, so that the server only sets and tests bits;
 * the price is that every client must know the geometry. Hence the generation:
 * a call made for another generation does nothing and answers STALE; the client
 * then reads the record and calls again. This makes a rebuild safe: once it has
 * begun, no client can go on writing to the old bits alone.
 */
#include "filter/redis/redis_bloom.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/mem.h"
#include "filter/redis/redis_impl.h"

/* ---- small things ---- */

void redis_hex(char *out, const unsigned char *octets, size_t n)
{
    for (size_t i = 0; i < n; i++)
        snprintf(out + 2 * i, 3, "%02x", octets[i]);
}

void redis_token(char out[REDIS_TOKEN_SIZE])
{
    unsigned char random[16];

    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        int64_t now = clock_wall_ms(), mono = clock_mono();

        memcpy(random, &now, 8);
        memcpy(random + 8, &mono, 8);
    }
    redis_hex(out, random, sizeof random);
}

struct bytes redis_name(const struct redis_bloom *b, unsigned which)
{
    return bytes_of_str(b->names[which]);
}

struct redis_bloom *redis_bloom_new(const struct redis_bloom_options *o)
{
    struct redis_bloom *b = xcalloc(1, sizeof *b);
    char token[REDIS_TOKEN_SIZE];

    b->place = *o->place;
    b->mode = o->mode;
    b->expect = o->expect;
    b->fpr = o->fpr;
    b->ttl_ms = (uint64_t)(o->ttl_ms > 0 ? o->ttl_ms : o->place->ttl_ms);
    b->generations = o->ttl_ms > 0 ? o->generations : 0;
    b->has_seed = o->seed != NULL;
    if (o->seed != NULL)
        memcpy(b->seed, o->seed, sizeof b->seed);
    b->link = redis_connection_new(o->place, o->patience_ms);
    snprintf(b->names[KEY_BITS], sizeof *b->names, "%s", b->place.key);
    snprintf(b->names[KEY_RECORD], sizeof *b->names, "%s:meta", b->place.key);
    snprintf(b->names[KEY_NEXT], sizeof *b->names, "%s:next", b->place.key);
    redis_token(token);
    memcpy(b->client, token, 16);
    snprintf(b->names[KEY_GROWN], sizeof *b->names, "%s:room:%s", b->place.key,
             b->client);
    for (unsigned i = 0; i < REDIS_OLDS; i++)
        snprintf(b->names[KEY_OLD + i], sizeof *b->names, "%s:old%u",
                 b->place.key, i + 1);
    buf_init(&b->packed, REDIS_BATCH * REDIS_MOST_K * 4);
    buf_init(&b->packed_next, REDIS_BATCH * REDIS_MOST_K * 4);
    return b;
}

void redis_bloom_free(struct redis_bloom *b)
{
    if (b == NULL)
        return;
    redis_connection_free(b->link);
    buf_fini(&b->packed);
    buf_fini(&b->packed_next);
    free(b);
}

/* ---- calling ---- */

/* The status that stands for a one-word answer. */
static enum status word_status(struct bytes word)
{
    static const struct {
        const char *word;
        enum status st;
    } words[] = {
        {"LOST", STATUS_NOT_FOUND}, {"NONE", STATUS_NOT_FOUND},
        {"GONE", STATUS_NOT_FOUND}, {"STALE", STATUS_AGAIN},
        {"TAKEN", STATUS_EXISTS},   {"FOREIGN", STATUS_ARG},
        {"GROW", STATUS_LIMIT},     {"SMALL", STATUS_REFUSED},
        {"AGE", STATUS_LIMIT},
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (bytes_is(word, words[i].word))
            return words[i].st;
    return STATUS_FORMAT;
}

enum status redis_judge(redisReply **r)
{
    enum status st = STATUS_OK;

    if ((*r)->type == REDIS_REPLY_ARRAY)
        return STATUS_OK;
    st = (*r)->type == REDIS_REPLY_STRING
             ? word_status(bytes_of((*r)->str, (size_t)(*r)->len))
             : STATUS_FORMAT;
    freeReplyObject(*r);
    *r = NULL;
    return st;
}

enum status redis_read_record(struct redis_bloom *b, bool over,
                              struct redis_record *out)
{
    struct bytes args[3] = {bytes_of_str(over ? "renew" : "open"),
                            bytes_of_str("0"), bytes_of_str("0")};
    /* No name that may be missing: while a cluster moves a slot, it does not
     * run scripts on several keys of which one is not there. */
    struct bytes keys[2] = {redis_name(b, KEY_BITS), redis_name(b, KEY_RECORD)};
    redisReply *r = NULL;
    enum status st =
        redis_connection_run(b->link, &redis_script_open, keys, 2, args, 3, &r);

    if (st == STATUS_OK)
        st = redis_judge(&r);
    if (st == STATUS_OK) {
        st = redis_record_read(out, r);
        freeReplyObject(r);
    }
    return st;
}

enum status redis_meet(struct redis_bloom *b)
{
    struct redis_record now;
    enum status st = redis_connection_ready(b->link);

    if (st != STATUS_OK ||
        strcmp(b->run_id, redis_connection_run_id(b->link)) == 0)
        return st;
    if (b->run_id[0] != '\0' && b->record.epoch[0] != '\0') {
        st = redis_read_record(b, false, &now);
        if (st == STATUS_OK && strcmp(now.epoch, b->record.epoch) != 0)
            st = STATUS_NOT_FOUND;
        if (st == STATUS_OK && now.adds < b->record.adds)
            st = STATUS_DAMAGED;
        if (st == STATUS_CLOSED)
            return STATUS_AGAIN; /* gone again: start over */
    }
    if (b->run_id[0] != '\0')
        b->restarts++;
    snprintf(b->run_id, sizeof b->run_id, "%s",
             redis_connection_run_id(b->link));
    return st;
}

struct redis_tries redis_tries_begin(const struct redis_bloom *b)
{
    return (struct redis_tries){.until = clock_mono() +
                                         redis_connection_patience(b->link)};
}

bool redis_try_again(struct redis_tries *t, enum status st)
{
    t->n++;
    return (st == STATUS_AGAIN && t->n < REDIS_TRIES) ||
           (st == STATUS_CLOSED &&
            (t->n < REDIS_TRIES || clock_mono() < t->until));
}

enum status redis_call(struct redis_bloom *b, const struct redis_script *s,
                       size_t nkeys, const struct bytes *args, size_t nargs,
                       redisReply **out)
{
    struct bytes keys[REDIS_NAMES];
    struct redis_tries t = redis_tries_begin(b);
    enum status st;

    for (unsigned i = 0; i < nkeys; i++)
        keys[i] = redis_name(b, i);
    do {
        st = redis_meet(b);
        if (st == STATUS_CLOSED)
            return st;
        if (st == STATUS_OK)
            st =
                redis_connection_run(b->link, s, keys, nkeys, args, nargs, out);
    } while (redis_try_again(&t, st));
    if (st == STATUS_OK)
        return redis_judge(out);
    return st == STATUS_AGAIN ? STATUS_CLOSED : st;
}

/* The longest that a command makes or counts at once: longer ones would hold up
 * the server's other clients. */
#define PIECE (1024 * 1024)

static enum status grow(struct redis_bloom *b, uint64_t octets)
{
    enum status st = STATUS_OK;

    for (uint64_t end = 0; st == STATUS_OK && end < octets;) {
        char last[24];
        struct bytes args[1];
        redisReply *r = NULL;

        end = octets - end < PIECE ? octets : end + PIECE;
        snprintf(last, sizeof last, "%" PRIu64, end - 1);
        args[0] = bytes_of_str(last);
        st = redis_call(b, &redis_script_grow, 4, args, 1, &r);
        freeReplyObject(r);
    }
    return st;
}

enum status redis_step(struct redis_bloom *b, const struct redis_script *s,
                       size_t nkeys, const struct bytes *args, size_t nargs)
{
    redisReply *r = NULL;
    enum status st = redis_call(b, s, nkeys, args, nargs, &r);

    if (st == STATUS_OK) {
        st = redis_record_read(&b->record, r);
        freeReplyObject(r);
    }
    return st;
}

enum status redis_step_with_room(struct redis_bloom *b,
                                 const struct redis_script *s, uint64_t bits,
                                 size_t nkeys, const struct bytes *args,
                                 size_t nargs)
{
    enum status st = redis_step(b, s, nkeys, args, nargs);

    for (int i = 0; st == STATUS_LIMIT && i < REDIS_TRIES; i++) {
        st = grow(b, (bits + 7) / 8);
        if (st == STATUS_OK)
            st = redis_step(b, s, nkeys, args, nargs);
    }
    return st == STATUS_LIMIT ? STATUS_CLOSED : st;
}

enum status redis_count(struct redis_bloom *b, int64_t first, int64_t last,
                        uint64_t *set, uint64_t *len)
{
    char from[24], to[24];
    struct bytes args[3];
    redisReply *r = NULL;
    enum status st;

    snprintf(from, sizeof from, "%" PRId64, first);
    snprintf(to, sizeof to, "%" PRId64, last);
    args[0] = bytes_of_str(b->record.epoch);
    args[1] = bytes_of_str(from);
    args[2] = bytes_of_str(to);
    st = redis_call(b, &redis_script_count, 2, args, 3, &r);
    if (st != STATUS_OK || r == NULL)
        return st;
    if (r->elements != 2 || r->element[0]->type != REDIS_REPLY_INTEGER ||
        r->element[1]->type != REDIS_REPLY_INTEGER ||
        r->element[0]->integer < 0 || r->element[1]->integer < 0) {
        st = STATUS_FORMAT;
    } else {
        *set = (uint64_t)r->element[0]->integer;
        *len = (uint64_t)r->element[1]->integer;
    }
    freeReplyObject(r);
    return st;
}

enum status redis_reload(struct redis_bloom *b)
{
    struct redis_record now;
    enum status st = redis_read_record(b, false, &now);

    if (st == STATUS_OK && strcmp(now.epoch, b->record.epoch) != 0)
        st = STATUS_NOT_FOUND;
    if (st == STATUS_OK)
        b->record = now;
    return st;
}

enum status redis_bloom_drop(struct redis_bloom *b)
{
    redisReply *r = NULL;
    enum status st;

    if (b->record.epoch[0] == '\0')
        return STATUS_ARG;
    st = redis_call(b, &redis_script_drop, REDIS_NAMES, NULL, 0, &r);
    if (st == STATUS_OK)
        freeReplyObject(r);
    return st;
}

/* ---- asking ---- */

bool redis_bloom_is_due(const struct redis_bloom *b)
{
    return redis_connection_is_due(b->link);
}

enum status redis_bloom_ready(struct redis_bloom *b)
{
    enum status st = redis_meet(b);

    if (st == STATUS_OK && b->record.epoch[0] != '\0')
        st = redis_reload(b);
    return st == STATUS_AGAIN ? STATUS_CLOSED : st;
}

uint64_t redis_bloom_restarts(const struct redis_bloom *b)
{
    return b->restarts;
}

bool redis_bloom_is_overfull(const struct redis_bloom *b)
{
    const struct redis_record *m = &b->record;

    return m->epoch[0] != '\0' &&
           redis_rate_is_overfull(redis_rate_now(m), m->fpr);
}

void redis_bloom_known(const struct redis_bloom *b,
                       struct redis_bloom_info *out)
{
    const struct redis_record *m = &b->record;

    *out = (struct redis_bloom_info){
        .layout = m->now.layout,
        .hash = m->now.hash,
        .bits = m->now.bits,
        .k = m->now.k,
        .expect = m->expect,
        .count = redis_count_now(m),
        .fpr = m->fpr,
        .fpr_predicted = redis_rate_now(m),
        .overfull = redis_bloom_is_overfull(b),
        .bits_set = m->set,
        .foreign = m->epoch[0] == '\0',
        .has_seed = m->has_seed,
        .rebuilding = m->next.k != 0,
        .next_count = m->next_count,
        .may_evict = redis_connection_may_evict(b->link),
        .is_logged = redis_connection_is_logged(b->link),
        .ends_ms = -1,
        .ttl_ms = m->generations > 0 ? (int64_t)m->ttl_ms : 0,
        .generations = m->generations,
    };
    memcpy(out->seed, m->seed, sizeof out->seed);
    memcpy(out->epoch, m->epoch, sizeof out->epoch);
    memcpy(out->run_id, b->run_id, sizeof out->run_id);
}

static enum status count_all(struct redis_bloom *b, uint64_t *out)
{
    enum status st = STATUS_OK;
    uint64_t sum = 0, len = 1;

    for (uint64_t at = 0; st == STATUS_OK && at < len; at += PIECE) {
        uint64_t set = 0;

        st = redis_count(b, (int64_t)at, (int64_t)at + PIECE - 1, &set, &len);
        sum += set;
    }
    *out = sum;
    return st;
}

enum status redis_bloom_inspect(struct redis_bloom *b,
                                struct redis_bloom_info *out)
{
    struct bytes args[1] = {bytes_of_str(b->record.epoch)};
    redisReply *r = NULL;
    enum status st = redis_call(b, &redis_script_info, 2, args, 1, &r);
    int64_t ttl = -1;
    uint64_t set = 0;

    if (st != STATUS_OK || r == NULL)
        return st;
    if (r->elements != 2 || r->element[1]->type != REDIS_REPLY_INTEGER)
        st = STATUS_FORMAT;
    else if (b->record.epoch[0] != '\0')
        st = redis_record_read(&b->record, r->element[0]);
    if (st == STATUS_OK)
        ttl = r->element[1]->integer;
    freeReplyObject(r);
    if (st == STATUS_OK)
        st = count_all(b, &set);
    if (st != STATUS_OK)
        return st;
    b->record.set = set < b->record.now.bits ? set : b->record.now.bits;
    redis_bloom_known(b, out);
    out->ends_ms = ttl >= 0 ? ttl : -1;
    return STATUS_OK;
}
