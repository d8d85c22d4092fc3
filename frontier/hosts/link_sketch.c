/* SPDX-License-Identifier: MIT */
/* link_sketch.c - how often each URL was linked to, in fixed memory. */
#include "frontier/hosts/link_sketch.h"

#include <stdlib.h>

#include "base/mem.h"

#define ROWS 3 /* cells of a URL */

struct link_sketch {
    uint64_t mask;
    unsigned char *cells;
};

struct link_sketch *link_sketch_new(uint64_t octets)
{
    struct link_sketch *s = xcalloc(1, sizeof *s);
    uint64_t cells = 1024;

    while (cells * 2 <= octets)
        cells *= 2;
    s->mask = cells - 1;
    s->cells = xcalloc(cells, 1);
    return s;
}

void link_sketch_free(struct link_sketch *s)
{
    if (s == NULL)
        return;
    free(s->cells);
    free(s);
}

/* The halves of a digest are independent, so their sums are as good as more
 * hashes (Kirsch and Mitzenmacher 2006). */
static unsigned char *cell(const struct link_sketch *s, struct digest d,
                           unsigned row)
{
    return &s->cells[(d.lo + row * (d.hi | 1)) & s->mask];
}

static uint32_t count_of(const struct link_sketch *s, struct digest d)
{
    unsigned least = LINK_SKETCH_MOST;

    for (unsigned row = 0; row < ROWS; row++)
        if (*cell(s, d, row) < least)
            least = *cell(s, d, row);
    return least;
}

void link_sketch_lift(struct link_sketch *s, struct digest d, uint32_t links)
{
    unsigned count = links < LINK_SKETCH_MOST ? links : LINK_SKETCH_MOST;

    for (unsigned row = 0; row < ROWS; row++)
        if (*cell(s, d, row) < count)
            *cell(s, d, row) = (unsigned char)count;
}

uint32_t link_sketch_add(struct link_sketch *s, struct digest d)
{
    uint32_t count = count_of(s, d);

    if (count < LINK_SKETCH_MOST)
        link_sketch_lift(s, d, ++count);
    return count;
}

uint64_t link_sketch_memory(const struct link_sketch *s)
{
    return s != NULL ? sizeof *s + s->mask + 1 : 0;
}
