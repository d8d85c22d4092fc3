/*
 * replies_router.h - in place of the router (base/redis/redis_cluster.c) one
 * that answers each call with the next reply of the input, and ends the others
 * as if no server were there. For one fuzz target; header only.
 */
#ifndef URLWEIR_FUZZ_REPLIES_ROUTER_H
#define URLWEIR_FUZZ_REPLIES_ROUTER_H

#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/redis/redis_cluster.h"

#define CALLS_MOST 4096

/* The record of a crawl or a frontier of this format, in two shards. */
#define REPLIES_RECORD(format_len, format)                                     \
    "*6\r\n$6\r\nformat\r\n$" format_len "\r\n" format                         \
    "\r\n$6\r\nshards\r\n$1\r\n2\r\n$4\r\nseed\r\n$64\r\n"                     \
    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\r\n"

struct waiting {
    redis_call_end *end;
    void *ctx;
};
struct redis_cluster {
    struct waiting calls[CALLS_MOST];
    size_t first, count;
    int wake;
};

static struct redis_reader replies;

/* The replies are the input behind its first octet; if that is even, `record`
 * comes first. */
static void replies_begin(const uint8_t *data, size_t size, struct bytes record)
{
    redis_reader_init(&replies);
    if (data[0] % 2 == 0)
        (void)redisReaderFeed(replies.r, record.at, record.len);
    (void)redisReaderFeed(replies.r, (const char *)data + 1, size - 1);
}

/* `error`: of what was to be opened, which is refused with a message. */
static void replies_end(bool opened, struct buf *error)
{
    if (!opened && error->len == 0)
        abort();
    buf_fini(error);
    redis_reader_fini(&replies);
}

struct redis_cluster *redis_cluster_new(const struct redis_cluster_options *o)
{
    struct redis_cluster *c = xcalloc(1, sizeof *c);

    c->wake = o->wake_fd;
    return c;
}

static void end_one(struct redis_cluster *c, bool answered)
{
    struct waiting w = c->calls[c->first++ % CALLS_MOST];
    redisReply *r = NULL;

    c->count--;
    if (answered && redis_reader_next(&replies, &r) == STATUS_OK &&
        r->type != REDIS_REPLY_ERROR)
        w.end(w.ctx, STATUS_OK, r);
    else
        w.end(w.ctx, STATUS_CLOSED, NULL);
    if (r != NULL)
        freeReplyObject(r);
}

void redis_cluster_free(struct redis_cluster *c)
{
    while (c != NULL && c->count > 0)
        end_one(c, false);
    free(c);
}

enum status redis_cluster_start(struct redis_cluster *c, int64_t patience,
                                struct buf *error)
{
    (void)c;
    (void)patience;
    (void)error;
    return STATUS_OK;
}

void redis_cluster_call(struct redis_cluster *c,
                        const struct redis_call_spec *spec)
{
    if (c->count == CALLS_MOST)
        abort();
    c->calls[(c->first + c->count++) % CALLS_MOST] =
        (struct waiting){spec->end, spec->ctx};
}

void redis_cluster_turn(struct redis_cluster *c, int64_t wait)
{
    struct pollfd p = {.fd = c->wake, .events = POLLIN};

    if (c->wake > 0 && c->count == 0)
        (void)poll(&p, 1, (int)(wait / 1000000));
    for (size_t n = c->count; n > 0; n--)
        end_one(c, true);
}

void redis_cluster_get_stats(const struct redis_cluster *c,
                             struct redis_cluster_stats *out)
{
    (void)c;
    memset(out, 0, sizeof *out);
}

#endif
