/* SPDX-License-Identifier: MIT */
/* import_queue.c - the requests in one file of a disk queue of Scrapy. */
#include "job/import/import_queue.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "job/import/import_request.h"

#define SIZE_SIZE ((size_t)4)
#define ROOM      (IMPORT_REQUEST_MOST + SIZE_SIZE)
/* Requests of a LIFO file that cannot be read before it is given up: each may
 * cost a walk through the whole buffer. */
#define BAD_MOST 100

#define CUT      "the queue is cut short or damaged from here"

struct import_queue {
    int fd; /* -1: no file */
    enum import_queue_kind kind;
    uint64_t count;
    unsigned bad;
    const char *why;
    char *at;           /* ROOM octets */
    size_t from, to;    /* what is read and not yet taken */
    bool ended, failed; /* no more octets */
};

struct import_queue *import_queue_new(void)
{
    struct import_queue *q = xcalloc(1, sizeof *q);

    q->fd = -1;
    q->why = "";
    q->at = xmalloc(ROOM);
    return q;
}

static void close_file(struct import_queue *q)
{
    if (q->fd >= 0)
        close(q->fd);
    q->fd = -1;
}

void import_queue_free(struct import_queue *q)
{
    if (q == NULL)
        return;
    close_file(q);
    free(q->at);
    free(q);
}

void import_queue_open(struct import_queue *q, int fd,
                       enum import_queue_kind kind, uint64_t from)
{
    close_file(q);
    if (kind == IMPORT_QUEUE_LIFO && from < SIZE_SIZE)
        from = SIZE_SIZE;
    q->fd = fd;
    q->kind = kind;
    q->count = 0;
    q->bad = 0;
    q->from = q->to = 0;
    q->ended = q->failed = lseek(fd, (off_t)from, SEEK_SET) < 0;
}

const char *import_queue_why(const struct import_queue *q)
{
    return q->why;
}

uint64_t import_queue_at(const struct import_queue *q)
{
    return q->count;
}

/* ---- the buffer ---- */

static struct bytes in_hand(const struct import_queue *q)
{
    return bytes_of(q->at + q->from, q->to - q->from);
}

/* Reads on until the buffer is full or the file has ended. False: there was
 * nothing to add. */
static bool read_on(struct import_queue *q)
{
    const size_t before = q->to - q->from;

    memmove(q->at, q->at + q->from, before);
    q->to = before;
    q->from = 0;
    while (!q->ended && q->to < ROOM) {
        ssize_t n = read(q->fd, q->at + q->to, ROOM - q->to);

        if (n < 0 && errno == EINTR)
            continue;
        q->failed = n < 0;
        q->ended = n <= 0;
        if (n > 0)
            q->to += (size_t)n;
    }
    return q->to > before;
}

static size_t size_at(const char *at)
{
    const unsigned char *u = (const unsigned char *)at;

    return (size_t)u[0] << 24 | (size_t)u[1] << 16 | (size_t)u[2] << 8 | u[3];
}

static enum import_said refuse(struct import_queue *q, const char *why)
{
    q->why = why;
    return IMPORT_REFUSED;
}

/* Nothing more of this file. */
static enum import_said give_up(struct import_queue *q, const char *why)
{
    if (q->failed)
        why = "the file cannot be read from here";
    q->from = q->to;
    q->ended = true;
    q->failed = false;
    return refuse(q, why);
}

static enum import_said take(struct import_queue *q,
                             const struct import_request *request,
                             struct import_record *out)
{
    if (request->url.at == NULL)
        return refuse(q, "a request without a URL");
    *out = (struct import_record){.url = request->url,
                                  .word = "waiting",
                                  .line = q->count};
    if (request->method.at != NULL && !bytes_is(request->method, "GET"))
        return IMPORT_OTHER;
    return IMPORT_RECORD;
}

/* ---- LIFO ---- */

/* Where the first request in `in` may end, one that cannot be read: its length
 * follows, then the end or another one. 0: nowhere. */
static size_t search_end(struct bytes in)
{
    for (size_t i = 1; i + SIZE_SIZE <= in.len; i++) {
        const size_t next = i + SIZE_SIZE;

        if (size_at(in.at + i) != i)
            continue;
        if (next == in.len || import_request_begins(in.at[next]))
            return i;
    }
    return 0;
}

/* True: a whole request with its length behind it. */
static bool read_request(struct bytes in, struct import_request *request)
{
    return import_request_read(in, request) == IMPORT_REQUEST_OK &&
           in.len - request->len >= SIZE_SIZE &&
           size_at(in.at + request->len) == request->len;
}

static enum import_said next_lifo(struct import_queue *q,
                                  struct import_record *out)
{
    struct import_request request;
    bool ok = read_request(in_hand(q), &request);
    size_t end;

    if (!ok && read_on(q))
        ok = read_request(in_hand(q), &request);
    if (in_hand(q).len == 0 && !q->failed)
        return IMPORT_NOTHING;
    q->count++;
    if (ok) {
        q->from += request.len + SIZE_SIZE;
        return take(q, &request, out);
    }
    end = q->bad < BAD_MOST ? search_end(in_hand(q)) : 0;
    if (end == 0)
        return give_up(q, CUT);
    q->bad++;
    q->from += end + SIZE_SIZE;
    return refuse(q, "not a request as Scrapy writes it");
}

/* ---- FIFO ---- */

static bool has(struct import_queue *q, size_t n)
{
    if (in_hand(q).len < n)
        (void)read_on(q);
    return in_hand(q).len >= n;
}

static enum import_said next_fifo(struct import_queue *q,
                                  struct import_record *out)
{
    struct import_request request;
    struct bytes in;
    size_t size;

    if (!has(q, 1) && !q->failed)
        return IMPORT_NOTHING;
    q->count++;
    if (!has(q, SIZE_SIZE))
        return give_up(q, CUT);
    size = size_at(in_hand(q).at);
    if (size == 0 || size > IMPORT_REQUEST_MOST || !has(q, SIZE_SIZE + size))
        return give_up(q, CUT);
    in = bytes_of(in_hand(q).at + SIZE_SIZE, size);
    q->from += SIZE_SIZE + size;
    if (import_request_read(in, &request) != IMPORT_REQUEST_OK ||
        request.len != size)
        return refuse(q, "not a request as Scrapy writes it");
    return take(q, &request, out);
}

enum import_said import_queue_next(struct import_queue *q,
                                   struct import_record *out)
{
    enum import_said said = IMPORT_NOTHING;

    if (q->fd >= 0)
        said = q->kind == IMPORT_QUEUE_LIFO ? next_lifo(q, out)
                                            : next_fifo(q, out);
    if (said == IMPORT_NOTHING)
        close_file(q);
    return said;
}
