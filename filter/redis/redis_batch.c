/* SPDX-License-Identifier: MIT */
/*
 * redis_batch.c - adds and checks keys, in batches.
 *
 * A batch whose answer did not arrive may have been carried out. Sending it
 * again would report its keys as seen, although no client was told that they
 * were new; so the server keeps the answers of a client's last batches for ten
 * minutes.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "filter/redis/redis_impl.h"

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

static void prepare(struct redis_bloom *b, const struct run *r,
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
            prepare(b, r, c, &call);
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
