/*
 * trap_store.h - families of URLs that bring nothing new (table trap).
 *
 * The evidence that the trap rules have collected, so that it outlives a
 * restart: frontier/traps/trap_table.h counts it. A row is written in the
 * transaction of the page that changed it, and deleted when a page of the
 * family brings something new. Frontier thread only; readers may read.
 */
#ifndef URLWEIR_STORAGE_ROWS_TRAP_STORE_H
#define URLWEIR_STORAGE_ROWS_TRAP_STORE_H

#include <stdint.h>

#include "base/bytes.h"
#include "storage/db/db.h"

struct trap_store;

#define TRAP_TEXT_MOST  ((size_t)512) /* octets of owner or form */
#define TRAP_TAGS_MOST  ((size_t)256) /* of a family */
#define TRAP_TAG_SIZE   ((size_t)4)   /* octets, big-endian */
#define TRAP_SCORE_MOST (INT64_C(1) << 48)

struct trap_row {
    uint64_t id;
    uint8_t rule;             /* enum trap_rule */
    struct bytes owner, form; /* the family (frontier/traps/trap_form.h) */
    uint64_t pages;           /* in a row that brought nothing new */
    uint64_t score;           /* what they count */
    uint64_t body;            /* of the last of them */
    struct bytes tags;        /* of their texts, four octets each */
};

MUST_CHECK enum status trap_store_open(struct trap_store **out, struct db *d);
void trap_store_close(struct trap_store *s); /* NULL is fine */

/* Writes a row, or a newer state of it. Inside a transaction, as the next. */
MUST_CHECK enum status trap_store_set(struct trap_store *s,
                                      const struct trap_row *row);
MUST_CHECK enum status trap_store_remove(struct trap_store *s, uint64_t id);
/* All rows, in order of id; bytes are borrowed during the visit.
 * STATUS_DAMAGED with a log line. */
MUST_CHECK enum status trap_store_each(
    struct trap_store *s, void (*visit)(void *ctx, const struct trap_row *row),
    void *ctx);

#endif
