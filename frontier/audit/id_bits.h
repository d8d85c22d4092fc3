/*
 * id_bits.h - a set of row ids, one bit each.
 *
 * For passes over a whole crawl (audit.h, reachability.h).
 */
#ifndef URLWEIR_FRONTIER_AUDIT_ID_BITS_H
#define URLWEIR_FRONTIER_AUDIT_ID_BITS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/status.h"

struct id_bits {
    uint8_t *bits;
    uint64_t most; /* ids up to here have a bit */
};

/* Empty, for ids 0 to `most`. */
MUST_CHECK static inline enum status id_bits_init(struct id_bits *b,
                                                  uint64_t most)
{
    *b = (struct id_bits){try_calloc(most / 8 + 1, 1), most};
    return b->bits != NULL ? STATUS_OK : STATUS_NOMEM;
}

static inline void id_bits_fini(struct id_bits *b)
{
    free(b->bits);
    b->bits = NULL;
}

/* False for an id past `most`. */
static inline bool id_bits_has(const struct id_bits *b, uint64_t id)
{
    return id <= b->most && (b->bits[id / 8] >> id % 8 & 1) != 0;
}

/* False: the id is past `most` and was not added. */
static inline bool id_bits_add(struct id_bits *b, uint64_t id)
{
    if (id > b->most)
        return false;
    b->bits[id / 8] |= (uint8_t)(1U << id % 8);
    return true;
}

#endif
