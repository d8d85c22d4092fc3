/*
 * link_list.h - where the links of one page lead, packed.
 *
 * A JSON array with a number for each link, its target's id * 32 + its kind (id
 * 0: it was dropped). A row of table link_list for each page, and not one for
 * each link, takes two thirds of the octets and a tenth of the time; as JSON
 * and not as varints, SQLite's json_each reads it too, so that people can.
 */
#ifndef URLWEIR_STORAGE_ROWS_LINK_LIST_H
#define URLWEIR_STORAGE_ROWS_LINK_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

/* One more link of the list in `out`, which is empty at first. */
void link_list_put(struct buf *out, uint64_t to, uint8_t kind);
/* After the last one. */
void link_list_end(struct buf *out);

/* The links of a whole list that has any. False: it is nothing that the above
 * have written. */
bool link_list_begin(struct bytes *rest);
/* Reads the first of *rest, which it moves on; *rest is empty after the last
 * one. False as above. */
bool link_list_get(struct bytes *rest, uint64_t *to, uint8_t *kind);

#endif
