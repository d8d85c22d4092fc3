/*
 * link_said.h - what is said of the links of one page, packed.
 *
 * For each link, in their order: the lengths of its rel, of its text and of the
 * URL of one that was dropped, as varints; if it was dropped, an octet with the
 * reason; then the three texts. A row of table link_text for each page, and not
 * one for each link, takes half of the octets and a fraction of the time.
 */
#ifndef URLWEIR_STORAGE_ROWS_LINK_SAID_H
#define URLWEIR_STORAGE_ROWS_LINK_SAID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

#define LINK_TEXT_MOST    200  /* most octets of rel and text */
#define LINK_DROPPED_MOST 4096 /* and of a dropped URL */

struct link_said {
    /* Each may be empty; then `at` is NULL in what is read. */
    struct bytes rel;     /* as the page has it, white space folded */
    struct bytes text;    /* between the tags of <a>, or an alt; the same */
    struct bytes dropped; /* URL of one that was dropped */
    uint8_t reason;       /* why: enum outcome_reason */
};

/* Longer texts than the bounds above must not be given. */
void link_said_put(struct buf *out, const struct link_said *said);
/* Reads the first of *rest, which it moves on; texts stay where they are.
 * False: *rest is nothing that link_said_put has written. */
bool link_said_get(struct bytes *rest, struct link_said *out);

#endif
