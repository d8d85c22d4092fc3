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

static struct bytes redis_name(const struct redis_bloom *b, unsigned which)
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

/* An array is a result, and kept; a word becomes a status, and is freed. */
static enum status redis_judge(redisReply **r)
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

static enum status batch_grow(struct redis_bloom *b, uint64_t octets)
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
        st = batch_grow(b, (bits + 7) / 8);
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

static bool batch_is_over(const struct redis_record *m, uint64_t last)
{
    return m->generations > 0 && last + m->ttl_ms <= (uint64_t)clock_wall_ms();
}

/* Keys and rate of all generations that still count. */
static double redis_rate_now(const struct redis_record *m)
{
    double wrong = batch_is_over(m, m->last)
                       ? 0
                       : redis_geometry_rate_now(&m->now, m->set);

    for (unsigned i = 0; i < m->olds; i++)
        if (!batch_is_over(m, m->old[i].last))
            wrong +=
                (1 - wrong) * redis_geometry_rate_now(&m->now, m->old[i].set);
    return wrong;
}

bool redis_bloom_is_overfull(const struct redis_bloom *b)
{
    const struct redis_record *m = &b->record;

    return m->epoch[0] != '\0' &&
           redis_rate_is_overfull(redis_rate_now(m), m->fpr);
}

