/* SPDX-License-Identifier: MIT */
/* journal.c - every arrival, buffered; the server flushes ten times a second.
 */
#include "tests/support/web/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"

#define FLUSH_AT    ((size_t)256 << 10)
#define LINE_FIELDS 9

struct journal {
    int fd; /* -1: none */
    struct buf lines;
};

enum status journal_open(struct journal **out, const char *path)
{
    struct journal *j = xcalloc(1, sizeof *j);

    j->fd = -1;
    buf_init(&j->lines, (size_t)64 << 20);
    if (path != NULL) {
        j->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (j->fd < 0) {
            fprintf(stderr, "site: %s: %s\n", path, strerror(errno));
            free(j);
            return STATUS_IO;
        }
    }
    *out = j;
    return STATUS_OK;
}

void journal_close(struct journal *j)
{
    if (j == NULL)
        return;
    journal_flush(j);
    if (j->fd >= 0)
        close(j->fd);
    buf_fini(&j->lines);
    free(j);
}

/* Octets that would break the line are escaped; URLs have none of them. */
static void add_field(struct buf *out, struct bytes s)
{
    for (size_t i = 0; i < s.len; i++) {
        unsigned char c = (unsigned char)s.at[i];

        if (c < ' ' || c == 127)
            buf_addf(out, "%%%02X", c);
        else
            buf_add_char(out, (char)c);
    }
    buf_add_char(out, '\t');
}

void journal_add(struct journal *j, const struct arrival *a)
{
    struct buf *out = &j->lines;

    if (j->fd < 0)
        return;
    buf_add_uint(out, (uint64_t)a->start);
    buf_add_char(out, '\t');
    buf_add_uint(out, (uint64_t)a->end);
    buf_add_char(out, '\t');
    buf_add_uint(out, a->conn);
    buf_add_char(out, '\t');
    add_field(out, a->address);
    add_field(out, a->method);
    buf_add_uint(out, (uint64_t)a->status);
    buf_add_char(out, '\t');
    add_field(out, a->path);
    buf_add_uint(out, a->octets);
    buf_add_str(out, a->done ? "\tdone\n" : "\tcut\n");
    if (out->len >= FLUSH_AT)
        journal_flush(j);
}

void journal_flush(struct journal *j)
{
    size_t at = 0;

    while (j->fd >= 0 && at < j->lines.len) {
        ssize_t n = write(j->fd, j->lines.at + at, j->lines.len - at);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            fprintf(stderr, "site: log: %s\n", strerror(errno));
            close(j->fd);
            j->fd = -1;
            break;
        }
        at += (size_t)n;
    }
    buf_clear(&j->lines);
}

/* ---- reading ------------------------------------------------------------- */

static bool number(struct bytes s, uint64_t *out)
{
    uint64_t n = 0;

    if (s.len == 0 || s.len > 19)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        if (s.at[i] < '0' || s.at[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(s.at[i] - '0');
    }
    *out = n;
    return true;
}

bool journal_parse(struct bytes line, struct arrival *out)
{
    struct bytes f[LINE_FIELDS];
    uint64_t start, end, conn, status, octets;
    size_t n = 0, from = 0;

    for (size_t i = 0; i <= line.len; i++) {
        if (i < line.len && line.at[i] != '\t')
            continue;
        if (n == LINE_FIELDS)
            return false;
        f[n++] = bytes_of(line.at + from, i - from);
        from = i + 1;
    }
    if (n != LINE_FIELDS || !number(f[0], &start) || !number(f[1], &end) ||
        !number(f[2], &conn) || !number(f[5], &status) || status > 999 ||
        !number(f[7], &octets))
        return false;
    *out = (struct arrival){.start = (int64_t)start,
                            .end = (int64_t)end,
                            .conn = conn,
                            .address = f[3],
                            .method = f[4],
                            .path = f[6],
                            .status = (int)status,
                            .octets = octets,
                            .done = bytes_is(f[8], "done")};
    return true;
}
