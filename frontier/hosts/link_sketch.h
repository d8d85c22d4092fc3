/*
 * link_sketch.h - how often each URL was linked to, in fixed memory.
 *
 * A count-min sketch with conservative update (Cormode and Muthukrishnan 2005;
 * Estan and Varghese 2002): it never counts too little, and too much only when
 * several URLs share all their cells. A count stops at LINK_SKETCH_MOST. It is
 * not stored; see frontier_order.c for what that means.
 */
#ifndef URLWEIR_FRONTIER_HOSTS_LINK_SKETCH_H
#define URLWEIR_FRONTIER_HOSTS_LINK_SKETCH_H

#include <stdint.h>

#include "base/digest.h"

#define LINK_SKETCH_MOST 255

struct link_sketch;

/* Of at most `octets`, a cell each. */
struct link_sketch *link_sketch_new(uint64_t octets);
void link_sketch_free(struct link_sketch *s); /* NULL is fine */

/* Counts one link more, and returns the count. */
uint32_t link_sketch_add(struct link_sketch *s, struct digest d);
/* Makes the count at least `links`. */
void link_sketch_lift(struct link_sketch *s, struct digest d, uint32_t links);
uint64_t link_sketch_memory(const struct link_sketch *s); /* NULL: 0 */

#endif
