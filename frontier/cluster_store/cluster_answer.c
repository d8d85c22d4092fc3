/* SPDX-License-Identifier: MIT */
/* cluster_answer.c - a call of a shard that is waited for, and its reply. */
#include "frontier/cluster_store/cluster_answer.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"

struct asking {
    struct cluster_answer *a;
    bool ended;
    enum status st;
};

void cluster_answer_init(struct cluster_answer *a)
{
    *a = (struct cluster_answer){.count = 0};
    buf_init(&a->text, REDIS_REPLY_MOST);
}

void cluster_answer_fini(struct cluster_answer *a)
{
    buf_fini(&a->text);
    free(a->part);
}

static enum status add(struct cluster_answer *a, const redisReply *r)
{
    struct answer_part *p;

    if (r->type != REDIS_REPLY_INTEGER && r->type != REDIS_REPLY_STRING)
        return STATUS_FORMAT;
    if (a->count == a->room) {
        a->room = a->room == 0 ? 64 : 2 * a->room;
        a->part = xrealloc(a->part, a->room * sizeof *a->part);
    }
    p = &a->part[a->count++];
    *p = (struct answer_part){.is_text = r->type == REDIS_REPLY_STRING,
                              .number = r->integer};
    if (p->is_text) {
        p->text.len = (size_t)r->len;
        buf_add(&a->text, r->str, (size_t)r->len);
    }
    return buf_failed(&a->text);
}

/* Texts get their place last, as the buffer may have moved while it grew. */
static void place_texts(struct cluster_answer *a)
{
    const char *at = a->text.at;

    for (size_t i = 0; i < a->count; i++)
        if (a->part[i].is_text) {
            a->part[i].text.at = at;
            at += a->part[i].text.len;
        }
}

static void answered(void *ctx, enum status st, const redisReply *r)
{
    struct asking *x = ctx;

    x->ended = true;
    x->st = st;
    if (st == STATUS_OK && r->type != REDIS_REPLY_ARRAY)
        x->st = add(x->a, r);
    for (size_t i = 0;
         x->st == STATUS_OK && r->type == REDIS_REPLY_ARRAY && i < r->elements;
         i++)
        x->st = add(x->a, r->element[i]);
    if (x->st == STATUS_OK)
        place_texts(x->a);
}

enum status cluster_ask(struct cluster_store *s, unsigned shard,
                        const struct redis_script *script,
                        struct key_list *keys, const struct bytes *args,
                        size_t n, bool durable, struct cluster_answer *a)
{
    struct asking x = {.a = a};

    a->count = 0;
    buf_clear(&a->text);
    cluster_run(s, shard, script, keys, args, n, durable, answered, &x);
    key_list_fini(keys);
    while (!x.ended)
        cluster_store_turn(s, NS_PER_S);
    return x.st;
}

int64_t cluster_answer_number(const struct cluster_answer *a, size_t i)
{
    return i < a->count ? a->part[i].number : 0;
}

struct bytes cluster_answer_text(const struct cluster_answer *a, size_t i)
{
    return i < a->count && a->part[i].is_text ? a->part[i].text
                                              : bytes_of("", 0);
}
