/* SPDX-License-Identifier: MIT */
/*
 * redis_bloom.c - a Bloom filter in a Redis string, shared by many processes.
 *
 *   NAME                 the bits, at their full length from the start
 *   NAME:meta            a hash: geometry, epoch, generation, counts
 *   NAME:next            bits being rebuilt
 *   NAME:last:CLIENT:N   the answer to one of a client's last batches
 *
 * The client computes the offsets, so that the server only sets and tests bits;
 * the price is that every client must know the geometry. Hence the generation:
 * a call made for another generation does nothing and answers STALE; the client
 * then reads the record and calls again. This makes a rebuild safe: once it has
 * begun, no client can go on writing to the old bits alone.
 *
 * A batch whose answer did not arrive may have been carried out. Sending it
 * again would report its keys as seen, although no client was told that they
 * were new; so the server keeps the answers of a client's last batches for ten
 * minutes.
 */
#include "filter/redis/redis_bloom.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/logger.h"
#include "base/mem.h"
#include "filter/redis/redis_impl.h"

#define BATCH_ID_SIZE 33

/* ---- small things ---- */

static void hex_of(char *out, const unsigned char *octets, size_t n)
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
    hex_of(out, random, sizeof random);
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
    b->has_seed = o->seed != NULL;
    if (o->seed != NULL)
        memcpy(b->seed, o->seed, sizeof b->seed);
    b->link = redis_connection_new(o->place, o->patience_ms);
    snprintf(b->names[KEY_BITS], sizeof *b->names, "%s", b->place.key);
    snprintf(b->names[KEY_RECORD], sizeof *b->names, "%s:meta", b->place.key);
    snprintf(b->names[KEY_NEXT], sizeof *b->names, "%s:next", b->place.key);
    redis_token(token);
    memcpy(b->client, token, 16);
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
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (bytes_is(word, words[i].word))
            return words[i].st;
    return STATUS_FORMAT;
}

/* An array is a result, and kept; a word becomes a status, and is freed. */
static enum status judge(redisReply **r)
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

static enum status read_record(struct redis_bloom *b, struct redis_record *out)
{
    struct bytes args[3] = {bytes_of_str("open"), bytes_of_str("0"),
                            bytes_of_str("0")};
    struct bytes keys[3] = {redis_name(b, KEY_BITS), redis_name(b, KEY_RECORD),
                            redis_name(b, KEY_NEXT)};
    redisReply *r = NULL;
    enum status st =
        redis_connection_run(b->link, &redis_script_open, keys, 3, args, 3, &r);

    if (st == STATUS_OK)
        st = judge(&r);
    if (st == STATUS_OK) {
        st = redis_record_read(out, r);
        freeReplyObject(r);
    }
    return st;
}

/* Make sure that we are connected, to the server we know; if it is another or
 * was restarted, read what it still has. STATUS_CLOSED: no server within the
 * link's patience. */
static enum status meet(struct redis_bloom *b)
{
    struct redis_record now;
    enum status st = redis_connection_ready(b->link);

    if (st != STATUS_OK ||
        strcmp(b->run_id, redis_connection_run_id(b->link)) == 0)
        return st;
    if (b->run_id[0] != '\0' && b->record.epoch[0] != '\0') {
        st = read_record(b, &now);
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

/* How often and how long one call is tried. If a server restarts, or takes no
 * more clients for a while, we try for the link's patience. */
struct tries {
    int n;
    int64_t until;
};

static struct tries begin_tries(const struct redis_bloom *b)
{
    return (struct tries){.until = clock_mono() +
                                   redis_connection_patience(b->link)};
}

static bool try_again(struct tries *t, enum status st)
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
    struct tries t = begin_tries(b);
    enum status st;

    for (unsigned i = 0; i < nkeys; i++)
        keys[i] = redis_name(b, i);
    do {
        st = meet(b);
        if (st == STATUS_CLOSED)
            return st;
        if (st == STATUS_OK)
            st =
                redis_connection_run(b->link, s, keys, nkeys, args, nargs, out);
    } while (try_again(&t, st));
    if (st == STATUS_OK)
        return judge(out);
    return st == STATUS_AGAIN ? STATUS_CLOSED : st;
}

enum status redis_reload(struct redis_bloom *b)
{
    struct redis_record now;
    enum status st = read_record(b, &now);

