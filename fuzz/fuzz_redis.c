/* SPDX-License-Identifier: MIT */
/*
 * fuzz_redis.c - Redis URLs as typed by users, and answers of hostile servers.
 *
 * The first octet of an input says which: even, the rest is a URL; odd, it is
 * sent by a server and read by hiredis within our bounds, and each whole answer
 * is parsed as a filter's record, as INFO and as a redirection.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "filter/redis/redis_impl.h"
#include "filter/redis/redis_reply.h"

static void read_url(const char *text)
{
    struct redis_place place;
    struct buf out;

    buf_init(&out, 4096);
    if (redis_url_parse(&place, text, &out) == STATUS_OK) {
        redis_url_show(&place, &out);
        if (strlen(place.at.host) >= sizeof place.at.host ||
            place.bits > REDIS_MOST_BITS || place.k > REDIS_MOST_K)
            abort();
    } else if (out.len == 0) {
        abort(); /* refused without a message */
    }
    buf_fini(&out);
}

static void read_redirection(const redisReply *r)
{
    struct redis_spot spot;
    bool ask;

    if (r->type == REDIS_REPLY_ERROR &&
        redis_redirect_read(bytes_of(r->str, (size_t)r->len), &ask, &spot) ==
            STATUS_OK &&
        (spot.port == 0 || spot.host.len > 255))
        abort();
}

static void read_answers(const char *octets, size_t size)
{
    struct redis_reader reader;
    redisReply *reply = NULL;

    redis_reader_init(&reader);
    (void)redisReaderFeed(reader.r, octets, size);
    while (redis_reader_next(&reader, &reply) == STATUS_OK) {
        struct redis_record record;
        struct redis_info info;

        if (redis_record_read(&record, reply) == STATUS_OK &&
            !redis_geometry_is_valid(&record.now))
            abort();
        if (reply->type == REDIS_REPLY_STRING)
            redis_info_read(&info, bytes_of(reply->str, (size_t)reply->len));
        read_redirection(reply);
        freeReplyObject(reply);
    }
    redis_reader_fini(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text;

    if (size < 1)
        return 0;
    text = malloc(size);
    memcpy(text, data + 1, size - 1);
    text[size - 1] = '\0';
    if (data[0] % 2 == 0)
        read_url(text);
    else
        read_answers(text, size - 1);
    free(text);
    return 0;
}
