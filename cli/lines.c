/* SPDX-License-Identifier: MIT */
/*
 * lines.c - the lines of a stream.
 *
 * A line that lies within one chunk is visited where it is; only one that is
 * spread over several is gathered in a buffer.
 */
#include "cli/lines.h"

#include <errno.h>
#include <unistd.h>

#include "base/buf.h"

struct lines {
    void (*visit)(void *ctx, struct bytes line, bool too_long);
    void *ctx;
    struct buf begun; /* part of the current line from earlier chunks */
    bool open;        /* a line has begun and has not ended */
};

static void end_line(struct lines *l, struct bytes rest)
{
    bool too_long;

    if (!l->open && rest.len <= l->begun.ceiling) {
        l->visit(l->ctx, rest, false);
        return;
    }
    buf_add_bytes(&l->begun, rest);
    too_long = buf_failed(&l->begun) != STATUS_OK;
    l->visit(l->ctx, too_long ? bytes_of(NULL, 0) : buf_bytes(&l->begun),
             too_long);
    buf_clear(&l->begun);
    l->open = false;
}

static void take_chunk(struct lines *l, struct bytes chunk)
{
    const char *lf;

    while ((lf = memchr(chunk.at, '\n', chunk.len)) != NULL) {
        size_t len = (size_t)(lf - chunk.at);

        end_line(l, bytes_of(chunk.at, len));
        chunk = bytes_of(lf + 1, chunk.len - len - 1);
        if (chunk.len == 0)
            return;
    }
    buf_add_bytes(&l->begun, chunk);
    l->open = true;
}

enum status lines_each(int fd, size_t ceiling,
                       void (*visit)(void *ctx, struct bytes line,
                                     bool too_long),
                       void *ctx)
{
    struct lines l = {.visit = visit, .ctx = ctx};
    static char chunk[1 << 16];
    ssize_t n;

    buf_init(&l.begun, ceiling);
    do {
        n = read(fd, chunk, sizeof chunk);
        if (n > 0)
            take_chunk(&l, bytes_of(chunk, (size_t)n));
    } while (n > 0 || (n < 0 && errno == EINTR));
    if (l.open)
        end_line(&l, bytes_of(NULL, 0));
    buf_fini(&l.begun);
    return n < 0 ? STATUS_IO : STATUS_OK;
}
