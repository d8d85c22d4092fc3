/* SPDX-License-Identifier: MIT */
/*
 * redis_link.c - one connection to a Redis server.
 *
 *   AUTH --> SELECT --> INFO --> READY
 *
 * Each goes out when the one before it was accepted, so that a server which
 * refuses us hears no more from us.
 */
#include "base/redis/redis_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/redis/redis_stream.h"

enum greeting { GREET_AUTH, GREET_SELECT, GREET_INFO, GREET_READY };

struct redis_link {
    struct redis_stream *stream;
    struct redis_reader reader;
    struct redis_address address;
    enum greeting greeting; /* whose reply comes next */
    struct redis_info info;
    char error[256];
};

static void send_auth(struct redis_link *l)
{
    const struct redis_address *a = &l->address;
    struct bytes words[3] = {bytes_of_str("AUTH"), bytes_of_str(a->user),
                             bytes_of_str(a->password)};

    if (a->user[0] == '\0')
        words[1] = words[2];
    redis_link_send(l, words, a->user[0] == '\0' ? 2 : 3);
}

static void send_select(struct redis_link *l)
{
    char db[16];
    const struct bytes words[2] = {
        bytes_of_str("SELECT"),
        bytes_of(db, (size_t)snprintf(db, sizeof db, "%u", l->address.db))};

    redis_link_send(l, words, 2);
}

/* Send `g`, or the first after it that is needed. */
static void greet(struct redis_link *l, enum greeting g)
{
    const struct bytes info = bytes_of_str("INFO");

    if (g == GREET_AUTH && l->address.password[0] == '\0')
        g = GREET_SELECT;
    if (g == GREET_SELECT && l->address.db == 0)
        g = GREET_INFO;
    l->greeting = g;
    if (g == GREET_AUTH)
        send_auth(l);
    else if (g == GREET_SELECT)
        send_select(l);
    else if (g == GREET_INFO)
        redis_link_send(l, &info, 1);
}

struct redis_link *redis_link_new(const struct redis_address *a)
{
    struct redis_link *l = xcalloc(1, sizeof *l);

    l->address = *a;
    l->stream = redis_stream_new(a);
    redis_reader_init(&l->reader);
    greet(l, GREET_AUTH);
    return l;
}

void redis_link_free(struct redis_link *l)
{
    if (l == NULL)
        return;
    redis_stream_free(l->stream);
    redis_reader_fini(&l->reader);
    explicit_bzero(l->address.password, sizeof l->address.password);
    free(l);
}

void redis_link_send(struct redis_link *l, const struct bytes *words, size_t n)
{
    redis_command_write(redis_stream_out(l->stream), words, n);
}

static enum status failed(struct redis_link *l, const char *why)
{
    redis_error_keep(bytes_of_str(why), l->error, sizeof l->error);
    return STATUS_CLOSED;
}

enum status redis_link_next(struct redis_link *l, redisReply **out)
{
    enum status st = redis_reader_next(&l->reader, out);

    if (st == STATUS_FORMAT)
        return failed(l, "the server's answer is not in its protocol, or too "
                         "long");
    return st;
}

/* ---- signing in ---- */

static enum status take_info(struct redis_link *l, const redisReply *r)
{
    if (r->type == REDIS_REPLY_STRING)
        redis_info_read(&l->info, bytes_of(r->str, (size_t)r->len));
    if (l->info.run_id[0] == '\0')
        return failed(l, "the server does not say its run_id in INFO");
    if (l->info.loading) /* while loading, it answers INFO and nothing else */
        return failed(l, "the server is loading its data");
    return STATUS_OK;
}

static enum status take_greeting(struct redis_link *l, const redisReply *r)
{
    enum status st = STATUS_OK;

    if (r->type == REDIS_REPLY_ERROR) {
        struct bytes text = bytes_of(r->str, (size_t)r->len);

        st = redis_error_status(text);
        redis_error_keep(text, l->error, sizeof l->error);
        return st == STATUS_AGAIN ? STATUS_ARG : st; /* no script is meant */
    }
    if (l->greeting == GREET_INFO)
        st = take_info(l, r);
    if (st == STATUS_OK)
        greet(l, l->greeting + 1);
    return st;
}

bool redis_link_is_ready(const struct redis_link *l)
{
    return l->greeting == GREET_READY;
}

static void feed(void *ctx, struct bytes octets)
{
    struct redis_link *l = ctx;

    /* Out of memory is the reader's error, which redis_link_next() gives. */
    (void)redisReaderFeed(l->reader.r, octets.at, octets.len);
}

enum status redis_link_turn(struct redis_link *l)
{
    enum status stream = redis_stream_turn(l->stream, feed, l);
    enum status st = STATUS_OK;
    redisReply *r;

    while (st == STATUS_OK && l->greeting != GREET_READY) {
        r = NULL;
        st = redis_link_next(l, &r);
        if (st == STATUS_OK) {
            st = take_greeting(l, r);
            freeReplyObject(r);
        }
    }
    if (st != STATUS_OK && st != STATUS_AGAIN)
        return st; /* its own words say more than the end of the connection */
    if (stream != STATUS_OK)
        return failed(l, redis_stream_error(l->stream));
    return STATUS_OK;
}

/* ---- asking ---- */

const struct redis_info *redis_link_info(const struct redis_link *l)
{
    return &l->info;
}

int redis_link_fd(const struct redis_link *l)
{
    return redis_stream_fd(l->stream);
}

short redis_link_events(const struct redis_link *l)
{
    return redis_stream_events(l->stream);
}

const char *redis_link_error(const struct redis_link *l)
{
    return l->error;
}