    if (st == STATUS_OK && strcmp(now.epoch, b->record.epoch) != 0)
        st = STATUS_NOT_FOUND;
    if (st == STATUS_OK)
        b->record = now;
    return st;
}

/* ---- opening ---- */

struct record_text {
    char bits[24], bytes[24], k[12], expect[24], fpr[32], ttl[24];
    char epoch[REDIS_TOKEN_SIZE], seed[2 * DIGEST_SEED_SIZE + 1];
};

/* Make the filter, or find that it exists. */
static enum status make(struct redis_bloom *b, const struct redis_geometry *g)
{
    struct record_text t;
    char known[REDIS_TOKEN_SIZE];
    redisReply *r = NULL;
    enum status st;

    memcpy(known, b->record.epoch, sizeof known);
    snprintf(t.bits, sizeof t.bits, "%" PRIu64, g->bits);
    snprintf(t.bytes, sizeof t.bytes, "%" PRIu64, (g->bits + 7) / 8);
    snprintf(t.k, sizeof t.k, "%u", g->k);
    snprintf(t.expect, sizeof t.expect, "%" PRIu64, b->expect);
    snprintf(t.fpr, sizeof t.fpr, "%.9g", b->fpr);
    snprintf(t.ttl, sizeof t.ttl, "%" PRId64, b->place.ttl_ms);
    redis_token(t.epoch);
    t.seed[0] = '\0';
    if (b->has_seed)
        hex_of(t.seed, b->seed, DIGEST_SEED_SIZE);
    const char *const args[] = {b->mode == REDIS_BLOOM_NEW ? "new"
                                : known[0] != '\0'         ? "again"
                                                           : "make",
                                t.bits,
                                t.ttl,
                                "v",
                                "1",
                                "layout",
                                g->layout == REDIS_PLAIN ? "plain" : "blocked",
                                "hash",
                                redis_hash_name(g->hash),
                                "bits",
                                t.bits,
                                "bytes",
                                t.bytes,
                                "k",
                                t.k,
                                "expect",
                                t.expect,
                                "fpr",
                                t.fpr,
                                "seed",
                                t.seed,
                                "epoch",
                                t.epoch,
                                "gen",
                                "1",
                                "adds",
                                "0",
                                "count",
                                "0"};
    struct bytes list[sizeof args / sizeof *args];

    for (size_t i = 0; i < sizeof args / sizeof *args; i++)
        list[i] = bytes_of_str(args[i]);
    b->record.epoch[0] = '\0'; /* accept whatever filter is there from now on */
    st = redis_call(b, &redis_script_open, 3, list, sizeof args / sizeof *args,
                    &r);
    if (st == STATUS_OK) {
        st = redis_record_read(&b->record, r);
        freeReplyObject(r);
    }
    if (st != STATUS_OK)
        memcpy(b->record.epoch, known, sizeof known);
    return st;
}

/* Use a bitmap of another program: it has no record, so the place must give the
 * whole geometry. */
static enum status take_foreign(struct redis_bloom *b)
{
    const struct redis_place *p = &b->place;

    if (p->layout != REDIS_PLAIN || p->bits == 0)
        return STATUS_ARG;
    b->record = (struct redis_record){
        .now = {p->layout, p->hash, p->k != 0 ? p->k : 14, p->bits}};
    return STATUS_OK;
}

static enum status open_there(struct redis_bloom *b)
{
    struct tries t = begin_tries(b);
    enum status st;

    do {
        st = meet(b);
        if (st == STATUS_CLOSED)
            return st;
        if (st == STATUS_OK)
            st = read_record(b, &b->record);
    } while (try_again(&t, st));
    return st == STATUS_ARG && redis_connection_is_open(b->link)
               ? take_foreign(b)
               : st;
}

/* The settings in the place apply when a filter is made; they must not
 * contradict one that exists. */
static enum status agrees(const struct redis_bloom *b, struct buf *error)
{
    const struct redis_place *p = &b->place;
    const struct redis_geometry *g = &b->record.now;

