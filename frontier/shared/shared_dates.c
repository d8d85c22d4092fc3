/* SPDX-License-Identifier: MIT */
/*
 * shared_dates.c - how many URLs have a date, and are past it.
 *
 * A counter of overdue URLs would need all dates in an order of time, which
 * takes half of the memory that the URLs take. So passes count, in the servers:
 * of each shard some queues at a time, of each queue some URLs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "frontier/shared/shared_impl.h"

#define QUEUES      32 /* looked at in one call */
#define CURSOR_SIZE 24
#define IDS_MOST    ((size_t)64 << 20) /* octets of the IDs of one scan */

struct queue_at {
    size_t at, len; /* of its ID, in the text */
    char cursor[CURSOR_SIZE];
};

struct shared_pass {
    struct shared_hand *h;
    unsigned shard;
    bool scanned; /* all queues of the shard */
    char cursor[CURSOR_SIZE];
    struct buf text;
    struct queue_at *list; /* queues that are being looked at */
    size_t n, room;
    uint64_t looked;
    struct shared_dates sum;
    /* of a call */
    size_t asked;
    enum status st;
};

static void begin_shard(struct shared_pass *p, unsigned shard)
{
    p->shard = shard;
    p->scanned = false;
    p->n = 0;
    memcpy(p->cursor, "0", 2);
}

struct shared_pass *shared_pass_new(struct shared_hand *h)
{
    struct shared_pass *p = xcalloc(1, sizeof *p);

    p->h = h;
    buf_init(&p->text, IDS_MOST);
    begin_shard(p, 0);
    return p;
}

void shared_pass_free(struct shared_pass *p)
{
    if (p == NULL)
        return;
    buf_fini(&p->text);
    free(p->list);
    free(p);
}

static bool take_cursor(char *to, const redisReply *r, size_t i)
{
    if (!shared_is_text(r, i) || r->element[i]->len >= CURSOR_SIZE)
        return false;
    memcpy(to, r->element[i]->str, (size_t)r->element[i]->len);
    to[r->element[i]->len] = '\0';
    return true;
}

/* ---- queues ---- */

static void scan_came(void *ctx, size_t index, enum status st,
                      const redisReply *r)
{
    struct shared_pass *p = ctx;

    (void)index;
    if (st == STATUS_OK &&
        (r->type != REDIS_REPLY_ARRAY || !take_cursor(p->cursor, r, 0)))
        st = STATUS_FORMAT;
    for (size_t i = 1; st == STATUS_OK && i < r->elements; i++) {
        struct bytes id;

        if (!shared_is_text(r, i))
            continue;
        id = shared_text(r, i);
        if (p->n == p->room) {
            p->room = p->room == 0 ? 128 : 2 * p->room;
            p->list = xrealloc(p->list, p->room * sizeof *p->list);
        }
        p->list[p->n++] = (struct queue_at){p->text.len, id.len, "0"};
        buf_add_bytes(&p->text, id);
        st = buf_failed(&p->text);
    }
    p->st = st;
}

static enum status scan(struct shared_pass *p)
{
    struct shared_round *r = shared_round_new(p->h, scan_came, p);
    struct shared_call *c = shared_call_new(r, p->shard, SHARED_SCAN, 0);

    buf_clear(&p->text);
    p->st = STATUS_CLOSED;
    shared_call_key(c, "q", bytes_of("", 0));
    shared_call_copy(c, bytes_of_str(p->cursor));
    (void)shared_round_run(r, INT64_MAX);
    p->scanned = strcmp(p->cursor, "0") == 0;
    p->looked++; /* so a turn ends, whatever the server says */
    return p->st;
}

/* ---- their URLs ---- */

static enum status take_counts(struct shared_pass *p, const redisReply *r)
{
    if (r->type != REDIS_REPLY_ARRAY || r->elements != 4 + p->asked)
        return STATUS_FORMAT;
    for (size_t i = 0; i < 4; i++)
        if (!shared_is_number(r, i) || r->element[i]->integer < 0)
            return STATUS_FORMAT;
    p->looked += (uint64_t)r->element[0]->integer + p->asked;
    p->sum.dated += (uint64_t)r->element[1]->integer;
    if (r->element[2]->integer > 0 &&
        (p->sum.overdue == 0 || r->element[3]->integer < p->sum.oldest_ms))
        p->sum.oldest_ms = r->element[3]->integer;
    p->sum.overdue += (uint64_t)r->element[2]->integer;
    for (size_t i = 0; i < p->asked; i++)
        if (!take_cursor(p->list[p->n - 1 - i].cursor, r, 4 + i))
            return STATUS_FORMAT;
    return STATUS_OK;
}

static void counts_came(void *ctx, size_t index, enum status st,
                        const redisReply *r)
{
    struct shared_pass *p = ctx;

    (void)index;
    p->st = st == STATUS_OK ? take_counts(p, r) : st;
}

/* Looks at the last queues of the list, and takes out those that are done. */
static enum status look(struct shared_pass *p)
{
    struct shared_round *r = shared_round_new(p->h, counts_came, p);
    struct shared_call *c = shared_call_new(r, p->shard, SHARED_DATES, 0);
    size_t first;

    p->asked = p->n < QUEUES ? p->n : QUEUES;
    p->st = STATUS_CLOSED;
    for (size_t i = 0; i < p->asked; i++) {
        const struct queue_at *q = &p->list[p->n - 1 - i];

        shared_call_key(c, "u:", bytes_of(p->text.at + q->at, q->len));
    }
    shared_call_number(c, SHARED_OVERDUE_MS);
    for (size_t i = 0; i < p->asked; i++)
        shared_call_copy(c, bytes_of_str(p->list[p->n - 1 - i].cursor));
    (void)shared_round_run(r, INT64_MAX);
    if (p->st != STATUS_OK)
        return p->st;
    first = p->n - p->asked;
    for (size_t i = first, end = p->n; i < end; i++) {
        if (i == first)
            p->n = first;
        if (strcmp(p->list[i].cursor, "0") != 0)
            p->list[p->n++] = p->list[i];
    }
    return STATUS_OK;
}

/* ---- passes ---- */

static void begin(struct shared_pass *p)
{
    p->sum = (struct shared_dates){0};
    begin_shard(p, 0);
}

enum status shared_pass_go_on(struct shared_pass *p, uint64_t most,
                              struct shared_dates *out, bool *over)
{
    enum status st = STATUS_OK;

    *over = false;
    p->looked = 0;
    while (st == STATUS_OK && p->looked < most && !*over) {
        if (p->n > 0)
            st = look(p);
        else if (!p->scanned)
            st = scan(p);
        else if (p->shard + 1 < p->h->s->shards)
            begin_shard(p, p->shard + 1);
        else
            *over = true;
    }
    if (*over)
        *out = p->sum;
    if (*over || st != STATUS_OK)
        begin(p);
    return st;
}
