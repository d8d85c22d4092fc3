/*
 * packed_text.h - counts and texts in blobs, read from a store that may be
 * damaged.
 *
 * Counts are varints (packed.h). Reading moves *rest on, and never passes its
 * end.
 */
#ifndef URLWEIR_STORAGE_DB_PACKED_TEXT_H
#define URLWEIR_STORAGE_DB_PACKED_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "storage/db/packed.h"

static inline void packed_put_count(struct buf *out, uint64_t n)
{
    unsigned char room[VARINT_MOST];

    buf_add(out, room, varint_put(room, n));
}

/* False: none begins here, or it is above `most`. */
static inline bool packed_take_count(struct bytes *rest, uint64_t most,
                                     uint64_t *n)
{
    const unsigned char *at = (const unsigned char *)rest->at;
    const unsigned char *next;

    if (rest->len == 0)
        return false;
    next = varint_get(at, at + rest->len, n);
    if (next == NULL || *n > most)
        return false;
    *rest = bytes_of((const char *)next, rest->len - (size_t)(next - at));
    return true;
}

/* `n` octets, which must be there; `at` is NULL for none. */
static inline struct bytes packed_take(struct bytes *rest, size_t n)
{
    struct bytes text = bytes_of(n > 0 ? rest->at : NULL, n);

    *rest = bytes_of(rest->at + n, rest->len - n);
    return text;
}

#endif