    if (p->layout == g->layout && (p->bits == 0 || p->bits == g->bits) &&
        (p->k == 0 || p->k == g->k) &&
        (p->layout == REDIS_BLOCKED || p->hash == g->hash))
        return STATUS_OK;
    if (error != NULL)
        buf_addf(error,
                 "%s is a filter of layout=%s&bits=%" PRIu64 "&k=%u%s%s, which "
                 "is not what was asked for",
                 p->key, g->layout == REDIS_PLAIN ? "plain" : "blocked",
                 g->bits, g->k, g->layout == REDIS_BLOCKED ? "" : "&hash=",
                 g->layout == REDIS_BLOCKED ? "" : redis_hash_name(g->hash));
    return STATUS_ARG;
}

static void warn_of_loss(struct redis_bloom *b)
{
    struct buf where;

    if (b->told_evicts || !redis_connection_may_evict(b->link))
        return;
    b->told_evicts = true;
    buf_init(&where, 1024);
    redis_url_show(&b->place, &where);
    log_warn("the Redis server may throw the filter away when its memory is "
             "full",
             "redis=%s hint=\"set maxmemory-policy noeviction\"",
             buf_str(&where));
    buf_fini(&where);
}

enum status redis_bloom_start(struct redis_bloom *b, struct buf *error)
{
    struct redis_geometry g = {b->place.layout, b->place.hash, b->place.k,
                               b->place.bits};
    enum status st = STATUS_OK;

    if (b->mode == REDIS_BLOOM_OPEN) {
        st = open_there(b);
    } else {
        st = redis_geometry_fit(&g, b->expect, b->fpr);
        if (st == STATUS_OK)
            st = make(b, &g);
        else if (error != NULL)
            buf_addf(error,
                     "%" PRIu64 " keys at a rate of %g take %" PRIu64
                     " bits, and a Redis string ends at offset 2^32-1",
                     b->expect, b->fpr, g.bits);
    }
    if (st == STATUS_OK)
        st = agrees(b, error);
    if (st == STATUS_OK)
        warn_of_loss(b);
    else if (error != NULL && error->len == 0)
        redis_bloom_why(b, st, error);
    return st;
}

enum status redis_bloom_open(struct redis_bloom **out,
                             const struct redis_bloom_options *o,
                             struct buf *error)
{
    struct redis_bloom *b = redis_bloom_new(o);
    enum status st = redis_bloom_start(b, error);

    *out = st == STATUS_OK ? b : NULL;
    if (st != STATUS_OK)
        redis_bloom_free(b);
    return st;
}

void redis_bloom_why(const struct redis_bloom *b, enum status st,
                     struct buf *out)
{
    const char *said = redis_connection_error(b->link);

    redis_url_show(&b->place, out);
    if (st == STATUS_NOT_FOUND)
        buf_add_str(out, ": no such filter there (never made, expired, "
                         "deleted or flushed)");
    else if (st == STATUS_EXISTS)
        buf_add_str(out, ": that key exists already");
    else if (st == STATUS_DAMAGED)
        buf_add_str(out, ": the server was restarted and has lost what it had "
                         "confirmed; add the keys again (and see appendfsync)");
    else if (st == STATUS_FORMAT)
        buf_add_str(out, ": what is there is not a filter of urlweir, or is "
                         "not complete");
    else if (st == STATUS_VERSION)
        buf_add_str(out, ": written by a newer release");
    else if (st == STATUS_ARG && said[0] == '\0')
        buf_add_str(out, ": a bitmap without urlweir's record: say "
                         "layout=plain&bits=N&k=N&hash=...");
    else
        buf_addf(out, ": %s", said[0] != '\0' ? said : status_text(st));
}

/* ---- adding and checking ---- */

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

static void prepare(struct redis_bloom *b, const struct run *r,
                    const struct chunk *c, struct call *to)
{
    const struct redis_record *m = &b->record;

    buf_clear(&b->packed);
    buf_clear(&b->packed_next);
    redis_bits_pack(&m->now, r->keys, c->first, c->n, &b->packed);
    snprintf(to->k, sizeof to->k, "%u", m->now.k);
    snprintf(to->k_next, sizeof to->k_next, "%u", m->next.k);
    for (unsigned i = 0; i < KEY_ANSWER; i++)
        to->keys[i] = redis_name(b, i);
    to->keys[KEY_ANSWER] = bytes_of_str(c->answer_name);
    to->args[0] = bytes_of_str(m->epoch);
    to->args[1] = bytes_of_str(m->generation);
    if (!r->add) {
        to->script = &redis_script_check;
        to->nkeys = 2;
        to->args[2] = bytes_of_str(to->k);
        to->args[3] = buf_bytes(&b->packed);
        to->nargs = 4;
        return;
    }
    if (m->next.k != 0)
        redis_bits_pack(&m->next, r->keys, c->first, c->n, &b->packed_next);
    to->script = &redis_script_add;
    to->nkeys = 4;
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
    enum status st = judge(&reply);

    if (st != STATUS_OK || reply == NULL)
        return st;
    if (!r->add) {
        st = reply->elements == 1 ? take_answers(reply->element[0], c, r->out)
                                  : STATUS_FORMAT;
    } else if (reply->elements != 3 ||
               reply->element[0]->type != REDIS_REPLY_INTEGER ||
               reply->element[1]->type != REDIS_REPLY_INTEGER) {
        st = STATUS_FORMAT;
    } else {
        uint64_t adds = (uint64_t)reply->element[0]->integer;

        st = take_answers(reply->element[2], c, r->out);
        if (st == STATUS_OK && adds > b->record.adds) {
            b->record.adds = adds;
            b->record.count = (uint64_t)reply->element[1]->integer;
        }
    }
    freeReplyObject(reply);
    c->done = st == STATUS_OK;
    return st;
}

/* Send one chunk, with retries, until it is answered or has failed. */
static enum status run_alone(struct redis_bloom *b, const struct run *r,
                             struct chunk *c)
{
    struct tries t = begin_tries(b);
    enum status st;
    struct call call;

