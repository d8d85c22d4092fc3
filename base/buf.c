/* SPDX-License-Identifier: MIT */
/* buf.c - growable bytes: doubling, one spare byte for the final zero. */
#include "base/buf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void buf_init(struct buf *b, size_t ceiling)
{
    *b = (struct buf){.ceiling =
                          ceiling < SIZE_MAX / 4 ? ceiling : SIZE_MAX / 4};
}

void buf_fini(struct buf *b)
{
    free(b->at);
    buf_init(b, b->ceiling);
}

void buf_clear(struct buf *b)
{
    b->len = 0;
    b->failed = false;
    if (b->at != NULL)
        b->at[0] = '\0';
}

char *buf_room(struct buf *b, size_t len)
{
    size_t cap = b->cap > 0 ? b->cap : 64;

    if (b->failed || len > b->ceiling || b->len > b->ceiling - len) {
        b->failed = true;
        return NULL;
    }
    if (b->len + len + 1 <= b->cap)
        return b->at + b->len;
    while (cap < b->len + len + 1)
        cap *= 2;
    b->at = xrealloc(b->at, cap);
    b->cap = cap;
    return b->at + b->len;
}

void buf_fit(struct buf *b)
{
    char *at = b->len + 1 < b->cap ? try_realloc(b->at, b->len + 1) : NULL;

    if (at == NULL)
        return;
    b->at = at;
    b->cap = b->len + 1;
}

void buf_grew(struct buf *b, size_t len)
{
    b->len += len;
    b->at[b->len] = '\0';
}

void buf_add(struct buf *b, const void *bytes, size_t len)
{
    char *to = buf_room(b, len);

    if (to == NULL)
        return;
    if (len > 0)
        memcpy(to, bytes, len);
    buf_grew(b, len);
}

void buf_add_bytes(struct buf *b, struct bytes s)
{
    buf_add(b, s.at, s.len);
}

void buf_add_str(struct buf *b, const char *s)
{
    buf_add(b, s, strlen(s));
}

void buf_add_char(struct buf *b, char c)
{
    buf_add(b, &c, 1);
}

void buf_add_uint(struct buf *b, uint64_t n)
{
    char digits[20];
    size_t at = sizeof digits;

    do {
        digits[--at] = (char)('0' + n % 10);
        n /= 10;
    } while (n > 0);
    buf_add(b, digits + at, sizeof digits - at);
}

void buf_addf(struct buf *b, const char *fmt, ...)
{
    va_list ap, again;
    int n;

    va_start(ap, fmt);
    va_copy(again, ap);
    n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (n >= 0) {
        char *to = buf_room(b, (size_t)n);

        if (to != NULL) {
            vsnprintf(to, (size_t)n + 1, fmt, again);
            buf_grew(b, (size_t)n);
        }
    }
    va_end(again);
}

void buf_add_utf8(struct buf *b, uint32_t u)
{
    char c[4];

    if (u > 0x10ffff || (u >= 0xd800 && u < 0xe000))
        u = 0xfffd;
    if (u < 0x80) {
        buf_add_char(b, (char)u);
    } else if (u < 0x800) {
        c[0] = (char)(0xc0 | u >> 6);
        c[1] = (char)(0x80 | (u & 0x3f));
        buf_add(b, c, 2);
    } else if (u < 0x10000) {
        c[0] = (char)(0xe0 | u >> 12);
        c[1] = (char)(0x80 | (u >> 6 & 0x3f));
        c[2] = (char)(0x80 | (u & 0x3f));
        buf_add(b, c, 3);
    } else {
        c[0] = (char)(0xf0 | u >> 18);
        c[1] = (char)(0x80 | (u >> 12 & 0x3f));
        c[2] = (char)(0x80 | (u >> 6 & 0x3f));
        c[3] = (char)(0x80 | (u & 0x3f));
        buf_add(b, c, 4);
    }
}

void buf_truncate(struct buf *b, size_t len)
{
    if (len < b->len) {
        b->len = len;
        b->at[len] = '\0';
    }
}

struct bytes buf_bytes(const struct buf *b)
{
    return bytes_of(b->at != NULL ? b->at : "", b->len);
}

const char *buf_str(const struct buf *b)
{
    return b->at != NULL ? b->at : "";
}

enum status buf_failed(const struct buf *b)
{
    return b->failed ? STATUS_LIMIT : STATUS_OK;
}

char *buf_take(struct buf *b, size_t *len)
{
    char *at = b->at != NULL ? b->at : xstrdup("");

    if (len != NULL)
        *len = b->len;
    buf_init(b, b->ceiling);
    return at;
}
