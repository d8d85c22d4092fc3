/*
 * buf.h - growable bytes with a ceiling.
 *
 * Appending past the ceiling marks the buffer as failed and appends nothing
 * more, so that a run of appends needs one check at its end: buf_failed(). If
 * memory runs out below it, the process ends (mem.h). A zero byte always
 * follows the content.
 */
#ifndef URLWEIR_BASE_BUF_H
#define URLWEIR_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"

struct buf {
    char *at; /* NULL while empty and never grown */
    size_t len, cap, ceiling;
    bool failed;
};

/* `ceiling`: most bytes it may hold. No allocation until the first append. */
void buf_init(struct buf *b, size_t ceiling);
void buf_fini(struct buf *b);  /* frees; may be used again as after buf_init */
void buf_clear(struct buf *b); /* empty and not failed; memory is kept */

void buf_add(struct buf *b, const void *bytes, size_t len);
void buf_add_bytes(struct buf *b, struct bytes s);
void buf_add_str(struct buf *b, const char *s);
void buf_add_char(struct buf *b, char c);
void buf_add_uint(struct buf *b, uint64_t n);
void buf_addf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* `u` as UTF-8; surrogates and values over U+10FFFF become U+FFFD. */
void buf_add_utf8(struct buf *b, uint32_t u);
/* Room for `len` more bytes after the content; NULL over the ceiling. The
 * caller writes there, then calls buf_grew() with the number written. */
char *buf_room(struct buf *b, size_t len);
void buf_grew(struct buf *b, size_t len);
void buf_truncate(struct buf *b, size_t len);

/* Frees memory beyond the content. */
void buf_fit(struct buf *b);

struct bytes buf_bytes(const struct buf *b);
const char *buf_str(const struct buf *b); /* never NULL */
/* STATUS_LIMIT if any append since the last clear was refused. */
MUST_CHECK enum status buf_failed(const struct buf *b);
/* The content, zero-terminated, now the caller's to free(); b is empty. */
char *buf_take(struct buf *b, size_t *len);

#endif