    do {
        redisReply *reply = NULL;

        st = meet(b);
        if (st == STATUS_CLOSED)
            return st;
        if (st == STATUS_OK) {
            prepare(b, r, c, &call);
            st =
                redis_connection_run(b->link, call.script, call.keys,
                                     call.nkeys, call.args, call.nargs, &reply);
        }
        if (st == STATUS_OK)
            st = take_reply(b, r, c, reply);
        if (st == STATUS_AGAIN) {
            st = redis_reload(b);
            if (st == STATUS_OK)
                st = STATUS_AGAIN;
        }
    } while (try_again(&t, st));
    return st == STATUS_AGAIN ? STATUS_CLOSED : st;
}

/* Send all chunks, then read the answers; a chunk that was not done is sent
 * again alone. */
static enum status run_window(struct redis_bloom *b, const struct run *r,
                              struct chunk *chunks, size_t n)
{
    enum status st = n > 1 ? meet(b) : STATUS_OK;
    struct call call;

    if (st != STATUS_OK && st != STATUS_AGAIN)
        return st;
    for (size_t i = 0; n > 1 && st == STATUS_OK && i < n; i++) {
        prepare(b, r, &chunks[i], &call);
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

enum status redis_bloom_drop(struct redis_bloom *b)
{
    redisReply *r = NULL;
    enum status st;

    if (b->record.epoch[0] == '\0')
        return STATUS_ARG;
    st = redis_call(b, &redis_script_drop, 3, NULL, 0, &r);
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
    enum status st = meet(b);

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
    return b->record.epoch[0] != '\0' && b->record.count > b->record.expect;
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
        .count = m->count,
        .fpr = m->fpr,
        .fpr_predicted = redis_geometry_rate(&m->now, m->count),
        .foreign = m->epoch[0] == '\0',
        .has_seed = m->has_seed,
        .rebuilding = m->next.k != 0,
        .may_evict = redis_connection_may_evict(b->link),
        .is_logged = redis_connection_is_logged(b->link),
        .ttl_ms = -1,
    };
    memcpy(out->seed, m->seed, sizeof out->seed);
    memcpy(out->epoch, m->epoch, sizeof out->epoch);
    memcpy(out->run_id, b->run_id, sizeof out->run_id);
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
    if (r->elements != 3 || r->element[1]->type != REDIS_REPLY_INTEGER ||
        r->element[2]->type != REDIS_REPLY_INTEGER)
        st = STATUS_FORMAT;
    else if (b->record.epoch[0] != '\0')
        st = redis_record_read(&b->record, r->element[0]);
    if (st == STATUS_OK) {
        ttl = r->element[1]->integer;
        set = (uint64_t)r->element[2]->integer;
        redis_bloom_known(b, out);
        out->ttl_ms = ttl >= 0 ? ttl : -1;
        out->bits_set = set <= out->bits ? set : out->bits;
    }
    freeReplyObject(r);
    return st;
}
