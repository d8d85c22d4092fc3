/* SPDX-License-Identifier: MIT */
/*
 * redis_reply.c - commands to a Redis server and its replies, without sockets.
 *
 * hiredis allocates an array as long as the server says, and seven octets can
 * say "a million". So the making of arrays is ours, and counts the elements of
 * a reply over all its arrays.
 */
#include "filter/redis/redis_reply.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static void add_head(struct buf *out, char what, size_t n)
{
    buf_add_char(out, what);
    buf_add_uint(out, n);
    buf_add(out, "\r\n", 2);
}

void redis_command_write(struct buf *out, const struct bytes *words, size_t n)
{
    add_head(out, '*', n);
    for (size_t i = 0; i < n; i++) {
        add_head(out, '$', words[i].len);
        buf_add_bytes(out, words[i]);
        buf_add(out, "\r\n", 2);
    }
}

/* ---- reading ---- */

#if HIREDIS_MAJOR >= 1
typedef size_t array_length;
#else
typedef int array_length;
#endif

/* Make an array, unless the reply grows past its bound; NULL makes hiredis
 * stop. */
static void *bounded_array(const redisReadTask *task, array_length elements)
{
    struct redis_reader *own = task->privdata;
    redisReply *r, *parent;

    if (task->parent == NULL)
        own->elements = 0;
    if ((size_t)elements > own->elements_most - own->elements)
        return NULL;
    own->elements += (size_t)elements;
    r = try_calloc(1, sizeof *r);
    if (r == NULL)
        return NULL;
    r->type = task->type;
    r->elements = (size_t)elements;
    if (elements > 0) {
        r->element = try_calloc((size_t)elements, sizeof(redisReply *));
        if (r->element == NULL) {
            free(r);
            return NULL;
        }
    }
    if (task->parent != NULL) {
        parent = task->parent->obj;
        parent->element[task->idx] = r;
    }
    return r;
}

void redis_reader_init(struct redis_reader *r)
{
    r->elements = 0;
    r->elements_most = REDIS_ELEMENTS_MOST;
    r->r = redisReaderCreate();
    if (r->r == NULL)
        mem_out(sizeof *r->r);
    /* cppcheck-suppress nullPointerRedundantCheck ; mem_out() ends all */
    r->makers = *r->r->fn;
    r->makers.createArray = bounded_array;
    r->r->fn = &r->makers;
    r->r->privdata = r;
}

void redis_reader_fini(struct redis_reader *r)
{
    if (r->r != NULL)
        redisReaderFree(r->r);
    r->r = NULL;
}

enum status redis_reader_next(struct redis_reader *r, redisReply **out)
{
    void *reply = NULL;

    if (redisReaderGetReply(r->r, &reply) != REDIS_OK)
        return STATUS_FORMAT;
    if (reply == NULL)
        return r->r->len > REDIS_REPLY_MOST ? STATUS_FORMAT : STATUS_AGAIN;
    *out = reply;
    return STATUS_OK;
}

/* ---- errors ---- */

enum status redis_error_status(struct bytes text)
{
    static const struct {
        const char *prefix;
        enum status st;
    } words[] = {
        {"NOSCRIPT", STATUS_AGAIN},
        {"LOADING", STATUS_CLOSED},
        {"BUSY", STATUS_CLOSED},
        {"TRYAGAIN", STATUS_CLOSED},
        {"CLUSTERDOWN", STATUS_CLOSED},
        {"MASTERDOWN", STATUS_CLOSED},
        {"ERR max number of clients", STATUS_CLOSED},
        {"OOM", STATUS_FULL},
        {"READONLY", STATUS_BUSY},
        {"MISCONF", STATUS_BUSY},
        {"NOREPLICAS", STATUS_BUSY},
        {"MOVED ", STATUS_NOT_FOUND},
        {"ASK ", STATUS_NOT_FOUND},
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (bytes_starts_with(text, words[i].prefix))
            return words[i].st;
    return STATUS_ARG;
}

void redis_error_keep(struct bytes text, char *out, size_t size)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len && n + 1 < size; i++) {
        char c = text.at[i];

        out[n++] = c >= ' ' && c <= '~' ? c : ' ';
    }
    out[n] = '\0';
}

/* ---- INFO ---- */

/* The value behind `name` in INFO's text, up to its line's end. */
static struct bytes info_value(struct bytes info, const char *name)
{
    size_t len = strlen(name);

    while (info.len > len) {
        const char *lf = memchr(info.at, '\n', info.len);
        size_t line = lf != NULL ? (size_t)(lf - info.at) : info.len;

        if (line > len && memcmp(info.at, name, len) == 0)
            return bytes_trim(bytes_of(info.at + len, line - len));
        if (lf == NULL)
            break;
        info = bytes_of(lf + 1, info.len - line - 1);
    }
    return bytes_of("", 0);
}

void redis_info_read(struct redis_info *out, struct bytes text)
{
    struct bytes id = info_value(text, "run_id:");
    struct bytes policy = info_value(text, "maxmemory_policy:");
    struct bytes most = info_value(text, "maxmemory:");

    memset(out, 0, sizeof *out);
    if (id.len == REDIS_RUN_ID_SIZE - 1)
        memcpy(out->run_id, id.at, id.len);
    out->loading = bytes_is(info_value(text, "loading:"), "1");
    out->may_evict =
        most.len > 0 && !bytes_is(most, "0") && !bytes_is(policy, "noeviction");
    out->is_logged = bytes_is(info_value(text, "aof_enabled:"), "1");
}

/* ---- redirections of a Redis Cluster ---- */

#define SLOTS 16384 /* of a cluster */

static bool is_host(struct bytes host)
{
    for (size_t i = 0; i < host.len; i++)
        if (host.at[i] <= ' ' || host.at[i] > '~')
            return false;
    return host.len < 256;
}

/* Read decimal digits at the start of *in, and skip them. */
static bool reply_take_number(struct bytes *in, uint32_t most, uint16_t *out)
{
    struct bytes rest = *in;
    uint64_t n;

    if (!bytes_take_number(&rest, 0, &n) || n > most)
        return false;
    *in = rest;
    *out = (uint16_t)n;
    return true;
}

enum status redis_redirect_read(struct bytes text, bool *ask,
                                struct redis_spot *out)
{
    uint16_t slot;
    size_t colon;

    *ask = bytes_starts_with(text, "ASK ");
    if (!*ask && !bytes_starts_with(text, "MOVED "))
        return STATUS_FORMAT;
    text = bytes_skip(text, *ask ? 4 : 6);
    if (!reply_take_number(&text, SLOTS - 1, &slot) || text.len == 0 ||
        text.at[0] != ' ')
        return STATUS_FORMAT;
    text = bytes_skip(text, 1);
    for (colon = text.len; colon > 0 && text.at[colon - 1] != ':'; colon--)
        ;
    if (colon == 0)
        return STATUS_FORMAT;
    out->host = bytes_of(text.at, colon - 1);
    text = bytes_skip(text, colon); /* an IPv6 address has colons, too */
    if (!reply_take_number(&text, 65535, &out->port) || text.len != 0 ||
        out->port == 0 || !is_host(out->host))
        return STATUS_FORMAT;
    return STATUS_OK;
}