static uint64_t redis_count_now(const struct redis_record *m)
{
    uint64_t sum = batch_is_over(m, m->last) ? 0 : m->count;

    for (unsigned i = 0; i < m->olds; i++)
        if (!batch_is_over(m, m->old[i].last))
            sum += m->old[i].count;
    return sum;
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

/* ---- adds and checks keys, in batches ----
 *
 * A batch whose answer did not arrive may have been carried out. Sending it
 * again would report its keys as seen, although no client was told that they
 * were new; so the server keeps the answers of a client's last batches for ten
 * minutes.
 */

#define BATCH_ID_SIZE 33

/* One call under way: its keys, and its batch ID. */
struct chunk {
    size_t first, n;
    char id[BATCH_ID_SIZE];
    char answer_name[300];
    bool sent, done;
};

struct run {
    struct redis_keys keys;
    bool add;
    bool *out; /* NULL: not wanted */
};

/* The arguments of a chunk's call, for the geometry as we know it now. */
struct call {
    const struct redis_script *script;
    struct bytes keys[REDIS_NAMES], args[7];
    size_t nkeys, nargs;
    char k[12], k_next[12];
};

static void batch_prepare(struct redis_bloom *b, const struct run *r,
                          const struct chunk *c, struct call *to)
{
    const struct redis_record *m = &b->record;

    buf_clear(&b->packed);
    buf_clear(&b->packed_next);
    redis_bits_pack(&m->now, r->keys, c->first, c->n, &b->packed);
    snprintf(to->k, sizeof to->k, "%u", m->now.k);
    snprintf(to->k_next, sizeof to->k_next, "%u", m->next.k);
    for (unsigned i = 0; i < 3; i++)
        to->keys[i] = redis_name(b, i);
    to->keys[3] = bytes_of_str(c->answer_name);
    to->args[0] = bytes_of_str(m->epoch);
    to->args[1] = bytes_of_str(m->generation);
    to->nkeys = r->add ? 4 : 2;
    for (unsigned i = 0; i < m->olds; i++)
        to->keys[to->nkeys++] = redis_name(b, KEY_OLD + i);
    if (!r->add) {
        to->script = &redis_script_check;
        to->args[2] = bytes_of_str(to->k);
        to->args[3] = buf_bytes(&b->packed);
        to->nargs = 4;
        return;
    }
    if (m->next.k != 0)
        redis_bits_pack(&m->next, r->keys, c->first, c->n, &b->packed_next);
    to->script = &redis_script_add;
    to->args[2] = bytes_of_str(r->out != NULL ? c->id : "");
    to->args[3] = bytes_of_str(to->k);
    to->args[4] = buf_bytes(&b->packed);
    to->args[5] = buf_bytes(&b->packed_next);
    to->args[6] = bytes_of_str(to->k_next);
    to->nargs = 7;
}

/* Read "0110...", the answers for the n keys of a chunk. */
static enum status take_answers(const redisReply *r, const struct chunk *c,
                                bool *out)
{
    if (r->type != REDIS_REPLY_STRING || (size_t)r->len != c->n)
        return STATUS_FORMAT;
    for (size_t i = 0; i < c->n; i++)
        if (r->str[i] != '0' && r->str[i] != '1')
            return STATUS_FORMAT;
    for (size_t i = 0; out != NULL && i < c->n; i++)
        out[c->first + i] = r->str[i] == '1';
    return STATUS_OK;
}

static enum status take_reply(struct redis_bloom *b, const struct run *r,
                              struct chunk *c, redisReply *reply)
{
    enum status st = redis_judge(&reply);

    if (st != STATUS_OK || reply == NULL)
        return st;
    if (!r->add) {
        st = reply->elements == 1 ? take_answers(reply->element[0], c, r->out)
                                  : STATUS_FORMAT;
    } else if (reply->elements != 4 ||
               reply->element[0]->type != REDIS_REPLY_INTEGER ||
               reply->element[1]->type != REDIS_REPLY_INTEGER ||
               reply->element[2]->type != REDIS_REPLY_INTEGER) {
        st = STATUS_FORMAT;
    } else {
        uint64_t adds = (uint64_t)reply->element[0]->integer;

        st = take_answers(reply->element[3], c, r->out);
        if (st == STATUS_OK && adds > b->record.adds) {
            b->record.adds = adds;
            b->record.count = (uint64_t)reply->element[1]->integer;
            b->record.set = (uint64_t)reply->element[2]->integer;
        }
    }
    freeReplyObject(reply);
    c->done = st == STATUS_OK;
    return st;
}

/* The filter's next generation is due: begin it, if nobody else has. */
static enum status redis_age(struct redis_bloom *b)
{
    struct bytes args[2] = {bytes_of_str(b->record.epoch),
                            bytes_of_str(b->record.generation)};
    enum status st =
        redis_step_with_room(b, &redis_script_age, b->record.now.bits,
                             REDIS_NAMES, args, 2);

    return st == STATUS_AGAIN ? redis_reload(b) : st; /* another was first */
}

/* After a step that ended with `st`: if that says that our copy is stale, or
 * that a generation is due, sees to it, and says STATUS_AGAIN. */
static enum status redis_catch_up(struct redis_bloom *b, enum status st)
{
    if (st != STATUS_AGAIN && st != STATUS_LIMIT)
        return st;
    st = st == STATUS_AGAIN ? redis_reload(b) : redis_age(b);
    return st == STATUS_OK ? STATUS_AGAIN : st;
}

/* Send one chunk, with retries, until it is answered or has failed. */
static enum status run_alone(struct redis_bloom *b, const struct run *r,
                             struct chunk *c)
{
    struct redis_tries t = redis_tries_begin(b);
    enum status st;
    struct call call;

    do {
        redisReply *reply = NULL;

        st = redis_meet(b);
        if (st == STATUS_CLOSED)
            return st;
        if (st == STATUS_OK) {
            batch_prepare(b, r, c, &call);
            st =
                redis_connection_run(b->link, call.script, call.keys,
                                     call.nkeys, call.args, call.nargs, &reply);
        }
        if (st == STATUS_OK)
            st = take_reply(b, r, c, reply);
        st = redis_catch_up(b, st);
    } while (redis_try_again(&t, st));
    return st == STATUS_AGAIN ? STATUS_CLOSED : st;
}

/* Send all chunks, then read the answers; a chunk that was not done is sent
 * again alone. */
static enum status run_window(struct redis_bloom *b, const struct run *r,
                              struct chunk *chunks, size_t n)
{
    enum status st = n > 1 ? redis_meet(b) : STATUS_OK;
    struct call call;

    if (st != STATUS_OK && st != STATUS_AGAIN)
        return st;
    for (size_t i = 0; n > 1 && st == STATUS_OK && i < n; i++) {
        batch_prepare(b, r, &chunks[i], &call);
        chunks[i].sent =
            redis_connection_send(b->link, call.script, call.keys, call.nkeys,
                                  call.args, call.nargs) == STATUS_OK;
        if (!chunks[i].sent)
            break;
    }
    for (size_t i = 0; i < n && chunks[i].sent; i++) {
        redisReply *reply = NULL;

        if (redis_connection_receive(b->link, &reply) == STATUS_OK)
            (void)take_reply(b, r, &chunks[i], reply);
    }
    st = STATUS_OK;
    for (size_t i = 0; st == STATUS_OK && i < n; i++)
        if (!chunks[i].done)
            st = run_alone(b, r, &chunks[i]);
    return st;
}

static enum status run_all(struct redis_bloom *b, const struct run *r, size_t n)
{
    struct chunk chunks[REDIS_WINDOW];
    enum status st = STATUS_OK;
    size_t at = 0;

    if (r->keys.digest == NULL && b->record.now.layout == REDIS_BLOCKED)
        return STATUS_ARG;
    while (st == STATUS_OK && at < n) {
        size_t used = 0;

        for (; used < REDIS_WINDOW && at < n; used++) {
            struct chunk *c = &chunks[used];

            *c = (struct chunk){.first = at,
                                .n = n - at < REDIS_BATCH ? n - at
                                                          : REDIS_BATCH};
            snprintf(c->id, sizeof c->id, "%s%016" PRIx64, b->client,
                     b->batch++);
            snprintf(c->answer_name, sizeof c->answer_name, "%s:last:%s:%zu",
                     b->place.key, b->client, used);
            at += c->n;
        }
        st = run_window(b, r, chunks, used);
    }
    return st;
}

enum status redis_bloom_add(struct redis_bloom *b, struct redis_keys keys,
                            size_t n, bool *fresh)
{
    struct run r = {keys, true, fresh};

    return run_all(b, &r, n);
}

enum status redis_bloom_check(struct redis_bloom *b, struct redis_keys keys,
                              size_t n, bool *maybe)
{
    struct run r = {keys, false, maybe};

    return run_all(b, &r, n);
}

/* ---- keys of a shared filter that are forgotten, and filters that end ----
 *
 *   newest                      oldest
 *   NAME        NAME:old1  ...  NAME:old4    n + 1 strings, n generations
 *
 * As filter/kinds/aged.c, with strings that are renamed one place on when a new
 * one begins. The client that adds the first key after it is due makes it; the
 * others' calls are stale then, as with a rebuild, so no key is written to a
 * generation that is closed. An older one is removed by the server itself when
 * it is over. Until the next key is added the newest stays; questions pass it
 * over if its time is over.
 */

enum status redis_bloom_set_ttl(struct redis_bloom *b, int64_t ttl_ms)
{
    struct redis_tries t = redis_tries_begin(b);
    char ttl[24];
    enum status st;

    if (b->record.ttl_ms == 0 || ttl_ms < 1000 ||
        ttl_ms / 1000 > FILTER_TTL_MOST)
        return STATUS_ARG;
    snprintf(ttl, sizeof ttl, "%" PRId64, ttl_ms);
    do {
        struct bytes args[3] = {bytes_of_str(b->record.epoch),
                                bytes_of_str(b->record.generation),
                                bytes_of_str(ttl)};

        st = redis_step(b, &redis_script_ttl, REDIS_NAMES, args, 3);
        st = redis_catch_up(b, st);
    } while (redis_try_again(&t, st));
    return st == STATUS_AGAIN ? STATUS_CLOSED : st;
}

enum status redis_bloom_renew(struct redis_bloom *b)
{
    char epoch[REDIS_TOKEN_SIZE];
    struct bytes args[1];

    if (b->record.ttl_ms == 0 || b->record.generations > 0)
        return STATUS_NOT_FOUND;
    redis_token(epoch);
    args[0] = bytes_of_str(epoch);
    return redis_step_with_room(b, &redis_script_renew, b->record.now.bits, 4,
                                args, 1);
}

/* What all generations have together; by our own clock, so for people. */
